"""Who looks into an ask: claimed by somebody, or given to them.

A word to colleagues, and nothing more: whoever may decide an ask still may.
"""

from __future__ import annotations

from collections.abc import Callable

from sayso.asks.deadlines import keep_time
from sayso.asks.identity import check_role, identify, reviewer
from sayso.asks.standing import Standing, grow, stamped, standing, tries
from sayso.errors import AskClosed, Claimed, Forbidden
from sayso.model.actor import Actor, Origin
from sayso.model.ask import Ask
from sayso.store.contract import Append, Store

_Whom = Callable[[Standing, Actor], str | None]


def claim(store: Store, ask_id: str, *, by: str | None, origin: Origin) -> Ask:
    """Say that one is looking into an ask.

    Raises:
        Claimed: somebody else is.
        AskClosed: it is closed.
        Forbidden: this person could not decide it.
    """

    def to(at: Standing, person: Actor) -> str | None:
        gone = not at.roster.solo and at.ask.assignee not in at.roster.people
        if at.ask.assignee not in (None, person.id) and not gone:
            raise Claimed(at.ask, str(at.ask.assignee))
        return person.id

    return _assigned(store, ask_id, to, by=by, origin=origin)


def assign(store: Store, ask_id: str, to: str | None, *, by: str | None, origin: Origin) -> Ask:
    """Give an ask to somebody, or with `None` to nobody in particular.

    Raises:
        AskClosed: it is closed.
        UnknownPerson, Forbidden: they do not exist, or could not decide it.
    """

    def other(at: Standing, _person: Actor) -> str | None:
        if to is None:
            return None
        team, name = at.ask.content.team, at.roster.spelt(to)
        if at.roster.knows(name) and not at.roster.sees(name, team):
            raise Forbidden(
                f'{at.ask.id} "{at.ask.label}" is for the team {team}; {name} is not of it.'
            )
        return identify(at.roster, name, origin).id

    return _assigned(store, ask_id, other, by=by, origin=origin)


def _assigned(store: Store, ask_id: str, whom: _Whom, *, by: str | None, origin: Origin) -> Ask:
    turn = tries(ask_id)
    while True:
        next(turn)
        at = standing(store, ask_id)
        if keep_time(store, at) is not None:
            continue
        person = reviewer(at.ask, at.roster, by, origin)
        if at.ask.closed:
            raise AskClosed(at.ask, attempted="assign")
        to = whom(at, person)
        if to == at.ask.assignee:
            return at.ask
        if to is not None:
            check_role(at.ask, Actor("person", to), at.roster)
        payload = stamped(origin, to=to)
        event, ask = grow(at.ask, "ask.assigned", at=at.now, actor=person, payload=payload)
        if store.commit(Append(event=event, ask=ask, people=at.people)):
            return ask
