"""How a fleet stands: who carries runs on, what waits for whom, and what was given up.

Hints for people and monitors; only which version of a workflow is alive is asked when a run is claimed. All of it is counted in indexes of what
is open, alive or given up, so what is over costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol

from sayso.model.event import moment
from sayso.model.requirement import ANYBODY
from sayso.store.named import SqlQueries

_TICK = timedelta(microseconds=1)
ALIVE = timedelta(seconds=15)  # whoever said nothing for longer is taken for gone
Teams = tuple[str, ...] | None  # what somebody of these sees: theirs, and what belongs to none


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that carries runs on, with the workflows it has the code of.

    `lag` is the longest time from ready to claimed of late; `None` if it claimed nothing.
    """

    id: str
    name: str
    serves: tuple[str, ...]
    seen_at: datetime
    version: str = ""
    engine: str = "threads"
    threads: int = 0
    busy: int = 0
    lag: timedelta | None = None
    codes: tuple[str, ...] = ()  # in which version it has them, such as `refund=2`


@dataclass(frozen=True, slots=True)
class OpenAsks:
    """How many asks of one rank, tier of one's own and kind are open, and since when the oldest."""

    rank: int
    tier: str | None
    kind: str
    count: int
    since: datetime


@dataclass(frozen=True, slots=True)
class OpenNeeds:
    """How many open asks of one team, or of none, are for these roles."""

    roles: tuple[str, ...]
    team: str | None
    count: int

    def takes(self, held: frozenset[str]) -> bool:
        """Whether the vote of somebody who holds these roles could count."""
        return ANYBODY in self.roles or not held.isdisjoint(self.roles)


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many runs of one workflow a worker could take, and since when the oldest.

    They are ready, or whoever carried them on fell silent.
    """

    workflow: str
    path: str
    count: int
    since: datetime


class Idler(NamedTuple):
    """A connection that leaves a transaction open."""

    pid: int
    name: str
    seconds: int


class Strain(NamedTuple):
    """How a server stands that several programs share."""

    connections: int
    most: int
    idlers: tuple[Idler, ...]
    ahead: timedelta


class Fleet(Protocol):
    """What a store can say about its fleet. Every method is one short transaction."""

    def put_worker(self, worker: Worker, keep: timedelta) -> None:
        """Say that a worker is alive and what it serves; forget those silent for longer."""
        ...

    def drop_worker(self, worker_id: str) -> None:
        """Say that a worker has ended."""
        ...

    def workers(self, within: timedelta) -> list[Worker]:
        """Who was alive within that time."""
        ...

    def open_counts(self) -> list[OpenAsks]:
        """How many asks are open, by rank and kind."""
        ...

    def open_needs(self) -> list[OpenNeeds]:
        """How many asks are open, by the roles they are for and by team."""
        ...

    def run_counts(self) -> Mapping[str, int]:
        """How many runs are ready, running, waiting or parked."""
        ...

    def backlog(self, limit: int, teams: Teams = None) -> list[Backlog]:
        """Of which workflows the runs are that a worker could take, the oldest first; as a team sees it."""
        ...

    def delivery_counts(self) -> Mapping[str, int]:
        """How many messages to webhooks wait, and how many were given up."""
        ...

    def written(self) -> int:
        """About how many events were ever written, without counting them."""
        ...

    def strain(self, idle: timedelta) -> Strain | None:
        """How the server stands, with transactions left open for so long; `None` for a file."""
        ...


class SqlFleet(SqlQueries):
    """The fleet in a SQL database."""

    def put_worker(self, worker: Worker, keep: timedelta) -> None:
        """Say that a worker is alive and what it serves; forget those silent for longer."""
        self._unsynced(
            "put_worker",
            id=worker.id,
            worker=worker.name,
            serves=f"|{'|'.join(worker.serves)}|",
            codes=f"|{'|'.join(worker.codes)}|",
            version=worker.version,
            engine=worker.engine,
            threads=worker.threads,
            busy=worker.busy,
            lag=None if worker.lag is None else worker.lag // _TICK,
        )
        self._unsynced("forget_workers", span=keep // _TICK)

    def drop_worker(self, worker_id: str) -> None:
        """Say that a worker has ended."""
        self._unsynced("drop_worker", id=worker_id)

    def workers(self, within: timedelta) -> list[Worker]:
        """Return who was alive within that time."""
        return [_worker(row) for row in self._rows("workers", span=within // _TICK)]

    def open_counts(self) -> list[OpenAsks]:
        """Return how many asks are open, by rank and kind."""
        rows = self._rows("open_counts")
        return [
            OpenAsks(rank, tier, kind, count, moment(at)) for rank, tier, kind, count, at in rows
        ]

    def open_needs(self) -> list[OpenNeeds]:
        """Return how many asks are open, by the roles they are for and by team."""
        return [
            OpenNeeds(tuple(role for role in roles.split("|") if role), team or None, count)
            for roles, team, count in self._rows("open_needs")
        ]

    def run_counts(self) -> Mapping[str, int]:
        """Return how many runs are not over, by status."""
        return {str(row[0]): int(row[1]) for row in self._rows("run_counts")}

    def backlog(self, limit: int, teams: Teams = None) -> list[Backlog]:
        """Return of which workflows the runs are that a worker could take, the oldest first."""
        rows = self._rows("backlog", limit=limit, teams=self._teams(teams))
        return [Backlog(flow, path, count, moment(at)) for flow, path, count, at in rows]

    def delivery_counts(self) -> Mapping[str, int]:
        """Return how many messages to webhooks wait, and how many were given up."""
        return {str(row[0]): int(row[1]) for row in self._rows("delivery_counts")}

    def written(self) -> int:
        """Return about how many events were ever written."""
        return int(self._rows("written")[0][0])

    def strain(self, idle: timedelta) -> Strain | None:
        """Return how the server stands. A file has none."""
        del idle
        return None


def _worker(row: Sequence[Any]) -> Worker:
    key, name, serves, seen_at, version, engine, threads, busy, lag, codes = row[:10]
    return Worker(
        key,
        name,
        _listed(serves),
        moment(seen_at),
        version,
        engine,
        threads,
        busy,
        None if lag is None else lag * _TICK,
        _listed(codes),
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(each for each in text.split("|") if each)
