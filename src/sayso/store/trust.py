"""How the keys of agents stand, as a list: what each stream of a key came to, in a row.

A row is written with the event that changes it. Nothing runs alone because of a row: whoever asks
for that reads the stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from sayso.model.event import micros, moment
from sayso.model.names import folded
from sayso.store.fleet import Teams
from sayso.store.named import Part, RowChange, SqlQueries
from sayso.store.tallies import Dimension

_BATCH = 500


class TrustRow(NamedTuple):
    """One key, and how it stands."""

    id: str
    team: str
    agent: str
    version: str
    tool: str
    bucket: str
    tier: str
    standing: str
    score: float
    ends: int
    strikes: int
    grants: int
    fine: int
    audits: int
    harms: int
    incidents: int
    marks: str
    grant_ask: str | None
    flag_ask: str | None
    changed_at: datetime
    seq: int


class Stand(NamedTuple):
    """How many keys stand alike; the part is the agent, tool or tier that was asked for, or empty."""

    part: str
    standing: str
    tier: str
    strikes: int
    many: int


def put_trust(row: TrustRow) -> RowChange:
    """Keep how a key stands."""
    return RowChange("put_trust", row._asdict() | {"changed_at": micros(row.changed_at)})


class TrustRows(Protocol):
    """What a store can say of keys. Every method is one short transaction."""

    def trusted(
        self,
        *,
        standing: str | None = None,
        agent: str | None = None,
        tool: str | None = None,
        teams: Teams = None,
        limit: int = 200,
    ) -> list[TrustRow]:
        """Keys: those that want somebody first, then those that run alone."""
        ...

    def trust_counts(self, teams: Teams = None) -> Mapping[str, int]:
        """How many keys stand how."""
        ...

    def trust_stands(
        self,
        by: Dimension | None = None,
        agent: str | None = None,
        tool: str | None = None,
        tier: str | None = None,
        teams: Teams = None,
    ) -> list[Stand]:
        """How many keys stand alike, by agent, tool or tier, or all together."""
        ...

    def trust_of(self, key: str) -> TrustRow | None:
        """How one key stands, or `None` if there is none of this id."""
        ...

    def trust_kin(self, team: str, agent: str, tool: str) -> list[TrustRow]:
        """All keys of a tool in the hands of one agent, whatever version and bucket."""
        ...

    def trust_streams(self, after: str = "") -> list[str]:
        """Keys that the journal has a book of, by id behind that one."""
        ...

    def put_trust_again(self, rows: Sequence[TrustRow]) -> None:
        """Forget the list, and keep this instead."""
        ...


class SqlTrust(SqlQueries):
    """The same in a SQL database."""

    def trusted(
        self,
        *,
        standing: str | None = None,
        agent: str | None = None,
        tool: str | None = None,
        teams: Teams = None,
        limit: int = 200,
    ) -> list[TrustRow]:
        """Return keys: those that want somebody first."""
        found = self._rows(
            "trusted",
            standing=standing,
            agent=folded(agent),
            tool=folded(tool),
            teams=self._teams(teams),
            limit=limit,
        )
        return [_row(row) for row in found]

    def trust_counts(self, teams: Teams = None) -> Mapping[str, int]:
        """Return how many keys stand how."""
        found = self._rows("trust_counts", teams=self._teams(teams))
        return {str(standing): int(count) for standing, count in found}

    def trust_stands(
        self,
        by: Dimension | None = None,
        agent: str | None = None,
        tool: str | None = None,
        tier: str | None = None,
        teams: Teams = None,
    ) -> list[Stand]:
        """Return how many keys stand alike, by agent, tool or tier, or all together."""
        found = self._rows(
            "trust_stands",
            by=by,
            agent=folded(agent),
            tool=folded(tool),
            tier=tier,
            teams=self._teams(teams),
        )
        return [Stand._make(row) for row in found]

    def trust_of(self, key: str) -> TrustRow | None:
        """Return how one key stands."""
        found = self._rows("trust_of", id=key)
        return _row(found[0]) if found else None

    def trust_kin(self, team: str, agent: str, tool: str) -> list[TrustRow]:
        """Return all keys of a tool in the hands of one agent."""
        return [_row(row) for row in self._rows("trust_kin", team=team, agent=agent, tool=tool)]

    def trust_streams(self, after: str = "") -> list[str]:
        """Return keys that the journal has a book of."""
        return [row[0] for row in self._rows("trust_streams", after=after, limit=_BATCH)]

    def put_trust_again(self, rows: Sequence[TrustRow]) -> None:
        """Forget the list, and keep this instead."""
        parts: list[Part] = [(change.query, change.values) for change in map(put_trust, rows)]
        self._together([("drop_trust", {}), *parts], fenced=False)


def _row(row: Sequence[Any]) -> TrustRow:
    found = TrustRow(*row)
    return found._replace(changed_at=moment(row[-2]))
