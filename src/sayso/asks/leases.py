"""The heartbeat of a program that waits for an answer, or is carrying one out.

A blocking call holds a lease on its ask. While the program lives, one thread
renews it; once it has lapsed, people see that the program has gone and that a
yes would have no effect.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from sayso.errors import SaysoError
from sayso.store.clock import Clock
from sayso.store.contract import Lease

_log = logging.getLogger("sayso.asks")


class Heartbeat:
    """Keeps the leases of one desk in one process alive, only while something is held."""

    def __init__(
        self,
        renew: Callable[[Lease], object],
        seconds: float,
        clock: Clock,
        *,
        sweep: Callable[[], object] | None = None,
    ) -> None:
        self._say = renew
        self._seconds = seconds
        self._due = sweep
        self._reset()
        clock.watch(self._renew)  # when the time is set by hand, the program is still alive

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._holder = os.urandom(8).hex()
        self._lock = threading.Lock()
        self._held = 0
        self._stop = threading.Event()

    @contextmanager
    def holding(self) -> Iterator[Lease]:
        """Renew everything under this lease while the block runs."""
        if self._pid != os.getpid():  # a forked child is another holder
            self._reset()
        with self._lock:
            self._held += 1
            if self._held == 1:
                self._stop = threading.Event()
                beat = threading.Thread(
                    target=self._beat, args=(self._stop,), name="sayso-lease", daemon=True
                )
                beat.start()
        try:
            yield self._lease
        finally:
            with self._lock:
                self._held -= 1
                if self._held == 0:
                    self._stop.set()

    @property
    def _lease(self) -> Lease:
        return Lease(self._holder, timedelta(seconds=self._seconds))

    def _beat(self, stop: threading.Event) -> None:
        while not stop.wait(self._seconds / 3):
            self._renew()
            self._sweep()

    def _sweep(self) -> None:
        """Do what is due for others too: while any program waits, nobody need call `sweep`."""
        if self._due is None:
            return
        try:
            self._due()
        except SaysoError as error:
            _log.warning("Sweeping failed; trying again: %s", error)

    def _renew(self) -> None:
        if self._held == 0:
            return
        try:
            self._say(self._lease)
        except SaysoError as error:
            _log.warning("Renewing the lease failed; trying again: %s", error)
