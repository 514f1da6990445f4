"""Named queries from `.sql` files, in the words of one dialect."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_INCLUDED = re.compile(r"\{@(\w+)\}")
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+[0-9]*)")


def read_queries(dialect: str, words: Mapping[str, str]) -> dict[str, str]:
    """Return every named query, with `{now}` and the like put into the dialect's words."""
    return dict(_worded(dialect, tuple(words.items())))


@cache
def _worded(dialect: str, words: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Put the queries into words once: every desk of a program has the same."""
    queries: dict[str, str] = {}
    for file in (
        *("common.sql", f"{dialect}.sql", "readers.sql", "cases.sql", f"{dialect}_cases.sql"),
        *("tallies.sql", "labels.sql", "trail.sql", "accounts.sql", "outbox.sql", "files.sql"),
        *("fleet.sql", "epochs.sql", "boards.sql", "keys.sql"),
        *(("postgres_wakeups.sql", "postgres_fleet.sql") if dialect == "postgres" else ()),
    ):
        for name, body in _named(file):
            for word, meaning in words:
                body = body.replace(f"{{{word}}}", meaning)
            queries[name] = body.strip()
    return {name: _whole(body, queries) for name, body in queries.items()}


@cache
def _named(file: str) -> list[tuple[str, str]]:
    """Return the queries of a file as they are written there, without their comments."""
    parts = _NAME.split((files("sayso.store") / "sql" / file).read_text("utf-8"))
    return [
        (name, "\n".join(line for line in text.splitlines() if not line.startswith("--")))
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    ]


def _whole(body: str, queries: Mapping[str, str]) -> str:
    """Put other queries in where `{@name}` stands, so that nothing is written twice."""
    return _INCLUDED.sub(lambda found: _whole(queries[found[1]], queries), body)


@lru_cache(maxsize=2048)
def numbered(sql: str, sign: str, first: int = 1) -> tuple[str, tuple[str, ...]]:
    """Return the query with `:name` written as `?1` or `$1`, and the names in that order.

    Both drivers take values by their number in half the time they take them by name.
    """
    names = tuple(dict.fromkeys(_PARAMETER.findall(sql)))
    return _PARAMETER.sub(lambda found: f"{sign}{names.index(found[1]) + first}", sql), names


def several(query: str, place: str, part: str, own: Sequence[str], times: int) -> str:
    """Return a query that has a part in it several times, each with values of its own: `:team0`."""
    own_one = re.compile(rf":({'|'.join(own)})\b")
    parts = (own_one.sub(rf":\g<1>{number}", part) for number in range(times))
    return query.replace(f"{{{place}}}", " union all ".join(parts))


def joined(queries: Sequence[str], optional: Sequence[bool]) -> str:
    """Return one statement of PostgreSQL that writes everything or nothing, in this order.

    Each query waits for the one before it, and needs it to have changed a row, unless that one
    is optional. If the first changes nothing, nothing is written. If a later one does not,
    dividing by the number of its rows takes everything back.
    """
    parts: list[str] = []
    needed: list[str] = []
    taken, before = 0, "true"
    for number, (query, may_miss) in enumerate(zip(queries, optional, strict=True)):
        text, names = numbered(query, "$", taken + 1)
        taken += len(names)
        part = f"w{number}"
        parts.append(f"{part} as ({text} and {before} returning 1)")
        if may_miss:
            before += f" and (select count(*) from {part}) >= 0"  # noqa: S608
        else:
            needed.append(part)
            before = f"exists (select from {part})"
    whole = (
        f"with {', '.join(parts)} select pg_notify('sayso', ''),"  # noqa: S608 - our own queries
        f" 1 / (select count(*) from {needed[-1]})"
    )
    return whole if optional[0] else f"{whole} from w0"


FIRST = 100  # the first step; what has a lower number was made before there was a release
_TYPES = {
    "sqlite": {
        "big": "integer",
        "bytes": "blob",
        "real": "real",
        "serial": "integer primary key",
        "strict": " strict",
        "keyed": " strict, without rowid",
    },
    "postgres": {
        "big": "bigint",
        "bytes": "bytea",
        "real": "double precision",
        "serial": "bigint primary key generated always as identity",
        "strict": "",
        "keyed": "",
    },
}


@cache
def read_migrations(dialect: str) -> list[tuple[int, str, str]]:
    """Return the numbered steps of a dialect in order: number, name, SQL.

    A step is `0100_name.sql`, in the words of the dialect; what only one dialect needs of it stands in
    `0100_name.sqlite.sql`, and comes first.
    """
    room = files("sayso.store") / "sql" / "schema"
    steps = []
    for file in room.iterdir():
        name, *own = file.name.removesuffix(".sql").split(".")
        if not file.name.endswith(".sql") or own:
            continue
        beside = room / f"{name}.{dialect}.sql"
        text = beside.read_text("utf-8") if beside.is_file() else ""
        text += file.read_text("utf-8")
        for word, meaning in _TYPES[dialect].items():
            text = text.replace(f"{{{word}}}", meaning)
        steps.append((int(name[:4]), name, text))
    return sorted(steps)


def older(found: int) -> str:
    """Say what a desk is that was made before the first release."""
    return (
        f"was made by a version of sayso from before its first release (schema {found}), and its journal "
        "cannot be read by this one. Open it with the version that made it, or begin a new desk."
    )
