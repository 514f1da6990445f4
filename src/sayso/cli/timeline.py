"""The journal as a person reads it: one line an event, in our words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rich.text import Text

from sayso.channels.fence import Row
from sayso.channels.sentences import sentence, whose
from sayso.model.ask import Ask
from sayso.model.event import Event


def timeline(events: Iterable[Event], met: Mapping[int, Ask] | None = None) -> Iterator[Row]:
    """Return the events as lines: when, who, what. `met` is their ask as each of them met it."""
    for event in events:
        at = event.at.strftime("%H:%M:%S ")
        said = sentence(event, None if met is None else met.get(event.seq))
        yield Row(at, Text.assemble((f"{whose(event)} ", "bold"), said), 10)
