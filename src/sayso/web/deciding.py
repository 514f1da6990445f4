"""A verdict from somebody elsewhere: who they are is what they signed in as."""

from __future__ import annotations

from datetime import timedelta

from sayso.asks.deciding import decide
from sayso.asks.ruling import rule
from sayso.asks.standing import Standing
from sayso.errors import SaysoError, SignInAgain
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
    at = visit.standing(ask_id)

    def act() -> Ask:
        if not at.roster.solo and _critical(visit, at, body):
            _check_fresh(visit, at, fresh)
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
        )
        return decide(
            visit.store,
            ask_id,
            ballot,
            seen=body.seen,
            by=visit.caller.name,
            origin=visit.origin,
            law=visit.desk.law,
        )

    return visit.once(ask_id, _SAID, act, at)


def _critical(visit: Visit, at: Standing, body: DecisionPost) -> bool:
    """Whether it is critical as it stands, or would be as edited: an edit carries a vote along."""
    content = at.ask.content
    if "critical" in (content.risk, content.ruled.tier):
        return True
    if body.verdict != "edit" or not isinstance(body.args, dict):
        return False
    try:
        edited = content.with_args({**at.ask.args, **body.args})
        return rule(visit.desk.law, edited, at.now).tier == "critical"
    except SaysoError:  # what is wrong with the edit is said by whoever checks edits
        return False


def _check_fresh(visit: Visit, at: Standing, fresh: timedelta) -> None:
    signed_in = visit.caller.signed_in_at
    if signed_in is None or at.now - signed_in > fresh:
        raise SignInAgain(f"Deciding {at.ask.id}, which is critical,")
