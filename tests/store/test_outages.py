"""A database that cannot do its part: a typed error that says what to do, and nothing changed."""

from __future__ import annotations

import functools
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sayso import Ask, Call, Desk
from sayso.errors import (
    AskClosed,
    BadValue,
    SchemaMismatch,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from sayso.store import open_store
from tests.crew import Crew, desk_at
from tests.places import Place
from tests.proxy import Moment, Wire, wired
from tests.together import in_thread, until

# --- the address ---


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sqlite:",
        "sqlite://",
        "sqlite:///",
        "sqlite://sayso.db",
        "sqlite:///:memory:",
        "sqlite:///x.db?timeout=soon",
        "mysql://localhost/sayso",
        "https:/example",
    ],
)
def test_an_address_that_is_none_is_refused_with_the_forms_there_are(url: str) -> None:
    with pytest.raises(BadValue, match=r"sqlite:///|timeout"):
        Desk(url)


def test_a_password_is_never_shown() -> None:
    desk = Desk("postgresql://anna:s3cret@db.example.invalid/sayso")

    assert "s3cret" not in repr(desk) + desk.store.url
    with pytest.raises(StoreUnavailable) as refused:
        desk.inbox()
    assert "s3cret" not in str(refused.value)
    assert "anna" in str(refused.value)


# --- SQLite ---


def test_a_folder_or_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="folder"):
        Desk(f"sqlite:///{tmp_path}/nowhere/desk.db").inbox()

    with pytest.raises(StoreUnavailable):
        Desk(f"sqlite:///{tmp_path}").inbox()

    desk = Desk(f"postgresql://postgres@/postgres?host={tmp_path}")

    with pytest.raises(StoreUnavailable, match="sayso doctor"):
        desk.inbox()
    with pytest.raises(StoreUnavailable):
        desk.open("refund", {"amount": 1})


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear Anna, " * 1000)

    with pytest.raises(StoreUnavailable, match="not a SQLite database"):
        Desk(f"sqlite:///{file}").inbox()

    assert file.read_text() == "Dear Anna, " * 1000


def test_a_newer_file_is_refused_and_left_alone(sqlite: Place) -> None:
    with Desk(sqlite.url) as desk:
        desk.open("refund", {"amount": 1})
    sqlite.sql("pragma user_version = 999")

    with pytest.raises(SchemaMismatch, match="Upgrade this program"):
        Desk(sqlite.url).open("refund", {"amount": 2})

    assert (sqlite.count(), sqlite.one("pragma user_version")) == (1, 999)


@pytest.fixture
def impatient(sqlite: Place) -> Iterator[Desk]:
    with Desk(f"{sqlite.url}?timeout=0.05", account="sam@till") as desk:
        desk.inbox()
        yield desk


WRITES: dict[str, Callable[[Desk, Ask], object]] = {
    "open": lambda desk, ask: desk.open("refund", {"amount": 2, "after": ask.id}),
    "approve": lambda desk, ask: desk.approve(ask),
    "edit": lambda desk, ask: desk.edit(ask, {"amount": 3}),
    "withdraw": lambda desk, ask: desk.withdraw(ask),
    "people": lambda desk, ask: desk.people.add(f"sam-{ask.id}"),
    "seal": lambda desk, ask: desk.seal(),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_locked_file_is_busy_and_nothing_changes(
    sqlite: Place, impatient: Desk, write: str
) -> None:
    ask = impatient.open("refund", {"amount": 1})
    with closing(sqlite3.connect(sqlite.file, isolation_level=None)) as other:
        other.execute("begin immediate")

        with pytest.raises(StoreBusy, match="locked") as busy:
            WRITES[write](impatient, ask)
        assert "again" in str(busy.value)
        assert impatient.get(ask.id).open, "reading goes on"
        other.execute("rollback")

    assert sqlite.count() == 1
    WRITES[write](impatient, ask)
    assert sqlite.count() > 1


def test_a_patient_writer_gets_its_turn(sqlite: Place) -> None:
    with Desk(sqlite.url, account="sam@till") as desk:
        desk.inbox()
        with closing(sqlite3.connect(sqlite.file, isolation_level=None)) as other:
            other.execute("begin immediate")
            waiting = in_thread(lambda: desk.open("refund", {"amount": 1}))
            with pytest.raises(TimeoutError):
                waiting.result(0.1)
            other.execute("rollback")

            assert waiting.result(30).open


class Small(sqlite3.Connection):
    """A connection to a disk with no more room than there is now."""

    pages: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute(f"pragma max_page_count = {self.pages}")


@pytest.mark.parametrize("write", WRITES)
def test_a_full_disk_is_said_and_nothing_changes(
    sqlite: Place, write: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Desk(sqlite.url, account="sam@till") as desk:
        asks = [desk.open("refund", {"amount": n}) for n in range(1000, 1300)]
    monkeypatch.setattr(Small, "pages", sqlite.one("pragma page_count"), raising=False)
    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Small))

    with Desk(sqlite.url, account="sam@till") as desk:
        written: list[int] = []

        def until_full() -> None:
            for ask in asks:  # the last pages may have room for a few more
                written.append(sqlite.count())
                WRITES[write](desk, ask)

        with pytest.raises(StoreFull, match="Free some disk space"):
            until_full()

        assert sqlite.count() == written[-1]
        assert desk.get(asks[len(written) - 1].id).open
        assert desk.verify()


def first_use(url: str) -> str:
    """In another process: the first thing anybody does with a new file."""
    return desk_at(url, anew=True).open("refund", {"amount": 1}).id


def test_a_new_file_may_be_made_by_many_at_once(tmp_path: Path, crew: Crew) -> None:
    for trial in range(6):
        url = f"sqlite:///{tmp_path}/desk-{trial}.db"

        ids = crew.together(first_use, url)

        with Desk(url) as desk:
            assert desk.inbox().count == 4
            assert {ask.id for ask in desk.inbox()} == set(ids)
            assert desk.verify()


# --- PostgreSQL ---


def test_a_database_that_is_not_there_is_named(cluster: str) -> None:
    with pytest.raises(StoreUnavailable, match="nowhere"):
        Desk(cluster.replace("/postgres?", "/nowhere?")).inbox()


@pytest.fixture
def bare(cluster: str) -> Iterator[str]:
    """A PostgreSQL database without our tables."""
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("create database bare")
        try:
            yield cluster.replace("/postgres?", "/bare?")
        finally:
            connection.execute("drop database bare with (force)")


def test_a_desk_from_before_the_first_release_is_refused_and_left_alone(
    tmp_path: Path, bare: str
) -> None:
    file = Place("sqlite", f"sqlite:///{tmp_path}/old.db")
    file.sql("create table asks (id text)")
    file.sql("pragma user_version = 20")
    place = Place("postgres", bare)
    place.sql("create table sayso_schema (version int not null)")
    place.sql("insert into sayso_schema values (20)")

    for url in (file.url, bare):
        with Desk(url) as desk, pytest.raises(SchemaMismatch, match=r"first release \(schema 20\)"):
            desk.open("refund", {"amount": 1})
    with Desk(bare) as desk, pytest.raises(SchemaMismatch, match=r"first release"):
        desk.store.migrate()

    assert file.one("select count(*) from sqlite_master") == 1
    assert place.one("select version from sayso_schema") == 20


def test_a_database_without_tables_says_how_to_make_them(bare: str) -> None:
    with Desk(bare) as desk:
        with pytest.raises(SchemaMismatch, match="sayso db migrate"):
            desk.inbox()

        assert desk.store.schema()[0] == 0
        assert desk.store.migrate()
        assert desk.open("refund", {"amount": 1}).open


def test_migrating_from_many_places_at_once_is_safe(bare: str) -> None:
    stores = [open_store(bare) for _ in range(4)]
    steps = [in_thread(store.migrate) for store in stores]

    taken = [step.result(60) for step in steps]

    assert sorted(map(bool, taken)) == [False, False, False, True]
    for store in stores:
        store.close()


def test_a_newer_database_is_refused_and_left_alone(bare: str) -> None:
    place = Place("postgres", bare)
    with Desk(bare) as desk:
        desk.store.migrate()
        desk.open("refund", {"amount": 1})
    place.sql("update sayso_schema set version = 999")

    with Desk(bare) as desk, pytest.raises(SchemaMismatch, match="Upgrade this program"):
        desk.open("refund", {"amount": 2})

    assert (place.count(), place.one("select version from sayso_schema")) == (1, 999)


def hang_up(place: Place, name: str) -> int:
    """End every connection of this name, as a restart of the server would; returns how many."""
    pids = place.sessions(name)
    for pid in pids:
        place.sql("select pg_terminate_backend(?)", pid)
    until(lambda: not set(pids) & set(place.sessions(name)))
    return len(pids)


def test_connections_that_died_while_idle_are_replaced(postgres: Place) -> None:
    with Desk(postgres.named("idle"), account="sam@till") as desk:
        ask = desk.open("refund", {"amount": 1})

        assert hang_up(postgres, "idle") == 1
        assert desk.approve(ask).decision
        assert hang_up(postgres, "idle") == 1
        assert desk.get(ask.id).decision

    assert postgres.count() == 2


def test_somebody_who_waits_survives_a_restart_of_the_server(postgres: Place) -> None:
    with Desk(postgres.named("waiter"), account="sam@till") as desk:
        ask = desk.open("refund", {"amount": 1})
        waiting = in_thread(lambda: desk.wait(ask, timeout=60))
        until(lambda: desk.store.bell._listeners)

        assert hang_up(postgres, "waiter")
        with Desk(postgres.url, account="sam@till") as other:
            other.approve(ask)

        assert waiting.result(60)


@pytest.fixture
def wire(postgres: Place) -> Iterator[tuple[Desk, Wire]]:
    with (
        tempfile.TemporaryDirectory(prefix="sayso-wire-") as folder,
        wired(postgres.url, Path(folder)) as (url, wire),
        Desk(url, account="sam@till") as desk,
    ):
        yield desk, wire


CUT_WRITES: dict[str, Callable[[Desk, Ask, Call], object]] = {
    "open": lambda desk, ask, call: desk.open("refund", {"amount": 9}, key="k"),
    "approve": lambda desk, ask, call: desk.approve(ask),
    "edit": lambda desk, ask, call: desk.edit(ask, {"amount": 9}),
    "withdraw": lambda desk, ask, call: desk.withdraw(ask),
    "finish": lambda desk, ask, call: desk.finish(call, "ok"),
    "people": lambda desk, ask, call: desk.people.add("sam"),
}


@pytest.mark.parametrize("write", CUT_WRITES)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_cut_around_a_write_leaves_it_written_once(
    wire: tuple[Desk, Wire], postgres: Place, write: str, when: Moment
) -> None:
    """Once the server is there again the desk asks the journal whether it arrived."""
    desk, line = wire
    ask = desk.open("refund", {"amount": 1})
    call = desk.begin(desk.approve(desk.open("refund", {"amount": 2})))
    before = postgres.count()
    line.cut("insert into events", when)

    CUT_WRITES[write](desk, ask, call)

    assert line.cuts == 1
    assert postgres.count() == before + (2 if write == "edit" else 1)
    assert desk.verify()


@pytest.mark.parametrize("write", CUT_WRITES)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_server_that_goes_down_in_the_middle_leaves_the_whole_or_nothing(
    wire: tuple[Desk, Wire], postgres: Place, write: str, when: Moment
) -> None:
    desk, line = wire
    ask = desk.open("refund", {"amount": 1})
    call = desk.begin(desk.approve(desk.open("refund", {"amount": 2})))
    before = postgres.count()
    line.cut("insert into events", when, everything=True)

    with pytest.raises(StoreUnavailable, match="try again"):
        CUT_WRITES[write](desk, ask, call)

    written = postgres.count() - before
    assert written == 0 if when == "before" else written in (0, 1)
    line.up()
    assert desk.verify()


def test_a_spent_approval_whose_answer_was_lost_is_the_callers(
    wire: tuple[Desk, Wire], postgres: Place
) -> None:
    desk, line = wire
    ask = desk.approve(desk.open("refund", {"amount": 1}))
    line.cut("insert into events", "after")

    call = desk.begin(ask)

    assert desk.finish(call, "ok").effect
    assert line.cuts == 1


def test_a_decision_that_could_not_be_reported_stands(
    wire: tuple[Desk, Wire], postgres: Place
) -> None:
    desk, line = wire
    ask = desk.open("refund", {"amount": 1})
    line.cut("insert into events", "after", everything=True)
    with pytest.raises(StoreUnavailable):
        desk.approve(ask)

    line.up()

    with pytest.raises(AskClosed) as conflict:
        desk.approve(ask)
    assert conflict.value.decision, "it is the decision that was not reported"


def test_while_the_server_is_down_every_call_says_so_and_afterwards_all_is_well(
    wire: tuple[Desk, Wire], postgres: Place
) -> None:
    desk, line = wire
    ask = desk.open("refund", {"amount": 1})
    line.down()

    for call in (desk.inbox, lambda: desk.get(ask.id), lambda: desk.approve(ask), desk.verify):
        with pytest.raises(StoreError):
            call()

    line.up()
    assert until(lambda: reached(desk))
    assert desk.approve(ask).decision


def reached(desk: Desk) -> bool:
    try:
        return desk.inbox().count == 1
    except StoreUnavailable:
        return False


def test_a_row_locked_for_too_long_is_busy(postgres: Place) -> None:
    with (
        Desk(f"{postgres.url}&options=-c%20lock_timeout%3D100ms", account="sam@till") as desk,
        psycopg.connect(postgres.url) as other,
    ):
        ask = desk.open("refund", {"amount": 1})
        other.execute("lock table asks in exclusive mode")

        with pytest.raises(StoreBusy, match="try again"):
            desk.approve(ask)

        other.rollback()
        assert postgres.count() == 1
        assert desk.approve(ask).decision
