"""The figures of a window taken apart: by tier, by agent, by reviewer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from sayso.insight.exposure import Trusted, of_part, trusted_by
from sayso.insight.figures import Figures, ReviewerFigures, figures_of
from sayso.insight.metrics import measure_by, measure_reviewers
from sayso.store.tallies import Dimension
from sayso.web.metrics import MOST
from sayso.web.pages.figures import escaped, share, took
from sayso.web.sight import sees_name
from sayso.web.visit import Visit

T = TypeVar("T")
AGENTS = 12  # those with most calls
PEOPLE = 20  # those who decided most


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLine:
    """How calls of one tier or agent went. What ran alone never stands without its harm."""

    name: str
    calls: str
    approved: str
    edited: str
    took: str
    alone: str
    escaped: str
    left: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerLine:
    """What one person decided; without a name, all those together whom the caller does not see."""

    name: str
    decisions: str
    approved: str
    edited: str
    rejected: str
    took: str
    looked: str
    minutes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines(Generic[T]):
    """The first lines of a table, and how many more there are."""

    lines: tuple[T, ...]
    more: int


def tiers_of(visit: Visit, days: int) -> list[PartLine]:
    """Return how calls of each tier went, the gravest first."""
    found = _by(visit, "tier", days)
    places = {name: tier.rank or 0 for name, tier in visit.desk.law.policy.tiers.items()}
    last = max(places.values()) + 1  # a tier that the policy of now does not have
    gravest = sorted(found, key=lambda tier: (places.get(tier, last), tier))
    return [_part(tier, *found[tier]) for tier in gravest]


def agents_of(visit: Visit, days: int) -> Lines[PartLine]:
    """Return how calls of each agent went, the one with most of them first."""
    found = _by(visit, "agent", days)
    most = sorted(found, key=lambda agent: (-found[agent][0].proposed, agent))
    lines = tuple(_part(agent, *found[agent]) for agent in most[:AGENTS])
    return Lines(lines=lines, more=len(most) - len(lines))


def reviewers_of(visit: Visit, days: int) -> Lines[ReviewerLine]:
    """Return what each person decided, those who decided most first, and who is not seen last."""
    found = measure_reviewers(
        visit.store, days=days, teams=visit.teams(), most=MOST, named=sees_name(visit)
    )
    decided = [name for name, one in found.items() if one.decisions]
    most = sorted(filter(None, decided), key=lambda name: (-found[name].decisions, name))
    shown = [*most[:PEOPLE], *("" for name in decided if not name)]
    lines = tuple(_person(name, found[name]) for name in shown)
    return Lines(lines=lines, more=max(0, len(most) - PEOPLE))


def _by(visit: Visit, by: Dimension, days: int) -> dict[str, tuple[Figures, Trusted]]:
    """Return the figures of those that called something, or that may run something alone."""
    teams, nothing = visit.teams(), figures_of(())
    found = measure_by(visit.store, by, days=days, teams=teams, most=MOST)
    keys = trusted_by(visit.store, by, teams=teams, detection=visit.desk.law.detection)
    called = {part for part, one in found.items() if part and one.proposed}
    alone = {part for part, one in keys.items() if one.keys["granted"]}
    return {
        part: (found.get(part, nothing), keys.get(part, of_part(by, part)))
        for part in sorted(called | alone)
    }


def _part(name: str, figures: Figures, keys: Trusted) -> PartLine:
    return PartLine(
        name=name,
        calls=f"{figures.proposed:,}",
        approved=share(figures.approval_rate),
        edited=share(figures.edit_rate),
        took=took(figures.p50_approval_time),
        alone=share(figures.autonomous_rate),
        escaped=_harm(figures, keys.bad_limit),
        left=f"{keys.exposure_left:,.1f}" if keys.keys["granted"] else "-",
    )


def _harm(figures: Figures, limit: float | None) -> str:
    """Say what is known of harm, and of a tier also how much of it would be too much."""
    known = escaped(figures)
    if limit is None or figures.unapproved_bad_high is None:
        return known
    return f"{known}; {limit:.0%} would be too many"


def _person(name: str, figures: ReviewerFigures) -> ReviewerLine:
    return ReviewerLine(
        name=name,
        decisions=f"{figures.decisions:,}",
        approved=share(figures.approval_rate),
        edited=f"{figures.edited:,}",
        rejected=f"{figures.rejected:,}",
        took=took(figures.p50_approval_time),
        looked=took(figures.p50_thinking_time),
        minutes=f"{figures.minutes:,.0f}",
    )
