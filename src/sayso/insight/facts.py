"""What is counted of an event: pure functions from the journal to facts.

A fact is of one moment and one call, and has an amount: seconds, a share or a weight, in millionths.
What people decided is counted when it counts; what runs alone, when it begins. Nothing that happens
after the event changes its facts, but for an erasure, so that counting again finds the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sayso.insight.changed import changed
from sayso.insight.reading import SENSELESS
from sayso.model.ask import Ask, Decision
from sayso.model.event import Event, micros
from sayso.model.verdicts import VERDICTS, Verdict

COUNTED = frozenset({"ask.opened", "ask.decided", "ask.withdrawn", "incident.reported"})
ABOUT_KEYS = "trust"  # in place of a kind
LONGEST_LOOK = (
    600_000_000  # microseconds: who never said that they look, looked for so long at most
)
_ONE = 1_000_000
_VOTES = frozenset({"ask.voted", "ask.edited", "ask.settling", "ask.decided"})
# What a verdict of people counts as. The kind of a rejection is added to it.
_JUDGED = {"approve": "approved", "edit": "edited", "reject": "rejected", "respond": "sent_back"}


class Of(NamedTuple):
    """The moment of a fact, and whose call of which tool it is about."""

    at: int
    team: str
    agent: str
    tool: str
    tier: str
    kind: str


class Fact(NamedTuple):
    """One thing to count. One of a `person` is counted for them, and for nobody else."""

    of: Of
    what: str
    amount: int | None = None
    timed: bool = False
    person: str = ""


class _Word(NamedTuple):
    """What one person said last to an ask, and when."""

    by: str
    what: str
    at: int


def facts_of_ask(event: Event, ask: Ask, journal: Sequence[Event]) -> Iterator[Fact]:
    """Yield what an event of an ask counts as."""
    content, decision = ask.content, ask.decision
    tier = content.ruled.tier or content.risk or ""
    # Whether a key may run alone is no proposal of an agent: it is counted by itself.
    kind = ABOUT_KEYS if ask.stake is not None and ask.stake.settles is not None else ask.kind
    of = Of(event.micros, content.team or "", content.agent, ask.tool or "", tier, kind)
    alone = decision is not None and decision.by.kind == "policy"
    if event.kind == "incident.reported":  # once, whatever it means for the keys of an agent
        yield Fact(of, "incident")
    elif event.kind == "ask.withdrawn":
        yield Fact(of, "withdrawn")
    elif event.kind == "ask.opened":
        yield from () if alone else _asked(of, ask)
    elif alone:
        granted = decision is not None and decision.grant is not None
        yield Fact(of, "alone:granted" if granted else "alone")
    elif decision is None or decision.by.kind != "person":
        yield Fact(of, "expired")
    else:
        told = [one for one in journal if one.seq <= event.seq]
        yield from _decided(of, ask, decision, told)


def _asked(of: Of, ask: Ask) -> Iterator[Fact]:
    yield Fact(of, "asked")
    unsure = ask.content.confidence is not None or ask.content.conflicts
    if ask.kind in ("question", "choice") or (ask.kind == "draft" and unsure):
        yield Fact(of, "help")


def _decided(of: Of, ask: Ask, decision: Decision, told: Sequence[Event]) -> Iterator[Fact]:
    words = _words_of(decision)
    opened, spoken = micros(ask.opened_at), max(word.at for word in words)
    yield Fact(of, _what(decision.verdict, decision.kind), max(0, spoken - opened), timed=True)
    if ask.due_at is not None:
        yield Fact(of, "in_time")
    claims = list(_claims(told))
    taken = _taken_up(told, claims, spoken)
    if taken is not None:
        yield Fact(of, "queued", amount=max(0, taken - opened), timed=True)
        yield Fact(of, "thought", amount=max(0, spoken - taken), timed=True)
    if decision.verdict == "edit" and ask.original is not None and decision.args is not None:
        yield Fact(of, "changed", amount=_share_changed(ask, decision.args))
    for word in words:
        yield from _minded(of, word, claims, opened)
    pair = _pair(told, ask)
    if pair is not None:
        yield Fact(of, pair)


def _what(verdict: Verdict, kind: str | None) -> str:
    what = _JUDGED[verdict]
    return what if kind is None else f"{what}:{kind}"


def _words_of(decision: Decision) -> list[_Word]:
    """Return what people said; once that is erased, only who decided is known."""
    said = [
        _Word(vote.by.id, _what(vote.verdict, vote.kind), micros(vote.at))
        for vote in decision.votes
    ]
    alone = _Word(decision.by.id, _what(decision.verdict, decision.kind), micros(decision.at))
    return said or [alone]


def _claims(told: Sequence[Event]) -> Iterator[tuple[str, int]]:
    """Yield who said when that they look into it. To be given it by somebody else is no look."""
    for event in told:
        if event.kind == "ask.assigned" and (event.payload or {}).get("to") == event.actor.id:
            yield event.actor.id, event.micros


def _taken_up(told: Sequence[Event], claims: Sequence[tuple[str, int]], spoken: int) -> int | None:
    """Return when somebody took it up: claimed it, or spoke before the last word on it fell."""
    votes = [
        one.micros
        for one in told
        if one.kind in _VOTES and one.actor.kind == "person" and one.micros < spoken
    ]
    return min([*votes, *(at for _, at in claims if at <= spoken)], default=None)


def _minded(of: Of, word: _Word, claims: Sequence[tuple[str, int]], opened: int) -> Iterator[Fact]:
    """Yield how long one person looked, as far as that is known, and what they said."""
    took = max(0, word.at - opened)
    begun = max((at for who, at in claims if who == word.by and at <= word.at), default=None)
    looked = min(took, LONGEST_LOOK) if begun is None else word.at - begun
    what = "bounded" if begun is None else "minded"
    yield Fact(of, what, looked, timed=True)
    yield Fact(of, what, looked, timed=True, person=word.by)
    yield Fact(of, word.what, amount=took, timed=True, person=word.by)


def _share_changed(ask: Ask, after: Mapping[str, Any]) -> int:
    hidden = frozenset(ask.content.hidden)
    sides = [
        {name: value for name, value in args.items() if name not in hidden}
        for args in (ask.original or {}, after)
    ]
    return round(_ONE * changed(*sides))


def _pair(told: Sequence[Event], ask: Ask) -> str | None:
    """Return what the first two people said who spoke, in that order; `None` if fewer did."""
    stances: dict[str, str] = {}
    for event in told:
        who = event.who
        if event.kind == "ask.taken_back":
            stances.pop(who, None)
        elif event.kind in _VOTES and event.actor.kind == "person":
            verdict = (event.payload or {}).get("verdict")
            meaning = VERDICTS[ask.kind].get(verdict) if verdict is not None else None
            if meaning is not None:
                stances.setdefault(who, "yes" if meaning.stance == "consent" else "no")
    first, second, *_ = [*stances.values(), "", ""]
    return f"pair:{first}:{second}" if second else None


def facts_of_call(event: Event, team: str) -> Iterator[Fact]:
    """Count a call that needed nobody, when it is tried for the first time."""
    try:
        said = event.payload or {}
        agent = event.actor.id
    except SENSELESS:
        return
    if said.get("attempt", 1) == 1:
        tool = str(said.get("name", ""))
        yield Fact(Of(event.micros, team, agent, tool, "", "action"), "alone")


# What is told of a call that a coin sent to a person although its key was granted.
_AUDITED = {"trust.fine": "fine", "trust.overturned": "fine", "trust.confirmed": "bad"}
TRUST = frozenset({*_AUDITED, "trust.flagged"})


def facts_of_trust(event: Event, key: Mapping[str, Any]) -> Iterator[Fact]:
    """Count what an audit found, by its weight.

    `key` is what was said as the key began: whose calls of what it counts.
    """
    try:
        said = event.payload or {}
        rho = said.get("rho")
        weight = None if rho is None else 1 / float(rho)
    except (*SENSELESS, ZeroDivisionError):
        return
    team, agent, tool, tier = (str(key.get(n) or "") for n in ("team", "agent", "tool", "tier"))
    of = Of(event.micros, team, agent, tool, tier, "action")
    found = _AUDITED.get(event.kind)
    if event.kind == "trust.flagged" and said.get("solo"):  # nobody else is there to confirm it
        found = "bad"
    if found is None or weight is None:
        return
    yield Fact(of, f"audited:{found}", amount=round(_ONE * weight))
    yield Fact(of, "audited:square", amount=round(_ONE * weight * weight))
