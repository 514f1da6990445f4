"""What happened, counted by hour and day: made from the journal, and disposable.

Rows are only ever added to. What a question costs depends on the hours it covers, not on how much
happened in them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from sayso.model.names import folded
from sayso.store.named import SqlQueries, listed

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
        names = {"agent": folded(self.agent), "tool": folded(self.tool)}
        lists = {"teams": listed(self.teams), "things": listed(self.things)}
        return {**self._asdict(), **names, **lists}


class Tallies(Protocol):
    """What a store can do with counts. Every method is one short transaction."""

    def tallied(self, wanted: TallyFilter, width: int) -> list[Sum]:
        """Sum up by slots of so many hours; parts are their numbers."""
        ...

    def tallied_by(self, wanted: TallyFilter, by: Column) -> list[Sum]:
        """Sum up by agent, tool, tier or person."""
        ...


class SqlTallies(SqlQueries):
    """Counts in a SQL database."""

    def tallied(self, wanted: TallyFilter, width: int) -> list[Sum]:
        """Sum up by slots of so many hours."""
        return [Sum._make(row) for row in self._rows("tallied", **wanted.values, width=width)]

    def tallied_by(self, wanted: TallyFilter, by: Column) -> list[Sum]:
        """Sum up by agent, tool, tier or person."""
        return [Sum._make(row) for row in self._rows("tallied_by", **wanted.values, by=by)]
