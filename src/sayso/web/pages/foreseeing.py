"""What a policy would change if it were in force: in words, for the asks of late, for the people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sayso.asks.backtesting import Otherwise, backtest
from sayso.asks.lawbook import default_policy
from sayso.asks.publishing import Policies, check_publishable, deciders
from sayso.errors import SaysoError
from sayso.policy.changes import Change, changes
from sayso.policy.rules import Policy
from sayso.policy.ruling import Ruling
from sayso.policy.words import conditions_of
from sayso.web.visit import Visit

_GROUPS = 20
_EACH = 3  # asks of each group that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """Asks about one tool that would have been ruled otherwise in the same way."""

    tool: str | None
    was: str
    would: str
    count: int
    asks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """A tier, and who could fill each place of what it needs; `alone` needs nobody."""

    tier: str
    alone: bool
    places: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """What a policy would change.

    Attributes:
        over: The number of the version in force that it was compared with.
        changes: The difference in words; `None` if what is in force cannot be read here.
        looked_at: How many asks of late were ruled anew.
        otherwise: How many of these would have been ruled otherwise.
        groups: These, those of which there are most first.
        more: How many of these are not in the groups.
        hidden: How many of these belong to teams that the visitor is not of.
        deciding: Who could decide what under it; nothing in solo mode.
        refused: Why it cannot be in force; `None` if it can.
    """

    over: int
    changes: tuple[Change, ...] | None
    looked_at: int
    otherwise: int
    groups: tuple[Differing, ...]
    more: int
    hidden: int
    deciding: tuple[Deciding, ...]
    refused: str | None


def foreseen(visit: Visit, policies: Policies, policy: Policy) -> Foreseen:
    """Return what a policy would change, compared with the one in force by now."""
    law, roster = visit.desk.law.read(visit.store), visit.store.register()
    before = default_policy() if law.policy is None else policies.readable(law.policy)
    found = None if before is None else backtest(visit.store, before, policy, law=law)
    differing = () if found is None else found.otherwise
    seen = [one for one in differing if visit.sees(one.team, one.agent, roster)]
    groups = _grouped(seen)
    return Foreseen(
        over=law.versions,
        changes=None if before is None else changes(before, policy),
        looked_at=0 if found is None else found.looked_at,
        otherwise=len(differing),
        groups=tuple(groups[:_GROUPS]),
        more=sum(one.count for one in groups[_GROUPS:]),
        hidden=len(differing) - len(seen),
        deciding=() if roster.solo else _deciding(visit, policy),
        refused=_refused(visit, policy),
    )


def _refused(visit: Visit, policy: Policy) -> str | None:
    law = visit.desk.law.read(visit.store)
    try:
        check_publishable(law, policy, visit.store.register(), None)
    except SaysoError as error:
        return str(error)
    return None


def _deciding(visit: Visit, policy: Policy) -> tuple[Deciding, ...]:
    return tuple(
        Deciding(
            tier=tier,
            alone=policy.tiers[tier].alone,
            places=tuple((needs, tuple(names)) for needs, names in places),
        )
        for tier, places in deciders(policy, visit.store.register())
    )


def _grouped(found: Iterable[Otherwise]) -> list[Differing]:
    kept: dict[tuple[str | None, str, str], list[str]] = {}
    for one in found:
        kept.setdefault((one.tool, _ruled(one.before), _ruled(one.after)), []).append(one.ask)
    groups = [
        Differing(tool=tool, was=was, would=would, count=len(asks), asks=tuple(asks[:_EACH]))
        for (tool, was, would), asks in kept.items()
    ]
    return sorted(groups, key=lambda one: -one.count)


def _ruled(ruling: Ruling) -> str:
    """Say a ruling in a few words."""
    if not ruling.asks:
        return "runs alone" if ruling.effect == "allow" else "does not run"
    tier = "" if ruling.tier is None else f", as {ruling.tier}"
    return "; ".join((f"asks {ruling.needs}{tier}", *conditions_of(ruling)))
