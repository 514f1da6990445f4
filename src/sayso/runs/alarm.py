"""Something to wait for that a signal handler may bring about.

A handler runs in the middle of whatever the main thread does, also of a `wait`. The lock of a
`threading.Event` is then held by the very thread that would have to take it to set the event.

And it runs late: Python notes a signal and calls the handler at its next line. One that comes when
the thread is on its way into a lock, behind the last look, wakes nobody there. So nobody sleeps for
longer than a moment.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from queue import Empty, SimpleQueue

_MOMENT = 0.5  # seconds until a handler that Python has put off is called


class Alarm:
    """What `threading.Event` is, and set from a signal handler as well."""

    def __init__(self) -> None:
        self._rung = False
        # Its `put` may come in the middle of a `put` or a `get` of the same thread.
        self._wakes: SimpleQueue[None] = SimpleQueue()

    def is_set(self) -> bool:
        """Whether it went off and was not cleared since."""
        return self._rung

    def set(self) -> None:
        """Let it go off: whoever waits goes on."""
        self._rung = True
        if self._wakes.empty():  # one is enough, however often it goes off while nobody waits
            self._wakes.put(None)

    def clear(self) -> None:
        """Wait for the next time."""
        self._rung = False

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it goes off, so many seconds at most; whether it did."""
        ends = math.inf if timeout is None else time.monotonic() + timeout
        while not self.is_set():
            left = ends - time.monotonic()
            if left <= 0:
                return False
            with suppress(Empty):
                self._wakes.get(timeout=min(left, _MOMENT))
                if self.is_set():
                    self._wakes.put(None)  # several may wait
        return True
