"""Steps of a plan as lines: what people read is what it is, and what they write is read back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.channels.replanning import changed
from sayso.channels.steps import Step, read_steps, seen_line, step_line
from sayso.errors import BadValue
from tests import hostile

TOOLS = ("web", "send_email")
MARKS = st.sampled_from(["[web]", "(needs approval)", "[send_email] (needs approval)", "1. ", '"'])
TITLES = st.text(min_size=1) | st.builds(str.__add__, st.text(), MARKS)
STEPS = TITLES | st.fixed_dictionaries(
    {"title": TITLES},
    optional={
        "tool": st.sampled_from(TOOLS) | st.none() | st.text(),
        "needs_approval": st.booleans(),
        "detail": st.text(),
        "owner": st.integers() | st.text(),
    },
)


def tools_in(steps: list[Step]) -> list[str]:
    named = [step.get("tool") for step in steps if isinstance(step, dict)]
    return [*TOOLS, *(tool for tool in named if tool)]


@given(st.lists(STEPS, max_size=6))
def test_the_lines_of_a_plan_read_back_as_the_same_plan(steps: list[Step]) -> None:
    lines = [f"{number}. {step_line(step)}" for number, step in enumerate(steps, start=1)]

    assert all(len(line.splitlines()) == 1 for line in lines)
    assert not hostile.raw_in("".join(lines))
    assert read_steps(lines, steps, tools_in(steps)) == steps


@given(STEPS)
def test_no_title_passes_for_a_mark(step: Step) -> None:
    line = seen_line(step)
    says = step if isinstance(step, dict) else {}

    bare = line if not line.startswith(('"', "{")) else ""
    assert len(line.splitlines()) == 1
    assert not hostile.raw_in(line)
    assert ("(needs approval)" in bare) <= (says.get("needs_approval") is True)
    assert ("[" in bare.replace("[U+", "")) <= bool(says.get("tool"))


@pytest.mark.parametrize(
    ("lines", "steps"),
    [
        (["Search"], ["Search"]),
        (["1. Search", "2) Write"], ["Search", "Write"]),
        (["Search [web]"], [{"title": "Search", "tool": "web"}]),
        (["Search(needs approval)"], [{"title": "Search", "needs_approval": True}]),
        (
            ["Search (Needs Approval) [web]"],
            [{"title": "Search", "tool": "web", "needs_approval": True}],
        ),
        (['"Search [web]"'], ["Search [web]"]),
        (["Read chapter [2]"], ["Read chapter [2]"]),
        (['{"title": "Search", "owner": 7}'], [{"title": "Search", "owner": 7}]),
        (["{not json"], ["{not json"]),
        (['"not json'], ['"not json']),
        (["", "  ", "# a word", "Search"], ["Search"]),
        (["1024. Search"], ["1024. Search"]),
    ],
)
def test_lines_that_people_write_are_read_as_they_mean_them(
    lines: list[str], steps: list[Any]
) -> None:
    assert read_steps(lines, (), TOOLS) == steps


def test_a_step_keeps_what_its_line_cannot_say_only_under_its_title() -> None:
    before: list[Step] = [
        {"title": "Search", "tool": "web", "detail": "the last week"},
        {"title": "Write", "detail": "a page"},
    ]

    assert read_steps(["Write [web]", "Search it"], before, TOOLS) == [
        {"title": "Write", "detail": "a page", "tool": "web"},
        "Search it",
    ]


@pytest.mark.parametrize("line", ["Search [wob]", "[web]", "[web] (needs approval)", '""'])
def test_a_line_that_is_no_step_is_refused(line: str) -> None:
    with pytest.raises(BadValue):
        read_steps([line], (), TOOLS)


def test_where_no_tools_are_known_brackets_are_part_of_the_title() -> None:
    assert read_steps(["Read [notes]"]) == ["Read [notes]"]


@pytest.mark.parametrize(
    ("typed", "steps"),
    [
        ("1 Look", [{"title": "Look", "tool": "web", "needs_approval": True}, "Write"]),
        ("1. Look", [{"title": "Look", "tool": "web", "needs_approval": True}, "Write"]),
        (
            "1 Look [send_email]",
            [{"title": "Look", "tool": "send_email", "needs_approval": True}, "Write"],
        ),
        ("t 1", [{"title": "Search", "needs_approval": True, "detail": "d"}, "Write"]),
        ("a 1", [{"title": "Search", "tool": "web", "detail": "d"}, "Write"]),
        ("t 2 web", [None, {"title": "Write", "tool": "web"}]),
        ("A 2", [None, {"title": "Write", "needs_approval": True}]),
        ("+Send", [None, "Write", "Send"]),
        ("d2", [None]),
        ("m 2 1", ["Write", None]),
        ("m 1 2", ["Write", None]),
    ],
)
def test_a_command_does_what_it_says_and_nothing_else(typed: str, steps: list[Any]) -> None:
    first: Step = {"title": "Search", "tool": "web", "needs_approval": True, "detail": "d"}
    plan: list[Step] = [first, "Write"]

    wanted = [first if step is None else step for step in steps]
    assert changed(plan, typed, TOOLS) == wanted
    assert plan == [first, "Write"]
