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
