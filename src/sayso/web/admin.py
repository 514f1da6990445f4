"""People, tokens and sessions over HTTP: everybody's for administrators, their own for others."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import ConfigDict, Field
from starlette.responses import JSONResponse, Response

from sayso.access.caller import Caller
from sayso.access.sessions import Session
from sayso.access.tokens import LASTS, Token
from sayso.model.actor import Roster
from sayso.web import accounts
from sayso.web.accounts import check_person, fresh_of, known_person
from sayso.web.bodies import Sent
from sayso.web.callers import Door, needs, signed_in
from sayso.web.documents import READING, WRITING, Document, answers
from sayso.web.service import service_of
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


class KnownPersonDocument(PersonDocument):
    """Somebody who may decide, with what they come in by and what waits for them alone."""

    ways: list[Literal["password", "identity provider"]] = Field(
        description="What they can sign in with."
    )
    seen_at: datetime | None = Field(description="When they last used a session or a token.")
    sessions: int = Field(description="Sessions of theirs that count.")
    tokens: int = Field(description="Tokens of their own that count.")
    agents: list[str] = Field(description="Their agents that have a token.")
    alone: int = Field(description="Open asks on which nobody else may vote, by role and team.")


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
    version: str | None = Field(description="Of an agent: what it earns, it earns as that.")
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
    version: str | None = Field(
        None, max_length=64, description="Of an agent. Without one it earns no trust."
    )


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


@router.get(
    "/api/v1/people/{name}",
    tags=["people"],
    operation_id="get_person",
    summary="Somebody on the desk: oneself, or anybody for an administrator",
    responses={200: {"model": KnownPersonDocument}, **answers(*READING)},
)
async def get_person(request: Request, who: Somebody, name: str) -> Response:
    """Say what somebody comes in by, and how much waits for them alone."""
    check_person(who)
    visit = visit_of(request, who)
    return JSONResponse(await service_of(request).work(lambda: _known(visit, name)))


def _known(visit: Visit, name: str) -> dict[str, Any]:
    view = known_person(visit, name)
    return {
        "name": view.name,
        "roles": list(view.roles),
        "teams": list(view.teams),
        "ways": list(view.ways),
        "seen_at": _when(view.seen_at),
        "sessions": view.sessions,
        "tokens": view.tokens,
        "agents": list(view.agents),
        "alone": view.alone,
    }


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
    visit, fresh = visit_of(request, who), fresh_of(request)
    person = await service_of(request).work(
        lambda: accounts.put_person(visit, fresh, body.name, body.roles, body.teams)
    )
    return JSONResponse(
        {"name": person.name, "roles": sorted(person.roles), "teams": sorted(person.teams)}
    )


@router.delete(
    "/api/v1/people/{name}",
    status_code=204,
    tags=["people"],
    operation_id="remove_person",
    summary="Take somebody off the desk",
    responses=answers(*READING),
)
async def remove_person(
    request: Request,
    who: Admin,
    name: str,
    sure: Annotated[  # noqa: FBT002 - in the address
        bool, Query(description="Also if nobody could decide something any more.")
    ] = False,
) -> Response:
    """Take a person off the desk: their sessions and tokens, and those of their agents, end.

    It needs an administrator who has just signed in; a token does not suffice. If nobody could
    decide something any more, it answers 409 `would-stop` with what that is, unless it is `sure`.
    """
    visit, fresh = visit_of(request, who), fresh_of(request)
    await service_of(request).work(lambda: accounts.remove_person(visit, fresh, name, sure=sure))
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
    check_person(who)
    visit = visit_of(request, who)
    found = await service_of(request).work(lambda: accounts.own_tokens(visit))
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
    check_person(who)
    visit, fresh = visit_of(request, who), fresh_of(request)
    wanted = accounts.Wanted(
        kind=body.kind,
        name=body.name,
        scopes=body.scopes,
        expires=body.expires,
        team=body.team,
        owner=body.owner,
        version=body.version,
    )
    made = await service_of(request).work(lambda: accounts.new_token(visit, fresh, wanted))
    token, text = made
    return JSONResponse({**_token(token), "token": text}, 201)


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
    check_person(who)
    visit = visit_of(request, who)
    await service_of(request).work(lambda: accounts.end_token(visit, id))
    return Response(status_code=204)


def _token(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "prefix": token.prefix,
        "kind": token.kind,
        "name": token.name,
        "scopes": list(token.scopes),
        "team": token.team,
        "owner": token.owner,
        "version": token.version,
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
    check_person(who)
    visit = visit_of(request, who)
    found = await service_of(request).work(lambda: accounts.own_sessions(visit))
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
    check_person(who)
    visit = visit_of(request, who)
    await service_of(request).work(lambda: accounts.sign_out(visit, id))
    return Response(status_code=204)


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
