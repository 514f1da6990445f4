"""People, tokens and sessions over HTTP: everybody's for administrators, their own for others.

Nobody gets hold of somebody else's name here: a token of a person is made by that person, signed
in. So an administrator can take somebody off the desk, and cannot decide in their place.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import ConfigDict, Field
from starlette.responses import JSONResponse, Response

from sayso.access.caller import ADMIN, Caller
from sayso.access.sessions import Session, end_session, list_sessions
from sayso.access.tokens import LASTS, Token, is_agent, list_tokens, make_token, revoke_token
from sayso.asks.people import put, remove, roles_of, teams_of
from sayso.errors import BadValue, Forbidden, Misuse, SignInAgain
from sayso.model.actor import Person, Roster, plain_name
from sayso.model.span import span
from sayso.web.bodies import Sent
from sayso.web.callers import Door, needs, signed_in
from sayso.web.documents import READING, WRITING, Document, answers
from sayso.web.problems import Problem
from sayso.web.service import Service, service_of
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=Door)
Admin = Annotated[Caller, needs("admin")]
Somebody = Annotated[Caller, signed_in]


class PersonDocument(Document):
    """Somebody who may decide."""

    name: str = Field(examples=["anna"])
    roles: list[str] = Field(examples=[["senior"]])
    teams: list[str] = Field(examples=[["billing"]])


class PeopleDocument(Document):
    """Everybody on the desk."""

    people: list[PersonDocument]


class PersonBody(Sent):
    """Somebody to add, or to give other roles and teams."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "anna", "roles": ["senior"]}]}
    )
    name: str = Field(max_length=64)
    roles: list[str] = Field(default_factory=list, max_length=100)
    teams: list[str] = Field(default_factory=list, max_length=100)


class TokenDocument(Document):
    """A token, without its text."""

    id: str = Field(examples=["t-7f3k"])
    prefix: str
    kind: Literal["agent", "person"]
    name: str
    scopes: list[str]
    team: str | None
    owner: str | None
    made_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None


class TokensDocument(Document):
    """Tokens, the oldest first; also those that no longer count."""

    tokens: list[TokenDocument]


class NewTokenDocument(TokenDocument):
    """A token that was just made, with its text: it is shown this once."""

    token: str = Field(examples=["sayso_..."])


class TokenBody(Sent):
    """A token to make: an agent's, or one's own."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "agent", "name": "shop", "expires": "90d"}]},
    )
    kind: Literal["agent", "person"] = "agent"
    name: str | None = Field(None, max_length=64, description="The agent; oneself unless given.")
    scopes: list[str] | None = Field(None, max_length=20)
    expires: str | None = Field(
        f"{LASTS.days}d", max_length=20, description="How long it counts; `null` until revoked."
    )
    team: str | None = Field(None, max_length=64)
    owner: str | None = Field(None, max_length=64)


class SessionDocument(Document):
    """A session, without its secret."""

    id: str = Field(examples=["s-7f3k9m"])
    person: str | None
    how: str
    address: str
    agent: str
    opened_at: datetime
    seen_at: datetime
    current: bool


class SessionsDocument(Document):
    """Sessions that count, the oldest first."""

    sessions: list[SessionDocument]


# --- people ------------------------------------------------------------------------------------


@router.get(
    "/api/v1/people",
    tags=["people"],
    operation_id="people",
    summary="Who is on the desk",
    responses={200: {"model": PeopleDocument}, **answers(*READING)},
)
async def people(request: Request, who: Admin) -> Response:
    """List the people of the desk."""
    service = service_of(request)
    roster = await service.work(service.store.register)
    names = sorted(roster.people)
    return JSONResponse({"people": [_person(roster, name) for name in names]})


@router.post(
    "/api/v1/people",
    tags=["people"],
    operation_id="put_person",
    summary="Add somebody, or give them other roles and teams",
    responses={200: {"model": PersonDocument}, **answers(*WRITING)},
)
async def put_person(request: Request, who: Admin, body: PersonBody) -> Response:
    """Put a person on the desk. Their password is set at the machine: `sayso people password`.

    It needs an administrator who has just signed in; a token does not suffice.
    """
    visit = visit_of(request, who)

    def act() -> Person:
        _check_fresh(request, visit, "Changing the people of a desk")
        return _put(visit, body)

    person = await service_of(request).work(act)
    return JSONResponse(
        {"name": person.name, "roles": sorted(person.roles), "teams": sorted(person.teams)}
    )


def _put(visit: Visit, body: PersonBody) -> Person:
    if visit.store.register().solo:
        # Whoever did this in a browser would have locked themselves out of it.
        raise Misuse(
            "This desk has no people yet. Add the first one at the machine: sayso people add NAME "
            "--admin, then: sayso people password NAME"
        )
    if is_agent(visit.store, body.name):
        raise BadValue(
            f"{body.name} is an agent with a token; a person needs a name of their own.",
            path="name",
        )
    person = Person(plain_name(body.name, "person"), roles_of(body.roles), teams_of(body.teams))
    return put(visit.store, person, by=visit.caller.name, origin=visit.origin)


@router.delete(
    "/api/v1/people/{name}",
    status_code=204,
    tags=["people"],
    operation_id="remove_person",
    summary="Take somebody off the desk",
    responses=answers(*READING),
)
async def remove_person(request: Request, who: Admin, name: str) -> Response:
    """Take a person off the desk: their sessions and tokens, and those of their agents, end.

    It needs an administrator who has just signed in; a token does not suffice.
    """
    visit = visit_of(request, who)

    def act() -> None:
        _check_fresh(request, visit, "Changing the people of a desk")
        remove(visit.store, name, by=who.name, origin=visit.origin)

    await service_of(request).work(act)
    return Response(status_code=204)


def _person(roster: Roster, name: str) -> dict[str, Any]:
    teams = roster.teams.get(name, ())
    return {"name": name, "roles": sorted(roster.people[name]), "teams": sorted(teams)}


# --- tokens ------------------------------------------------------------------------------------


@router.get(
    "/api/v1/tokens",
    tags=["tokens"],
    operation_id="tokens",
    summary="Tokens: one's own, or all for an administrator",
    responses={200: {"model": TokensDocument}, **answers(*READING)},
)
async def tokens(request: Request, who: Somebody) -> Response:
    """List tokens. No answer has the text of one."""
    _check_person(who)
    service = service_of(request)
    found = await service.work(lambda: _own_tokens(service, who))
    return JSONResponse({"tokens": [_token(token) for token in found]})


@router.post(
    "/api/v1/tokens",
    status_code=201,
    tags=["tokens"],
    operation_id="make_token",
    summary="Make a token",
    responses={201: {"model": NewTokenDocument}, **answers(*WRITING)},
)
async def new_token(request: Request, who: Somebody, body: TokenBody) -> Response:
    """Make a token for an agent (administrators), or for oneself (signed in, not by a token).

    One with the scope `admin` needs somebody who has just signed in.
    """
    _check_person(who)
    visit = visit_of(request, who)

    def act() -> tuple[Token, str]:
        if ADMIN in (body.scopes or ()):
            _check_fresh(request, visit, "Making a token that administers")
        return _made(visit, body)

    token, text = await service_of(request).work(act)
    return JSONResponse({**_token(token), "token": text}, 201)


def _made(visit: Visit, body: TokenBody) -> tuple[Token, str]:
    who = visit.caller
    name = body.name or who.name or ""
    if body.kind == "agent":
        who.check("admin")
    elif name != who.name:
        raise Forbidden(f"A token of a person is made by that person, not by {who.name}.")
    elif who.signed_in_at is None:
        raise Forbidden("A token of a person is made by whoever signed in, not by another token.")
    return make_token(
        visit.store,
        name=name,
        kind=body.kind,
        scopes=body.scopes,
        expires=None if body.expires is None else span(body.expires),
        team=body.team,
        owner=body.owner,
        origin=visit.origin,
        by=who.name,
    )


@router.delete(
    "/api/v1/tokens/{id}",
    status_code=204,
    tags=["tokens"],
    operation_id="revoke_token",
    summary="Revoke a token",
    responses=answers(*READING),
)
async def revoke(
    request: Request,
    who: Somebody,
    id: str,  # noqa: A002 - as the address says
) -> Response:
    """End a token at once: the next request with it is refused.

    A token can end itself, and an administrator's any other; everybody else signs in for it.
    """
    _check_person(who)
    _check_may_end(who, id)
    visit = visit_of(request, who)
    await service_of(request).work(lambda: _revoked(visit, id))
    return Response(status_code=204)


def _revoked(visit: Visit, token_id: str) -> None:
    if all(token.id != token_id for token in _own_tokens(visit, visit.caller)):
        raise Problem(
            404, "unknown-token", "There is no such token here; GET /api/v1/tokens lists them."
        )
    revoke_token(visit.store, token_id, origin=visit.origin, by=visit.caller.name)


def _own_tokens(service: Service | Visit, who: Caller) -> list[Token]:
    every = list_tokens(service.store)
    return every if ADMIN in who.scopes else [token for token in every if token.person == who.name]


def _token(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "prefix": token.prefix,
        "kind": token.kind,
        "name": token.name,
        "scopes": list(token.scopes),
        "team": token.team,
        "owner": token.owner,
        "made_at": token.made_at.isoformat(),
        "expires_at": _when(token.expires_at),
        "used_at": _when(token.used_at),
        "revoked_at": _when(token.revoked_at),
    }


def _when(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


# --- sessions ----------------------------------------------------------------------------------


@router.get(
    "/api/v1/sessions",
    tags=["session"],
    operation_id="sessions",
    summary="Who is signed in: oneself, or everybody for an administrator",
    responses={200: {"model": SessionsDocument}, **answers(*READING)},
)
async def sessions(request: Request, who: Somebody) -> Response:
    """List sessions that count."""
    _check_person(who)
    service = service_of(request)
    found = await service.work(lambda: _own_sessions(service, who))
    return JSONResponse({"sessions": [_session(session, who) for session in found]})


@router.delete(
    "/api/v1/sessions/{id}",
    status_code=204,
    tags=["session"],
    operation_id="end_session",
    summary="End a session",
    responses=answers(*READING),
)
async def end(
    request: Request,
    who: Somebody,
    id: str,  # noqa: A002
) -> Response:
    """Sign somebody out at once, wherever the cookie is kept.

    Whoever is signed in can end each of their own; of tokens, an administrator's alone can.
    """
    _check_person(who)
    _check_may_end(who, id)
    visit = visit_of(request, who)
    await service_of(request).work(lambda: _ended(visit, id))
    return Response(status_code=204)


def _ended(visit: Visit, session_id: str) -> None:
    if all(session.id != session_id for session in _own_sessions(visit, visit.caller)):
        raise Problem(
            404,
            "unknown-session",
            "There is no such session here; GET /api/v1/sessions lists them.",
        )
    end_session(visit.store, session_id, origin=visit.origin, by=visit.caller.name)


def _own_sessions(service: Service | Visit, who: Caller) -> list[Session]:
    every = list_sessions(service.store)
    return every if ADMIN in who.scopes else [found for found in every if found.person == who.name]


def _session(session: Session, who: Caller) -> dict[str, Any]:
    return {
        "id": session.id,
        "person": session.person,
        "how": session.how,
        "address": session.address,
        "agent": session.agent_string,
        "opened_at": session.opened_at.isoformat(),
        "seen_at": session.seen_at.isoformat(),
        "current": session.id == who.credential,
    }


def _check_may_end(who: Caller, credential: str) -> None:
    """Refuse a token that ends others: whoever found one of a single scope could shut its owner out.

    Raises:
        Forbidden: it is one, and not an administrator's.
    """
    if who.signed_in_at is None and ADMIN not in who.scopes and credential != who.credential:
        raise Forbidden("A token ends no other token and no session: sign in, and end it then.")


def _check_fresh(request: Request, visit: Visit, what: str) -> None:
    """Refuse whoever has not just signed in to change who may do what, on a desk with people.

    Raises:
        SignInAgain: they have not, or came with a token.
    """
    if visit.store.register().solo:
        return
    signed_in_at = visit.caller.signed_in_at
    fresh = timedelta(seconds=service_of(request).settings.fresh_seconds)
    if signed_in_at is None or visit.store.now() - signed_in_at > fresh:
        raise SignInAgain(what)


def _check_person(who: Caller) -> None:
    """Refuse agents: they have no accounts to look after.

    Raises:
        Forbidden: it is one.
    """
    if who.kind == "agent":
        raise Forbidden("Tokens and sessions are looked after by people, not by agents.")
