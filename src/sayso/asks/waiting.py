"""Waiting for a decision: the one place where anything waits, blocking or awaited.

Waiting holds nothing in the database. The bell says "look again"; the deadline
of the ask and the caller's own patience say when to look without being called.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

from sayso.asks.deadlines import keep_time
from sayso.asks.standing import Standing, standing
from sayso.errors import BadValue, Misuse, StillOpen, StoreBusy, StoreUnavailable
from sayso.model.agenda import next_at
from sayso.model.ask import Ask
from sayso.store.bell import PATIENCE
from sayso.store.contract import Store

_log = logging.getLogger("sayso.asks")


def wait(store: Store, ask_id: str, timeout: float | None = None) -> Ask:
    """Block until the ask is closed, and return it.

    Raises:
        StillOpen: `timeout` seconds passed; the ask stays open.
    """
    heard = threading.Event()
    with store.bell.listening(heard.set):
        looks = _looks(store, ask_id, timeout)
        for at, patience in looks:
            if patience is None:
                return at.ask
            heard.wait(patience)
            heard.clear()
    raise AssertionError("unreachable: looking ends with a closed ask or an error")


async def wait_async(store: Store, ask_id: str, timeout: float | None = None) -> Ask:  # noqa: ASYNC109 - the same words as `wait`
    """Wait as `wait` does, without holding a thread; each look is one thread hop."""
    import asyncio

    heard = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wake() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(heard.set)

    with store.bell.listening(wake):
        looks = _looks(store, ask_id, timeout)
        while True:
            at, patience = await asyncio.to_thread(next, looks)
            if patience is None:
                return at.ask
            # Not `wait_for`: on Python 3.11 it may swallow a cancellation that meets a ring.
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await heard.wait()
            heard.clear()


def _looks(
    store: Store, ask_id: str, timeout: float | None
) -> Iterator[tuple[Standing, float | None]]:
    """Look at the ask again and again, with how long to be patient; `None` once it is closed."""
    until = until_when(timeout)
    at: Standing | None = None
    while True:
        try:
            at = _looked(store, ask_id)
        except (StoreBusy, StoreUnavailable) as error:
            # A database that was there may come back; a wait of days outlives its restarts.
            if at is None or (until is not None and time.monotonic() > until):
                raise
            _log.warning("The database is out of reach; %s waits on: %s", ask_id, error)
            yield at, 1.0
            continue
        if at.ask.closed:
            yield at, None
            return
        left = PATIENCE if until is None else until - time.monotonic()
        if left <= 0:
            raise StillOpen(at.ask, timeout or 0)
        yield at, min(left, PATIENCE, _until_due(at))


def in_loop() -> bool:
    """Whether this thread runs an event loop."""
    asyncio = sys.modules.get("asyncio")  # a program that never loaded it runs no loop
    return asyncio is not None and asyncio._get_running_loop() is not None  # noqa: SLF001 - documented, for libraries


def check_may_block(what: str, instead: str) -> None:
    """Refuse to block a thread that runs an event loop (E51).

    Raises:
        Misuse: it runs one; the message says what to do `instead`.
    """
    if in_loop():
        raise Misuse(
            f"{what} would block until somebody decides, and this thread runs an event loop: "
            f"everything else in it would stand still. {instead} A notebook runs a loop as well: the "
            "same works in a cell."
        )


def until_when(timeout: float | None) -> float | None:
    """Return when the caller's patience ends, by the monotonic clock; `None`: never.

    Raises:
        BadValue: it is no number.
    """
    if timeout is None:
        return None
    if not isinstance(timeout, int | float) or timeout != timeout:
        raise BadValue(f"timeout={timeout!r}: give a number of seconds, or None to wait for ever.")
    return time.monotonic() + timeout


def _looked(store: Store, ask_id: str) -> Standing:
    """Read the ask, having done what time has made due."""
    while True:
        at = standing(store, ask_id)
        if keep_time(store, at) is None:
            return at


def _until_due(at: Standing) -> float:
    coming = next_at(at.ask)
    if coming is None:
        return PATIENCE
    return max((coming - at.now).total_seconds(), 0.001)
