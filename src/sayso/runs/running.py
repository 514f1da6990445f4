"""A run as a workflow sees it: the verbs.

What each of them does is in `runs.passages`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, Unpack

from sayso.asks.carrying import Gated, gated, gated_of
from sayso.asks.forms import (
    Form,
    Maker,
    PlanMaker,
    Step,
    Terms,
    check_conflicts,
    draft_proposal,
    plan_proposal,
)
from sayso.asks.verbs import Verbs
from sayso.errors import BadValue, Misuse
from sayso.insight.bounds import NEAR
from sayso.insight.case import Case
from sayso.insight.nearest import cases_like, check
from sayso.model.confidence import check_confidence, check_threshold
from sayso.model.content import check_words
from sayso.runs.improving import Make, improve_passage
from sayso.runs.lanes import Lane
from sayso.runs.laters import RunLaters
from sayso.runs.passages import Passages
from sayso.runs.seats import Seats
from sayso.runs.work import Passage
from sayso.runs.workflow import workflow_of
from sayso.store.casebook import CaseFilter, seen_by_team

T = TypeVar("T")


class Running(Verbs, Passages):
    """The verbs of a run. In a workflow that is `async def`, await them."""

    @property
    def version(self) -> str | None:
        """The version of the workflow with which this run began, whatever carries it on now.

        As declared, `@desk.workflow(version="2")`; else a digest of the module, after `~`.
        """
        return self.journal.started.get("version")

    def step(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:  # noqa: ANN401
        """Run a function and record what it returns; on a replay it is not run again.

        For what must not happen twice even if the program dies in the middle, use `call`.

        Raises:
            StepFailed: it failed, now or when it was recorded.
        """
        return self._go(lambda lane, key: self.stepping(key, fn, args, kwargs))  # type: ignore[no-any-return]

    def call(self, tool: Callable[..., T], *args: Any, **kwargs: Any) -> T:  # noqa: ANN401
        """Ask, and carry the call out once if it is approved.

        Raises:
            Rejected, Answered: people did not approve it.
            StepFailed: it was carried out and failed.
            Skipped: it is in doubt whether it happened, and a person said to leave it.
        """
        gate = gated_of(tool) or gated(tool)
        return self.call_gated(gate, args, kwargs)  # type: ignore[no-any-return]

    def effect(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:  # noqa: ANN401
        """Carry out a call that needs nobody's approval, and never twice in silence.

        Its intent is written before it starts. If the program dies in the middle, people are asked
        whether it happened, unless the function is declared `idempotent=True` or with `verify=`.
        What it declares, or the policy, may want a person all the same; then it asks as `call` does.

        Raises:
            StepFailed: it failed, now or when it was recorded, or the policy denies it.
            Skipped: it is in doubt whether it happened, and a person said to leave it.
            Rejected, Answered: people were asked, and did not approve it.
        """
        gate = gated_of(fn) or gated(fn)
        always = gate.always and gate.tool.risk is None
        return self._go(  # type: ignore[no-any-return]
            lambda lane, key: self.calling(lane, key, gate, args, kwargs, always=always)
        )

    def call_gated(self, gate: Gated, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """Do what `call` does, for a gate that is called inside a run."""
        return self._go(lambda lane, key: self.calling(lane, key, gate, args, kwargs))

    def workflow(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:  # noqa: ANN401
        """Run another workflow inside this one. Its result is recorded."""
        fn = getattr(fn, "__wrapped_workflow__", fn)
        return self._go(  # type: ignore[no-any-return]
            lambda lane, key: self.nesting(lane, key, fn, (self, *args), kwargs)
        )

    def agent(self, agent: Any, task: str) -> Any:  # noqa: ANN401 - its answer, or awaitable
        """Give a task to an agent, inside this run, and return its answer.

        What it asks reaches people with the whole chain of who asked whom.

        Raises:
            Misuse: it is no agent.
        """
        flow = workflow_of(agent)
        if flow is None:
            raise Misuse(f"{agent!r} is no agent: make one with sayso.Agent(...).")
        return self.workflow(flow.fn, task)

    def gather(self, *branches: Any) -> list[Any]:  # noqa: ANN401 - functions, or awaitables
        """Run branches side by side, and return what each returned, in order.

        Give functions without arguments; in an `async def` workflow also awaitables. All
        branches go as far as they can before the run waits.
        """
        return self._go(lambda lane, key: self._gathering(lane, key, branches))  # type: ignore[no-any-return]

    def propose(self, tool: str, args: Mapping[str, Any], **terms: Any) -> Any:  # noqa: ANN401
        """Ask about a call that somebody else carries out, such as the host of an agent.

        Returns the ask as it was decided: `ask.decision`, and `ask.args` as they may have been
        edited. Takes what `desk.open` takes; `without=` names verdicts that are not offered, and
        with `hears_end=True` a rejection that would end the run is returned like any other.

        Raises:
            StepFailed: the policy denies it.
        """
        form = self.forms.propose(tool, args, **terms)
        return self._go(lambda lane, key: self.proposing(lane, key, form))

    def seats(self) -> Seats:
        """Return places for the verbs of code that somebody else calls, in an order of their own.

        What happens in them is found by the name of the part, not by what came before it; a part
        that no longer runs is not missed, unless people were asked in it and have not answered.
        """
        return self._go(lambda _, key: self._seating(key))  # type: ignore[no-any-return]

    def draft(
        self,
        text: str | Maker,
        *,
        title: str = "Draft",
        optional: bool = False,
        **terms: Unpack[Terms],
    ) -> Any:  # noqa: ANN401
        """Wait until somebody approves or edits the text; `None` if it is dropped.

        A function is called with `None`, and again with the reviewer's guidance; each of
        its texts is recorded. An `optional` review holds nothing: the run goes on with the text.
        """
        if optional and callable(text):
            raise Misuse(
                "An optional review sends nobody back, so it takes a text, not a function."
            )
        if not callable(text):
            return self._ask(self.forms.draft(text, title=title, optional=optional, **terms))
        return self._go(
            lambda lane, key: self._reviewing(
                lane,
                key,
                text,
                lambda made: self.forms.draft(lambda _: made, title=title, **terms),
                draft_proposal,
            )
        )

    def plan(
        self, steps: Sequence[Step] | PlanMaker, *, title: str = "Plan", **terms: Unpack[Terms]
    ) -> Any:  # noqa: ANN401 - the steps, or awaitable
        """Wait until somebody approves or modifies the plan; a rejection ends the run."""
        if not callable(steps):
            return self._ask(self.forms.plan(steps, title=title, **terms))
        return self._go(
            lambda lane, key: self._reviewing(
                lane,
                key,
                steps,
                lambda made: self.forms.plan(lambda _: made, title=title, **terms),
                plan_proposal,
            )
        )

    def escalate(
        self,
        answer: str,
        *,
        confidence: float | None,
        below: float = 0.7,
        conflicts: Sequence[str] = (),
        refine: Maker | None = None,
        title: str = "Is this answer right?",
        **terms: Any,  # noqa: ANN401 - as `Terms`
    ) -> Any:  # noqa: ANN401 - a text, or awaitable
        """Return the answer, having asked a person only when it is unsure.

        Unsure is a confidence below the threshold, one that was not stated, and any conflict.
        `refine` is called with the reviewer's guidance for another answer.

        Raises:
            BadValue: `confidence` is no number from 0 to 1, `below` none above 0 and up to 1, or
                `conflicts` no list of up to 20 texts.
        """
        stated, bound = check_confidence(confidence), check_threshold(below, "below")
        clash = check_conflicts(conflicts)
        sure = stated is not None and stated >= bound and not clash
        said = {**terms, "confidence": stated, "conflicts": clash}

        def form(text: str) -> Form[str | None]:
            given = text if refine is None else (lambda _: text)
            return self.forms.draft(given, title=title, **said)

        def passage(lane: Lane, key: str) -> Passage:
            known = self.journal.entries.get(key)
            if sure or known is not None:
                return (yield from self._value(key, "escalate", lambda: answer, str))
            if refine is None:
                return (yield from self.asking(lane, key, form(answer)))
            return (yield from self._reviewing(lane, key, refine, form, draft_proposal, answer))

        return self._go(passage)

    def improve(
        self,
        make: Make,
        task: str,
        *,
        tries: int = 3,
        title: str = "How good is this?",
        **terms: Unpack[Terms],
    ) -> Any:  # noqa: ANN401 - what was made, or awaitable
        """Make something and ask how good it is; while people call it bad, make it again.

        `make` is an agent, or a function that is called with `None` and then with what people
        said to all tries so far. What they call bad is remembered of the agent that made it (or of
        `agent=`), and shown to it on tasks like this one, if it learns. Returns the first that
        nobody calls bad within the time given; `None` if all
        of them were.

        Raises:
            BadValue: `tries` is no number from 1 to 20.
        """
        if type(tries) is not int or not 1 <= tries <= 20:
            raise BadValue(f"tries={tries!r}: give a number from 1 to 20.")
        flow = workflow_of(make)
        if flow is not None and flow.agent is not None and not terms.get("agent"):
            terms["agent"] = flow.agent  # whose result is judged
        given: dict[str, Any] = {"task": task, "title": title, **terms}
        return self._go(
            lambda lane, key: improve_passage(
                self, lane, key, make, task, tries, lambda made: self.forms.feedback(made, **given)
            )
        )

    def cases(
        self, text: str, *, tool: str | None = None, limit: int = 5, least: float = NEAR
    ) -> Any:  # noqa: ANN401 - a list of cases, or awaitable
        """Return what people decided before on things like this; the same on every replay.

        Args:
            text: What it is about: a task, a proposal, some words.
            tool: Only calls of this tool.
            limit: How many, at most 50.
            least: The score from 0 to 1 they must reach; 0 finds whatever shares a word.
        """
        check(text, limit, least)
        store, wanted = (
            self.journal.store,
            CaseFilter(tool=tool, teams=seen_by_team(self.journal.row.team)),
        )

        def look() -> list[Case]:
            return cases_like(store, text, wanted, limit=limit, least=least)

        return self._go(lambda _, key: self._value(key, "cases", look, list[Case]))

    def now(self) -> Any:  # noqa: ANN401 - a datetime, or awaitable
        """Return the present, the same on every replay."""
        return self._go(lambda _, key: self._value(key, "now", self.journal.store.now, datetime))

    def random(self) -> Any:  # noqa: ANN401 - a float, or awaitable
        """Return a random number from 0 to 1, the same on every replay."""
        return self._go(lambda _, key: self._value(key, "random", _random, float))

    def progress(self, fraction: float, text: str | None = None) -> Any:  # noqa: ANN401
        """Say how far the run is, for people to see."""
        if isinstance(fraction, bool) or not isinstance(fraction, int | float):
            raise BadValue(f"progress({fraction!r}): give a number from 0 to 1.")
        if not 0 <= fraction <= 1:
            raise BadValue(f"progress({fraction!r}): give a number from 0 to 1.")
        check_words(text, "text")
        return self._go(lambda _, key: self._progressing(key, float(fraction), text))

    @property
    def later(self) -> RunLaters:
        """The same verbs, but they return at once; call `.result()` when the answer is needed."""
        return RunLaters(self)

    def _ask(self, form: Form[T]) -> T:
        return self._go(lambda lane, key: self.asking(lane, key, form))  # type: ignore[no-any-return]


def _random() -> float:
    return random.SystemRandom().random()
