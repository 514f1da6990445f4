"""What `[autonomy]` of a policy comes to, in words: what can be earned, and what that takes."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.autonomy.ledger import bar_after
from sayso.autonomy.terms import DETECTION, Terms, terms_of
from sayso.model.stake import LEAST, Least
from sayso.policy.rules import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class EarnedTier:
    """What the agents of one tier must show before they run alone, and what holds for them then."""

    name: str
    clean: str
    least: str
    audited: str
    ends: str
    through: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EarningView:
    """Whether agents can earn to run alone, how well people are taken to look, and what follows."""

    enabled: bool
    says: str
    noticed: str
    tiers: tuple[EarnedTier, ...]


def earning_view(policy: Policy) -> EarningView:
    """Return what a policy lets agents earn."""
    earning = policy.earning
    detection = DETECTION if earning.detection is None else earning.detection
    written = "as nothing else is written" if earning.detection is None else "as it is written"
    if not earning.enabled:
        return EarningView(
            enabled=False,
            says="Nothing: people are asked whenever the rules say so. What was granted before "
            "counts again once this is switched on.",
            noticed="",
            tiers=(),
        )
    asked = [name for name in policy.order if not policy.tiers[name].alone]
    found = [(name, terms) for name in asked if (terms := terms_of(name, detection)) is not None]
    return EarningView(
        enabled=True,
        says="What people are asked for because of its tier alone, below critical. "
        "A person has to agree before anything runs alone.",
        noticed=f"{detection:.0%} of bad calls, {written}",
        tiers=tuple(
            _tier(name, terms, earning.least.get(name) or LEAST[name]) for name, terms in found
        ),
    )


def _tier(name: str, terms: Terms, least: Least) -> EarnedTier:
    harms = "1 harm" if terms.strikes == 1 else f"{terms.strikes} harms"
    return EarnedTier(
        name=name,
        clean=f"{terms.missing(bar_after(0)):,}",
        least=f"{least.people:,} · {least.days:,}",
        audited=f"{terms.audit:.1%}",
        ends=f"{harms}, or 1 incident",
        through=f"{terms.exposure:,.1f}",
    )
