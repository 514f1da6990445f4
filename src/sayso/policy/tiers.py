"""Tiers: what a level of risk needs. Declared in a policy, with the usual four built in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sayso.model.content import RISKS
from sayso.model.requirement import Requirement
from sayso.model.ruled import CRITICAL, RANKS, STEP, OnTimeout
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
    rank: int | None = None

    def ruling(self, sentence: str, rules: tuple[str, ...], version: str | None) -> Ruling:
        """Return what this tier says to a call."""
        if self.alone:
            return Ruling(
                effect="allow",
                sentence=sentence,
                rules=rules,
                tier=self.name,
                rank=self.rank,
                version=version,
            )
        asked = self.terms.asking(sentence, rules, tier=self.name, version=version)
        return replace(asked, rank=self.rank, earnable=True)


def _asks(name: str, *needs: str) -> Tier:
    return Tier(name, False, Terms(needs=Requirement.parse(needs)), RANKS[name])  # noqa: FBT003


BUILT_IN: Mapping[str, Tier] = {
    "low": Tier("low", True, Terms(), RANKS["low"]),  # noqa: FBT003
    "medium": _asks("medium", "1 junior"),
    "high": _asks("high", "1 senior"),
    "critical": _asks("critical", "1 senior", "1 security"),
}


def ranked(tiers: Mapping[str, Tier], named: Iterable[str]) -> dict[str, Tier]:
    """Return the tiers with their places; `named` are their names as somebody wrote them down.

    They are written from the lowest to the highest: a tier of one's own stands right above the one
    before it, or below the first word behind it. Without any word it stands below critical.
    """
    order: list[str] = [*RISKS]
    waiting, last = list[str](), ""
    for name in named:
        if name in RISKS:
            _put(order, order.index(name), waiting)
            waiting, last = [], name
        elif not last:
            waiting.append(name)
        else:
            order.insert(order.index(last) + 1, name)
            last = name
    _put(order, order.index(CRITICAL), waiting)
    places = dict(_places(order))
    return {name: replace(tier, rank=places[name]) for name, tier in tiers.items()}


def _put(order: list[str], place: int, names: Iterable[str]) -> None:
    order[place:place] = names


def _places(order: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the rank of each name, from the lowest to the highest."""
    word, above = RANKS["low"] + STEP, 0
    for name in order:
        word, above = (RANKS[name], 0) if name in RANKS else (word, min(above + 1, STEP - 1))
        yield name, word - above


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
