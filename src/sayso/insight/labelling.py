"""Labels: whether what came with a stated confidence was left as it was, read from the journal.

People's decisions label it. What was approved unchanged is right, all else is not: what was edited,
rejected or sent back. What did harm afterwards was not right after all. A call that chance picked for
an audit stands for all those that ran alone, and weighs one over how often chance picks.

All of it is added up, so that nothing depends on the order in which it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sayso.insight.case import is_case
from sayso.insight.reading import SENSELESS, Batch, folded
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.verdicts import Kind
from sayso.store.contract import Store
from sayso.store.labels import LabelRow

THOUSANDTHS = 1000
# Only what proposes something can be left as it was.
_PROPOSE: tuple[Kind, ...] = ("action", "plan", "draft")
_LOOKED_AT = frozenset({"trust.fine", "trust.flagged"})


class Labelled(NamedTuple):
    """One decided ask: what its agent stated of it, and whether people left it as it was."""

    team: str
    agent: str
    tool: str
    kind: str
    stated: int
    right: bool

    def counting(self, n: int, good: int, weight: float, good_weight: float) -> LabelRow:
        """Return what it adds to the sums of its agent and tool."""
        return LabelRow(*self[:5], n, good, weight, good_weight)


def label_of(ask: Ask) -> Labelled | None:
    """Return what people's decision says of a stated confidence; `None` if it says nothing."""
    content, decision = ask.content, ask.decision
    if content.confidence is None or decision is None or ask.kind not in _PROPOSE:
        return None
    if not is_case(ask):
        return None
    right = decision.verdict == "approve" and ask.original is None
    stated = round(content.confidence * THOUSANDTHS)
    return Labelled(content.team or "", content.agent, ask.tool or "", ask.kind, stated, right)


def audits_in(events: Iterable[Event]) -> dict[str, float]:
    """Return the calls that chance had picked to be looked at, and for how many each stands."""
    found = {}
    for event in events:
        if event.kind in _LOOKED_AT:
            try:
                said = event.payload or {}
                if "rho" in said:
                    found[str(said["ask"])] = 1 / float(said["rho"])
            except (*SENSELESS, ZeroDivisionError):
                continue
    return found


def labels_in(batch: Batch) -> list[LabelRow]:
    """Return every confidence that was stated and decided on, added up."""
    return added_up(_said(batch))


def _said(batch: Batch) -> Iterator[LabelRow]:
    decided = {one.stream for one in batch.of("ask.decided")}
    harmed = {one.stream for one in batch.of("incident.reported")}
    audits = audits_in(batch.of(*_LOOKED_AT))
    told = [batch.asks[ask] for ask in sorted(decided.union(harmed)) if ask in batch.asks]
    told += folded(batch.store, sorted(audits.keys() - decided - harmed))
    for ask, _ in told:
        label = label_of(ask)
        if label is None:
            continue
        right = int(label.right)
        if ask.id in decided:
            yield label.counting(1, right, 1.0, right)
        if ask.id in audits:
            more = audits[ask.id] - 1
            yield label.counting(0, 0, more, more * right)
        if ask.id in harmed and right:
            yield label.counting(0, -1, 0.0, -_weight(batch.store, ask))


def _weight(store: Store, ask: Ask) -> float:
    """Return for how many calls one stands: of an audit its book says so."""
    told = audits_in(store.stream(ask.stake.key)) if ask.stake is not None else {}
    return told.get(ask.id, 1.0)


def added_up(said: Iterable[LabelRow]) -> list[LabelRow]:
    """Return the sums of what was said, one for each agent, tool and stated confidence."""
    rows: dict[tuple[object, ...], LabelRow] = {}
    for one in said:
        known = rows.get(one[:5])
        rows[one[:5]] = one if known is None else LabelRow(
            *one[:5],
            known.n + one.n,
            known.good + one.good,
            known.weight + one.weight,
            known.good_weight + one.good_weight,
        )  # fmt: skip
    # In one order: two who add up must not wait for each other.
    return [rows[key] for key in sorted(rows)]
