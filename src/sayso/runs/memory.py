"""What a run did, as typed steps: the journal read for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sayso.model.ask import Ask, Decision
from sayso.model.event import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep:
    """What the run was started with."""

    at: datetime
    workflow: str
    task: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """A plan as it stands: edited, if a person edited it."""

    at: datetime
    plan: list[Any]
    ask: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionStep:
    """A step or a call, with what it came to."""

    at: datetime
    name: str
    args: dict[str, Any] | None = None
    result: Any = None
    error: str | None = None
    status: str = "done"
    ask: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionStep:
    """What people said to an ask."""

    at: datetime
    ask: str
    title: str
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStep:
    """What the run returned."""

    at: datetime
    output: Any


Step = TaskStep | PlanStep | ActionStep | DecisionStep | AnswerStep


@dataclass(frozen=True, slots=True)
class Memory:
    """Everything a run, or a thread of runs, remembers."""

    steps: tuple[Step, ...] = field(default_factory=tuple)

    def __len__(self) -> int:
        """How many steps there are."""
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        """Go through the steps."""
        return iter(self.steps)


def remember(events: Sequence[Event], asks: Sequence[Ask]) -> Memory:
    """Read the journal of one run and of its asks as steps, in the order things happened."""
    steps: list[Step] = []
    for event in events:
        steps.extend(_of_run(event))
    for ask in asks:
        steps.extend(_of_ask(ask))
    return Memory(tuple(sorted(steps, key=lambda step: step.at)))


def _of_run(event: Event) -> Iterator[Step]:
    said = event.payload or {}
    match event.kind:
        case "run.started":
            yield TaskStep(at=event.at, workflow=said.get("workflow", ""), task=_task(said))
        case "step.done" if said.get("verb") in ("step", "workflow"):
            yield ActionStep(at=event.at, name=said["name"], result=said.get("result"))
        case "step.failed":
            error = said.get("error", {})
            text = f"{error.get('kind')}: {error.get('message')}"
            yield ActionStep(at=event.at, name=said["name"], error=text, status="failed")
        case "run.done":
            yield AnswerStep(at=event.at, output=said.get("output"))
        case _:
            return


def _task(said: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever it was started with
    put_in = said.get("input") or {}
    args, kwargs = put_in.get("args", []), put_in.get("kwargs", {})
    if len(args) == 1 and not kwargs:
        return args[0]
    return {**{str(n): value for n, value in enumerate(args)}, **kwargs} if args or kwargs else None


def _of_ask(ask: Ask) -> Iterator[Step]:
    if ask.kind == "plan":
        plan = ask.args.get("steps", [])
        yield PlanStep(at=ask.opened_at, plan=plan, ask=ask.id, status=ask.status)
    if ask.decision is not None:
        yield DecisionStep(at=ask.decision.at, ask=ask.id, title=ask.title, decision=ask.decision)
    effect = ask.effect
    if effect is not None:
        yield ActionStep(
            at=effect.ended_at or effect.begun_at,
            name=ask.tool or "",
            args=ask.args,
            result=effect.result,
            error=effect.error,
            status=effect.status,
            ask=ask.id,
        )
