"""What a model writes, as it writes it: wrapped by us, behind a bar.

The terminal would wrap a long line to the left edge, where only lines of ours
begin; and a piece of a word may deceive where the whole does not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells
from rich.text import Text

from sayso.model.text import visible

if TYPE_CHECKING:
    from rich.console import Console


class Writing:
    """Text as it comes. It is written word by word: what is not certain yet is held back."""

    _ENDS = re.compile(r"([ \t\n])")
    _LONGEST = 400
    _AHEAD = 8  # characters whose meaning may depend on those that follow

    def __init__(self, console: Console, named: str = "") -> None:
        self._console = console
        self._bar = "| " if console.options.ascii_only else "│ "
        self._room = max(console.width - len(self._bar) - 1, 10)
        self._held = self._gap = ""
        self._column: int | None = None  # `None`: the line is not begun
        if named:
            self.add(f"{named.strip()}\n")

    def add(self, piece: str) -> None:
        """Write as much as is certain now."""
        *parts, self._held = self._ENDS.split(self._held + piece)
        for part in parts:
            self._put(part)
        if len(self._held) > self._LONGEST:
            self._put(self._held[: -self._AHEAD])
            self._held = self._held[-self._AHEAD :]

    def end(self) -> None:
        """Write the rest, and end the line."""
        self._put(self._held)
        if self._column is not None:
            self._end_line()

    def _put(self, part: str) -> None:
        if part == "\n":
            self._end_line()
        elif part in (" ", "\t"):
            self._gap += " " if part == " " else " " * 4
        elif part:
            self._word(visible(part))

    def _word(self, shown: str) -> None:
        for piece in chop_cells(shown, self._room):
            gap = self._gap[: self._room // 2]
            size = len(gap) + cell_len(piece)
            if self._column and self._column + size > self._room:
                self._end_line()
                gap = ""
            elif not self._column and size > self._room:
                gap = ""
            self._begin()
            self._print(gap + piece)
            self._column = (self._column or 0) + len(gap) + cell_len(piece)
            self._gap = ""

    def _begin(self) -> None:
        if self._column is None:
            self._print(self._bar)
            self._column = 0

    def _end_line(self) -> None:
        self._begin()
        self._print("\n")
        self._column, self._gap = None, ""

    def _print(self, text: str) -> None:
        self._console.print(Text(text, "dim"), end="", soft_wrap=True)
