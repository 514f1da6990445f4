"""What grants may still let through, and how the keys of agents stand.

Of each grant at most so many bad calls are expected to run before harm ends it, and with every strike
fewer. That is a figure of now, as how many asks wait is, and none of a window.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from sayso.autonomy.ledger import Standing
from sayso.autonomy.terms import DETECTION, terms_of
from sayso.store.contract import Store
from sayso.store.tallies import Dimension
from sayso.store.trust import Stand


@dataclass(frozen=True, slots=True)
class Trusted:
    """How keys stand now, and what those that run alone may still let through.

    Attributes:
        keys: How many stand how.
        exposure_left: Bad calls that all grants together may let through from now on, at most.
        exposure_most: Of these, those of the one grant that may let through most.
        bad_limit: The share of bad calls that is just too many, where all of it is of one tier.
    """

    keys: Mapping[str, int]
    exposure_left: float
    exposure_most: float | None
    bad_limit: float | None

    def to_json(self) -> dict[str, Any]:
        """Return it by name, as `desk.metrics` and HTTP give it."""
        most = self.exposure_most
        return {
            "keys": dict(self.keys),
            "exposure_left": round(self.exposure_left, 4),
            "exposure_most": None if most is None else round(most, 4),
            "bad_limit": self.bad_limit,
        }


def trusted(
    store: Store,
    *,
    agent: str | None = None,
    tool: str | None = None,
    tier: str | None = None,
    teams: tuple[str, ...] | None = None,
    detection: float = DETECTION,
) -> Trusted:
    """Return how keys stand; `detection` is the share of bad calls that reviewers notice."""
    return _summed(store.trust_stands(None, agent, tool, tier, teams), tier, detection)


def trusted_by(
    store: Store,
    by: Dimension,
    *,
    teams: tuple[str, ...] | None = None,
    detection: float = DETECTION,
) -> dict[str, Trusted]:
    """Return how the keys of each agent, tool or tier stand."""
    parts: dict[str, list[Stand]] = {}
    for one in store.trust_stands(by, teams=teams):
        parts.setdefault(one.part, []).append(one)
    return {part: of_part(by, part, stands, detection) for part, stands in parts.items()}


def of_part(
    by: Dimension, part: str, stands: Iterable[Stand] = (), detection: float = DETECTION
) -> Trusted:
    """Return how the keys of one agent, tool or tier stand."""
    return _summed(stands, part if by == "tier" else None, detection)


def _summed(stands: Iterable[Stand], tier: str | None, detection: float) -> Trusted:
    keys: Counter[str] = Counter(dict.fromkeys(get_args(Standing), 0))
    left: list[tuple[float, int]] = []  # of one grant, and how many there are like it
    for one in stands:
        keys[one.standing] += one.many
        terms = terms_of(one.tier, detection)
        if one.standing == "granted" and terms is not None:
            left.append((terms.left(one.strikes), one.many))
    limit = terms_of(tier)
    return Trusted(
        keys=keys,
        exposure_left=sum((each * count for each, count in left), 0.0),
        exposure_most=max((each for each, _ in left), default=None),
        bad_limit=None if limit is None else limit.eps,
    )
