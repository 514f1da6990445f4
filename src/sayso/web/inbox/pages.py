"""Pages and parts of pages, put together from what a request may see."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Literal, cast

from fastapi import Request
from starlette.responses import Response

from sayso.asks.inbox import Inbox
from sayso.asks.standing import Standing
from sayso.asks.versions import Version, versions
from sayso.channels.worddiff import changes
from sayso.errors import UnknownAsk
from sayso.web.faces import from_script
from sayso.web.inbox.card import UNTOUCHED, Entry, short, view_of
from sayso.web.inbox.context import brief, context_of, outcome_of, row_of, told_of
from sayso.web.inbox.filters import Filters
from sayso.web.inbox.held import by_others, held_by, said_of
from sayso.web.inbox.queue import inbox_of, queue_of
from sayso.web.inbox.touring import line_of, on_tour
from sayso.web.look.render import fragment, page
from sayso.web.look.views import AskView, Context, DraftVersion, Frame, Place, Queue, Toast, Tray
from sayso.web.problems import UNUSABLE
from sayso.web.visit import Visit

LOOK = "sayso_look"  # the cookie with how pages look: no secret
_THEMES = ("light", "dark", "system")


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What one answer shows: the list, the ask beside it, and what was just done."""

    queue: Queue | None = None
    ask: AskView | None = None
    toast: Toast | None = None


def screen(
    visit: Visit,
    filters: Filters,
    at: Standing | None,
    *,
    entry: Entry = UNTOUCHED,
    done: str | None = None,
    inbox: Inbox | None = None,
) -> Screen:
    """Read everything that one page shows."""
    listed = inbox or inbox_of(visit, filters)
    return Screen(
        queue=queue_of(visit, filters, listed, None if at is None else at.ask.id),
        ask=None if at is None else ask_view(visit, filters, at, entry),
        toast=toast_of(visit, done) if done else None,
    )


def new_request() -> str:
    """Return a name for what a page will send: the same again is then known to be the same."""
    return secrets.token_urlsafe(12)


def card_for(visit: Visit, at: Standing, entry: Entry = UNTOUCHED) -> AskView:
    """Return an ask as whoever visits sees it.

    Roles that a policy gives do not count while none can be used, and then that is the reason why a
    vote would not count.
    """
    view = view_of(at, visit.actor, new_request(), entry)
    if view.barred is None or visit.desk.law.broken is None:
        return view
    return replace(view, barred=UNUSABLE)


def state_view(visit: Visit, filters: Filters, at: Standing, seen: str | None) -> AskView:
    """Return an ask as far as its banner and its bar go."""
    view = card_for(visit, at, Entry(seen=seen))
    row = row_of(visit, at.ask)
    beside = Context(run=None if row is None else brief(row))
    return replace(view, context=beside, query=filters.query)


def ask_view(visit: Visit, filters: Filters, at: Standing, entry: Entry = UNTOUCHED) -> AskView:
    """Return an ask with what stands beside it and what came of it."""
    view = card_for(visit, at, entry)
    run = told_of(visit, at.ask)
    draft = view.draft
    if draft is not None:
        draft = replace(draft, versions=_versions(visit, at, filters))
    return replace(
        view,
        context=context_of(visit, at, run, filters),
        outcome=outcome_of(visit, at, run),
        draft=draft,
        query=filters.query,
    )


def _versions(visit: Visit, at: Standing, filters: Filters) -> tuple[DraftVersion, ...]:
    """Return how a draft came about; a first version alone is no history."""
    found = [one for one in versions(visit.store, at.ask.id) if visit.knows(one.ask)]
    if len(found) < 2:
        return ()
    pairs = zip([None, *found[:-1]], found, strict=True)
    return tuple(_version(before, one, at, filters) for before, one in pairs)


def _version(before: Version | None, one: Version, at: Standing, filters: Filters) -> DraftVersion:
    differs = () if before is None else changes(before.args, one.args)
    return DraftVersion(
        number=one.number,
        by=one.by.id,
        at=one.at,
        guidance=one.guidance,
        changes=differs[0] if differs else None,
        href=None if one.ask == at.ask.id else filters.href(f"/inbox/{one.ask}"),
    )


def toast_of(visit: Visit, ask_id: str) -> Toast | None:
    """Say what was just done to an ask; what can be undone is listed for as long as it can."""
    try:
        at = visit.standing(ask_id)
    except UnknownAsk:
        return None
    ask = at.ask
    voted = any(vote.by == visit.actor for vote in ask.votes)
    if not ask.open:
        text = said_of(ask) if voted else by_others(ask)
        return Toast(text=text, ask=ask.id, held=ask.settling and voted)
    if not voted:
        return None
    needs = short(at) or "others"
    return Toast(text=f"Your vote is recorded. It still needs {needs}.", ask=ask.id)


# --- answers -----------------------------------------------------------------------------------


def frame_of(request: Request, visit: Visit, title: str, place: Place = "page") -> Frame:
    """Return what stands around a page."""
    theme, keys = look_of(request)
    return Frame(
        title=title,
        who=visit.caller.name or visit.actor.id,
        theme=theme,
        keys=keys,
        place=place,
        now=visit.store.now(),
        admin="admin" in visit.caller.scopes,
        touring=on_tour(request),
        tray=Tray(rows=held_by(visit)),
    )


def tray_of(visit: Visit, filters: Filters) -> Tray:
    """Return what this person may still take back, as the inbox shows it."""
    return Tray(rows=held_by(visit), back=filters.query, inbox=True)


def shown(
    request: Request,
    visit: Visit,
    made: Screen,
    filters: Filters,
    *,
    status: int = 200,
    place: Place = "ask",
    push: str | None = None,
) -> Response:
    """Answer with a page; a script of ours gets the parts of it that change."""
    ask, queue = made.ask, made.queue
    tour_line = line_of(request, visit, None if place == "queue" else thread_of(ask))
    if from_script(request):
        headers = {} if push is None else {"HX-Push-Url": push}
        now = visit.store.now() if ask is None else ask.now
        return fragment(
            "swap.html",
            now=now,
            status=status,
            headers=headers,
            ask=ask,
            queue=queue,
            toast=made.toast,
            tray=None if queue is None else tray_of(visit, filters),
            tour_line=tour_line,
        )
    frame = frame_of(request, visit, "Inbox" if ask is None else ask.title, place)
    frame = replace(
        frame,
        tray=replace(frame.tray, back=filters.query, inbox=True),
        counted="" if queue is None or queue.decided else queue.counted,
        query=filters.query,
        toast=made.toast,
    )
    return page("inbox.html", frame, status=status, ask=ask, queue=queue, tour_line=tour_line)


def thread_of(ask: AskView | None) -> str | None:
    """Return the thread of the run that asked."""
    return None if ask is None or ask.context.run is None else ask.context.run.thread


def look_of(request: Request) -> tuple[Literal["light", "dark", "system"], bool]:
    """Return how this browser wants pages to look: the theme, and whether single keys count."""
    theme, _, keys = request.cookies.get(LOOK, "").partition(".")
    known = theme if theme in _THEMES else "system"
    return cast("Literal['light', 'dark', 'system']", known), keys != "off"
