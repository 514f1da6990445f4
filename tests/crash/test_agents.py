"""kill -9 at any point of the plan journey: no reply is paid twice, no tool acts twice in silence.

Nine processes take part when nobody dies: one begins, and after every pause a person comes and
then a worker, each of them gone before the next one comes (see `tests.crash.visitors`).
Hypothesis chooses who of them dies, and where.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from sayso import (
    ActionStep,
    AnswerStep,
    DecisionStep,
    Desk,
    PlanStep,
    Run,
    TaskStep,
)
from tests.crash.shop import noted
from tests.crash.visitors import EDITED, GUIDANCE, Death, Door, House, open_door, plans
from tests.places import Place, place_at

VISITS = 9  # of a journey in which nobody dies: one begins, then by turns a person and a worker
FIRST_WORKER, LAST_WORKER = 2, 8  # the one with three plain calls, the one that publishes
DONE = [
    "search: Search for recent AI developments",
    "search: Search for peer-reviewed papers",
    "read: Analyze the top results",
    "read: Check each source",
    "publish: Summarize the 2 most significant breakthroughs",
]
THOUGHTS = ["plan", "act", "act", "act", "plan", "plan", "act", "act", "act"]
STEPS = [
    *(TaskStep, PlanStep, DecisionStep, ActionStep, ActionStep, ActionStep),
    *(PlanStep, DecisionStep, PlanStep, DecisionStep, ActionStep),
    *(DecisionStep, ActionStep, AnswerStep),
]
PERSON = 20  # points that a person comes by
WORKER = {"sqlite": 90, "postgres": 45}  # and the first worker


def deaths_on(dialect: str) -> st.SearchStrategy[dict[int, Death]]:
    """Say which of the visits end with a death, and where; some live on, who end before that."""
    points = st.one_of(st.integers(1, PERSON), st.integers(1, WORKER[dialect]))
    death = st.tuples(points, st.sampled_from(["before", "after"]))
    return st.dictionaries(st.integers(0, VISITS + 3), death, min_size=2, max_size=4)


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door() as door:
        yield door


def live_through(house: House, deaths: dict[int, Death]) -> int:
    """Let one after the other come by until the run is over; returns how many of them died."""
    died = 0
    for visit in count():
        assert visit < 4 * VISITS, f"it never came to an end: {house.run}"
        run = house.run
        if run is not None and run.status == "running":  # by somebody who is dead
            place_at(house.url).lapse(run.id)
        todo = house.next()
        if todo is None:
            return died
        died += house.visit(*todo, dies=deaths.get(visit)).killed
    raise AssertionError("unreachable: the visits are counted")


def check(house: House, died: int) -> None:
    """Check what must hold whoever died, and where."""
    run = house.run
    assert run is not None
    assert (run.status, run.output) == ("done", "Answer: 5 findings, 0 answers before")
    assert noted(house.folder, "done") == DONE, "every tool acted once, as the person planned it"
    recorded, asked = replies(run), noted(house.folder, "thoughts")
    assert recorded == THOUGHTS, "every reply is recorded once"
    assert len(asked) <= len(recorded) + died, "a recorded reply was asked for again"
    doubts = {ask.id for ask in run.asks if ask.kind == "doubt"}
    assert len(doubts) <= died
    steps = [step for step in run.memory if getattr(step, "ask", None) not in doubts]
    assert [type(step) for step in steps] == STEPS
    first, second, third = plans(run)
    assert first.args["steps"] == EDITED
    assert second.args["steps"] == EDITED[3:]
    assert third.args["steps"][0]["title"] == GUIDANCE
    told = Counter(noted(house.folder, "told"))
    assert len(told) == 2
    assert told.total() <= 2 + died, "nobody is told of a step again without a death"


def replies(run: Run) -> list[str]:
    """What the journal has of the model: plans and other replies, each at a place of its own."""
    said = [event.payload or {} for event in run.events if event.kind == "step.done"]
    model = [payload for payload in said if payload["verb"] == "model"]
    assert len({payload["key"] for payload in model}) == len(model)
    calls = [payload["result"].get("calls", [{}])[0] for payload in model]
    return ["plan" if call.get("tool") == "plan" else "act" for call in calls]


def housing(door: Door, desk: Desk, place: Place, folder: Path) -> Iterator[House]:
    """Yield a house for each journey."""
    for number in count():
        inner = folder / str(number)
        inner.mkdir()
        yield House(door, desk, place.url, inner, f"journey {number}")


def test_the_journey_without_a_death_takes_nine_processes(
    door: Door, live: Desk, place: Place, tmp_path: Path
) -> None:
    house = next(housing(door, live, place, tmp_path))

    assert live_through(house, {}) == 0

    check(house, 0)
    assert noted(house.folder, "thoughts") == THOUGHTS
    assert live.verify()


@pytest.mark.parametrize("where", ["thinking", "thought"])
@pytest.mark.parametrize("times", [1, 3])
def test_a_reply_that_was_not_recorded_is_asked_for_once_more_and_no_other(
    door: Door, live: Desk, place: Place, tmp_path: Path, where: str, times: int
) -> None:
    house = next(housing(door, live, place, tmp_path))

    assert live_through(house, {FIRST_WORKER: (times, where)}) == 1

    check(house, 1)
    again = THOUGHTS[times]
    expected = [*THOUGHTS[: times + 1], again, *THOUGHTS[times + 1 :]]
    assert noted(house.folder, "thoughts") == expected


@pytest.mark.parametrize("where", ["in the tool", "after the effect"])
@pytest.mark.parametrize("worker", [FIRST_WORKER, LAST_WORKER])
def test_a_death_in_a_tool_is_a_question_and_its_answer_decides(
    door: Door, live: Desk, place: Place, tmp_path: Path, where: str, worker: int
) -> None:
    house = next(housing(door, live, place, tmp_path))

    assert live_through(house, {worker: (1, where)}) == 1

    check(house, 1)
    assert house.run is not None
    (doubt,) = [ask for ask in house.run.asks if ask.kind == "doubt"]
    assert doubt.tool == ("search" if worker == FIRST_WORKER else "publish")
    assert "is dead" in doubt.content.sentence
    assert doubt.decision is not None
    assert doubt.decision.verdict == ("approve" if where == "in the tool" else "respond")
    assert noted(house.folder, "thoughts") == THOUGHTS


@pytest.mark.parametrize(
    "examples", [pytest.param(6, id="some"), pytest.param(300, id="many", marks=pytest.mark.soak)]
)
@pytest.mark.timeout(1800)
def test_whoever_dies_and_wherever_no_reply_is_paid_twice_and_no_tool_acts_twice(
    door: Door, live: Desk, place: Place, tmp_path: Path, examples: int
) -> None:
    houses = housing(door, live, place, tmp_path)
    died = Counter[bool]()

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
        phases=[Phase.generate, Phase.shrink],
    )
    @given(deaths=deaths_on(place.dialect))
    def journey(deaths: dict[int, Death]) -> None:
        house = next(houses)
        dead = live_through(house, deaths)
        note(f"{dead} of {len(deaths)} died in {house.folder.name}")
        died.update({True: dead, False: len(deaths) - dead})
        check(house, dead)

    journey()

    assert died[True] >= examples / 2, "the deaths do not hit"
    assert live.verify()
