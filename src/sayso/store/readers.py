"""How far the readers of the journal have come, each of whom keeps an index: made from it, and disposable.

What a reader made of the events is written in the commit that moves its cursor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from sayso.store.named import Part, SqlQueries

# Named as the tables they keep.
ReaderName = Literal["cases", "texts", "tallies", "labels", "trail"]


class Readers(Protocol):
    """What a store can do for whoever reads on. Every method is one short transaction."""

    def reached(self, reader: ReaderName) -> str:
        """How far into the journal a reader has come."""
        ...

    def restart(self, reader: ReaderName) -> None:
        """Forget the index of a reader; it is made again from the beginning of the journal."""
        ...


class SqlReaders(SqlQueries):
    """Readers of a journal in a SQL database."""

    def reached(self, reader: ReaderName) -> str:
        """Return how far into the journal a reader has come."""
        rows = self._rows("reader", reader=reader)
        return str(rows[0][0]) if rows else ""

    def restart(self, reader: ReaderName) -> None:
        """Forget the index of a reader."""
        self._together(
            [("reader_restarts", {"reader": reader}), (f"drop_{reader}", {})], fenced=False
        )

    def _read(self, reader: ReaderName, parts: Sequence[Part], before: str, after: str) -> bool:
        """Write what a reader made of the journal, and how far that reaches.

        Nothing, and False, if somebody else has got on.
        """
        moves: Part = ("reader_moves", {"reader": reader, "before": before, "after": after})
        return self._together([moves, *parts], fenced=True)
