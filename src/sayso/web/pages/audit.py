"""Audit: the journal across asks and runs, and the proof that it is what was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import Caller
from sayso.channels.headline import headline
from sayso.channels.sentences import Quote, readable
from sayso.errors import BadValue, Tampered
from sayso.insight.reading import folded
from sayso.insight.trail import SORTS, STEPS, VERDICTS, Found, Page, look
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.event_kinds import EVENTS, FAMILIES
from sayso.model.folding import as_met
from sayso.store.audit import NOT_COVERED, SEALS, Seal
from sayso.web.audit import begin, begun_by, findings, seal_of, sealed
from sayso.web.inbox.posting import one, posted
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.pages.board import board, person
from sayso.web.service import service_of
from sayso.web.trail import Looked, seen_teams
from sayso.web.verifying import Verification
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_READS, _SEALS = person("audit:read"), person("admin")
_NAMES = tuple(Looked.model_fields)
_LONGEST = 200
_PROBLEMS = 100  # that are named on the page; the API names more
# What a problem means, in the words of the page.
WHAT: Mapping[str, str] = {
    "deleted": "events are missing",
    "edited": "it was changed",
    "swapped": "it stands in another's place",
    "blanked": "its words are gone, and nobody erased them",
    "truncated": "events were removed at its end",
    "rewritten": "it is not what was sealed",
    "impossible": "it makes no sense",
    "index": "the lists say something else than the journal",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """What is looked for, as the address of the page says it."""

    given: Mapping[str, str]
    before: str | None = None

    @classmethod
    def of(cls, params: Mapping[str, str]) -> Address:
        """Read an address. The form has the kind of the actor and the name in two fields."""
        said = {name: params.get(name, "").strip()[:_LONGEST] for name in (*_NAMES, "sort")}
        sort = said.pop("sort")
        if sort in SORTS and ":" not in said["actor"]:
            said["actor"] = f"{sort}:{said['actor']}" if said["actor"] else sort
        given = {name: value for name, value in said.items() if value}
        return cls(given=given, before=params.get("before", "")[:100] or None)

    @property
    def looked(self) -> Looked:
        """It as the API takes it."""
        return Looked.model_construct(None, **{name: self.given.get(name) for name in _NAMES})

    def href(self, path: str = "/audit", **more: str | None) -> str:
        """Return the address with some of it changed, from its first page on."""
        said = {name: value for name, value in {**self.given, **more}.items() if value}
        return f"{path}?{urlencode(said)}" if said else path

    @property
    def sort(self) -> str:
        """The kind of actor that is looked for."""
        kind = self.given.get("actor", "").partition(":")[0]
        return kind if kind in SORTS else ""

    @property
    def name(self) -> str:
        """The name that is looked for, without its kind."""
        actor = self.given.get("actor", "")
        return actor.removeprefix(self.sort).removeprefix(":") if self.sort else actor


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    """One event as a sentence."""

    id: str
    at: datetime | None
    icon: str
    tone: str
    who: str
    sort: str
    who_href: str
    said: tuple[tuple[str, bool], ...]  # (words, whether somebody else's)
    about: str | None
    about_href: str | None
    stream: str
    stream_href: str
    kind: str
    tool: str | None
    tool_href: str
    how: str | None
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """The events of one day."""

    name: str
    lines: tuple[EventLine, ...]


@router.get("/audit")
async def audit(request: Request, who: Caller = _READS, sealed: str = "") -> Response:
    """Show the journal, the newest first."""
    visit, address = visit_of(request, who), Address.of(request.query_params)
    last = service_of(request).verifying.last

    def made() -> Response:
        return _drawn(request, visit, address, last, seal=_made_before(visit, sealed))

    return await service_of(request).work(made)


def _drawn(
    request: Request,
    visit: Visit,
    address: Address,
    last: Verification | None,
    *,
    seal: str | None = None,
    wrong: str | None = None,
) -> Response:
    page, bad = Page((), None, early=False, whole=True), wrong
    try:
        wanted, seen = address.looked.wanted(visit), seen_teams(visit)
        page = look(visit.store, wanted, teams=seen, before=address.before)
    except BadValue as error:
        bad = bad or str(error)
    return board(
        request,
        visit,
        "audit.html",
        "Audit",
        "audit",
        status=422 if wrong else 200,
        live_from=address.href() if wrong else None,
        days=days_of(visit, page.found, address),
        page=page,
        steps=f"{STEPS:,}",
        older=page.older and address.href(before=page.older),
        first=address.href() if address.before else None,
        address=address,
        wrong=bad,
        kinds=_kinds(),
        sorts=SORTS,
        verdicts=VERDICTS,
        export=address.href("/api/v1/audit/export"),
        last=last,
        by=None if last is None else begun_by(visit, last),
        found=None
        if last is None or last.report is None
        else findings(visit, last.report, _PROBLEMS),
        most=_PROBLEMS,
        what=WHAT,
        not_covered=NOT_COVERED,
        seal=seal,
        sealed_since=_sealed_since(visit, last),
        seals="admin" in visit.caller.scopes,
    )


def _kinds() -> list[tuple[str, list[str]]]:
    """Return the kinds of events by their families."""
    return [
        (family, [kind.name for kind in EVENTS.values() if kind.family == family])
        for family in FAMILIES
    ]


# --- what happened -----------------------------------------------------------------------------


def days_of(visit: Visit, found: Sequence[Found], address: Address) -> list[Day]:
    """Return events as lines, day by day."""
    met = met_by(visit, (one.event.stream for one in found))
    lines = [line_of(one, met.get((one.event.stream, one.event.seq)), address) for one in found]
    return [
        Day(name=name, lines=tuple(group))
        for name, group in groupby(lines, key=lambda line: _day(line.at))
    ]


def _day(at: datetime | None) -> str:
    return "At no moment that makes sense" if at is None else at.strftime("%A, %-d %B %Y")


def met_by(visit: Visit, streams: Iterable[str]) -> dict[tuple[str, int], Ask]:
    """Return the asks among these streams as each of their events met them."""
    asks = sorted({stream for stream in streams if stream.startswith("a-")})
    found = folded(visit.store, asks) if asks else ()
    return {
        (ask.id, seq): met
        for ask, events in found
        if ask.digest
        for seq, met in as_met(ask, events).items()
    }


def line_of(found: Found, ask: Ask | None, address: Address) -> EventLine:
    """Return one event as a line, with the ask as it met it."""
    event, row = found.event, found.row
    sort, _, name = row.actor.partition(":")
    icon, tone = _mark(row.kind, row.verdict)
    return EventLine(
        id=f"e-{event.stream}-{event.seq}",
        at=_at(event),
        icon=icon,
        tone=tone,
        who="the clock" if sort == "clock" else "the policy" if sort == "policy" else name,
        sort=sort,
        who_href=address.href(actor=row.actor),
        said=said_of(event, row.verdict, ask),
        about=None if ask is None else headline(ask),
        about_href=_page_of(event.stream),
        stream=event.stream,
        stream_href=address.href(stream=event.stream),
        kind=event.kind,
        tool=row.tool or None,
        tool_href=address.href(tool=row.tool),
        how=how_of(event),
        seq=event.seq,
    )


def _page_of(stream: str) -> str | None:
    """Return the page of an ask's record, of a run or of a key."""
    if stream.startswith("a-"):
        return f"/audit/asks/{stream}"
    if stream.startswith("k-"):
        return f"/trust/{stream}"
    return f"/runs/{stream}" if stream.startswith("r-") else None


_PAST = {"approve": "approved", "edit": "edited", "reject": "rejected", "respond": "answered"}


def said_of(
    event: Event, verdict: str = "", ask: Ask | None = None
) -> tuple[tuple[str, bool], ...]:
    """Return a sentence in pieces, each with whether it is in somebody else's words."""
    if event.text is None:
        did = _PAST.get(verdict) or event.kind.partition(".")[2].replace("_", " ")
        return ((f"{did}; what was said is erased", False),)
    return tuple((piece, isinstance(piece, Quote)) for piece in readable(event, ask))


def _at(event: Event) -> datetime | None:
    try:
        return event.at
    except Tampered:
        return None


def how_of(event: Event) -> str | None:
    """Say through which door something came, and under which account."""
    try:
        said = event.payload or {}
    except Tampered:
        return None
    via, account = said.get("via"), said.get("account")
    if not via or via in ("clock", "policy"):
        return None
    return f"via {via} as {account}" if account else f"via {via}"


_VERDICTS: Mapping[str, tuple[str, str]] = {
    "approve": ("check", "fine"),
    "edit": ("pencil", "fine"),
    "reject": ("x", "stop"),
    "respond": ("message-square", ""),
}
_KINDS: Mapping[str, tuple[str, str]] = {
    "ask.opened": ("circle-question-mark", ""),
    "ask.taken_back": ("undo-2", "warn"),
    "ask.withdrawn": ("undo-2", ""),
    "effect.done": ("circle-check", "fine"),
    "effect.failed": ("circle-alert", "stop"),
    "effect.unknown": ("circle-question-mark", "warn"),
    "run.done": ("circle-check", "fine"),
    "run.failed": ("circle-alert", "stop"),
    "run.parked": ("pause", "warn"),
    "run.cancelled": ("x", "warn"),
    "step.failed": ("circle-alert", "warn"),
    "payload.erased": ("eye-off", "warn"),
    "journal.sealed": ("lock", ""),
    "incident.reported": ("flag", "stop"),
    "trust.flagged": ("flag", "warn"),
    "trust.confirmed": ("flag", "stop"),
    "trust.incident": ("flag", "stop"),
    "trust.ended": ("x", "stop"),
    "trust.revoked": ("undo-2", "warn"),
    "trust.ratified": ("shield-check", "fine"),
}
_FAMILIES: Mapping[str, str] = {
    "ask": "bell",
    "effect": "square-terminal",
    "doubt": "circle-question-mark",
    "run": "activity",
    "step": "arrow-right",
    "person": "users",
    "token": "lock",
    "session": "user",
    "password": "lock",
    "identity": "user",
    "webhook": "link",
    "preference": "file-pen-line",
    "trust": "shield-check",
    "incident": "flag",
}


def _mark(kind: str, verdict: str) -> tuple[str, str]:
    family = kind.partition(".")[0]
    usual = _KINDS.get(kind, (_FAMILIES.get(family, "info"), ""))
    return _VERDICTS.get(verdict, usual)


# --- proof -------------------------------------------------------------------------------------


@router.post("/audit/verification")
async def verify_now(request: Request, who: Caller = _READS) -> Response:
    """Begin to verify, and go back to where it is shown."""
    visit, fields = visit_of(request, who), await posted(request)
    try:
        seal = seal_of(one(fields, "seal"))
    except BadValue as error:
        service, wrong = service_of(request), str(error)
        address, last = Address(given={}), service.verifying.last
        return await service.work(lambda: _drawn(request, visit, address, last, wrong=wrong))
    await begin(request, who, seal)
    return RedirectResponse("/audit#proof", 303)


@router.post("/audit/seals")
async def seal_now(request: Request, who: Caller = _SEALS) -> Response:
    """Seal the journal, and show the line."""
    visit = visit_of(request, who)
    made = await service_of(request).work(lambda: sealed(visit))
    return RedirectResponse(f"/audit?sealed={made.seq}#proof", 303)


def _sealed_since(visit: Visit, last: Verification | None) -> bool:
    """Whether there is a seal that the last verification did not know of."""
    if last is None or last.report is None:
        return False
    return visit.store.head(SEALS).seq > last.report.seal


def _made_before(visit: Visit, number: str) -> str | None:
    """Return the line of a seal that was just made, to those who may make one."""
    if "admin" not in visit.caller.scopes or not number.isdecimal() or len(number) > 9:
        return None
    found = visit.store.stream(SEALS, int(number) - 1)
    return str(Seal(found[0].seq, found[0].hash.hex())) if found and number != "0" else None
