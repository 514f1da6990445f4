"""The books of a desk: what is known of each key, and how the next lines of it are written.

A book is read from its stream and remembered; a line is written in the commit of whatever it tells
of. `(stream, seq)` is unique, so of two who write the next line one looks again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from sayso.asks.standing import stamped
from sayso.autonomy.book import Book, grown, opened, read
from sayso.autonomy.ledger import Key, Ledger, begun, inherited
from sayso.errors import SaysoError
from sayso.model.actor import Actor, Origin
from sayso.model.event import GENESIS, Event, link
from sayso.model.requirement import Requirement
from sayso.store.contract import Append, Store
from sayso.store.trust import TrustRow, put_trust

_log = logging.getLogger("sayso.trust")
BUCKETS = (
    20  # of one tool in the hands of one agent: more of them would each have a grant of its own
)
SYSTEM = Actor("policy", "trust")
ORIGIN = Origin("policy", "")
_BOOKS = 1000  # remembered for each database

_books: WeakKeyDictionary[Store, dict[str, Book]] = WeakKeyDictionary()
_lock = Lock()


def book_of(store: Store, key: str) -> Book | None:
    """Return the book of a key as it is now; `None` if nothing was ever said of it.

    What was read before is remembered, and only what came since is read: if its last event still
    stands. A crash may have taken that, and others may have written another one in its place.

    Raises:
        Tampered: the journal is not what was written.
    """
    book = remembered(store, key)
    events = store.stream(key, 0 if book is None else book.seq - 1)
    if book is not None and [event.hash for event in events[:1]] != [book.head]:
        book, events = None, store.stream(key)
    if book is not None:
        for event in events[1:]:
            book = grown(book, event)
    elif events:
        book = read(events)
    else:
        return None
    remember(store, book)
    return book


def remembered(store: Store, key: str) -> Book | None:
    """Return the book of a key as it was when somebody here read or wrote it last.

    Enough for whoever writes its next line: the commit fails if its last line is not the last one.
    """
    with _lock:
        return _books.setdefault(store, {}).get(key)


def remember(store: Store, book: Book) -> None:
    """Keep a book as it is in the journal by now."""
    with _lock:
        known = _books.setdefault(store, {})
        if len(known) >= _BOOKS:
            known.clear()
        known[book.id] = book


def row_of(book: Book) -> TrustRow:
    """Return how a key stands, as lists have it."""
    key, ledger = book.key, book.ledger
    if book.changed_at is None:
        raise AssertionError("unreachable: a book begins with an event")
    return TrustRow(
        id=book.id,
        team=key.team,
        agent=key.agent,
        version=key.version,
        tool=key.tool,
        bucket=key.bucket,
        tier=key.tier,
        standing=ledger.standing,
        score=ledger.score,
        ends=ledger.ends,
        strikes=ledger.strikes,
        grants=ledger.grants,
        fine=book.fine,
        audits=book.audits,
        harms=book.harms,
        incidents=book.incidents,
        marks=book.marks,
        grant_ask=book.grant_ask,
        flag_ask=book.flag_ask,
        changed_at=book.changed_at,
        seq=book.seq,
    )


def read_books(store: Store) -> Iterator[Book]:
    """Read every book that the journal has, from its first line on."""
    after = ""
    while keys := store.trust_streams(after):
        for key in keys:
            yield read(store.stream(key))
        after = keys[-1]


def list_again(store: Store) -> None:
    """Make the list of keys anew, from what the journal says of each."""
    store.put_trust_again([row_of(book) for book in read_books(store)])


def unlike(store: Store, events: Sequence[Event]) -> Iterator[str]:
    """Say in what the row of a key is not as its journal says, for whoever verifies."""
    if events[0].kind != "trust.begun":
        return
    try:
        told = row_of(read(events))
    except SaysoError as error:
        yield str(error)
        return
    row = store.trust_of(told.id)
    while row is not None and row.seq != told.seq:  # on a desk in use it has moved on
        again = row_of(read(store.stream(told.id)))
        if again == told:
            break
        told, row = again, store.trust_of(told.id)
    if row is None:
        yield "the key is in the journal but not in the list"
        return
    for column, value in told._asdict().items():
        if getattr(row, column) != value:
            yield f"{column} is {getattr(row, column)!r} in the list, {value!r} in the journal"


class Pen:
    """Writes the next lines of one book, all to be committed together.

    Its lines have the time of the store, unless `at` says when what they tell of was.
    """

    def __init__(self, store: Store, book: Book, at: datetime | None = None) -> None:
        self.store = store
        self.book = book
        self.at = at
        self.lines: list[Append] = []
        self.beside: list[Append] = []  # asks that are opened or withdrawn with them

    @classmethod
    def begun(
        cls, store: Store, key: Key, needs: Requirement, at: datetime | None = None
    ) -> Pen | None:
        """Begin the book of a key; a new version of an agent sheds no strikes.

        `None` if the tool has sorted its calls into more buckets than anybody could look after:
        whatever is in a further one stays reviewed.
        """
        kin = store.trust_kin(key.team, key.agent, key.tool)
        buckets = {row.bucket for row in kin}
        if key.bucket not in buckets and len(buckets) >= BUCKETS:
            _log.warning(
                "%s of %s has %d buckets; calls in the bucket %r stay reviewed",
                key.tool, key.agent, BUCKETS, key.bucket,
            )  # fmt: skip
            return None
        ledger = begun(_ledger(row) for row in kin if row.bucket == key.bucket)
        payload = stamped(
            ORIGIN,
            **{name: value for name, value in key._asdict().items() if value},
            needs=[str(factor) for factor in needs.factors],
            ends=ledger.ends or None,
            locked=ledger.standing == "locked" or None,
        )
        event = link(
            key.id,
            1,
            "trust.begun",
            at=at or store.now(),
            actor=SYSTEM,
            payload=payload,
            salt=os.urandom(16),
            previous=GENESIS,
        )
        pen = cls(store, opened(event), at)
        pen.lines.append(Append(event=event))
        return pen

    def write(self, what: str, actor: Actor, origin: Origin, **said: Any) -> None:  # noqa: ANN401
        """Add a line; what is `None` is left out."""
        book, payload = self.book, stamped(origin, **said)
        now = self.at or self.store.now()
        at = now if book.changed_at is None else max(now, book.changed_at)
        event = link(
            book.id,
            book.seq + 1,
            f"trust.{what}",
            at=at,
            actor=actor,
            payload=payload,
            salt=os.urandom(16),
            previous=book.head,
        )
        self.book = grown(book, event, payload)
        self.lines.append(Append(event=event))

    def appends(self) -> list[Append]:
        """Return everything that was written, with the row that it leads to."""
        if not self.lines:
            return self.beside
        *before, last = self.lines
        return [*before, replace(last, beside=(put_trust(row_of(self.book)),)), *self.beside]


def _ledger(row: TrustRow) -> Ledger:
    return inherited(row.ends, locked=row.standing == "locked")
