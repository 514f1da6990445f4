"""What stated confidences came to, as sums: made from the journal, and disposable.

A row for each confidence that an agent states of a tool, to the thousandth. However much is decided,
there are no more of them than that.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from sayso.model.names import folded
from sayso.store.named import SqlQueries, listed


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

    def labels_of(self, team: str, agent: str, tool: str, kind: str) -> list[LabelRow]:
        """What one agent stated of one tool, the least sure first."""
        ...

    def labelled(
        self, *, agent: str | None, tool: str | None, teams: tuple[str, ...] | None
    ) -> list[LabelRow]:
        """What agents stated, as somebody of these teams sees it; together what belongs together."""
        ...


class SqlLabels(SqlQueries):
    """Labels in a SQL database."""

    def labels_of(self, team: str, agent: str, tool: str, kind: str) -> list[LabelRow]:
        """Return what one agent stated of one tool."""
        rows = self._rows("labels_of", team=team, agent=agent, tool=tool, kind=kind)
        return [LabelRow._make(row) for row in rows]

    def labelled(
        self, *, agent: str | None, tool: str | None, teams: tuple[str, ...] | None
    ) -> list[LabelRow]:
        """Return what agents stated."""
        rows = self._rows("labelled", agent=folded(agent), tool=folded(tool), teams=listed(teams))
        return [LabelRow._make(row) for row in rows]
