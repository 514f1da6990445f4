"""What a run remembers can be read: how many steps, of which type, and what is in them."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import sayso
from sayso import (
    ActionStep,
    Agent,
    AnswerStep,
    DecisionStep,
    Desk,
    PlanStep,
    ScriptedModel,
    TaskStep,
)
from sayso.agent import Reply, call
from sayso.testing import FakeClock
from tests.agents import Messages, following, one_by_one, results
from tests.places import Place
from tests.runs.people import approved, ask_of, begun, carried_on, edited


def search(what: str) -> str:
    """Search for something."""
    return f"found {what}"


@sayso.tool(risk="high")
def send(what: str) -> str:
    """Send something out."""
    return f"sent {what}"


PLAN = [
    {"title": "Search for recent AI developments", "tool": "search"},
    {"title": "Mail the three most significant", "tool": "send"},
]


# As it stands in the document.
DOCUMENT = """
print(f"Current memory contains {len(agent.memory.steps)} steps:")
for i, step in enumerate(agent.memory.steps):
    step_type = type(step).__name__
    print(f"  {i+1}. {step_type}")
"""


def growth() -> Agent:
    return Agent("growth", ScriptedModel(following(PLAN)), [search, send], plan_every=5)


def test_the_loop_over_memory_prints_as_in_the_document(desk: Desk, clock: FakeClock) -> None:
    run = begun(desk, growth(), "What is new?")
    for _ in range(2):
        clock.advance(1)
        approved(desk, run)

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(DOCUMENT, {"agent": run})  # the document's `agent.memory` is here the run's

    assert printed.getvalue() == (
        "Current memory contains 7 steps:\n"
        "  1. TaskStep\n"
        "  2. PlanStep\n"
        "  3. DecisionStep\n"
        "  4. ActionStep\n"
        "  5. DecisionStep\n"
        "  6. ActionStep\n"
        "  7. AnswerStep\n"
    )


def test_each_step_has_its_content(desk: Desk, clock: FakeClock) -> None:
    run = begun(desk, growth(), "What is new?")
    clock.advance(1)
    desk.approve(ask_of(run), note="go ahead")
    carried_on(desk, run)
    clock.advance(1)
    edited(desk, run, {"what": "two of them"})

    task, plan, first, searched, second, sent, answer = run.memory
    assert isinstance(task, TaskStep)
    assert (task.workflow, task.task) == ("growth", "What is new?")
    assert isinstance(plan, PlanStep)
    assert (plan.plan, plan.status) == (PLAN, "decided")
    assert isinstance(first, DecisionStep)
    assert (first.decision.verdict, first.decision.note, first.ask) == (
        "approve",
        "go ahead",
        plan.ask,
    )
    assert isinstance(searched, ActionStep)
    assert searched.args == {"what": "Search for recent AI developments"}
    assert searched.result == "found Search for recent AI developments"
    assert searched.ask is None
    assert isinstance(second, DecisionStep)
    assert second.decision.verdict == "edit"
    assert isinstance(sent, ActionStep)
    assert (sent.args, sent.result, sent.ask) == (
        {"what": "two of them"},
        "sent two of them",
        second.ask,
    )
    assert isinstance(answer, AnswerStep)
    assert answer.output == run.output


def test_memory_grows_while_the_run_waits_and_is_the_same_for_everybody(
    place: Place, clock: FakeClock
) -> None:
    counts: list[int] = []
    with Desk(place.url, clock=clock, account="sam@till") as first:
        run = begun(first, growth(), "What is new?")
        plan = run.memory.steps[1]
        assert isinstance(plan, PlanStep)
        assert plan.status == "open"
        counts.append(len(run.memory))
        clock.advance(1)
        approved(first, run)
        counts.append(len(run.memory))
        here = run.memory
    with Desk(place.url, account="eve@elsewhere") as second:
        assert second.get_run(run.id).memory == here

    assert counts == [2, 4]


def test_every_step_of_a_standing_clock_is_in_its_place(desk: Desk) -> None:
    """All of it within one tick of the clock, as on a fast machine."""
    script = one_by_one(*(call("search", what=str(number)) for number in range(12)))

    run = begun(desk, Agent("clerk", ScriptedModel(script), [search]), "search")

    done = [step.args for step in run.memory if isinstance(step, ActionStep)]
    assert done == [{"what": str(number)} for number in range(12)]
    assert isinstance(run.memory.steps[0], TaskStep)
    assert isinstance(run.memory.steps[-1], AnswerStep)


def test_what_the_model_said_to_a_call_stands_with_it_and_no_other(local: Desk) -> None:
    def script(messages: Messages) -> Any:
        read = len(results(messages))
        if read == 3:
            return "done"
        if read == 0:
            made = (call("search", what="a"), call("search", what="b"))
            return Reply(text="Two at once.", calls=made)
        return Reply(text="One more.", calls=(call("search", what="c"),))

    run = begun(local, Agent("clerk", ScriptedModel(script), [search]), "search")

    said = [(step.args, step.thought) for step in run.memory if isinstance(step, ActionStep)]
    assert said == [
        ({"what": "a"}, "Two at once."),
        ({"what": "b"}, "Two at once."),
        ({"what": "c"}, "One more."),
    ]
