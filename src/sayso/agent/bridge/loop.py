"""An event loop in a thread of its own, for libraries that speak asyncio only.

One for the whole process: connections belong to the loop that opened them, so whoever calls,
from whichever thread and with or without a loop of their own, finds them open.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
Put = Callable[[str], None]

_PATIENCE = 2.0  # seconds that connections have to say goodbye when the program ends


class Loop:
    """A loop that runs until the program ends."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="sayso-models", daemon=True
        )
        self._thread.start()

    def run(
        self,
        work: Callable[[Put], Coroutine[Any, Any, T]],
        say: Callable[[str], object] | None = None,
    ) -> T:
        """Do the work over there and wait for it here; what it puts is said here, in this thread.

        If saying fails, or this thread is interrupted, the work is cancelled.
        """
        box: SimpleQueue[str | Future[T]] = SimpleQueue()
        # Context variables of this thread (traces, say) go along.
        future = asyncio.run_coroutine_threadsafe(work(box.put), self._loop)
        future.add_done_callback(box.put)
        try:
            while isinstance(piece := box.get(), str):
                if say is not None:
                    say(piece)
            return piece.result()
        except BaseException:
            future.cancel()
            raise

    def later(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Do the work over there, and do not wait. After the end of the loop: not at all."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(lambda: _kept(self._loop.create_task(_quiet(work()))))

    def close(self) -> None:
        """Let what is under way end, and stop."""
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(_finished(), self._loop).result(2 * _PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)
        if not self._thread.is_alive():
            self._loop.close()


_tasks: set[asyncio.Task[None]] = set()


def _kept(task: asyncio.Task[None]) -> None:
    """Hold the task until it is done: a loop alone does not."""
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def _quiet(work: Coroutine[Any, Any, object]) -> None:
    with suppress(Exception):
        await work


async def _finished() -> None:
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    if not rest:
        return
    await asyncio.wait(rest, timeout=_PATIENCE)
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


_here: Loop | None = None
_lock = threading.Lock()


def current() -> Loop:
    """Return the loop of this process, begun when it is first needed."""
    global _here
    with _lock:
        if _here is None:
            _here = Loop()
        return _here


def _forked() -> None:
    """A child has none of its parent's threads: the loop it inherited would never run."""
    global _here, _lock
    _here, _lock = None, threading.Lock()


def _ended() -> None:
    if _here is not None:
        _here.close()


os.register_at_fork(after_in_child=_forked)
atexit.register(_ended)
