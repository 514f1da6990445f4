"""Asynchronous review, end to end (S2.8): the ask goes to a queue, the run does other work.

Four processes take part, and none of them waits in memory for another: one starts the run and
works on while the ask is open, one decides, a third picks the answer up, a fourth reads it.
"""

from __future__ import annotations

from sayso import ActionStep, DecisionStep, Desk
from tests.crew import Crew
from tests.places import Place
from tests.runs import jobs


def test_a_run_opens_an_ask_works_on_and_picks_the_decision_up_elsewhere(
    live: Desk, place: Place, crew: Crew
):
    run_id = crew.tell(0, jobs.start, place.url, 7)

    run = live.get_run(run_id)
    (ask,) = live.inbox(run=run_id).asks
    assert ask.title == "Refund order 7?"
    assert run.status == "waiting"
    done = [step for step in run.memory if isinstance(step, ActionStep)]
    assert [step.result for step in done] == ["order 7 looked up"], "it did not wait for the answer"
    assert run.row.token is None, "and now nothing holds it"

    assert crew.tell(1, jobs.answer, place.url, run_id, 40) == "ready"
    crew.tell(2, jobs.carry_on, place.url)

    assert crew.tell(3, jobs.outcome, place.url, run_id) == ("done", ["order 7 looked up", 40])
    assert run.output == ["order 7 looked up", 40]
    assert [step.name for step in run.memory if isinstance(step, ActionStep)] == ["look"], "once"
    (decision,) = [step.decision for step in run.memory if isinstance(step, DecisionStep)]
    assert (decision.verdict, decision.answer, decision.by.id) == ("respond", 40, "sam")
    assert live.verify()


def test_an_answer_that_comes_before_the_work_is_done_is_there_when_it_is_wanted(
    live: Desk, place: Place, crew: Crew
):
    """Decided while the run is still at work: it does not pause at all."""
    asked: list[str] = []

    def work() -> str:
        (ask,) = live.inbox().asks
        asked.append(ask.id)
        with Desk(place.url, account="sam@till") as elsewhere:
            elsewhere.respond(elsewhere.get(ask.id), 40)
        return "worked"

    @live.workflow
    def review(run, order):
        later = run.later.question(f"Refund order {order}?", int)
        return [run.step(work), later.result()]

    run = live.run(review, 7)

    assert run.output == ["worked", 40]
    assert len(asked) == 1


def test_many_reviews_wait_at_once_and_are_picked_up_by_whoever_is_there(
    live: Desk, place: Place, crew: Crew
):
    ids = [run_id for orders in range(3) for run_id in crew.together(jobs.start, place.url, orders)]
    assert len(set(ids)) == 12
    assert live.inbox().count == 12

    for number, run_id in enumerate(ids):
        (ask,) = live.get_run(run_id).state.pending
        live.respond(ask, number)
    crew.together(jobs.carry_on, place.url)

    for number, run_id in enumerate(ids):
        run = live.get_run(run_id)
        assert run.status == "done", run.error
        assert run.output[1] == number
    kinds = [event.kind for event in live.events()]
    assert kinds.count("run.done") == 12
    assert kinds.count("step.done") == 12, "every order was looked up once"
    assert live.verify()
