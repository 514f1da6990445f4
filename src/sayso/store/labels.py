"""What stated confidences came to, as sums: made from the journal, and disposable.

A row for each confidence that an agent states of a tool, to the thousandth. However much is decided,
there are no more of them than that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from sayso.store.casebook import Part, listed

LABELS = "labels"  # the reader of the journal that keeps this index


class LabelRow(NamedTuple):
    """How often an agent stated so much of a tool, and how often people left that as it was."""

    team: str
    agent: str
    tool: str
    kind: str
    stated: int
    n: int
    good: int
    weight: float
    good_weight: float


class Labels(Protocol):
    """What a store can do with labels. Every method is one short transaction."""

    def label_cursor(self) -> str:
        """How far into the journal they reach."""
        ...

    def put_labels(self, rows: Iterable[LabelRow], *, before: str, after: str) -> bool:
        """Add to the sums, and say how far they reach; nothing, if somebody else has got on."""
        ...

    def drop_labels(self) -> None:
        """Forget all labels; they are made again from the beginning of the journal."""
        ...

    def labels_of(self, team: str, agent: str, tool: str, kind: str) -> list[LabelRow]:
        """What one agent stated of one tool, the least sure first."""
        ...

    def labelled(
        self, *, agent: str | None, tool: str | None, teams: tuple[str, ...] | None
    ) -> list[LabelRow]:
        """What agents stated, as somebody of these teams sees it; together what belongs together."""
        ...


class SqlLabels(ABC):
    """Labels in a SQL database."""

    @abstractmethod
    def _rows(self, name: str, **parameters: object) -> list[Sequence[Any]]:
        """Run one named query and return its rows."""

    @abstractmethod
    def _together(self, parts: Sequence[Part], *, fenced: bool) -> bool:
        """Run queries in one commit that need not be synced; fenced, if the first hits."""

    @abstractmethod
    def _reached(self, reader: str) -> str:
        """Return how far a reader of the journal has come."""

    @abstractmethod
    def _read(self, reader: str, parts: Sequence[Part], before: str, after: str) -> bool:
        """Write what a reader made of the journal, and how far that reaches."""

    def label_cursor(self) -> str:
        """Return how far into the journal labels reach."""
        return self._reached(LABELS)

    def put_labels(self, rows: Iterable[LabelRow], *, before: str, after: str) -> bool:
        """Add to the sums."""
        parts: list[Part] = [("put_label", row._asdict()) for row in rows]
        return self._read(LABELS, parts, before, after)

    def drop_labels(self) -> None:
        """Forget all labels."""
        restart: Part = ("reader_restarts", {"reader": LABELS})
        self._together([restart, ("drop_labels", {})], fenced=False)

    def labels_of(self, team: str, agent: str, tool: str, kind: str) -> list[LabelRow]:
        """Return what one agent stated of one tool."""
        rows = self._rows("labels_of", team=team, agent=agent, tool=tool, kind=kind)
        return [LabelRow._make(row) for row in rows]

    def labelled(
        self, *, agent: str | None, tool: str | None, teams: tuple[str, ...] | None
    ) -> list[LabelRow]:
        """Return what agents stated."""
        rows = self._rows("labelled", agent=agent, tool=tool, teams=listed(teams))
        return [LabelRow._make(row) for row in rows]
