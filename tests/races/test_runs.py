"""Whoever wants to carry a run on at the same moment: one does, and its action happens once."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk
from sayso.errors import AskClosed, ThreadBusy
from sayso.runs.running import Running
from tests.crash.shop import noted, order, pack, payments, shop
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
