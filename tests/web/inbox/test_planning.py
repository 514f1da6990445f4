"""The editor of a plan without a script: every button is a form post that keeps what was typed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso import Desk
from sayso.errors import BadValue, InvalidEdit
from sayso.model.ask import Ask
from sayso.web.inbox.planning import changed, edited, editor_of, typed_in

STEPS: list[Any] = [
    {"title": "Look it up", "tool": "search", "detail": "in the shop"},
    {"title": "Write to them", "needs_approval": True},
    "Go home",
]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    with Desk(f"sqlite:///{tmp_path_factory.mktemp('plan')}/desk.db") as desk:
        return desk.put(desk.forms.plan(STEPS).content)


def _fields(ask: Ask) -> dict[str, list[str]]:
    steps = editor_of(ask).steps
    return {
        "step": [step.title for step in steps],
        "was": [str(step.was) for step in steps],
    }


def test_what_nobody_touched_is_no_edit(plan: Ask) -> None:
    assert edited(plan, {}) is None
    assert edited(plan, _fields(plan)) is None


def test_a_reworded_step_keeps_whatever_else_it_says(plan: Ask) -> None:
    fields = _fields(plan)
    fields["step"][0] = "Look it up twice"

    assert edited(plan, fields) == [{**STEPS[0], "title": "Look it up twice"}, *STEPS[1:]]


def test_steps_are_moved_dropped_put_back_and_added(plan: Ask) -> None:
    moved = changed(plan, _fields(plan), "up:2")
    assert edited(plan, moved) == [STEPS[0], STEPS[2], STEPS[1]]
    assert [step.moved for step in editor_of(plan, moved).steps].count(True) == 1

    dropped = changed(plan, moved, "drop:0")
    assert edited(plan, dropped) == [STEPS[2], STEPS[1]]
    assert [step.was for step in editor_of(plan, dropped).dropped] == [0]

    back = changed(plan, changed(plan, dropped, "put-back:0"), "down:1")
    assert edited(plan, back) is None

    added = dict(changed(plan, _fields(plan), "add"))
    assert edited(plan, added) is None, "an empty new step is no step"
    added["step"] = [*added["step"][:-1], "Sleep"]
    assert edited(plan, added) == [*STEPS, "Sleep"]


@pytest.mark.parametrize(
    "do", ["up:9", "put-back:9", "sideways:1", "up:-1", "up", "", "drop:99999"]
)
def test_what_cannot_be_done_is_said(plan: Ask, do: str) -> None:
    with pytest.raises(BadValue, match="step"):
        changed(plan, _fields(plan), do)


def test_a_step_without_a_title_is_named(plan: Ask) -> None:
    fields = _fields(plan)
    fields["step"][1] = "  "

    with pytest.raises(InvalidEdit, match="title") as caught:
        edited(plan, fields)

    assert list(caught.value.fields) == ["/steps/1"]


@pytest.mark.parametrize("was", ["9" * 5000, "²", "٣", "-1", "1e0", " 1"])
def test_a_place_that_is_none_makes_a_new_step(plan: Ask, was: str) -> None:
    assert [one.was for one in typed_in({"step": ["a"], "was": [was]}, 3)] == [None]


@given(
    texts=st.lists(st.text(max_size=20), max_size=6),
    places=st.lists(st.text(max_size=4) | st.integers(-2, 9).map(str), max_size=6),
)
def test_no_form_makes_a_step_of_what_was_not_proposed_twice(
    plan: Ask, texts: list[str], places: list[str]
) -> None:
    drawn = editor_of(plan, {"step": texts, "was": places})

    kept = [step.was for step in (*drawn.steps, *drawn.dropped) if step.was is not None]
    assert sorted(kept) == [0, 1, 2], "each proposed step is in the plan, or dropped, once"
    assert [step.title for step in drawn.steps] == texts
