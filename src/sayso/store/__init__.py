"""Short transactions on SQLite and PostgreSQL; the only room that speaks SQL.

A transaction holds no user code and never waits. What an ask means is not
known here: the rules are in `model`, what happens to asks is in `asks`.
"""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from sayso.errors import BadValue
from sayso.store.address import without_password
from sayso.store.clock import Clock, SystemClock
from sayso.store.contract import Store

__all__ = ["Clock", "Store", "SystemClock", "open_store"]

_FORMS = (
    "Use sqlite:///sayso.db or postgresql://user@host/name. "
    "A plain path ends in .db, .sqlite or .sqlite3."
)


def open_store(url: str, clock: Clock | None = None) -> Store:
    """Return the store at an address. Nothing is opened before it is used.

    Raises:
        BadValue: the address is of no known form, or its driver is not installed.
    """
    scheme, separator, rest = url.partition("://")
    ticking = clock or SystemClock()
    if scheme == "sqlite" and separator:
        return _sqlite(url, rest, ticking)
    if scheme in ("postgresql", "postgres") and separator:
        return _postgres(url, ticking)
    raise BadValue(f"Unrecognised database URL {without_password(url)!r}. {_FORMS}")


def _sqlite(url: str, rest: str, clock: Clock) -> Store:
    from sayso.store.sqlite import SQLiteStore

    query = parse_qs(urlsplit(url).query)
    path = rest.partition("?")[0].removeprefix("/")
    if not rest.startswith("/") or not path or "\0" in path:
        raise BadValue(f"{url!r} names no file. {_FORMS}")
    if path == ":memory:":
        raise BadValue(
            "A desk in memory could not be seen by anybody else. Name a file, such as "
            "sqlite:///sayso.db; in tests a temporary one (see sayso.testing)."
        )
    try:
        timeout = float(query.get("timeout", ["5"])[0])
    except ValueError as error:
        raise BadValue(f"{url!r}: timeout must be a number of seconds.") from error
    return SQLiteStore(path, clock, timeout=timeout)


def _postgres(url: str, clock: Clock) -> Store:
    try:
        from sayso.store.postgres import PostgresStore
    except ImportError as error:
        raise BadValue(
            "PostgreSQL needs the psycopg driver: pip install 'sayso[postgres]'"
        ) from error
    return PostgresStore(url, clock)
