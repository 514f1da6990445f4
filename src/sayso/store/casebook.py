"""What was asked and decided, as indexes for full-text search: made from the journal, and disposable.

SQLite finds with FTS5 and `bm25`, PostgreSQL with `tsvector` and `ts_rank`. Both are given
words that are ready (`insight.words`), so that neither takes a text apart in its own way.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, Protocol

from sayso.model.event import Event
from sayso.model.names import folded
from sayso.store.named import SqlQueries, listed

# Beyond this many cases it makes no difference how common a word is, and nobody counts on.
MOST = 1000


class CaseRow(NamedTuple):
    """One case in the index: an ask, and the words it is found by."""

    id: str
    kind: str
    tool: str | None
    agent: str
    verdict: str
    at: int
    about: str
    said: str


class TextRow(NamedTuple):
    """One ask in the index of all asks: whether it is open or closed, and its words."""

    id: str
    state: str
    words: str


class CaseFilter(NamedTuple):
    """Which cases: of a tool, of a kind, of an agent, with one of these verdicts.

    `teams` are those whose cases may be seen besides what belongs to none; `None` means all.
    `team` is the one they belong to, `""` for none; `None` means any.
    """

    tool: str | None = None
    kind: str | None = None
    agent: str | None = None
    verdicts: tuple[str, ...] = ()
    teams: tuple[str, ...] | None = None
    team: str | None = None

    @property
    def values(self) -> dict[str, object]:
        """The filter as queries take it."""
        verdicts = f"|{'|'.join(self.verdicts)}|" if self.verdicts else None
        return {
            "tool": folded(self.tool),
            "kind": self.kind,
            "agent": folded(self.agent),
            "verdicts": verdicts,
            "teams": listed(self.teams),
            "team": self.team,
        }

    @property
    def looked_into(self) -> tuple[str | None, ...]:
        """The teams to look into one by one, `""` for what belongs to none; `None` is all at once."""
        if self.teams is None:
            return (self.team,)
        seen = sorted({"", *self.teams})
        return tuple(team for team in seen if self.team is None or team == self.team)


def seen_by_team(team: str | None) -> tuple[str, ...]:
    """Return the teams whose cases somebody of one team may see: theirs, and what belongs to none."""
    return () if team is None else (team,)


EVERYTHING = CaseFilter()


class Casebook(Protocol):
    """What a store can do with cases. Every method is one short transaction."""

    def journals(self, ids: Sequence[str]) -> list[list[Event]]:
        """Return the events of several streams."""
        ...

    def word_counts(self, words: Sequence[str]) -> Mapping[str, int]:
        """In how many cases each word occurs, up to `MOST`; none is left out."""
        ...

    def count_cases(self, wanted: CaseFilter = EVERYTHING) -> int:
        """How many cases there are, up to `MOST`."""
        ...

    def near_cases(self, words: Sequence[str], wanted: CaseFilter, limit: int) -> list[CaseRow]:
        """Return cases with any of these words, the best first by the database's own rank."""
        ...

    def cases(
        self, wanted: CaseFilter, limit: int, *, older: CaseRow | None = None
    ) -> list[CaseRow]:
        """Return cases, the newest first; only those that come after the one that is given."""
        ...

    def record(self, wanted: CaseFilter, limit: int) -> list[str]:
        """Return the last verdicts on an agent's calls of a tool, or on a kind of its asks.

        Without an agent, on everybody's calls of a tool.
        """
        ...


class SqlCasebook(SqlQueries):
    """The index in a SQL database."""

    @abstractmethod
    def _any_of(self, words: Sequence[str]) -> str:
        """Return the search for any of these words."""

    @abstractmethod
    def _all_of(self, words: Sequence[str], state: str) -> str:
        """Return the search for asks of a state with all of these words; the last may go on."""

    def record(self, wanted: CaseFilter, limit: int) -> list[str]:
        """Return the last verdicts, the newest first."""
        found: list[Sequence[Any]] = []
        name = "record_of_kind" if wanted.tool is None else "record_of_tool"
        if wanted.agent is None:
            name = "record_of_everybody"
        for team in wanted.looked_into:
            values = wanted.values | {"team": team, "limit": limit}
            found += self._rows(name if team is None else f"{name}_in_team", **values)
        return [
            row[2] for row in sorted(found, key=lambda row: tuple(row[:2]), reverse=True)[:limit]
        ]

    def journals(self, ids: Sequence[str]) -> list[list[Event]]:
        """Return the events of several streams."""
        rows = self._rows("journals", ids=self._names(ids)) if ids else []
        events = [Event(*row) for row in rows]
        return [list(group) for _, group in groupby(events, key=lambda event: event.stream)]

    def word_counts(self, words: Sequence[str]) -> dict[str, int]:
        """Return in how many cases each word occurs."""
        found = self._rows("word_counts", words=self._names(words), most=MOST) if words else []
        return dict.fromkeys(words, 0) | {row[0]: int(row[1]) for row in found}

    def count_cases(self, wanted: CaseFilter = EVERYTHING) -> int:
        """Return how many cases there are."""
        return int(self._rows("count_cases", **wanted.values, limit=MOST)[0][0])

    def near_cases(self, words: Sequence[str], wanted: CaseFilter, limit: int) -> list[CaseRow]:
        """Return cases with any of these words."""
        if not words:
            return []
        match = self._any_of(words)
        rows = self._rows("near_cases", match=match, **wanted.values, limit=limit)
        return [CaseRow._make(row) for row in rows]

    def cases(
        self, wanted: CaseFilter, limit: int, *, older: CaseRow | None = None
    ) -> list[CaseRow]:
        """Return cases, the newest first."""
        at, last = (older.at, older.id) if older is not None else (None, None)
        rows = self._rows("cases", **wanted.values, at=at, last=last, limit=limit)
        return [CaseRow._make(row) for row in rows]
