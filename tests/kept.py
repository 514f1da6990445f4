"""Connections to PostgreSQL that are used again: by the next desk of this process, in the next test.

To let somebody in, and to read its catalogue for them, takes the server ten times as long and more
as to answer; and there are thousands of desks. What a desk closes is therefore kept open, and given
to the next one with nothing left of the session but what it has prepared: no locks, no settings,
nobody listening. To plan a statement takes the server longer than to carry it out, for any desk.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any

import psycopg
from psycopg import conninfo, pq

from sayso.store.postgres import PostgresStore

MOST = 6  # for each address: a few stay, whatever a test with many threads has opened
_idle: dict[tuple[int, str], list[tuple[pq.abc.PGconn, Any]]] = defaultdict(list)
_addresses: set[str] = set()
# `discard all` without what was prepared.
_FORGET = (
    b"close all; set session authorization default; reset all; unlisten *; "
    b"select pg_advisory_unlock_all(); discard temp; discard sequences"
)

Connection = psycopg.Connection[tuple[Any, ...]]


class Kept(psycopg.Connection[tuple[Any, ...]]):
    """A connection that looks closed after `close`, and is not."""

    address: tuple[int, str] | None = None

    def close(self) -> None:
        idle = _idle[self.address] if self.address else []
        ours = self.address is not None and self.address[0] == os.getpid()
        quiet = not self.closed and self.pgconn.transaction_status == pq.TransactionStatus.IDLE
        if ours and quiet and len(idle) < MOST:
            kept, self.pgconn, self._closed = self.pgconn, _ended, True
            idle.append((kept, self._prepared))
        else:
            super().close()


def _ended_one() -> pq.abc.PGconn:
    one = pq.PGconn.connect_start(b"host=/nowhere")
    one.finish()
    return one


_ended = _ended_one()


def keep(url: str) -> None:
    """Keep connections to this database from now on, which is there until the end of the tests."""
    _addresses.add(url)


def _used_again(key: tuple[int, str]) -> Kept | None:
    """Return one that was kept and is still good, as if it were new."""
    while True:
        try:
            found, prepared = _idle[key].pop()
        except IndexError:
            return None
        if found.exec_(_FORGET).status == pq.ExecStatus.COMMAND_OK:
            while found.notifies() is not None:
                pass
            again = Kept(found)
            again._prepared = prepared
            return again
        found.finish()  # a test has ended it at the server


_dialled = PostgresStore._dial


def _dial(self: PostgresStore) -> Connection:
    if self._conninfo not in _addresses:
        return _dialled(self)
    given = conninfo.make_conninfo(**self._address())
    key = (os.getpid(), given)
    connection = _used_again(key) or Kept.connect(given)
    connection.address = key
    connection.set_autocommit(True)
    connection.cursor_factory = psycopg.RawCursor
    return connection


def install() -> None:
    """Let the stores of this process use them."""
    PostgresStore._dial = _dial  # type: ignore[method-assign]
