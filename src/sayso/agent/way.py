"""How one call of a model is made: its place, its frozen arguments, and whether people are asked."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.agent.messages import ToolCall
from sayso.asks.carrying import Gated
from sayso.errors import StepFailed
from sayso.model.tool import Bound
from sayso.runs.journal import Entry


@dataclass(frozen=True, slots=True)
class Way:
    """The way of one call. With `later` the model does not wait for those who are asked."""

    place: str
    call: ToolCall
    gate: Gated | None = None
    bound: Bound | None = None
    asks: bool = False
    steps: tuple[int, ...] = ()
    bad: StepFailed | None = None
    known: Entry | None = None
    new: bool = True
    later: bool = False
