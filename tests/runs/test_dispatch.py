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


# --- waking ---


def test_a_started_run_is_carried_on(way: Way, desk: Desk) -> None:
    flows = desk.flows
    with at_work(way, desk):
        run = desk.start(flows["note"].fn, "hello")

        assert run.result(LONG) == "hello"


def test_what_was_ready_before_anybody_worked_is_carried_on(way: Way, desk: Desk) -> None:
    runs = [desk.start(desk.flows["note"].fn, f"{number}") for number in range(5)]
    with at_work(way, desk):
        assert [run.result(LONG) for run in runs] == ["0", "1", "2", "3", "4"]


def test_a_decision_in_another_process_wakes_its_run(desk: Desk, worker: Worker) -> None:
    worker()
    run = desk.start(desk.flows["settle"].fn, 7)
    until(lambda: run.status == "waiting", within=LONG)

    desk.approve(ask_of(run))

    assert run.result(LONG) == "paid 7"


def test_a_decision_taken_twice_wakes_once_and_its_effect_happens_once(
    way: Way, desk: Desk, worker: Worker
) -> None:
    worker()
    worker()
    run = desk.start(desk.flows["settle"].fn, 7)
    until(lambda: run.status == "waiting", within=LONG)
    ask = ask_of(run)

    came = at_once([lambda: desk.approve(ask)] * 2)

    assert sum(isinstance(one, AskClosed) for one in came) == 1, came
    assert run.result(LONG) == "paid 7"
    assert book(way.folder) == ["paid 7"]


# --- workers that go ---


def test_another_worker_goes_on_after_one_was_killed(way: Way, desk: Desk, worker: Worker) -> None:
    first = worker()
    run = desk.start(desk.flows["mortal"].fn)
    assert first.wait() == -signal.SIGKILL
    way.place.lapse(run.id)

    worker()

    assert run.result(LONG) == "after"
    assert book(way.folder) == ["before", "died", "after"]


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


def test_a_worker_waits_for_the_step_at_hand_when_it_stops(
    way: Way, desk: Desk, worker: Worker
) -> None:
    first = worker()
    run = desk.start(desk.flows["held"].fn)
    until(lambda: book(way.folder) == ["held"], within=LONG)

    first.terminate()
    assert first.stderr is not None
    while "Ending" not in first.stderr.readline():
        pass
    assert first.poll() is None
    (way.folder / "go on").touch()

    assert first.wait() == 0
    assert run.status in ("ready", "done")
    worker()
    run.result(LONG)
    assert book(way.folder) == ["held"]


def test_a_dispatcher_can_be_started_again_after_it_stopped(way: Way, desk: Desk) -> None:
    with at_work(way, desk):
        assert desk.start(desk.flows["note"].fn, "one").result(LONG) == "one"
    left = desk.start(desk.flows["note"].fn, "two")
    assert desk.store.workers(desk.crew.lease) == []

    with at_work(way, desk):
        assert left.result(LONG) == "two"


# --- who serves what ---


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


def test_runs_of_two_versions_of_a_program_stay_with_those_who_can_serve_them(
    way: Way, desk: Desk, worker: Worker
) -> None:
    old = worker(program="old")
    waiting = desk.start(desk.flows["settle"].fn, 1)
    until(lambda: waiting.status == "waiting", within=LONG)
    new = worker(program="new", more="refund")
    with way.desk("refund") as newer:
        runs = [newer.start(newer.flows["refund"].fn) for _ in range(10)]
        pids = {run.result(LONG) for run in runs}
    assert pids == {new.pid}, "the old code has no such workflow"

    old.terminate()
    assert old.wait() == 0
    desk.approve(ask_of(waiting))

    assert waiting.result(LONG) == "paid 1", "what began with the old code ends with the new"


# --- wake-ups are hints ---


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


def test_wake_ups_doubled_and_out_of_order_change_nothing(way: Way, desk: Desk) -> None:
    if way.engine == "procrastinate":
        _double_and_shuffle(way.place)
    try:
        with at_work(way, desk, threads=4):
            runs = [desk.start(desk.flows["settle"].fn, number) for number in range(12)]
            for run in runs:
                until(partial(waiting, run), within=LONG)
            for run in runs:
                desk.approve(ask_of(run))
                desk.store.bell.ring()
                desk.store.bell.ring()
            assert [run.result(LONG) for run in runs] == [f"paid {n}" for n in range(12)]
            if way.engine == "procrastinate":
                told = way.place.one(
                    "select last_value from sayso_engine.procrastinate_jobs_id_seq"
                )
                began = way.place.one("select last_value from sayso_engine.shuffled")
                assert told >= began * 2, "each of them came twice"
    finally:
        if way.engine == "procrastinate":
            way.place.sql("drop function sayso_engine.shuffle cascade")
            way.place.sql("drop sequence sayso_engine.shuffled")
    assert sorted(book(way.folder)) == sorted(f"paid {number}" for number in range(12))
    assert desk.verify()


def _double_and_shuffle(place: Place) -> None:
    place.sql("create sequence sayso_engine.shuffled")
    place.sql(
        "create function sayso_engine.shuffle() returns trigger language plpgsql as $$ begin "
        "if new.priority < 100 then perform nextval('sayso_engine.shuffled'); "
        "insert into sayso_engine.procrastinate_jobs (queue_name, task_name, args, priority) values "
        "(new.queue_name, new.task_name, new.args, 100 + cast(random() * 100 as int)); "
        "new.priority := cast(random() * 99 as int); end if; return new; end $$"
    )
    place.sql(
        "create trigger shuffle before insert on sayso_engine.procrastinate_jobs "
        "for each row execute function sayso_engine.shuffle()"
    )


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


# --- many ---


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
    runs = [desk.start(desk.flows["settle"].fn, number) for number in range(60)]
    for run in runs:
        until(partial(waiting, run), within=LONG)
        ask = ask_of(run)
        came = at_once([partial(desk.approve, ask)] * 2)
        assert sum(isinstance(one, AskClosed) for one in came) == 1, came

    assert [run.result(LONG) for run in runs] == [f"paid {number}" for number in range(60)]
    assert sorted(book(way.folder)) == sorted(f"paid {number}" for number in range(60))
    assert desk.verify()
