"""What the policy says to one call: allow it, ask people, or deny it; and always why.

Rulings join to the strictest: deny over ask over allow, everybody that any of them
wants, the earliest deadline, the longest cool-off. So a second rule, or a later
look at the same call, can raise the bar and never lower it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from sayso.model.requirement import ANYBODY, ONE_REVIEWER, Factor, Requirement

Effect = Literal["allow", "ask", "deny"]
OnTimeout = Literal["reject", "approve"]
STRICTNESS: tuple[Effect, ...] = ("allow", "ask", "deny")


@dataclass(frozen=True, slots=True)
class Rung:
    """After so many seconds without a decision, these people too may decide."""

    after: float
    needs: Requirement


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The word of the policy on one call."""

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
    version: str | None = None

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
            "ladder": [[rung.after, [str(f) for f in rung.needs.factors]] for rung in self.ladder],
            "requester": self.requester or None,
        }
        return {name: value for name, value in said.items() if value not in (None, [], ())}

    def stricter_than(self, other: Ruling) -> bool:
        """Whether a call approved under the other would need more under this one."""
        if self.effect != other.effect:
            return STRICTNESS.index(self.effect) > STRICTNESS.index(other.effect)
        return self.asks and together(self.needs, other.needs) != together(other.needs, other.needs)


def joined(rulings: Iterable[Ruling], order: tuple[str, ...] = ()) -> Ruling:
    """Return the strictest that all of them together say.

    `order` names the tiers from the lowest to the highest.
    """
    said = list(rulings)
    strictest = max(STRICTNESS.index(ruling.effect) for ruling in said)
    heard = [ruling for ruling in said if STRICTNESS.index(ruling.effect) == strictest]
    first = heard[0]
    for ruling in heard[1:]:
        first = _two(first, ruling, order)
    return first


def _two(one: Ruling, other: Ruling, order: tuple[str, ...]) -> Ruling:
    sentences = dict.fromkeys((one.sentence, other.sentence))
    return Ruling(
        effect=one.effect,
        sentence=" ".join(sentence for sentence in sentences if sentence),
        rules=tuple(dict.fromkeys((*one.rules, *other.rules))),
        tier=_higher(one.tier, other.tier, order),
        needs=together(one.needs, other.needs),
        within=_earliest(one.within, other.within),
        on_timeout="approve" if one.on_timeout == other.on_timeout == "approve" else "reject",
        cool_off=max(one.cool_off, other.cool_off),
        execute_within=_earliest(one.execute_within, other.execute_within),
        remind=tuple(sorted({*one.remind, *other.remind})),
        ladder=tuple(sorted({*one.ladder, *other.ladder}, key=lambda rung: rung.after)),
        requester=one.requester and other.requester,
        version=one.version or other.version,
    )


def together(one: Requirement, other: Requirement) -> Requirement:
    """Return the requirement that meets both: every role, with the higher of its counts.

    Whoever holds a role is a reviewer too, so those fill the places for anybody.
    """
    counts: dict[str, int] = {}
    for factor in (*one.factors, *other.factors):
        counts[factor.role] = max(counts.get(factor.role, 0), factor.count)
    others = sum(count for role, count in counts.items() if role != ANYBODY)
    counts[ANYBODY] = max(0, counts.get(ANYBODY, 0) - others)
    counts = {role: count for role, count in counts.items() if count}
    factors = tuple(Factor(count, role) for role, count in sorted(counts.items()))
    return Requirement(factors, min(one.deny, other.deny))


def _higher(one: str | None, other: str | None, order: tuple[str, ...]) -> str | None:
    known = [tier for tier in (one, other) if tier is not None]
    ranked = [tier for tier in known if tier in order]
    if ranked:
        return max(ranked, key=order.index)
    return known[0] if known else None


def _earliest(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return min(known) if known else None
