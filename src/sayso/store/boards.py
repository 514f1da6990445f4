"""What pages show of everything at once: the runs there are now, what waits, what happened last.

Each look is one short statement, and costs what it returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, Protocol

from sayso.model.event import Event, micros, moment
from sayso.store.fleet import Teams
from sayso.store.named import SqlQueries

NOT_OVER = ("waiting", "parked", "running", "ready")
COUNTED = 1000  # of each status; what is more is said to be more
_EVENT = 9


class Boards(Protocol):
    """What a store can say of everything at once. Every method is one short transaction."""

    def failed_since(self, since: datetime, limit: int, teams: Teams = None) -> list[str]:
        """Runs that have failed since then, the last one first."""
        ...

    def open_since(self, limit: int, teams: Teams = None) -> list[datetime]:
        """Since when asks wait for people, in no order."""
        ...

    def run_open(self, run_id: str) -> list[str]:
        """The asks of a run that are not closed, in the order they were opened."""
        ...

    def endings(self, runs: Sequence[str]) -> Mapping[str, Event]:
        """The last event of each of these runs."""
        ...

    def passage(self, stream: str, after: int, upto: int) -> list[Event]:
        """A part of a stream: behind one event, up to another."""
        ...

    def run_asks_between(
        self, run_id: str, since: datetime | None, until: datetime | None
    ) -> list[list[Event]]:
        """The journals of the asks that a run opened in this time."""
        ...

    def run_steps(self, run_id: str, verb: str, after: int, upto: int) -> list[Event]:
        """Steps of one verb that are done, in a part of a run."""
        ...

    def run_plans(self, run_id: str, limit: int) -> list[list[Event]]:
        """The journals of the newest plans that a run asked about, the oldest of them first."""
        ...


class SqlBoards(SqlQueries):
    """The same in a SQL database."""

    def failed_since(self, since: datetime, limit: int, teams: Teams = None) -> list[str]:
        """Return runs that have failed since then, the last one first."""
        given = {"since": micros(since), "limit": limit, "teams": self._teams(teams)}
        return [row[0] for row in self._rows("failed_since", **given)]

    def open_since(self, limit: int, teams: Teams = None) -> list[datetime]:
        """Return since when asks wait for people, in no order."""
        rows = self._rows("open_since", limit=limit, teams=self._teams(teams))
        return [moment(row[0]) for row in rows]

    def run_open(self, run_id: str) -> list[str]:
        """Return the asks of a run that are not closed."""
        return [row[0] for row in self._rows("run_open", id=run_id)]

    def endings(self, runs: Sequence[str]) -> Mapping[str, Event]:
        """Return the last event of each of these runs."""
        found = self._rows("endings", ids=self._names(runs)) if runs else []
        return {event.stream: event for event in map(_event, found)}

    def passage(self, stream: str, after: int, upto: int) -> list[Event]:
        """Return a part of a stream: behind one event, up to another."""
        return list(map(_event, self._rows("passage", stream=stream, after=after, upto=upto)))

    def run_asks_between(
        self, run_id: str, since: datetime | None, until: datetime | None
    ) -> list[list[Event]]:
        """Return the journals of the asks that a run opened in this time."""
        rows = self._rows(
            "run_asks_between",
            id=run_id,
            since=0 if since is None else micros(since),
            until=2**62 if until is None else micros(until),
        )
        return _journals(rows)

    def run_steps(self, run_id: str, verb: str, after: int, upto: int) -> list[Event]:
        """Return steps of one verb that are done, in a part of a run."""
        rows = self._rows("run_steps", id=run_id, verb=verb, after=after, upto=upto)
        found = map(_event, rows)
        return [event for event in found if (event.payload or {}).get("verb") == verb]

    def run_plans(self, run_id: str, limit: int) -> list[list[Event]]:
        """Return the journals of the newest plans that a run asked about."""
        return _journals(self._rows("run_plans", id=run_id, limit=limit))


def _journals(rows: Iterable[Sequence[Any]]) -> list[list[Event]]:
    return [list(events) for _, events in groupby(map(_event, rows), key=lambda one: one.stream)]


def _event(row: Sequence[Any]) -> Event:
    return Event(*row[-_EVENT:])
