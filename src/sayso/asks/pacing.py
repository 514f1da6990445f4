"""How much an agent may ask of people, so that the ask that matters is not buried (E34, E46).

The table of asks has the truth. A process looks at it once and then lets an eighth of what was
left pass without looking again: far below its limit, an agent costs no statement.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from weakref import WeakKeyDictionary

from sayso.asks.lawbook import InForce
from sayso.asks.standing import stamped
from sayso.errors import TooManyAsks
from sayso.model.actor import Actor, Origin
from sayso.model.content import Content
from sayso.model.event import link
from sayso.model.span import say_span
from sayso.model.text import one_line
from sayso.policy.paces import Limits
from sayso.policy.rules import Policy
from sayso.store.contract import Append, Head, Paced, Store

AGENTS = "agents"  # the stream that says which agents were slowed down
SLOWED = "agent.slowed"
SAID_FOR = timedelta(hours=1)  # for which it is said once of an agent
_LOOKED_BACK = 200  # events of that stream
_SHARE = 8
_MOST_AGENTS = 1_000  # in memory; beyond them it is looked up again


@dataclass(slots=True)
class _Known:
    """How an agent stood when somebody looked: what it may still ask before the next look."""

    policy: Policy
    left: int = 0
    until: datetime | None = None  # no ask of it is let in before
    asked: int = 0


@dataclass(slots=True)
class _Tempo:
    """What a process knows of the agents of one desk."""

    agents: dict[str, _Known] = field(default_factory=dict)
    said: dict[str, datetime] = field(default_factory=dict)


_tempos: WeakKeyDictionary[Store, _Tempo] = WeakKeyDictionary()


def check_pace(store: Store, law: InForce, content: Content) -> None:
    """Refuse one more ask of an agent that asks too much. What is let in is to be counted.

    Several that ask at the same moment may all be let in: it keeps an inbox readable, and guards
    nothing else. The first refusal in an hour is written down.

    Raises:
        TooManyAsks: says when to try again.
    """
    agent, policy, tempo = content.agent, law.policy, _tempo(store)
    known = _known(tempo, agent, policy)
    if _goes_on(known):
        return
    now, limits = store.now(), policy.pace(agent)
    if known is not None and known.until is not None:
        after = known.until - now
        if timedelta(0) < after <= timedelta(seconds=limits.per):
            raise _too_often(agent, limits, known.asked, after)
    found = store.paced(agent, now - timedelta(seconds=limits.per))
    refused = _refused(agent, limits, found, now)
    if refused is None:
        _remember(tempo, agent, _Known(policy, _room(limits, found)))
        return
    # Somebody may decide at any moment: only the time is worth remembering.
    until = None if refused.after is None else now + timedelta(seconds=refused.after)
    _remember(tempo, agent, _Known(policy, until=until, asked=found.asks))
    _say(store, tempo, content, limits, found, now, too_often=refused.after is not None)
    raise refused


def check_not_over(store: Store, law: InForce, content: Content) -> None:
    """Refuse to begin one more call that nobody was asked about, if too much of its agent is not over.

    Of each call that does not end, people are asked whether it happened: what runs alone buries
    them as well as what does not.

    Raises:
        TooManyAsks: it has as much open, with the calls that it has begun, as it may.
    """
    agent, policy, tempo = content.agent, law.policy, _tempo(store)
    known = _known(tempo, agent, policy)
    if _goes_on(known):
        return
    now, limits = store.now(), policy.pace(agent)
    found = store.paced(agent, now - timedelta(seconds=limits.per))
    if found.waiting + found.begun >= limits.waiting:
        _say(store, tempo, content, limits, found, now, too_often=False)
        raise TooManyAsks(
            one_line(agent, 40),
            f"has {_not_over(found)}, and may have {limits.waiting:,} in all",
            None,
        )
    if known is None or known.until is None:  # what is known of its asks is not to be forgotten
        _remember(tempo, agent, _Known(policy, _room(limits, found)))


def _known(tempo: _Tempo, agent: str, policy: Policy) -> _Known | None:
    known = tempo.agents.get(agent)
    return known if known is not None and known.policy is policy else None


def _goes_on(known: _Known | None) -> bool:
    """Whether it is far below its limit, by the last look."""
    if known is None or known.left <= 0:
        return False
    known.left -= 1
    return True


def _room(limits: Limits, found: Paced) -> int:
    """Return how many go on without another look: each may be an ask, or a call that is not over."""
    room = min(limits.asks - found.asks, limits.waiting - found.waiting - found.begun)
    return (room - 1) // _SHARE


def _remember(tempo: _Tempo, agent: str, known: _Known) -> None:
    if len(tempo.agents) >= _MOST_AGENTS:
        tempo.agents.clear()
    tempo.agents[agent] = known


def slowed(store: Store, teams: tuple[str, ...] | None) -> Iterator[str]:
    """Yield in words which agents of these teams (and of none) were slowed down of late."""
    now = store.now()
    for said in _said_of_late(store, store.head(AGENTS), now).values():
        team = said.get("team")
        if teams is None or team is None or team in teams:
            yield str(said["says"])


def _refused(agent: str, limits: Limits, found: Paced, now: datetime) -> TooManyAsks | None:
    if found.waiting >= limits.waiting:
        reason = f"has {found.waiting:,} asks open, and may have {limits.waiting:,}"
        return TooManyAsks(one_line(agent, 40), reason, None)
    if found.asks >= limits.asks:
        per = timedelta(seconds=limits.per)
        # Never longer than that, also after a clock was set back.
        return _too_often(agent, limits, found.asks, min((found.first or now) + per - now, per))
    return None


def _too_often(agent: str, limits: Limits, asked: int, after: timedelta) -> TooManyAsks:
    within = say_span(timedelta(seconds=limits.per))
    reason = f"has asked {asked:,} times within {within}, and may {limits.asks:,} times"
    return TooManyAsks(one_line(agent, 40), reason, max(after.total_seconds(), 1.0))


# --- saying so -----------------------------------------------------------------------------------


def _say(
    store: Store,
    tempo: _Tempo,
    content: Content,
    limits: Limits,
    found: Paced,
    now: datetime,
    *,
    too_often: bool,
) -> None:
    """Write down that an agent is slowed down, once an hour whatever it tries."""
    agent = content.agent
    last = tempo.said.get(agent)
    if last is not None and last <= now < last + SAID_FOR:
        return
    name = one_line(agent, 40)
    within = say_span(timedelta(seconds=limits.per))
    says = (
        f"{name} asked {found.asks:,} times within {within} and is slowed down"
        if too_often
        else f"{name} has {_not_over(found)} and may open no more"
    )
    said = {"agent": agent, "asks": found.asks, "per": limits.per, "waiting": found.waiting}
    said |= {"says": says} | ({} if content.team is None else {"team": content.team})
    while True:
        head = store.head(AGENTS)  # before looking: whoever writes meanwhile takes its place
        if agent in _said_of_late(store, head, now):
            break
        event = link(
            AGENTS,
            head.seq + 1,
            SLOWED,
            at=now,
            actor=Actor("policy", "pace"),
            payload=stamped(Origin("policy", ""), **said),
            salt=os.urandom(16),
            previous=head.hash,
        )
        if store.commit(Append(event=event)):
            break
    if len(tempo.said) >= _MOST_AGENTS:
        tempo.said.clear()
    tempo.said[agent] = now


def _not_over(found: Paced) -> str:
    calls = f" and {found.begun:,} calls begun" if found.begun else ""
    return f"{found.waiting:,} asks open{calls}"


def _said_of_late(store: Store, head: Head, now: datetime) -> dict[str, dict[str, object]]:
    """Return what the stream says of each agent that was slowed down within the hour."""
    events = store.stream(AGENTS, max(head.seq - _LOOKED_BACK, 0)) if head.seq else ()
    late = (event.payload for event in events if event.at > now - SAID_FOR)
    return {str(said["agent"]): said for said in late if said is not None}


def _tempo(store: Store) -> _Tempo:
    tempo = _tempos.get(store)
    if tempo is None:
        tempo = _tempos[store] = _Tempo()
    return tempo
