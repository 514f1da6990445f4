"""Whoever carries runs on in this process: claims, carries on, lets go, and waits for more.

The database says who may; the bell only wakes. A worker sweeps what time has
made due, clears its ear, claims, and waits only when there was nothing.
"""

from __future__ import annotations

import logging
import os
import platform
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from sayso.asks.lawbook import Lawbook
from sayso.errors import SaysoError, StoreError, Tampered
from sayso.model.actor import Origin
from sayso.model.ask import Ask
from sayso.model.lifecycle import RunStatus
from sayso.runs.alarm import Alarm
from sayso.runs.execution import carry_on, park
from sayso.runs.failures import text_of
from sayso.runs.journal import Journal
from sayso.runs.steering import park_unread
from sayso.runs.stops import Fenced
from sayso.runs.workflow import Workflow
from sayso.store.contract import RunRow, Store
from sayso.store.fleet import ALIVE, Worker

if TYPE_CHECKING:
    from sayso.runs.loops import LoopThread
    from sayso.runs.streams import Listener, Listeners
    from sayso.store.bell import Bell

_log = logging.getLogger("sayso.runs")
_TICK = 0.02
LOOK_EVERY = 1.0  # what no bell tells: a lease that lapsed, a deadline that passed
ATTEMPTS = 5
_OF_LATE = 60.0


@cache
def _version() -> str:
    return version("sayso")


class Shift:
    """The time in which a thread works: until it is told to stop."""

    def __init__(self) -> None:
        self.over = Alarm()

    def stopping(self) -> bool:
        """Whether runs should let go at their next verb."""
        return self.over.is_set()


_UNENDING = Shift()  # of whoever carries on a single run and is told by nobody to stop


@dataclass(frozen=True, slots=True)
class _Bound:
    """The agent of one run, and how that run is claimed."""

    flow: Workflow
    claims: str


class Crew:
    """The threads of one desk that carry runs on, and the pulse that keeps their leases."""

    def __init__(
        self,
        store: Callable[[], Store],
        *,
        serves: Mapping[str, Workflow],
        agent: str,
        origin: Origin,
        lease: float,
        law: Lawbook,
        sweep: Callable[[], object],
        opened: Callable[[Ask], object],
    ) -> None:
        self._store = store
        self._serves = serves
        self._agent = agent
        self._origin = origin
        self.lease = timedelta(seconds=lease)
        self.look_every = LOOK_EVERY
        self._bound: dict[str, _Bound] = {}
        self._chosen: frozenset[str] | None = None
        self._law = law
        self._sweep = sweep
        self._opened = opened
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._name = f"{platform.node()}:{self._pid}"
        self.id = os.urandom(8).hex()
        self._shift = Shift()
        self._loops: LoopThread | None = None
        self._listeners: Listeners | None = None
        self._pulse = Pulse(self.lease, self._still_here)
        self._threads: list[threading.Thread] = []
        self._ears: list[Alarm] = []
        self._engine = "threads"
        self._hands = 0
        self._busy = 0
        self._waits: deque[tuple[float, timedelta]] = deque(maxlen=1000)
        self._lock = threading.Lock()
        self._signing = threading.Lock()

    @property
    def name(self) -> str:
        """The machine and the process."""
        self._check_fork()
        return self._name

    def bind(self, row: RunRow, flow: Workflow) -> None:
        """Carry a run on with this very agent, whatever others are called so."""
        if flow.agent is not None:
            self._bound[row.id] = _Bound(flow, f"{row.workflow}|{row.path}")

    def _flow(self, row: RunRow) -> Workflow | None:
        bound = self._bound.get(row.id)
        if bound is not None:
            return bound.flow
        flow = self._serves.get(row.workflow)
        return None if flow is None or (flow.agent and flow.path != row.path) else flow

    def has(self, row: RunRow) -> bool:
        """Whether this process has the code of a run."""
        return self._flow(row) is not None

    def choose(self, workflows: Iterable[str]) -> None:
        """Carry on runs of these workflows only, of all that this process has the code of."""
        self._chosen = frozenset(workflows)

    def workflows(self) -> tuple[str, ...]:
        """Return the names of the workflows whose runs are carried on here."""
        chosen = self._chosen
        return tuple([name for name in self._serves if chosen is None or name in chosen])

    def _claims(self) -> tuple[str, ...]:
        flows = [self._serves[name] for name in self.workflows()]
        named = {flow.claims for flow in flows} | {f"{flow.name}|={flow.version}" for flow in flows}
        bound = tuple(self._bound.values())
        named |= {f"{one.flow.name}|={one.flow.version}" for one in bound}
        return tuple(named | {one.claims for one in bound})

    def _codes(self) -> tuple[str, ...]:
        flows = [self._serves[name] for name in self.workflows()]
        return tuple(f"{flow.name}={flow.version}" for flow in flows if flow.version)

    # --- one run ---

    def journal(self, row: RunRow, started: dict[str, Any] | None = None) -> Journal:
        """Return the journal of a run that this process may carry on."""
        self._check_fork()
        flow = self._flow(row)
        return Journal(
            self._store(),
            row,
            agent=(flow.agent if flow is not None else None) or self._agent,
            origin=self._origin,
            span=self.lease,
            code=flow.version if flow is not None else "",
            started=started,
            law=self._law,
        )

    def take(
        self,
        only: str | None = None,
        shift: Shift | None = None,
        serves: tuple[str, ...] | None = None,
    ) -> RunStatus | None:
        """Claim one run and carry it on; `None` if there was none to claim."""
        self._check_fork()
        serves = self._claims() if serves is None else serves
        if not serves:
            return None
        self._count(1)  # before the claim: what is claimed is never nobody's work
        try:
            row = self._store().claim(serves, os.urandom(8).hex(), self._name, self.lease, only)
            if row is None:
                return None
            self._note_wait(row)
            self._carry_on(row, shift)
        finally:
            self._count(-1)
        return row.status

    def _note_wait(self, row: RunRow) -> None:
        """Remember how long a run was ready; what somebody left behind says nothing about that."""
        if row.attempt == 1:
            self._waits.append((time.monotonic(), row.now - row.changed_at))

    def _lag(self) -> timedelta | None:
        since = time.monotonic() - _OF_LATE
        return max((wait for at, wait in tuple(self._waits) if at >= since), default=None)

    def _count(self, more: int) -> None:
        with self._lock:
            self._busy += more

    def _carry_on(self, row: RunRow, shift: Shift | None) -> None:
        try:
            journal = self.journal(row)
        except Tampered as error:
            _log.error("%s", error)
            self._give_up(row, str(error))
            return
        if row.attempt > ATTEMPTS:
            park(
                journal,
                f"it was begun {ATTEMPTS} times and came to no end: each time its worker died or "
                f"fell silent. The last thing recorded: {journal.last or 'its start'}.",
            )
            return
        try:
            flow = self._flow(row)
            if flow is None:  # its agent was forgotten just now
                park(journal, f"this process no longer has {row.path}; start a worker that has it.")
                return
            status = self.carry_on(flow, journal, shift)
            if status in ("done", "cancelled"):
                self._bound.pop(row.id, None)
        except Tampered as error:
            _log.error("%s", error)
            self._give_up(row, str(error))
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - no run may take its worker down with it
            _log.exception("%s could not be carried on", row.id)
            self._give_up(row, text_of(error))

    def _give_up(self, row: RunRow, reason: str) -> None:
        park_unread(self._store(), row, reason, origin=self._origin, agent=self._agent)

    def carry_on(
        self, workflow: Workflow, journal: Journal, shift: Shift | None = None
    ) -> RunStatus | None:
        """Carry a run on while the pulse holds its lease."""
        self._check_fork()
        self._pulse.watch(journal)
        try:
            leader = shift or _UNENDING
            return carry_on(workflow, journal, leader, opened=self._opened, place=self)
        finally:
            self._pulse.leave(journal)

    def loops(self) -> LoopThread:
        """Return the thread with the event loop of this desk, for hosts that must be awaited."""
        from sayso.runs.loops import LoopThread

        self._check_fork()
        with self._lock:
            if self._loops is None:
                self._loops = LoopThread()
            return self._loops

    @property
    def listeners(self) -> Listeners:
        """The listeners to runs that are carried on here."""
        from sayso.runs.streams import Listeners

        self._check_fork()
        with self._lock:
            if self._listeners is None:
                self._listeners = Listeners()
            return self._listeners

    def listener(self, run_id: str) -> Listener | None:
        """Return who hears a run, if anybody does."""
        return None if self._listeners is None else self._listeners.of(run_id)

    @property
    def bell(self) -> Bell:
        """What rings when something changes."""
        return self._store().bell

    def close(self) -> None:
        """Let every run go, and end the event loop if there is one."""
        self.stop()
        if self._loops is not None:
            self._loops.close()

    # --- many ---

    def work(
        self,
        *,
        idle: bool,
        threads: int = 1,
        only: str | None = None,
        shift: Shift | None = None,
    ) -> None:
        """Carry on whatever there is; with `idle`, return when there is nothing more."""
        self.start(threads - 1)
        try:
            self._loop(shift or self._shift, idle=idle, only=only)
        finally:
            if threads > 1:
                self.stop()

    def shift(self) -> Shift:
        """Return the time in which this crew works: what began last, or else a new one."""
        self._check_fork()
        if self._shift.stopping():
            self._shift = Shift()
        return self._shift

    def start(self, threads: int) -> None:
        """Carry runs on in the background."""
        shift = self.shift()
        for number in range(threads):
            thread = threading.Thread(
                target=self._loop,
                args=(shift,),
                name=f"sayso-worker-{number + 1}",
                daemon=True,
            )
            self._threads.append(thread)
            thread.start()

    def stop(self, patience: float = 10.0) -> None:
        """Let every run go at its next verb, and wait for that."""
        if self._pid != os.getpid():
            self._reset()
            return
        self.halt()
        until = time.monotonic() + patience
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))
        self._threads = []

    def halt(self) -> None:
        """Ask the loop to end; also from a signal handler."""
        self._shift.over.set()
        for heard in tuple(self._ears):
            heard.set()

    def _loop(self, shift: Shift, *, idle: bool = False, only: str | None = None) -> None:
        store = self._store()
        self._sweep_at = 0.0
        with self.present() as heard, store.bell.listening(heard.set):
            while not shift.stopping():
                heard.clear()  # before looking, or what comes in between would be missed
                if self._round(shift, only):
                    continue
                if idle and self._idle():
                    return
                heard.wait(self.look_every if not idle else 0.05)

    @contextmanager
    def present(self, engine: str = "threads", hands: int = 1) -> Iterator[Alarm]:
        """Be somebody who works here, with so many hands: yields what is set when the shift ends."""
        heard = Alarm()
        self._ears.append(heard)
        self._engine = engine
        self._have(hands)
        try:
            yield heard
        finally:
            self._ears.remove(heard)
            self._have(-hands)
            self._sign_off()

    def _have(self, more: int) -> None:
        with self._lock:
            self._hands += more
        self._signed = 0.0  # say so at the next look

    def patrol(self, late: timedelta, free: Callable[[], int]) -> list[str]:
        """Sign on, do what time has made due, and return runs that somebody should long have taken.

        Args:
            late: How long a run may be ready before somebody else looks after it.
            free: How many of them could be taken.
        """
        try:
            self._keep_time()
            hands = free()
            return self._store().overdue(self._claims(), late, hands) if hands else []
        except SaysoError as error:
            _log.warning("Looking for runs failed; trying again: %s", error)
            return []

    def _keep_time(self) -> None:
        self.sign_on()
        if time.monotonic() >= self._sweep_at:
            self._sweep_at = time.monotonic() + self.look_every
            self._sweep()

    def _round(self, shift: Shift, only: str | None) -> bool:
        try:
            self._keep_time()
            serves = self._claims()
            if only is None and not self._store().claimable(serves):
                return False
            return self.take(only, shift, serves) is not None
        except SaysoError as error:
            _log.warning("Looking for runs failed; trying again: %s", error)
            shift.over.wait(0.5)
            return False

    def _idle(self) -> bool:
        with self._lock:
            return self._busy == 0

    _signed = 0.0
    _sweep_at = 0.0

    def sign_on(self) -> None:
        """Say that we are alive and what we serve, for people to see; not every time."""
        if self._shift.stopping() or time.monotonic() - self._signed < ALIVE.total_seconds() / 3:
            return
        store = self._store()
        worker = Worker(
            self.id,
            self.name,
            self.workflows(),
            store.now(),
            version=_version(),
            engine=self._engine,
            threads=self._hands,
            busy=self._busy,
            lag=self._lag(),
            codes=self._codes(),
        )
        store.put_worker(worker, 20 * ALIVE)
        self._signed = time.monotonic()

    def _still_here(self) -> None:
        """Sign on while every hand is busy: called by the pulse, often."""
        with self._signing:  # whoever signs off meanwhile has the last word
            if not self._ears:
                return
            try:
                self.sign_on()
            except SaysoError as error:
                _log.warning("Signing on failed; trying again: %s", error)
                self._signed = time.monotonic() - ALIVE.total_seconds() / 3 + 1  # in a second

    def _sign_off(self) -> None:
        """Say that nobody here takes runs any more; some may still be carried on to their next verb."""
        if self._ears and not self._shift.stopping():
            return
        with self._signing:
            self._signed = 0.0
            try:
                self._store().drop_worker(self.id)
            except SaysoError:
                _log.debug("Signing off failed.", exc_info=True)

    def _check_fork(self) -> None:
        if self._pid != os.getpid():  # a forked child has none of the parent's threads
            self._reset()


class Pulse:
    """One thread that renews leases and writes what has waited for 20 milliseconds."""

    def __init__(self, lease: timedelta, alive: Callable[[], None]) -> None:
        self._every = lease.total_seconds() / 3
        self._alive = alive
        self._lock = threading.Lock()
        self._live: dict[Journal, float] = {}
        self._thread: threading.Thread | None = None

    def watch(self, journal: Journal) -> None:
        """Keep a run alive until it is left."""
        with self._lock:
            self._live[journal] = time.monotonic() + self._every
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._beat, name="sayso-pulse", daemon=True)
                self._thread.start()

    def leave(self, journal: Journal) -> None:
        """Let go of a run."""
        with self._lock:
            self._live.pop(journal, None)

    def _beat(self) -> None:
        tick = threading.Event()
        quiet = 0
        while True:
            tick.wait(_TICK)
            with self._lock:
                live = dict(self._live)
                quiet = 0 if live else quiet + 1
                if quiet > 50:  # nothing for a second
                    self._thread = None
                    return
            self._alive()
            for journal, due in live.items():
                if time.monotonic() >= due:
                    self._renew(journal)
            for journal in live:
                self._flush(journal)

    def _flush(self, journal: Journal) -> None:
        try:
            journal.flush_if_due()
        except Exception:  # noqa: BLE001 - the leases of all other runs are kept here
            _log.exception("Writing what %s has gathered failed", journal.id)

    def _renew(self, journal: Journal) -> None:
        with self._lock:
            if journal in self._live:
                self._live[journal] = time.monotonic() + self._every
        try:
            journal.beat()
        except (SaysoError, Fenced) as error:
            _log.warning("Renewing the lease of %s failed: %s", journal.id, error)
