"""The book of one key: everything that was ever said of it, added up.

A key has a stream of its own in the journal, and its book is the fold of that stream, as an ask is
the fold of its own. So the ledger can be made again from the journal at any time, and a row that
was changed by hand lets nothing run alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, get_args

from sayso.autonomy.ledger import (
    Happening,
    Key,
    Ledger,
    What,
    after,
    held_back,
    inherited,
    taking_over,
)
from sayso.autonomy.reach import Reach
from sayso.autonomy.terms import DETECTION, Terms, terms_of
from sayso.errors import Tampered
from sayso.model.event import GENESIS, Event, follows
from sayso.model.stake import LEAST, Least

FAMILY = "trust."
_WHATS = frozenset(get_args(What))
NOWHERE = Reach()
_MARKS = 60  # how much of the record is drawn
_MARK: Mapping[str, str] = {
    "fine": "+",
    "flagged": "?",
    "confirmed": "x",
    "overturned": "o",
    "incident": "!",
    "ratified": "G",
    "declined": "D",
    "revoked": "R",
    "reopened": "O",
}


class Flag(NamedTuple):
    """A call that was flagged, by whom, the audit rate if chance had picked it, and who is asked.

    `question` is the ask whether it was harmful; of two flags of one question both are settled by it.
    """

    call: str
    by: str
    rho: float | None
    question: str | None


@dataclass(frozen=True, kw_only=True)
class Book:
    """What is known of one key.

    Attributes:
        id: The name of its stream.
        key: Whose calls of what.
        ledger: How it stands.
        detection: The share of bad calls that reviewers were last taken to notice.
        seq: Of its last event.
        head: The hash of that, which the next one follows.
        changed_at: When that was.
        begun_at: When the first of its calls was judged.
        needs: Who decides its calls, and so whether it may run alone.
        fine: Calls that people found to be fine.
        audits: Those of them that were picked by the coin, and how many were harmful.
        bad_audits: Of the audits, those that were harmful.
        harms: Confirmed harms.
        incidents: Harm that was reported after the fact.
        granted_at: Since when it runs alone.
        owed: The call that chance picked, and to which people have not spoken yet.
        owed_at: When it did.
        grant_ask: The open ask whether it may.
        flags: What was flagged, and not settled yet.
        marks: The end of its record, a character for each thing that was said.
        reach: What people saw in the calls that they approved.
        wanted: How many days and people were last said to be needed; `None` for what is usual.
    """

    id: str
    key: Key
    ledger: Ledger
    detection: float = DETECTION
    seq: int = 0
    head: bytes = GENESIS
    changed_at: datetime | None = None
    begun_at: datetime | None = None
    needs: tuple[str, ...] = ()
    fine: int = 0
    audits: int = 0
    bad_audits: int = 0
    harms: int = 0
    incidents: int = 0
    granted_at: datetime | None = None
    owed: str | None = None
    owed_at: datetime | None = None
    grant_ask: str | None = None
    flags: tuple[Flag, ...] = ()
    marks: str = ""
    reach: Reach = NOWHERE
    wanted: Least | None = None

    def changed(self, **changes: Any) -> Book:  # noqa: ANN401 - its fields
        """Return the same with other fields: `dataclasses.replace`, in a third of the time."""
        book = object.__new__(Book)
        book.__dict__.update(self.__dict__)
        book.__dict__.update(changes)
        return book

    @property
    def least(self) -> Least:
        """How many days and people must stand behind its approved calls before a grant."""
        return self.wanted or LEAST[self.key.tier]

    @property
    def terms(self) -> Terms:
        """What its tier asks of it.

        Raises:
            Tampered: nothing of its tier is ever granted, so nobody wrote this through sayso.
        """
        found = terms_of(self.key.tier, self.detection)
        if found is None:
            raise Tampered(f"The book {self.id} is of a tier that never runs alone.")
        return found

    @property
    def alone(self) -> bool:
        """Whether its calls run without a person, but for audits."""
        return self.ledger.alone

    @property
    def exposure(self) -> float | None:
        """How many bad calls its grant may be expected to let through from now on, at most."""
        if not self.alone:
            return None
        return self.terms.left(self.ledger.strikes)

    @property
    def missing(self) -> int | None:
        """How many more calls must be found to be fine before a grant is proposed."""
        if self.ledger.standing != "reviewed":
            return None
        return self.terms.missing(self.ledger.bar, self.ledger.score)

    @property
    def questions(self) -> tuple[str, ...]:
        """The asks whether what was flagged was harmful."""
        if not self.flags:
            return ()
        return tuple(dict.fromkeys(flag.question for flag in self.flags if flag.question))

    @property
    def flag_ask(self) -> str | None:
        """The newest of those."""
        return next(reversed(self.questions), None) if self.flags else None

    def raised(self, question: str | None) -> tuple[Flag, ...]:
        """Return the flags that an ask settles."""
        return tuple(flag for flag in self.flags if flag.question in (question, None))

    def audited(self, ask: str) -> bool:
        """Whether a call that people decide is the one that the coin picked."""
        return self.alone and self.owed == ask


def read(events: Iterable[Event]) -> Book:
    """Return the book that these events, in order and from the first, describe.

    Raises:
        Tampered: they cannot be the history of a key.
    """
    steps = iter(events)
    first = next(steps, None)
    if first is None or first.kind != "trust.begun":
        raise Tampered("The book of a key must begin with trust.begun. Run: sayso audit verify")
    book = opened(first)
    for event in steps:
        book = grown(book, event)
    return book


def opened(event: Event) -> Book:
    """Return a book after its first event."""
    said = event.payload or {}
    key = Key(
        said.get("agent", ""),
        said.get("version", ""),
        said.get("tool", ""),
        said.get("bucket", ""),
        said.get("tier", ""),
        said.get("team", ""),
    )
    ledger = inherited(int(said.get("ends", 0)), locked=bool(said.get("locked", False)))
    book = Book(id=event.stream, key=key, ledger=ledger, needs=tuple(said.get("needs", ())))
    if not follows(event, GENESIS) or key.id != event.stream:
        raise _changed(event)
    return _moved(book, event, begun_at=event.at)


def grown(book: Book, event: Event, written: Mapping[str, Any] | None = None) -> Book:
    """Return a book after one more event; `written` is its payload, where it was just made of that.

    Raises:
        Tampered: it does not follow the one before it, or makes no sense.
    """
    if event.seq != book.seq + 1 or event.text is None or not follows(event, book.head):
        raise _changed(event)
    said = written or event.payload or {}
    what = event.kind.removeprefix(FAMILY)
    if what == "proposed":
        return _moved(book, event, grant_ask=said.get("ask"))
    if what == "picked":
        return _moved(book, event, owed=said.get("ask"), owed_at=event.at)
    if what == "inherited":
        ends, locked = int(said.get("ends", 0)), bool(said.get("locked", False))
        ledger = taking_over(book.ledger, ends, locked=locked)
        return _moved(book, event, ledger=ledger, **_left(ledger))
    if what not in _WHATS:
        return _moved(book, event)
    happening = _happening(book, event, said)
    detection = float(said.get("detection", book.detection))
    if detection != book.detection:
        book = book.changed(detection=detection)
    ledger, seen = book.ledger, _seen(book, what, said, event)
    if not (what == "fine" and book.alone and "rho" not in said):  # no audit: it forgives nothing
        ledger = after(ledger, happening, book.terms, solo=bool(said.get("solo", False)))
    if ledger.standing == "proposed" and _too_early(book, said, seen):
        ledger = held_back(ledger)
    if _begins_anew(book.ledger, ledger, what):
        seen = {"reach": NOWHERE, "wanted": None}
    return _moved(book, event, ledger=ledger, **seen, **_counted(book, ledger, what, said, event))


def _seen(book: Book, what: str, said: Mapping[str, Any], event: Event) -> dict[str, Any]:
    """Return what changes because people saw a call and found it to be fine."""
    if what != "fine":
        return {}
    seen, least = said.get("saw"), said.get("least")
    changes: dict[str, Any] = {"wanted": Least(*least) if least else None, "reach": book.reach}
    if seen is not None and seen is not False:  # an older line says nothing, this one too much
        by = said.get("voters") or (event.actor.id,)
        changes["reach"] = book.reach.grown(seen, by, event.micros)
    return changes


def _too_early(book: Book, said: Mapping[str, Any], seen: Mapping[str, Any]) -> bool:
    """Whether a key has earned a proposal before enough people and days stand behind that.

    Lines that do not say what people saw are from before that was asked.
    """
    if book.ledger.standing != "reviewed" or "saw" not in said:
        return False
    reach: Reach = seen["reach"]
    return not reach.enough(seen["wanted"] or LEAST[book.key.tier])


def _begins_anew(before: Ledger, now: Ledger, what: str) -> bool:
    """Whether nothing that people saw before counts any longer: harm came of it, or a grant is over."""
    ended = before.standing in ("proposed", "granted", "suspended") and now.ends > before.ends
    return ended or what in ("incident", "declined", "revoked", "reopened")


def _happening(book: Book, event: Event, said: Mapping[str, Any]) -> Happening:
    what, by = event.kind.removeprefix(FAMILY), event.actor.id
    if what not in ("confirmed", "overturned"):
        return Happening(what, by)  # type: ignore[arg-type]
    raised = book.raised(said.get("ask"))
    names = [flag.by for flag in raised]
    own = by if by in names else next(iter(names), "")
    return Happening(what, by, len(raised), own)  # type: ignore[arg-type]


def _counted(
    book: Book, ledger: Ledger, what: str, said: Mapping[str, Any], event: Event
) -> dict[str, Any]:
    """Return what changes besides how it stands."""
    audited, solo = "rho" in said, bool(said.get("solo", False))
    harmed = what == "confirmed" or (what == "flagged" and solo)
    settled = book.raised(said.get("ask")) if what in ("confirmed", "overturned") else ()
    harms = max(1, len(settled)) if what == "confirmed" else int(harmed)
    changes: dict[str, Any] = {
        "marks": (book.marks + ("x" if what == "flagged" and solo else _MARK[what]))[-_MARKS:],
        "fine": book.fine + (what == "fine"),
        "audits": book.audits + (audited and (what in ("fine", "overturned") or harmed)),
        "bad_audits": book.bad_audits + (audited and harmed),
        "harms": book.harms + harms,
        "incidents": book.incidents + (what == "incident"),
    }
    if ledger.alone and not book.alone and what == "ratified":
        changes["granted_at"] = event.at
    if what in ("fine", "flagged") and (said.get("ask") == book.owed or said.get("paid")):
        changes["owed"] = None
    if settled:
        changes["flags"] = tuple(flag for flag in book.flags if flag not in settled)
    if what == "flagged" and not solo:
        asked = said.get("flag", book.flag_ask)
        raised = Flag(said.get("ask", ""), event.actor.id, said.get("rho"), asked)
        changes["flags"] = (*book.flags, raised)
    return changes | _left(ledger)


def _left(ledger: Ledger) -> dict[str, Any]:
    """Return what is over for a key that stands like this."""
    changes: dict[str, Any] = {}
    if not ledger.alone and ledger.standing != "suspended":
        changes |= {"granted_at": None, "owed": None}
    if ledger.standing != "proposed":
        changes["grant_ask"] = None
    if ledger.standing != "suspended":
        changes["flags"] = ()
    return changes


def _moved(book: Book, event: Event, **changes: Any) -> Book:  # noqa: ANN401 - its fields
    return book.changed(seq=event.seq, head=event.hash, changed_at=event.at, **changes)


def _changed(event: Event) -> Tampered:
    return Tampered(
        f"The book {event.stream} was changed at event {event.seq}, so nothing of it runs alone. "
        "Run: sayso audit verify"
    )
