"""Event loops for code that must be awaited: a thread with one, and the way onto it from outside.

A run is carried on by a thread that blocks. What its host can only await goes to a loop of another
thread: that of the desk, or one that is needed because something is bound to it already.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import copy_context
from typing import Any, TypeVar

from sayso.errors import Misuse
from sayso.runs.stops import Released

T = TypeVar("T")
_log = logging.getLogger("sayso.runs")
_LOOK = 0.5  # how soon it is noticed that a loop has gone
_PATIENCE = 10.0


class LoopGone(Released):
    """The loop that a run was waiting for was closed; any worker may go on with the run."""


def check_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Refuse a loop that this thread cannot wait for.

    Raises:
        Misuse: it is closed, stands still, or is the one that this thread would block.
    """
    if loop.is_closed():
        raise Misuse(
            "The event loop that the checkpointer was opened on is closed, so nothing can be read "
            "or kept. Nothing was asked. Give Graph a function that opens it: "
            "Graph(name, make), where make is an async context manager."
        )
    if _running() is loop:
        raise Misuse(
            "The graph needs the event loop that this call would block, so it would wait for ever. "
            "Nothing was asked. Await it: await desk.run_async(...), await desk.resume_async(run)."
        )
    if not loop.is_running():
        raise Misuse(
            "The event loop that the checkpointer was opened on does not run, so nothing can be read "
            "or kept. Nothing was asked. Run the graph from inside of it: await desk.run_async(...)."
        )


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def awaited_on(loop: asyncio.AbstractEventLoop, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on a loop of another thread, with what is set around here, and wait for it.

    Raises:
        Misuse: the loop cannot be waited for.
        LoopGone: it was closed meanwhile.
    """
    check_loop(loop)
    done: Future[T] = Future()
    tasks: list[asyncio.Task[T]] = []
    around = copy_context()

    def begin() -> None:
        try:
            tasks.append(loop.create_task(make(), context=around))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            done.set_exception(error)
            return
        tasks[0].add_done_callback(lambda task: _settle(done, task))

    try:
        loop.call_soon_threadsafe(begin)
        while not wait((done,), timeout=_LOOK).done:
            if loop.is_closed() or not loop.is_running():
                raise LoopGone("its event loop was closed")
    except KeyboardInterrupt:
        for task in tasks:
            loop.call_soon_threadsafe(task.cancel)
        wait((done,), timeout=_PATIENCE)
        raise
    if done.cancelled():
        raise LoopGone("what it awaited was cancelled")
    return done.result()


def _settle(done: Future[T], task: asyncio.Task[T]) -> None:
    if task.cancelled():
        done.cancel()
    elif (error := task.exception()) is not None:
        done.set_exception(error)
    else:
        done.set_result(task.result())


class LoopThread:
    """One thread with an event loop, begun when it is first needed.

    Clients and checkpointers that are opened on it live as long as it does, from one run to the next.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()
        self._over: asyncio.Event | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop, running."""
        with self._lock:
            if self._pid != os.getpid():  # a forked child has none of the parent's threads
                self._loop, self._thread, self._pid = None, None, os.getpid()
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._loop = asyncio.new_event_loop()
                self._over = asyncio.Event()
                ready = threading.Event()
                self._loop.call_soon(ready.set)
                self._thread = threading.Thread(
                    target=_turn, args=(self._loop,), name="sayso-loop", daemon=True
                )
                self._thread.start()
                ready.wait()
            return self._loop

    def run(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on it, and wait for that."""
        return awaited_on(self.loop(), make)

    def hold(self, manager: AbstractAsyncContextManager[T]) -> T:
        """Enter a context manager on it, and leave it when the loop ends; return what it yields."""
        loop = self.loop()
        over, entered = self._over, Future[T]()

        async def held() -> None:  # one task enters and leaves: some managers want that
            try:
                async with manager as value:
                    entered.set_result(value)
                    assert over is not None  # noqa: S101 - for the types: a loop has one
                    await over.wait()
            except BaseException as error:
                if not entered.done():
                    entered.set_exception(error)
                    return
                raise

        check_loop(loop)
        asyncio.run_coroutine_threadsafe(held(), loop)
        return entered.result()

    def close(self, patience: float = _PATIENCE) -> None:
        """Leave what was entered, cancel what still runs, and end the thread."""
        with self._lock:
            loop, thread, over = self._loop, self._thread, self._over
            self._loop = self._thread = self._over = None
        if loop is None or thread is None or self._pid != os.getpid() or not thread.is_alive():
            return
        if over is not None:
            loop.call_soon_threadsafe(over.set)
        asyncio.run_coroutine_threadsafe(_end(patience), loop)
        thread.join(timeout=2 * patience)
        if thread.is_alive():
            _log.warning(
                "A task on the event loop of the desk was told to end and did not: it swallows "
                "CancelledError, or blocks the loop. Its thread is left behind."
            )


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    """Keep the loop turning: a node that calls `sys.exit()` ends its task, and not the others."""
    asyncio.set_event_loop(loop)
    while True:
        try:
            loop.run_forever()
            break
        except (KeyboardInterrupt, SystemExit):
            continue
    loop.close()


async def _end(patience: float) -> None:
    """Give what runs a moment to end by itself, then cancel it; end the loop when nothing is left."""
    me = {asyncio.current_task()}
    left = asyncio.all_tasks() - me
    if left:
        await asyncio.wait(left, timeout=min(1.0, patience))
    while left := asyncio.all_tasks() - me:
        for task in left:
            task.cancel()
        await asyncio.wait(left)
    asyncio.get_running_loop().stop()


async def apart(work: Callable[[], T], gone: Callable[[], object]) -> T:
    """Do blocking work on a thread of its own, and wait for it.

    Args:
        work: What is to be done.
        gone: Called if the one who waits goes away, so that the work can end.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    around = copy_context()

    def begin() -> None:
        came: Future[T] = Future()
        try:
            came.set_result(around.run(work))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            came.set_exception(error)
        with suppress(RuntimeError):  # the loop may be gone by now
            loop.call_soon_threadsafe(_hand_over, came, done)

    threading.Thread(target=begin, name="sayso-apart", daemon=True).start()
    try:
        return await done
    except asyncio.CancelledError:
        gone()
        raise


def _hand_over(came: Future[T], done: asyncio.Future[T]) -> None:
    if done.cancelled():
        return
    error = came.exception()
    if error is None:
        done.set_result(came.result())
    else:
        done.set_exception(error)
