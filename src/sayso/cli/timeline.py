"""The journal as a person reads it: one line an event, in our words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.text import Text

from sayso.channels.fence import Row
from sayso.channels.sentences import sentence, whose
from sayso.model.event import Event


def timeline(events: Iterable[Event]) -> Iterator[Row]:
    """Return the events as lines: when, who, what."""
    for event in events:
        at = event.at.strftime("%H:%M:%S ")
        yield Row(at, Text.assemble((f"{whose(event)} ", "bold"), sentence(event)), 10)
