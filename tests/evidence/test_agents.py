"""The faults of the list of evidence that concern agents, one test each.

As in `test_evidence.py`: each test is the story of a fault measured elsewhere, told of an agent.
The same stories on smolagents are in `benchmarks/faults.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from sayso import Agent, DecisionStep, Desk, Run, ScriptedModel, tool
from sayso.agent import Message, call
from sayso.testing import FakeClock
from tests.places import Place

RAN: list[Any] = []
PROMPTS: list[tuple[Message, ...]] = []
DRAFT = ["search the web", "write it up"]
CHANGED = ["search the web", "ask the lawyer", "write it up"]
_STEP = re.compile(r"^\d+\. ([a-z ]+)", re.MULTILINE)


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()
    PROMPTS.clear()


def work(subject: str) -> str:
    """Work on something."""
    RAN.append(subject)
    return f"did {subject}"


def follow(messages: Sequence[Message], tools: tuple[str, ...]) -> Any:
    """Be the model: follow the last plan that is shown; make one only where none is shown."""
    PROMPTS.append(tuple(messages))
    plans = [found for message in messages if (found := _STEP.findall(message.text))]
    steps = [step.strip() for step in plans[-1]] if plans else DRAFT
    if tools == ("plan",):
        return steps
    done = [message.text for message in messages if message.role == "tool"]
    left = [step for step in steps if f"did {step}" not in done]
    return call("work", subject=left[0]) if left else "written up"


def told(prompt: Sequence[Message]) -> list[str]:
    """What a prompt tells the model: texts and arguments. Ids are chance, and may hold any digits."""
    return [
        said
        for message in prompt
        for said in (message.text, *(repr(dict(one.args)) for one in message.calls))
    ]


def carried_on_elsewhere(place: Place, clock: FakeClock, run: Run) -> None:
    """Let a desk that has seen nothing of the run go on with it."""
    with Desk(place.url, clock=clock, account="sam@till") as elsewhere:
        elsewhere.work(until="idle", only=run.id)


def test_e8_a_cancelled_plan_is_followed_by_no_call_at_all(
    desk: Desk, place: Place, clock: FakeClock
) -> None:
    """smolagents, its own example: a cancelled plan still ran one whole step, tools included."""
    writer = Agent("writer", ScriptedModel(follow), [work], plan_every=5)
    run = desk.run(writer, "Write about tea.", wait=False)

    desk.reject(run.asks[0], "Not this way")
    carried_on_elsewhere(place, clock, run)

    assert (run.status, RAN, len(PROMPTS)) == ("cancelled", [], 1)


def test_e8_a_plan_cancelled_at_a_later_review_is_followed_by_no_call_either(
    desk: Desk, place: Place, clock: FakeClock
) -> None:
    writer = Agent("writer", ScriptedModel(follow), [work], plan_every=1)
    run = desk.run(writer, "Write about tea.", wait=False)
    desk.approve(run.asks[0])
    desk.work(until="idle")
    asked = len(PROMPTS)

    (replan,) = run.state.pending
    desk.reject(replan)
    carried_on_elsewhere(place, clock, run)

    assert (run.status, RAN, len(PROMPTS)) == ("cancelled", ["search the web"], asked)


def test_e9_a_resume_keeps_the_plan_that_the_person_changed(
    desk: Desk, place: Place, clock: FakeClock
) -> None:
    """smolagents: after a resume a new plan was made, without what the person had changed."""

    @tool(name="work")
    def work_and_stop(subject: str) -> str:
        """Work on something; whoever carries the run on is told to stop after the first time."""
        if not RAN:
            desk.crew.halt()
        return work(subject)

    writer = Agent("writer", ScriptedModel(follow), [work_and_stop], plan_every=5)
    run = desk.run(writer, "Write about tea.", wait=False)
    desk.edit(run.asks[0], {"steps": [{"title": step} for step in CHANGED]})
    desk.work(until="idle", only=run.id)
    assert (run.status, RAN) == ("ready", ["search the web"])

    carried_on_elsewhere(place, clock, run)

    assert (run.output, RAN) == ("written up", CHANGED)
    assert [ask.kind for ask in run.asks] == ["plan"], "nobody was asked for another plan"


@pytest.mark.parametrize("every", [1, 2])
def test_e9_every_later_plan_is_made_knowing_what_the_person_changed(
    desk: Desk, place: Place, clock: FakeClock, every: int
) -> None:
    """smolagents: the prompt of a re-plan leaves the plan before it out."""
    writer = Agent("writer", ScriptedModel(follow), [work], plan_every=every)
    run = desk.run(writer, "Write about tea.", wait=False)
    desk.edit(run.asks[0], {"steps": [{"title": step} for step in CHANGED]})

    carried_on_elsewhere(place, clock, run)
    while run.status == "waiting":
        (replan,) = run.state.pending
        assert [step["title"] for step in replan.args["steps"]] == CHANGED
        desk.approve(replan)
        carried_on_elsewhere(place, clock, run)

    assert (run.output, RAN) == ("written up", CHANGED)
    assert len(run.asks) == 1 + len(CHANGED) // every
    for prompt in PROMPTS[1:]:
        assert any("ask the lawyer" in message.text for message in prompt)
    plannings = [prompt for prompt in PROMPTS[1:] if "with the tool `plan`" in prompt[-1].text]
    assert len(plannings) == len(run.asks) - 1
    assert all("ask the lawyer" in prompt[-1].text for prompt in plannings)


def test_e18_after_an_edit_the_model_sees_the_call_that_was_made_and_does_not_repeat_the_old_one(
    desk: Desk, place: Place, clock: FakeClock
) -> None:
    """Pydantic AI, Claude Code, LangChain: it saw the old arguments, and made the old call again."""

    @tool(risk="high")
    def refund(order: int, amount: int) -> str:
        """Give money back."""
        RAN.append((order, amount))
        return f"refunded {amount}"

    def insist(messages: Sequence[Message]) -> Any:
        """Make the call again unless the history says that what was called is what came of it."""
        PROMPTS.append(tuple(messages))
        calls = {one.id: one for message in messages for one in message.calls}
        results = [message for message in messages if message.role == "tool"]
        if not results:
            return call("refund", order=7, amount=400)
        last = results[-1]
        made = calls[last.call or ""].args["amount"]
        if last.text != f"refunded {made}":
            return call("refund", order=7, amount=400)
        return f"refunded {made}"

    clerk = Agent("clerk", ScriptedModel(insist), [refund])
    run = desk.run(clerk, "Order 7 was charged twice.", thread="7", wait=False)
    desk.edit(run.asks[0], {"amount": 40}, note="Only once")
    carried_on_elsewhere(place, clock, run)

    assert (run.output, RAN) == ("refunded 40", [(7, 40)])
    (shown,) = [one for message in PROMPTS[-1] for one in message.calls]
    assert dict(shown.args) == {"order": 7, "amount": 40}
    assert all("400" not in said for said in told(PROMPTS[-1]))
    (decided,) = [step for step in run.memory if isinstance(step, DecisionStep)]
    assert decided.decision.verdict == "edit", "the original is in the journal, for people"
    assert run.asks[0].original is not None
    assert run.asks[0].original["amount"] == 400

    clock.advance("1m")
    later = desk.run(clerk, "And now?", thread="7", wait=False)
    assert later.output == "refunded 40"
    assert all("400" not in said for said in told(PROMPTS[-1])), "nor in the thread"
    assert RAN == [(7, 40)]
