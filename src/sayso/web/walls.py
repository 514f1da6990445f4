"""Whose each stream of the journal is: looked up once, for all who follow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sayso.model.event import Event
from sayso.store.contract import Store

_KEEP = 50_000  # streams in memory
_ASK, _RUN, _KEY = "a-", "r-", "k-"


class Wall(NamedTuple):
    """The team that a stream belongs to, and for an ask the agent that asked."""

    team: str | None
    agent: str | None


class Walls:
    """What is known of the streams. What is of no ask and no run belongs to nobody."""

    def __init__(self) -> None:
        self._known: dict[str, Wall] = {}

    def unknown(self, events: Iterable[Event]) -> set[str]:
        """Return the streams of these events that have to be looked up."""
        return {
            event.stream
            for event in events
            if event.stream.startswith((_ASK, _RUN, _KEY)) and event.stream not in self._known
        }

    def look_up(self, store: Store, streams: Iterable[str]) -> dict[str, Wall]:
        """Return whose these streams are, from the lists of asks and runs."""
        asked = [stream for stream in streams if stream.startswith(_ASK)]
        found = {
            ask_id: Wall(_name(row.get("team")), _name(row["agent"]))
            for ask_id, row in (store.indexed(asked).items() if asked else ())
        }
        for stream in streams:
            row = store.run(stream) if stream.startswith(_RUN) else None
            if row is not None:
                found[stream] = Wall(row.team, None)
            key = store.trust_of(stream) if stream.startswith(_KEY) else None
            if key is not None:
                found[stream] = Wall(key.team or None, None)
        return found

    def learn(self, found: dict[str, Wall]) -> None:
        """Keep what was looked up; the oldest is forgotten first."""
        self._known |= found
        while len(self._known) > _KEEP:
            del self._known[next(iter(self._known))]

    def of(self, stream: str) -> Wall | None:
        """Return whose a stream is; `None` if it is nobody's."""
        return self._known.get(stream)


def _name(kept: object) -> str | None:
    return str(kept) if kept else None
