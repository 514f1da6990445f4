"""Units of work that wait for the write lock share one commit, and nothing else.

A first writer is held in the middle of its work until the others queue behind it, so that who is
committed with whom is no matter of chance.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from sqlite3 import connect
from typing import Any

import pytest

from sayso import Desk
from sayso.errors import StoreBusy
from sayso.store.grouping import Group, Work
from tests.places import Place
from tests.together import in_thread, until


class Killed(BaseException):
    """Ends a thread wherever it is."""


class Watched(sqlite3.Connection):
    """Notes its statements, and does what it is told around one of them."""

    said: list[str]
    before: Callable[[str], None]
    after: Callable[[str], None]

    def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
        self.said.append(sql)
        self.before(sql)
        cursor = super().execute(sql, *args)
        self.after(sql)
        return cursor


def nothing(_sql: str) -> None:
    pass


class Ledger:
    """A file with one table, and a group that writes to it from many threads."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.group = Group()
        self.said: list[str] = []
        self.before: Callable[[str], None] = nothing
        self.after: Callable[[str], None] = nothing
        with closing(sqlite3.connect(file)) as made:
            made.execute("pragma journal_mode = wal")
            made.execute("create table lines (n integer primary key)")

    def connect(self, *, synced: bool = True) -> Watched:
        connection = sqlite3.connect(
            self.file, isolation_level=None, check_same_thread=False, factory=Watched, timeout=0.2
        )
        connection.said, connection.before, connection.after = self.said, nothing, nothing
        connection.execute(f"pragma synchronous = {'full' if synced else 'normal'}")
        connection.before, connection.after = self.before, self.after
        return connection

    def write(self, work: Work, *, synced: bool = True) -> Any:
        with closing(self.connect(synced=synced)) as connection:
            return self.group.write(connection, work, synced=synced)

    def lines(self) -> list[int]:
        with closing(sqlite3.connect(self.file)) as other:
            return [row[0] for row in other.execute("select n from lines order by n")]

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Have somebody in the middle of their work, who ends with the block."""
        inside, leave = threading.Event(), threading.Event()

        def work(connection: sqlite3.Connection) -> bool:
            inside.set()
            assert leave.wait(30)
            add(0)(connection)
            return True

        first = in_thread(lambda: self.write(work))
        assert inside.wait(30)
        try:
            yield
        finally:
            leave.set()
        assert first.result(30) is True

    def queued(self, works: Sequence[Work], *, synced: bool = True) -> list[Future[Any]]:
        """Have them wait behind somebody, then let all go on."""
        waiting: list[Future[Any]] = []
        with self.busy():
            for work in works:
                waiting.append(in_thread(partial(self.write, work, synced=synced)))
                until(lambda: len(self.group._queue) == len(waiting))
            self.said.clear()
        return waiting


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.db")


def add(number: int) -> Work:
    def work(connection: sqlite3.Connection) -> bool:
        connection.execute("insert into lines values (?)", (number,))
        return True

    return work


def lose(number: int) -> Work:
    def work(connection: sqlite3.Connection) -> bool:
        connection.execute("insert into lines values (?)", (number,))
        return False

    return work


def stumble(error: Exception, number: int, *, broken: bool = False) -> Work:
    def work(connection: sqlite3.Connection) -> bool:
        connection.execute("insert into lines values (?)", (number,))
        if broken:  # as SQLite does when the disk is full
            connection.rollback()
        raise error

    return work


def test_all_who_wait_share_one_commit(ledger: Ledger) -> None:
    waiting = ledger.queued([add(n) for n in range(1, 9)])

    assert [one.result(30) for one in waiting] == [True] * 8
    assert ledger.lines() == list(range(9))
    assert ledger.said.count("commit") == 2, "of the first, and of the eight"
    assert "savepoint unit" not in ledger.said, "none of them came to nothing"


def test_who_is_alone_writes_as_if_there_were_no_group(ledger: Ledger) -> None:
    assert ledger.write(add(1)) is True

    assert ledger.said[1:] == ["begin immediate", "insert into lines values (?)", "commit"]


def test_one_that_loses_or_fails_does_not_touch_the_others(ledger: Ledger) -> None:
    waiting = ledger.queued([add(1), lose(2), stumble(ValueError("mine"), 3), add(1), add(5)])

    came = [one.exception(30) or one.result() for one in waiting]
    assert [came[0], came[1], came[4]] == [True, False, True]
    assert str(came[2]) == "mine"
    assert isinstance(came[3], sqlite3.IntegrityError)
    assert ledger.lines() == [0, 1, 5]
    assert ledger.said.count("commit") == 2


def test_a_unit_that_breaks_the_transaction_of_all_breaks_only_its_own(ledger: Ledger) -> None:
    full = sqlite3.OperationalError("database or disk is full")
    waiting = ledger.queued([add(1), stumble(full, 2, broken=True), add(3)])

    assert [one.exception(30) for one in waiting] == [None, full, None]
    assert ledger.lines() == [0, 1, 3]


def test_nobody_is_told_before_the_sync(ledger: Ledger) -> None:
    at_it, go_on = threading.Event(), threading.Event()

    def hold(sql: str) -> None:
        if sql == "commit" and ledger.said.count("commit") == 2:
            at_it.set()
            assert go_on.wait(30)

    ledger.before = hold
    waiting = ledger.queued([add(n) for n in range(1, 5)])
    assert at_it.wait(30)
    assert not any(one.done() for one in waiting)
    assert ledger.lines() == [0]

    go_on.set()
    assert all(one.result(30) for one in waiting)
    assert ledger.lines() == list(range(5))


def test_what_need_not_be_synced_does_not_wait_for_the_sync_of_others(ledger: Ledger) -> None:
    at_it, go_on = threading.Event(), threading.Event()

    def hold(sql: str) -> None:
        if sql == "commit" and ledger.said.count("commit") == 3:
            at_it.set()
            assert go_on.wait(30)

    ledger.before = hold
    with ledger.busy():
        slow = in_thread(lambda: ledger.write(add(1)))
        until(lambda: len(ledger.group._queue) == 1)
        quick = in_thread(lambda: ledger.write(add(2), synced=False))
        until(lambda: len(ledger.group._queue) == 2)
        ledger.said.clear()
    assert at_it.wait(30)

    assert quick.result(30) is True
    assert not slow.done()
    assert ledger.lines() == [0, 2]
    go_on.set()
    assert slow.result(30) is True
    unsynced = ledger.said.index("pragma synchronous = normal")
    assert ledger.said.index("pragma synchronous = full", unsynced) < len(ledger.said) - 1


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_leader_that_is_killed_takes_nobody_with_it(ledger: Ledger, moment: str) -> None:
    def kill(sql: str) -> None:
        if sql == "commit" and ledger.said.count("commit") == 2:
            raise Killed

    setattr(ledger, moment, kill)
    waiting = ledger.queued([add(n) for n in range(1, 5)])

    ends = [one.exception(30) for one in waiting]
    assert [type(end) for end in ends].count(Killed) == 1
    told = [n for n, end in enumerate(ends, start=1) if end is None]
    assert all(one.result() is True for one in waiting if one.exception() is None)
    written = ledger.lines()
    assert set(told) <= set(written)
    assert len(written) == (5 if moment == "after" else 4), "its own is whole, or not there"


@pytest.mark.parametrize("where", ["begin immediate", "insert", "commit"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_ctrl_c_in_an_unsynced_write_stays_a_ctrl_c(
    ledger: Ledger, where: str, moment: str
) -> None:
    """An error of the database in its place would be taken for an outage, and waited out."""

    def interrupt(sql: str) -> None:
        if sql.startswith(where):
            raise KeyboardInterrupt

    setattr(ledger, moment, interrupt)
    with pytest.raises(KeyboardInterrupt):
        ledger.write(add(1), synced=False)

    setattr(ledger, moment, nothing)
    assert ledger.write(add(2), synced=False) is True


class Interrupted:
    """What somebody waits on while Ctrl-C is pressed."""

    def acquire(self, **_: Any) -> bool:
        raise KeyboardInterrupt

    def locked(self) -> bool:
        return False


def test_who_gives_up_waiting_writes_nothing(ledger: Ledger) -> None:
    with ledger.busy():
        gave_up = in_thread(lambda: ledger.write(add(1)))
        until(lambda: len(ledger.group._queue) == 1)
        ledger.group._queue[0].told = Interrupted()  # type: ignore[assignment]
        assert isinstance(gave_up.exception(30), KeyboardInterrupt)

    assert ledger.lines() == [0]
    assert ledger.write(add(2)) is True


def test_the_main_thread_leads_nobody(ledger: Ledger) -> None:
    """Ctrl-C may end its work at any place."""
    with ledger.busy():
        waiting = in_thread(lambda: ledger.write(add(1)))
        until(lambda: len(ledger.group._queue) == 1)
        ledger.group._queue[0].told = threading.Lock()  # it waits on the old one, and is not woken
    ledger.said.clear()
    assert ledger.write(add(2)) is True

    assert "savepoint unit" not in ledger.said
    assert waiting.result(30) is True, "it looked by itself"
    assert ledger.lines() == [0, 1, 2]


def test_a_forked_child_does_not_wait_for_threads_it_does_not_have(ledger: Ledger) -> None:
    with ledger.busy():
        child = os.fork()
        if child == 0:
            written = sqlite3.connect(f"{ledger.file}.child", isolation_level=None)
            written.execute("create table lines (n integer primary key)")
            os._exit(0 if ledger.group.write(written, add(1)) is True else 1)
        _, status = os.waitpid(child, 0)

    assert status == 0


def test_threads_that_find_the_file_locked_are_all_told_so(sqlite: Place) -> None:
    with Desk(f"{sqlite.url}?timeout=0.3", account="sam@till") as desk:
        desk.inbox()
        with closing(connect(sqlite.file, isolation_level=None)) as other:
            other.execute("begin immediate")
            waiting = [in_thread(partial(desk.open, "refund", {"amount": n})) for n in range(4)]
            ends = [one.exception(30) for one in waiting]
            other.execute("rollback")
        assert all(isinstance(end, StoreBusy) for end in ends)
        assert len({id(end.__cause__) for end in ends if end}) == 4, "each has its own"
        assert sqlite.count() == 0
