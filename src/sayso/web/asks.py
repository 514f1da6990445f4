"""Asks over HTTP: open, look, wait, decide, carry out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import JSONResponse, Response

from sayso.access.caller import Caller
from sayso.asks.assigning import assign, claim
from sayso.asks.files import file_of
from sayso.asks.inbox import Inbox, listing
from sayso.asks.inbox import decided as closed_ones
from sayso.asks.posted import SCHEMAS
from sayso.asks.taking_back import take_back
from sayso.asks.versions import Version, versions
from sayso.asks.vouching import incident
from sayso.asks.waiting import wait_async
from sayso.asks.withdrawing import check_withdrawal, withdraw
from sayso.errors import BadValue, Forbidden, StillOpen, UnknownPerson
from sayso.model.ask import Ask
from sayso.model.content import Risk
from sayso.model.file import FileNote
from sayso.model.verdicts import Kind
from sayso.model.wire import Page, write_ask, write_call, write_event, write_page
from sayso.store.contract import InboxQuery
from sayso.web.bodies import (
    AskPost,
    AssignPost,
    BeginPost,
    DecisionPost,
    DoubtPost,
    FinishPost,
    IncidentPost,
    LeasePost,
    NotePost,
)
from sayso.web.callers import Door, look, needs
from sayso.web.carrying import begun, doubted, finished
from sayso.web.deciding import decided
from sayso.web.documents import (
    READING,
    WRITING,
    AskDocument,
    AskList,
    CallDocument,
    EventList,
    LeaseDocument,
    VersionList,
    answers,
)
from sayso.web.files import file_response
from sayso.web.opening import opened
from sayso.web.service import Service, service_of
from sayso.web.visit import IdempotencyKey, Visit, visit_of

router = APIRouter(prefix="/api/v1", tags=["asks"], route_class=Door)

AskId = Annotated[str, Path(max_length=200, description="The id of the ask.", examples=["a-7f3k"])]


@router.post(
    "/asks",
    operation_id="open_ask",
    summary="Open an ask",
    status_code=201,
    responses={
        201: {"model": AskDocument, "description": "It was opened."},
        200: {"model": AskDocument, "description": "It was open before: the key, or the call."},
        **answers(*WRITING),
    },
)
async def open_ask(
    request: Request,
    body: AskPost,
    caller: Caller = needs("asks:create"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Put a question to people, or a call that needs their approval.

    What the request says of itself may raise the bar, and never lowers it. With a key, the same
    request finds the same ask again; the key authorises nothing.
    """
    said = body.said(whole=False)

    def act() -> tuple[Ask, bool]:
        visit = visit_of(request, caller, idempotency_key, said)
        return opened(visit, said, idempotency_key)

    service = service_of(request)
    async with service.turn(request, caller.credential) if said.keys() & SCHEMAS else nullcontext():
        ask, new = await service.work(act)
    return JSONResponse(write_ask(ask), 201 if new else 200)


@router.get(
    "/asks",
    operation_id="list_asks",
    summary="What waits, or was decided",
    responses={200: {"model": AskList}, **answers(*READING)},
)
async def list_asks(
    request: Request,
    caller: Caller = needs("asks:read"),
    status: Annotated[
        Literal["open", "decided"], Query(description="What waits, or what is closed.")
    ] = "open",
    kind: Annotated[Kind | None, Query(description="Only asks of this kind.")] = None,
    risk: Annotated[Risk | None, Query(description="Only asks of this declared risk.")] = None,
    least: Annotated[
        Risk | None, Query(description="Only asks of at least this risk, or of such a tier.")
    ] = None,
    agent: Annotated[
        str | None, Query(max_length=200, description="Only asks of this agent.")
    ] = None,
    tool: Annotated[str | None, Query(max_length=200, description="Only calls of it.")] = None,
    q: Annotated[
        str | None,
        Query(max_length=20_000, description="Only asks with all of these words."),
    ] = None,
    run: Annotated[str | None, Query(max_length=200, description="Only asks of this run.")] = None,
    thread: Annotated[str | None, Query(max_length=200, description="Only of this thread.")] = None,
    assignee: Annotated[
        str | None, Query(max_length=200, description="Only what this person looks into.")
    ] = None,
    role: Annotated[
        str | None, Query(max_length=200, description="Only what this role may decide; for people.")
    ] = None,
    person: Annotated[
        str | None,
        Query(max_length=200, description="Only what waits for this person; for people."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=500, description="How many on a page.")] = 50,
    after: Annotated[
        str | None, Query(max_length=500, description="`next` of the page before.")
    ] = None,
) -> Response:
    """Return a page of open asks: what expires within two hours, what needs people, the rest.

    Each has the riskiest first, then what has the least time left. With `status=decided`, return
    what was put to people and is closed, the newest first.

    People see those of their teams and those of none; an agent sees its own.
    """
    if caller.kind == "agent" and (role is not None or person is not None):
        raise Forbidden("Who may decide what is for people to know: leave out role and person.")
    if status == "decided" and role is not None:
        raise BadValue("role=: what is closed, nobody may decide any more. Leave it out.")
    visit = visit_of(request, caller)

    def page() -> Inbox:
        query = InboxQuery(
            kind=kind,
            risk=risk,
            least=least,
            agent=agent,
            tool=tool,
            text=q,
            run=run,
            thread=thread,
            assignee=assignee,
            not_voted=person,
            teams=visit.teams(),
            asker=visit.asker,
            limit=limit,
            after=after,
        )
        if status == "decided":
            return closed_ones(visit.store, query, person=person)
        return listing(visit.store, query, role=role, person=person)

    found = await service_of(request).work(page)
    said = Page(found.asks, found.count, found.cursor, found.damaged)
    return JSONResponse(write_page(said, found.counted) | {"reading": found.reading})


@router.get(
    "/asks/{id}",
    operation_id="get_ask",
    summary="How an ask stands",
    responses={200: {"model": AskDocument}, **answers(*READING)},
)
async def get_ask(
    request: Request,
    id: AskId,  # noqa: A002 - as the address says
    caller: Caller = needs("asks:read"),
    wait: Annotated[
        float, Query(ge=0, le=60, description="Seconds to wait for it to be closed.")
    ] = 0.0,
) -> Response:
    """Return an ask. With `wait`, return when it is closed, or as it stands when the time is over.

    A decision informs; what authorises is `begin`.
    """
    service, visit = service_of(request), visit_of(request, caller)
    ask = (await service.work(lambda: visit.standing(id))).ask
    if wait and not ask.closed:
        with service.waits.taking(caller.credential):
            await _closed(service, request, id, min(wait, service.settings.wait_seconds))
        # Who may see what may have changed meanwhile.
        visit = visit_of(request, await look(request))
        visit.caller.check("asks:read")
        ask = (await service.work(lambda: visit.standing(id))).ask
    return JSONResponse(write_ask(ask))


async def _closed(service: Service, request: Request, ask_id: str, seconds: float) -> None:
    """Wait until the ask is closed, the time is over, the client has gone, or the server stops."""
    waiting = asyncio.ensure_future(wait_async(service.store, ask_id, seconds))
    others = [asyncio.ensure_future(service.stopping.wait()), asyncio.ensure_future(_gone(request))]
    try:
        await asyncio.wait([waiting, *others], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in (waiting, *others):
            one.cancel()
        await asyncio.gather(waiting, *others, return_exceptions=True)
    if waiting.done() and not waiting.cancelled():
        error = waiting.exception()
        if error is not None and not isinstance(error, StillOpen):
            raise error


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


@router.get(
    "/asks/{id}/events",
    operation_id="list_ask_events",
    summary="Everything that happened to an ask",
    responses={200: {"model": EventList}, **answers(*READING)},
)
async def list_ask_events(
    request: Request,
    id: AskId,  # noqa: A002
    caller: Caller = needs("asks:read"),
) -> Response:
    """Return the journal of an ask, in order."""
    visit = visit_of(request, caller)
    at = await service_of(request).work(lambda: visit.standing(id))
    return JSONResponse({"events": [write_event(event) for event in at.events]})


@router.get(
    "/asks/{id}/versions",
    operation_id="list_versions",
    summary="The versions of what was proposed",
    responses={200: {"model": VersionList}, **answers(*READING)},
)
async def list_versions(
    request: Request,
    id: AskId,  # noqa: A002
    caller: Caller = needs("asks:read"),
) -> Response:
    """Return all versions of a draft, a plan or a call up to this ask, the oldest first."""
    visit = visit_of(request, caller)

    def found() -> list[Version]:
        visit.standing(id)
        return [one for one in versions(visit.store, id) if visit.knows(one.ask)]

    return JSONResponse(
        {"versions": [_version(one) for one in await service_of(request).work(found)]}
    )


@router.get(
    "/asks/{id}/files/{number}",
    operation_id="get_file",
    summary="A file beside an ask",
    response_class=Response,
    responses={
        200: {
            "description": "The bytes. Only what is an image by its bytes is shown in place.",
            "content": {"application/octet-stream": {"schema": {"type": "string"}}},
        },
        **answers(*READING),
    },
)
async def get_file(
    request: Request,
    id: AskId,  # noqa: A002
    number: Annotated[int, Path(description="As they are listed, from 1 on.", examples=[1])],
    caller: Caller = needs("asks:read"),
) -> Response:
    """Return the bytes of a file that was frozen with the ask; `content.files` lists them."""
    visit = visit_of(request, caller)

    def found() -> tuple[FileNote, bytes]:
        return file_of(visit.store, visit.standing(id).ask, number)

    return file_response(*await service_of(request).work(found))


def _version(version: Version) -> dict[str, Any]:
    return {
        "number": version.number,
        "ask": version.ask,
        "by": str(version.by),
        "at": version.at.isoformat(),
        "args": version.args,
        "guidance": version.guidance,
        "text": version.text,
    }


async def _done(request: Request, act: Callable[[], Ask]) -> Response:
    return JSONResponse(write_ask(await service_of(request).work(act)))


@router.post(
    "/asks/{id}/decision",
    operation_id="decide",
    summary="Decide an ask",
    responses={200: {"model": AskDocument}, **answers(*WRITING)},
)
async def decide(
    request: Request,
    id: AskId,  # noqa: A002
    body: DecisionPost,
    caller: Caller = needs("decisions:write"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Record a person's verdict on the version whose digest they saw. Agents cannot decide.

    Returns the ask afterwards: decided, settling, or still open if others must agree. Of any
    number of people who decide at once one wins; the others get 409 with the winner's decision.
    If what they saw is not what is shown now, they get 409 with the ask to look at again. What is
    critical needs a person who has just signed in.
    """
    service = service_of(request)
    fresh = timedelta(seconds=service.settings.fresh_seconds)

    def act() -> Ask:
        visit = visit_of(request, caller, idempotency_key, body.said())
        return decided(visit, id, body, fresh)

    return await _done(request, act)


@router.post(
    "/asks/{id}/begin",
    operation_id="begin",
    summary="Spend an approval",
    responses={200: {"model": CallDocument}, **answers(*WRITING)},
)
async def begin(
    request: Request,
    id: AskId,  # noqa: A002
    body: BeginPost | None = None,
    caller: Caller = needs("asks:run"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Spend the approval: whoever gets a call back is the only one to carry it out.

    The intent is durable before this answers. If `finish` does not come within `seconds`, people
    are asked whether the call happened. The same request again, with its `Idempotency-Key`, gets
    the same call; every other one gets 409.
    """
    sent = body or BeginPost()
    visit = visit_of(request, caller, idempotency_key, sent.said())
    call = await service_of(request).work(lambda: begun(visit, id, sent))
    return JSONResponse(write_call(call))


@router.post(
    "/asks/{id}/finish",
    operation_id="finish",
    summary="Record what came of a call",
    responses={200: {"model": AskDocument}, **answers(*WRITING)},
)
async def finish(
    request: Request,
    id: AskId,  # noqa: A002
    body: FinishPost,
    caller: Caller = needs("asks:run"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Record the result of a call, or the error it failed with.

    One that comes too late gets 409 and is kept as evidence.
    """

    def act() -> Ask:
        visit = visit_of(request, caller, idempotency_key, body.said())
        return finished(visit, id, body)

    return await _done(request, act)


@router.post(
    "/asks/{id}/doubt",
    operation_id="doubt",
    summary="Say that nobody knows whether a call happened",
    responses={200: {"model": AskDocument}, **answers(*WRITING)},
)
async def doubt(
    request: Request,
    id: AskId,  # noqa: A002
    body: DoubtPost,
    caller: Caller = needs("asks:run"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Ask people whether a call that was begun happened; returns that ask, of kind `doubt`."""
    visit = visit_of(request, caller, idempotency_key, body.said())
    return await _done(request, lambda: doubted(visit, id, body))


@router.post(
    "/asks/{id}/withdraw",
    operation_id="withdraw",
    summary="Take a question back",
    responses={200: {"model": AskDocument}, **answers(*WRITING)},
)
async def withdraw_ask(
    request: Request,
    id: AskId,  # noqa: A002
    body: NotePost | None = None,
    caller: Caller = needs("asks:run"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Close an ask that nobody has decided. An agent can take back its own.

    So can a person what they asked by hand. Of what others asked, to take it back is to say no.
    """
    sent = body or NotePost()
    visit = visit_of(request, caller, idempotency_key, sent.said())

    def act() -> Ask:
        if caller.kind == "person":
            check_withdrawal(visit.standing(id), by=caller.name, origin=visit.origin)
        return withdraw(visit.store, id, actor=visit.actor, origin=visit.origin, note=sent.note)

    return await _done(request, lambda: visit.once(id, ("ask.withdrawn",), act))


@router.post(
    "/asks/{id}/take-back",
    operation_id="take_back",
    summary="Take back what one said",
    responses={200: {"model": AskDocument}, **answers(*WRITING)},
)
async def take_back_vote(
    request: Request,
    id: AskId,  # noqa: A002
    body: NotePost | None = None,
    caller: Caller = needs("decisions:write"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Take one's word on a settling ask back: it is open again, without that vote."""
    sent = body or NotePost()
    visit = visit_of(request, caller, idempotency_key, sent.said())

    def act() -> Ask:
        return take_back(visit.store, id, by=caller.name, origin=visit.origin, note=sent.note)

    return await _done(request, lambda: visit.once(id, ("ask.taken_back",), act))


@router.post(
    "/asks/{id}/claim",
    operation_id="claim",
    summary="Say that one looks into it",
    responses={200: {"model": AskDocument}, **answers(*WRITING)},
)
async def claim_ask(
    request: Request,
    id: AskId,  # noqa: A002
    caller: Caller = needs("decisions:write"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Tell others that one is looking into an ask. They may still decide it."""
    visit = visit_of(request, caller, idempotency_key, "claim")

    def act() -> Ask:
        return claim(visit.store, id, by=caller.name, origin=visit.origin)

    return await _done(request, lambda: visit.once(id, ("ask.assigned",), act))


@router.post(
    "/asks/{id}/assign",
    operation_id="assign",
    summary="Give it to somebody",
    responses={200: {"model": AskDocument}, **answers(*WRITING)},
)
async def assign_ask(
    request: Request,
    id: AskId,  # noqa: A002
    body: AssignPost,
    caller: Caller = needs("decisions:write"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Give an ask to a person to look into, or with null to nobody in particular.

    Somebody who does not see the ask is nobody here.
    """
    visit = visit_of(request, caller, idempotency_key, body.said())

    def act() -> Ask:
        at = visit.standing(id)
        if body.to is not None and not at.roster.sees(body.to, at.ask.content.team):
            raise UnknownPerson(body.to, "")
        return assign(visit.store, id, body.to, by=caller.name, origin=visit.origin)

    return await _done(request, lambda: visit.once(id, ("ask.assigned",), act))


@router.post(
    "/asks/{id}/incident",
    operation_id="report_incident",
    summary="Report harm that a call has done",
    responses={200: {"model": AskDocument}, **answers(*WRITING)},
)
async def report_incident(
    request: Request,
    id: AskId,  # noqa: A002
    body: IncidentPost,
    caller: Caller = needs("decisions:write"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Report that a call which was carried out did harm, whoever had let it. Agents cannot.

    It ends the grant of its key, if that runs alone, and weighs against it otherwise. It counts
    once: whoever reports it again gets 409.
    """
    visit = visit_of(request, caller, idempotency_key, body.said())

    def act() -> Ask:
        return incident(visit.store, id, body.harm, by=caller.name, origin=visit.origin)

    return await _done(request, lambda: visit.once(id, ("incident.reported",), act))


@router.post(
    "/leases/{holder}",
    operation_id="renew_lease",
    summary="Say that a program is still there",
    responses={200: {"model": LeaseDocument}, **answers(*WRITING)},
)
async def renew_lease(
    request: Request,
    holder: Annotated[str, Path(max_length=200, description="As it was given to `begin`.")],
    body: LeasePost | None = None,
    caller: Caller = needs("asks:run"),
) -> Response:
    """Hold on to everything this caller holds under this name. Nobody else's is touched."""
    sent = body or LeasePost()
    visit: Visit = visit_of(request, caller)
    span = timedelta(seconds=sent.seconds)
    await service_of(request).work(lambda: visit.store.renew(visit.held(holder), span))
    return JSONResponse({"holder": holder, "seconds": sent.seconds})
