"""Plans of smolagents: reviewed before their first step, changed for good, cancelled at once."""

from __future__ import annotations

from typing import Any

import pytest

from sayso import Desk
from sayso.adapters.smolagents import Smol
from sayso.adapters.smolagents.plans import joined, split
from tests.adapters.smolagents.cast import (
    Note,
    Thinks,
    caller,
    code,
    coder,
    final,
    shown,
    steps_taken,
)
from tests.runs.people import answered, approved, ask_of, begun, carried_on, edited, rejected

DONE: list[Any] = []
DRAFT = """## 1. Facts survey
### 1.1. Facts given in the task
- There is a task.

## 2. Plan
1. Search for recent AI developments
2. Summarize the 3 most significant breakthroughs
<end_plan>"""
EDITED = ["Search for recent AI developments", "Check each source"]


def planning(texts: list[str]) -> bool:
    return "your plan" in texts[-1] or "your new plan" in texts[-1]


def guided(texts: list[str]) -> bool:
    return "wants another one" in texts[-1]


def thinks(kind: str, plans: list[str]) -> Thinks:
    """A model that plans from a list, acts four times, and answers."""

    def think(texts: list[str]) -> Any:
        if planning(texts) or guided(texts):
            return plans.pop(0)
        taken = steps_taken(texts)
        if kind == "caller":
            return [("send", {"to": f"step {taken}"})] if taken < 4 else final("done")
        return code(f"send('step {taken}')" if taken < 4 else "final_answer('done')")

    return Thinks(think)


def planner(kind: str, model: Thinks, every: int) -> Smol:
    make = caller if kind == "caller" else coder
    return Smol(
        "planner", lambda: make(model, Note(DONE), planning_interval=every), review=("plan",)
    )


KINDS = pytest.mark.parametrize("kind", ["caller", "coder"])


@KINDS
def test_a_plan_is_shown_as_steps_before_anything_of_it_is_done(desk: Desk, kind: str):
    model = thinks(kind, [DRAFT])
    run = begun(desk, planner(kind, model, 9), "What is new?")
    ask = ask_of(run)
    assert (ask.kind, ask.title) == ("plan", "Plan of planner: What is new?")
    assert ask.args["steps"] == [
        "Search for recent AI developments",
        "Summarize the 3 most significant breakthroughs",
    ]
    assert (DONE, len(model.seen)) == ([], 1)


@KINDS
def test_what_a_person_changed_is_in_every_prompt_from_then_on_and_in_every_later_plan(
    desk: Desk, kind: str
):
    model = thinks(kind, [DRAFT, "1. Send the rest"])
    run = begun(desk, planner(kind, model, 2), "What is new?")
    edited(desk, run, {"steps": EDITED})

    assert ask_of(run).args["steps"] == ["Send the rest"], "it has planned again"
    assert len(DONE) == 2
    approved(desk, run)
    third = ask_of(run) if run.status == "waiting" else None
    assert third is None or third.kind == "plan"
    prompts = model.seen[1:]
    assert len(prompts) >= 4
    for texts in prompts:
        assert "Check each source" in shown(texts), "also when it plans again (E9)"
        assert "Summarize the 3" not in shown(texts)
    again = [texts for texts in prompts if planning(texts)]
    assert again
    assert "sam changed the plan" in shown(again[0])


@KINDS
def test_a_plan_that_is_sent_back_is_made_again_with_all_that_was_said(desk: Desk, kind: str):
    model = thinks(kind, [DRAFT, "1. Second plan", "1. Third plan\n2. And more", "1. Later"])
    run = begun(desk, planner(kind, model, 2), "What is new?")
    answered(desk, run, "only peer-reviewed papers")
    second = ask_of(run)
    assert second.args["steps"] == ["Second plan"]
    assert second.content.about == run.asks[0].id or len(run.asks) == 2
    desk.respond(second, "and shorter")
    carried_on(desk, run)
    assert ask_of(run).args["steps"] == ["Third plan", "And more"]
    assert "only peer-reviewed papers" in shown(model.seen[2])
    assert "Second plan" in shown(model.seen[2])
    assert DONE == []
    approved(desk, run)
    acting = model.seen[3]
    assert "Third plan" in shown(acting)
    replanning = next(texts for texts in model.seen[4:] if planning(texts))
    for said in ("only peer-reviewed papers", "and shorter"):
        assert said in shown(replanning)


@KINDS
def test_a_plan_cancelled_half_way_keeps_what_was_done_and_does_no_more(desk: Desk, kind: str):
    model = thinks(kind, [DRAFT, "1. Go on"])
    run = begun(desk, planner(kind, model, 2), "What is new?")
    approved(desk, run)
    rejected(desk, run)
    assert (run.status, len(DONE), len(model.seen)) == ("cancelled", 2, 4)


def test_a_callback_of_the_user_sees_the_plan_as_it_was_approved(local: Desk):
    from smolagents import PlanningStep

    seen: list[str] = []

    def look(step: Any, agent: Any) -> None:
        seen.append(step.plan)

    model = thinks("caller", [DRAFT])
    agent = Smol(
        "planner",
        lambda: caller(model, Note(DONE), planning_interval=9, step_callbacks={PlanningStep: look}),
        review=("plan",),
    )
    run = begun(local, agent, "What is new?")
    assert seen == []
    edited(local, run, {"steps": EDITED})
    assert len(seen) == 1
    assert "2. Check each source" in seen[0]
    assert "There is a task" in seen[0], "what it knew stays"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (DRAFT, ["Search for recent AI developments", DRAFT.splitlines()[6][3:]]),
        ("1) One\n2) Two", ["One", "Two"]),
        ("- One\n- Two", ["One", "Two"]),
        ("### 2. 1. One\n### 2. 2. Two", ["One", "Two"]),
        ("1. One\n   - a\n   - b\n2. Two", [{"title": "One", "detail": "- a\n- b"}, "Two"]),
        ("## 2. Plan\nJust do it.", ["Just do it."]),
        ("Just do it.", ["Just do it."]),
        ("", ["(an empty plan)"]),
        ("<end_plan>", ["(an empty plan)"]),
        ("## Facts\n1. A fact\n## Plan\n1. One", ["One"]),
    ],
)
def test_a_plan_as_models_write_it_is_read_as_steps(text: str, steps: list[Any]) -> None:
    assert split(text)[1] == steps


def test_a_plan_keeps_what_stands_before_its_steps_and_what_a_person_wrote_below_one() -> None:
    before, steps = split("## Facts\n- A\n## 2. Plan\nAs follows:\n1. One\n2. Two")
    assert steps == ["One", "Two"]
    again = joined(before, [{"title": "New", "detail": "with care\nand love"}, "Two"])
    assert again == (
        "## Facts\n- A\n## 2. Plan\nAs follows:\n1. New\n   with care\n   and love\n2. Two"
    )
