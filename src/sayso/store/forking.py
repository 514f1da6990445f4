"""Forking with SQLite open.

SQLite keeps the locks of a process in that process's memory, and a forked child
inherits the memory but not the locks: it would write to a file that the parent
may checkpoint and delete under it, and a decision that was reported would be
gone. Its mutexes are worse: one that some thread held at the fork stays locked
in the child for ever. So before a fork everybody leaves the library and every
connection is closed; both sides open new ones when they need them.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol
from weakref import WeakSet

_PATIENCE = 5.0


class Keeper(Protocol):
    """Whoever has connections that must not be open across a fork."""

    def let_go(self) -> None:
        """Close all of them; nobody is using any."""
        ...


class Door:
    """Lets threads into the library, except while the process forks."""

    def __init__(self) -> None:
        self.keepers: WeakSet[Keeper] = WeakSet()
        self._renew()
        os.register_at_fork(
            before=self._shut, after_in_parent=self._open, after_in_child=self._renew
        )

    def _renew(self) -> None:
        self._lock = threading.RLock()
        self._turn = threading.Condition(self._lock)
        self._inside = 0
        self._closed = False

    def __enter__(self) -> None:
        """Come in; wait while the process forks."""
        with self._lock:
            while self._closed:
                self._turn.wait()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        """Leave."""
        with self._lock:
            self._inside -= 1
            if self._closed:
                self._turn.notify_all()

    def _shut(self) -> None:
        with self._turn:
            self._closed = True
            self._turn.wait_for(lambda: self._inside == 0, _PATIENCE)
        for keeper in tuple(self.keepers):
            keeper.let_go()

    def _open(self) -> None:
        with self._turn:
            self._closed = False
            self._turn.notify_all()


DOOR = Door()
