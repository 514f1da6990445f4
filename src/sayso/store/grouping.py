"""Many who write, one sync: whoever waits for the write lock is committed with all who wait.

A commit is durable once the disk says so, and the disk takes as long for one
unit of work as for twenty. So units queue up, and whoever gets the turn writes
all of them in one transaction. One that loses its race or fails is undone
alone. Nobody is told before the sync.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

Work = Callable[[sqlite3.Connection], Any]
_Outcome = tuple[Any, Exception | None]
_Way = Callable[[sqlite3.Connection, Sequence["_Unit"]], list[_Outcome]]

_PATIENCE = 0.2  # whoever was not told looks, should a leader have been killed before it told


def _taken() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


@dataclass(eq=False, slots=True)
class _Unit:
    """Something to be written. It stays in the queue until it is settled."""

    work: Work
    synced: bool
    settled: bool = False
    result: Any = None
    error: Exception | None = None
    told: threading.Lock = field(default_factory=_taken)

    def settle(self, result: object, error: Exception | None) -> None:
        self.result, self.error = result, error
        self.settled = True  # last: its owner may be looking

    def tell(self) -> None:
        with suppress(RuntimeError):  # of two who tell at once
            if self.told.locked():
                self.told.release()


class Group:
    """The writers of one file in this process."""

    def __init__(self) -> None:
        self.reset()
        _GROUPS.add(self)

    def reset(self) -> None:
        """Forget who waits: a forked child has none of them."""
        self._turn = threading.Lock()
        self._queue: deque[_Unit] = deque()

    def write(self, connection: sqlite3.Connection, work: Work, *, synced: bool = True) -> Any:  # noqa: ANN401
        """Do the work and commit it; return what it returned.

        Work that returns `False` or fails is undone. It may be done again on a clean slate, and on
        another connection than this one, so it touches nothing but the connection it is given.

        Args:
            connection: Of this thread, `synchronous` as `synced` wants it. It serves if this thread
                is the one that gets the turn.
            work: What to write.
            synced: Whether it must survive the death of the machine, not only of this process.
        """
        if not self._queue and self._turn.acquire(blocking=False):  # nobody else writes
            try:
                return _written(connection, work)
            finally:
                self._turn.release()
                if self._queue:
                    self._pass_on()
        unit = _Unit(work, synced)
        self._queue.append(unit)  # before trying for the turn: whoever leaves it looks here after
        try:
            while not unit.settled:
                if self._turn.acquire(blocking=False):
                    self._lead(connection, unit)
                else:
                    unit.told.acquire(timeout=_PATIENCE)
        finally:
            if not unit.settled:
                with suppress(ValueError):
                    self._queue.remove(unit)
        if unit.error is not None:
            raise unit.error
        return unit.result

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep everybody else of this process from writing while the block runs."""
        try:
            with self._turn:
                yield
        finally:
            self._pass_on()

    def _lead(self, connection: sqlite3.Connection, own: _Unit) -> None:
        try:
            units = [unit for unit in tuple(self._queue) if not unit.settled]
            # A signal may end the main thread's work at any place, so it is nobody's leader.
            if threading.current_thread() is threading.main_thread():
                units = [own]
            if units and not own.settled:
                _commit_all(connection, units, full=own.synced)
            while self._queue and self._queue[0].settled:
                self._queue.popleft()
        finally:
            self._turn.release()
            self._pass_on()
        for unit in units:
            if unit is not own:
                unit.tell()

    def _pass_on(self) -> None:
        with suppress(IndexError):
            self._queue[0].tell()


_GROUPS: WeakSet[Group] = WeakSet()


def _forget_others() -> None:
    for group in tuple(_GROUPS):
        group.reset()


os.register_at_fork(after_in_child=_forget_others)  # while the child has one thread


def _written(connection: sqlite3.Connection, work: Work) -> Any:  # noqa: ANN401 - as the work has it
    """Do one unit of work in a transaction of its own."""
    try:
        connection.execute("begin immediate")
        result = work(connection)
        connection.execute("rollback" if result is False else "commit")
    except BaseException:
        with suppress(sqlite3.Error):  # SQLite may have rolled back already
            connection.execute("rollback")
        raise
    return result


def _commit_all(connection: sqlite3.Connection, units: Sequence[_Unit], *, full: bool) -> None:
    """Commit first what need not be synced, and let its owners go on meanwhile.

    `full` says how the connection is set: to sync each commit, or none.
    """
    hasty = [unit for unit in units if not unit.synced]
    if hasty:
        with _syncing(connection, "normal", usual="full" if full else "normal"):
            _commit(connection, hasty)
        for unit in hasty:
            unit.tell()
    synced = [unit for unit in units if unit.synced]
    if synced:
        with _syncing(connection, "full", usual="full" if full else "normal"):
            _commit(connection, synced)


@contextmanager
def _syncing(connection: sqlite3.Connection, wanted: str, *, usual: str) -> Iterator[None]:
    """Let a connection sync otherwise than it is set to while the block runs."""
    if wanted == usual:
        yield
        return
    connection.execute(f"pragma synchronous = {wanted}")
    try:
        yield
    finally:
        connection.execute(f"pragma synchronous = {usual}")


def _commit(connection: sqlite3.Connection, units: Sequence[_Unit]) -> None:
    """Write units in one transaction; if it breaks, each in its own: an error finds its owner."""
    # A savepoint takes two statements, and each of those lets another thread go first. Most units
    # come to something: only when one did not are all of them done again, each in a savepoint.
    ways = (_plainly,) if len(units) == 1 else (_plainly, _apart)
    if not any(_tried(connection, units, way) for way in ways):
        for unit in units:
            _commit(connection, [unit])


def _tried(connection: sqlite3.Connection, units: Sequence[_Unit], way: _Way) -> bool:
    """Write units in one transaction; return whether every one of them is settled."""
    try:
        try:
            connection.execute("begin immediate")
        except sqlite3.Error as error:
            for unit in units:
                unit.settle(None, copy(error))  # a traceback belongs to one thread
            return True
        return _carry_out(connection, units, way)
    except BaseException as error:  # Ctrl-C, too: in an open transaction the pragma fails instead
        with suppress(sqlite3.Error):  # a full disk may have rolled back already
            connection.execute("rollback")
        if not isinstance(error, sqlite3.Error):
            raise
        if len(units) > 1:
            return False
        units[0].settle(None, error)
        return True


def _carry_out(connection: sqlite3.Connection, units: Sequence[_Unit], way: _Way) -> bool:
    came = way(connection, units)
    if len(came) < len(units) or (way is _plainly and _undone(*came[-1])):
        connection.execute("rollback")
        if len(units) > 1:
            return False
        units[0].settle(*came[0])
        return True
    try:
        connection.execute("commit")
        _settle_all(units, came)
    except sqlite3.Error:
        raise
    except BaseException:  # this thread is being ended: what is committed is so all the same
        if not connection.in_transaction:
            _settle_all(units, came)
        raise
    return True


def _plainly(connection: sqlite3.Connection, units: Sequence[_Unit]) -> list[_Outcome]:
    """Do the work of each, up to the first that comes to nothing."""
    came: list[_Outcome] = []
    for unit in units:
        came.append(_done(connection, unit))
        if _undone(*came[-1]):
            break
    return came


def _apart(connection: sqlite3.Connection, units: Sequence[_Unit]) -> list[_Outcome]:
    """Do the work of each, and undo whatever comes to nothing alone."""
    came: list[_Outcome] = []
    for unit in units:
        connection.execute("savepoint unit")
        came.append(_done(connection, unit))
        if _undone(*came[-1]):
            connection.execute("rollback to unit")
        connection.execute("release unit")
    return came


def _done(connection: sqlite3.Connection, unit: _Unit) -> _Outcome:
    try:
        return unit.work(connection), None
    except Exception as error:
        if not connection.in_transaction:  # SQLite has undone everybody's
            raise
        return None, error


def _settle_all(units: Sequence[_Unit], came: Sequence[_Outcome]) -> None:
    for unit, outcome in zip(units, came, strict=True):
        unit.settle(*outcome)


def _undone(result: object, failed: Exception | None) -> bool:
    return failed is not None or result is False
