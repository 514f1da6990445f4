"""A policy against the people of a desk: what nobody could ever decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sayso.errors import Misuse, UnknownRole
from sayso.model.actor import Roster
from sayso.model.requirement import Requirement
from sayso.policy.rules import Policy
from sayso.policy.tiers import BUILT_IN, Terms, Tier


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a policy on this desk; one that is not fatal may never matter.

    `lacks` says who is missing, for comparing; it is empty where nothing is stopped by that.
    """

    about: str
    reason: str
    fatal: bool
    line: int | None = None
    lacks: str = ""


def problems(policy: Policy, roster: Roster) -> list[Problem]:
    """Return what nobody on this desk could ever decide. In solo mode there is nothing.

    The built-in tiers were not written by anybody, so that nothing of theirs is fatal: an ask
    that nobody could decide is refused when it opens.
    """
    if roster.solo:
        return []
    wide = policy.widened(roster)
    return [*_tiers(policy, wide), *_rules(policy, wide), *_people(policy, roster)]


def _tiers(policy: Policy, roster: Roster) -> Iterator[Problem]:
    for tier in policy.tiers.values():
        if tier.alone:
            continue
        for lacks, reason in _unmet(tier.terms, roster):
            yield Problem(f"tier {tier.name}", reason, fatal=not _built_in(tier), lacks=lacks)


def _built_in(tier: Tier) -> bool:
    usual = BUILT_IN.get(tier.name)
    return usual is not None and usual.terms.needs == tier.terms.needs and not tier.terms.ladder


def _rules(policy: Policy, roster: Roster) -> Iterator[Problem]:
    for rule in policy.rules:
        if rule.effect == "ask":
            for lacks, reason in _unmet(rule.terms, roster):
                about = f"rule {rule.name!r}"
                yield Problem(about, reason, fatal=True, line=rule.line, lacks=lacks)


def _unmet(terms: Terms, roster: Roster) -> Iterator[tuple[str, str]]:
    try:
        (terms.needs or Requirement()).check(roster)
    except Misuse as error:
        yield "a yes", str(error)
    for role in (role for rung in terms.ladder for role in rung.roles):
        if not any(role in held for held in roster.people.values()):
            yield f"the stand-in {role}", str(UnknownRole(role, roster.roles))


def _people(policy: Policy, roster: Roster) -> Iterator[Problem]:
    for group, names in policy.groups.items():
        absent = [name for name in names if roster.spelt(name) not in roster.people]
        if len(absent) == len(names):
            reason = "Nobody in it is on this desk."
            yield Problem(f"group {group}", reason, fatal=True, lacks="everybody")
        elif absent:
            yield Problem(f"group {group}", f"Not on this desk: {', '.join(absent)}.", fatal=False)
    for name in policy.roles:
        if roster.spelt(name) not in roster.people:
            yield Problem(f"roles of {name}", f"{name} is not on this desk.", fatal=False)
