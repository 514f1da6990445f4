"""A conversation at a terminal: saying things, and being told a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from sayso.channels.editor import editor
from sayso.channels.keyboard import Keyboard, Keys

if TYPE_CHECKING:
    from rich.console import RenderableType


class InputEnded(Exception):
    """Nobody will type any more: the input ended, or the question is no longer open."""


class Talk:
    """Somebody at a terminal, for as long as `going_on` says so.

    `has_editor` says that an editor may take over the terminal for a while.
    """

    def __init__(
        self, keys: Keys, screen: TextIO, going_on: Callable[[], bool] = lambda: True
    ) -> None:
        self.has_editor = isinstance(keys, Keyboard) and editor() is not None
        self._keys = keys
        self._screen = screen
        self._going_on = going_on

    def show(self, *shown: RenderableType) -> None:
        """Draw something."""
        from rich.console import Console as Screen

        Screen(file=self._screen, highlight=False, markup=False, emoji=False).print(
            *shown, sep="\n"
        )
        self._screen.flush()

    def say(self, text: str, style: str = "") -> None:
        """Say something of ours."""
        from rich.text import Text

        self.show(Text(text, style=style))

    def forget(self) -> None:
        """Drop what was typed until now."""
        self._keys.forget()

    def line(self, prompt: str) -> str:
        """Ask for a line, and return it.

        Raises:
            InputEnded: there will be none.
            KeyboardInterrupt: the person pressed Ctrl-C.
        """
        self._screen.write(prompt)
        self._screen.flush()
        typed = None
        try:
            typed = self._keys.line(self._going_on)
        finally:
            if typed is None:  # the cursor still stands behind the prompt
                self._screen.write("\n")
                self._screen.flush()
        if typed is None:
            raise InputEnded
        return typed

    def agrees(self, question: str) -> bool:
        """Ask for a yes; anything else is a no."""
        return self.line(f"{question} [y/N] ").strip().lower() in ("y", "yes")
