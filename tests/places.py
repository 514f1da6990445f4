"""A database under test, and the back door to it: what somebody with a SQL prompt could do."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psycopg

Dialect = Literal["sqlite", "postgres"]
TABLES = (
    *("events", "asks", "people", "runs", "workers", "cases", "readers"),
    *("tokens", "sessions", "passwords", "tries", "links", "identities"),
    *("webhooks", "deliveries", "texts", "files", "ask_files"),
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
        """Run one statement (`?` for values) in a connection of its own, and commit it."""
        if self.dialect == "sqlite":
            with closing(sqlite3.connect(self.file)) as file, file:
                return file.execute(statement, values).fetchall()
        with psycopg.connect(self.url) as connection:
            cursor = connection.execute(statement.replace("?", "%s"), values)
            return list(cursor.fetchall()) if cursor.description else []

    def clear(self) -> None:
        """Leave nothing of what was written. Not `truncate`: that takes ten times as long."""
        self.sql("; ".join(f"delete from {table}" for table in TABLES))

    def count(self, table: str = "events") -> int:
        return int(self.sql(f"select count(*) from {table}")[0][0])

    def one(self, statement: str, *values: object) -> Any:
        """Return the only value of the only row."""
        rows: Sequence[tuple[Any, ...]] = self.sql(statement, *values)
        assert len(rows) == 1, rows
        return rows[0][0]
