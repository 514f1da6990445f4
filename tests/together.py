"""Several things at once, and waiting for what they bring about."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Start one piece of work beside the test; `.result(timeout)` joins it."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(work)
    pool.shutdown(wait=False)
    return future


def at_once(work: Sequence[Callable[[], Any]]) -> list[Any]:
    """Do everything at the same moment, each in a thread; returns results, or errors as values."""
    barrier = threading.Barrier(len(work))

    def start(one: Callable[[], Any]) -> Any:
        barrier.wait(30)
        try:
            return one()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(work)) as pool:
        return [future.result(60) for future in [pool.submit(start, one) for one in work]]


def until(condition: Callable[[], T], *, within: float = 60.0) -> T:
    """Return what `condition` returns as soon as that is true; fail if it never is.

    The longer it takes, the more rarely it is asked: the other cores may be busy with just that.
    """
    begun = time.monotonic()
    pause = threading.Event()
    while not (found := condition()):
        waited = time.monotonic() - begun
        assert waited < within, "it never came true"
        pause.wait(min(0.002 + waited / 8, 0.05))
    return found
