"""An ask is the fold of its events.

The row of an ask in the database is only an index for lists and due times;
what an ask *is* comes from its journal, event by event, along the arrows of
`model.lifecycle`. So a row changed by hand decides nothing, and the journal is
the oracle that tests compare against.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sayso.errors import Tampered
from sayso.model.actor import Actor, Origin
from sayso.model.ask import CONSENTS, Ask, Decision, Effect, Harm, Vote
from sayso.model.asked import Asked, read
from sayso.model.content import Content, shown
from sayso.model.digest import written
from sayso.model.event import Event
from sayso.model.lifecycle import ASK, EFFECT, EffectStatus, move
from sayso.model.requirement import Requirement
from sayso.model.stake import Stake


def fold(events: Iterable[Event], *, solo: bool = False) -> Ask:
    """Return the ask that these events, in order and from the first, describe.

    `solo` says that nobody is on the desk; the journal of an ask does not.

    Raises:
        Tampered: the events cannot be the history of an ask.
    """
    return deque(states(events, solo=solo), maxlen=1).pop()


def states(events: Iterable[Event], *, solo: bool = False) -> Iterator[Ask]:
    """Yield the ask after each of its events, as `fold` reads them."""
    steps = iter(events)
    first = next(steps, None)
    if first is None or first.kind != "ask.opened":
        raise Tampered("An ask's journal must begin with ask.opened. Run: sayso audit verify")
    ask = _opened(first, solo=solo)
    yield ask
    for event in steps:
        ask = after(ask, event)
        yield ask


def as_met(ask: Ask, events: Sequence[Event]) -> dict[int, Ask]:
    """Return by its number what each event of an ask met: the arguments that it is about.

    The first one meets what it opens. Only edits make others, so most asks need no second reading;
    and of one that was erased nothing is read again.
    """
    if not ask.digest or all(event.kind != "ask.edited" for event in events):
        return {event.seq: ask for event in events}
    left = list(states(events))
    met = [left[0], *left]
    return {event.seq: one for event, one in zip(events, met, strict=False)}


def after(ask: Ask, event: Event, said: dict[str, Any] | None = None) -> Ask:
    """Return the ask after one more event. An event of no concern to it only moves its head.

    Whoever has just written the event may pass what it says, to save the reading.
    """
    step = _STEPS.get(event.kind)
    if step is None:
        return _grown(ask, event)
    return step(ask, event, event.payload if said is None else said)


def _grown(ask: Ask, event: Event, **changes: Any) -> Ask:  # noqa: ANN401 - fields of Ask
    return ask.grown(seq=event.seq, head=event.hash, changed_at=event.at, **changes)


def _opened(event: Event, *, solo: bool) -> Ask:
    if event.text is None:
        return opened(event, Asked(event.stream, Content.erased(), digest=""), solo=solo)
    return opened(event, read(event.text), solo=solo)


def opened(event: Event, asked: Asked, *, solo: bool = False) -> Ask:
    """Return the ask as its first event, which says this, leaves it."""
    at = event.at
    return Ask.fresh(
        id=asked.id,
        stream=event.stream,
        status="open",
        version=1,
        digest=asked.digest,
        content=asked.content,
        opened_at=at,
        seq=event.seq,
        head=event.hash,
        changed_at=at,
        key=asked.key,
        held=asked.held,
        stake=asked.stake,
        solo=solo,
    )


def _still_open(ask: Ask) -> None:
    """Refuse a journal in which people speak to an ask that is not open: no arrow leads there."""
    move(ASK, ask.status, "settling", what=ask.id)


def _edited(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    _still_open(ask)
    version = ask.version + 1
    if payload is None:
        return _grown(ask, event, version=version, votes=(), content=Content.erased(), digest="")
    content = raised_to(ask.content.with_args(payload["args"]), payload.get("raised"))
    grown = _grown(
        ask,
        event,
        version=version,
        content=content,
        digest=shown(ask.id, version, content.to_json()),
        original=ask.original or ask.args,
        votes=(),
        accused_by=_accused(ask, event.actor, payload),
        **_from_below(payload.get("raised")),
    )
    # The editor agreed to what they made; everybody else votes on what they now see.
    return replace(grown, votes=(vote_of(event.actor, payload, grown, event),))


def raised_to(content: Content, raised: dict[str, Any] | None) -> Content:
    """Return the content under a stricter ruling, if there is one."""
    if raised is None:
        return content
    needs = Requirement.parse(raised["needs"], deny=raised["deny"])
    ruling = written(raised["ruling"]) if raised.get("ruling") else None
    due_at = raised.get("due_at")
    return content.changed(
        needs=needs,
        sentence=raised["sentence"],
        ruling=ruling,
        due_at=datetime.fromisoformat(due_at) if due_at else content.due_at,
    )


def _from_below(raised: dict[str, Any] | None) -> dict[str, Any]:
    """Under a stricter ruling its own ladder counts, and is climbed from its foot."""
    return {} if raised is None else {"climbed": 0, "stand_ins": ()}


def _raised(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    """Open a new version: the policy wants more than when it was asked."""
    _still_open(ask)
    if payload is None:
        return _grown(ask, event)
    content, version = raised_to(ask.content, payload), ask.version + 1
    digest = shown(ask.id, version, content.to_json())
    fresh = {"version": version, "content": content, "digest": digest, "votes": ()}
    return _grown(ask, event, **fresh, **_from_below(payload))


def _voted(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    _still_open(ask)
    if payload is None:
        return _grown(ask, event)
    vote = vote_of(event.actor, payload, ask, event)
    contested = ask.contested or ask.meaning(vote.verdict).stance == "refusal"
    accused = _accused(ask, event.actor, payload)
    votes = cast(ask.votes, vote)
    return _grown(ask, event, votes=votes, contested=contested, accused_by=accused)


def _decided(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    move(ASK, ask.status, "decided", what=ask.id)
    at = event.at
    if ask.pending is not None:  # nobody took it back: what was said then counts from now on
        decision = replace(ask.pending, at=at)
        return _grown(ask, event, status="decided", decision=decision, pending=None, closed_at=at)
    votes, decision = _judged(ask, event, payload)
    told = {"decision": decision, "accused_by": _accused(ask, event.actor, payload)}
    return _grown(ask, event, status="decided", votes=votes, closed_at=at, **told)


def _settling(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    """Enough people have spoken; it counts unless one of them takes it back in time."""
    move(ASK, ask.status, "settling", what=ask.id)
    votes, pending = _judged(ask, event, payload)
    until = datetime.fromisoformat(payload["until"]) if payload else event.at
    told = {"pending": pending, "accused_by": _accused(ask, event.actor, payload)}
    return _grown(ask, event, status="settling", votes=votes, settles_at=until, **told)


def _taken_back(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    if not ask.settling:
        raise Tampered(f"The journal of {ask.id} takes back what was not settling.")
    move(ASK, ask.status, "open", what=ask.id)
    votes = tuple(vote for vote in ask.votes if vote.by != event.actor)
    left = tuple(name for name in ask.accused_by if name != event.actor.id)
    again = {"pending": None, "settles_at": None, "contested": True, "accused_by": left}
    return _grown(ask, event, status="open", votes=votes, **again)


def _accused(ask: Ask, by: Actor, said: dict[str, Any] | None) -> tuple[str, ...]:
    """Return who says that a call would do harm: a person's newer word replaces their older one."""
    if by.kind != "person" or said is None:
        return ask.accused_by
    others = tuple(name for name in ask.accused_by if name != by.id)
    harmful = said.get("kind") == "harmful" or said.get("harmful") is True
    return (*others, by.id) if harmful else others


def _judged(
    ask: Ask, event: Event, payload: dict[str, Any] | None
) -> tuple[tuple[Vote, ...], Decision]:
    """Return the votes with this one, and the decision that they come to."""
    by, at, votes = event.actor, event.at, ask.votes
    said = payload or {"verdict": "reject", "note": "(erased)"}
    origin = _origin(said)
    if payload is not None and by.kind == "person":
        votes = cast(votes, _vote(by, at, origin, payload, ask))
    # Whoever approves an edited version approves the edit: what runs is not what was proposed.
    edited = said["verdict"] == "approve" and ask.original is not None
    consents = said["verdict"] in CONSENTS
    decision = Decision(
        verdict="edit" if edited else said["verdict"],
        by=by,
        at=at,
        origin=origin,
        digest=ask.digest,
        version=ask.version,
        arguments=ask.proposal.arguments if consents and payload is not None else None,
        answer=said.get("answer"),
        note=said.get("note"),
        kind=said.get("kind"),
        end=said.get("end", False),
        harmful=said.get("harmful"),
        grant=said.get("grant"),
        nth=said.get("nth"),
        votes=votes,
    )
    return votes, decision


def _reminded(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    return _grown(ask, event, reminded=(payload or {}).get("times", ask.reminded + 1))


def _escalated(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    """Let others stand in, because nobody decided for so long. What is shown stays as it was."""
    _still_open(ask)
    roles = (payload or {}).get("roles", ())
    stand_ins = tuple(dict.fromkeys([*ask.stand_ins, *roles]))
    return _grown(ask, event, climbed=ask.climbed + 1, stand_ins=stand_ins)


def _assigned(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    return _grown(ask, event, assignee=(payload or {}).get("to"))


def _repeated(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    return _grown(ask, event, repeats=max(ask.repeats, (payload or {}).get("times", 0)))


def _withdrawn(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    move(ASK, ask.status, "withdrawn", what=ask.id)
    return _grown(ask, event, status="withdrawn", pending=None, closed_at=event.at)


def _intended(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    said = payload or {}
    if ask.effect is None:
        if ask.decision is None or (payload is not None and not ask.decision):
            raise Tampered(f"The journal of {ask.id} carries out what was never approved.")
    else:
        move(EFFECT, ask.effect.status, "intended", what=f"the effect of {ask.id}")
    late = ask.effect.late if ask.effect else ()
    effect = Effect(
        status="intended",
        key=said.get("key", ""),
        attempt=ask.effect.attempt + 1 if ask.effect else 1,
        begun_at=event.at,
        late=late,
    )
    return _grown(ask, event, effect=effect)


def _ended(status: EffectStatus) -> Callable[[Ask, Event, dict[str, Any] | None], Ask]:
    def step(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
        said = payload or {}
        if ask.effect is None:
            raise Tampered(f"The journal of {ask.id} ends an effect that never began.")
        move(EFFECT, ask.effect.status, status, what=f"the effect of {ask.id}")
        effect = replace(
            ask.effect,
            status=status,
            ended_at=event.at,
            result=said.get("result"),
            error=said.get("error"),
            doubt=said.get("doubt", ask.effect.doubt),
        )
        return _grown(ask, event, effect=effect)

    return step


def _late(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    if ask.effect is None or payload is None:
        return _grown(ask, event)
    return _grown(ask, event, effect=replace(ask.effect, late=(*ask.effect.late, payload)))


def _evidence(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    if payload is None:
        return _grown(ask, event)
    evidence = (*ask.evidence, payload)
    if not ask.open:
        return _grown(ask, event, evidence=evidence)
    # Whoever looked before it came saw something else, and looks again before deciding.
    version = ask.version + 1
    shows = {**ask.content.to_json(), "evidence": list(evidence)}
    digest = shown(ask.id, version, shows)
    return _grown(ask, event, evidence=evidence, version=version, digest=digest, votes=())


def _erased(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    # What was decided is no secret of the payload: the erasure says it again.
    said = payload or {}
    if said.get("team") is not None:  # nor is whose it was, and the wall stays where it is
        ask = ask.grown(content=ask.content.changed(team=said["team"]))
    if said.get("trust") is not None:  # nor which key it counts for
        ask = ask.grown(stake=Stake.from_json(said["trust"]))
    verdict = said.get("verdict")
    if ask.decision is None or verdict is None:
        return _grown(ask, event)
    return _grown(ask, event, decision=replace(ask.decision, verdict=verdict))


def _harmed(ask: Ask, event: Event, payload: dict[str, Any] | None) -> Ask:
    if ask.effect is None:
        raise Tampered(f"The journal of {ask.id} tells of harm by what was never carried out.")
    return _grown(ask, event, harm=Harm((payload or {}).get("harm", "(erased)"), event.actor))


_STEPS: Mapping[str, Callable[[Ask, Event, dict[str, Any] | None], Ask]] = {
    "ask.edited": _edited,
    "ask.raised": _raised,
    "ask.voted": _voted,
    "ask.settling": _settling,
    "ask.taken_back": _taken_back,
    "ask.decided": _decided,
    "ask.reminded": _reminded,
    "ask.escalated": _escalated,
    "ask.assigned": _assigned,
    "ask.repeated": _repeated,
    "ask.withdrawn": _withdrawn,
    "effect.intended": _intended,
    "effect.done": _ended("done"),
    "effect.failed": _ended("failed"),
    "effect.unknown": _ended("unknown"),
    "effect.late": _late,
    "doubt.evidence": _evidence,
    "payload.erased": _erased,
    "incident.reported": _harmed,
}


def cast(votes: tuple[Vote, ...], vote: Vote) -> tuple[Vote, ...]:
    """Add a vote; a person's newer vote replaces their older one, so nobody counts twice."""
    return (*(old for old in votes if old.by != vote.by), vote)


def vote_of(by: Actor, said: dict[str, Any], ask: Ask, event: Event) -> Vote:
    """Read a vote from the payload of the event that carries it."""
    return _vote(by, event.at, _origin(said), said, ask)


def _vote(by: Actor, at: datetime, origin: Origin, said: dict[str, Any], ask: Ask) -> Vote:
    return Vote(
        by=by,
        verdict=said["verdict"],
        version=ask.version,
        seen=said.get("seen", ask.digest),
        at=at,
        origin=origin,
        answer=said.get("answer"),
        note=said.get("note"),
        kind=said.get("kind"),
        end=said.get("end", False),
        harmful=said.get("harmful"),
    )


def _origin(said: dict[str, Any]) -> Origin:
    return Origin(said.get("via", ""), said.get("account", ""), said.get("request"))
