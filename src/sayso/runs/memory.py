"""What a run did, as typed steps: the journal read for people and for programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sayso.model.ask import Ask, Decision
from sayso.model.event import Event
from sayso.model.verdicts import Kind

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep:
    """What the run was started with."""

    at: datetime
    workflow: str
    task: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """A plan as it stands: edited, if a person edited it. Each step has at least a `title`."""

    at: datetime
    plan: list[dict[str, Any]]
    ask: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionStep:
    """A step or a call, with what it came to. `thought` is what an agent's model said to it.

    One with the status `waiting` is a call that an agent put into its queue: what came of it is
    a step of its own, later on.
    """

    at: datetime
    name: str
    args: dict[str, Any] | None = None
    result: Any = None
    error: str | None = None
    status: str = "done"
    ask: str | None = None
    thought: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionStep:
    """What people said to an ask."""

    at: datetime
    ask: str
    title: str
    decision: Decision
    kind: Kind = "action"


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


@dataclass(frozen=True, slots=True)
class _Placed:
    """A step and where in the run it belongs, which orders what has the same time."""

    step: Step
    place: str

    @property
    def order(self) -> tuple[datetime, int, list[int]]:
        first, last = isinstance(self.step, TaskStep), isinstance(self.step, AnswerStep)
        return self.step.at, last - first, [int(number) for number in _NUMBER.findall(self.place)]


def remember(events: Sequence[Event], asks: Sequence[Ask]) -> Memory:
    """Read the journal of one run and of its asks as steps, in the order things happened."""
    said = [(event, event.payload or {}) for event in events]
    replies = {
        words["key"]: words.get("result") or {} for _, words in said if words.get("verb") == "model"
    }
    placed: list[_Placed] = []
    begun: dict[str, Mapping[str, Any]] = {}  # as it stood when each step ended: it may begin again
    for event, words in said:
        if event.kind == "step.begun":
            begun[words["key"]] = words
        steps = _of_run(event, words, begun, replies)
        placed += [_Placed(step, words.get("key", "")) for step in steps]
    queued = {words["key"].partition("?")[0] for _, words in said if words.get("verb") == "queued"}
    for ask in asks:
        place = (ask.key or "").partition(":")[2]
        thought = _thought(place, replies)
        if place in queued:
            placed.append(_Placed(_waiting(ask, thought), place))
        placed += [_Placed(step, place) for step in _of_ask(ask, thought)]
    return Memory(tuple(one.step for one in sorted(placed, key=lambda one: one.order)))


Replies = Mapping[str, Mapping[str, Any]]


def _reply(place: str, replies: Replies) -> Mapping[str, Any]:
    """Return the reply of an agent's model that a call is from: it stands right before its turn."""
    turn = place.rpartition(".")[0]
    lane, _, number = turn.rpartition(".")
    if not number.isdigit():
        return {}
    before = str(int(number) - 1)
    return replies.get(f"{lane}.{before}" if lane else before, {})


def _thought(place: str, replies: Replies) -> str | None:
    return _reply(place, replies).get("text") or None


def _given(key: str, replies: Replies) -> dict[str, Any] | None:
    """Return what an agent inside was given, by the call that gave it."""
    place = key.rpartition(".")[0]
    number, calls = place.rpartition(".")[2], _reply(place, replies).get("calls", ())
    known = number.isdigit() and 0 < int(number) <= len(calls)
    return calls[int(number) - 1].get("args") if known else None


def _of_run(
    event: Event,
    said: Mapping[str, Any],
    begun: Mapping[str, Mapping[str, Any]],
    replies: Replies,
) -> Iterator[Step]:
    key, verb = said.get("key", ""), said.get("verb")
    match event.kind:
        case "run.started":
            yield TaskStep(at=event.at, workflow=said.get("workflow", ""), task=_task(said))
        case "step.done" if verb in ("step", "workflow"):
            yield ActionStep(
                at=event.at,
                name=said["name"],
                args=_given(key, replies) if verb == "workflow" else None,
                result=said.get("result"),
            )
        case "step.done" if verb == "call":
            yield ActionStep(
                at=event.at,
                name=said["name"],
                args=begun.get(key, {}).get("args"),
                result=said.get("result"),
                thought=_thought(key, replies),
            )
        case "step.failed":
            error = said.get("error", {})
            yield ActionStep(
                at=event.at,
                name=said["name"],
                args=begun.get(key, {}).get("args"),
                error=f"{error.get('kind')}: {error.get('message')}",
                status="failed",
                thought=_thought(key, replies) if verb == "call" else None,
            )
        case "run.done":
            yield AnswerStep(at=event.at, output=said.get("output"))
        case _:
            return


def _task(said: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever it was started with
    put_in = said.get("input") or {}
    args, kwargs = put_in.get("args", []), put_in.get("kwargs", {})
    if len(args) == 1 and not kwargs:
        return args[0]
    return {**{str(n): value for n, value in enumerate(args)}, **kwargs} if args or kwargs else None


def _waiting(ask: Ask, thought: str | None) -> ActionStep:
    """Return a call as it was put into the queue, before anybody edited it."""
    args = ask.args if ask.original is None else ask.original
    return ActionStep(
        at=ask.opened_at,
        name=ask.tool or "",
        args=args,
        status="waiting",
        ask=ask.id,
        thought=thought,
    )


def _of_ask(ask: Ask, thought: str | None) -> Iterator[Step]:
    if ask.kind == "plan":
        steps = ask.args.get("steps", [])
        plan = [{"title": step} if isinstance(step, str) else step for step in steps]
        yield PlanStep(at=ask.opened_at, plan=plan, ask=ask.id, status=ask.status)
    if ask.decision is not None:
        decided = ask.decision
        yield DecisionStep(
            at=decided.at, ask=ask.id, title=ask.title, decision=decided, kind=ask.kind
        )
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
            thought=thought,
        )
