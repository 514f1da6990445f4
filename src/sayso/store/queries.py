"""Named queries from `.sql` files, in the words of one dialect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_INCLUDED = re.compile(r"\{@(\w+)\}")
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)")


def read_queries(dialect: str, words: Mapping[str, str]) -> dict[str, str]:
    """Return every named query, with `{now}` and the like put into the dialect's words."""
    room = files("sayso.store") / "sql"
    queries: dict[str, str] = {}
    for file in ("common.sql", f"{dialect}.sql"):
        parts = _NAME.split((room / file).read_text("utf-8"))
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            body = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
            for word, meaning in words.items():
                body = body.replace(f"{{{word}}}", meaning)
            queries[name] = body.strip()
    return {name: _whole(body, queries) for name, body in queries.items()}


def _whole(body: str, queries: Mapping[str, str]) -> str:
    """Put other queries in where `{@name}` stands, so that nothing is written twice."""
    return _INCLUDED.sub(lambda found: queries[found[1]], body)


def percent_style(sql: str) -> str:
    """Return the query with `:name` written as psycopg wants it."""
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """Return the query with `:name` written as `?1`, and the names in that order.

    SQLite takes values by their number in half the time it takes them by name.
    """
    names = tuple(dict.fromkeys(_PARAMETER.findall(sql)))
    return _PARAMETER.sub(lambda found: f"?{names.index(found[1]) + 1}", sql), names


def read_migrations(dialect: str) -> list[tuple[int, str, str]]:
    """Return the numbered steps of a dialect in order: number, name, SQL."""
    room = files("sayso.store") / "sql" / dialect
    steps = [
        (int(file.name[:4]), file.name.removesuffix(".sql"), file.read_text("utf-8"))
        for file in room.iterdir()
        if file.name.endswith(".sql")
    ]
    return sorted(steps)
