"""How a run is seen from outside: state, memory, lists, results."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

import sayso
from sayso import (
    ActionStep,
    AnswerStep,
    DecisionStep,
    Desk,
    PlanStep,
    Running,
    StillRunning,
    TaskStep,
)
from sayso.errors import BadValue
from sayso.testing import FakeClock
from tests.places import Place
from tests.runs.people import answered, approved, begun, carried_on, edited
from tests.together import in_thread


def look() -> str:
    return "seen"


def broken() -> None:
    raise OSError("no line")


def pay(amount: int) -> str:
    return f"paid {amount}"


@dataclass(frozen=True)
class Bill:
    amount: int
    due: timedelta


def test_state_says_what_waits_and_what_comes_next(desk: Desk):
    def flow(run: Running) -> Any:
        run.progress(0.5)
        run.gather(lambda: run.question("Which?"), lambda: run.call(pay, amount=40))

    run = begun(desk, flow)
    state = run.state

    assert state.status == "waiting"
    assert {ask.title for ask in state.pending} == {"Which?", "pay"}
    assert sorted(state.next) == sorted(
        f'{ask.id} "{ask.title}" waits for a decision' for ask in state.pending
    )
    assert state.progress == 0.5
    assert state.doing is None
    assert state.error is None

    answered(desk, run, "this", "Which?")
    approved(desk, run, "pay")
    assert (run.state.status, run.state.pending, run.state.next) == ("done", (), ())


def test_state_while_somebody_is_at_work(desk: Desk):
    seen: list[Any] = []

    def flow(run: Running) -> Any:
        run.step(look)
        desk.get_run(run.id)

        def peek() -> None:
            state = desk.get_run(run.id).state
            seen.append((state.status, state.pending, state.next))

        run.step(peek)

    begun(desk, flow)

    status, pending, after = seen[0]
    assert (status, pending) == ("running", ())
    assert "carries it on" in after[0]


def test_a_run_whose_worker_fell_silent_says_so(desk: Desk, clock: FakeClock):
    seen: list[Any] = []

    def flow(run: Running) -> Any:
        def freeze() -> None:
            clock.advance("1h")
            seen.append(desk.get_run(run.id).state.next)

        run.step(look)
        run.step(freeze)

    begun(desk, flow)

    assert "fell silent; the next worker takes it over" in seen[0][0]


def test_a_run_that_nobody_serves_stays_ready_and_says_who_is_missing(
    desk: Desk, place: Place, clock: FakeClock
):
    @desk.workflow(name="support")
    def flow(run: Running) -> Any:
        return run.question("Which?")

    run = begun(desk, flow)
    with Desk(place.url, clock=clock, account="sam@till") as elsewhere:

        @elsewhere.workflow(name="other")
        def other(run: Running) -> Any: ...

        found = elsewhere.get_run(run.id)
        answered(elsewhere, found, "this")

        assert found.status == "ready", "whoever has not the code leaves it alone"
        module = flow.__module__
        word = f"No worker serves `support`; start one: sayso worker {module}"
        assert found.state.next == (word,)
        assert elsewhere.unserved(run.id) == word
        place.sql("update runs set path = '__main__:support'")
        assert "typed at a prompt" in (elsewhere.unserved(run.id) or "")
        place.sql("update runs set path = ?", f"{module}:support")
        with pytest.raises(sayso.SaysoError, match="registered"):
            elsewhere.resume(found)
    carried_on(desk, run)
    assert run.output == "this"
    assert desk.unserved(run.id) is None


def test_memory_has_a_typed_step_for_everything_in_order(desk: Desk, clock: FakeClock):
    def flow(run: Running, task: str) -> Any:
        run.step(look)
        clock.advance(1)
        plan = run.plan(["look", "pay"])
        clock.advance(1)
        run.call(pay, amount=40)
        clock.advance(1)
        with contextlib.suppress(sayso.StepFailed):
            run.step(broken)
        return plan

    run = begun(desk, flow, "settle it")
    clock.advance(1)
    edited(desk, run, ["pay"])
    approved(desk, run)

    steps = run.memory.steps
    kinds = [type(step) for step in steps]
    assert kinds[:4] == [TaskStep, ActionStep, PlanStep, DecisionStep]
    assert kinds[-1] is AnswerStep
    assert len(run.memory) == len(steps) == 8
    assert list(run.memory) == list(steps)

    task, first, plan = steps[0], steps[1], steps[2]
    assert isinstance(task, TaskStep)
    assert (task.workflow, task.task) == ("flow", "settle it")
    assert isinstance(first, ActionStep)
    assert (first.result, first.status) == ("seen", "done")
    assert isinstance(plan, PlanStep)
    assert plan.plan == [{"title": "pay"}], "as it stands: edited by a person"
    actions = [step for step in steps if isinstance(step, ActionStep)]
    by_name = {step.name: step for step in actions}
    assert (by_name["pay"].args, by_name["pay"].result) == ({"amount": 40}, "paid 40")
    assert (by_name["broken"].status, by_name["broken"].error) == ("failed", "OSError: no line")
    answer = steps[-1]
    assert isinstance(answer, AnswerStep)
    assert answer.output == ["pay"]
    decisions = [step.decision.verdict for step in steps if isinstance(step, DecisionStep)]
    assert decisions == ["edit", "approve"]


def test_output_comes_back_in_its_type(desk: Desk):
    def flow(run: Running, bill: Bill, *more: int) -> tuple[Bill, int]:
        run.question("Which?")
        assert isinstance(bill, Bill)
        return bill, sum(more)

    run = begun(desk, flow, Bill(7, timedelta(days=2)), 1, 2)
    answered(desk, run, "this")

    assert run.output == (Bill(7, timedelta(days=2)), 3)
    assert run.result(timeout=1) == run.output


def test_there_is_no_output_before_the_end(desk: Desk):
    run = begun(desk, lambda run: run.question("Which?"))
    assert run.output is None

    with pytest.raises(StillRunning, match="waits for a decision") as still:
        run.result(timeout=0.05)
    assert still.value.status == "waiting"


def test_result_waits_for_the_end(live: Desk):
    run = begun(live, lambda run: run.question("Which?"))
    result = in_thread(lambda: run.result(timeout=20))
    answered(live, run, "this")

    assert result.result(20) == "this"


def test_runs_are_listed_by_what_is_asked_for_the_newest_first(desk: Desk, clock: FakeClock):
    @desk.workflow
    def asks(run: Running, n: int) -> Any:
        return run.question("Which?")

    @desk.workflow
    def ends(run: Running, n: int) -> Any:
        return n

    made = []
    for n in range(6):
        made.append(begun(desk, asks if n % 2 else ends, n, thread=f"t{n}"))
        clock.advance(1)
    newest = [run.id for run in reversed(made)]

    assert [run.id for run in desk.runs()] == newest
    assert [run.id for run in desk.runs(status="waiting")] == newest[0::2]
    assert [run.id for run in desk.runs(status="done", workflow="ends")] == newest[1::2]
    assert desk.runs(status="done", workflow="asks") == []
    assert [run.id for run in desk.runs(thread="t3")] == [made[3].id]
    page = desk.runs(limit=4)
    assert [run.id for run in page] == newest[:4]
    assert [run.id for run in desk.runs(limit=4, before=page[-1])] == newest[4:]


@pytest.mark.parametrize(
    "given",
    [{"status": "asleep"}, {"limit": 0}, {"limit": 501}, {"limit": True}, {"thread": ""}],
    ids=str,
)
def test_a_list_that_makes_no_sense_is_refused(local: Desk, given: dict[str, Any]):
    with pytest.raises(BadValue, match=next(iter(given))):
        local.runs(**given)


def test_what_agents_say_is_shown_without_tricks(desk: Desk):
    run = begun(desk, lambda run: run.question("pay \u202eeht lla\x1b[2K"))

    for words in run.state.next:
        assert all(char.isprintable() for char in words)
