"""Answers that a run does not need yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, Unpack

from sayso.asks.carrying import Gated, gated, gated_of
from sayso.asks.forms import Form, Maker, PlanMaker, Step, Terms
from sayso.asks.verbs import LaterVerbs
from sayso.errors import Misuse, StepFailed
from sayso.model.ask import Ask
from sayso.model.content import Content
from sayso.model.tool import Bound
from sayso.runs.calls import Caller, asked_for
from sayso.runs.lanes import Lane
from sayso.runs.work import Passage

T = TypeVar("T")


class Opener(Caller, Protocol):
    """What a later needs of its run."""

    def put_later(
        self, open_: Callable[[Lane, str], Ask | None], result: Callable[..., Passage]
    ) -> RunLater:
        """Open an ask now, if people are needed."""
        ...

    def collect(self, later: RunLater) -> Any:  # noqa: ANN401 - what the verb returns
        """Return what a later comes to."""
        ...

    def later_done(self, later: RunLater) -> Any:  # noqa: ANN401 - a bool, or awaitable
        """Whether a later is decided, recorded."""
        ...

    def asking(self, lane: Lane, key: str, form: Form[Any]) -> Passage:
        """Put a form to people."""
        ...

    def proposed(self, key: str, content: Content) -> Ask | None:
        """Return the ask about a call that somebody else carries out; `None` if it is denied."""
        ...

    def proposing(self, lane: Lane, key: str, form: Form[Ask]) -> Passage:
        """Put such a call before people."""
        ...

    def calling_bound(self, lane: Lane, key: str, gate: Gated, bound: Bound) -> Passage:
        """Carry out a call whose arguments are frozen already."""
        ...

    def goes_alone(self, key: str, gate: Gated, bound: Bound, *, always: bool) -> bool:
        """Whether a call needs nobody's approval."""
        ...


class RunLater:
    """An answer that a run does not need yet. `ask` is `None` for a call that needs nobody."""

    def __init__(
        self, run: Opener, lane: Lane, key: str, ask: Ask | None, result: Callable[..., Passage]
    ) -> None:
        self.ask = ask
        self.lane = lane
        self.key = key
        self.collected = False
        self._run = run
        self._result = result

    @property
    def id(self) -> str | None:
        """The id of the ask, if people are asked."""
        return None if self.ask is None else self.ask.id

    def result(self) -> Any:  # noqa: ANN401 - what the verb returns
        """Return what the verb returns, pausing the run until people have answered."""
        return self._run.collect(self)

    def passage(self, lane: Lane) -> Passage:
        """Collect it, as part of a verb in this lane."""
        self.collected = True
        return self._result(lane, self.key)

    def done(self) -> Any:  # noqa: ANN401 - a bool, or awaitable
        """Whether it is decided by now. The answer is recorded, so that a replay goes the same way."""
        return self._run.later_done(self)


class RunLaters(LaterVerbs):
    """The verbs of a run, returning at once."""

    def __init__(self, run: Opener) -> None:
        self._run = run
        self._forms = run.forms

    def call(self, tool: Callable[..., Any], *args: Any, **kwargs: Any) -> RunLater:  # noqa: ANN401
        """Ask for a call; it is carried out when the result is wanted, or at the end.

        What the policy allows needs no asking, and what it denies fails then.
        """
        gate = gated_of(tool) or gated(tool)
        if gate.rules.asks:
            raise Misuse(f"{gate.tool.name} asks people itself, so there is nothing to open yet.")

        bound = gate.tool.bind(args, kwargs)  # now: what becomes of the objects is no matter
        return self._run.put_later(
            lambda _, key: self._asked(key, gate, bound),
            lambda lane, key: self._run.calling_bound(lane, key, gate, bound),
        )

    def _asked(self, key: str, gate: Gated, bound: Bound) -> Ask | None:
        try:
            if self._run.goes_alone(key, gate, bound, always=gate.asks_people):
                return None
        except StepFailed:  # denied: recorded, and raised where the result is wanted
            return None
        return asked_for(self._run, key, gate, bound)

    def propose(self, tool: str, args: Mapping[str, Any], **terms: Any) -> Any:  # noqa: ANN401
        """Ask about a call that somebody else carries out."""
        form = self._forms.propose(tool, args, **terms)
        return self._run.put_later(
            lambda _, key: self._run.proposed(key, form.content),
            lambda lane, key: self._run.proposing(lane, key, form),
        )

    def draft(self, text: str | Maker, *, title: str = "Draft", **terms: Unpack[Terms]) -> Any:  # noqa: ANN401
        """Ask for a review of a text."""
        if callable(text):
            raise Misuse("later.draft takes a text; with a function use run.draft in a gather.")
        return self._put(self._forms.draft(text, title=title, **terms))

    def plan(
        self, steps: Sequence[Step] | PlanMaker, *, title: str = "Plan", **terms: Unpack[Terms]
    ) -> Any:  # noqa: ANN401 - the steps, or awaitable
        """Ask for a review of a plan."""
        if callable(steps):
            raise Misuse("later.plan takes steps; with a function use run.plan in a gather.")
        return self._put(self._forms.plan(steps, title=title, **terms))

    def _put(self, form: Form[T]) -> Any:  # noqa: ANN401
        return self._run.put_later(
            lambda _, key: self._run.asked(key, form.content),
            lambda lane, key: self._run.asking(lane, key, form),
        )
