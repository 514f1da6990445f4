"""The queue as a page shows it: rows, and their count from the same statement."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sayso.asks.inbox import Inbox, decided, group_of, listing, waiting
from sayso.channels.explanation import risk_words
from sayso.channels.headline import headline
from sayso.model.ask import Ask
from sayso.store.contract import InboxQuery
from sayso.web.inbox.bulk import bulk_digest
from sayso.web.inbox.card import shape_of, so_far
from sayso.web.inbox.filters import Filters
from sayso.web.look.views import Group, Queue, Row
from sayso.web.visit import Visit

PAGE = 50
_TITLE = 400


def inbox_of(visit: Visit, filters: Filters, limit: int = PAGE) -> Inbox:
    """Return the asks of a view, and how many there are: one statement, and so one moment.

    Raises:
        BadValue: a filter names what does not exist.
    """
    me = visit.caller.name
    query = InboxQuery(
        kind=filters.kind,
        run=filters.run,
        agent=filters.agent,
        tool=filters.tool,
        text=filters.q,
        least="high" if filters.view == "high" else None,
        not_voted=me if filters.view == "mine" else None,
        teams=visit.teams(),
        limit=limit,
        after=filters.after,
    )
    if filters.view == "decided":
        return decided(visit.store, query, person=me)
    mine = me if filters.view == "mine" else None
    return listing(visit.store, query, role=None, person=mine, people=visit.people)


def waiting_for(visit: Visit) -> Inbox:
    """Return how many asks wait for whoever looks, as their inbox counts them."""
    me = visit.caller.name
    return waiting(visit.store, person=me, teams=visit.teams(), people=visit.people)


def grave_for(visit: Visit) -> Inbox:
    """Return how many of them are of high risk or above, by the tier in force."""
    me = visit.caller.name
    return waiting(visit.store, person=me, teams=visit.teams(), people=visit.people, least="high")


def queue_of(visit: Visit, filters: Filters, inbox: Inbox, current: str | None = None) -> Queue:
    """Return the list as it is drawn; `current` is the ask that is open beside it."""
    roster, now = visit.store.widen(visit.people), inbox.at or visit.store.now()
    closed = filters.view == "decided"
    rows = tuple(
        _row(ask, filters, now, current, None if closed else bulk_digest(ask, visit.actor, roster))
        for ask in inbox
    )
    return Queue(
        rows=rows,
        counted=inbox.counted,
        chips=filters.chips(),
        narrowed=filters.narrowed(),
        search=filters.q or "",
        query=filters.query,
        more=replace(filters, after=inbox.cursor).href() if inbox.cursor else None,
        damaged=inbox.damaged,
        reading=inbox.reading,
        last_at=None if rows or closed else _last(visit),
        decided=closed,
    )


def _row(ask: Ask, filters: Filters, now: datetime, current: str | None, bulk: str | None) -> Row:
    return Row(
        id=ask.id,
        href=filters.href(f"/inbox/{ask.id}"),
        kind=ask.kind,
        title=headline(ask)[:_TITLE],
        agent=ask.content.agent,
        opened_at=ask.opened_at,
        due_at=ask.due_at if ask.open else None,
        shape=shape_of(ask),
        risk_word=risk_words(ask),
        tier=ask.content.level.name if ask.content.level.own else None,
        group=_group(ask, filters, now),
        bulk=bulk,
        outcome=None if ask.open else so_far(ask),
        assignee=ask.assignee if ask.open else None,
        current=ask.id == current,
    )


def _group(ask: Ask, filters: Filters, now: datetime) -> Group:
    return "decided" if filters.view == "decided" else group_of(ask, now)


def _last(visit: Visit) -> datetime | None:
    """Return when the last one came, for whoever looks at an empty list."""
    newest = decided(
        visit.store, InboxQuery(teams=visit.teams(), limit=1), person=visit.caller.name
    )
    return max((ask.opened_at for ask in newest), default=None)


def next_after(before: Inbox, ask_id: str, now: Inbox) -> str | None:
    """Return the ask that comes next in the list as it was on the screen, and is still there."""
    order = [ask.id for ask in before]
    left = [ask.id for ask in now]
    place = order.index(ask_id) if ask_id in order else -1
    behind = [one for one in order[place + 1 :] if one in left]
    return next(iter([*behind, *(one for one in left if one != ask_id)]), None)
