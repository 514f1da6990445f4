"""What brings workers to runs may be anything: the same promises hold on every way there is."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sayso import AskClosed, Desk
from sayso.runs.running import Running
from sayso.store.bell import Bell
from tests.forked import Forked
from tests.places import Place
from tests.runs.floor import LOOK_EVERY, book
from tests.runs.people import ask_of
from tests.runs.ways import Way, Worker, at_work
from tests.together import at_once, until

LONG = 60.0


@pytest.fixture(params=["threads on sqlite", "threads on postgres", "procrastinate"])
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Way:
    """Each of the ways."""
    names = {"threads on sqlite": "sqlite", "threads on postgres": "postgres"}
    place: Place = request.getfixturevalue(names.get(request.param, "engined"))
    return Way("procrastinate" if request.param == "procrastinate" else "threads", place, tmp_path)


@pytest.fixture
def worker(way: Way) -> Iterator[Worker]:
    """Start workers; whatever still runs at the end is killed."""
    started: list[Forked] = []

    def start(*args: str, **more: str) -> Forked:
        started.append(way.worker(*args, **more))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def desk(way: Way) -> Iterator[Desk]:
    with way.desk() as desk:
        yield desk


def waiting(run: Any) -> bool:
    return bool(run.status == "waiting")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_stops_lets_go_and_others_go_on(
    way: Way, desk: Desk, worker: Worker, number: signal.Signals
) -> None:
    first = worker()
    runs = [desk.start(desk.flows["slow"].fn, 40) for _ in range(2)]
    until(lambda: book(way.folder).count("step 3") == 2, within=LONG)

    first.send_signal(number)
    assert first.wait() == 0
    left = [run.status for run in runs]
    (way.folder / "hurry").touch()
    worker()

    assert left == ["ready", "ready"]
    assert [run.result(LONG) for run in runs] == ["walked", "walked"]
    assert set(Counter(book(way.folder)).values()) == {2}, "no step ran again"


def test_a_dispatcher_can_be_started_again_after_it_stopped(way: Way, desk: Desk) -> None:
    with at_work(way, desk):
        assert desk.start(desk.flows["note"].fn, "one").result(LONG) == "one"
    left = desk.start(desk.flows["note"].fn, "two")
    assert desk.store.workers(desk.crew.lease) == []

    with at_work(way, desk):
        assert left.result(LONG) == "two"


def test_a_run_of_an_unknown_workflow_is_left_alone(way: Way, desk: Desk, worker: Worker) -> None:
    with way.desk("elsewhere") as other:
        stranger = other.start(other.flows["elsewhere"].fn)
    worker()

    assert desk.start(desk.flows["note"].fn, "hello").result(LONG) == "hello"
    row = stranger.row
    assert (row.status, row.attempt) == ("ready", 0)

    worker(program="newer", more="elsewhere")
    until(lambda: desk.get_run(stranger.id).status == "done", within=LONG)


def test_a_worker_serves_only_the_queues_it_was_told_to(
    way: Way, desk: Desk, worker: Worker
) -> None:
    slow = desk.start(desk.flows["slow"].fn, 1)
    notes = [desk.start(desk.flows["note"].fn, "hello") for _ in range(3)]
    process = worker("--queues", "note, settle")

    assert [run.result(LONG) for run in notes] == ["hello"] * 3
    assert (slow.status, slow.row.attempt) == ("ready", 0)
    (one,) = desk.store.workers(desk.crew.lease)
    assert sorted(one.serves) == ["note", "settle"]

    process.terminate()
    assert process.wait() == 0
    worker("--queues", "slow")
    assert slow.result(LONG) == "walked"


def test_wake_ups_that_all_get_lost_cost_time_and_nothing_else(
    way: Way, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way.engine == "threads":
        monkeypatch.setattr(Bell, "listening", lambda *_: nullcontext())
    else:
        _drop_every_job(way.place)
    try:
        with at_work(way, desk):
            runs = [desk.start(desk.flows["settle"].fn, number) for number in range(6)]
            for run in runs:
                until(partial(waiting, run), within=LONG)
                desk.approve(ask_of(run))
            # Who waits for a result hears no bell, either, and would look every few seconds.
            until(lambda: all(run.status == "done" for run in runs), within=LONG)
            assert [run.output for run in runs] == [f"paid {n}" for n in range(6)]
    finally:
        if way.engine == "procrastinate":
            delays = [_delay(desk, run) for run in runs]
            assert min(delays) >= 2 * LOOK_EVERY, "found by looking, and only later"
            assert way.place.one("select count(*) from sayso_engine.procrastinate_jobs") == 0
            way.place.sql("drop function sayso_engine.swallow cascade")
    assert sorted(book(way.folder)) == [f"paid {number}" for number in range(6)]


def _delay(desk: Desk, run: Any) -> float:
    """Return how many seconds passed from the decision until somebody acted on it."""
    at = {event.kind: event.at for event in desk.history(run.asks[0].id)}
    return float((at["effect.intended"] - at["ask.decided"]).total_seconds())


def _drop_every_job(place: Place) -> None:
    place.sql(
        "create function sayso_engine.swallow() returns trigger language plpgsql as "
        "$$ begin return null; end $$"
    )
    place.sql(
        "create trigger swallow before insert on sayso_engine.procrastinate_jobs "
        "for each row execute function sayso_engine.swallow()"
    )


def test_a_worker_carries_on_as_many_runs_at_once_as_it_has_threads(
    way: Way, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, most, lock, go = [0], [0], threading.Lock(), threading.Event()

    def hold() -> None:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        go.wait(LONG)
        with lock:
            busy[0] -= 1

    @desk.workflow
    def crowded(run: Running) -> None:
        run.step(hold)

    runs = [desk.start(crowded) for _ in range(4)]
    way.place.sql("update runs set changed_at = changed_at - 60000000")  # whoever looks finds them
    looked, look = [0], desk.crew.patrol

    def patrol(*given: Any) -> list[str]:
        looked[0] += 1
        return look(*given)

    monkeypatch.setattr(desk.crew, "patrol", patrol)
    with at_work(way, desk, threads=3):
        runs += [desk.start(crowded) for _ in range(4)]
        until(lambda: most[0] == 3, within=LONG)
        if way.engine == "procrastinate":  # a thread that is busy does not look; somebody else does
            seen = looked[0]
            until(lambda: looked[0] >= seen + 5, within=LONG)
        assert most[0] == 3
        go.set()
        for run in runs:
            run.result(LONG)
    assert most[0] == 3


def test_many_runs_at_once_end_once_each_and_the_journal_verifies(
    way: Way, desk: Desk, worker: Worker
) -> None:
    worker()
    worker("--threads", "8")
    runs = [desk.start(desk.flows["settle"].fn, number) for number in range(20)]
    for run in runs:
        until(partial(waiting, run), within=LONG)
        ask = ask_of(run)
        came = at_once([partial(desk.approve, ask)] * 2)
        assert sum(isinstance(one, AskClosed) for one in came) == 1, came

    assert [run.result(LONG) for run in runs] == [f"paid {number}" for number in range(20)]
    assert sorted(book(way.folder)) == sorted(f"paid {number}" for number in range(20))
    assert desk.verify()
