"""The journal by who did what to what: an index for looking through it, made from it and disposable.

Whoever looks walks along one index, from a place into the past, so a page costs what is on it. What
is looked for by several things at once is put together by whoever asks (`insight.trail`).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from sayso.model.event import Event
from sayso.store.casebook import Part

TRAIL = "trail"  # the reader of the journal that keeps this index
DESK = "#"  # in place of a team: people, access, webhooks and seals are the desk's own

By = Literal["all", "stream", "kind", "sort", "actor", "tool", "verdict"]


class TrailRow(NamedTuple):
    """One event in the index."""

    team: str
    at: int
    stream: str
    seq: int
    kind: str
    sort: str
    actor: str
    tool: str
    verdict: str


class Spot(NamedTuple):
    """A place in the trail: what comes behind it is older."""

    at: int
    n: int


class Met(NamedTuple):
    """An event that a walk came by, and its place."""

    spot: Spot
    row: TrailRow


class Walk(NamedTuple):
    """Where to go along: what is of a team, by one thing about it."""

    team: str
    by: By = "all"
    value: str = ""


class Trail(Protocol):
    """What a store can do with the trail. Every method is one short transaction."""

    def trail_cursor(self) -> str:
        """How far into the journal the trail has come."""
        ...

    def put_trail(
        self, rows: Iterable[TrailRow], changed: Iterable[TrailRow], *, before: str, after: str
    ) -> bool:
        """Add events and change others, and say how far they reach; nothing if somebody got on."""
        ...

    def drop_trail(self) -> None:
        """Forget the trail; it is made again from the beginning of the journal."""
        ...

    def trail_teams(self) -> list[str]:
        """The teams that the trail has something of, `""` for none and `"#"` for the desk."""
        ...

    def trail(self, walk: Walk, behind: Spot, since: int, limit: int) -> list[Met]:
        """What a walk comes by, the newest first."""
        ...

    def trail_reach(self, walk: Walk, behind: Spot, since: int, steps: int) -> int | None:
        """How far back a walk is after so many steps; `None` if it ends before."""
        ...

    def events_at(self, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Event]:
        """The events at these places of the journal."""
        ...


class SqlTrail(ABC):
    """The trail in a SQL database."""

    @abstractmethod
    def _rows(self, name: str, **parameters: object) -> list[Sequence[Any]]:
        """Run one named query and return its rows."""

    @abstractmethod
    def _together(self, parts: Sequence[Part], *, fenced: bool) -> bool:
        """Run queries in one commit that need not be synced; fenced, if the first hits."""

    @abstractmethod
    def _reached(self, reader: str) -> str:
        """Return how far a reader of the journal has come."""

    @abstractmethod
    def _read(self, reader: str, parts: Sequence[Part], before: str, after: str) -> bool:
        """Write what a reader made of the journal, and how far that reaches."""

    def trail_cursor(self) -> str:
        """Return how far into the journal the trail has come."""
        return self._reached(TRAIL)

    def put_trail(
        self, rows: Iterable[TrailRow], changed: Iterable[TrailRow], *, before: str, after: str
    ) -> bool:
        """Add events and change others."""
        parts: list[Part] = [("put_trail", {"rows": json.dumps(list(rows))})]
        parts += [("change_trail", row._asdict()) for row in changed]
        return self._read(TRAIL, parts, before, after)

    def drop_trail(self) -> None:
        """Forget the trail."""
        restart: Part = ("reader_restarts", {"reader": TRAIL})
        self._together([restart, ("drop_trail", {})], fenced=False)

    def trail_teams(self) -> list[str]:
        """Return the teams that the trail has something of."""
        return [row[0] for row in self._rows("trail_teams")]

    def trail(self, walk: Walk, behind: Spot, since: int, limit: int) -> list[Met]:
        """Return what a walk comes by, the newest first."""
        rows = self._rows(f"trail_{walk.by}", **_values(walk, behind, since), limit=limit)
        return [Met(Spot(row[2], row[0]), TrailRow._make(row[1:])) for row in rows]

    def trail_reach(self, walk: Walk, behind: Spot, since: int, steps: int) -> int | None:
        """Return how far back a walk is after so many steps."""
        rows = self._rows(f"trail_far_{walk.by}", **_values(walk, behind, since), limit=steps)
        return rows[0][0] if rows else None

    def events_at(self, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Event]:
        """Return the events at these places of the journal."""
        rows = self._rows("events_at", places=json.dumps(list(places))) if places else []
        events = [Event._make((*row, None)) for row in rows]
        return {(event.stream, event.seq): event for event in events}


def _values(walk: Walk, behind: Spot, since: int) -> dict[str, object]:
    values = {"team": walk.team, "at": behind.at, "n": behind.n, "since": since}
    return values if walk.by == "all" else values | {"value": walk.value}
