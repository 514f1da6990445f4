"""Rings when the database may have changed, so that waiting need not poll.

A ring is a hint: whoever hears it looks again. It may come too often and, if a
connection breaks, late; listeners therefore also look again on their own after
`PATIENCE`. One thread per store watches for commits of other processes, and
only while somebody listens.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sayso.errors import StoreError

PATIENCE = 5.0
_log = logging.getLogger("sayso.store")

Watch = Callable[[Callable[[], None], Callable[[], bool]], None]


class Bell:
    """Calls everybody who listens whenever the database may have changed.

    `watch(ring, wanted)` runs on the bell's thread: it calls `ring` at changes
    made elsewhere and returns when `wanted()` turns false.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._listeners: dict[object, Callable[[], None]] = {}
        self._thread: threading.Thread | None = None
        self._closing = False

    def ring(self) -> None:
        """Tell everybody who listens in this process."""
        for heard in tuple(self._listeners.values()):
            heard()

    @contextmanager
    def listening(self, heard: Callable[[], None]) -> Iterator[None]:
        """Call `heard` at every ring while the block runs. It must return at once."""
        if self._pid != os.getpid():  # a forked child has neither the thread nor its listeners
            self._reset()
        token = object()
        with self._lock:
            self._listeners[token] = heard
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="sayso-bell", daemon=True)
                thread.start()  # takes the lock itself, so it waits for this block to end
                self._thread = thread
        try:
            yield
        finally:
            with self._lock:
                del self._listeners[token]

    def close(self) -> None:
        """End the watching thread. Listening again starts another one."""
        if self._pid != os.getpid():
            self._reset()
        with self._lock:
            thread, self._closing = self._thread, True
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=5)
        with self._lock:
            self._closing = False

    def _wanted(self) -> bool:
        with self._lock:
            if self._listeners and not self._closing:
                return True
            self._thread = None
            return False

    def _run(self) -> None:
        while True:
            try:
                self._watch(self.ring, self._wanted)
                return
            except StoreError as error:
                _log.warning("Watching the database failed; trying again: %s", error)
            except Exception:  # noqa: BLE001 - whoever waits looks again and meets the error itself
                _log.warning("Watching the database failed; trying again.", exc_info=True)
            if not self._pause():
                return

    def _pause(self) -> bool:
        threading.Event().wait(0.5)
        self.ring()
        return self._wanted()
