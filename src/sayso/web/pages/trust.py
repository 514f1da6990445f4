"""Trust, as pages: which keys want somebody, which run alone, which still earn, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import log
from typing import Annotated, Literal, cast, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import Caller
from sayso.asks.books import book_of
from sayso.asks.trust import Trust
from sayso.autonomy.book import Book
from sayso.autonomy.ledger import Standing
from sayso.channels.reputation import (
    STANDS,
    ends_words,
    least_words,
    marks_words,
    reach_words,
    record_words,
    reputation,
    score_words,
)
from sayso.channels.sentences import whose
from sayso.errors import SaysoError, Tampered
from sayso.model.event import Event
from sayso.store.trust import TrustRow
from sayso.web.inbox.posting import one as value_of
from sayso.web.inbox.posting import posted
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.look.views import Chip
from sayso.web.pages.audit import how_of, said_of
from sayso.web.pages.board import board, person
from sayso.web.pages.sure import Sure, refused, sure_page
from sayso.web.service import service_of
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_READS, _DECIDES = person("audit:read"), person("decisions:write")
KeyId = Annotated[str, Path(max_length=200)]
Steered = Literal["revoke", "reopen"]
SHOWN = 100  # keys on one page; filters find the others
_TICKS = 40  # of the record, beside a key in the list
_TOLD = 100  # events of the history of one key

# The groups of the list, in order, and how the keys in them stand.
_GROUPS: tuple[tuple[str, str, str, frozenset[Standing]], ...] = (
    ("wants", "Wants somebody", "A grant to ratify, or a flag to settle", frozenset(("proposed", "suspended"))),
    ("alone", "Runs alone", "But for what chance picks for a person", frozenset(("granted",))),
    ("earning", "Earning", "People decide every call", frozenset(("reviewed",))),
    ("locked", "Locked", "Only a person lets it earn again", frozenset(("locked",))),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLine:
    """One key, as far as a line goes. Without a `book` its journal is not what was written."""

    row: TrustRow
    book: Book | None
    label: str
    record: str
    marks: str
    words: str
    ask: str | None

    @property
    def score(self) -> str:
        """How far that is, in words."""
        return "" if self.book is None else score_words(self.book)

    @property
    def share(self) -> float:
        """How far its score has come to the bar, by the calls that it took."""
        book = self.book
        if book is None or book.missing is None:
            return 0.0
        return _come(book)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Keys that stand alike."""

    id: str
    title: str
    more: str
    lines: tuple[KeyLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One thing that was said of a key."""

    who: str
    said: tuple[tuple[str, bool], ...]
    at: datetime
    how: str | None
    href: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the list is narrowed to."""

    standing: Standing | None = None
    agent: str | None = None
    tool: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Wanted:
        """Read it from an address; what is no standing is none."""
        standing = given.get("standing", "")
        known = cast("Standing", standing) if standing in get_args(Standing) else None
        return cls(
            standing=known,
            agent=given.get("agent", "").strip()[:200] or None,
            tool=given.get("tool", "").strip()[:200] or None,
        )

    @property
    def narrowed(self) -> bool:
        """Whether it is narrowed at all."""
        return bool(self.standing or self.agent or self.tool)

    def href(self, standing: Standing | None) -> str:
        """Return the address of the same with another standing."""
        said = {"standing": standing, "agent": self.agent, "tool": self.tool}
        query = urlencode({name: value for name, value in said.items() if value})
        return f"/trust?{query}" if query else "/trust"


# --- all keys ----------------------------------------------------------------------------------


@router.get("/trust")
async def trust(request: Request, who: Caller = _READS) -> Response:
    """Show which keys there are and how they stand."""
    visit, wanted = visit_of(request, who), Wanted.of(request.query_params)

    def made() -> Response:
        found = trust_of(visit).keys(
            standing=wanted.standing, agent=wanted.agent, tool=wanted.tool, limit=SHOWN + 1
        )
        lines = [line_of(visit, row) for row in found[:SHOWN]]
        return board(
            request,
            visit,
            "trust.html",
            "Trust",
            "trust",
            chips=_chips(visit, wanted),
            wanted=wanted,
            groups=_grouped(lines),
            more=len(found) > SHOWN,
            shown=SHOWN,
        )

    return await service_of(request).work(made)


def trust_of(visit: Visit) -> Trust:
    """Return the keys that whoever asks may see."""
    return Trust(lambda: visit.store, visit.origin, visit.teams())


def line_of(visit: Visit, row: TrustRow) -> KeyLine:
    """Return a key as a line shows it: from its journal, not from the list that points to it."""
    try:
        book = book_of(visit.store, row.id)
    except Tampered:
        book = None
    marks = "" if book is None else book.marks[-_TICKS:]
    return KeyLine(
        row=row,
        book=book,
        label=STANDS[cast("Standing", row.standing)],
        record="" if book is None else record_words(book),
        marks=marks,
        words=marks_words(marks),
        ask=None if book is None else open_ask(book),
    )


def open_ask(book: Book) -> str | None:
    """Return the ask that waits about a key: whether it may run alone, or whether a flag holds."""
    return book.grant_ask if book.ledger.standing == "proposed" else book.flag_ask


def _come(book: Book) -> float:
    """Return how far a key has come, from 0 to 1: its score grows by a factor with each fine call."""
    return min(1.0, max(0.0, log(book.ledger.score) / log(book.ledger.bar)))


def _grouped(lines: list[KeyLine]) -> list[Group]:
    made = [
        Group(
            id=name,
            title=title,
            more=more,
            lines=tuple(line for line in lines if line.row.standing in stands),
        )
        for name, title, more, stands in _GROUPS
    ]
    return [group for group in made if group.lines]


def _chips(visit: Visit, wanted: Wanted) -> list[Chip]:
    counts = visit.store.trust_counts(visit.teams())
    whole = sum(counts.values())
    return [
        Chip(label=f"All {whole:,}", href=wanted.href(None), current=wanted.standing is None),
        *(
            Chip(
                label=f"{word} {counts.get(standing, 0):,}",
                href=wanted.href(standing),
                current=wanted.standing == standing,
            )
            for standing, word in STANDS.items()
            if counts.get(standing) or wanted.standing == standing
        ),
    ]


# --- one key -----------------------------------------------------------------------------------


@router.get("/trust/{key}")
async def one_key(request: Request, key: KeyId, who: Caller = _READS) -> Response:
    """Show everything that is known of a key."""
    visit = visit_of(request, who)

    def made() -> Response:
        book, history = trust_of(visit).key(key), trust_of(visit).history(key)
        return board(
            request,
            visit,
            "key.html",
            f"{book.key.tool} by {book.key.agent}",
            "trust",
            book=book,
            label=STANDS[book.ledger.standing],
            sentence=reputation(book),
            words=marks_words(book.marks),
            share=_come(book),
            score=score_words(book),
            revocable=_revocable(book),
            ask=open_ask(book),
            ends=ends_words(book),
            reaches=reach_words(book),
            takes=least_words(book),
            history=[told(event) for event in reversed(history[-_TOLD:])],
            events=len(history),
        )

    return await service_of(request).work(made)


def told(event: Event) -> Told:
    """Return one event of a key as its page tells it."""
    said = event.payload or {}
    ask = said.get("ask")
    return Told(
        who=whose(event).removeprefix("person ").replace("policy trust", "sayso"),
        said=said_of(event),
        at=event.at,
        how=how_of(event),
        href=f"/inbox/{ask}" if isinstance(ask, str) and ask.startswith("a-") else None,
    )


# --- what people do about it -------------------------------------------------------------------


@router.get("/trust/{key}/revoke")
async def sure_revoke(request: Request, key: KeyId, who: Caller = _DECIDES) -> Response:
    """Ask once more whether a grant is to end."""
    return await _asked(request, who, key, "revoke")


@router.post("/trust/{key}/revoke")
async def revoke_form(request: Request, key: KeyId, who: Caller = _DECIDES) -> Response:
    """End a grant, or say what stands in the way."""
    return await _steered(request, who, key, "revoke")


@router.get("/trust/{key}/reopen")
async def sure_reopen(request: Request, key: KeyId, who: Caller = _DECIDES) -> Response:
    """Ask once more whether a locked key is to earn again."""
    return await _asked(request, who, key, "reopen")


@router.post("/trust/{key}/reopen")
async def reopen_form(request: Request, key: KeyId, who: Caller = _DECIDES) -> Response:
    """Let a locked key earn again, or say what stands in the way."""
    return await _steered(request, who, key, "reopen")


async def _asked(request: Request, who: Caller, key: str, what: Steered) -> Response:
    visit = visit_of(request, who)
    return await service_of(request).work(
        lambda: sure_page(request, visit, _sure(trust_of(visit).key(key), what))
    )


async def _steered(request: Request, who: Caller, key: str, what: Steered) -> Response:
    fields = await posted(request)
    visit, note = visit_of(request, who), value_of(fields, "note").strip() or None

    def made() -> Response:
        keys = trust_of(visit)
        sure = _sure(keys.key(key), what)
        act = keys.revoke if what == "revoke" else keys.reopen
        try:
            act(key, note, by=visit.caller.name)
        except SaysoError as error:
            return sure_page(request, visit, sure, refused(error, sure.action))
        return RedirectResponse(f"/trust/{key}", 303)

    return await service_of(request).work(made)


def _revocable(book: Book) -> bool:
    return book.alone or book.ledger.standing == "suspended"


def _sure(book: Book, what: Steered) -> Sure:
    key = book.key
    called = f"{key.tool} by {key.agent}"
    if what == "revoke":
        return Sure(
            title="Take the grant back?",
            follows=(
                f"From now on people are asked for every call of {called} of this kind.",
                "Its score begins anew. Nothing is held against it: the bar stays as it is.",
            ),
            action=f"/trust/{book.id}/revoke",
            button="Take it back",
            back=f"/trust/{book.id}",
            possible=_revocable(book),
            note="Why (others read it)",
            place="trust",
        )
    return Sure(
        title="Let it earn again?",
        follows=(
            f"{called} may earn a grant once more; people are asked for every call until then.",
            f"Its score begins anew, and it takes {book.ledger.bar:g} to be proposed.",
        ),
        action=f"/trust/{book.id}/reopen",
        button="Let it earn again",
        back=f"/trust/{book.id}",
        possible=book.ledger.standing == "locked",
        note="Why (others read it)",
        place="trust",
    )
