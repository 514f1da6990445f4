"""The least that any program could do for a run: its rows, written by bare SQL.

It makes the ids, the times and the JSON of each run and writes them with the commits
that ours makes. It checks nothing, hashes nothing, calls no user code but the tool.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from benchmarks.store import EVENT, READ, Connection, Row, dumps, now, scrambled
from sayso import Desk

Columns = dict[str, Any]
Statement = tuple[str, tuple[Any, ...]]

_numbers = count(1)
_ADD_EVENT = f"insert into events ({EVENT}) values ({', '.join('?' * 9)})"
_DECIDE = "update asks set status = 'decided', voters = ? where id = ?"
_WAKE = "update runs set status = 'ready', wake = wake + 1, changed_at = ? where id = ?"
_CLAIM = (
    "update runs set status = 'running', token = ?, worker = ?, lease_until = ?,"
    " attempt = attempt + 1 where id = ?"
)
_HOLD = "update runs set lease_until = ? where id = ?"
_INTEND = "update asks set effect = 'intended', holder = ? where id = ?"
_FINISH = "update asks set effect = 'done', holder = null where id = ?"
_END = (
    "update runs set status = 'done', waits = '', token = null, lease_until = null,"
    " changed_at = ? where id = ?"
)


@dataclass(frozen=True)
class Sample:
    """A run and its ask as sayso writes them: rows as they were at the pause, and all events."""

    run: Columns
    ask: Columns
    of_run: list[tuple[Row, Columns]]
    of_ask: list[tuple[Row, Columns]]

    @classmethod
    def take(cls, desk: Desk, connection: Connection, start: Callable[[], str]) -> Sample:
        """Go through one run of ours; `start` starts it and returns its id."""
        run_id = start()
        [ask] = desk.get_run(run_id).asks
        rows = _row(connection, "runs", run_id), _row(connection, "asks", ask.id)
        desk.respond(ask, "42") if ask.kind == "question" else desk.approve(ask)
        desk.crew.take(run_id)
        return cls(*rows, _events(connection, run_id), _events(connection, ask.id))


def _row(connection: Connection, table: str, key: str) -> Columns:
    cursor = connection.execute(f"select * from {table} where id = '{key}'")
    return dict(zip([column[0] for column in cursor.description], cursor.fetchone(), strict=True))


def _events(connection: Connection, stream: str) -> list[tuple[Row, Columns]]:
    found = connection.execute(f"select {EVENT} from events where stream = '{stream}' order by seq")
    return [((*e[1:5], *e[7:]), json.loads(e[5])) for e in found.fetchall()]


class Bare:
    """Runs by bare SQL: one whole run a call."""

    def __init__(
        self, connection: Connection, sample: Sample, act: Callable[[int], object] | None
    ) -> None:
        self._connection = connection
        self._sample = sample
        self._act = act
        self._add_run = _insert("runs", sample.run)
        self._add_ask = _insert("asks", sample.ask)

    def cycle(self, number: int, *, claims: bool = True) -> None:
        """Start and pause, decide, resume and end; `claims=False` leaves the claim out."""
        sample = self._sample
        run_id, ask_id = (f"{kind}-{scrambled(next(_numbers))[2:]}" for kind in "ra")
        run = {**sample.run, "id": run_id, "started_at": now(), "waits": f"|{ask_id}|"}
        ask = {**sample.ask, "id": ask_id, "stream": ask_id, "run": run_id, "opened_at": now()}
        ask["key"] = f"{run_id}:1"
        opened, decided, *effect = sample.of_ask
        started, ended = sample.of_run
        self.write(
            (self._add_run, tuple(run.values())),
            _event(run_id, started),
            (self._add_ask, tuple(ask.values())),
            _event(ask_id, opened, ask=ask_id),
        )
        self.read(ask_id)
        self.write(
            (_WAKE, (now(), run_id)),
            (_DECIDE, ("|anna|", ask_id)),
            _event(ask_id, decided),
        )
        token = os.urandom(8).hex()
        if claims:
            self.write_unsynced(_CLAIM, (token, "host:1", now(), run_id))
        self.read(run_id)
        self.read(ask_id)
        last = [(_END, (now(), run_id)), _event(run_id, ended)]
        if self._act is not None:
            intended, finished = effect
            self.write(
                (_HOLD, (now(), run_id)),
                (_INTEND, (token, ask_id)),
                _event(ask_id, intended),
            )
            self._act(number)
            last += [(_FINISH, (ask_id,)), _event(ask_id, finished)]
        self.write(*last)

    def write(self, *statements: Statement) -> None:
        """Write all of it in one synced commit."""
        raise NotImplementedError

    def write_unsynced(self, sql: str, values: tuple[Any, ...]) -> None:
        """Write it in a commit that need not survive a power cut."""
        raise NotImplementedError

    def read(self, stream: str) -> None:
        """Read the events of a stream."""
        raise NotImplementedError

    def check(self) -> None:
        """Raises: RuntimeError: a run was left before its end."""
        left = "select count(*) from runs where status <> 'done'"
        [found] = self._connection.execute(left).fetchone()
        if found:
            raise RuntimeError(f"{found} runs by bare SQL did not come to their end")


class BareSQLite(Bare):
    def write(self, *statements: Statement) -> None:
        execute = self._connection.execute
        execute("begin immediate")
        for sql, values in statements:
            execute(sql, values)
        execute("commit")

    def write_unsynced(self, sql: str, values: tuple[Any, ...]) -> None:
        execute = self._connection.execute
        execute("pragma synchronous = normal")
        execute(sql, values)
        execute("pragma synchronous = full")

    def read(self, stream: str) -> None:
        self._connection.execute(READ, (stream,)).fetchall()


class BarePostgres(Bare):
    """A unit of work is one statement, so one round trip."""

    def write(self, *statements: Statement) -> None:
        *first, (last, _) = statements
        named = ", ".join(f"w{n} as ({sql})" for n, (sql, _) in enumerate(first))
        values = [value for _, given in statements for value in given]
        self._connection.execute(f"with {named} {last}".replace("?", "%s"), values)

    def write_unsynced(self, sql: str, values: tuple[Any, ...]) -> None:
        unsynced = f"{sql} and set_config('synchronous_commit', 'off', true) = 'off'"
        self._connection.execute(unsynced.replace("?", "%s"), values)

    def read(self, stream: str) -> None:
        self._connection.execute(READ.replace("?", "%s"), (stream,)).fetchall()


BARE: dict[str, type[Bare]] = {"SQLite": BareSQLite, "PostgreSQL": BarePostgres}


def _insert(table: str, row: Columns) -> str:
    return f"insert into {table} ({', '.join(row)}) values ({', '.join('?' * len(row))})"


def _event(stream: str, sample: tuple[Row, Columns], **changed: object) -> Statement:
    (seq, kind, _, actor, digest, chained), said = sample
    text = dumps({**said, **changed})
    return _ADD_EVENT, (stream, seq, kind, now(), actor, text, os.urandom(16), digest, chained)
