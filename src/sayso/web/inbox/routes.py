"""The pages of the inbox. What they do is elsewhere: here stand their addresses and who comes in."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import Caller
from sayso.access.caller import Scope as Reach
from sayso.asks.files import file_of
from sayso.web.callers import NeedsAPerson
from sayso.web.faces import from_script
from sayso.web.files import file_response
from sayso.web.forms.sent import Posted
from sayso.web.inbox import answering, bulk, turn, undoing
from sayso.web.inbox.answering import Sent, filters_in
from sayso.web.inbox.context import run_view, told_of
from sayso.web.inbox.deciding import verdict_in
from sayso.web.inbox.filters import Filters
from sayso.web.inbox.leaving import away
from sayso.web.inbox.pages import (
    LOOK,
    Screen,
    ask_view,
    card_for,
    frame_of,
    new_request,
    screen,
    shown,
    state_view,
    tray_of,
)
from sayso.web.inbox.posting import one, posted
from sayso.web.inbox.queue import inbox_of, queue_of
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.inbox.touring import line_of
from sayso.web.look.render import fragment, page, sheet
from sayso.web.look.views import Context
from sayso.web.service import service_of
from sayso.web.sign_in import back_from
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)
AskId = Annotated[str, Path(max_length=200)]
_YEAR = 365 * 24 * 3600
_FOUND = 8
_LOOKS = re.compile(r"[a-z]{0,20}\.[a-z]{0,20}")


def _person(scope: Reach) -> Any:  # noqa: ANN401 - as the framework declares its own
    return Depends(NeedsAPerson(scope))


_READS, _DECIDES = _person("asks:read"), _person("decisions:write")


# --- looking -----------------------------------------------------------------------------------


@router.get("/inbox")
async def inbox(request: Request, who: Caller = _READS, done: str | None = None) -> Response:
    """Show the queue, and beside it the first ask."""
    visit, filters = visit_of(request, who), Filters.of(request.query_params)

    def made() -> Response:
        listed = inbox_of(visit, filters)
        first = next(iter(listed), None)
        at = None if first is None else visit.standing(first.id)
        seen = screen(visit, filters, at, done=done, inbox=listed)
        return shown(request, visit, seen, filters, place="queue")

    return await service_of(request).work(made)


@router.get("/inbox/queue")
async def queue(request: Request, who: Caller = _READS) -> Response:
    """Show the queue alone, for a page that is open."""
    visit, filters = visit_of(request, who), Filters.of(request.query_params)

    def made() -> Response:
        listed = queue_of(visit, filters, inbox_of(visit, filters))
        tray = tray_of(visit, filters)
        return fragment("looked.html", now=visit.store.now(), queue=listed, tray=tray)

    return await service_of(request).work(made)


@router.get("/inbox/find")
async def find(request: Request, who: Caller = _READS, q: str = "") -> Response:
    """Show what fits some words, for the palette."""
    visit, wanted = visit_of(request, who), Filters.of({"view": "team", "q": q})

    def made() -> Response:
        rows = queue_of(visit, wanted, inbox_of(visit, wanted, _FOUND)).rows if wanted.q else ()
        return fragment("found.html", rows=rows)

    return await service_of(request).work(made)


@router.get("/inbox/bulk")
@router.get("/inbox/take-back")
async def bulk_again(who: Caller = _READS) -> Response:
    """Go back to the queue: what was confirmed together is no page to come back to."""
    return RedirectResponse("/inbox", 303)


@router.get("/inbox/{id}")
async def one_ask(
    request: Request,
    id: AskId,  # noqa: A002 - as the address says
    who: Caller = _READS,
    done: str | None = None,
) -> Response:
    """Show an ask, and the queue beside it; a script gets the ask alone."""
    visit, filters = visit_of(request, who), Filters.of(request.query_params)

    def made() -> Response:
        at = visit.standing(id)
        if from_script(request):
            return shown(request, visit, Screen(ask=ask_view(visit, filters, at)), filters)
        return shown(request, visit, screen(visit, filters, at, done=done), filters)

    return await service_of(request).work(made)


@router.get("/inbox/{id}/state")
async def state(
    request: Request,
    id: AskId,  # noqa: A002
    who: Caller = _READS,
    seen: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Show how an ask stands, for a page on which somebody may be typing: banner and bar.

    `seen` is the digest that this page shows: if it is another one by now, the banner says so.
    """
    visit, filters = visit_of(request, who), Filters.of(request.query_params)

    def made() -> Response:
        at = visit.standing(id)
        view = state_view(visit, filters, at, seen)
        return fragment("state.html", now=at.now, ask=view)

    return await service_of(request).work(made)


@router.get("/inbox/{id}/run")
async def run_beside(
    request: Request,
    id: AskId,  # noqa: A002
    who: Caller = _READS,
) -> Response:
    """Show the run of an ask, for a page on which it goes on; nothing, if it has none."""
    visit, filters = visit_of(request, who), Filters.of(request.query_params)

    def made() -> Response:
        at = visit.standing(id)
        told = told_of(visit, at.ask)
        if told is None:
            return Response(status_code=204)
        beside = Context(run=run_view(told, filters))
        return fragment("timeline.html", now=at.now, around=beside)

    return await service_of(request).work(made)


@router.get("/inbox/{id}/files/{number}")
async def file(
    request: Request,
    id: AskId,  # noqa: A002
    number: Annotated[int, Path(ge=0, le=1000)],
    who: Caller = _READS,
) -> Response:
    """Return a file beside an ask: shown if it is a picture, kept by the browser otherwise."""
    visit = visit_of(request, who)

    def made() -> Response:
        return file_response(*file_of(visit.store, visit.standing(id).ask, number))

    return await service_of(request).work(made)


@router.get("/leave")
async def leave(who: Caller = _READS, to: Annotated[str, Query(max_length=8000)] = "") -> Response:
    """Say in full where a link of an agent goes."""
    return sheet("leave.html", away=away(to))


@router.get("/help")
async def help_page(request: Request, who: Caller = _READS) -> Response:
    """Show all keys."""
    visit = visit_of(request, who)
    return await service_of(request).work(
        lambda: page("help.html", frame_of(request, visit, "Keys"))
    )


# --- deciding ----------------------------------------------------------------------------------


async def _sent(request: Request, who: Caller, ask_id: str) -> Sent:
    """Return a form as it was sent; the same again has the same name in the journal."""
    fields = await posted(request)
    visit = _visit(request, who, fields)
    return Sent(request, visit, filters_in(request, fields), fields, ask_id)


def _visit(request: Request, who: Caller, fields: Posted) -> Visit:
    key = one(fields, "request")
    named = key if 0 < len(key) <= 200 and key.isascii() and key.isprintable() else None
    return visit_of(request, who, named, {name: list(values) for name, values in fields.items()})


def _fresh(request: Request) -> timedelta:
    return timedelta(seconds=service_of(request).settings.fresh_seconds)


@router.post("/inbox/{id}/decision")
async def decision(
    request: Request,
    id: AskId,  # noqa: A002
    who: Caller = _DECIDES,
) -> Response:
    """Record a verdict, and go on with the next ask of the same queue."""
    sent, fresh = await _sent(request, who, id), _fresh(request)
    return await service_of(request).work(lambda: answering.decide(sent, fresh))


@router.post("/inbox/{id}/edit")
async def edit(
    request: Request,
    id: AskId,  # noqa: A002
    who: Caller = _READS,
) -> Response:
    """Change what is typed, without a script; nothing is decided."""
    sent = await _sent(request, who, id)
    do = one(sent.fields, "do")
    return await service_of(request).work(lambda: answering.edited(sent, do))


@router.post("/inbox/{id}/take-back")
async def take_back(
    request: Request,
    id: AskId,  # noqa: A002
    who: Caller = _DECIDES,
) -> Response:
    """Take one's word back, while it settles."""
    sent = await _sent(request, who, id)
    return await service_of(request).work(lambda: answering.undone(sent))


@router.post("/inbox/{id}/claim")
async def claim(
    request: Request,
    id: AskId,  # noqa: A002
    who: Caller = _DECIDES,
) -> Response:
    """Tell others that one is looking into it."""
    sent = await _sent(request, who, id)
    return await service_of(request).work(lambda: answering.claimed(sent))


@router.post("/inbox/{id}/assign")
async def assign(
    request: Request,
    id: AskId,  # noqa: A002
    who: Caller = _DECIDES,
) -> Response:
    """Give it to somebody to look into, or back to everybody."""
    sent = await _sent(request, who, id)
    return await service_of(request).work(lambda: answering.assigned(sent))


@router.post("/inbox/{id}/incident")
async def report_harm(
    request: Request,
    id: AskId,  # noqa: A002
    who: Caller = _DECIDES,
) -> Response:
    """Report that a call which was carried out did harm."""
    sent = await _sent(request, who, id)
    return await service_of(request).work(lambda: answering.harmed(sent))


@router.post("/inbox/bulk")
async def bulk_page(request: Request, who: Caller = _DECIDES) -> Response:
    """Show what would be decided together; and, once that is confirmed, what came of each."""
    fields = await posted(request)
    visit, filters, fresh = (
        _visit(request, who, fields),
        filters_in(request, fields),
        _fresh(request),
    )

    def made() -> Response:
        picks, verdict = bulk.picks_in(fields), verdict_in(fields)
        sure = bool(one(fields, "sure"))
        if sure:
            items = bulk.decide_all(visit, picks, verdict, fresh)
            words = bulk.summary(items, verdict)
            undo = undoing.undo_of(visit, [item.id for item in items if not item.failed])
        else:
            items, undo = bulk.to_confirm(visit, picks, verdict), None
            words = f"{'Approve' if verdict == 'approve' else 'Reject'} {len(items)} asks?"
        return page(
            "bulk.html",
            frame_of(request, visit, words),
            items=items,
            finished=sure,
            words=words,
            verdict=verdict,
            back=filters.query,
            request=new_request(),
            undo=undo,
        )

    return await service_of(request).work(made)


@router.post("/inbox/take-back")
async def take_all_back(request: Request, who: Caller = _DECIDES) -> Response:
    """Take several decisions back, and say of each whether there was still time."""
    fields = await posted(request)
    visit, filters = _visit(request, who, fields), filters_in(request, fields)

    def made() -> Response:
        items = undoing.all_taken_back(visit, [pick.id for pick in bulk.picks_in(fields)])
        words = undoing.in_a_line(items)
        frame = frame_of(request, visit, words)
        return page("bulk.html", frame, items=items, finished=True, words=words, back=filters.query)

    return await service_of(request).work(made)


@router.get("/inbox/{id}/turn")
async def turn_page(
    request: Request,
    id: AskId,  # noqa: A002
    who: Caller = _READS,
) -> Response:
    """Show the calls of one turn together."""
    visit = visit_of(request, who)
    return await service_of(request).work(lambda: _turn(request, visit, id, {}))


@router.post("/inbox/{id}/turn")
async def turn_decision(
    request: Request,
    id: AskId,  # noqa: A002
    who: Caller = _DECIDES,
) -> Response:
    """Decide the calls of one turn, each by itself."""
    fields = await posted(request)
    visit, fresh = _visit(request, who, fields), _fresh(request)

    def made() -> Response:
        results = turn.decide_each(visit, turn.calls_of(visit, id), fields, fresh)
        return _turn(request, visit, id, results)

    return await service_of(request).work(made)


def _turn(request: Request, visit: Visit, ask_id: str, results: dict[str, str]) -> Response:
    asked = turn.calls_of(visit, ask_id)
    calls = [card_for(visit, at) for at in asked]
    if len(calls) == 1 and not results:
        return RedirectResponse(f"/inbox/{ask_id}", 303)
    frame = frame_of(request, visit, "Calls of one turn")
    return page(
        "turn.html",
        frame,
        calls=calls,
        results=results,
        first=ask_id,
        request=new_request(),
        undo=undoing.undo_of(visit, results),
        tour_line=line_of(request, visit, asked[0].ask.content.thread if asked else None),
    )


# --- how it looks ------------------------------------------------------------------------------


@router.post("/settings")
async def settings(request: Request, who: Caller = _READS) -> Response:
    """Keep how pages look in this browser, and go back to the page."""
    fields = await posted(request)
    theme, _, keys = request.cookies.get(LOOK, "").partition(".")
    kept = f"{one(fields, 'theme', theme)}.{one(fields, 'keys', keys)}"
    answer = RedirectResponse(back_from(request), 303)
    if _LOOKS.fullmatch(kept):
        answer.set_cookie(LOOK, kept, max_age=_YEAR, path="/", httponly=True, samesite="lax")
    return answer
