"""Proof of what happened: verifying the chain, and sealing it.

Each stream is a chain, so an event that was edited, removed from the middle or
swapped with another is found by reading it. Removing the *last* events of a
stream leaves a shorter chain that still holds; only a seal shows that. A seal
is an event in the stream `seals` that lists the heads of all streams changed
since the seal before; as that stream is a chain too, its last hash vouches for
everything sealed so far. Keep that one line elsewhere and even somebody who
can rewrite the whole database cannot do so unnoticed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from typing import Any

from sayso.errors import BadValue, SaysoError, Tampered
from sayso.model.actor import Actor, Origin
from sayso.model.event import GENESIS, Event, follows, link
from sayso.model.folding import fold
from sayso.store.accounts import ACCESS
from sayso.store.admitted import strangers
from sayso.store.base import index_row
from sayso.store.contract import LAW, PEOPLE, Append, Store
from sayso.store.outbox import WEBHOOKS
from sayso.store.subscribed import eavesdroppers

SEALS = "seals"
# Said beside every result, and in docs/explanation/seals-and-erasure.md.
NOT_COVERED = (
    "Events removed at the end of a stream since the last seal.",
    "The order of events of different streams.",
    "When a token or a session was last used, and how often a password was mistyped.",
    "When a token or a webhook was made, the first letters of a token, the browser of a session.",
    "A credential that is gone.",
    "A used link, or a credential of a removed person, that somebody put back.",
    "What waits to be sent to webhooks, and who holds a run or an ask at this moment.",
    "What a run waits for, its attempts, times and code, and how often an ask was repeated.",
    "Indexes made from the journal: for searching, figures, labels, files and the audit log.",
    "Whether the database is a backup.",
    "Everything outside the database: policy files, environment, code.",
)
_HEADS_PER_SEAL = 1000
_SENSELESS = (SaysoError, KeyError, TypeError, ValueError, AttributeError, OverflowError)
_SEAL = re.compile(r"sayso-seal:([0-9]{1,18}):([0-9a-f]{64})")

Progress = Callable[[int, int], None]
Unlike = Callable[[Store, Sequence[Event]], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the journal that cannot have been written by sayso."""

    what: str
    stream: str
    seq: int
    detail: str

    @property
    def of_credentials(self) -> bool:
        """Whether it is of what administrators alone see, and its detail in nobody's words but ours."""
        return self.stream in (ACCESS, WEBHOOKS)

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.what}: {self.stream} event {self.seq}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Seal:
    """The head of the stream of seals. Kept elsewhere, it vouches for everything before it."""

    seq: int
    hash: str

    def __str__(self) -> str:
        """Write the one line to keep."""
        return f"sayso-seal:{self.seq}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Seal:
        """Read the one line that was kept.

        Raises:
            BadValue: it is not such a line.
        """
        found = _SEAL.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise BadValue(f"{text!r} is no seal; it looks like sayso-seal:12:9f3c...")
        return cls(int(found[1]), found[2])


@dataclass(frozen=True, slots=True)
class Report:
    """What `verify` found. Truthy when the journal is whole.

    `sealed` is how many streams a seal vouches for, `seal` the number of the last seal there was.
    """

    events: int
    streams: int
    erased: int
    sealed: int
    problems: tuple[Problem, ...]
    seal: int = 0

    def __bool__(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


@dataclass(slots=True)
class _Findings:
    """What has been found so far, while the journal is read once from end to end."""

    store: Store
    sealed: dict[str, set[tuple[int, str]]]
    events: int = 0
    streams: int = 0
    erased: int = 0
    problems: list[Problem] = field(default_factory=list)
    asks: dict[str, dict[str, object]] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)

    def problem(self, what: str, stream: str, seq: int, detail: str) -> None:
        self.problems.append(Problem(what, stream, seq, detail))


def verify(
    store: Store,
    *,
    seal: Seal | None = None,
    progress: Progress | None = None,
    unlike: Unlike | None = None,
) -> Report:
    """Read the whole journal and name everything that is not as it was written.

    `seal` is one that was kept elsewhere: the journal must contain it. `unlike` says in what the list
    differs from a stream, for streams that only others can read.
    """
    total = store.total()
    seals = store.stream(SEALS)
    found = _Findings(store, _sealed(seals))
    for events in _streams(store):
        _check_chain(events, found)
        _check_erased(events, found)
        _check_sealed(events, found)
        _note_index(events, found)
        _check_files(events, found)
        _check_run(events, found)
        for each in unlike(store, events) if unlike is not None else ():
            found.problem("index", events[0].stream, 0, each)
        found.events += len(events)
        found.streams += 1
        if progress is not None:
            progress(found.events, total)
    _compare_index(found)
    _check_people(found)
    _check_rows(ACCESS, strangers, found)
    _check_rows(WEBHOOKS, eavesdroppers, found)
    _check_missing(found)
    if seal is not None:
        _check_kept(store, seal, found)
    return Report(
        found.events,
        found.streams,
        found.erased,
        len(found.sealed),
        tuple(found.problems),
        seals[-1].seq if seals else 0,
    )


def _streams(store: Store) -> Iterator[list[Event]]:
    """Yield the events of one stream after the other, across the batches of a scan."""
    flow = (event for batch in store.scan() for event in batch)
    for _, events in groupby(flow, key=lambda event: event.stream):
        yield list(events)


def _check_chain(events: Sequence[Event], found: _Findings) -> None:
    """Walk one chain. After a break it goes on from the stored hash, to name each fault once."""
    broken = []
    before, expected = GENESIS, 1
    for event in events:
        if event.seq != expected:
            span = str(expected) if event.seq == expected + 1 else f"{expected} to {event.seq - 1}"
            found.problem("deleted", event.stream, expected, f"missing: event {span}")
        elif not follows(event, before):
            broken.append(event)
        before, expected = event.hash, event.seq + 1
    if broken:
        _name_broken(events, broken[:20], found)


def _name_broken(events: Sequence[Event], broken: Sequence[Event], found: _Findings) -> None:
    """Tell rows that changed places from rows whose content changed."""
    seqs = {event.seq for event in broken}
    near = {event.hash for event in events if event.seq in seqs or event.seq + 1 in seqs}
    near.add(GENESIS)
    faults = len(found.problems)
    misplaced = []
    for event in broken:
        home = _home(event, seqs, near)
        if home is None:
            found.problem("edited", event.stream, event.seq, f"{event.kind} was changed")
        elif home != event.seq:
            found.problem("swapped", event.stream, event.seq, f"it was written as event {home}")
        else:
            misplaced.append(event)
    # A whole event behind a swapped one misses only its neighbour, which is named already.
    if len(found.problems) == faults:
        for event in misplaced:
            found.problem("swapped", event.stream, event.seq, "the event before it is another one")


def _home(event: Event, seqs: set[int], near: set[bytes]) -> int | None:
    """Return the number under which the event would hold, its own first; `None` if under none."""
    for seq in (event.seq, *sorted(seqs)):
        if any(follows(event, before, seq=seq) for before in near):
            return seq
    return None


def _check_erased(events: Sequence[Event], found: _Findings) -> None:
    blank = [event for event in events if event.text is None]
    if not blank:
        return
    erasures = [_said(event) for event in events if event.kind == "payload.erased"]
    said = {seq for erasure in erasures for seq in _list(erasure, "seqs")}
    found.erased += len(blank)
    # Seals, the law, people, access and webhooks are proof, not anybody's words: nothing of them is erased.
    erasable = events[0].stream not in (SEALS, LAW, PEOPLE, ACCESS, WEBHOOKS)
    for event in blank:
        if event.seq not in said or not erasable:
            found.problem(
                "blanked", event.stream, event.seq, "its payload is gone, nobody erased it"
            )


def _check_sealed(events: Sequence[Event], found: _Findings) -> None:
    """Hold a stream against every seal: a later seal must not wipe out an earlier one."""
    stream, last = events[0].stream, events[-1].seq
    found.met.add(stream)
    hashes = {event.seq: event.hash.hex() for event in events}
    for seq, hashed in sorted(found.sealed.get(stream, ())):
        if seq > last:
            detail = f"a seal saw event {seq}; the last is {last}"
            found.problem("truncated", stream, last + 1, detail)
        elif hashes.get(seq, hashed) != hashed:
            found.problem("rewritten", stream, seq, "its hash is not the one that was sealed")


def _check_missing(found: _Findings) -> None:
    for stream, heads in found.sealed.items():
        if stream not in found.met:
            detail = f"a seal saw events up to {max(heads)[0]}; none is left"
            found.problem("truncated", stream, 1, detail)
    for ask_id in found.store.strays():
        found.problem("deleted", ask_id, 1, "the ask is listed but has no journal")
    for run_id in found.store.stray_runs():
        found.problem("deleted", run_id, 1, "the run is listed but has no journal")


def _note_index(events: Sequence[Event], found: _Findings) -> None:
    """Remember what the index should say, and compare it a few hundred asks at a time."""
    first = events[0]
    if first.kind != "ask.opened":
        return
    try:
        found.asks[first.stream] = _told(events)
    except _SENSELESS as error:
        found.problem("impossible", first.stream, first.seq, str(error))
        return
    if len(found.asks) >= 500:
        _compare_index(found)


def _check_files(events: Sequence[Event], found: _Findings) -> None:
    """Compare the files that an ask shows with the bytes that are kept."""
    first = events[0]
    if first.kind != "ask.opened" or first.text is None or '"files":[' not in first.text:
        return
    try:
        shown = [note["digest"] for note in _said(first)["content"].get("files", ())]
    except _SENSELESS:
        return  # named as impossible already
    for number, digest in enumerate(shown, start=1):
        if digest in found.files:
            continue
        data = found.store.file(digest)
        if data is not None and sha256(data).hexdigest() == digest:
            found.files.add(digest)
        elif found.store.stream(first.stream)[0].text is not None:  # not erased meanwhile
            what = "gone" if data is None else "not what was shown"
            found.problem("edited", first.stream, first.seq, f"file {number} is {what}")


# What the last event of a run says of its status; while it goes on, only its row knows.
_LEFT: Mapping[str, tuple[str, ...]] = {
    "run.done": ("done",),
    "run.failed": ("failed",),
    "run.parked": ("parked",),
    "run.cancelled": ("cancelled",),
}
_GOING_ON = ("ready", "running", "waiting")


def _check_run(events: Sequence[Event], found: _Findings) -> None:
    """Compare the row of a run with its journal. On a desk in use it may have moved on."""
    stream = events[0].stream
    if events[0].kind != "run.started":
        return
    last, row = events[-1], found.store.run(stream)
    while (head := found.store.head(stream)).seq != last.seq and head.seq > 0:
        last, row = found.store.stream(stream, head.seq - 1)[-1], found.store.run(stream)
    if row is None:
        found.problem("index", stream, 0, "the run is in the journal but not in the list")
        return
    if row.status not in _LEFT.get(last.kind, _GOING_ON):
        detail = f"status is {row.status!r} in the list, the journal ends with {last.kind}"
        found.problem("index", stream, 0, detail)
    if row.seq != last.seq:
        found.problem(
            "truncated",
            stream,
            last.seq + 1,
            f"the list counts {row.seq} events, it has {last.seq}",
        )
    started = _said(events[0])
    for column in ("workflow", "path", "thread", "team"):
        if events[0].text is not None and getattr(row, column) != started.get(column):
            found.problem("index", stream, 0, f"{column} is not as the journal says")


def _told(events: Sequence[Event]) -> dict[str, object]:
    """Return what the journal says the index must say; of an erased ask, what is left of it."""
    told = index_row(fold(events))
    if any(event.text is None for event in events):
        return {name: told[name] for name in ("id", "ask_stream", "status", "version")}
    return told


def _compare_index(found: _Findings) -> None:
    listed = found.store.indexed(list(found.asks)) if found.asks else {}
    for ask_id, told in found.asks.items():
        if not _agrees(listed.get(ask_id), told):
            _look_again(found, ask_id)
    found.asks.clear()


def _agrees(row: Mapping[str, object] | None, told: Mapping[str, object]) -> bool:
    return row is not None and all(row[column] == told[column] for column in told)


def _look_again(found: _Findings, ask_id: str) -> None:
    """Name what differs. On a desk in use the ask may have moved on between two reads."""
    row = found.store.indexed([ask_id]).get(ask_id)
    while True:
        events = found.store.stream(ask_id)
        again = found.store.indexed([ask_id]).get(ask_id)
        if row == again:
            break
        row = again
    if row is None:
        found.problem("index", ask_id, 0, "the ask is in the journal but not in the list")
        return
    try:
        told = _told(events)
    except _SENSELESS as error:
        found.problem("impossible", ask_id, 0, str(error))
        return
    for column, value in told.items():
        if row[column] != value:
            name = column.removeprefix("ask_")
            detail = f"{name} is {row[column]!r} in the list, {value!r} in the journal"
            found.problem("index", ask_id, 0, detail)


def _check_people(found: _Findings) -> None:
    roster = found.store.register()
    while True:  # until no change came between the reads
        told = people_told(found.store.stream(PEOPLE))
        again = found.store.register()
        if roster == again:
            break
        roster = again
    listed = {name: (roles, roster.teams[name]) for name, roles in roster.people.items()}
    for name in sorted(set(told) | set(listed)):
        if told.get(name) != listed.get(name):
            found.problem("index", PEOPLE, 0, f"{name} is not as the journal says")


def _check_rows(stream: str, compared: Callable[[Store], Sequence[str]], found: _Findings) -> None:
    """Compare the rows of a table with the stream that tells of them."""
    try:
        differences = compared(found.store)
    except OverflowError:
        differences = ["a row has a time that is none, so no row could be compared"]
    for each in differences:
        found.problem("index", stream, 0, each)


def people_told(events: Sequence[Event]) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return the roles and teams of the people that the journal tells of."""
    told: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for event in events:
        said = _said(event)
        name = str(said.get("name", ""))
        if event.kind == "person.removed":
            told.pop(name, None)
        elif name:
            told[name] = _words(said, "roles"), _words(said, "teams")
    return told


def _said(event: Event) -> dict[str, Any]:
    """Return what an event says, as far as it makes sense; that it was edited is named elsewhere."""
    try:
        return event.payload or {}
    except Tampered:
        return {}


def _words(said: Mapping[str, Any], name: str) -> frozenset[str]:
    return frozenset(str(word) for word in _list(said, name))


def _list(said: Mapping[str, Any], name: str) -> list[Any]:
    found = said.get(name)
    return found if isinstance(found, list) else []


def _sealed(seals: Sequence[Event]) -> dict[str, set[tuple[int, str]]]:
    """Return every head that any seal saw, by stream and number."""
    heads: dict[str, set[tuple[int, str]]] = {}
    for event in seals:
        for head in _list(_said(event), "heads"):
            if isinstance(head, list) and [type(part) for part in head] == [str, int, str]:
                stream, seq, hashed = head
                heads.setdefault(stream, set()).add((seq, hashed))
    return heads


def _check_kept(store: Store, seal: Seal, found: _Findings) -> None:
    there = store.stream(SEALS, seal.seq - 1)
    if not there or there[0].hash.hex() != seal.hash:
        detail = "the seal that was kept elsewhere is not in this journal"
        found.problem("rewritten", SEALS, seal.seq, detail)


def make_seal(store: Store, *, by: Actor, origin: Origin, progress: Progress | None = None) -> Seal:
    """Seal the heads of all streams that changed since the last seal.

    Returns the line to keep elsewhere. Sealing again with nothing new returns
    the same line.
    """
    while True:
        before = store.stream(SEALS)
        last = before[-1].payload if before else None
        cursor = last["upto"] if last else None
        heads, upto = _changed(store, cursor, progress)
        if not heads and before:
            return Seal(before[-1].seq, before[-1].hash.hex())
        appends = _seal_events(store, before[-1] if before else None, heads, upto, by, origin)
        if store.commit(*appends):
            last_event = appends[-1].event
            return Seal(last_event.seq, last_event.hash.hex())


def _changed(
    store: Store, cursor: str | None, progress: Progress | None
) -> tuple[dict[str, tuple[int, str]], str | None]:
    heads: dict[str, tuple[int, str]] = {}
    seen = 0
    try:
        store.tail(cursor, 1)
    except BadValue:  # restored from a backup since: seal everything anew
        cursor = None
    while events := store.tail(cursor, 2000):
        cursor = events[-1].cursor
        seen += len(events)
        for event in events:
            if event.stream != SEALS and event.seq > heads.get(event.stream, (0, ""))[0]:
                heads[event.stream] = (event.seq, event.hash.hex())
        if progress is not None:
            progress(seen, seen)
    return heads, cursor


def _seal_events(
    store: Store,
    last: Event | None,
    heads: Mapping[str, tuple[int, str]],
    upto: str | None,
    by: Actor,
    origin: Origin,
) -> list[Append]:
    """Split the heads over events of bounded size; the last one carries the new cursor."""
    rows: list[list[Any]] = [
        [stream, seq, hashed] for stream, (seq, hashed) in sorted(heads.items())
    ]
    batches = [rows[n : n + _HEADS_PER_SEAL] for n in range(0, len(rows), _HEADS_PER_SEAL)] or [[]]
    appends = []
    now = store.now()
    for batch in batches:
        payload = {"heads": batch, "upto": upto, "via": origin.via, "account": origin.account}
        last = link(
            SEALS,
            last.seq + 1 if last else 1,
            "journal.sealed",
            at=now,
            actor=by,
            payload=payload,
            salt=os.urandom(16),
            previous=last.hash if last else GENESIS,
        )
        appends.append(Append(event=last))
    return appends
