"""A person leaves the desk, or loses roles: what nobody could decide any more, said before (E59)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sayso.access.caller import ADMIN
from sayso.access.ways import ways_of
from sayso.asks.inbox import listing
from sayso.asks.opening import without
from sayso.asks.stuck import MOST
from sayso.errors import BadPolicy, Misuse
from sayso.model.actor import Roster
from sayso.model.ask import Ask
from sayso.store.contract import InboxQuery, Store

if TYPE_CHECKING:
    from sayso.asks.lawbook import Lawbook

_PAGE = 500


def stops(store: Store, law: Lawbook, name: str, before: Roster, after: Roster) -> tuple[str, ...]:
    """Say what nobody could do any more if a person had left, or had other roles."""
    return (
        *_agents(store, name, after),
        *_unadministered(before, after),
        *_asks(store, name, before, after),
        *_rules(law, before, after),
    )


def _agents(store: Store, name: str, after: Roster) -> Iterator[str]:
    agents = () if name in after.people else ways_of(store, [name])[name].agents
    if agents:
        yield f"The tokens of their agents end too: {', '.join(sorted(agents))}."


def _unadministered(before: Roster, after: Roster) -> Iterator[str]:
    def administered(roster: Roster) -> bool:
        return any(ADMIN in roles for roles in roster.people.values())

    if administered(before) and not administered(after):
        yield "Nobody else is an administrator. Then people are changed at the machine only."


def _asks(store: Store, name: str, before: Roster, after: Roster) -> Iterator[str]:
    was, now = store.widen(before), store.widen(after)
    lost = sum(_decidable(ask, was) and not _decidable(ask, now) for ask in _open_for(store, name))
    if lost:
        yield f"{'1 open ask' if lost == 1 else f'{lost:,} open asks'} could then be decided by nobody."


def _open_for(store: Store, name: str) -> Iterator[Ask]:
    """Yield the open asks that this person may vote on: only those can miss them."""
    cursor = None
    for _ in range(MOST // _PAGE):
        query = InboxQuery(limit=_PAGE, after=cursor)
        page = listing(store, query, role=None, person=name)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


def _decidable(ask: Ask, roster: Roster) -> bool:
    try:
        ask.needs.check(without(roster, ask.content))
    except Misuse:
        return False
    return True


def _rules(law: Lawbook, before: Roster, after: Roster) -> Iterator[str]:
    from sayso.policy.checking import problems

    try:
        policy = law.policy
    except BadPolicy:
        yield (
            "The policy cannot be used as it is, so nobody can tell what of it could then never be "
            "decided. See what is wrong: sayso policy check"
        )
        return
    # By whom it lacks: the words name all roles in use, and so change with everybody who leaves.
    known = {(one.about, one.lacks) for one in problems(policy, before)}
    for one in problems(policy, after):
        if one.lacks and (one.about, one.lacks) not in known:
            yield f"The policy, {one.about}: {one.reason}"
