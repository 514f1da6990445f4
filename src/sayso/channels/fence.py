"""Laying out untrusted text so that it cannot pass for ours.

A line of ours begins with a word of ours. Text from an agent stands behind a
bar, however often it wraps, and what is too long to show says so in our voice.
Everything is `rich` text, never markup: `[bold]` in a reason is shown as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from sayso.channels.values import as_json, as_name, clipped
from sayso.model.text import visible

GUTTER = 10
MOST_LINES = 100
MOST_CHARACTERS = 8_000
MOST_ROWS = 100
MOST_ITEMS = 20
_WIDEST_NAME = 20
_SHORT = 40


@dataclass(frozen=True, slots=True)
class Fence:
    """Lines behind a bar. What they say is made visible here, unless it was `shown` before."""

    text: str
    full: bool = False
    shown: bool = False
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the bar in front of every line, wrapped ones too."""
        bar = Segment("| " if options.ascii_only else "│ ", Style(dim=True))
        kept, rest = self._kept()
        body = Text(kept, style=self.style, tab_size=4)
        narrower = options.update_width(max(options.max_width - 2, 1))
        for line in console.render_lines(body, narrower, pad=False):
            yield from _trimmed([bar, *line])
            yield Segment.line()
        if rest:
            yield not_all(rest)

    def _kept(self) -> tuple[str, str]:
        text = self.text if self.shown else visible(self.text, lines=True)
        if self.full:
            return text, ""
        lines = text[:MOST_CHARACTERS].split("\n")[:MOST_LINES]
        kept = "\n".join(lines)
        left = len(text) - len(kept)
        if left <= 0:
            return text, ""
        return kept, f"{left:,} characters more"


@dataclass(frozen=True, slots=True)
class Row:
    """A word of ours at the left edge, and what belongs to it beside it."""

    label: str
    body: RenderableType
    gutter: int = GUTTER

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the label once, and keep the body clear of the left edge."""
        narrower = options.update_width(max(options.max_width - self.gutter, 1))
        first = Segment(self.label.ljust(self.gutter), Style(bold=True))
        for line in console.render_lines(self.body, narrower, pad=False):
            yield from _trimmed([first, *line])
            yield Segment.line()
            first = Segment(" " * self.gutter)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Names and values, one to a line, the values as JSON; long ones in a fence below."""

    pairs: Sequence[tuple[str, Any]]
    hidden: tuple[str, ...] = ()
    full: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the pairs."""
        shown = self.pairs if self.full else self.pairs[:MOST_ROWS]
        names = [as_name(name) for name, _ in shown]
        column = min(max(map(len, names), default=0), _WIDEST_NAME, options.max_width // 2) + 2
        for name, (raw, value) in zip(names, shown, strict=True):
            lead = Text(clipped(name, column - 2).ljust(column), style="cyan")
            yield from self._pair(lead, raw, value, options.max_width - column)
        if len(self.pairs) > len(shown):
            yield not_all(f"{len(self.pairs) - len(shown):,} more")

    def _pair(self, lead: Text, name: str, value: object, room: int) -> Iterable[RenderableType]:
        if name in self.hidden:
            return (lead.append("(hidden)", style="dim"),)
        if not isinstance(value, str) or "\n" not in value:
            line = as_json(value)
            if len(line) <= room:
                return (lead.append(line, style="default"),)
        if isinstance(value, str):
            told = lead.append(f"text, {_counted(value)}:", style="dim")
            return told, Fence(value, full=self.full)
        head = lead.append(_sized(value), style="dim")
        if self.full or not isinstance(value, list) or len(value) <= MOST_ITEMS:
            return head, Fence(_block(value), full=self.full, shown=True)
        # What else there is to decide upon must not scroll away behind a thousand addresses.
        first = _block(value[:MOST_ITEMS]).removesuffix("]").rstrip()
        return head, Fence(first, shown=True), not_all(f"{len(value) - MOST_ITEMS:,} entries more")


def said(text: str, *, full: bool = False) -> RenderableType:
    """Lay out words that may be a phrase or a page."""
    if "\n" not in text and len(text) <= 200:
        return Text(visible(text))
    return Fence(text, full=full)


def told(*parts: RenderableType | None) -> Group:
    """Put parts below each other, leaving out those that are not there."""
    return Group(*(part for part in parts if part is not None))


def paragraph(text: str, style: str = "") -> Row:
    """Lay out prose of ours, wrapped to the width there is."""
    return Row("", Text(text, style=style), 0)


def not_all(left: str) -> Text:
    """Say that something was left out; nobody should approve it without knowing that."""
    return Text(f"NOT ALL IS SHOWN: {left}; `sayso inbox show ID --full` shows it", style="yellow")


def _trimmed(line: list[Segment]) -> list[Segment]:
    """Take the blanks off the end of a line: piped into a file they are only in the way."""
    last = line[-1]
    return [*line[:-1], Segment(last.text.rstrip(" "), last.style)]


def _counted(text: str) -> str:
    lines = text.count("\n") + 1
    return f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"


def _block(value: object) -> str:
    """Write a list of short values as running text, and everything else a line to each value."""
    items = value if isinstance(value, list) else [value]
    short = not any(isinstance(item, list | dict) or len(as_json(item)) > _SHORT for item in items)
    return as_json(value, indent=None if short else 2)


def _sized(value: object) -> str:
    match value:
        case list():
            return f"list of {len(value):,}:"
        case dict():
            return f"object of {len(value):,}:"
        case _:
            return "number:"
