"""A database under test, and the back door to it: what somebody with a SQL prompt could do."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psycopg
import pytest

Dialect = Literal["sqlite", "postgres"]
TABLES = (
    *("events", "asks", "people", "runs", "workers", "cases", "readers"),
    *("tokens", "sessions", "passwords", "tries", "links", "identities"),
    *("webhooks", "deliveries", "texts", "files", "ask_files", "tallies", "trail"),
    *("trust", "labels"),
)


@dataclass(frozen=True)
class Place:
    """One database: its address for a desk, and plain SQL around the desk's back."""

    dialect: Dialect
    url: str

    def named(self, name: str) -> str:
        """Return the address with a name under which its connections can be told from others."""
        return self.url if self.dialect == "sqlite" else f"{self.url}&application_name={name}"

    def sessions(self, name: str) -> list[int]:
        """Return the server's processes that serve the connections of this name."""
        rows = self.sql("select pid from pg_stat_activity where application_name = ?", name)
        return [row[0] for row in rows]

    @property
    def file(self) -> Path:
        assert self.dialect == "sqlite"
        return Path(self.url.removeprefix("sqlite:///"))

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one statement (`?` for values) in a connection that no desk has, and commit it."""
        if self.dialect == "sqlite":
            with closing(sqlite3.connect(self.file)) as file, file:
                return file.execute(statement, values).fetchall()
        try:
            return _asked(self.url, statement, values)
        except psycopg.OperationalError:
            if not _prompt(self.url).closed:
                raise
            del _prompts[os.getpid(), self.url]  # the database was dropped, and is there again
            return _asked(self.url, statement, values)

    def clear(self) -> None:
        """Leave nothing of what was written. Not `truncate`: that takes ten times as long."""
        self.sql("; ".join(f"delete from {table}" for table in TABLES))
        self.sql("update desk set epoch = 0 where epoch > 0")

    def count(self, table: str = "events") -> int:
        return int(self.sql(f"select count(*) from {table}")[0][0])

    def lapse(self, run_id: str) -> None:
        """Be half a minute later for whoever died with a run: nobody holds it any more.

        To wait for that, leases would have to be short, and on a busy machine they would run out
        under whoever lives.
        """
        self.sql("update runs set lease_until = 1 where id = ? and lease_until is not null", run_id)

    def one(self, statement: str, *values: object) -> Any:
        """Return the only value of the only row."""
        rows: Sequence[tuple[Any, ...]] = self.sql(statement, *values)
        assert len(rows) == 1, rows
        return rows[0][0]


def on_sqlite_alone(metafunc: pytest.Metafunc, *, but: Collection[str]) -> None:
    """Let tests run on SQLite alone, but for these files and tests: else only Python can differ."""
    names = {metafunc.module.__name__.rpartition(".")[2], metafunc.function.__name__}
    if "place" in metafunc.fixturenames and names.isdisjoint(but):
        alone = pytest.mark.parametrize("place", ["sqlite"], indirect=True)
        metafunc.definition.add_marker(alone)


def emptied(request: pytest.FixtureRequest, *names: str) -> None:
    """Empty the lists of a file in which its tools note what they did."""
    for name in names:
        getattr(request.module, name, []).clear()


def place_at(url: str) -> Place:
    """Return the database at an address."""
    return Place("sqlite" if url.startswith("sqlite:") else "postgres", url)


# One SQL prompt for each process: PostgreSQL takes longer to let somebody in than to answer.
_prompts: dict[tuple[int, str], psycopg.Connection[tuple[Any, ...]]] = {}


def _prompt(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    key = (os.getpid(), url)
    if key not in _prompts:
        _prompts[key] = psycopg.connect(url, autocommit=True, prepare_threshold=None)
    return _prompts[key]


def _asked(url: str, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    cursor = _prompt(url).execute(statement.replace("?", "%s"), values)
    return list(cursor.fetchall()) if cursor.description else []
