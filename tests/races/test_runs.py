"""Whoever wants to carry a run on at the same moment: one does, and its action happens once."""

from __future__ import annotations

import os
import platform
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sayso import Ask, Desk, Run
from sayso.errors import AskClosed, ThreadBusy
from sayso.runs.running import Running
from tests.crash.runs_mortal import Act, Nursery, nursing
from tests.crash.shop import TOOLS, noted, order, pack, payments, shop
from tests.crew import Crew, Span, overlap
from tests.places import Place
from tests.together import at_once, until

TRIALS = pytest.mark.parametrize(
    "trials", [pytest.param(10, id="some"), pytest.param(120, id="many", marks=pytest.mark.soak)]
)


def chat(run: Running, folder: str, number: int) -> str:
    """Do something once, and wait."""
    run.step(pack, folder, number)
    return str(run.question("And now?"))


def twice(run: Running, folder: str, number: int) -> list[str]:
    """Ask two people at once, and do something before either answer is needed."""
    first, second = run.later.question("First?"), run.later.question("Second?")
    run.step(pack, folder, number)
    return [str(first.result()), str(second.result())]


def opening(run: Running, folder: str, number: int) -> list[Any]:
    """Open one ask after the other."""
    laters = [run.later.question(f"{n}?") for n in range(20)]
    return [later.result() for later in laters]


_desks: dict[str, Desk] = {}


def desk_of_racer(url: str) -> Desk:
    """Return this process's own desk on a database, with the code of everything here."""
    if url not in _desks:
        for desk in _desks.values():
            desk.close()
        _desks.clear()
        _desks[url] = served(Desk(url, agent="shop", account="sam@till"))
    return _desks[url]


def served(desk: Desk) -> Desk:
    for workflow in (chat, twice, opening):
        desk.workflow(workflow)
    return shop(desk)


@pytest.fixture
def desk(place: Place) -> Iterator[Desk]:
    with Desk(place.url, agent="shop", account="sam@till") as desk:
        yield served(desk)


@dataclass(frozen=True)
class Said:
    """What a racer did, and when."""

    status: str
    span: Span
    what: Any = None


def resume(url: str, run_id: str) -> Said:
    """In a process: carry the run on, if it can be had."""
    desk = desk_of_racer(url)
    begun = time.monotonic()
    run = desk.resume(run_id, wait=False)
    return Said(run.status, (begun, time.monotonic()))


@TRIALS
@pytest.mark.parametrize("kind", ["plain", "idempotent"])
def test_two_processes_resume_one_run_and_its_action_happens_once(
    desk: Desk, place: Place, crew: Crew, tmp_path: Path, kind: str, trials: int
) -> None:
    collisions = 0
    for number in range(trials):
        run = desk.start(order, str(tmp_path), number, kind)
        desk.work(until="idle", only=run.id)
        desk.approve(run.asks[0])

        said = crew.together(resume, place.url, run.id, members=2)

        assert run.result(timeout=60) == ["pack", f"paid {number}", "ship"]
        assert len(payments(tmp_path, number)) == 1
        collisions += overlap([one.span for one in said])
    assert noted(tmp_path, "steps").count("0 ship") == 1
    assert len(noted(tmp_path, "steps")) == 2 * trials
    assert desk.verify()
    assert collisions, "the racers never met: this proves nothing"


def decide_and_resume(url: str, run_id: str, ask_id: str) -> Said:
    """In a process: approve it, or hear that somebody did, and carry it on."""
    desk = desk_of_racer(url)
    begun = time.monotonic()
    try:
        ask = desk.get(ask_id)
        desk.decide(ask, "approve", note=str(os.getpid()))
        winner = str(os.getpid())
    except AskClosed as closed:
        winner = closed.decision.note or "" if closed.decision else ""
    run = desk.resume(run_id, wait=False)
    return Said(run.status, (begun, time.monotonic()), (str(os.getpid()), winner))


@TRIALS
def test_two_processes_decide_and_resume_one_run_at_once(
    desk: Desk, place: Place, crew: Crew, tmp_path: Path, trials: int
) -> None:
    for number in range(trials):
        run = desk.start(order, str(tmp_path), number, "plain")
        desk.work(until="idle", only=run.id)

        said = crew.together(decide_and_resume, place.url, run.id, run.asks[0].id, members=2)

        pids, winners = zip(*(one.what for one in said), strict=True)
        assert len(set(winners)) == 1, "one decided, and the other was told who"
        assert winners[0] in pids
        assert run.result(timeout=60) == ["pack", f"paid {number}", "ship"]
        assert len(payments(tmp_path, number)) == 1
    assert len(noted(tmp_path, "steps")) == 2 * trials
    assert desk.verify()


def carry_on(url: str, run_id: str) -> Said:
    """In a process: carry it on as often as there is something to do, until it is over."""
    desk = desk_of_racer(url)
    begun = time.monotonic()
    run = desk.get_run(run_id)
    while run.status != "done" and time.monotonic() < begun + 60:
        desk.work(until="idle", only=run_id)
    return Said(run.status, (begun, time.monotonic()))


def answer_all(url: str, run_id: str, wanted: int, backwards: bool) -> Said:
    """In a process: answer whatever the run asks, as soon as it is there."""
    desk = desk_of_racer(url)
    begun = time.monotonic()
    answered = 0
    while answered < wanted:
        asks = [ask for ask in desk.get_run(run_id).asks if ask.open]
        for ask in reversed(asks) if backwards else asks:
            desk.respond(ask, "yes")
            answered += 1
    return Said("", (begun, time.monotonic()))


@TRIALS
def test_a_decision_that_meets_the_pause_is_never_lost(
    desk: Desk, place: Place, crew: Crew, tmp_path: Path, trials: int
) -> None:
    """One process carries the run on, another decides while it runs, pauses, or is gone."""
    for number in range(2 * trials):
        run = desk.start(twice, str(tmp_path), number)

        worker = crew.start(0, carry_on, place.url, run.id)
        decider = crew.start(1, answer_all, place.url, run.id, 2, bool(number % 2))
        decider()
        worker()

        assert run.result(timeout=0) == ["yes", "yes"]
        assert noted(tmp_path, "steps").count(f"{number} pack") == 1
    assert desk.verify()


def test_eight_threads_claim_one_run_once(desk: Desk, tmp_path: Path) -> None:
    for number in range(12):
        run = desk.start(chat, str(tmp_path), number)

        taken = at_once([partial(desk.crew.take, run.id)] * 8)

        assert [one for one in taken if one is not None] == ["running"], taken
        assert noted(tmp_path, "steps").count(f"{number} pack") == 1
        desk.respond(run.asks[0], "stop")
        taken = at_once([partial(desk.crew.take, run.id)] * 8)
        assert run.result(timeout=60) == "stop"


def run_here(url: str, folder: str, number: int) -> Said:
    """In a process: start a run of a thread and carry it on."""
    desk = desk_of_racer(url)
    begun = time.monotonic()
    try:
        run = desk.run(chat, folder, number, thread=f"t{number}", wait=False)
    except ThreadBusy:
        return Said("busy", (begun, time.monotonic()))
    return Said(run.status, (begun, time.monotonic()))


@TRIALS
def test_of_two_runs_of_a_thread_started_at_once_one_is_refused_and_does_nothing(
    desk: Desk, place: Place, crew: Crew, tmp_path: Path, trials: int
) -> None:
    for number in range(trials):
        said = crew.together(run_here, place.url, str(tmp_path), number, members=2)

        assert sorted(one.status for one in said) == ["busy", "waiting"]
        assert noted(tmp_path, "steps").count(f"{number} pack") == 1
        assert len(desk.runs(thread=f"t{number}")) == 1
    assert desk.verify()


def cancel(url: str, run_id: str, after: float) -> Said:
    """In a process: cancel the run, a moment after it began."""
    desk = desk_of_racer(url)
    begun = time.monotonic()
    until(lambda: len(desk.get_run(run_id).asks) >= 3)
    time.sleep(after)
    status = desk.cancel(run_id).status
    return Said(status, (begun, time.monotonic()))


def test_a_run_cancelled_while_it_opens_asks_leaves_none_open(
    desk: Desk, place: Place, crew: Crew, tmp_path: Path
) -> None:
    for number in range(10):
        run = desk.start(opening, str(tmp_path), number)

        canceller = crew.start(1, cancel, place.url, run.id, number * 0.001)
        worker = crew.start(0, resume, place.url, run.id)
        canceller()
        worker()

        assert run.status == "cancelled"
        assert {ask.status for ask in run.asks} == {"withdrawn"}
    assert len(desk.inbox()) == 0
    assert desk.verify()


# --- a fleet ---


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    with nursing() as nursery:
        yield nursery
        nursery.clear()


class Reviewer:
    """Answers everything that waits, each decision sent twice; truthful about doubts."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self._desk = desk
        self._folder = folder
        self.doubts: set[str] = set()
        self.refused = 0

    def look(self) -> bool:
        """Answer what waits; returns True, to be used in a condition."""
        for ask in self._desk.inbox(limit=500):
            if ask.kind == "doubt":
                self._answer(ask)
            else:
                self._twice(partial(self._desk.approve, ask))
        return True

    def _answer(self, doubt: Ask) -> None:
        if "is dead" not in doubt.content.sentence and not doubt.evidence:
            return  # it may still be at it; whoever says "run it again" now takes the risk
        self.doubts.add(doubt.id)
        number = doubt.args["number"]
        if payments(self._folder, number):
            self._twice(partial(self._desk.respond, doubt, f"paid {number}"))
        else:
            self._twice(partial(self._desk.approve, doubt))

    def _twice(self, decide: Callable[[], object]) -> None:
        decide()
        with pytest.raises(AskClosed):
            decide()
        self.refused += 1


@pytest.mark.parametrize(
    ("size", "kills"),
    [pytest.param(40, 4, id="some"), pytest.param(150, 8, id="many", marks=pytest.mark.soak)],
)
def test_a_fleet_of_workers_carries_all_runs_through_whoever_dies(
    desk: Desk, place: Place, nursery: Nursery, tmp_path: Path, size: int, kills: int
) -> None:
    kinds = list(TOOLS)
    runs = {n: desk.start(order, str(tmp_path), n, kinds[n % 3]) for n in range(size)}
    # Slow enough that a kill meets somebody in the middle of something.
    slow: dict[str, Act] = {
        "in the tool": "linger",
        "after the effect": "linger",
        "in ship": "linger",
    }
    # Long enough that nobody who lives is given up, however busy the machine is.
    hire = partial(nursery.start, place.url, tmp_path, slow, lease=30, until=None, threads=2)
    workers = [hire(), hire()]
    reviewer = Reviewer(desk, tmp_path)

    for kill in range(kills):
        goal = len(noted(tmp_path, "paid")) + size // (kills + 2)
        until(lambda: reviewer.look() and len(noted(tmp_path, "paid")) >= goal)  # noqa: B023
        dead = workers[kill % 2]
        dead.signal(signal.SIGKILL)
        assert dead.wait() == signal.SIGKILL
        name = f"{platform.node()}:{dead.pid}"
        for (run_id,) in place.sql("select id from runs where worker = ?", name):
            place.lapse(run_id)
        workers[kill % 2] = hire()
    until(lambda: reviewer.look() and not unfinished(desk), within=60)
    for worker in workers:
        worker.signal(signal.SIGTERM)
        assert worker.wait() == 0

    for number, run in runs.items():
        assert run.result(timeout=0) == ["pack", f"paid {number}", "ship"]
        paid = payments(tmp_path, number)
        assert len(set(paid)) == 1
        assert len(paid) == 1 or kinds[number % 3] == "idempotent", number
        assert [ask.kind for ask in run.asks if ask.kind != "doubt"] == ["action"]
    assert reviewer.refused >= size
    begun = len(noted(tmp_path, "paid")) + len(noted(tmp_path, "steps"))
    assert begun + len(reviewer.doubts) > 3 * size, "no kill met anybody at work: no proof"
    assert desk.verify()


def unfinished(desk: Desk) -> list[Run]:
    return [run for state in ("ready", "running", "waiting") for run in desk.runs(status=state)]
