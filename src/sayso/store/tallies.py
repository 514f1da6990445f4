"""What happened, counted by hour and day: made from the journal, and disposable.

Rows are only ever added to. What a question costs depends on the hours it covers, not on how much
happened in them.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from sayso.store.casebook import Part, listed

TALLIES = "tallies"  # the reader of the journal that counts
Grain = Literal["hour", "day", "person", "ever"]
Dimension = Literal["agent", "tool", "tier"]
Column = Literal["agent", "tool", "tier", "person"]


class Tally(NamedTuple):
    """One thing that was counted, and how often.

    By the hour, agent, tool and tier are left out; for each person by the day, too. What was counted
    for ever has no moment and no team.
    """

    grain: Grain
    at: int
    team: str
    agent: str
    tool: str
    tier: str
    person: str
    kind: str
    what: str
    bin: int
    n: int
    micros: int


class Sum(NamedTuple):
    """How often something happened in a slot of time, or to a part, and how much it came to."""

    part: str
    kind: str
    what: str
    bin: int
    n: int
    micros: int


class TallyFilter(NamedTuple):
    """What to sum up: since that hour, of an agent, a tool, a tier, as somebody of these teams sees it.

    `things` are what is wanted, such as `asked`; `None` means all.
    """

    grain: Grain
    since: int
    agent: str | None = None
    tool: str | None = None
    tier: str | None = None
    teams: tuple[str, ...] | None = None
    things: tuple[str, ...] | None = None

    @property
    def values(self) -> dict[str, object]:
        """The filter as queries take it."""
        return {**self._asdict(), "teams": listed(self.teams), "things": listed(self.things)}


class Tallies(Protocol):
    """What a store can do with counts. Every method is one short transaction."""

    def tally_cursor(self) -> str:
        """How far into the journal was counted."""
        ...

    def put_tallies(self, rows: Iterable[Tally], *, before: str, after: str) -> bool:
        """Add to the counts, and say how far they reach; nothing, if somebody else has got on."""
        ...

    def drop_tallies(self) -> None:
        """Forget all counts; they are made again from the beginning of the journal."""
        ...

    def tallied(self, wanted: TallyFilter, width: int) -> list[Sum]:
        """Sum up by slots of so many hours; parts are their numbers."""
        ...

    def tallied_by(self, wanted: TallyFilter, by: Column) -> list[Sum]:
        """Sum up by agent, tool, tier or person."""
        ...


class SqlTallies(ABC):
    """Counts in a SQL database."""

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

    def tally_cursor(self) -> str:
        """Return how far into the journal was counted."""
        return self._reached(TALLIES)

    def put_tallies(self, rows: Iterable[Tally], *, before: str, after: str) -> bool:
        """Add to the counts."""
        parts: list[Part] = [("put_tallies", {"rows": json.dumps(list(rows))})]
        return self._read(TALLIES, parts, before, after)

    def drop_tallies(self) -> None:
        """Forget all counts."""
        restart: Part = ("reader_restarts", {"reader": TALLIES})
        self._together([restart, ("drop_tallies", {})], fenced=False)

    def tallied(self, wanted: TallyFilter, width: int) -> list[Sum]:
        """Sum up by slots of so many hours."""
        return [Sum._make(row) for row in self._rows("tallied", **wanted.values, width=width)]

    def tallied_by(self, wanted: TallyFilter, by: Column) -> list[Sum]:
        """Sum up by agent, tool, tier or person."""
        return [Sum._make(row) for row in self._rows("tallied_by", **wanted.values, by=by)]
