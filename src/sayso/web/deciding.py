"""A verdict from somebody elsewhere: who they are is what they signed in as."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from sayso.asks.deciding import decide
from sayso.asks.standing import Standing
from sayso.model.ask import Ask, Ballot
from sayso.web.bodies import DecisionPost
from sayso.web.visit import Visit

_SAID = ("ask.voted", "ask.edited", "ask.decided", "ask.settling")


def decided(visit: Visit, ask_id: str, body: DecisionPost, fresh: timedelta) -> Ask:
    """Record a person's verdict, once.

    `fresh` is how recently they must have signed in for what is critical, on a desk with people.

    Raises:
        SignInAgain: it is critical, and they have not signed in of late, or came with a token.
        AskClosed, AskChanged, VerdictNotAllowed, InvalidEdit, InvalidAnswer, Forbidden: as ever.
    """
    ballot = Ballot(
        verdict=body.verdict,
        args=body.args,
        answer=body.answer,
        option=body.option,
        note=body.note,
        kind=body.kind,
        end=body.end,
        tool=body.tool,
        hold=body.hold,
        whole=body.whole,
        harmful=body.harmful,
    )
    return said(visit, visit.standing(ask_id), lambda _: ballot, seen=body.seen, fresh=fresh)


def said(
    visit: Visit,
    at: Standing,
    ballot: Callable[[Standing], Ballot],
    *,
    seen: str,
    fresh: timedelta,
) -> Ask:
    """Record what a person says to an ask, once; `ballot` reads it from what they sent.

    It is not read again if this very request has been heard before: an edit changes what it
    would be read against.

    Raises:
        SaysoError: as `decided` says, or as `ballot` does.
    """

    def act() -> Ask:
        return decide(
            visit.store,
            at.ask.id,
            ballot(at),
            seen=seen,
            by=visit.caller.name,
            origin=visit.origin,
            law=visit.desk.law,
            fresh=_fresh(visit, fresh),
        )

    return visit.once(at.ask.id, _SAID, act, at)


def _fresh(visit: Visit, within: timedelta) -> bool:
    """Whether they have just signed in. Whoever comes with a token has not."""
    signed_in = visit.caller.signed_in_at
    return signed_in is not None and visit.store.now() - signed_in <= within
