"""What a run remembers, as a page shows it: typed steps in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sayso.channels.explanation import did
from sayso.channels.facts import Fact, facts_from
from sayso.channels.steps import seen_line
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.runs.memory import (
    ActionStep,
    AnswerStep,
    DecisionStep,
    PlanStep,
    Step,
    TaskStep,
    remember,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLine:
    """One step: its type in a word, what it is called, and what it holds."""

    id: str
    step: str
    title: str
    at: datetime
    facts: tuple[Fact, ...] = ()
    thought: str | None = None
    href: str | None = None
    failed: bool = False


def memory_of(events: Sequence[Event], asks: Sequence[Ask]) -> tuple[MemoryLine, ...]:
    """Return what a run did and what people said to it, in the order it happened."""
    steps = remember(events, asks)
    return tuple(_line(number, step) for number, step in enumerate(steps, start=1))


def _line(number: int, step: Step) -> MemoryLine:
    named = f"m-{number}"
    match step:
        case TaskStep():
            facts = () if step.task is None else facts_from([("task", step.task)])
            return MemoryLine(id=named, step="Task", title=step.workflow, at=step.at, facts=facts)
        case PlanStep():
            lines = [f"{place}. {seen_line(one)}" for place, one in enumerate(step.plan, start=1)]
            return MemoryLine(
                id=named,
                step="Plan",
                title=f"{len(lines)} steps, {step.status}",
                at=step.at,
                facts=facts_from([("steps", lines)]),
                href=f"/inbox/{step.ask}",
            )
        case ActionStep():
            return _action(named, step)
        case DecisionStep():
            decision = step.decision
            by = "the clock" if decision.by.kind == "clock" else decision.by.id
            said = {"answer": decision.answer, "note": decision.note}
            return MemoryLine(
                id=named,
                step="Decision",
                title=f"{by} {did(step.kind, decision.verdict)}: {step.title}",
                at=step.at,
                facts=facts_from({name: one for name, one in said.items() if one is not None}),
                href=f"/inbox/{step.ask}",
            )
        case AnswerStep():
            facts = () if step.output is None else facts_from([("answer", step.output)])
            return MemoryLine(id=named, step="Answer", title="Finished", at=step.at, facts=facts)


def _action(named: str, step: ActionStep) -> MemoryLine:
    said = {"arguments": step.args or None, "result": step.result, "error": step.error}
    state = "" if step.status == "done" else f", {step.status}"
    return MemoryLine(
        id=named,
        step="Action",
        title=f"{step.name}{state}",
        at=step.at,
        facts=facts_from({name: one for name, one in said.items() if one is not None}),
        thought=step.thought,
        href=None if step.ask is None else f"/inbox/{step.ask}",
        failed=step.error is not None,
    )
