"""Open asks that will not get anywhere by themselves: nobody may decide them, or nobody waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sayso.asks.inbox import decided, listing
from sayso.errors import Misuse
from sayso.model.ask import Ask
from sayso.model.names import is_older
from sayso.store.contract import InboxQuery, Store
from sayso.store.fleet import ALIVE

_PAGE = 500
MOST = 5_000  # looked at; a desk with more open asks has another problem


@dataclass(frozen=True, slots=True)
class Stuck:
    """What was found among the open asks."""

    nobody: tuple[tuple[Ask, str], ...]
    gone: tuple[Ask, ...]
    older: tuple[tuple[str, str], ...]  # names no door takes any more: `tool` or `agent`, and which
    looked_at: int
    complete: bool


def stuck(store: Store, *, most: int = MOST, teams: tuple[str, ...] | None = None) -> Stuck:
    """Look through the open asks for those that nobody can decide, or whose program has gone.

    With `teams`, through those that somebody of these teams sees.
    """
    roster = store.roster()
    nobody, gone, count = [], [], 0
    older: dict[tuple[str, str], None] = {}
    for ask in _open(store, most, teams):
        count += 1
        if ask.gone:
            gone.append(ask)
        named = ("tool", ask.tool), ("agent", ask.content.agent)
        older |= {(what, name): None for what, name in named if name and is_older(what, name)}
        try:
            ask.needs.check(roster.within(ask.content.team))
        except Misuse as error:
            nobody.append((ask, str(error)))
    return Stuck(tuple(nobody), tuple(gone), tuple(older), count, complete=count < most)


def _open(store: Store, most: int, teams: tuple[str, ...] | None) -> Iterator[Ask]:
    cursor, count = None, 0
    while count < most:
        query = InboxQuery(limit=min(_PAGE, most - count), after=cursor, teams=teams)
        page = listing(store, query, role=None, person=None)
        yield from page
        count += len(page)
        cursor = page.cursor
        if cursor is None:
            return


def unused(store: Store, *, most: int = _PAGE) -> list[tuple[Ask, str]]:
    """Return approvals among the last that were decided which nobody can use any more, and why.

    A call that was opened for whoever comes to carry it out waits for them, and is none of those.
    """
    found = []
    for ask in decided(store, InboxQuery(limit=most), person=None):
        if not ask.decision or ask.effect is not None or ask.kind != "action" or ask.tool is None:
            continue
        if ask.content.elsewhere and not _untouched(store, ask):
            continue
        why = _over(store, ask) if ask.of_run else _left(store, ask)
        if why is not None:
            found.append((ask, why))
    return found


def _untouched(store: Store, ask: Ask) -> bool:
    """Whether the run that asked has not gone on since; if it has, it may have made the call itself."""
    row = store.run(str(ask.content.run))
    return row is None or ask.id in row.waits


def _left(store: Store, ask: Ask) -> str | None:
    loaded = store.load(ask.id) if ask.held else None
    return "its program has gone" if loaded is not None and loaded.gone else None


def _over(store: Store, ask: Ask) -> str | None:
    row = store.run(str(ask.content.run))
    if row is None:
        return "its run is not there"
    if row.status == "parked":
        return f"its run {row.id} is parked"
    alive = {name for worker in store.workers(ALIVE) for name in worker.serves}
    if row.status == "ready" and row.workflow not in alive:
        return f"its run {row.id} has no worker"
    return None
