"""Which journal this is: a desk that goes on from a backup begins a new epoch.

A backup is the same journal as it was. What happened after it was taken happened, and nothing here
knows of it. So the number of the epoch is part of every cursor, and cursors of another one are
refused. From the beginning of putting it right to its end nobody else gets in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from sayso.errors import BadValue, Misuse
from sayso.model.event import moment
from sayso.store.named import Part, SqlQueries

DESK = "desk"  # the stream that says that a new epoch began
_CURSOR = re.compile(r"(?:([0-9]{1,9}):)?([0-9]{1,18}(?:\.[0-9]{1,18})?)")
_BATCH = 500
_FORGOTTEN = ("forget_sessions", "forget_links", "forget_every_worker")


def cursor_at(epoch: int, place: str) -> str:
    """Return the cursor of a place; in the first epoch it has no number."""
    return f"{epoch}:{place}" if epoch else place


def read_cursor(cursor: str) -> tuple[int, str]:
    """Return the epoch and the place of a cursor.

    Raises:
        BadValue: it is none.
    """
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise BadValue(f"{cursor!r} is no cursor of this desk's events.")
    return int(found[1] or 0), found[2]


def from_before(cursor: str | None) -> BadValue:
    """Return what to say to somebody whose cursor this journal does not know."""
    return BadValue(
        f"The cursor {cursor!r} is from before this database was restored from a backup. "
        "Read from the beginning: leave `after` out."
    )


class Epochs(Protocol):
    """What a store can do with its epochs."""

    @property
    def restored_at(self) -> datetime | None:
        """When this desk last went on from a backup."""
        ...

    @contextmanager
    def putting_right(self) -> Iterator[int]:
        """Begin the next epoch, let nobody else in until it is put right, and yield its number."""
        ...

    def undecided(self, after: str) -> list[str]:
        """Calls and doubts that people may yet decide, by id behind that one."""
        ...

    def backup(self, file: Path) -> None:
        """Copy the desk as it is now into a file that cannot be used before it is put right."""
        ...


class SqlEpochs(SqlQueries):
    """Epochs in a SQL database."""

    _putting_right = False
    _restored: tuple[datetime | None] | None = None  # once it was looked up

    def _renumbering(self) -> list[Part]:
        """Return what else has to be done to a journal that comes from another server."""
        return []

    @property
    def restored_at(self) -> datetime | None:
        """Return when this desk last went on from a backup."""
        if self._restored is None:
            found = self._rows("restored_at")[0][0]
            self._restored = (None if found is None else moment(found),)
        return self._restored[0]

    @contextmanager
    def putting_right(self) -> Iterator[int]:
        """Begin the next epoch, and let others in at its end, unless something goes wrong."""
        self._putting_right = True
        try:
            begun: list[Part] = [(name, {}) for name in ("next_epoch", *_FORGOTTEN)]
            self._together([*begun, *self._renumbering(), ("rebase_webhooks", {})], fenced=False)
            yield int(self._rows("epoch")[0][0])
            self._together([("at_home", {})], fenced=False)
        finally:
            self._putting_right = False
            self._restored = None

    def undecided(self, after: str) -> list[str]:
        """Return calls and doubts that people may yet decide."""
        return [row[0] for row in self._rows("undecided", after=after, limit=_BATCH)]

    def backup(self, file: Path) -> None:
        """Refuse: a server has tools of its own."""
        raise Misuse(
            f"{file} was not written: a PostgreSQL database is backed up with pg_dump or "
            "pg_basebackup. See docs/howto/backup.md."
        )
