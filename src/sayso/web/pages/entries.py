"""What people and agents come in by: sessions and tokens, one's own or all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import ADMIN, AGENT_SCOPES, PERSON_SCOPES, Caller, Kind
from sayso.access.sessions import IDLE, Session, session_page
from sayso.access.tokens import LASTS, Token, token_page
from sayso.errors import SaysoError
from sayso.web.accounts import (
    Wanted,
    end_token,
    find_session,
    find_token,
    fresh_of,
    is_fresh,
    new_token,
    others_of,
    sign_out,
    sign_out_others,
)
from sayso.web.forms.sent import Posted
from sayso.web.inbox.posting import one as value_of
from sayso.web.inbox.posting import posted
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.look.views import Chip
from sayso.web.pages.board import board, person
from sayso.web.pages.people import around, known
from sayso.web.pages.sure import Refused, Sure, refused, sure_page
from sayso.web.service import service_of
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_READS = person("asks:read")
SessionId = Annotated[str, Path(max_length=40)]
TokenId = Annotated[str, Path(max_length=40)]
_PAGE = 100
_SUGGESTED = 200
LASTING = (
    ("1d", "1 day"),
    ("30d", "30 days"),
    (f"{LASTS.days}d", f"{LASTS.days} days"),
    ("365d", "a year"),
    ("", "until it is revoked"),
)


# --- sessions ----------------------------------------------------------------------------------


@router.get("/people/sessions")
async def sessions(
    request: Request, who: Caller = _READS, after: Annotated[str, Query(max_length=60)] = ""
) -> Response:
    """Show who is signed in: oneself, or everybody for an administrator."""
    visit = visit_of(request, who)

    def made() -> Response:
        return board(
            request,
            visit,
            "sessions.html",
            "Sessions",
            "people",
            **around(visit, "/people/sessions"),
            page=session_page(visit.store, person=_whose(visit), after=after, limit=_PAGE),
            first=not after,
            current=visit.caller.credential,
            others=len(others_of(visit, visit.caller.name)),
            idle=IDLE,
        )

    return await service_of(request).work(made)


def _whose(visit: Visit) -> str | None:
    """Return whose sessions and tokens the caller looks after; `None` is everybody's."""
    return None if ADMIN in visit.caller.scopes else visit.caller.name


@router.get("/people/sessions/{id}/end")
async def sure_end(
    request: Request,
    id: SessionId,  # noqa: A002 - as the address says
    who: Caller = _READS,
) -> Response:
    """Ask whether a session is to end."""
    visit = visit_of(request, who)
    return await service_of(request).work(
        lambda: sure_page(request, visit, ending_of(visit, find_session(visit, id)))
    )


@router.post("/people/sessions/{id}/end")
async def end_form(
    request: Request,
    id: SessionId,  # noqa: A002
    who: Caller = _READS,
) -> Response:
    """Sign somebody out."""
    visit = visit_of(request, who)

    def made() -> Response:
        sure = ending_of(visit, find_session(visit, id))
        try:
            sign_out(visit, id)
        except SaysoError as error:
            return sure_page(request, visit, sure, refused(error, sure.back))
        return RedirectResponse("/people/sessions", 303)

    return await service_of(request).work(made)


def ending_of(visit: Visit, session: Session) -> Sure:
    """Say what follows if a session ends."""
    whose = "whoever sits at this machine" if session.person is None else session.person
    follows = [
        f"The browser at {session.address or 'an unknown address'} is signed out at once.",
        "What was decided there stays as it is.",
    ]
    if session.id == visit.caller.credential:
        follows[0] = "You are signed out of this browser at once."
    return Sure(
        title=f"End the session of {whose}?",
        follows=tuple(follows),
        action=f"/people/sessions/{session.id}/end",
        button="End the session",
        back="/people/sessions",
    )


@router.get("/people/sign-out")
async def sure_all(
    request: Request, who: Caller = _READS, whose: Annotated[str, Query(max_length=64)] = ""
) -> Response:
    """Ask whether all sessions of somebody are to end."""
    visit = visit_of(request, who)
    return await service_of(request).work(
        lambda: sure_page(request, visit, all_of(visit, whose or visit.caller.name))
    )


@router.post("/people/sign-out")
async def all_form(request: Request, who: Caller = _READS) -> Response:
    """End all sessions of somebody, but for the one that is in use here."""
    fields = await posted(request)
    visit = visit_of(request, who)

    def made() -> Response:
        whose = value_of(fields, "whose") or visit.caller.name
        try:
            sign_out_others(visit, whose)
        except SaysoError as error:
            sure = all_of(visit, whose)
            return sure_page(request, visit, sure, refused(error, sure.back))
        return RedirectResponse("/people/sessions", 303)

    return await service_of(request).work(made)


def all_of(visit: Visit, whose: str | None) -> Sure:
    """Say what follows if all sessions of somebody end; nobody else's are found."""
    count = len(others_of(visit, whose))
    mine = whose == visit.caller.name
    said = f"{count} {'session ends' if count == 1 else 'sessions end'} at once."
    return Sure(
        title="End all your other sessions?" if mine else f"End all sessions of {whose}?",
        follows=(said, "You stay signed in here." if mine else "They can sign in again."),
        action="/people/sign-out",
        button="End them all",
        back="/people/sessions",
        hidden=(("whose", whose or ""),),
        possible=count > 0,
    )


# --- tokens ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """What stands in the form of a token, and what came of it."""

    kind: str = "agent"
    name: str = ""
    team: str = ""
    owner: str = ""
    version: str = ""
    expires: str = f"{LASTS.days}d"
    scopes: tuple[str, ...] = ()
    errors: Mapping[str, str] = field(default_factory=dict)
    refusal: Refused | None = None
    made: Token | None = None
    text: str = ""


@router.get("/people/tokens")
async def tokens(
    request: Request,
    who: Caller = _READS,
    show: str = "",
    after: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Show tokens: one's own and those of one's agents, or all for an administrator."""
    visit = visit_of(request, who)
    return await service_of(request).work(
        lambda: _tokens(request, visit, Making(), ended=show == "ended", after=after)
    )


def _tokens(
    request: Request, visit: Visit, making: Making, *, ended: bool = False, after: str = ""
) -> Response:
    page = token_page(visit.store, person=_whose(visit), ended=ended, after=after, limit=_PAGE)
    status = 200 if making.refusal is None else making.refusal.status
    roster = visit.people
    return board(
        request,
        visit,
        "tokens.html",
        "Tokens",
        "people",
        status=status,
        **around(visit, "/people/tokens"),
        page=page,
        ended=ended,
        chips=[
            Chip(label="In use", href="/people/tokens", current=not ended),
            Chip(label="Ended", href="/people/tokens?show=ended", current=ended),
        ],
        making=making,
        me=visit.caller.name,
        fresh=is_fresh(visit, fresh_of(request)),
        lasting=LASTING,
        scopes={"agent": AGENT_SCOPES, "person": _scopes(visit)},
        known=known(roster),
        names=sorted(roster.people)[:_SUGGESTED] if ADMIN in visit.caller.scopes else (),
    )


def _scopes(visit: Visit) -> tuple[str, ...]:
    return (*PERSON_SCOPES, *((ADMIN,) if ADMIN in visit.caller.scopes else ()))


@router.post("/people/tokens")
async def make_form(request: Request, who: Caller = _READS) -> Response:
    """Make a token. Its text is on the answer, this once."""
    fields = await posted(request)
    visit = visit_of(request, who)

    def made() -> Response:
        typed = _typed(fields)
        try:
            token, text = new_token(visit, fresh_of(request), _wanted(typed))
        except SaysoError as error:
            refusal = refused(error, "/people/tokens")
            errors = {refusal.field: refusal.words} if refusal.field else {}
            return _tokens(request, visit, Making(**typed, errors=errors, refusal=refusal))
        return _tokens(request, visit, Making(kind=typed["kind"], made=token, text=text))

    return await service_of(request).work(made)


def _typed(fields: Posted) -> dict[str, Any]:
    said: dict[str, Any] = {
        name: value_of(fields, name).strip()
        for name in ("name", "team", "owner", "version", "expires")
    }
    kind = value_of(fields, "kind")
    return said | {
        "kind": kind if kind in get_args(Kind) else "agent",
        "scopes": tuple(fields.get("scopes", ())),
    }


def _wanted(typed: Mapping[str, Any]) -> Wanted:
    return Wanted(
        kind=typed["kind"],
        name=typed["name"] or None,
        scopes=typed["scopes"] or None,
        expires=typed["expires"] or None,
        team=typed["team"] or None,
        owner=typed["owner"] or None,
        version=typed["version"] or None,
    )


@router.get("/people/tokens/{id}/revoke")
async def sure_revoke(
    request: Request,
    id: TokenId,  # noqa: A002
    who: Caller = _READS,
) -> Response:
    """Ask whether a token is to end."""
    visit = visit_of(request, who)
    return await service_of(request).work(
        lambda: sure_page(request, visit, revoking_of(find_token(visit, id)))
    )


@router.post("/people/tokens/{id}/revoke")
async def revoke_form(
    request: Request,
    id: TokenId,  # noqa: A002
    who: Caller = _READS,
) -> Response:
    """End a token."""
    visit = visit_of(request, who)

    def made() -> Response:
        sure = revoking_of(find_token(visit, id))
        try:
            end_token(visit, id)
        except SaysoError as error:
            return sure_page(request, visit, sure, refused(error, sure.back))
        return RedirectResponse("/people/tokens", 303)

    return await service_of(request).work(made)


def revoking_of(token: Token) -> Sure:
    """Say what follows if a token ends."""
    whose = f"the agent {token.name}" if token.kind == "agent" else token.name
    return Sure(
        title=f"Revoke {token.prefix}…, the token of {whose}?",
        follows=(
            "The next request with it is refused, wherever it is kept.",
            "Asks that were opened with it stay as they are.",
            "It cannot be undone: make another one, and give it to the program.",
        ),
        action=f"/people/tokens/{token.id}/revoke",
        button="Revoke it",
        back="/people/tokens",
    )
