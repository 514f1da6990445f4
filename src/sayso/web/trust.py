"""The trust in agents over HTTP: for people, who look at keys, end grants and open what is locked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import JSONResponse, Response

from sayso.access.caller import Caller
from sayso.asks.trust import Trust, book_record, row_record
from sayso.autonomy.book import read
from sayso.autonomy.ledger import Standing
from sayso.channels.sentences import readable
from sayso.errors import SaysoError
from sayso.model.event import Event
from sayso.model.wire import write_event
from sayso.web.bodies import NotePost
from sayso.web.callers import Door, needs
from sayso.web.documents import READING, WRITING, BookDocument, KeyList, answers
from sayso.web.service import service_of
from sayso.web.visit import IdempotencyKey, Visit, visit_of

router = APIRouter(prefix="/api/v1/trust", tags=["trust"], route_class=Door)

KeyId = Annotated[
    str, Path(max_length=200, description="The id of the key.", examples=["k-7f3k9m2p0q"])
]
_Name = Annotated[str | None, Query(min_length=1, max_length=200)]


@router.get(
    "",
    operation_id="list_keys",
    summary="Who has earned what",
    responses={200: {"model": KeyList}, **answers(401, 403, 422)},
)
async def list_keys(
    request: Request,
    caller: Caller = needs("audit:read"),
    standing: Annotated[Standing | None, Query(description="Only those that stand so.")] = None,
    agent: Annotated[_Name, Query(description="Only those of this agent.")] = None,
    tool: Annotated[_Name, Query(description="Only calls of this tool.")] = None,
    limit: Annotated[int, Query(ge=1, le=500, description="How many at most.")] = 200,
) -> Response:
    """Return keys of one's teams, and of none: those that want somebody, those that run alone.

    `counts` is of all of them, whatever is asked for.
    """
    visit = visit_of(request, caller)

    def found() -> dict[str, Any]:
        trust = _trust(visit)
        rows = trust.keys(standing=standing, agent=agent, tool=tool, limit=limit)
        return {"keys": [row_record(row) for row in rows], "counts": trust.counts()}

    return JSONResponse(await service_of(request).work(found))


@router.get(
    "/{key}",
    operation_id="get_key",
    summary="All about one key",
    responses={200: {"model": BookDocument}, **answers(*READING)},
)
async def get_key(request: Request, key: KeyId, caller: Caller = needs("audit:read")) -> Response:
    """Return how a key stands, on what terms, and everything that was ever said of it, in order."""
    visit = visit_of(request, caller)
    found = await service_of(request).work(lambda: _told(visit, _trust(visit).history(key)))
    return JSONResponse(found)


@router.post(
    "/{key}/revoke",
    operation_id="revoke_grant",
    summary="End a grant",
    responses={200: {"model": BookDocument}, **answers(*WRITING)},
)
async def revoke_grant(
    request: Request,
    key: KeyId,
    body: NotePost | None = None,
    caller: Caller = needs("decisions:write"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Let people be asked again for every call of a key, which earns from the beginning."""
    return await _steered(request, caller, key, "revoked", body, idempotency_key)


@router.post(
    "/{key}/reopen",
    operation_id="reopen_key",
    summary="Let a locked key earn again",
    responses={200: {"model": BookDocument}, **answers(*WRITING)},
)
async def reopen_key(
    request: Request,
    key: KeyId,
    body: NotePost | None = None,
    caller: Caller = needs("decisions:write"),
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Let a key earn again that was locked after its third grant. For whoever decides its calls."""
    return await _steered(request, caller, key, "reopened", body, idempotency_key)


async def _steered(
    request: Request,
    caller: Caller,
    key: str,
    what: Literal["revoked", "reopened"],
    body: NotePost | None,
    idempotency_key: str | None,
) -> Response:
    sent = body or NotePost()
    visit = visit_of(request, caller, idempotency_key, sent.said())

    def act() -> dict[str, Any]:
        trust = _trust(visit)
        done = _done(visit, trust.history(key), what)
        if done is not None:
            return _told(visit, done)
        steer = trust.revoke if what == "revoked" else trust.reopen
        try:
            seq = steer(key, sent.note, by=caller.name).seq
        except SaysoError:  # perhaps this very request was faster, and nobody heard its answer
            done = _done(visit, trust.history(key), what)
            if done is None:
                raise
            return _told(visit, done)
        return _told(visit, trust.history(key)[:seq])

    return JSONResponse(await service_of(request).work(act))


def _done(visit: Visit, events: Sequence[Event], what: str) -> Sequence[Event] | None:
    """Return a key up to what this very request did to it before; `None` if it did nothing."""
    event = visit.wrote(events, (f"trust.{what}",))
    return None if event is None else events[: event.seq]


def _trust(visit: Visit) -> Trust:
    """Return the keys as whoever calls sees them."""
    return Trust(lambda: visit.store, visit.origin, visit.teams())


def _told(visit: Visit, events: Sequence[Event]) -> dict[str, Any]:
    """Return a key as its events tell of it, and those."""
    book = read(events)
    history = [write_event(event) | {"sentence": "".join(readable(event))} for event in events]
    return book_record(book) | {"alone": book.alone, "history": history}
