"""Workers that Procrastinate wakes: the only module that knows it.

A trigger writes a job for each run that becomes ready, in the transaction that
makes it so. A job says which run to look at, nothing more: it is carried on by
whoever claims its row. Of Procrastinate's own means none is relied upon: no
lock, no retry, no job per timer. What it loses is found by looking.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal

from procrastinate import App, PsycopgConnector
from procrastinate.schema import SchemaManager
from procrastinate.worker import Worker

from sayso.errors import SaysoError
from sayso.model.text import one_line
from sayso.runs.worker import Crew, Shift
from sayso.store.contract import Wakeups

_log = logging.getLogger("sayso.runs")
_TASK = "sayso.wake"
_LOST_AFTER = 2  # looks: a wake-up that takes longer is taken for lost
_CONNECTIONS = 4  # to fetch and to finish; another one listens
_NOTICE = 0.2  # at most this long until the end of the shift is noticed
_TICK = 0.02


@cache
def steps() -> tuple[tuple[str, str], ...]:
    """Return the steps by which the tables of all versions became those of this library."""
    files = sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    return tuple((file.stem, file.read_text("utf-8")) for file in files)


def newest() -> str:
    """Return the last step that this library knows."""
    return steps()[-1][0]


def schema() -> str:
    """Return the SQL of all tables, as of the last step."""
    return str(SchemaManager.get_schema())


class Woken:
    """Carries runs on as Procrastinate wakes it, and looks around for those it was not told of."""

    engine: Literal["procrastinate"] = "procrastinate"

    def __init__(
        self, crew: Crew, wakeups: Wakeups, threads: int, *, grace: timedelta | None = None
    ) -> None:
        self._crew = crew
        self._wakeups = wakeups
        self._threads = threads
        self._grace = grace or _LOST_AFTER * timedelta(seconds=crew.look_every)
        self._busy = 0
        self._lock = threading.Lock()
        self._hands = threading.Semaphore(threads)
        self._started: list[threading.Thread] = []

    # --- from outside ---

    def start(self) -> None:
        """Begin to listen, and to look around."""
        shift = self._crew.shift()
        self._crew.sign_on()
        for work in (self._listen, self._look_around):
            thread = threading.Thread(
                target=work, args=(shift,), name=f"sayso{work.__name__}", daemon=True
            )
            self._started.append(thread)
            thread.start()

    def stop(self, patience: float) -> None:
        """Let every run go at its next verb, and wait for that."""
        self._crew.halt()
        until = time.monotonic() + patience
        for thread in self._started:
            thread.join(max(0.0, until - time.monotonic()))
        self._started = []

    # --- one run ---

    def _carry(self, run_id: str, shift: Shift) -> Future[None]:
        """Carry a run on, if it may be claimed, on a thread of its own."""
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # nobody can call a thread back
        self._count(1)

        def work() -> None:
            try:
                self._with_a_hand(run_id, shift)
            except SaysoError as error:
                _log.warning("Carrying %s on failed; looking again: %s", run_id, error)
            finally:
                self._count(-1)
                done.set_result(None)

        threading.Thread(target=work, name=f"sayso-worker-{run_id}", daemon=True).start()
        return done

    def _with_a_hand(self, run_id: str, shift: Shift) -> None:
        """Carry it on once a hand is free: what we found and what we were told of share them."""
        while not self._hands.acquire(timeout=_NOTICE):
            if shift.stopping():
                return
        try:
            self._crew.take(run_id, shift)
        finally:
            self._hands.release()

    def _count(self, more: int) -> None:
        with self._lock:
            self._busy += more

    # --- what nobody told us ---

    def _look_around(self, shift: Shift) -> None:
        """Keep deadlines, and take what has been ready for too long while there is a hand free."""
        with self._crew.present(self.engine, self._threads) as over:
            while not shift.stopping():
                for run in self._crew.patrol(self._grace, self._free):
                    self._carry(run, shift)
                over.wait(self._crew.look_every)
        while self._free() < self._threads:  # they let go at their next verb
            time.sleep(_TICK)

    def _free(self) -> int:
        with self._lock:
            return max(0, self._threads - self._busy)

    # --- what Procrastinate tells us ---

    def _listen(self, shift: Shift) -> None:
        """Have a worker of Procrastinate at work; whatever ends it, another one takes its place."""
        while not shift.stopping():
            try:
                address, queues = (
                    self._wakeups.address(),
                    self._wakeups.queues(self._crew.workflows()),
                )
                asyncio.run(self._attended(address, queues, shift))
            except Exception as error:  # noqa: BLE001 - whatever it is, runs are found by looking
                said = one_line(str(error.__cause__ or error), 200)
                _log.warning("Procrastinate does not wake us; trying again: %s", said)
            shift.over.wait(self._crew.look_every)

    async def _attended(self, address: str, queues: Sequence[str], shift: Shift) -> None:
        """Let it work until the shift is over: then it fetches nothing more, and waits for what runs."""
        asyncio.get_running_loop().set_exception_handler(_in_words)
        app = App(connector=PsycopgConnector(conninfo=address, min_size=1, max_size=_CONNECTIONS))

        @app.task(name=_TASK)
        async def wake(run: str) -> None:
            await asyncio.wrap_future(self._carry(run, shift))

        worker = Worker(
            app,
            queues=queues,
            name=None,
            concurrency=self._threads,
            delete_jobs="always",
            install_signal_handlers=False,
        )
        working = asyncio.create_task(_opened(app, worker))
        while not working.done():
            if shift.stopping() and worker.worker_id is None:
                working.cancel()  # it is still at the door
            elif shift.stopping():
                worker.stop()  # type: ignore[no-untyped-call]
            await asyncio.wait({working}, timeout=_NOTICE)
        if not working.cancelled():
            working.result()


def _in_words(_: asyncio.AbstractEventLoop, what: dict[str, Any]) -> None:
    """Say what a job of the engine ended in: nobody waits for it, and nothing is lost with it."""
    _log.warning("A wake-up was not tidied away: %s", what.get("exception") or what["message"])


async def _opened(app: App, worker: Worker) -> None:
    async with app.open_async():
        await worker.run()  # type: ignore[no-untyped-call]
