"""The journal of one run while somebody carries it on: what is known, and what is to be written.

Results are gathered and written together: before any new code runs, when the
run pauses or ends, and after 20 milliseconds. Every write is fenced by the token
of the claim, so that a worker that was given up for dead writes nothing.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sayso.asks.lawbook import InForce, Lawbook
from sayso.asks.opening import check_decidable, opening
from sayso.asks.pacing import check_pace
from sayso.asks.ruling import rule, ruled, weighed
from sayso.asks.spending import Ending, finish
from sayso.asks.standing import Standing, grow, stamped, told
from sayso.asks.trusting import granted, spared, staked
from sayso.errors import (
    BadPolicy,
    Denied,
    FinishedLate,
    SaysoError,
    StoreBusy,
    StoreError,
    StoreUnavailable,
    Tampered,
    ThreadBusy,
    TooManyAsks,
    UnknownRole,
    Unsatisfiable,
)
from sayso.model.actor import Actor, Origin, Roster
from sayso.model.ask import Ask
from sayso.model.call import Call
from sayso.model.content import Content
from sayso.model.event import GENESIS, Event, follows, link
from sayso.model.ids import short_id
from sayso.model.tool import Bound
from sayso.runs.steering import check_thread
from sayso.runs.stops import Fenced, NotStarted, Outdated, Stop
from sayso.store.contract import (
    Append,
    HoldRun,
    LeaveRun,
    Opening,
    RunChange,
    RunRow,
    StartRun,
    Store,
)

_log = logging.getLogger("sayso.runs")
FLUSH_AFTER = 0.02
_PAUSES = (0.05, 0.2, 1.0, 3.0)
_LONG_PAUSES = (5.0,) * 60
_REFUSED = (Denied, TooManyAsks, UnknownRole, Unsatisfiable)  # by a ruling, with nothing written
_ID_LENGTH = 8  # ids of a run's asks are made before anybody can say whether they are free


@dataclass(frozen=True, slots=True)
class Entry:
    """A step as it was recorded."""

    verb: str
    name: str
    said: Mapping[str, Any]
    failed: bool


@dataclass(frozen=True, slots=True)
class Begun:
    """A call that needs no approval, as it was last begun."""

    args: Mapping[str, Any]
    worker: str
    attempt: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Finished:
    """A call that came to its end, not yet written down."""

    call: Call
    ending: Ending
    result: object
    error: str | None


class Journal:
    """What one run did so far, and what is about to be written."""

    def __init__(
        self,
        store: Store,
        row: RunRow,
        *,
        agent: str,
        origin: Origin,
        span: timedelta,
        code: str = "",
        started: dict[str, Any] | None = None,
        law: Lawbook | None = None,
    ) -> None:
        self.store = store
        self.row = row
        self.origin = origin
        self.law = law
        self.actor = Actor("agent", agent)
        self.span = span
        self.code = code
        self.token = row.token or ""
        self.doing: str | None = None
        self.progress: float | None = None
        self.entries: dict[str, Entry] = {}
        self.begun: dict[str, Begun] = {}
        # How often a person let it go on after it had used up what it was given, and of what.
        self.granted: Counter[str] = Counter()
        self.asks: dict[str, Ask] = {}
        self.opened: list[Ask] = []
        self.prefixes: set[str] = set()
        self._read_as: dict[str, tuple[Event, ...]] = {}
        self._again: Mapping[str, int] = {}
        self._latest: datetime | None = None
        self.lost = False
        self.wake = row.wake
        self._lock = threading.RLock()
        self._buffer: list[Append] = []
        self._finished: list[Finished] = []
        self._since: float | None = None
        # By which law calls need nobody, by their place; and what is gathered as it was before it was ruled.
        self.alone: dict[str, tuple[bytes, str | None]] = {}
        # The content of calls that were ruled on and need people, until they are asked.
        self.prepared: dict[str, tuple[Bound, Content]] = {}
        self._unruled: dict[str, tuple[str, Content, InForce | None]] = {}
        self._forgot = False
        self._held_until = time.monotonic() + span.total_seconds()
        self._seq, self._head = 0, GENESIS
        self._new = started is not None
        if started is not None:
            self.started = started
            self.note("run.started", started)
        else:
            self._read()

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.row.id

    @property
    def unwritten(self) -> bool:
        """Whether nothing of the run is in the database yet."""
        return self._new

    @property
    def last(self) -> str | None:
        """The name of the last step that was recorded."""
        return next((entry.name for entry in reversed(self.entries.values())), None)

    # --- what is known ---

    def _read(self) -> None:
        events, asked = self._history()
        self.started = check_journal(self.id, events, self.row.seq)
        self._seq, self._head = events[-1].seq, events[-1].hash
        self._latest = events[-1].at
        self.entries = entries_of(events)
        self.begun = begun_of(events)
        parked = [event.payload or {} for event in events if event.kind == "run.parked"]
        self.granted = Counter(said["more"] for said in parked if said.get("more"))
        self._again = forgotten(events)
        self._take_in(asked)

    def _history(self) -> tuple[list[Event], list[list[Event]]]:
        """Return the run's own journal, and those of its asks."""
        journals = self.store.history(self.id)
        if not journals or journals[0][0].stream != self.id:
            return [], journals
        return journals[0], journals[1:]

    def _take_in(self, journals: Sequence[Sequence[Event]]) -> None:
        for events in journals:
            check_ask(events)
            self._latest = max(self._latest or events[-1].at, events[-1].at)
        self._read_as = {events[0].stream: tuple(events) for events in journals}
        asks = asks_of(self.id, journals)
        self.asks = {ask.key.removeprefix(f"{self.id}:"): ask for ask in asks if ask.key}
        inner = [key for key in (*self.entries, *self.asks) if "." in key]
        self.prefixes = {prefix for key in inner for prefix in prefixes(key)}

    def place(self, key: str) -> str:
        """Return where a call is asked for now: once a person retried it, in a new place."""
        again = self._again.get(key, 0)
        return f"{key}!{again}" if again else key

    def places(self, key: str) -> list[str]:
        """Return where a call was ever asked for."""
        return [key, *(f"{key}!{number}" for number in range(1, self._again.get(key, 0) + 1))]

    def standing(self, key: str) -> Standing | None:
        """Return an ask as it was read, if it is still known to be so."""
        ask = self.asks[key]
        events = self._read_as.get(ask.stream)
        if not events or events[-1].seq != ask.seq:
            return None
        return Standing(ask, self.store.now(), Roster({}), None, False, 0, events)  # noqa: FBT003

    def refresh(self) -> None:
        """Read again what people may have decided meanwhile.

        Raises:
            Fenced: somebody else has the run.
        """
        self.flush()  # what is only gathered yet would be missing from what is read
        row = self.store.run(self.id)
        if row is None or row.token != self.token:
            raise self.fenced()
        self._forgot = False
        self.wake = row.wake  # before the asks: a decision in between is then looked at twice
        self._take_in(self.store.run_asks(self.id))

    def reread(self, key: str) -> Ask:
        """Return one ask as it stands in the database."""
        events = self.store.stream(self.asks[key].stream)
        check_ask(events)
        self._read_as[self.asks[key].stream] = tuple(events)
        self.asks[key] = told(events)
        return self.asks[key]

    # --- what is to be written ---

    def _now(self) -> datetime:
        """Return the present, but never a time before what was read or written already.

        Clocks differ between machines, and what follows must not look as if it came first.
        """
        self._latest = max(self.store.now(), self._latest or self.row.started_at)
        return self._latest

    def note(self, kind: str, payload: dict[str, Any], actor: Actor | None = None) -> None:
        """Add an event to the run's own stream."""
        with self._lock:
            event = self._next(kind, payload, actor)
            self._seq, self._head = event.seq, event.hash
            self._add(Append(event=event))

    def _next(self, kind: str, payload: dict[str, Any], actor: Actor | None = None) -> Event:
        return link(
            self.id,
            self._seq + 1,
            kind,
            at=self._now(),
            actor=actor or self.actor,
            payload=payload,
            salt=os.urandom(16),
            previous=self._head,
        )

    def record(self, key: str, verb: str, name: str, *, failed: bool = False, **said: Any) -> None:  # noqa: ANN401
        """Write down what a step came to."""
        payload = {"key": key, "verb": verb, "name": name, **said}
        self.note("step.failed" if failed else "step.done", payload)
        self.entries[key] = Entry(verb, name, payload, failed)

    def begin(self, key: str, name: str, args: Mapping[str, Any], attempt: int) -> None:
        """Write down that a call which needs no approval is about to be carried out.

        Raises:
            Outdated: the law by which it needs none is another one by now.
            Fenced: somebody else has the run.
        """
        worker = self.row.worker or ""
        said = {"key": key, "name": name, "args": args, "attempt": attempt, "worker": worker}
        with self._lock:
            mark, ruled = self.alone.pop(key, (None, None))
            before = self._seq, self._head
            event = self._next("step.begun", said if ruled is None else {**said, "ruled": ruled})
            self._seq, self._head = event.seq, event.hash
            written = False
            try:
                written = self.commit(Append(event=event, law=mark))
            finally:
                if not written:
                    self._seq, self._head = before
            if not written:
                raise Outdated(self.id) if self._moved(mark) else self.fenced()
        self.begun[key] = Begun(args, worker, attempt, self.store.now())

    def open(self, key: str, content: Content) -> Ask:
        """Add the opening of an ask. It is written with whatever is written next.

        Raises:
            Denied: the policy does not allow it.
        """
        ask_id = short_id("a", os.urandom(16), _ID_LENGTH)
        content = weighed(self.store, content)
        while True:
            law = None if self.law is None else self.law.current(self.store)
            coin = None if self.law is None else self.law.coin
            try:
                append, alone = self._ruled(key, ask_id, content, law, coin)
            except _REFUSED:
                if law is None or not self._moved(law.mark):
                    raise
                continue
            ask = self._let_alone(key, append) if alone else self._put(key, append, content, law)
            if ask is not None:
                return ask

    def _ruled(
        self,
        key: str,
        ask_id: str,
        content: Content,
        law: InForce | None,
        coin: Callable[[], float] | None,
    ) -> tuple[Opening, bool]:
        """Return the opening of an ask as the law wants it, and whether it needs nobody."""
        paced, stake, alone = False, None, False
        if law is not None:
            now = self.store.now()
            ruling = rule(law, content, now, always=True)
            stake, content = staked(law, content, ruling)
            content = ruled(content, ruling, now)
            if coin is not None:
                alone, content = spared(self.store, coin, stake, content, ask_id)
            paced = not alone
            if paced:
                check_pace(self.store, law, content)
            check_decidable(self.store, content, fresh=True)
        append = opening(
            ask_id,
            content,
            store=self.store,
            origin=self.origin,
            key=f"{self.id}:{key}",
            at=self._now(),
            law=None if law is None else law.mark,
            paced=paced,
            stake=stake,
        )
        return append, alone

    def _put(self, key: str, append: Opening, content: Content, law: InForce | None) -> Ask:
        with self._lock:
            self._add(append)
            self._unruled[append.event.stream] = key, content, law
            self.asks[key] = append.ask
            self.opened.append(append.ask)
        return append.ask

    def _let_alone(self, key: str, append: Opening) -> Ask | None:
        """Write an ask that nobody has to be asked, decided as it opens: it is carried out next.

        Returns `None` if the law is another one by now.
        """
        with self._lock:
            ask, decided = granted(append.ask, self.store)
            if not self.commit(replace(append, ask=ask), decided):
                if self._moved(append.law):
                    return None
                raise self.fenced()
            self.asks[key] = ask
        return ask

    def _moved(self, mark: bytes | None) -> bool:
        """Whether the law is another one by now than that of this mark."""
        return self.law is not None and mark is not None and self.law.moved(self.store, mark)

    def _rule_again(self) -> bool:
        """Rule anew on what is gathered and was ruled by a law of before; whether there was any.

        A call of which the law says something else by now may need nobody, or be denied, so it is
        forgotten: whoever waits for it comes by here again. So is what is not to be asked any more.
        """
        gathered = [each for each in self._buffer if isinstance(each, Opening)]
        stale = [each for each in gathered if self._moved(each.law)]
        for each in stale:
            key, content, before = self._unruled[each.event.stream]
            place = self._buffer.index(each)
            self.opened.remove(each.ask)
            append = None
            with suppress(*_REFUSED, BadPolicy):
                law = None if self.law is None else self.law.current(self.store)
                if content.kind != "action" or _says_the_same(before, law, content, each.event.at):
                    append, _ = self._ruled(key, each.event.stream, content, law, None)
                    self._unruled[each.event.stream] = key, content, law
            if append is None:
                del self._buffer[place], self.asks[key]
                self._forgot = True
            else:
                self._buffer[place], self.asks[key] = append, append.ask
                self.opened.append(append.ask)
        return bool(stale)

    def finish(self, key: str, came: Finished) -> Ask:
        """Add what came of a call."""
        said = stamped(self.origin, error=came.error, attempt=came.call.attempt)
        if came.result is not None:
            said["result"] = came.result
        with self._lock:
            event, ask = grow(
                self.asks[key],
                f"effect.{came.ending}",
                at=self._now(),
                actor=self.actor,
                payload=said,
            )
            self._finished.append(came)
            self._add(Append(event=event, ask=ask))
            self.asks[key] = ask
        return ask

    def drop_openings(self) -> list[Ask]:
        """Forget asks that were not written yet, and return those of this claim that were."""
        with self._lock:
            unwritten = {a.event.stream for a in self._buffer if a.event.kind == "ask.opened"}
            self._buffer = [a for a in self._buffer if a.event.stream not in unwritten]
            written = [ask for ask in self.opened if ask.stream not in unwritten]
            self.opened.clear()
        return written

    def _add(self, append: Append) -> None:
        self._buffer.append(append)
        if self._since is None:
            self._since = time.monotonic()

    # --- writing ---

    def flush(self) -> None:
        """Write everything that is gathered, durably.

        Raises:
            Fenced: somebody else has the run.
        """
        with self._lock:
            if (self._buffer or self._new) and not self.commit():
                raise self.fenced()

    def flush_if_due(self) -> None:
        """Write what has been waiting for 20 milliseconds; called by the pulse.

        The pulse has the leases of others to keep: it waits neither for whoever writes already, nor
        long for the database.
        """
        since = self._since  # the run may write it, and forget it, at any moment
        if since is None or time.monotonic() - since < FLUSH_AFTER:
            return
        if not self._lock.acquire(blocking=False):
            return
        self._hurried = True
        try:
            self.flush()
        except Stop:
            pass  # the next verb says so
        except SaysoError as error:
            _log.warning("Writing the journal of %s failed; trying again: %s", self.id, error)
        finally:
            self._hurried = False
            self._lock.release()

    _hurried = False

    def commit(self, *more: Append) -> bool:
        """Write what is gathered and this, under the fence; False if `more` was too late.

        Raises:
            Fenced: somebody else has the run.
        """
        with self._lock:
            change: RunChange
            if self._new:
                begun = self.row._replace(attempt=1, seq=self._seq, progress=self.progress)
                change = StartRun(begun, self.span)
            else:
                change = HoldRun(
                    id=self.id,
                    token=self.token,
                    seq=self._seq,
                    span=self.span,
                    doing=self.doing,
                    progress=self.progress,
                    code=self.code,
                )
            return self._commit(change, *more)

    def leave(self, status: Any, *, waits: Sequence[str] = (), wake: int | None = None) -> bool:  # noqa: ANN401
        """Write what is gathered and let go of the run; False if there is more to do first.

        Raises:
            Fenced: somebody else has the run.
        """
        with self._lock:
            change: RunChange
            if self._new:
                left = self.row._replace(
                    status=status,
                    waits=tuple(waits),
                    token=None,
                    seq=self._seq,
                    progress=self.progress,
                )
                change = StartRun(left)
            else:
                change = LeaveRun(
                    id=self.id,
                    token=self.token,
                    seq=self._seq,
                    status=status,
                    waits=tuple(waits),
                    wake=wake,
                    progress=self.progress,
                    code=self.code if status == "waiting" else None,
                )
            return self._commit(change)

    def _commit(self, change: RunChange, *more: Append) -> bool:
        if self.lost:
            raise self.fenced()
        if self._forgot and self._waiting(change):
            return False  # it would wait for what is not to be asked any more
        begun = time.monotonic()
        written = self._written([*self._buffer, *more], change)
        while not written and self._rule_again():
            if self._waiting(change) and self._forgot:
                return False
            written = self._written([*self._buffer, *more], change)
        if not written:
            row = self._check_fence()
            missed = isinstance(change, LeaveRun) and change.wake not in (None, row.wake)
            if missed or not self._settled_apart():
                return False
            written = self._written([*self._buffer, *more], change)
            if not written:
                return False
        self._held_until = begun + self.span.total_seconds()
        self._new = False
        self._buffer.clear()
        self._finished.clear()
        self._unruled.clear()
        self._since = None
        return True

    def _waiting(self, change: RunChange) -> bool:
        """Whether it lets go of the run until people have answered."""
        status = change.row.status if isinstance(change, StartRun) else None
        return status == "waiting" or (isinstance(change, LeaveRun) and change.status == "waiting")

    def _settled_apart(self) -> bool:
        """Write what calls came to by itself, where a late result of another worker came between."""
        if not self._finished:
            return False
        streams = {came.call.ask.stream for came in self._finished}
        self._report()
        self._buffer = [append for append in self._buffer if append.event.stream not in streams]
        for key, ask in tuple(self.asks.items()):
            if ask.stream in streams:
                self.reread(key)
        return True

    def _report(self) -> None:
        while self._finished:
            came = self._finished[0]
            with suppress(FinishedLate):
                finish(
                    self.store,
                    came.call,
                    came.ending,
                    origin=self.origin,
                    result=came.result,
                    error=came.error,
                )
            self._finished.pop(0)

    def check_lease(self) -> None:
        """Look at the clock once more, right before something happens in the world.

        Raises:
            Fenced: this process slept so long that others may have given it up.
        """
        if time.monotonic() > self._held_until:
            raise self.fenced()

    def _written(self, appends: list[Append], change: RunChange) -> bool:
        """Commit, through a short outage of the database if need be.

        What a call came to is known to nobody else, so a longer one is waited for with it.
        """
        long = _LONG_PAUSES if self._finished and not self._hurried else ()
        for number, pause in enumerate((*_PAUSES, *long)):
            try:
                return self.store.commit(*appends, run=change)
            except StoreError as error:
                if number >= len(_PAUSES) and not isinstance(error, StoreUnavailable):
                    raise  # it is there, and says no
                _log.warning("The journal of %s could not be written: %s", self.id, error)
                time.sleep(pause)
        return self.store.commit(*appends, run=change)

    def _check_fence(self) -> RunRow:
        row = self.store.run(self.id)
        if self._new:
            raise NotStarted(self._why_not())
        if row is None or row.token != self.token:
            raise self.fenced()
        return row

    def _why_not(self) -> Exception:
        try:
            if self.row.thread is not None:
                check_thread(self.store, self.row.thread, self.row.team)
        except ThreadBusy as error:
            return error
        return StoreBusy(f"{self.id} could not be started; its id was taken just now. Try again.")

    def fenced(self) -> Fenced:
        """Give the run up. What calls came to is not lost: it is evidence, or settles the effect."""
        with self._lock:  # the pulse may come to know of it at the same moment
            self.lost = True
            self._report()
            self._buffer.clear()
            self._since = None
        return Fenced(f"{self.id} is carried on by somebody else")

    def beat(self) -> None:
        """Say that the run is still being carried on; called by the pulse."""
        if self._new or self.lost:
            return
        begun = time.monotonic()
        if self.store.beat(self.id, self.token, self.span, self.doing):
            self._held_until = begun + self.span.total_seconds()
        else:
            self.lost = True


def check_journal(run_id: str, events: Sequence[Event], last: int) -> dict[str, Any]:
    """Return what the run was started with, if its journal is what was written.

    Raises:
        Tampered: an event was changed, moved or removed.
    """
    _check_chain(run_id, events)
    if events and len(events) != last:
        raise Tampered(
            f"The journal of {run_id} has {len(events)} events, and its row says {last}, so it is "
            "not carried on. Run: sayso audit verify"
        )
    if not events or events[0].kind != "run.started":
        raise Tampered(f"The journal of {run_id} has no beginning. Run: sayso audit verify")
    return events[0].payload or {}


def check_ask(events: Sequence[Event]) -> None:
    """Refuse to go by an answer that is not what was written. An erased one still fits.

    Raises:
        Tampered: an event was changed, moved or removed.
    """
    _check_chain(events[0].stream if events else "an ask", events)


def _check_chain(stream: str, events: Sequence[Event]) -> None:
    before = GENESIS
    for number, event in enumerate(events, start=1):
        if event.seq != number or not follows(event, before):
            raise Tampered(
                f"The journal of {stream} was changed at event {number}, so nothing goes on from "
                "it. Run: sayso audit verify"
            )
        before = event.hash


def prefixes(key: str) -> Iterator[str]:
    """Yield the places around a place: of `3.1.2` these are `3.1` and `3`."""
    while "." in key:
        key = key.rpartition(".")[0]
        yield key


def entries_of(events: Sequence[Event]) -> dict[str, Entry]:
    """Return the recorded steps. A retry forgets the failure that ended the run."""
    entries: dict[str, Entry] = {}
    for event in events:
        if event.kind in ("step.done", "step.failed"):
            said = event.payload or {}
            failed = event.kind == "step.failed"
            entries[said["key"]] = Entry(said["verb"], said["name"], said, failed)
        elif event.kind == "run.retried":
            for key in (event.payload or {}).get("forgets", ()):
                entries.pop(key, None)
    return entries


def begun_of(events: Sequence[Event]) -> dict[str, Begun]:
    """Return the calls without approval that were begun. A retry begins a failed one anew."""
    begun: dict[str, Begun] = {}
    for event in events:
        if event.kind == "step.begun":
            said = event.payload or {}
            begun[said["key"]] = Begun(said["args"], said["worker"], said["attempt"], event.at)
        elif event.kind == "run.retried":
            for key in (event.payload or {}).get("forgets", ()):
                begun.pop(key, None)
    return begun


def forgotten(events: Sequence[Event]) -> Counter[str]:
    """Return how often a person wanted the failure at each place to be tried again."""
    retries = [event.payload or {} for event in events if event.kind == "run.retried"]
    return Counter(key for said in retries for key in said.get("forgets", ()))


def asks_of(run_id: str, journals: Sequence[Sequence[Event]]) -> list[Ask]:
    """Return the asks that this run opened; others may only be filed under its name."""
    asks = [told(events) for events in journals]
    return [ask for ask in asks if ask.key is not None and ask.key.startswith(f"{run_id}:")]


def _says_the_same(
    before: InForce | None, law: InForce | None, content: Content, at: datetime
) -> bool:
    """Whether the law still says of a call what it said before; most changes are about others."""
    if before is None or law is None:
        return before is law
    said = [
        replace(rule(one, content, at, always=always), version=None)
        for one in (before, law)
        for always in (False, True)
    ]
    return said[:2] == said[2:]
