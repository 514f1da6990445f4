"""The plan that a run of an agent follows, as a terminal draws it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from rich.text import Text

from sayso.channels.steps import seen_line
from sayso.runs.following import Following, Mark

_MOST = 50
_MARKS: Mapping[Mark, tuple[str, str]] = {
    "done": ("✓", "green"),
    "wait": ("◷", "yellow"),
    "now": ("▶", "cyan"),
    "todo": ("·", "dim"),
}


def plan_lines(plan: Following) -> Iterator[Text]:
    """Draw a plan with a mark for each step: done, waiting for a person, in hand, to come."""
    for place, (mark, step) in enumerate(islice(plan.marked(), _MOST), start=1):
        shape, style = _MARKS[mark]
        line = f"{place}. {seen_line(step)}"
        if mark == "todo":
            yield Text(f"{shape} {line}", style)
        else:
            yield Text.assemble((f"{shape} ", style), line)
    if len(plan.steps) > _MOST:
        yield Text(f"  ... {len(plan.steps) - _MOST} more", "dim")
