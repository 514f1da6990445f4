"""Open asks that will not get anywhere by themselves: nobody may decide them, or nobody waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sayso.asks.inbox import listing
from sayso.errors import Misuse
from sayso.model.ask import Ask
from sayso.store.contract import InboxQuery, Store

_PAGE = 500
MOST = 5_000  # looked at; a desk with more open asks has another problem


@dataclass(frozen=True, slots=True)
class Stuck:
    """What was found among the open asks."""

    nobody: tuple[tuple[Ask, str], ...]
    gone: tuple[Ask, ...]
    looked_at: int
    complete: bool


def stuck(store: Store, *, most: int = MOST, teams: tuple[str, ...] | None = None) -> Stuck:
    """Look through the open asks for those that nobody can decide, or whose program has gone.

    With `teams`, through those that somebody of these teams sees.
    """
    roster = store.roster()
    nobody, gone, count = [], [], 0
    for ask in _open(store, most, teams):
        count += 1
        if ask.gone:
            gone.append(ask)
        try:
            ask.needs.check(roster.within(ask.content.team))
        except Misuse as error:
            nobody.append((ask, str(error)))
    return Stuck(tuple(nobody), tuple(gone), count, complete=count < most)


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
