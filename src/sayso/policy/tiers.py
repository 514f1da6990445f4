"""Tiers: what a level of risk needs. Declared in a policy, with the usual four built in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sayso.model.requirement import Requirement
from sayso.model.ruled import OnTimeout
from sayso.policy.ruling import Ruling, Rung


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Who must agree, by when, and what time does; for a tier, or for one rule."""

    needs: Requirement | None = None
    within: float | None = None
    on_timeout: OnTimeout = "reject"
    cool_off: float = 0.0
    execute_within: float | None = None
    remind: tuple[float, ...] = (0.5, 0.9)
    ladder: tuple[Rung, ...] = ()
    requester: bool = False

    def asking(
        self, sentence: str, rules: tuple[str, ...], *, tier: str | None, version: str | None
    ) -> Ruling:
        """Return the ruling that asks people on these terms."""
        needs = self.needs or Requirement()
        return Ruling(
            effect="ask",
            sentence=sentence,
            rules=rules,
            tier=tier,
            needs=needs,
            within=self.within,
            on_timeout=self.on_timeout,
            cool_off=self.cool_off,
            execute_within=self.execute_within,
            remind=self.remind if self.within is not None else (),
            ladder=self.ladder,
            requester=self.requester,
            version=version,
        )


@dataclass(frozen=True, slots=True)
class Tier:
    """A level of risk: runs alone, or needs people on its terms."""

    name: str
    alone: bool
    terms: Terms

    def ruling(self, sentence: str, rules: tuple[str, ...], version: str | None) -> Ruling:
        """Return what this tier says to a call."""
        if self.alone:
            return Ruling(
                effect="allow", sentence=sentence, rules=rules, tier=self.name, version=version
            )
        asked = self.terms.asking(sentence, rules, tier=self.name, version=version)
        return replace(asked, earnable=True)


def _asks(name: str, *needs: str) -> Tier:
    return Tier(name, False, Terms(needs=Requirement.parse(needs)))  # noqa: FBT003


BUILT_IN: Mapping[str, Tier] = {
    "low": Tier("low", True, Terms()),  # noqa: FBT003
    "medium": _asks("medium", "1 junior"),
    "high": _asks("high", "1 senior"),
    "critical": _asks("critical", "1 senior", "1 security"),
}

# Whoever holds the role on the left counts as one of those on the right too.
IMPLIED: Mapping[str, tuple[str, ...]] = {"senior": ("junior",)}


def counted_as(roles: Iterable[str], implied: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Return these roles with all that they count as: a lead who is a senior is a junior too."""
    held = set(roles)
    new = set(held)
    while new:
        new = {more for role in new for more in implied.get(role, ())} - held
        held |= new
    return frozenset(held)
