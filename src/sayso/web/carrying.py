"""Begin, finish and doubt for somebody elsewhere: each once, also when it is sent again."""

from __future__ import annotations

from datetime import timedelta
from os import urandom

from sayso.asks.pacing import check_not_over
from sayso.asks.spending import begin, doubt, finish
from sayso.asks.standing import Standing, told
from sayso.errors import AlreadySpent, FinishedLate, NotApproved, SaysoError
from sayso.model.ask import Ask
from sayso.model.call import Call
from sayso.model.event import Event
from sayso.model.text import one_line
from sayso.store.contract import Lease
from sayso.web.bodies import BeginPost, DoubtPost, FinishPost
from sayso.web.visit import Visit

_ENDED = ("effect.done", "effect.failed", "effect.late")


def begun(visit: Visit, ask_id: str, body: BeginPost) -> Call:
    """Spend the approval. The same request again gets the same call, and no other request does.

    Raises:
        NotApproved, AlreadySpent, CallerGone, Tampered: it must not be carried out.
        TooManyAsks: nobody was asked about it, and too much of its agent is not over.
    """
    at = visit.standing(ask_id)
    # Sent again, it must be the same holder, so that a lost answer leaves nothing to guess.
    holder = body.holder or visit.held(visit.request or urandom(16).hex())
    lease = Lease(visit.held(holder), timedelta(seconds=body.seconds))
    before = visit.own(at, ("effect.intended",))
    if before is not None:
        return _again(visit, at, before, holder, lease)
    desk = visit.desk
    decision = at.ask.decision
    if decision is not None and decision.by.kind == "policy":
        check_not_over(visit.store, desk.law.current(visit.store, at.law), at.ask.content)
    try:
        call = begin(
            visit.store, ask_id, origin=visit.origin, lease=lease, law=desk.law, risk=body.risk
        )
    except AlreadySpent:
        at = visit.standing(ask_id)
        before = visit.own(at, ("effect.intended",))
        if before is None:
            raise
        return _again(visit, at, before, holder, lease)
    return Call(call.ask, call.tool, call.args, call.key, call.attempt, holder)


def _again(visit: Visit, at: Standing, before: Event, holder: str, lease: Lease) -> Call:
    """Return the call that this request began, unless it is over or in doubt by now."""
    effect = at.ask.effect
    said = before.payload or {}
    going = effect is not None and effect.status == "intended"
    if effect is None or not going or effect.attempt != said.get("attempt"):
        raise AlreadySpent(at.ask, effect.status if effect else "none")
    if at.holder != lease.holder or lease.span is None:
        raise AlreadySpent(at.ask, effect.status)
    visit.store.renew(lease.holder, lease.span)
    return Call(at.ask, at.ask.tool or "", at.ask.args, effect.key, effect.attempt, holder)


def finished(visit: Visit, ask_id: str, body: FinishPost) -> Ask:
    """Record what came of a call.

    Raises:
        NotApproved: it was never begun, or by somebody else who is still at it.
        FinishedLate: it had been given up; the result was kept as evidence.
    """
    at = visit.standing(ask_id)
    _check_begun(at, body.attempt)
    done = _ended(visit, at)
    if done is not None:
        return done
    ask, holder = at.ask, _holder(visit, at, body.holder)
    if _elsewhere(at) and at.holder != holder:
        raise NotApproved(ask, "somebody else is carrying it out.")
    call = Call(ask, ask.tool or "", {}, "", body.attempt, holder)
    try:
        if body.error is None:
            return finish(visit.store, call, "done", origin=visit.origin, result=body.result)
        words = one_line(body.error, 500)
        return finish(visit.store, call, "failed", origin=visit.origin, error=words)
    except SaysoError:
        done = _ended(visit, visit.standing(ask_id))
        if done is None:
            raise
        return done


def _check_begun(at: Standing, attempt: int) -> None:
    effect = at.ask.effect
    if effect is None or attempt > effect.attempt:
        raise NotApproved(at.ask, f"attempt {attempt} was never begun.")


def _elsewhere(at: Standing) -> bool:
    """Whether somebody is carrying it out and has not fallen silent."""
    effect = at.ask.effect
    return effect is not None and effect.status == "intended" and not at.lapsed


def _holder(visit: Visit, at: Standing, named: str | None) -> str:
    """Return who says that a call has ended: the account that began it need not name itself."""
    if named is not None:
        return visit.held(named)
    mine = _beginner(at) == visit.origin.account and not at.ask.held
    return (mine and at.holder) or ""


def _beginner(at: Standing) -> str | None:
    """Return the account under which it was begun last."""
    begun = [event.payload for event in at.events if event.kind == "effect.intended"]
    return (begun[-1] or {}).get("account") if begun else None


def _ended(visit: Visit, at: Standing) -> Ask | None:
    """Return what this very request has recorded before."""
    before = visit.own(at, _ENDED)
    if before is None:
        return None
    then = told(at.events[: before.seq], solo=at.roster.solo)
    if before.kind == "effect.late":
        raise FinishedLate(then, then.effect.status if then.effect else "none")
    return then


def doubted(visit: Visit, ask_id: str, body: DoubtPost) -> Ask:
    """Make an effect unknown, and ask people whether it happened.

    Raises:
        NotApproved: it was never begun, or by somebody else who is still at it.
        AlreadySpent: it ended meanwhile.
    """
    at = visit.standing(ask_id)
    _check_begun(at, body.attempt)
    before = visit.own(at, ("effect.unknown",))
    if before is not None:
        return visit.standing((before.payload or {})["doubt"]).ask
    if _elsewhere(at) and _beginner(at) != visit.origin.account:
        raise NotApproved(at.ask, "somebody else is carrying it out.")
    lease = None
    if body.holder is not None:
        lease = Lease(visit.held(body.holder), timedelta(seconds=body.seconds))
    # The sentence it becomes a part of is ours; these words are not.
    reason = f"{visit.actor.id} says: {one_line(body.reason, 300)}"
    opened = doubt(
        visit.store, ask_id, reason, origin=visit.origin, attempt=body.attempt, lease=lease
    )
    if opened is not None:
        return opened
    at = visit.standing(ask_id)
    before = visit.own(at, ("effect.unknown",))
    if before is None:
        raise AlreadySpent(at.ask, at.ask.effect.status if at.ask.effect else "none")
    return visit.standing((before.payload or {})["doubt"]).ask
