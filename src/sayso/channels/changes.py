"""What an edit changed: old and new for short values, a diff of lines for long ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from sayso.channels.fence import MOST_LINES, Fence, not_all
from sayso.channels.steps import Step, more_of, seen_line
from sayso.channels.values import as_json, as_name, clipped
from sayso.channels.worddiff import common
from sayso.model.ask import Ask
from sayso.model.digest import canonical
from sayso.model.text import visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

_MISSING = object()
_ARROW = " -> "
_STYLES = {"+": "green", "-": "red"}
_BRIEF = 40  # characters of a value, of which some stand before the first that differs
_LEAD = 10


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between two sets of arguments, as a person reads it; or between two plans."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    full: bool = False
    plan: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw every change, and nothing that stayed the same."""
        for name, old, new in _different(self.before, self.after):
            yield from self._change(as_name(name), old, new, options.max_width)

    def _change(self, name: str, old: object, new: object, width: int) -> Iterator[RenderableType]:
        short = _ARROW.join((_short(old), _short(new)))
        if not self.plan and "\n" not in f"{old}{new}" and len(name) + 2 + len(short) <= width:
            yield Text.assemble(
                (f"{name}  ", "cyan"),
                (_short(old), "red"),
                _ARROW,
                (_short(new), "green"),
            )
            return
        yield Text(name, style="cyan")
        lines = list(_diff(self._lines(old), self._lines(new)))
        kept = lines if self.full else lines[:MOST_LINES]
        for line in kept:
            yield Fence(line, full=self.full, shown=True, style=_STYLES.get(line[0], ""))
        if len(kept) < len(lines):
            yield not_all(f"{len(lines) - len(kept):,} lines more")

    def _lines(self, value: object) -> list[str]:
        if self.plan and isinstance(value, list):
            return [line for step in value for line in _step(step)]
        return _lines(value)


def in_brief(ask: Ask, args: Mapping[str, Any], width: int) -> str:
    """Say on one line, safe to print, what an edit made of what an ask said: `amount 40 -> 30`.

    Of a plan it is the steps that it has now.
    """
    if ask.kind == "plan":
        steps = enumerate(args.get("steps", []), start=1)
        return clipped("  ".join(f"{number}. {seen_line(step)}" for number, step in steps), width)
    room = max(width // 4, _BRIEF)
    said = [
        f"{as_name(name)} {_ARROW.join(_both(old, new, room))}"
        for name, old, new in _different(ask.args, args)
    ]
    return clipped(", ".join(said) or "nothing changed", width)


def _both(old: object, new: object, room: int) -> Iterator[str]:
    """Yield the old value and the new one; two long texts from where they begin to differ."""
    if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > room:
        start = common(old, new) - _LEAD
        old, new = (f"…{one[start:]}" if start > 0 else one for one in (old, new))
    yield clipped(_short(old), room)
    yield clipped(_short(new), room)


def _different(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[str, object, object]]:
    """Yield the names whose values differ, with the old one and the new one."""
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name, _MISSING), after.get(name, _MISSING)
        if _differ(old, new):
            yield name, old, new


def _step(step: Step) -> Iterator[str]:
    """Yield the line of a step, and a line for each thing that is not on it."""
    yield seen_line(step)
    for name, value in more_of(step).items():
        yield f"    {as_name(name)}: {as_json(value)}"


def _differ(old: object, new: object) -> bool:
    # 1 and 1.0, and True and 1, are different arguments although Python calls them equal.
    return old is not new and (
        old is _MISSING or new is _MISSING or canonical(old) != canonical(new)
    )


def _short(value: object) -> str:
    return "(not given)" if value is _MISSING else as_json(value)


def _lines(value: object) -> list[str]:
    """Return a value as the lines a person would compare."""
    match value:
        case str():
            return visible(value, lines=True).split("\n")
        case list():
            return [visible(item) if isinstance(item, str) else as_json(item) for item in value]
        case _ if value is _MISSING:
            return []
        case _:
            return as_json(value, indent=2).split("\n")


def _diff(old: Iterable[str], new: Iterable[str]) -> Iterator[str]:
    """Yield changed lines with two lines around them, marked `-` and `+`."""
    lines = difflib.unified_diff(list(old), list(new), lineterm="", n=2)
    for number, line in enumerate(lines):
        if number < 3:
            continue  # the names of two files, of which there are none, and the first place
        yield "..." if line.startswith("@@") else f"{line[0]} {line[1:]}"
