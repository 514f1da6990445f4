"""The full record of an ask: what was shown, who said what and how they came in, and the chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from sayso.access.caller import Caller
from sayso.asks.standing import Standing
from sayso.channels.card import ended
from sayso.channels.explanation import ELSEWHERE, policy_words, ruling_of
from sayso.channels.facts import Fact, facts_from
from sayso.channels.headline import headline
from sayso.channels.worddiff import Change, changes
from sayso.errors import SaysoError, Tampered, UnknownAsk
from sayso.model import folding
from sayso.model.ask import Ask
from sayso.model.event import GENESIS, Event, follows
from sayso.model.span import say_span
from sayso.web.inbox.card import view_of
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.look.views import AskView
from sayso.web.pages.audit import how_of, said_of
from sayso.web.pages.board import board, person
from sayso.web.pages.seats import Seats, seats_of
from sayso.web.service import service_of
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_READS = person("audit:read")
_SAYING = ("ask.edited", "ask.voted", "ask.settling", "ask.decided", "ask.taken_back")
_MOVING = ("ask.reminded", "ask.escalated", "ask.assigned", "ask.repeated", "ask.withdrawn")
_LISTED = 500  # events that the page lists; all are verified

Said = tuple[tuple[str, bool], ...]  # words, and whether they are somebody else's


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One event of the chain: what it says, and whether it is as it was written."""

    seq: int
    kind: str
    who: str
    said: Said
    at: datetime | None
    how: str | None
    hash: str
    holds: bool
    erased: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """What somebody said, to which version, and how they came in."""

    who: str
    said: Said
    version: int | None
    seen: str | None
    at: datetime | None
    how: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """A version, what made it, and what it changed."""

    version: int
    digest: str
    by: str
    why: str
    at: datetime
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Everything that the journal says of an ask; without `card` it cannot be read, or was erased."""

    id: str
    title: str
    state: str
    chain: tuple[Link, ...]
    events: int
    broken: tuple[int, ...]
    erased: tuple[str, ...] = ()
    card: AskView | None = None
    digest: str = ""
    ballots: tuple[Ballot, ...] = ()
    moves: tuple[Link, ...] = ()
    editions: tuple[Edition, ...] = ()
    seats: Seats | None = None
    ruling: tuple[tuple[str, str], ...] = ()
    outcome: tuple[Fact, ...] = ()
    without: str = "Nothing was carried out."  # where nothing is recorded of an outcome
    effect: str | None = None
    doubt: str | None = None
    about: str | None = None


@router.get("/audit/asks/{id}")
async def record(
    request: Request,
    id: Annotated[str, Path(max_length=200)],  # noqa: A002 - as the address says
    who: Caller = _READS,
) -> Response:
    """Show everything that the journal says of an ask."""
    visit = visit_of(request, who)

    def made() -> Response:
        found = record_of(visit, id)
        return board(request, visit, "record.html", found.title, "audit", record=found)

    return await service_of(request).work(made)


def record_of(visit: Visit, ask_id: str) -> Record:
    """Read the record of an ask.

    Raises:
        UnknownAsk: there is none, or not for this caller.
    """
    try:
        at = visit.standing(ask_id)
    except Tampered:
        return _unreadable(visit, ask_id)
    ask, states = at.ask, _states(at.events)
    bare = _bare(ask_id, at.events)
    if not ask.digest:
        return replace(
            bare,
            title=f"Ask {ask_id}",
            state=_capital(ended(ask)),
            erased=tuple(_erasures(at.events)),
            ballots=tuple(_ballots(at.events, {})),
        )
    versions = {state.digest: state.version for state in states}
    return replace(
        bare,
        title=headline(ask),
        state="Open" if ask.open else _capital(ended(ask)),
        card=_card(at, visit),
        digest=ask.digest,
        ballots=tuple(_ballots(at.events, versions)),
        moves=tuple(link for link in bare.chain if link.kind in _MOVING),
        editions=tuple(_editions(at.events, states)),
        seats=seats_of(visit.store, at),
        ruling=tuple(_ruling(ask)),
        outcome=_outcome(ask),
        without=ELSEWHERE if ask.content.elsewhere and ask.decision else bare.without,
        effect=None if ask.effect is None else ask.effect.status,
        doubt=None if ask.effect is None else ask.effect.doubt,
        about=ask.content.about,
    )


def _card(at: Standing, visit: Visit) -> AskView:
    """Return what was shown; who said what to it, and what came of it, stands beside it."""
    view = view_of(at, visit.actor, "")
    return replace(
        view,
        changes=view.changes or view.amended,
        votes=(),
        missing=None,
        decided=None,
        outcome=None,
    )


def _unreadable(visit: Visit, ask_id: str) -> Record:
    """Show the chain of an ask that makes no sense any more, to whoever sees its team."""
    row = visit.store.indexed([ask_id]).get(ask_id)
    team = None if row is None else str(row["team"] or "") or None
    if row is None or not visit.sees(team, None, visit.people):
        raise UnknownAsk(ask_id)
    bare = _bare(ask_id, visit.store.stream(ask_id))
    return replace(bare, state="Its journal makes no sense: somebody changed it")


def _bare(ask_id: str, events: Sequence[Event]) -> Record:
    links = list(_links(events))
    broken = tuple(link.seq for link in links if not link.holds)
    return Record(
        id=ask_id,
        title=f"Ask {ask_id}",
        state="",
        chain=tuple(links[:_LISTED]),
        events=len(links),
        broken=broken,
    )


def _links(events: Sequence[Event]) -> Iterator[Link]:
    """Walk the chain. After a break it goes on from the stored hash, to name each fault once."""
    before, expected = GENESIS, 1
    for event in events:
        yield Link(
            seq=event.seq,
            kind=event.kind,
            who=_who(event),
            said=said_of(event),
            at=_at(event),
            how=how_of(event),
            hash=event.hash.hex(),
            holds=event.seq == expected and follows(event, before),
            erased=event.text is None,
        )
        before, expected = event.hash, event.seq + 1


def _who(event: Event) -> str:
    sort, _, name = event.who.partition(":")
    try:
        settled = (event.payload or {}).get("settled")
    except Tampered:
        settled = None
    if settled:
        return str(settled)
    return {"clock": "the clock", "policy": "the policy"}.get(sort, name)


def _at(event: Event) -> datetime | None:
    try:
        return event.at
    except Tampered:
        return None


def _states(events: Sequence[Event]) -> list[Ask]:
    """Return the ask after each of its events; nothing if it was erased, or makes no sense."""
    try:
        return list(folding.states(events))
    except (SaysoError, KeyError, TypeError, ValueError, AttributeError):
        return []


def _ballots(events: Sequence[Event], versions: dict[str, int]) -> Iterator[Ballot]:
    """Yield what people said, in order. What only began to count is no word of anybody's."""
    for event in events:
        if event.kind not in _SAYING:
            continue
        said = event.payload or {}
        seen = said.get("seen")
        yield Ballot(
            who=_who(event),
            said=said_of(event),
            version=versions.get(seen) if seen else None,
            seen=seen,
            at=_at(event),
            how=how_of(event),
        )


def _editions(events: Sequence[Event], states: Sequence[Ask]) -> Iterator[Edition]:
    """Yield the versions behind the first, each with what it changed."""
    for event, before, state in zip(events[1:], states, states[1:], strict=False):
        if state.version == before.version:
            continue
        why = {"ask.edited": "edited it", "ask.raised": "wants more than it did"}
        yield Edition(
            version=state.version,
            digest=state.digest,
            by=_who(event),
            why=why.get(event.kind, event.kind),
            at=event.at,
            changes=changes(before.args, state.args, plan=state.kind == "plan"),
        )


def _ruling(ask: Ask) -> Iterator[tuple[str, str]]:
    """Yield what the policy said, by name."""
    ruling, content = ruling_of(ask), ask.content
    if content.sentence:
        yield "Why people", content.sentence
    words = policy_words(ask)
    if words:
        yield "Under", words
    for name, label in (("version", "Policy"), ("on_timeout", "When time is up")):
        if ruling.get(name):
            yield label, str(ruling[name])
    for name, label in (("cool_off", "Cool-off"), ("execute_within", "Carry out within")):
        if ruling.get(name):
            yield label, f"{ruling[name]:g} s"
    if content.due_at is not None:
        yield "Time to decide", say_span(content.due_at - ask.opened_at)
    if content.requester:
        yield "Requested by", content.requester


def _outcome(ask: Ask) -> tuple[Fact, ...]:
    effect = ask.effect
    if effect is None:
        return ()
    said = [
        ("attempts", effect.attempt),
        ("begun", effect.begun_at.isoformat()),
        ("ended", None if effect.ended_at is None else effect.ended_at.isoformat()),
        ("key", effect.key),
        ("result", effect.result),
        ("error", effect.error),
        ("late", list(effect.late) or None),
    ]
    return facts_from([(name, value) for name, value in said if value is not None])


def _erasures(events: Sequence[Event]) -> Iterator[str]:
    for event in events:
        if event.kind == "payload.erased":
            said = event.payload or {}
            seqs = said.get("seqs") or []
            count = "1 event" if len(seqs) == 1 else f"{len(seqs)} events"
            yield f"{event.actor.id} erased what {count} said: “{said.get('note', '')}”."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
