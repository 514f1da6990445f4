"""Whenever people decide what a run asks, in whatever order: it ends, the same way, once.

Hypothesis says when each decision falls: while the run is running (from inside
one of its steps), when it is about to wait (its asks written or not yet), or
when nobody carries it on. The store and the workers are real.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sayso import Ask, Desk, Run
from sayso.runs.journal import Journal
from sayso.runs.running import Running
from tests.crash.shop import MOMENTS, note, noted, pay, payments, reached
from tests.places import Place
from tests.together import at_once

ASKS = ("a", "b", "c", "d", "e", "f")
WHEN = ("in a step", "in a branch", "in the tool", "about to wait", "written", "gone")
WORKERS = 2


def step(folder: str, number: int, name: str) -> str:
    note(folder, "steps", f"{number} {name}")
    reached("in a step")
    return name


def branch(folder: str, number: int) -> str:
    note(folder, "steps", f"{number} branch")
    reached("in a branch")
    return "branch"


# Runs whose function is being called just now, by whoever.
_inside: set[str] = set()
_guard = threading.Lock()


@contextmanager
def alone(run: Running) -> Iterator[None]:
    """Notice two who carry one run on at the same time."""
    with _guard:
        assert run.id not in _inside, "two carry it on at once"
        _inside.add(run.id)
    try:
        yield
    finally:
        with _guard:
            _inside.remove(run.id)


def survey(run: Running, folder: str, number: int) -> list[Any]:
    """Ask in every way there is, and use the answers late, early or never."""
    with alone(run):
        first = run.later.question("a")
        payment = run.later.call(pay, folder, number)
        done: list[Any] = [run.step(step, folder, number, "early")]

        def side() -> list[Any]:
            return [run.question("c"), run.step(branch, folder, number)]

        done += run.gather(side, lambda: run.question("d"))
        run.later.question("f")  # nobody wants to know
        done += [first.result(), payment.result(), bool(run.confirm("e"))]
        done += [run.step(step, folder, number, "late")]
        return done


async def survey_async(run: Any, folder: str, number: int) -> list[Any]:
    """Do the same as `survey`."""
    with alone(run):
        first = run.later.question("a")
        payment = run.later.call(pay, folder, number)
        done = [await run.step(step, folder, number, "early")]

        async def side() -> list[Any]:
            return [await run.question("c"), await run.step(branch, folder, number)]

        async def other() -> Any:
            return await run.question("d")

        done += await run.gather(side, other)
        run.later.question("f")
        done += [await first.result(), await payment.result(), bool(await run.confirm("e"))]
        done += [await run.step(step, folder, number, "late")]
        return done


def expected(number: int) -> list[Any]:
    return ["early", ["c!", "branch"], "d!", "a!", f"paid {number}", True, "late"]


@dataclass(frozen=True)
class Plan:
    """When each ask is decided, and in which order those of one moment are."""

    order: tuple[str, ...]
    when: dict[str, str]
    pulse: bool
    workers: int
    awaits: bool


PLANS = st.builds(
    Plan,
    order=st.permutations(ASKS).map(tuple),
    when=st.fixed_dictionaries({name: st.sampled_from(WHEN) for name in ASKS}),
    pulse=st.booleans(),
    workers=st.integers(1, WORKERS),
    awaits=st.booleans(),
)


class People:
    """Decide one run's asks when their moment has come."""

    def __init__(self, desk: Desk, run: Run, plan: Plan) -> None:
        self._desk, self._run, self._plan = desk, run, plan
        self._lock = threading.Lock()
        self.decided: list[str] = []

    def now_is(self, moment: str) -> None:
        """Decide whatever was planned for this moment and is there."""
        with self._lock:
            for name, ask in self._open():
                if self._plan.when[name] == moment:
                    self._decide(name, ask)

    def any_one(self) -> None:
        """Decide the next one, whatever was planned: its moment will not come any more."""
        (name, ask), *_ = self._open()
        self._decide(name, ask)

    def _open(self) -> list[tuple[str, Ask]]:
        asks = {"b" if ask.tool else ask.title: ask for ask in self._run.asks if ask.open}
        return [(name, asks[name]) for name in self._plan.order if name in asks]

    def _decide(self, name: str, ask: Ask) -> None:
        self.decided.append(name)
        if name in ("b", "e"):
            self._desk.approve(ask)
        else:
            self._desk.respond(ask, f"{name}!")


@contextmanager
def arranged(people: People, plan: Plan) -> Iterator[None]:
    """Let people decide at the moments that the code passes by."""
    leave, pulse = Journal.leave, Journal.flush_if_due
    left_times = count(1)

    def left(self: Journal, status: Any, **more: Any) -> bool:
        assert next(left_times) < 100, "it goes round and round"
        if status == "waiting":
            people.now_is("about to wait")
            if "written" in plan.when.values():
                self.flush()
                people.now_is("written")
        return leave(self, status, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "leave", left)
        patch.setattr(Journal, "flush_if_due", pulse if plan.pulse else _never)
        for moment in ("in a step", "in a branch", "in the tool"):
            patch.setitem(MOMENTS, moment, partial(people.now_is, moment))
        yield


def _never(_: Journal) -> None:
    """Write nothing before it is time to."""


def work(desks: Sequence[Desk], run: Run) -> None:
    """Let every worker do what there is to do, at the same time."""
    jobs: list[Callable[[], None]] = [
        partial(desk.work, until="idle", only=run.id) for desk in desks
    ]
    assert at_once(jobs) == [None] * len(jobs)


def carry_through(desks: Sequence[Desk], run: Run, people: People) -> None:
    """Work and decide in turns, until the run is over."""
    for _ in range(len(ASKS) + 1):
        work(desks, run)
        row = run.row
        if row.status == "done":
            return
        assert row.status == "waiting", (row, run.error)
        waits = [run_ask for run_ask in run.asks if run_ask.id in row.waits]
        assert waits, "it waits for nothing"
        assert all(ask.open for ask in waits), "it missed a decision, and nobody will wake it"
        people.any_one()
    raise AssertionError(f"everything is decided, and the run is {run.status}")


numbers = count(1)


def live_through(desks: Sequence[Desk], folder: Path, plan: Plan) -> None:
    """Carry one run through by a plan, and check what came of it."""
    number = next(numbers)
    run = desks[0].start(survey_async if plan.awaits else survey, str(folder), number)
    people = People(desks[0], run, plan)
    with arranged(people, plan):
        carry_through(desks[: plan.workers], run, people)

    assert run.output == expected(number)
    assert sorted(people.decided) == sorted(ASKS), "everything is asked once"
    assert len(run.asks) == len(ASKS)
    assert len(payments(folder, number)) == 1
    steps = [line for line in noted(folder, "steps") if line.startswith(f"{number} ")]
    assert sorted(steps) == [f"{number} branch", f"{number} early", f"{number} late"]


@pytest.mark.parametrize(
    "examples", [pytest.param(20, id="some"), pytest.param(400, id="many", marks=pytest.mark.soak)]
)
@pytest.mark.timeout(600)
def test_a_run_ends_the_same_way_whenever_its_asks_are_decided(
    place: Place, tmp_path: Path, examples: int
) -> None:
    desks = [Desk(place.url, agent="shop", account="sam@till") for _ in range(WORKERS)]
    for desk in desks:
        desk.workflow(survey)
        desk.workflow(survey_async)

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
        phases=[Phase.generate, Phase.shrink],
    )
    @given(plan=PLANS)
    def check(plan: Plan) -> None:
        live_through(desks, tmp_path, plan)

    try:
        check()
        assert desks[0].verify()
        assert not _inside
    finally:
        for desk in desks:
            desk.close()
