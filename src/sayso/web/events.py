"""The journal as it grows, for those who may see it: server-sent events.

Whoever follows has a cursor, which is the id of each event. Coming back with it
(`Last-Event-ID`, or `?after=`), to this process or another one, they go on exactly there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sayso.access.caller import Caller
from sayso.errors import NotSignedIn, StoreError, WrongScope
from sayso.model.actor import Roster
from sayso.model.event_kinds import check_kind
from sayso.store.accounts import ACCESS
from sayso.store.contract import PEOPLE
from sayso.web.callers import Door, needs, shown
from sayso.web.documents import EventDocument, answers
from sayso.web.hub import BATCH, Line
from sayso.web.service import Service, service_of
from sayso.web.visit import Visit

_CHUNK = 64 * 1024  # bytes that are handed over at once
_RETRY = 2000  # milliseconds after which a browser comes back
_WHO = (ACCESS, PEOPLE)  # where the journal says that somebody came, changed or left

# One of the frames that the stream is made of.
_FRAME = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {"$ref": f"#/components/schemas/{EventDocument.__name__}"},
        },
    },
}
_EXAMPLE = {"id": "4711", "data": '{"stream": "a-7f3k", "kind": "ask.decided"}'}

router = APIRouter(prefix="/api/v1", tags=["events"], route_class=Door)


@router.get(
    "/events",
    operation_id="follow_events",
    summary="The journal as it grows",
    response_class=Response,
    responses={
        200: {
            "description": "Server-sent events: `id` is the cursor, `data` one line of the journal.",
            "content": {"text/event-stream": {"schema": _FRAME, "example": _EXAMPLE}},
        },
        **answers(401, 403, 422),
    },
)
async def follow_events(
    request: Request,
    caller: Caller = needs("asks:read"),
    after: Annotated[
        str | None,
        Query(
            max_length=100,
            description="Go on after this cursor; empty: from the beginning; left out: from now on.",
        ),
    ] = None,
    kind: Annotated[
        list[str] | None, Query(max_length=50, description="Only events of these kinds.")
    ] = None,
    follow: Annotated[  # noqa: FBT002 - as the query has it
        bool, Query(description="Whether to wait for more, or to end where the journal ends.")
    ] = True,
    last_event_id: Annotated[
        str | None, Header(max_length=100, description="As `after`; what browsers send.")
    ] = None,
) -> Response:
    """Follow what happens to the asks and runs of one's teams; an agent, to its own asks.

    Nothing is missed and nothing comes twice: come back with the id of the last event. A comment
    every 15 seconds says that the stream is alive. Frames with an `id` and no `data` only move
    the cursor on. A credential that is revoked ends its streams, and a client that does not read
    is dropped.
    """
    service = service_of(request)
    wanted = after if last_event_id is None else last_event_id
    # Whether it is a cursor at all is said before anything is sent.
    cursor = await service.work(lambda: _checked(service, wanted))
    kinds = frozenset(check_kind(name) for name in kind or ())
    reader = Reader(service, request, caller, kinds)
    return EventStream(service, reader.frames(cursor, follow=follow), caller.credential)


def _checked(service: Service, wanted: str | None) -> str | None:
    if wanted is None:
        return service.store.tip()
    service.store.tail(wanted or None, 1)
    return wanted or None


class Reader:
    """Somebody who follows: what they may see, and what they want to."""

    def __init__(
        self, service: Service, request: Request, caller: Caller, kinds: frozenset[str]
    ) -> None:
        self._service = service
        self._request = request
        self._visit = Visit(service.desk, caller)
        self._kinds = kinds
        self._roster: Roster | None = None

    async def frames(self, cursor: str | None, *, follow: bool) -> AsyncIterator[bytes]:
        """Yield what is to be sent, until the server stops or the credential no longer counts."""
        hub, clock = self._service.hub, asyncio.get_running_loop().time
        quiet = self._service.settings.keep_alive
        await self._look_again()
        yield f"retry: {_RETRY}\n{_moved(cursor)}".encode()
        # Two clocks: events keep a stream alive, and no credential.
        due = look_at = clock() + quiet
        while not self._service.stopping.is_set():
            if clock() >= look_at:
                await self._look_again()
                look_at = clock() + quiet
            news = hub.news
            # Whoever wants what there is by now is not served by a ring that may be a moment behind.
            lines = hub.after(cursor) if follow else None
            if lines is None:
                lines = await self._behind(cursor)
            if lines:
                cursor = lines[-1].event.cursor
                shown_now = await self._shown(lines)
                if shown_now:
                    due = clock() + quiet
                for chunk in _chunks(shown_now):
                    yield chunk
            elif not follow:
                yield _moved(cursor).encode()
                return
            if clock() >= due:
                yield f": alive\n{_moved(cursor)}".encode()
                due = clock() + quiet
            if not lines:
                await _heard(news, min(due, look_at))

    async def _behind(self, cursor: str | None) -> list[Line]:
        """Read on from the database, for whoever is not in the ring."""
        service = self._service
        try:
            events = await service.work(lambda: service.store.tail(cursor, BATCH))
        except StoreError:  # it may come back; the stream outlives its restarts
            await asyncio.sleep(1.0)
            return []
        return [Line(event) for event in events]

    async def _shown(self, lines: list[Line]) -> list[bytes]:
        """Return those that the caller may see, as they are sent."""
        if any(line.event.stream in _WHO for line in lines):
            await self._look_again()
        service = self._service
        unknown = service.walls.unknown(line.event for line in lines)
        if unknown:
            store = service.store
            found = await service.work(lambda: service.walls.look_up(store, unknown))
            service.walls.learn(found)
        return [line.sent for line in lines if self._wanted(line)]

    def _wanted(self, line: Line) -> bool:
        if self._kinds and line.event.kind not in self._kinds:
            return False
        wall = self._service.walls.of(line.event.stream)
        if wall is None or self._roster is None:
            return False
        return self._visit.sees(wall.team, wall.agent, self._roster)

    async def _look_again(self) -> None:
        """See whether the credential still counts, and what its owner may see by now."""
        service = self._service
        caller, self._roster = await service.work(
            lambda: (shown(service, self._request), service.store.register())
        )
        caller.check("asks:read")
        self._visit = Visit(service.desk, caller)


async def _heard(news: asyncio.Event, due: float) -> None:
    try:
        async with asyncio.timeout_at(due):
            await news.wait()
    except TimeoutError:
        return


def _moved(cursor: str | None) -> str:
    """Return a frame that only says how far the client is."""
    return "\n" if cursor is None else f"id: {cursor}\n\n"


def _chunks(frames: list[bytes]) -> list[bytes]:
    """Gather frames, so that many small ones cost one write and a few large ones no memory."""
    chunks: list[bytes] = []
    gathered, size = [], 0
    for frame in frames:
        gathered.append(frame)
        size += len(frame)
        if size >= _CHUNK:
            chunks.append(b"".join(gathered))
            gathered, size = [], 0
    return [*chunks, b"".join(gathered)] if gathered else chunks


class EventStream(Response):
    """Sends frames as they come. Whoever does not read them is dropped, and holds up nobody."""

    media_type = "text/event-stream"

    def __init__(self, service: Service, frames: AsyncIterator[bytes], credential: str) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._service = service
        self._frames = frames
        self._credential = credential

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the frames end, the client goes, or it does not read any more."""
        with self._service.streams.taking(self._credential):
            sending = asyncio.ensure_future(self._send(scope, send))
            leaving = asyncio.ensure_future(_left(receive))
            try:
                await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for one in (sending, leaving):
                    one.cancel()
                await asyncio.gather(sending, leaving, return_exceptions=True)
        if not sending.cancelled():
            sending.result()

    async def _send(self, scope: Scope, send: Send) -> None:
        patience = self._service.settings.stream_seconds
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        try:
            async for frame in self._frames:
                async with asyncio.timeout(patience):
                    await send({"type": "http.response.body", "body": frame, "more_body": True})
        except TimeoutError:
            hang_up(scope)
            return
        except (NotSignedIn, WrongScope, StoreError):  # nothing that they may see by now
            pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


TRANSPORT = "sayso.transport"  # where the application keeps the connection of a request


def hang_up(scope: Scope) -> None:
    """Cut a connection. To end it properly would wait for a client that does not read."""
    transport = scope.get(TRANSPORT)
    if transport is not None:
        transport.abort()
