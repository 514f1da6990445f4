"""How people come in: by the one-time link at this machine, or with their password.

What a browser keeps is the secret of a session, in a cookie that no script can read. Signing in
again makes a new session and ends the old one. Why somebody was not let in is not said to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from urllib.parse import parse_qsl, urlencode, urlsplit

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request, Response
from pydantic import ConfigDict, Field
from starlette.responses import RedirectResponse

from sayso.access.caller import Caller
from sayso.access.passwords import LONGEST, check_password
from sayso.access.sessions import LASTS, caller_of_session, end_session, open_session, use_link
from sayso.errors import NotSignedIn, TooManyTries
from sayso.model.text import one_line
from sayso.web.bodies import Sent
from sayso.web.callers import Door, caller, signed_in
from sayso.web.documents import Document, answers
from sayso.web.look.render import message, sheet
from sayso.web.look.views import Message
from sayso.web.problems import Problem
from sayso.web.service import Service, service_of

LINK = "t"  # the name of the one-time secret in the address of the first page
TO = "to"  # where somebody wants to be, who has just signed in
_INBOX = "/inbox"
SMALL = frozenset(("/api/v1/session", "/sign-in"))  # a name and a password need little room
_FIELDS = 10
_WRONG = "The name or the password is wrong."
_SPENT = "This link was used before, is older than five minutes, or belongs to another desk."
_NO_REFERRER = {"Referrer-Policy": "no-referrer"}
# Hashing takes its time; who signs in must not take the threads of those who are.
_HASHING = CapacityLimiter(4)

router = APIRouter(route_class=Door)
Known = Annotated[Caller, signed_in]


class Credentials(Sent):
    """Who somebody says they are."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "anna", "password": "a few words are best"}]},
    )
    name: str = Field(max_length=200)
    password: str = Field(max_length=LONGEST, repr=False)


class Me(Document):
    """Who is signed in, and how far that reaches."""

    kind: str
    name: str | None = Field(description="`null`: whoever sits at this machine.")
    how: str
    credential: str
    scopes: list[str]
    roles: list[str]
    teams: list[str]
    version: str | None = Field(description="Of an agent: that of its token.")
    signed_in_at: datetime | None = Field(description="`null` for a token.")


@dataclass(frozen=True, slots=True)
class Opened:
    """A session that was just opened, and the secret it is known by."""

    secret: str
    who: Caller


# --- for programs and pages alike --------------------------------------------------------------


@router.get(
    "/api/v1/session",
    tags=["session"],
    operation_id="who_am_i",
    summary="Who am I",
    responses={200: {"model": Me}, **answers(401, 403)},
)
async def who_am_i(request: Request, who: Known) -> Response:
    """Say whose credential this is, and how far it reaches."""
    service = service_of(request)
    return _told(await service.work(lambda: _me(service, who)))


@router.post(
    "/api/v1/session",
    tags=["session"],
    operation_id="sign_in",
    summary="Sign in",
    responses={200: {"model": Me}, **answers(401, 403, 408, 413, 415, 422, 429)},
)
async def sign_in(request: Request, given: Credentials) -> Response:
    """Sign in with a password; the session comes back as a cookie.

    Whoever is signed in already gets a new session, and the old one ends: this is also how a
    sign-in is refreshed for a decision on something critical.
    """
    session = await _let_in(request, given.name, given.password)
    service = service_of(request)
    me = await service.work(lambda: _me(service, session.who))
    return with_session(_told(me), service, session)


@router.delete(
    "/api/v1/session",
    status_code=204,
    tags=["session"],
    operation_id="sign_out",
    summary="Sign out",
    responses=answers(401, 403),
)
async def sign_out(request: Request, who: Known) -> Response:
    """Sign out: the session ends, wherever its cookie is kept."""
    if who.signed_in_at is None:
        raise Problem(
            403,
            "no-session",
            "A token is not signed in or out. Revoke it: DELETE /api/v1/tokens/ID",
        )
    return await _signed_out(request, who, Response(status_code=204))


async def _signed_out(request: Request, who: Caller, answer: Response) -> Response:
    service = service_of(request)
    await service.work(lambda: end_session(service.store, who.credential))
    name = service.settings.cookie
    answer.delete_cookie(name, path="/", secure=_secure(name), httponly=True, samesite="lax")
    return answer


async def _let_in(request: Request, name: str, password: str) -> Opened:
    """Open a session for whoever knows the password.

    Raises:
        Problem: it is wrong, or there is no such person; which is not said.
        TooManyTries: too many wrong ones came from there.
    """
    service, where = service_of(request), address(request)
    right = await to_thread.run_sync(
        lambda: check_password(service.store, name, password, address=where), limiter=_HASHING
    )
    if not right:
        raise Problem(401, "wrong-password", _WRONG, headers={"WWW-Authenticate": "Bearer"})
    return await opened(request, name, "password")


async def opened(
    request: Request, person: str | None, how: str, *, since: datetime | None = None
) -> Opened:
    """Open a session in place of the one this browser had; it counts from now, or `since`."""
    service = service_of(request)
    before = await visitor(request)
    old = before.credential if before is not None and before.signed_in_at is not None else None
    agent = request.headers.get("user-agent", "")

    def session() -> Opened:
        _, secret = open_session(
            service.store,
            person,
            how=how,
            address=address(request),
            agent_string=agent,
            replaces=old,
            since=since,
        )
        return Opened(secret, caller_of_session(service.store, secret))

    return await service.work(session)


async def visitor(request: Request) -> Caller | None:
    """Return who looks at a page; `None` for a stranger."""
    try:
        return await caller(request)
    except NotSignedIn:
        return None


def with_session(answer: Response, service: Service, session: Opened) -> Response:
    """Let a browser keep a session.

    At this machine the cookie stays home whoever links to us. A team also comes from chats and
    from the identity provider, so its cookie comes along with links, and never with changes.
    """
    name = service.settings.cookie
    answer.set_cookie(
        name,
        session.secret,
        max_age=int(LASTS.total_seconds()),
        path="/",
        secure=_secure(name),
        httponly=True,
        samesite="strict" if session.who.name is None else "lax",
    )
    return answer


def _secure(cookie: str) -> bool:
    return cookie.startswith("__Host-")


def cookie_name(url: str, port: int) -> str:
    """Return the name of the cookie. It has the port in it, because browsers ignore the port."""
    return f"__Host-sayso_{port}" if url.startswith("https:") else f"sayso_{port}"


def address(request: Request) -> str:
    """Return where a request comes from."""
    return request.client.host if request.client else ""


def _told(me: Me) -> Response:
    return Response(me.model_dump_json(), media_type="application/json")


def _me(service: Service, who: Caller) -> Me:
    roster = service.store.register()
    person = who.name if who.kind == "person" else None
    return Me(
        kind=who.kind,
        name=who.name,
        how=who.how,
        credential=who.credential,
        scopes=sorted(who.scopes),
        roles=sorted(roster.people.get(person or "", ())),
        teams=sorted(roster.teams.get(person or "", ())),
        version=who.version,
        signed_in_at=who.signed_in_at,
    )


# --- pages -------------------------------------------------------------------------------------


@router.get("/", include_in_schema=False)
async def home(request: Request) -> Response:
    """Lead to the inbox, or to where somebody was before they signed in; or take the one-time link."""
    if LINK in request.query_params:
        return await _by_link(request, request.query_params[LINK])
    service, to = service_of(request), request.query_params.get(TO)
    who = await visitor(request)
    if who is None and to is not None:  # they have just signed in
        return _no_cookie(to)
    if who is None or who.kind == "agent":  # pages are for people
        solo = await service.work(lambda: service.desk.people.solo)
        return _how_to_come_in(service) if solo else RedirectResponse("/sign-in", 303)
    wanted = onward(to)
    return RedirectResponse(_INBOX if wanted.partition("?")[0] == "/" else wanted, 303)


def _no_cookie(to: str) -> Response:
    """Say why somebody who signed in is not: without this, they would go round in circles."""
    said = Message(
        title="This browser kept no cookie",
        alert="You signed in, and your browser did not keep the cookie that says so.",
        said=("Allow cookies for this address, and sign in again.",),
        links=(("Sign in", f"/sign-in?{urlencode({'next': onward(to)})}"),),
    )
    return message(said, 401, _NO_REFERRER)


async def _by_link(request: Request, text: str) -> Response:
    service = service_of(request)
    service.count_stranger(request)
    if not await service.work(lambda: use_link(service.store, text)):
        return _how_to_come_in(service, _SPENT)
    session = await opened(request, None, "link")
    # The address that the browser keeps, and sends on to others, is the one without the secret.
    answer = RedirectResponse(arrival(_INBOX), 303, headers=_NO_REFERRER)
    return with_session(answer, service, session)


def _how_to_come_in(service: Service, reason: str = "Nobody is signed in here.") -> Response:
    said = Message(
        title="Open the link again",
        alert=reason,
        said=("Get another one in a terminal, in the folder where it was started:",),
        command=service.settings.another_link,
    )
    return message(said, 401, _NO_REFERRER)


@router.get("/sign-in", include_in_schema=False)
async def sign_in_page(request: Request) -> Response:
    """Show the form."""
    service = service_of(request)
    if await service.work(lambda: service.desk.people.solo):
        return _how_to_come_in(service)
    return _form(request, onward(request.query_params.get("next")))


@router.post("/sign-in", include_in_schema=False)
async def sign_in_form(request: Request) -> Response:
    """Take the form, as browsers send it without a script."""
    given: dict[str, str] = {}
    try:
        service_of(request).count_stranger(request)
        given = await _filled_in(request)
        session = await _let_in(request, given.get("name", ""), given.get("password", ""))
    except (Problem, TooManyTries) as error:
        words = str(error.detail) if isinstance(error, Problem) else str(error)
        status = error.status_code if isinstance(error, Problem) else 429
        to, name = onward(given.get("next")), given.get("name", "")
        return _form(request, to, words, name, status)
    answer = RedirectResponse(arrival(onward(given.get("next"))), 303)
    return with_session(answer, service_of(request), session)


async def _filled_in(request: Request) -> dict[str, str]:
    """Return the fields of the form.

    Raises:
        Problem: there are more than any form of ours has.
    """
    text = (await request.body()).decode("utf-8", "replace")
    try:
        return dict(parse_qsl(text, max_num_fields=_FIELDS))
    except ValueError:
        words = "The form has more fields than a name and a password need."
        raise Problem(422, "invalid-request", words) from None


@router.post("/sign-out", include_in_schema=False)
async def sign_out_form(request: Request) -> Response:
    """Sign out with a button."""
    who = await visitor(request)
    gone = RedirectResponse("/", 303)
    if who is None or who.signed_in_at is None:
        return gone
    return await _signed_out(request, who, gone)


def arrival(to: str) -> str:
    """Return where a browser goes with its new cookie: there it shows whether it kept it."""
    return f"/?{urlencode({TO: to})}"


def onward(wanted: str | None) -> str:
    """Return where to go after signing in: a page of ours, and nowhere else."""
    if not wanted or not wanted.startswith("/") or wanted[1:2] in {"/", "\\"}:
        return "/"
    return wanted if wanted.isprintable() and "\\" not in wanted else "/"


def back_from(request: Request) -> str:
    """Return the page that a form was sent from, as far as the browser says it and it is ours."""
    came = urlsplit(request.headers.get("referer", ""))
    return onward(f"{came.path}?{came.query}" if came.query else came.path)


def _form(
    request: Request, to: str, wrong: str | None = None, name: str = "", status: int = 200
) -> Response:
    oidc = service_of(request).settings.oidc
    return sheet(
        "sign_in.html",
        status=status,
        to=to,
        wrong=wrong,
        name=one_line(name, 200),
        issuer=oidc.issuer if oidc else None,
    )
