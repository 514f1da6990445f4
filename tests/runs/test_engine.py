"""Procrastinate under us: installed by one command, told of every run, and trusted with nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sayso import Desk
from sayso.errors import Misuse, SchemaMismatch
from sayso.runs import dispatch
from sayso.runs.dispatch import dispatcher, install
from sayso.runs.engine import Woken, newest, schema, steps
from sayso.runs.running import Running
from sayso.store import Store, open_store
from tests.places import Place
from tests.runs.floor import book
from tests.runs.people import ask_of, begun
from tests.runs.ways import Way, at_work
from tests.together import at_once, until

LONG = 60.0
JOBS = "select queue_name, priority, status from sayso_engine.procrastinate_jobs order by id"


@pytest.fixture
def way(engined: Place, tmp_path: Path) -> Way:
    return Way("procrastinate", engined, tmp_path)


@pytest.fixture
def desk(way: Way) -> Iterator[Desk]:
    with way.desk() as desk:
        yield desk


@pytest.fixture
def bare(cluster: str) -> Iterator[Place]:
    """A database with our tables and no engine."""
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("create database without_engine")
    url = cluster.replace("/postgres?", "/without_engine?")
    store = open_store(url)
    store.migrate()
    store.close()
    yield Place("postgres", url)
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("drop database without_engine with (force)")


@pytest.fixture
def store(bare: Place) -> Iterator[Store]:
    store = open_store(bare.url)
    yield store
    store.close()


def woken(desk: Desk, threads: int = 2, *, grace: float = 3600) -> Woken:
    """Return workers that hardly look for themselves: what they take, they were told of."""
    assert desk.store.wakeups is not None
    return Woken(desk.crew, desk.store.wakeups, threads, grace=timedelta(seconds=grace))


def test_what_is_found_and_what_is_told_share_the_hands(desk: Desk) -> None:
    most, busy, lock = [0], [0], threading.Lock()

    def count() -> None:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        threading.Event().wait(0.1)
        with lock:
            busy[0] -= 1

    @desk.workflow
    def crowded(run: Running) -> None:
        run.step(count)

    runs = [desk.start(crowded) for _ in range(4)]
    carrying, shift = woken(desk, threads=2), desk.crew.shift()
    for came in [carrying._carry(run.id, shift) for run in runs]:
        came.result(LONG)

    assert [run.status for run in runs] == ["done"] * 4
    assert most[0] == 2


# --- jobs ---


def test_every_way_of_becoming_ready_is_told_in_the_same_commit(desk: Desk, way: Way) -> None:
    jobs = partial(way.place.sql, JOBS)
    run = desk.start(desk.flows["settle"].fn, 7)
    assert jobs() == [("settle", 0, "todo")], "started"

    desk.work(until="idle")
    desk.approve(ask_of(run))
    assert len(jobs()) == 2, "decided"

    other = begun(desk, desk.flows["settle"].fn, 8)
    desk.withdraw(ask_of(other))
    assert len(jobs()) == 3, "withdrawn"

    way.place.sql("update runs set status = 'parked' where id = ?", other.id)
    desk.retry(other)
    assert len(jobs()) == 4, "retried"


def test_a_commit_that_lost_tells_nobody(desk: Desk, way: Way) -> None:
    run = begun(desk, desk.flows["settle"].fn, 7)
    ask = ask_of(run)

    at_once([lambda: desk.approve(ask)] * 4)

    assert way.place.sql(JOBS) == [("settle", 3, "todo")]


@pytest.mark.parametrize("name", ["w" * 41, "w" * 120, "ü" * 30, "odd, 'name' #1"])
def test_a_workflow_of_any_name_is_heard_of(desk: Desk, name: str) -> None:
    @desk.workflow(name=name)
    def flow(run: Any) -> Any:
        return "heard"

    carrying = woken(desk)
    carrying.start()
    try:
        assert desk.start(flow).result(LONG) == "heard"
    finally:
        carrying.stop(LONG)


def test_what_is_riskier_goes_first_and_decided_things_go_before_new_ones(
    desk: Desk, way: Way
) -> None:
    runs = {
        word: begun(desk, desk.flows["weigh"].fn, word, risk)
        for word, risk in [("l", "low"), ("c", "critical"), ("m", None), ("h", "high")]
    }
    desk.start(desk.flows["note"].fn, "new")
    for run in runs.values():
        desk.approve(ask_of(run))
    assert [priority for _, priority, _ in way.place.sql(JOBS)] == [0, 1, 4, 2, 3]

    carrying = woken(desk, threads=1)
    carrying.start()
    try:
        until(lambda: len(book(way.folder)) == 5, within=LONG)
    finally:
        carrying.stop(LONG)
    assert book(way.folder) == ["c", "h", "m", "l", "new"]


def test_wake_ups_that_come_twice_or_too_late_change_nothing(desk: Desk, way: Way) -> None:
    run = desk.start(desk.flows["settle"].fn, 7)
    twice = (
        "begin; set local search_path = sayso_engine; insert into procrastinate_jobs "
        "(queue_name, task_name, args) select queue_name, task_name, args from procrastinate_jobs, "
        "generate_series(1, 5); commit"
    )
    way.place.sql(twice)
    carrying = woken(desk, threads=4)
    carrying.start()
    try:
        until(lambda: run.status == "waiting", within=LONG)
        desk.approve(ask_of(run))
        assert run.result(LONG) == "paid 7"
        way.place.sql(
            "begin; set local search_path = sayso_engine; insert into procrastinate_jobs "
            "(queue_name, task_name, args) values ('settle', 'sayso.wake', "
            f"""'{{"run": "{run.id}"}}'), ('settle', 'sayso.wake', '{{"run": "r-none"}}'); commit"""
        )
        until(lambda: way.place.sql(JOBS) == [], within=LONG)
    finally:
        carrying.stop(LONG)
    assert book(way.folder) == ["paid 7"]
    assert [event.kind for event in desk.store.stream(run.id)].count("run.done") == 1
    assert desk.verify()


# --- trusted with nothing ---


def test_a_decision_stands_while_the_engine_is_broken(desk: Desk, way: Way) -> None:
    run = begun(desk, desk.flows["settle"].fn, 7)
    way.place.sql("alter table sayso_engine.procrastinate_jobs rename to broken")
    try:
        desk.approve(ask_of(run))
        assert run.status == "ready"
        assert desk.start(desk.flows["note"].fn, "hello").status == "ready"
    finally:
        way.place.sql("alter table sayso_engine.broken rename to procrastinate_jobs")


def test_whoever_starts_runs_and_decides_needs_no_rights_in_it(desk: Desk, way: Way) -> None:
    way.place.sql("create role clerk login")
    try:
        way.place.sql(
            "grant select, insert, update, delete on all tables in schema public to clerk"
        )
        way.place.sql("grant usage on all sequences in schema public to clerk")
        with Desk(way.place.url.replace("postgres:@", "clerk:@"), account="sam@till") as clerks:
            run = desk.start(desk.flows["settle"].fn, 7)
            desk.work(until="idle")
            clerks.approve(next(iter(clerks.inbox())))
            clerks.sweep()
        assert way.place.sql(JOBS)[-1] == ("settle", 3, "todo")
        assert run.status == "ready"
    finally:
        way.place.sql("drop owned by clerk")
        way.place.sql("drop role clerk")


def test_dropping_its_schema_leaves_the_desk_as_it_was_without(bare: Place, store: Store) -> None:
    install(store)
    bare.sql("drop schema sayso_engine cascade")

    with Desk(bare.url) as desk:

        @desk.workflow
        def flow(run: Any) -> Any:
            return "fine"

        run = desk.start(flow)
        assert dispatcher(desk.crew, desk.store, 1).engine == "threads"
        desk.sweep()
        desk.work(until="idle")
        assert run.output == "fine"


def test_connections_that_break_are_made_anew(desk: Desk, way: Way) -> None:
    with at_work(way, desk, threads=4):
        runs = [desk.start(desk.flows["slow"].fn, 10) for _ in range(4)]
        until(lambda: "step 2" in book(way.folder), within=LONG)
        for _ in range(3):
            way.place.sql(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where datname = current_database() and pid <> pg_backend_pid()"
            )
            runs.append(desk.start(desk.flows["note"].fn, "after the cut"))

        assert [run.result(LONG) for run in runs[:4]] == ["walked"] * 4
        assert [run.result(LONG) for run in runs[4:]] == ["after the cut"] * 3
    assert desk.verify()


# --- the broom ---


def test_what_wakes_nobody_is_swept_away(desk: Desk, way: Way) -> None:
    assert desk.store.wakeups is not None
    done = desk.start(desk.flows["note"].fn, "done")
    desk.work(until="idle")
    assert done.status == "done"
    ready = desk.start(desk.flows["note"].fn, "ready")
    unserved = desk.start(desk.flows["slow"].fn, 1)
    way.place.sql("update runs set changed_at = 0 where id = ?", unserved.id)
    way.place.sql(
        "begin; set local search_path = sayso_engine; "
        "insert into procrastinate_workers (last_heartbeat) values (now()), (now() - interval '1 h');"
        "insert into procrastinate_jobs (queue_name, task_name, status, worker_id) "
        " select 'alive', 'sayso.wake', cast('doing' as procrastinate_job_status), max(id) filter (where last_heartbeat = now())"
        "   from procrastinate_workers union all "
        " select 'dead', 'sayso.wake', 'doing', max(id) filter (where last_heartbeat < now())"
        "   from procrastinate_workers union all "
        " select 'gone', 'sayso.wake', 'doing', null union all "
        " select 'failed', 'sayso.wake', 'failed', null union all "
        " select 'theirs', 'other.task', 'failed', null; commit"
    )

    desk.store.wakeups.prune()

    left = [queue for queue, _, _ in way.place.sql(JOBS)]
    assert left == ["note", "alive", "theirs"]
    assert way.place.one("select count(*) from sayso_engine.procrastinate_workers") == 1
    assert ready.status == "ready"


def test_the_sweep_holds_the_broom(desk: Desk, way: Way) -> None:
    run = desk.start(desk.flows["note"].fn, "done")
    desk.work(until="idle")
    assert run.status == "done"

    desk._prune_at = 0.0
    desk.sweep()

    assert way.place.sql(JOBS) == []


# --- installing ---


def test_installing_from_two_places_at_once_installs_once(bare: Place) -> None:
    stores = [open_store(bare.url) for _ in range(4)]

    came = at_once([partial(install, store) for store in stores])

    for store in stores:
        store.close()
    assert sorted(came, key=str) == [[newest()], [], [], []]


def test_tables_of_an_older_version_are_brought_up_to_date(bare: Place, store: Store) -> None:
    wakeups = store.wakeups
    assert wakeups is not None
    older = [step for step in steps() if step[0] < "03.03"]
    first = "\n".join(text for _, text in older)
    wakeups.install(first, older)
    with pytest.raises(SchemaMismatch, match=r"older than .*sayso db migrate --desk postgresql://"):
        _dispatcher(bare)

    taken = install(store)

    assert taken == [name for name, _ in steps() if name > "03.03"]
    assert _dispatcher(bare) == "procrastinate"


def test_tables_of_a_newer_version_are_refused_with_what_to_do(bare: Place, store: Store) -> None:
    install(store)
    bare.sql("update sayso_engine.sayso_engine_schema set version = '99.00.00_01_future'")

    with pytest.raises(SchemaMismatch, match=r"newer than .* pip install --upgrade procrastinate"):
        install(store)
    with pytest.raises(SchemaMismatch, match="sayso worker --engine threads"):
        _dispatcher(bare)
    assert _dispatcher(bare, "threads") == "threads"


def test_another_procrastinate_in_the_same_database_is_left_alone(
    bare: Place, store: Store
) -> None:
    with psycopg.connect(bare.url) as connection:
        connection.execute(schema())
    install(store)

    with Desk(bare.url) as desk:

        @desk.workflow
        def flow(run: Any) -> Any:
            return "fine"

        desk.start(flow)
    assert bare.count("public.procrastinate_jobs") == 0
    assert bare.count("sayso_engine.procrastinate_jobs") == 1


def test_a_desk_in_a_schema_of_its_own_has_an_engine_of_its_own(bare: Place) -> None:
    bare.sql('create schema "odd desk"')
    url = f"{bare.url}&options=-csearch_path%3D%22odd%5C%20desk%22"
    with Desk(url) as desk:
        desk.store.migrate()
        install(desk.store)

        @desk.workflow
        def flow(run: Any) -> Any:
            return "fine"

        carrying = woken(desk)
        carrying.start()
        try:
            assert desk.start(flow).result(LONG) == "fine"
        finally:
            carrying.stop(LONG)
    assert bare.one("select to_regclass('\"odd desk_engine\".procrastinate_jobs') is not null")
    assert not bare.one("select to_regclass('sayso_engine.procrastinate_jobs') is not null")


def _dispatcher(place: Place, engine: Any = None) -> str:
    with Desk(place.url) as desk:
        return dispatcher(desk.crew, desk.store, 1, engine).engine


def test_threads_do_it_where_there_is_no_engine(bare: Place, sqlite: Place) -> None:
    assert _dispatcher(bare) == "threads"
    assert _dispatcher(sqlite) == "threads"
    with pytest.raises(Misuse, match="sayso db migrate --desk postgresql://"):
        _dispatcher(bare, "procrastinate")
    with pytest.raises(Misuse, match="is no PostgreSQL database"):
        _dispatcher(sqlite, "procrastinate")


def test_without_the_library_there_is_nothing_to_install(
    bare: Place, store: Store, engined: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "has_library", lambda: False)

    assert install(store) is None
    assert _dispatcher(engined) == "threads"
    with pytest.raises(Misuse, match=r"pip install 'sayso\[postgres\]'"):
        _dispatcher(engined, "procrastinate")


def test_a_desk_on_postgresql_does_not_load_it(engined: Place) -> None:
    code = (
        "import sys, sayso; desk = sayso.Desk(sys.argv[1], workers=1); desk.sweep(); desk.close(); "
        "print([name for name in sys.modules if name.startswith('procrastinate')])"
    )

    said = subprocess.check_output([sys.executable, "-c", code, engined.url], text=True)

    assert said == "[]\n"
