"""What the policy says to one call: allow it, ask people, or deny it; and always why.

Rulings join to the strictest: deny over ask over allow, everybody that any of them
wants, the earliest deadline, the longest cool-off, those to stand in whom all of
them name. So a second rule, or a later
look at the same call, can raise the bar and never lower it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from sayso.model.digest import written
from sayso.model.requirement import ANYBODY, ONE_REVIEWER, Factor, Requirement
from sayso.model.ruled import CRITICAL, RANKS, OnTimeout, rank_of_tier

Effect = Literal["allow", "ask", "deny"]
STRICTNESS: tuple[Effect, ...] = ("allow", "ask", "deny")


@dataclass(frozen=True, slots=True)
class Rung:
    """After so many seconds without a decision, who may stand in.

    Whoever holds one of these roles may fill any one place of the requirement. How many
    different people must agree stays what it was.
    """

    after: float
    roles: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """The word of the policy on one call.

    `tier` is the highest of those it belongs to, and `rank` its place; `critical` says whether that one is among them.
    `earnable` says that people are asked because of the tier alone, which an agent can earn to be
    spared. What a rule asks for, a person is asked for.
    """

    effect: Effect
    sentence: str
    rules: tuple[str, ...] = ()
    tier: str | None = None
    needs: Requirement = ONE_REVIEWER
    within: float | None = None
    on_timeout: OnTimeout = "reject"
    cool_off: float = 0.0
    execute_within: float | None = None
    remind: tuple[float, ...] = ()
    ladder: tuple[Rung, ...] = ()
    requester: bool = False
    critical: bool = False
    version: str | None = None
    earnable: bool = False
    rank: int | None = None

    def __post_init__(self) -> None:
        """Bring the ladder into its one form, so that equal ladders are equal."""
        if self.tier == CRITICAL:
            object.__setattr__(self, "critical", True)
        if self.ladder:
            object.__setattr__(self, "ladder", _one_form(self))

    @property
    def asks(self) -> bool:
        """Whether people are asked."""
        return self.effect == "ask"

    @property
    def json(self) -> dict[str, Any]:
        """The ruling as it is frozen on an ask, without what an ask says elsewhere."""
        said: dict[str, Any] = {
            "rules": list(self.rules),
            "tier": self.tier,
            "version": self.version,
            "on_timeout": None if self.on_timeout == "reject" else self.on_timeout,
            "cool_off": self.cool_off or None,
            "execute_within": self.execute_within,
            "remind": list(self.remind),
            "ladder": [[rung.after, list(rung.roles)] for rung in self.ladder],
            "requester": self.requester or None,
            # Said where the tier does not say it already.
            "critical": True if self.critical and self.tier != CRITICAL else None,
            "rank": self.rank if self.tier not in RANKS else None,
        }
        return {name: value for name, value in said.items() if value not in (None, [], ())}

    @cached_property
    def text(self) -> str | None:
        """The same as text, `None` if it says nothing."""
        return written(self.json) if self.json else None


def joined(rulings: Iterable[Ruling]) -> Ruling:
    """Return the strictest that all of them together say."""
    said = list(rulings)
    strictest = max(STRICTNESS.index(ruling.effect) for ruling in said)
    heard = [ruling for ruling in said if STRICTNESS.index(ruling.effect) == strictest]
    first = heard[0]
    for ruling in heard[1:]:
        first = _two(first, ruling)
    sentences = dict.fromkeys(ruling.sentence for ruling in heard if ruling.sentence)
    rules = dict.fromkeys(name for ruling in heard for name in ruling.rules)
    # A tier of one's own may be the higher one, and takes nothing away from what is critical.
    critical = any(ruling.critical for ruling in said)
    return replace(first, sentence=" ".join(sentences), rules=tuple(rules), critical=critical)


def _two(one: Ruling, other: Ruling) -> Ruling:
    highest = min((one, other), key=_place)
    return Ruling(
        effect=one.effect,
        sentence="",
        tier=highest.tier,
        rank=highest.rank,
        needs=together(one.needs, other.needs),
        within=_earliest(one.within, other.within),
        on_timeout="approve" if one.on_timeout == other.on_timeout == "approve" else "reject",
        cool_off=max(one.cool_off, other.cool_off),
        execute_within=_earliest(one.execute_within, other.execute_within),
        remind=tuple(sorted({*one.remind, *other.remind})),
        ladder=_climbed(one, other),
        requester=one.requester and other.requester,
        earnable=one.earnable and other.earnable,
        version=one.version or other.version,
    )


def together(one: Requirement, other: Requirement) -> Requirement:
    """Return the requirement that meets both: every role, with the higher of its counts.

    Whoever holds a role is a reviewer too, so those fill the places for anybody; but as many
    different people are needed as either of them wants.
    """
    first, second = _counted(one), _counted(other)
    counts = {role: max(first[role], second[role]) for role in {*first, *second} - {ANYBODY}}
    named = sum(counts.values())
    counts[ANYBODY] = max(first.total(), second.total(), named) - named
    factors = tuple(Factor(count, role) for role, count in sorted(counts.items()) if count)
    return Requirement(factors, min(one.deny, other.deny))


def _counted(requirement: Requirement) -> Counter[str]:
    counts: Counter[str] = Counter()
    for factor in requirement.factors:
        counts[factor.role] += factor.count
    return counts


# --- who stands in ---


def stand_ins(ladder: Iterable[Rung], at: float) -> frozenset[str]:
    """Return the roles that may stand in so many seconds after the ask opened."""
    return frozenset(role for rung in ladder if rung.after <= at for role in rung.roles)


def _climbed(one: Ruling, other: Ruling) -> tuple[Rung, ...]:
    """Return the ladder on which nobody stands in whom only one of the two would let."""
    if not _restricts(one):
        return other.ladder
    if not _restricts(other):
        return one.ladder
    times = sorted({rung.after for rung in (*one.ladder, *other.ladder)})
    return _rungs((at, stand_ins(one.ladder, at) & stand_ins(other.ladder, at)) for at in times)


def _one_form(ruling: Ruling) -> tuple[Rung, ...]:
    """Return its ladder with every rung naming those below it too, and none for nobody."""
    if not _restricts(ruling):
        return ()
    times = sorted({rung.after for rung in ruling.ladder})
    return _rungs((at, stand_ins(ruling.ladder, at)) for at in times)


def _restricts(ruling: Ruling) -> bool:
    """Whether it minds who agrees: where anybody is enough, nobody has to stand in."""
    return any(factor.role != ANYBODY for factor in ruling.needs.factors)


def _rungs(reached: Iterable[tuple[float, frozenset[str]]]) -> tuple[Rung, ...]:
    rungs: list[Rung] = []
    before: frozenset[str] = frozenset()
    for after, roles in reached:
        if roles != before:
            rungs.append(Rung(after, tuple(sorted(roles))))
        before = roles
    return tuple(rungs)


def _place(ruling: Ruling) -> tuple[float, str]:
    """Return where the tier of a ruling stands, the highest first; without one it is the lowest."""
    if ruling.tier is None:
        return math.inf, ""
    return rank_of_tier(ruling.tier, ruling.rank), ruling.tier


def _earliest(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return min(known) if known else None
