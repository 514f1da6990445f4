"""Who carries runs on: threads here, other processes, one at a time for each run."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk, Running
from sayso.errors import BadValue, Misuse
from sayso.runs.ambient import AMBIENT
from sayso.runs.workflow import find
from sayso.testing import FakeClock, ScriptedReviewer
from tests.crew import Crew
from tests.places import Place
from tests.runs import jobs
from tests.runs.people import RAN, answered, approved, ask_of, asked, begun, carried_on, pay
from tests.together import in_thread, until

LEASE = 1.5  # seconds: short enough to outlive, long enough for a busy machine


@pytest.fixture
def by_the_bell_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks of their own accord: what a worker hears of in time, a bell told it."""
    monkeypatch.setattr("sayso.runs.worker.LOOK_EVERY", 60.0)


@pytest.fixture
def staffed(place: Place) -> Iterator[Desk]:
    """A desk with two workers in the background, by the real time."""
    with Desk(place.url, agent="shop", account="sam@till", workers=2) as desk:
        yield desk


@pytest.mark.usefixtures("by_the_bell_alone")
def test_a_started_run_is_carried_on_in_the_background(staffed: Desk):
    @staffed.workflow
    def flow(run: Running) -> Any:
        return [run.step(threading.get_ident) != threading.main_thread().ident, run.question("?")]

    run = staffed.start(flow)
    until(lambda: run.status == "waiting")
    staffed.respond(ask_of(run), "this")

    assert run.result(timeout=30) == [True, "this"], "a decision in this process wakes at once"


@pytest.mark.usefixtures("by_the_bell_alone")
def test_workers_wake_for_a_decision_of_another_process(staffed: Desk, place: Place, crew: Crew):
    staffed.workflow(name="review")(jobs.review)
    run = staffed.start(jobs.review, 7)
    until(lambda: run.status == "waiting")
    crew.tell(0, jobs.answer, place.url, run.id, 40)
    assert run.result(timeout=30) == ["order 7 looked up", 40]


def test_closing_the_desk_ends_the_loop_and_the_threads(live: Desk):
    @live.workflow
    def flow(run: Running) -> Any: ...

    loop = in_thread(lambda: live.work(threads=2))
    run = live.start(flow)
    until(lambda: run.status == "done")
    live.close()

    loop.result(10)
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("sayso-worker")]


def test_only_one_run_may_be_carried_on(desk: Desk):
    @desk.workflow
    def flow(run: Running) -> Any:
        return "done"

    first, second = desk.start(flow), desk.start(flow)
    desk.work(until="idle", only=second.id)

    assert (first.status, second.status) == ("ready", "done")


def test_a_long_step_keeps_its_lease(place: Place):
    def long() -> None:
        lapses = place.one("select lease_until from runs")
        until(lambda: place.one("select lease_until from runs") > lapses + LEASE * 1_000_000)
        RAN.append("long")

    with (
        Desk(place.url, account="sam@till", lease=LEASE) as first,
        Desk(place.url, account="sam@till", lease=LEASE, workers=1) as second,
    ):

        def flow(run: Running) -> Any:
            run.step(long)
            return "done"

        for desk in (second, first):
            desk.workflow(name="flow")(flow)
        run = begun(first, flow)

        assert run.output == "done"
    assert RAN == ["long"]


def test_in_the_foreground_a_run_waits_for_whoever_decides(
    live: Desk, place: Place, capsys: pytest.CaptureFixture[str]
):
    @live.workflow
    def flow(run: Running) -> Any:
        return run.question("Which?")

    def decide() -> None:
        with Desk(place.url, account="sam@till") as elsewhere:
            until(lambda: elsewhere.inbox().count)
            elsewhere.respond(elsewhere.inbox().asks[0], "this")

    deciding = in_thread(decide)
    run = live.run(flow)
    deciding.result(20)

    assert run.output == "this"
    said = capsys.readouterr().err
    assert said.count(run.asks[0].id) in (0, 2), (
        "said once, with the command; unless it was decided"
    )


def ctrl_c() -> None:
    """Press it: the main thread is the one that hears it."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@pytest.mark.parametrize("awaits", [False, True], ids=["plain", "async"])
def test_a_step_interrupted_by_ctrl_c_is_run_again_by_whoever_goes_on(live: Desk, awaits: bool):
    def once() -> str:
        RAN.append("plain")
        if len(RAN) == 1:
            ctrl_c()
        return "came"

    async def once_async() -> str:
        RAN.append("async")
        if len(RAN) == 1:
            threading.Timer(0.1, ctrl_c).start()
            await asyncio.sleep(10)
        return "came"

    def plain(run: Running) -> Any:
        return run.step(once)

    async def awaited(run: Any) -> Any:
        return await run.step(once_async)

    with pytest.raises(KeyboardInterrupt):
        live.run(live.workflow(name="flow")(awaited if awaits else plain))
    (run,) = live.runs()
    assert run.status == "ready"
    carried_on(live, run)

    assert run.output == "came"
    assert len(RAN) == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_leaves_a_run_waiting_and_any_worker_goes_on(live: Desk, place: Place):
    """Python drops an interrupt that comes while it tidies up, so it is pressed again."""

    @live.workflow
    def flow(run: Running) -> Any:
        return run.question("Which?")

    left = threading.Event()

    def hear(*_: object) -> None:
        if not left.is_set():
            raise KeyboardInterrupt

    def press() -> None:
        with Desk(place.url, account="sam@till") as elsewhere:
            until(lambda: elsewhere.runs(status="waiting"))
        while not left.wait(1):
            ctrl_c()

    before = signal.signal(signal.SIGINT, hear)
    try:
        pressing = in_thread(press)
        with pytest.raises(KeyboardInterrupt):
            live.run(flow)
        left.set()
        pressing.result(10)
    finally:
        signal.signal(signal.SIGINT, before)
    (run,) = live.runs()
    assert run.status == "waiting"
    answered(live, run, "this")

    assert run.output == "this"


def test_a_vote_that_does_not_decide_yet_wakes_nobody(team: Desk):
    run = begun(team, lambda run: bool(run.confirm("Drop it?", needs=["1 senior", "1 security"])))
    team.approve(ask_of(run), by="anna")
    assert team.runs(status="waiting")
    team.approve(ask_of(run), by="sec")
    assert team.runs(status="ready")
    carried_on(team, run)

    assert run.output is True


def test_a_script_reviews_runs_in_tests(reviewer: ScriptedReviewer):
    desk = Desk()
    reviewer.approve("pay").respond("Which?", 7)

    @desk.workflow
    def plain(run: Running) -> Any:
        return [run.call(pay, amount=1), *run.gather(lambda: run.question("Which?", int))]

    @desk.workflow
    async def awaited(run: Any) -> Any:
        return [await run.call(pay, amount=2), await run.question("Which?", int)]

    assert desk.run(plain).output == ["paid 1", 7]
    assert desk.run(awaited).output == ["paid 2", 7]
    assert RAN == [1, 2]
    with pytest.raises(Misuse, match="no answer"):
        desk.run(desk.workflow(name="asks")(lambda run: run.question("Else?")))


async def test_async_runs_can_be_run_where_a_loop_is_running(sqlite: Place):
    with Desk(sqlite.url, account="sam@till") as desk:

        @desk.workflow
        async def flow(run: Any) -> Any:
            return await run.step(int, 7)

        assert begun(desk, flow).output == 7


def test_a_worker_serves_what_it_registered_and_signs_on(desk: Desk, place: Place):
    names: list[tuple[str, ...]] = []
    AMBIENT.clear()  # of agents that other test files make

    @desk.workflow(name="support")
    def flow(run: Running) -> Any:
        def see() -> None:
            names.extend(worker.serves for worker in desk.store.workers(desk.crew.lease))

        return run.step(see)

    desk.start(flow)
    desk.work(until="idle")

    assert names == [("support",)]
    assert place.count("workers") == 0, "it signs off when it ends"


@pytest.mark.parametrize(
    "given", [{"until": "tomorrow"}, {"threads": 0}, {"threads": 1.5}, {"threads": True}], ids=str
)
def test_work_that_makes_no_sense_is_refused(local: Desk, given: dict[str, Any]):
    with pytest.raises(BadValue, match=next(iter(given))):
        local.work(**given)


def test_code_that_cannot_be_imported_is_said_so():
    for path in ("no_such_module:flow", "tests.runs.jobs:look", "tests.runs.jobs:nothing"):
        with pytest.raises(Misuse, match=path.partition(":")[0]):
            find(path)


def test_a_run_stores_where_its_code_is_found(desk: Desk):
    desk.workflow(name="review")(jobs.review)
    run = begun(desk, jobs.review, 7)

    assert run.row.path == "tests.runs.jobs:review"
    assert find(run.row.path).fn is jobs.review


def test_a_short_tool_costs_nothing_when_the_desk_is_closed_and_used_again(desk: Desk):
    run = begun(desk, lambda run: [run.call(pay, amount=40), run.question("?")])
    desk.close()
    approved(desk, run)
    desk.close()
    answered(desk, run, "ok")

    assert run.output == ["paid 40", "ok"]
    effect = asked(run, "pay").effect
    assert effect is not None
    assert effect.attempt == 1


def test_idle_means_that_nobody_is_about_to_begin_either(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    """One thread has claimed the run and not begun; the others find nothing, and must not end it."""

    @desk.workflow
    def flow(run: Running) -> Any:
        return run.question("Which?")

    claim = desk.store.claim

    def slowly(*args: Any, **kwargs: Any) -> Any:
        row = claim(*args, **kwargs)
        time.sleep(0.2 if row else 0)
        return row

    monkeypatch.setattr(desk.store, "claim", slowly)
    runs = [desk.start(flow) for _ in range(3)]
    desk.work(until="idle", threads=4)

    assert [run.status for run in runs] == ["waiting"] * 3


# --- versions ---


def test_a_run_knows_the_version_it_began_with(desk: Desk) -> None:
    @desk.workflow(version="1")
    def flow(run: Running) -> Any:
        run.question("Well?")
        return run.version

    run = desk.run(flow, wait=False)
    desk.flows["flow"] = replace(desk.flows["flow"], version="2")  # a new program
    desk.respond(run.state.pending[0], "yes")
    desk.work(until="idle")

    assert run.result(1) == "1"
    assert run.row.code == "1", "ended, it goes on with nothing"


def test_without_a_word_the_version_is_that_of_the_module(desk: Desk) -> None:
    @desk.workflow
    def flow(run: Running) -> Any:
        return run.version

    said = desk.run(flow).result()

    digest = sha256(Path(__file__).read_bytes()).hexdigest()
    assert said == f"~{digest[:12]}"


@pytest.mark.parametrize("version", ["", "~1", "a|b", "a=b"])
def test_a_version_that_could_be_taken_for_another_is_refused(desk: Desk, version: str) -> None:
    with pytest.raises(BadValue, match="version="):

        @desk.workflow(version=version)
        def flow(run: Running) -> Any:
            return None


def test_how_long_a_run_is_ready_counts_from_the_decision_that_woke_it(
    desk: Desk, clock: FakeClock
) -> None:
    run = begun(
        desk, lambda run: run.gather(lambda: run.question("Which?"), lambda: run.question("And?"))
    )
    waiting = clock.now()
    clock.advance(60)
    run_row = desk.store.run(run.id)
    assert run_row is not None
    assert (run_row.status, run_row.changed_at) == ("waiting", waiting)

    decided = clock.now()
    desk.respond(ask_of(run, "Which?"), "this")
    clock.advance(60)
    desk.respond(ask_of(run, "And?"), "that")

    run_row = desk.store.run(run.id)
    assert run_row is not None
    assert (run_row.status, run_row.changed_at) == ("ready", decided)
