"""What the models of a run have used up, added up from its journal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from sayso.model.event import Event


@dataclass(frozen=True, slots=True)
class RunUsage:
    """Model calls of a run: how many, tokens read and written, dollars, seconds of thinking.

    `cost` is `None` where the price of a call is not known. A call whose reply was lost, because
    its worker died, is in nobody's journal and not counted.
    """

    calls: int = 0
    input: int = 0
    output: int = 0
    cost: float | None = None
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.input + self.output

    def to_json(self) -> dict[str, Any]:
        """Return it by name."""
        return {**asdict(self), "tokens": self.tokens}


def used(events: Iterable[Event]) -> RunUsage:
    """Add up what the journal of a run says of its model calls."""
    replies = [
        event.payload
        for event in events
        if event.kind == "step.done" and event.payload and event.payload.get("verb") == "model"
    ]
    usages = [(said.get("result") or {}).get("usage") or {} for said in replies]
    costs = [usage.get("cost") for usage in usages]
    known = bool(costs) and None not in costs
    return RunUsage(
        len(replies),
        sum(usage.get("input", 0) for usage in usages),
        sum(usage.get("output", 0) for usage in usages),
        sum(cost for cost in costs if cost is not None) if known else None,
        sum(said.get("took", 0.0) for said in replies),
    )
