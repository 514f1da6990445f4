"""Carrying out what was approved: once, with the intent written first.

`begin` spends the approval and records the intent in one commit. Whoever gets
a `Call` back is the only one. `finish` records what came of it. If the program
dies in between, nobody knows whether the call happened: the sweep then makes
the effect `unknown` and opens a doubt, a question to people (promise 5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sayso.asks.lawbook import InForce, Lawbook
from sayso.asks.opening import new_id, opening
from sayso.asks.ruling import (
    carried_out,
    other_version,
    rule,
    shorter_ladder,
    stricter,
    unchanged,
)
from sayso.asks.standing import Standing, check_chain, grow, stamped, standing, tries
from sayso.asks.trusting import still_earned, still_granted
from sayso.errors import AlreadySpent, BadValue, CallerGone, FinishedLate, Misuse, NotApproved
from sayso.model.actor import CLOCK, Actor, Origin
from sayso.model.ask import Ask, Decision
from sayso.model.call import Call
from sayso.model.content import LIMIT, Content, Risk
from sayso.model.digest import frozen
from sayso.model.text import one_line
from sayso.model.verdicts import offered
from sayso.policy.ruling import Ruling, joined
from sayso.store.contract import Append, Lease, Store

Ending = Literal["done", "failed"]
Commit = Callable[..., bool]
_LATE = 5  # results that came too late and are kept: everybody who opens the ask reads them
_TIME = "%Y-%m-%d %H:%M:%S %Z"


@dataclass(frozen=True, slots=True)
class Allowed:
    """A call that nobody had to approve, while a run carries it out."""

    tool: str
    args: dict[str, Any]
    key: str
    attempt: int
    hidden: tuple[str, ...] = ()
    ask: None = None


def begin(
    store: Store,
    ask_id: str,
    *,
    origin: Origin,
    lease: Lease,
    commit: Commit | None = None,
    again: str | None = None,
    worker: str | None = None,
    known: Standing | None = None,
    law: Lawbook | None = None,
    risk: Risk | None = None,
    idempotent: bool = False,
) -> Call:
    """Spend the approval of an ask and record the intent, in one commit.

    `lease` says how long the caller may be silent before the effect is taken
    to be in doubt. What a program waits for itself, only that program begins;
    what a run asked, only that run, whose `commit` writes under its fence. `again`
    says why an effect that was begun and not finished may be begun once more. `known` is the
    ask as the caller has read it and gone along its hashes. The policy is asked once more: what
    it denies by now, or wants more people for, is not carried out. `risk` is that of the call as
    edited, where a function says so: whoever edits it cannot ask that function. `idempotent` says
    that the tool may be called twice with one key, which a doubt about it tells people.

    Raises:
        NotApproved: there is no approval to spend.
        AlreadySpent: somebody has begun, whatever came of it.
        CallerGone: the program that asked would have carried it out, and has gone.
        Tampered: the journal of the ask is not what was written.
    """
    turn = tries(ask_id)
    while True:
        next(turn)
        # What was read before needs no second look: if it has changed, the commit says so.
        followed = known is not None
        at, known = known or standing(store, ask_id), None
        if any(event.kind == "payload.erased" for event in at.events):
            raise NotApproved(at.ask, "what it proposed was erased.")
        check_chain(at, followed=followed)
        if of_run(at.ask) and commit is None:
            raise NotApproved(at.ask, f"the run {at.ask.content.run} carries it out itself.")
        rules = _rules(store, law, at)
        try:
            _check_law(at, rules, risk)
        except NotApproved:
            if (
                law is None
                or rules is None
                or at.law is not None
                or not law.moved(store, rules.mark)
            ):
                raise
            continue
        if at.ask.effect is None and not still_granted(store, at.ask):
            raise NotApproved(at.ask, "the grant it was to run under has ended since. Ask again.")
        actor = Actor("agent", at.ask.content.agent)
        given_up = []
        if again is not None and at.ask.effect is not None and at.ask.effect.status == "intended":
            reason = stamped(origin, reason=again)
            event, ask = grow(at.ask, "effect.unknown", at=at.now, actor=actor, payload=reason)
            given_up.append(Append(event=event, ask=ask))
            at = at._replace(ask=ask)
        else:
            _check_spendable(store, at)
        # A program that was suspended past its lease may still act on its own yes: the
        # approval is unspent, and nobody else can spend it.
        if at.ask.held and at.holder != lease.holder:
            raise _not_yours(at)
        attempt = at.ask.effect.attempt + 1 if at.ask.effect else 1
        # Ids are short and each desk has its own; the hash of the opening is nobody else's.
        key = f"{at.ask.id}-{at.events[0].hash.hex()[:24]}"
        said = {"key": key, "attempt": attempt, "digest": at.ask.digest, "worker": worker}
        ruled = other_version(rules, at.ask.content)
        payload = stamped(origin, **said, idempotent=idempotent or None, ruled=ruled)
        event, ask = grow(at.ask, "effect.intended", at=at.now, actor=actor, payload=payload)
        write = commit or store.commit
        mark = None if rules is None else rules.mark
        if write(*given_up, Append(event=event, ask=ask, lease=lease, law=mark)):
            return Call(ask, ask.tool or "", ask.args, key, attempt, lease.holder)


def _rules(store: Store, law: Lawbook | None, at: Standing) -> InForce | None:
    """Return what an approved call is held against once more before it is carried out."""
    decision = at.ask.decision
    if law is None or decision is None or not decision or not carried_out(at.ask.content):
        return None
    return law.current(store, at.law)


def _check_law(at: Standing, law: InForce | None, risk: Risk | None) -> None:
    """Refuse to act on an approval that is too old, or that the policy of now would not give."""
    ask, decision = at.ask, at.ask.decision
    if decision is None or not decision:
        return
    _check_age(at, decision, ask.content.ruled.execute_within)
    if law is None:
        return
    ruling = _ruling_of_now(at, law, risk)
    if ruling is None:
        return
    if ruling.effect == "deny":
        raise NotApproved(ask, f"the policy denies it by now: {ruling.sentence}")
    _check_age(at, decision, ruling.execute_within)
    if ruling.cool_off > ask.content.ruled.cool_off:
        _check_settled(at, decision, ruling.cool_off)
    if decision.grant is not None:
        strict = not still_earned(law, ask, ruling)
    elif decision.by.kind == "policy":
        strict = ruling.effect != "allow"
    elif decision.by == CLOCK and ruling.effect != "allow" and ruling.on_timeout != "approve":
        strict = True
    else:
        strict = stricter(ask.content, ruling) or (
            bool(ask.stand_ins) and shorter_ladder(ask.content, ruling)
        )
    if strict:
        raise NotApproved(ask, f"the policy wants more by now: {ruling.sentence} Ask again.")


def _ruling_of_now(at: Standing, law: InForce, risk: Risk | None) -> Ruling | None:
    """Return what the policy says by now; `None` if that is what it said when this was asked.

    A risk that is stated by whoever carries it out adds to the frozen one, and takes nothing
    away (E41).
    """
    content, stated = at.ask.content, risk is not None and risk != at.ask.content.risk
    if not stated and unchanged(law, content):
        return None
    requested = content.ruled.requested
    ruling = rule(law, content, at.now, requested=requested)
    if not stated:
        return ruling
    other = rule(law, content.changed(risk=risk), at.now, requested=requested)
    return joined([ruling, other])


def _check_age(at: Standing, decision: Decision, seconds: float | None) -> None:
    """Refuse an approval that was given too long ago."""
    if seconds is None or at.ask.effect is not None:
        return
    until = decision.at + timedelta(seconds=seconds)
    if until < at.now:
        raise NotApproved(at.ask, f"its approval was good until {until:{_TIME}}. Ask again.")


def _check_settled(at: Standing, decision: Decision, seconds: float) -> None:
    """Refuse an approval that would still be settling if it were given under the policy of now."""
    spoken = max((vote.at for vote in decision.votes), default=decision.at)
    since = spoken + timedelta(seconds=seconds)
    if at.now < since and at.ask.effect is None:
        raise NotApproved(
            at.ask, f"the policy wants a yes to settle by now: it counts from {since:{_TIME}} on."
        )


def of_run(ask: Ask) -> bool:
    """Whether a run opened this ask, and so carries it out."""
    return ask.of_run


def _not_yours(at: Standing) -> Exception:
    if at.lapsed:
        return CallerGone(at.ask)
    return NotApproved(at.ask, "the program that asked carries it out itself.")


_STATES = {
    "open": "it is still open",
    "settling": "its approval still settles and may be taken back",
    "withdrawn": "it was withdrawn",
}


def _check_spendable(store: Store, at: Standing) -> None:
    ask = at.ask
    if ask.kind != "action" or ask.tool is None:
        raise NotApproved(ask, f"an ask of kind {ask.kind!r} with no tool carries nothing out.")
    if ask.decision is None:
        state = _STATES[ask.status]
        raise NotApproved(ask, f"{state}, so nobody has approved it.")
    if not ask.decision:
        raise NotApproved(ask, f"{ask.decision.by.id} said {ask.decision.verdict}.")
    if ask.decision.digest != ask.digest:
        raise NotApproved(ask, "what was approved is not what it proposes now.")
    if ask.effect is None:
        _check_epoch(store, ask)
        return
    if ask.effect.status == "unknown" and ask.effect.doubt is not None:
        doubt = standing(store, ask.effect.doubt).ask
        if doubt.decision is not None and doubt.decision.verdict == "approve":
            _check_epoch(store, doubt)
            return
    raise AlreadySpent(ask, ask.effect.status)


def _check_epoch(store: Store, ask: Ask) -> None:
    """Refuse an approval from before the desk was restored from a backup: it may have been used."""
    since, decision = store.restored_at, ask.decision
    if since is None or decision is None or ask.opened_at >= since:
        return
    votes = [vote.at for vote in decision.votes] or [decision.at]
    if decision.by.kind == "person" and min(votes) >= since:
        return
    raise NotApproved(
        ask,
        f"it was approved before this desk was restored from a backup ({since:{_TIME}}), and may "
        "have been carried out since. Look, then ask again.",
    )


def begun(ask: Ask, holder: str) -> Call:
    """Return the call that was begun on an ask, for programs that kept only its id.

    Raises:
        NotApproved: nobody has begun, or the program that asked records the result itself.
        Misuse: it was begun more than once.
    """
    effect = ask.effect
    if effect is None:
        raise NotApproved(ask, "it was never begun.")
    if ask.held or of_run(ask):
        raise NotApproved(ask, "the program that asked carries it out itself.")
    if effect.attempt > 1:
        raise Misuse(
            f"{ask.id} was begun {effect.attempt} times, and its id does not say which of them ended. "
            "Hand over the call that begin() returned."
        )
    return Call(ask, ask.tool or "", ask.args, effect.key, effect.attempt, holder)


def finish(
    store: Store,
    call: Call,
    ending: Ending,
    *,
    origin: Origin,
    result: object = None,
    error: str | None = None,
) -> Ask:
    """Record what came of a call.

    Raises:
        FinishedLate: the effect was taken to be in doubt meanwhile; the result was kept as
            evidence, unless there are several already.
    """
    payload = stamped(origin, error=error, attempt=call.attempt, **_result(result))
    actor = Actor("agent", call.ask.content.agent)
    turn = tries(call.ask.id)
    while True:
        next(turn)
        at = standing(store, call.ask.id)
        on_time = _awaited(store, at, call)
        if not on_time and at.ask.effect is not None and len(at.ask.effect.late) >= _LATE:
            raise FinishedLate(at.ask, at.ask.effect.status, kept=False)
        kind = f"effect.{ending}" if on_time else "effect.late"
        event, ask = grow(at.ask, kind, at=at.now, actor=actor, payload=payload)
        evidence = [] if on_time else _evidence(store, at, call, actor, payload)
        if not store.commit(Append(event=event, ask=ask), *evidence):
            continue
        if not on_time:
            raise FinishedLate(ask, ask.effect.status if ask.effect else "none")
        return ask


def _awaited(store: Store, at: Standing, call: Call) -> bool:
    """Whether this result still settles the effect.

    It does while the caller holds it; and also when people, in doubt, said to run
    it again and nobody has begun yet: then there is nothing to run again.
    """
    effect = at.ask.effect
    if effect is None or effect.attempt != call.attempt:
        return False
    if effect.status == "intended":
        return at.holder == call.holder
    if effect.status != "unknown" or effect.doubt is None:
        return False
    decision = standing(store, effect.doubt).ask.decision
    return decision is not None and decision.verdict == "approve"


def _evidence(
    store: Store, at: Standing, call: Call, actor: Actor, payload: dict[str, Any]
) -> list[Append]:
    """Return the late result as it is shown on the doubt it came too late for."""
    doubt_id = _doubt_about(at, call.attempt)
    if doubt_id is None:
        return []
    about = standing(store, doubt_id)
    event, grown = grow(about.ask, "doubt.evidence", at=about.now, actor=actor, payload=payload)
    return [Append(event=event, ask=grown)]


def _doubt_about(at: Standing, attempt: int) -> str | None:
    """Return the doubt that was opened about one attempt: there may have been others since."""
    trying = 0
    for event in at.events:
        said = event.payload or {}
        if event.kind == "effect.intended":
            trying = said.get("attempt", 0)
        elif event.kind == "effect.unknown" and trying == attempt:
            return said.get("doubt")
    return None


def _result(result: object) -> dict[str, Any]:
    """Return the result as it is kept. One that cannot be stored does not undo what happened."""
    if result is None:
        return {}
    try:
        return {"result": frozen(result, limit=LIMIT, what="result")}
    except BadValue as error:
        return {"unrecorded": f"{type(result).__name__}: {error}"}


def doubt(
    store: Store,
    ask_id: str,
    reason: str,
    *,
    origin: Origin,
    attempt: int | None = None,
    lease: Lease | None = None,
    key: str | None = None,
    commit: Commit | None = None,
) -> Ask | None:
    """Make an effect `unknown` and ask people whether it happened, in one commit.

    With a `lease` the program that carried it out still waits, and could run it
    again itself. Returns the doubt, or `None` if the effect ended meanwhile.
    """
    write = commit or store.commit
    turn = tries(ask_id)
    while True:
        next(turn)
        at = standing(store, ask_id)
        effect = at.ask.effect
        if effect is None or effect.status != "intended":
            return None
        if attempt is not None and effect.attempt != attempt:
            return None
        doubt_id = new_id(store)
        actor = Actor("agent", at.ask.content.agent)
        payload = stamped(origin, reason=reason, doubt=doubt_id)
        event, ask = grow(at.ask, "effect.unknown", at=at.now, actor=actor, payload=payload)
        # Whoever sweeps carries nothing out, and a run that is over does not either.
        gone = at.ask.held or (of_run(at.ask) and commit is None)
        content = _doubt_content(at, reason, again=lease is not None or not gone)
        opened = opening(
            doubt_id, content, store=store, origin=origin, key=key, lease=lease, paced=True
        )
        if write(Append(event=event, ask=ask), opened):
            return opened.ask


def _doubt_content(at: Standing, reason: str, *, again: bool) -> Content:
    """Show the call again, as it was approved. Without anybody to run it, that is not offered."""
    ask, effect = at.ask, at.ask.effect
    if effect is None:
        raise AssertionError("unreachable: what may have happened was begun")
    said = next(e.payload or {} for e in reversed(at.events) if e.kind == "effect.intended")
    what, who = f"{ask.id} was approved and", begun_by(said.get("worker"), ask.content.agent)
    return ask.content.changed(
        kind="doubt",
        title=f"Did {one_line(ask.tool or 'it', 40)} happen?",
        allow=offered("doubt", without=() if again else ("approve",)),
        sentence=known_of(what, effect.begun_at, who, effect.key, reason),
        answer=ask.content.returns or "{}",
        about=ask.id,
        due_at=None,
        idempotent=said.get("idempotent"),
    )


def begun_by(worker: str | None, agent: str) -> str:
    """Name who began a call: the worker, or the program of its agent."""
    if worker:
        return f"worker {one_line(worker, 80)}"
    return f"the program of {one_line(agent, 60)}" if agent else "a program"


def known_of(what: str, at: datetime, who: str, key: str, reason: str) -> str:
    """Say what is known of a call that may have happened: the first thing that people read."""
    begun = f"{what} begun at {at:{_TIME}} by {who}. There is no result: {reason}"
    return f"{begun} Idempotency key: {key}."


def resolution(store: Store, answered: Ask) -> list[Append]:
    """Return what a decided doubt means for its effect, to be written with the decision.

    "Run it again" writes nothing: `begin` then accepts the ask once more.
    """
    decision = answered.decision
    about = answered.content.about if answered.kind == "doubt" else None
    if decision is None or decision.verdict == "approve" or about is None:
        return []
    at = standing(store, about)
    effect = at.ask.effect
    if effect is None or effect.status != "unknown" or effect.doubt != answered.id:
        return []
    said = {"doubt": answered.id, "result": decision.answer}
    kind = "effect.done"
    if decision.verdict == "reject":
        said = {"doubt": answered.id, "error": f"{decision.by.id} said not to run it again."}
        kind = "effect.failed"
    payload = stamped(decision.origin, **said)
    event, ask = grow(at.ask, kind, at=at.now, actor=decision.by, payload=payload)
    return [Append(event=event, ask=ask)]
