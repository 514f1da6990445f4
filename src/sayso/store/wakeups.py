"""The tables that wake workers, beside the journal: installed, brought up to date, kept small.

What they are is not known here. Whoever knows the engine hands over its SQL;
ours is the trigger that writes a wake-up in the transaction that makes a run
ready, and the broom. No promise rests on any of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import conninfo, sql

from sayso.store.queries import numbered

Connection = psycopg.Connection[tuple[Any, ...]]

_SILENT = timedelta(minutes=2)  # a worker of the engine says every ten seconds that it is alive
_UNSERVED = timedelta(minutes=1)
_BATCH = 500


class PostgresWakeups:
    """The wake-ups of one database."""

    def __init__(
        self,
        lent: Callable[[], AbstractContextManager[Connection]],
        given: Callable[[], Mapping[str, Any]],
        queries: Mapping[str, str],
    ) -> None:
        self._lent = lent
        self._given = given
        self._queries = queries

    @contextmanager
    def _inside(self) -> Iterator[tuple[Connection, str]]:
        """Begin a transaction that finds the engine's names besides ours."""
        with self._lent() as connection, self._entered(connection) as name:
            yield connection, name

    @contextmanager
    def _entered(self, connection: Connection) -> Iterator[str]:
        with connection.transaction():
            row = connection.execute(self._queries["engine_path"]).fetchone()
            yield str(row[0]) if row else ""

    def _ask(self, connection: Connection, name: str, **given: object) -> psycopg.Cursor[Any]:
        text, names = numbered(self._queries[name], "$")
        return connection.execute(text, [given.get(each) for each in names])

    def _version(self, connection: Connection) -> str | None:
        there = self._ask(connection, "engine_there").fetchone()
        if there is None or not there[0]:
            return None
        row = self._ask(connection, "engine_version").fetchone()
        return str(row[0]) if row else None

    def version(self) -> str | None:
        """Return the last step that was taken here, or `None` if nothing was installed."""
        with self._inside() as (connection, _):
            return self._version(connection)

    def address(self) -> str:
        """Return the address under which the engine finds its tables. It may hold a password."""
        with self._inside() as (connection, name):
            row = connection.execute("show search_path").fetchone()
        path = (str(row[0]) if row else name).replace("\\", "\\\\").replace(" ", "\\ ")
        given = dict(self._given())
        # A wake-up may get lost, so nobody waits for the disk because of one.
        given["options"] += f" -c synchronous_commit=off -c search_path={path}"
        return conninfo.make_conninfo(**given)

    def queues(self, workflows: Sequence[str]) -> list[str]:
        """Return the queues in which the runs of these workflows are announced."""
        with self._inside() as (connection, _):
            rows = self._ask(connection, "engine_queue", names=list(workflows)).fetchall()
        return sorted(row[0] for row in rows)

    def install(self, schema: str, steps: Sequence[tuple[str, str]]) -> list[str]:
        """Bring the engine's tables up to date, one transaction a step; return the names of those.

        Args:
            schema: The SQL of all its tables, as of the last step.
            steps: The names and the SQL of all steps that led there, in order.
        """
        taken: list[str] = []
        with self._lent() as connection, _alone(connection):
            while (step := self._step(connection, schema, steps)) is not None:
                taken.append(step)
        return taken

    def _step(
        self, connection: Connection, schema: str, steps: Sequence[tuple[str, str]]
    ) -> str | None:
        with self._entered(connection) as name:
            connection.execute("set local statement_timeout = 0")
            found = self._version(connection)
            if found is None:
                made = sql.SQL("create schema if not exists {}").format(sql.Identifier(name))
                connection.execute(made.as_string(connection))
                connection.execute(self._queries["engine_new"])
                connection.execute(schema)
                step = steps[-1][0]
            else:
                missing = [each for each in steps if each[0] > found]
                if not missing:
                    connection.execute(self._queries["engine_wakes"])
                    return None
                step, text = missing[0]
                connection.execute(text)
            self._ask(connection, "engine_note", version=step)
        return step

    def prune(self) -> int:
        """Drop wake-ups that wake nobody any more; return how many."""
        with self._inside() as (connection, _):
            if self._version(connection) is None:
                return 0
            connection.execute("set local synchronous_commit = off")
            span = int(_UNSERVED.total_seconds() * 1_000_000)
            given = {"silent": _SILENT, "span": span, "limit": _BATCH}
            dropped = self._ask(connection, "engine_prune", **given).rowcount
            self._ask(connection, "engine_bury", **given)
        return dropped

    def counts(self, limit: int) -> Mapping[str, int]:
        """Return how many wake-ups there are by status, of the first so many."""
        with self._inside() as (connection, _):
            if self._version(connection) is None:
                return {}
            return dict(self._ask(connection, "engine_counts", silent=_SILENT, limit=limit))


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """Be the only one who installs. Held across transactions: each then sees all that others did."""
    with connection.transaction():
        connection.execute("set local lock_timeout = '60s'")
        connection.execute("select pg_advisory_lock(hashtext('sayso engine'))")
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute("select pg_advisory_unlock(hashtext('sayso engine'))")
