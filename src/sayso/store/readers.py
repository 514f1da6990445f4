"""The indexes made from the journal, and how far their reader has come. They are disposable.

Their rows are written in the commit that moves the cursor.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from sayso.store.casebook import CaseRow, TextRow
from sayso.store.labels import LabelRow
from sayso.store.named import Part, SqlQueries
from sayso.store.tallies import Tally
from sayso.store.trail import TrailRow

COLUMNS = 12  # of a row, at most
_INDEXES = ("cases", "texts", "tallies", "labels", "trail")


class Entries(NamedTuple):
    """The rows that a stretch of the journal adds to the indexes.

    All rows stand in one order: an erasure and a reader, or two readers, must not wait for each other.
    """

    cases: Sequence[CaseRow] = ()
    no_cases: Sequence[str] = ()  # asks that are none, or none any more
    texts: Sequence[TextRow] = ()
    no_texts: Sequence[str] = ()
    tallies: Sequence[Tally] = ()
    labels: Sequence[LabelRow] = ()
    trail: Sequence[TrailRow] = ()
    erased: Sequence[TrailRow] = ()  # noted before, and to be noted otherwise

    def parts(self) -> list[Part]:
        """Return the queries that write it."""
        bulk: list[tuple[str, Sequence[object]]] = [
            ("drop_cases", self.no_cases),
            ("put_cases", self.cases),
            ("drop_texts", self.no_texts),
            ("put_texts", self.texts),
            ("put_tallies", self.tallies),
            ("put_labels", self.labels),
            ("put_trail", self.trail),
            ("change_trail", self.erased),
        ]
        return [(name, {"rows": json.dumps(rows)}) for name, rows in bulk if rows]


class Readers(Protocol):
    """The part of a store that the reader of the journal uses. Every method is one short transaction."""

    def reached(self) -> str:
        """How far into the journal the indexes reach."""
        ...

    def restart(self) -> None:
        """Forget all indexes; they are made again from the beginning of the journal."""
        ...

    def take_in(self, entries: Entries, *, before: str, after: str) -> bool:
        """Write what was made of the journal, and how far it reaches.

        Nothing, and False, if somebody else has got on.
        """
        ...


class SqlReaders(SqlQueries):
    """The reader of a journal in a SQL database."""

    def reached(self) -> str:
        """Return how far into the journal the indexes reach."""
        rows = self._rows("reached")
        return str(rows[0][0]) if rows else ""

    def restart(self) -> None:
        """Forget all indexes."""
        forgotten: list[Part] = [(f"empty_{index}", {}) for index in _INDEXES]
        self._together([("reader_restarts", {}), *forgotten], fenced=False)

    def take_in(self, entries: Entries, *, before: str, after: str) -> bool:
        """Write what was made of the journal, and how far it reaches."""
        moves: Part = ("reader_moves", {"before": before, "after": after})
        return self._together([moves, *entries.parts()], fenced=True)
