"""The journal by who did what to what: an index for looking through it, made from it and disposable.

Whoever looks walks along one index, from a place into the past, and picks out what else is wanted on the
way, so a page costs no more than its steps. Along what to walk, and how far, is decided by whoever asks
(`insight.trail`).
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from sayso.model.event import Event
from sayso.store.named import SqlQueries

DESK = "#"  # in place of a team: people, access, webhooks and seals are the desk's own

By = Literal["all", "stream", "kind", "sort", "actor", "tool", "verdict"]
# Of some things one value is wanted at most, of others several may be.
_ALONE: tuple[By, ...] = ("stream", "sort", "tool", "verdict")
_SEVERAL: tuple[By, ...] = ("actor", "kind")
_ALL = 2**62  # steps: the stretch has an end already


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


class Stretch(NamedTuple):
    """From a place into the past, as far as another and with it."""

    behind: Spot
    to: Spot


class Walk(NamedTuple):
    """Where to go along: what is of a team, by one thing about it."""

    team: str
    by: By = "all"
    value: str = ""


MOST_WALKS = 100  # in one query; SQLite puts 500 together at most
Others = Mapping[By, Sequence[str]]  # what else is wanted: by each thing one of some values


class Trail(Protocol):
    """What a store can do with the trail. Every method is one short transaction."""

    def trail_teams(self) -> list[str]:
        """The teams that the trail has something of, `""` for none and `"#"` for the desk."""
        ...

    def trail(
        self, walks: Sequence[Walk], stretch: Stretch, limit: int, others: Others
    ) -> list[Met]:
        """What walks by one thing come by that is also of the others, the newest first."""
        ...

    def trail_spots(
        self, walks: Sequence[Walk], stretch: Stretch, limit: int, *, passed: int = 0
    ) -> list[Spot]:
        """The places that walks by one thing come by, the newest first, behind those passed."""
        ...

    def events_at(self, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Event]:
        """The events at these places of the journal."""
        ...


class SqlTrail(SqlQueries):
    """The trail in a SQL database."""

    @abstractmethod
    def _several(self, name: str, part: str, place: str, own: Sequence[str], times: int) -> str:
        """Return the name of a query with a part in it several times, each with its own values."""

    def trail_teams(self) -> list[str]:
        """Return the teams that the trail has something of."""
        return [row[0] for row in self._rows("trail_teams")]

    def trail(
        self, walks: Sequence[Walk], stretch: Stretch, limit: int, others: Others
    ) -> list[Met]:
        """Return what walks come by that is also of the others, the newest first."""
        given = self._picked(others) | {"steps": _ALL if others else limit, "limit": limit}
        rows = self._rows(self._merged("trail_met", walks), **_values(walks, stretch), **given)
        return [Met(Spot(row[2], row[0]), TrailRow._make(row[1:])) for row in rows]

    def _picked(self, others: Others) -> dict[str, object]:
        alone = {by: next(iter(others.get(by, ())), None) for by in _ALONE}
        return alone | {
            f"{by}s": self._names(others[by]) if by in others else None for by in _SEVERAL
        }

    def trail_spots(
        self, walks: Sequence[Walk], stretch: Stretch, limit: int, *, passed: int = 0
    ) -> list[Spot]:
        """Return the places that walks come by, the newest first."""
        given = {"steps": limit + passed, "limit": limit, "passed": passed}
        rows = self._rows(self._merged("trail_spots", walks), **_values(walks, stretch), **given)
        return [Spot._make(row) for row in rows]

    def _merged(self, name: str, walks: Sequence[Walk]) -> str:
        """Return the name of a query that goes along as many walks at once."""
        by = walks[0].by
        return self._several(name, f"{name}_{by}", "walks", ("team", "value"), len(walks))

    def events_at(self, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Event]:
        """Return the events at these places of the journal."""
        rows = self._rows("events_at", places=json.dumps(list(places))) if places else []
        events = [Event(*row) for row in rows]
        return {(event.stream, event.seq): event for event in events}


def _values(walks: Sequence[Walk], stretch: Stretch) -> dict[str, object]:
    (at, n), (to_at, to_n) = stretch
    values: dict[str, object] = {"at": at, "n": n, "to_at": to_at, "to_n": to_n}
    for number, walk in enumerate(walks):
        values |= {f"team{number}": walk.team, f"value{number}": walk.value}
    return values
