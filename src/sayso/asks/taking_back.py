"""Taking back what one said, while it settles."""

from __future__ import annotations

from sayso.asks.deadlines import keep_time
from sayso.asks.identity import reviewer
from sayso.asks.standing import Standing, grow, stamped, standing, tries
from sayso.errors import AskClosed, Forbidden, Misuse
from sayso.model.actor import Actor, Origin
from sayso.model.ask import Ask
from sayso.model.content import check_words
from sayso.store.contract import Append, Store


def take_back(
    store: Store, ask_id: str, *, by: str | None, origin: Origin, note: str | None
) -> Ask:
    """Take one person's word on a settling ask back: it is open again, without their vote.

    The moment in which it settles is too late already; the statement that writes says so.

    Raises:
        AskClosed: it is too late.
        Misuse: nothing is settling.
        Forbidden: the person has said nothing that could be taken back.
    """
    check_words(note, "note")
    turn = tries(ask_id)
    while True:
        next(turn)
        at = standing(store, ask_id)
        if keep_time(store, at) is not None:
            continue
        person = reviewer(at.ask, at.roster, by, origin)
        _check(at, person)
        payload = stamped(origin, note=note or None)
        event, ask = grow(at.ask, "ask.taken_back", at=at.now, actor=person, payload=payload)
        if store.commit(Append(event=event, ask=ask, before=at.ask.settles_at)):
            return ask


def _check(at: Standing, person: Actor) -> None:
    ask = at.ask
    if ask.closed:
        raise AskClosed(ask, attempted="take back")
    if not ask.settling:
        raise Misuse(
            f'{ask.id} "{ask.label}" is open, so there is nothing to take back. To change a vote, '
            "vote again."
        )
    if all(vote.by != person for vote in ask.votes):
        said = ", ".join(vote.by.id for vote in ask.votes)
        raise Forbidden(
            f'{ask.id} "{ask.label}" was decided by {said}; only they can take it back.'
        )
