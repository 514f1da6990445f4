"""kill -9 at any point while calls wait in the queue, decided in any order: each happens once.

Hypothesis chooses who comes by (a worker, or a person who decides one of the errands that wait),
what the person says to which of them, who of all these dies, and where.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from sayso import Desk
from tests.crash.shop import noted
from tests.crash.visitors import Death, Door, House, open_door
from tests.places import Place, place_at

VERDICTS = ("approve", "approve", "edit", "reject", "respond")
Word = tuple[
    bool, int, str
]  # whether the person comes before the worker, to which ask, the verdict
WORDS = st.tuples(st.booleans(), st.integers(0, 2), st.sampled_from(VERDICTS))
PERSON = 10  # points that a person comes by
WORKER = {"sqlite": 60, "postgres": 30}  # and a worker


def deaths_on(dialect: str) -> st.SearchStrategy[dict[int, Death]]:
    """Say which of the visits end with a death, and where."""
    points = st.one_of(st.integers(1, PERSON), st.integers(1, WORKER[dialect]))
    death = st.tuples(points, st.sampled_from(["before", "after"]))
    return st.dictionaries(st.integers(0, 7), death, min_size=2, max_size=5)


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door() as door:
        yield door


def live_through(house: House, words: list[Word], deaths: dict[int, Death]) -> int:
    """Let one after the other come by until the run is over; returns how many of them died."""
    died, said = 0, 0
    for visit in count():
        assert visit < 60, f"it never came to an end: {house.run}"
        run = house.run
        if run is None:
            died += house.visit(
                "begin", house.thread, {"agent": "errands"}, dies=deaths.get(visit)
            ).killed
            continue
        if run.status in ("done", "failed", "cancelled", "parked"):
            return died
        first, which, verdict = words[said % len(words)]
        if run.state.pending and (run.status == "waiting" or first):
            said += 1
            todo: tuple[object, ...] = ("settle", run.id, which, verdict)
        else:
            if run.status == "running":  # by somebody who is dead
                place_at(house.url).lapse(run.id)
            said += 1  # the next person may come first again
            todo = ("go on", run.id)
        died += house.visit(str(todo[0]), *todo[1:], dies=deaths.get(visit)).killed
    raise AssertionError("unreachable: the visits are counted")


def check(house: House, died: int) -> None:
    """Check what must hold whoever died, and in whatever order people decided."""
    run = house.run
    assert run is not None
    assert run.status == "done", run.error
    asks = [ask for ask in run.asks if ask.kind != "doubt"]
    bought = [str(ask.args["subject"]) for ask in asks if ask.decision]
    assert {str((ask.original or ask.args)["subject"]) for ask in asks} == {
        *("milk", "bread", "stamps")
    }
    tidied = ["kitchen", "hall", *(f"the {subject}" for subject in bought)]
    expected = [f"buy: {subject}" for subject in bought] + [f"tidy: {what}" for what in tidied]
    assert sorted(noted(house.folder, "done")) == sorted(expected), "each errand was run once"
    answer = str(run.output).removeprefix("Answer: ").split(", ")
    assert sorted(answer) == sorted([*bought, *["nothing"] * (3 - len(bought))])
    replies = [e for e in run.events if (e.payload or {}).get("verb") == "model"]
    assert len({(event.payload or {})["key"] for event in replies}) == len(replies)
    thoughts = noted(house.folder, "thoughts")
    assert len(thoughts) <= len(replies) + died, "a recorded reply was asked for again"
    assert len([ask for ask in run.asks if ask.kind == "doubt"]) <= died
    told = [place for e in run.events for place in _told(e.payload or {})]
    assert sorted(told) == sorted((ask.key or "").partition(":")[2] for ask in asks), "told once"
    assert noted(house.folder, "complaints") == [], "every replay showed the model the same"


def _told(said: dict[str, object]) -> list[str]:
    places = said.get("result") if said.get("verb") == "news" else ()
    return list(places) if isinstance(places, list) else []


def housing(door: Door, desk: Desk, place: Place, folder: Path) -> Iterator[House]:
    """Yield a house for each journey."""
    for number in count():
        inner = folder / str(number)
        inner.mkdir()
        yield House(door, desk, place.url, inner, f"errands {number}")


@pytest.mark.parametrize("where", ["in the tool", "after the effect"])
@pytest.mark.parametrize("times", [1, 2])
def test_a_death_in_a_queued_call_is_a_question_and_the_agent_goes_on_meanwhile(
    door: Door, live: Desk, place: Place, tmp_path: Path, where: str, times: int
) -> None:
    house = next(housing(door, live, place, tmp_path))
    house.visit("begin", house.thread, {"agent": "errands"})
    run = house.run
    assert run is not None
    for _ in range(3):
        house.visit("settle", run.id, 0, "approve")
    house.visit("go on", run.id, dies=(times, where))
    place.lapse(run.id)

    house.visit("go on", run.id)

    doubts = [ask for ask in run.asks if ask.kind == "doubt"]
    assert [ask.tool for ask in doubts] == ["buy"]
    assert run.status == "waiting"
    assert len([line for line in noted(tmp_path / "0", "done") if "tidy: the " in line]) == 2
    assert live_through(house, [(True, 0, "approve")], {}) == 0
    check(house, 1)
    assert live.verify()


@pytest.mark.parametrize(
    "examples", [pytest.param(6, id="some"), pytest.param(300, id="many", marks=pytest.mark.soak)]
)
@pytest.mark.timeout(1800)
def test_whoever_dies_and_in_whatever_order_people_decide_each_errand_is_run_once(
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
    @given(words=st.lists(WORDS, min_size=3, max_size=6), deaths=deaths_on(place.dialect))
    def journey(words: list[Word], deaths: dict[int, Death]) -> None:
        house = next(houses)
        dead = live_through(house, words, deaths)
        note(f"{dead} of {len(deaths)} died in {house.folder.name}")
        died.update({True: dead})
        check(house, dead)

    journey()

    assert died[True] >= examples / 2, "the deaths do not hit"
    assert live.verify()
