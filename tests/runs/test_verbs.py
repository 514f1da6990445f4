"""Every verb, in plain and in `async def` workflows: what it returns, live and replayed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from pydantic import BaseModel

import sayso
from sayso import Ask, Decision, Desk, Feedback, Option, Rejected, Running
from sayso.asks.forms import Reaction
from sayso.errors import BadValue
from sayso.testing import FakeClock
from tests.runs.people import answered, approved, ask_of, begun, carried_on, rejected

Decide = Callable[[Desk, Ask], object]


class Refund(BaseModel):
    order: int
    on: date


@dataclasses.dataclass(frozen=True)
class Verb:
    """One use of a verb, what a person says to it, and what it must return."""

    name: str
    use: Callable[[Running], Any]
    returns: object
    decide: Decide | None = None


def add(one: int, two: int = 0) -> int:
    return one + two


def pair(_: str | None = None) -> Any:
    return (1, (2, 3))


def typed() -> Refund:
    return Refund(order=7, on=date(2026, 1, 2))


def refund(order: int, amount: int) -> str:
    return f"{amount} for order {order}"


def typed_refund(order: int) -> Refund:
    return Refund(order=order, on=date(2026, 1, 2))


def plan_maker(guidance: str | None) -> list[str]:
    return ["look", guidance or "act"]


def text_maker(guidance: str | None) -> str:
    return f"Dear Anna{', ' + guidance if guidance else ''}"


def inner(run: Running, order: int) -> Any:
    return (order, run.step(add, 1, 2))


def child(run: Running, order: int) -> list[int]:
    return [order, run.question("How much?", int)]


def responds(answer: object) -> Decide:
    return lambda desk, ask: desk.respond(ask, answer)


def approves(desk: Desk, ask: Ask) -> object:
    return desk.approve(ask)


def rejects(desk: Desk, ask: Ask) -> object:
    return desk.reject(ask, "no")


MORNING = datetime(2026, 1, 1, 9, tzinfo=UTC)
VERBS = [
    Verb("now", lambda run: run.now(), MORNING),  # before any hour has passed
    Verb("step", lambda run: run.step(add, 1, two=2), 3),
    Verb("a tuple is a list", lambda run: run.step(pair), [1, [2, 3]]),
    Verb("typed step", lambda run: run.step(typed), Refund(order=7, on=date(2026, 1, 2))),
    Verb("call", lambda run: run.call(refund, 7, amount=40), "40 for order 7", approves),
    Verb(
        "typed call",
        lambda run: run.call(typed_refund, order=7),
        Refund(order=7, on=date(2026, 1, 2)),
        approves,
    ),
    Verb("question", lambda run: run.question("Which?"), "this", responds("this")),
    Verb(
        "question of a type",
        lambda run: run.question("When?", date),
        date(2026, 1, 2),
        responds("2026-01-02"),
    ),
    Verb("question without an answer", lambda run: run.question("Which?"), None, rejects),
    Verb(
        "choose",
        lambda run: run.choose("Which?", ["a", "b"]),
        "b",
        lambda desk, ask: desk.approve(ask, option="b"),
    ),
    Verb(
        "choose among options",
        lambda run: run.choose("Which?", [Option("a"), Option("b")]),
        Option("b"),
        lambda desk, ask: desk.approve(ask, option="b"),
    ),
    Verb("choose none", lambda run: run.choose("Which?", ["a", "b"]), None, rejects),
    Verb("choose own", lambda run: run.choose("Which?", ["a", "b"], own=int), 7, responds(7)),
    Verb("draft", lambda run: run.draft("Dear Anna"), "Dear Anna", approves),
    Verb(
        "draft edited",
        lambda run: run.draft("Dear Anna"),
        "Dear Ada",
        lambda desk, ask: desk.edit(ask, "Dear Ada"),
    ),
    Verb("draft dropped", lambda run: run.draft("Dear Anna"), None, rejects),
    Verb("draft by a maker", lambda run: run.draft(text_maker), "Dear Anna", approves),
    Verb("plan", lambda run: run.plan(["look", "act"]), ["look", "act"], approves),
    Verb(
        "plan edited",
        lambda run: run.plan(["look", "act"]),
        ["look"],
        lambda desk, ask: desk.edit(ask, ["look"]),
    ),
    Verb("plan by a maker", lambda run: run.plan(plan_maker), ["look", "act"], approves),
    Verb("notice answered", lambda run: run.notice("Rain"), Reaction("respond"), responds("run")),
    Verb("notice ignored", lambda run: run.notice("Rain"), Reaction("ignore"), rejects),
    Verb("feedback", lambda run: run.feedback("42", within="1h"), Feedback("good"), approves),
    Verb(
        "feedback in words",
        lambda run: run.feedback("42"),
        Feedback(None, "fine"),
        responds("fine"),
    ),
    Verb("escalate when sure", lambda run: run.escalate("42", confidence=0.7), "42"),
    Verb(
        "escalate when unsure",
        lambda run: run.escalate("42", confidence=0.69),
        "41",
        lambda desk, ask: desk.edit(ask, "41"),
    ),
    Verb(
        "escalate when nothing is stated",
        lambda run: run.escalate("42", confidence=None),
        "42",
        approves,
    ),
    Verb(
        "escalate on conflict",
        lambda run: run.escalate("42", confidence=1.0, conflicts=["the book says 41"]),
        "42",
        approves,
    ),
    Verb(
        "escalate and refine",
        lambda run: run.escalate("42", confidence=0.1, refine=text_maker),
        "42",
        approves,
    ),
    Verb("cases", lambda run: run.cases("late parcel"), []),
    Verb("progress", lambda run: run.progress(0.5, "half"), None),
    Verb("later", lambda run: run.later.question("Which?").result(), "this", responds("this")),
]


@pytest.mark.parametrize("awaits", [False, True], ids=["plain", "async"])
def test_every_verb_returns_the_same_live_and_replayed_on_both_databases(
    desk: Desk, clock: FakeClock, awaits: bool
):
    for number, verb in enumerate(VERBS):
        seen: list[Any] = []

        def plain(run: Running, verb: Any = verb, seen: Any = seen) -> Any:
            seen.append(verb.use(run))
            return run.question("And now?")

        async def awaited(run: Any, verb: Any = verb, seen: Any = seen) -> Any:
            seen.append(await verb.use(run))
            return await run.question("And now?")

        run = begun(desk, desk.workflow(name=f"flow-{number}")(awaited if awaits else plain))
        if verb.decide is not None:
            verb.decide(desk, ask_of(run))
            carried_on(desk, run)
        clock.advance("1h")
        answered(desk, run, "done", "And now?")

        assert (run.status, run.output) == ("done", "done"), (verb.name, run.error)
        assert seen == [verb.returns, verb.returns], verb.name
        assert type(seen[0]) is type(seen[1]) is type(verb.returns), verb.name


def test_confirm_returns_the_decision_and_it_counts_as_a_yes_only_when_approved(desk: Desk):
    seen: list[Decision] = []

    def flow(run: Running) -> list[bool]:
        seen[:] = [run.confirm("Drop it?", {"table": "users"}), run.confirm("And this?")]
        return [bool(one) for one in seen]

    run = begun(desk, flow)
    approved(desk, run, "Drop it?")
    rejected(desk, run, "never", what="And this?")

    assert run.output == [True, False]
    assert seen[1].note == "never"


async def wait_for(value: int) -> Any:
    return (value, value)


async def wire(amount: int) -> Refund:
    return Refund(order=amount, on=date(2026, 1, 2))


def test_async_steps_and_tools_are_awaited(desk: Desk):
    async def flow(run: Any) -> Any:
        return [await run.step(wait_for, 1), (await run.call(wire, amount=5)).order]

    run = begun(desk, flow)
    approved(desk, run, "wire")

    assert run.output == [[1, 1], 5]


def test_an_async_function_in_a_plain_workflow_is_refused_before_it_runs(desk: Desk):
    run = begun(desk, lambda run: run.step(wait_for, 1))

    assert run.status == "failed"
    assert "coroutine" in str(run.error)
    assert "async def" in str(run.error)


def test_a_maker_is_called_again_with_the_guidance_and_each_text_is_made_once(desk: Desk):
    made: list[str | None] = []

    def write(guidance: str | None) -> str:
        made.append(guidance)
        return f"text {len(made)}"

    run = begun(desk, lambda run: [run.draft(write), run.question("And now?")])
    answered(desk, run, "shorter")
    answered(desk, run, "")
    assert ask_of(run).args["text"] == "text 3"
    approved(desk, run)
    answered(desk, run, "ok", "And now?")

    assert run.output == ["text 3", "ok"]
    assert made == [None, "shorter", ""]


def test_without_a_maker_nothing_can_be_sent_back(desk: Desk):
    run = begun(desk, lambda run: run.draft("Dear Anna"))

    assert "respond" not in ask_of(run).content.allow


def test_random_numbers_are_drawn_once(desk: Desk):
    seen: list[list[float]] = []

    def flow(run: Running) -> Any:
        seen.append([run.random(), run.random()])
        return run.question("And now?")

    run = begun(desk, flow)
    answered(desk, run, "ok")

    assert seen[0] == seen[1]
    assert seen[0][0] != seen[0][1]
    assert all(0 <= number < 1 for number in seen[0])


def test_an_answer_that_nobody_gives_in_time_is_none(desk: Desk, clock: FakeClock):
    run = begun(
        desk, lambda run: [run.question("Which?", within="1h"), run.feedback("42", within="1h")]
    )
    clock.advance("1h")
    carried_on(desk, run)
    assert run.status == "waiting", "the feedback has an hour of its own"
    clock.advance("1h")
    carried_on(desk, run)

    assert run.output == [None, None]


def test_a_call_that_nobody_approves_in_time_does_not_happen(desk: Desk, clock: FakeClock):
    @sayso.tool(within="1h")
    def urgent(order: int) -> str:
        return refund(order, 40)

    def flow(run: Running) -> Any:
        with pytest.raises(Rejected):
            run.call(urgent, order=7)
        return "told"

    run = begun(desk, flow)
    clock.advance("2h")
    carried_on(desk, run)

    assert run.output == "told", run.error
    assert run.asks[0].effect is None


def test_a_withdrawn_question_is_a_no_and_wakes_the_run(desk: Desk):
    def flow(run: Running) -> Any:
        with pytest.raises(Rejected):
            run.question("Which?")
        return "told"

    run = begun(desk, flow)
    desk.withdraw(ask_of(run))
    carried_on(desk, run)

    assert run.output == "told", run.error


@pytest.mark.parametrize("fraction", [-0.1, 1.1, "half", True, float("nan"), None])
def test_progress_is_a_number_from_0_to_1(desk: Desk, fraction: Any):
    def flow(run: Running) -> Any:
        with pytest.raises(BadValue, match="from 0 to 1"):
            run.progress(fraction)

    assert begun(desk, flow).status == "done"


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        *(
            ({"confidence": bad}, "from 0 to 1")
            for bad in (7, -1, 1.01, "high", True, float("nan"))
        ),
        *(({"below": bad}, "below=") for bad in (0, -1, 7, "high", True, None, float("nan"))),
        ({"conflicts": "the sign says 10"}, "list"),
        ({"conflicts": [" "]}, "blank"),
        ({"conflicts": [None]}, "blank"),
        ({"conflicts": [5]}, "text"),
        ({"conflicts": [f"source {n}" for n in range(21)]}, "at most 20"),
    ],
)
@pytest.mark.parametrize("stated", [0.99, None])
def test_terms_under_which_nobody_could_tell_whether_it_is_sure_are_refused(
    local: Desk, terms: dict[str, Any], says: str, stated: float | None
):
    def flow(run: Running) -> Any:
        with pytest.raises(BadValue, match=says):
            run.escalate("42", **{"confidence": stated, **terms})
        return run.escalate("43", confidence=1, below=1)

    run = begun(local, flow)

    assert (run.status, run.output) == ("done", "43"), run.error
    assert local.inbox().count == 0


def test_progress_is_seen_from_outside(desk: Desk):
    def flow(run: Running) -> Any:
        run.progress(0.25, "a quarter")
        run.question("Which?")
        run.progress(0.75)
        run.question("And then?")

    run = begun(desk, flow)
    assert run.state.progress == 0.25
    answered(desk, run, "this", "Which?")
    assert run.state.progress == 0.75


def test_a_workflow_inside_a_workflow_is_recorded_as_a_whole(desk: Desk):
    calls: list[int] = []

    def counted(run: Running, order: int) -> Any:
        calls.append(order)
        return inner(run, order)

    def flow(run: Running) -> Any:
        first = run.workflow(counted, 7)
        return [first, run.question("And now?")]

    run = begun(desk, flow)
    answered(desk, run, "ok")

    assert run.output == [[7, 3], "ok"]
    assert calls == [7], "a recorded workflow is not called again"


def test_a_workflow_inside_a_workflow_pauses_the_outer_one(desk: Desk):
    run = begun(desk, lambda run: [run.workflow(child, order=7), run.workflow(child, order=8)])
    assert run.status == "waiting"
    answered(desk, run, 40)
    answered(desk, run, 50)

    assert run.output == [[7, 40], [8, 50]]


def test_a_registered_workflow_can_be_used_inside_another(desk: Desk):
    @desk.workflow
    async def part(run: Any, order: int) -> Any:
        return await run.question(f"Order {order}?")

    async def whole(run: Any) -> Any:
        return await run.workflow(part, 7)

    run = begun(desk, whole)
    answered(desk, run, "fine", "Order 7?")

    assert run.output == "fine"
