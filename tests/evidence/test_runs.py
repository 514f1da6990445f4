"""The faults of the list of evidence that concern runs, one test each.

As in `test_evidence.py`: each test is the story of a fault measured elsewhere, told of a run.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest

from sayso import Desk, Running
from sayso.errors import AskChanged, AskClosed, RunOver, UnknownAsk, UnknownRun
from sayso.testing import FakeClock
from tests.places import Place
from tests.runs import jobs
from tests.together import at_once

RAN: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


def pay(amount: int) -> str:
    RAN.append(amount)
    return "paid"


def mail(to: str) -> str:
    RAN.append(to)
    return "sent"


def another(place: Place, clock: FakeClock, flow: Any) -> Desk:
    desk = Desk(place.url, clock=clock, agent="shop", account="sam@till")
    desk.workflow(name="flow")(flow)
    return desk


def test_e1_two_who_resume_one_run_at_once_run_the_action_once(
    desk: Desk, place: Place, clock: FakeClock
) -> None:
    """LangGraph: the guarded action ran twice in 240 of 240 trials, both callers told OK."""

    def flow(run: Running) -> Any:
        return run.call(pay, amount=40)

    desk.workflow(name="flow")(flow)
    others = [another(place, clock, flow) for _ in range(2)]
    for _ in range(5):
        run = desk.run(flow, wait=False)
        desk.approve(run.asks[0])
        at_once([partial(one.resume, run.id, wait=False) for one in others])
        assert run.result(timeout=10) == "paid"
    for other in others:
        other.close()

    assert RAN == [40] * 5


def test_e2_a_worker_killed_right_after_the_action_leaves_a_question(
    live: Desk, place: Place, tmp_path: Path
) -> None:
    """LangGraph: answer lost 14 of 15 times, question asked again and action run twice 15 of 15."""
    book = tmp_path / "paid"
    live.workflow(name="flow")(jobs.pay_and_die)
    run = live.run(jobs.pay_and_die, str(book), wait=False)
    live.approve(run.asks[0])

    mortal = get_context("spawn").Process(target=jobs.die_paying, args=(place.url, run.id))
    mortal.start()
    mortal.join(30)
    assert mortal.exitcode == -SIGKILL
    assert book.read_text() == "40\n"

    place.sql("update runs set lease_until = 1")  # half a minute later
    live.work(until="idle")
    assert run.status == "waiting"

    asked = {ask.kind: ask for ask in run.asks}
    assert set(asked) == {"action", "doubt"}, "not asked again: asked whether it happened"
    assert asked["action"].decision, "the decision is not lost"
    assert "is dead" in asked["doubt"].content.sentence
    live.respond(asked["doubt"], "paid, says the bank")
    live.work(until="idle")
    assert run.output == ["order 7 looked up", "paid, says the bank"]
    assert book.read_text() == "40\n", "not repeated"
    assert live.verify()


def test_e3_a_late_second_click_on_one_question_of_a_run_cannot_approve_the_next(
    desk: Desk,
) -> None:
    """LangGraph dev server: it approved "wire $1M?" 8 times of 8."""

    @desk.workflow
    def flow(run: Running) -> Any:
        return [run.call(mail, to="anna"), run.call(pay, amount=1_000_000)]

    run = desk.run(flow, wait=False)
    (first,) = run.asks
    desk.approve(first)
    desk.work(until="idle")
    (second,) = run.state.pending

    with pytest.raises(AskClosed):
        desk.approve(first)
    with pytest.raises(AskChanged):
        desk.decide(second.id, "approve", seen=first.digest)
    desk.work(until="idle")

    assert RAN == ["anna"]
    assert run.status == "waiting"


def test_e4_nothing_before_the_pause_runs_again(desk: Desk) -> None:
    """LangGraph: code before the pause ran at each resume; one mail was sent twice."""

    @desk.workflow
    def flow(run: Running) -> Any:
        run.step(mail, "first")
        run.call(mail, to="second")
        run.gather(lambda: run.call(mail, to="third"), lambda: run.call(mail, to="fourth"))
        return run.question("And now?")

    run = desk.run(flow, wait=False)
    while run.status == "waiting":
        ask = run.state.pending[0]
        if ask.kind == "question":
            desk.respond(ask, "ok")
        else:
            desk.approve(ask)
        desk.work(until="idle")

    assert run.output == "ok"
    assert sorted(RAN) == ["first", "fourth", "second", "third"]


def test_e5_an_answer_to_what_is_over_or_never_was_is_an_error(desk: Desk, place: Place) -> None:
    """LangGraph: silently OK, or a new run."""

    @desk.workflow
    def flow(run: Running) -> Any:
        return run.question("Which?")

    run = desk.run(flow, wait=False)
    (ask,) = run.asks
    desk.respond(ask, "this")
    desk.work(until="idle")
    events, runs = place.count(), place.count("runs")

    with pytest.raises(AskClosed, match="answered by sam"):
        desk.respond(ask, "that")
    with pytest.raises(UnknownAsk):
        desk.decide("a-0000", "approve", seen=ask.digest)
    for use in (desk.get_run, desk.resume, desk.cancel, desk.retry):
        with pytest.raises(UnknownRun):
            use("r-0000")
    for steer in (desk.cancel, desk.retry):
        with pytest.raises(RunOver, match="done"):
            steer(run)
    assert desk.resume(run, wait=False).output == "this", "nothing happens to it"

    assert (place.count(), place.count("runs")) == (events, runs)


def test_e8_a_cancelled_plan_means_zero_further_calls(desk: Desk) -> None:
    """smolagents: one whole step ran, tools included."""

    @desk.workflow
    def flow(run: Running) -> Any:
        for step in run.plan(["mail anna", "mail ada"]):
            RAN.append("began")
            run.step(mail, step)

    run = desk.run(flow, wait=False)
    desk.reject(run.asks[0], "do not")
    desk.work(until="idle")

    assert run.status == "cancelled"
    assert "do not" in str(run.error)
    assert RAN == []


def test_e8_cancel_means_zero_further_calls(desk: Desk) -> None:
    @desk.workflow
    def flow(run: Running) -> Any:
        run.plan(["mail anna"])
        run.step(mail, "anna")

    run = desk.run(flow, wait=False)
    ask = desk.approve(run.asks[0])
    desk.cancel(run)
    desk.work(until="idle")

    assert RAN == []
    assert ask.decision
    assert run.status == "cancelled"


def test_e10_the_clock_in_an_argument_is_explained_and_asked_once(
    desk: Desk, clock: FakeClock
) -> None:
    """Any replay design: the argument differs at each replay, and people are asked for ever."""

    def book(at: datetime) -> None:
        RAN.append(at)

    @desk.workflow
    def flow(run: Running) -> Any:
        run.call(book, at=clock.now())

    run = desk.run(flow, wait=False)
    clock.advance("1m")
    desk.approve(run.asks[0])
    desk.work(until="idle")

    assert run.status == "parked"
    assert "argument at of book" in str(run.error)
    assert "2026-01-01T09:00" in str(run.error)
    assert "2026-01-01T09:01" in str(run.error)
    assert "run.now()" in str(run.error)
    assert len(run.asks) == 1
    assert RAN == []


def test_e10_an_order_that_changes_is_explained_and_asked_once(desk: Desk) -> None:
    """A set has another order in every process."""
    orders = iter([["a", "b"], ["b", "a"]])

    def tag(labels: list[str]) -> None:
        RAN.append(labels)

    @desk.workflow
    def flow(run: Running) -> Any:
        run.call(tag, labels=next(orders))

    run = desk.run(flow, wait=False)
    desk.approve(run.asks[0])
    desk.work(until="idle")

    assert run.status == "parked"
    assert "argument labels of tag" in str(run.error)
    assert "sorted(" in str(run.error)
    assert len(run.asks) == 1
    assert RAN == []


def test_e10_a_set_is_refused_with_its_place_or_written_in_one_order(desk: Desk) -> None:
    def tag(labels: Any) -> None:
        RAN.append(labels)

    def typed(labels: set[str]) -> None:
        RAN.append(labels)

    @desk.workflow
    def untyped_set(run: Running) -> Any:
        run.call(tag, labels={"mail": {"b", "a"}})

    @desk.workflow
    def typed_set(run: Running) -> Any:
        run.call(typed, labels={"b", "a"})

    refused = desk.run(untyped_set, wait=False)
    assert refused.status == "failed"
    assert "labels.mail" in str(refused.error)
    assert refused.asks == []

    run = desk.run(typed_set, wait=False)
    assert run.asks[0].args == {"labels": ["a", "b"]}
    desk.approve(run.asks[0])
    desk.work(until="idle")
    assert RAN[0] == {"a", "b"}


def test_e10_the_recorded_clock_and_randomness_are_the_same_at_every_replay(
    desk: Desk, clock: FakeClock
) -> None:
    def book(at: datetime, seed: float) -> str:
        return at.isoformat()

    @desk.workflow
    def flow(run: Running) -> Any:
        return run.call(book, at=run.now(), seed=run.random())

    run = desk.run(flow, wait=False)
    clock.advance("1h")
    desk.approve(run.asks[0])
    desk.work(until="idle")

    assert run.output == datetime(2026, 1, 1, 9, tzinfo=UTC).isoformat()


def test_e11_what_was_approved_is_what_runs_whatever_became_of_the_object(desk: Desk) -> None:
    """approvekit: the caller's object was executed as it was by then."""

    def pay_all(amounts: list[int]) -> None:
        RAN.extend(amounts)

    @desk.workflow
    def flow(run: Running) -> Any:
        amounts = [40]
        later = run.later.call(pay_all, amounts=amounts)
        amounts.append(1_000_000)
        return later.result()

    run = desk.run(flow, wait=False)
    desk.approve(run.asks[0])
    desk.work(until="idle")

    assert RAN == [40]
    assert run.asks[0].args == {"amounts": [40]}


@pytest.mark.parametrize("caught", [Exception, BaseException])
def test_e35_a_swallowed_pause_is_still_a_pause(desk: Desk, caught: Any) -> None:
    """LangGraph, smolagents' interpreter: the run went on unapproved."""

    @desk.workflow
    def flow(run: Running) -> Any:
        try:
            run.call(pay, amount=40)
        except caught:
            pass
        finally:
            return "done without you"  # noqa: B012 - what agents write

    run = desk.run(flow, wait=False)

    assert run.status == "waiting"
    assert run.output is None
    assert RAN == []
    desk.approve(run.asks[0])
    desk.work(until="idle")
    assert (run.status, RAN) == ("done", [40])
