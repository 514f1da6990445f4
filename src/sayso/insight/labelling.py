"""Labels: whether what came with a stated confidence was left as it was, read from the journal.

People's decisions label it. What was approved unchanged is right, all else is not: what was edited,
rejected or sent back. What is found harmful afterwards was not right after all. A random audit stands
for all the calls that ran alone, and weighs one over the audit rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sayso.insight.case import is_case
from sayso.insight.reading import SENSELESS, Reader, asks_of, of_ask
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.verdicts import Kind
from sayso.store.contract import Store
from sayso.store.labels import LabelRow, TurnedLabel

THOUSANDTHS = 1000
# Only what proposes something can be left as it was.
_PROPOSE: tuple[Kind, ...] = ("action", "plan", "draft")
_HARMFUL = frozenset({"trust.incident", "trust.confirmed"})


class Labelled(NamedTuple):
    """One decided ask: what its agent stated of it, and whether people left it as it was."""

    team: str
    agent: str
    tool: str
    kind: str
    stated: int
    right: bool
    weight: float


def label_on(store: Store, *, most: int | None = None) -> bool:
    """Read the journal to its end, at most so many events; return whether the end was reached."""
    return _Labels(store).catch_up(most)


def label_again(store: Store) -> None:
    """Forget all labels, and read the journal from its beginning."""
    reader = _Labels(store)
    reader.drop()
    reader.catch_up()


def label_of(ask: Ask) -> Labelled | None:
    """Return what people's decision says of a stated confidence; `None` if it says nothing."""
    content, decision = ask.content, ask.decision
    if content.confidence is None or decision is None or ask.kind not in _PROPOSE:
        return None
    if not is_case(ask):
        return None
    right = decision.verdict == "approve" and ask.original is None
    stated = round(content.confidence * THOUSANDTHS)
    named = content.team or "", content.agent, ask.tool or "", ask.kind
    return Labelled(*named, stated, right, weight_of(ask))


def weight_of(ask: Ask) -> float:
    """Return for how many calls a decision stands: of a random audit, one over how often it is."""
    return 1.0


def found_harmful(event: Event) -> str | None:
    """Return the ask that an event says did harm, if it says so of one."""
    if event.kind not in _HARMFUL:
        return None
    try:
        said = (event.payload or {}).get("ask")
    except SENSELESS:
        return None
    return said if isinstance(said, str) else None


class _Labels(Reader):
    """Of every confidence that was stated and decided on."""

    def reached(self) -> str:
        return self.store.label_cursor()

    def take(self, events: Sequence[Event], before: str, after: str) -> bool:
        decided = {one.stream for one in events if of_ask(one) and one.kind == "ask.decided"}
        harmed = [said for one in events if (said := found_harmful(one)) is not None]
        asks = {ask.id: ask for ask in asks_of(self.store, sorted(decided.union(harmed)))}
        found = [label_of(asks[ask_id]) for ask_id in sorted(decided) if ask_id in asks]
        turned = [asks[ask_id] for ask_id in dict.fromkeys(harmed) if ask_id in asks]
        rows = added_up([one for one in found if one is not None])
        return self.store.put_labels(rows, _turned(turned), before=before, after=after)

    def drop(self) -> None:
        self.store.drop_labels()


def added_up(labels: Sequence[Labelled]) -> list[LabelRow]:
    """Return labels as sums, one for each agent, tool and stated confidence."""
    rows: dict[tuple[str, str, str, str, int], tuple[int, int, float, float]] = {}
    for one in labels:
        key = one.team, one.agent, one.tool, one.kind, one.stated
        n, good, weight, good_weight = rows.get(key, (0, 0, 0.0, 0.0))
        right = one.weight if one.right else 0.0
        rows[key] = n + 1, good + one.right, weight + one.weight, good_weight + right
    # In one order: two who add up must not wait for each other.
    return [LabelRow(*key, *sums) for key, sums in sorted(rows.items())]


def _turned(asks: Sequence[Ask]) -> Iterator[TurnedLabel]:
    """Yield what was right until it was found harmful."""
    for ask in asks:
        label = label_of(ask)
        if label is not None and label.right:
            yield TurnedLabel(ask.id, *label[:5], label.weight)
