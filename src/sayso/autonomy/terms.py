"""What a tier asks of a key before it may run alone, and while it does.

Two bounds follow from these numbers, and both have their conditions.

Who gets in: if at every step the chance that a bad action is done and noticed, given all that was
before, is at least `e`, the score is a supermartingale, and the chance that it ever reaches `1 /
ALPHA` is at most `ALPHA` (Ville). It may be looked at after every label, and labels need not be
independent.

What can escape: whatever a key does, its expected bad actions that nobody looked at, per grant, are
at most `k (1 - rho) / (rho d)`. This needs a coin that the agent cannot see, and a `d` that holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, log

ALPHA = 0.05  # the chance that a key of the worst admitted kind is ever granted
BUDGET = 100.0  # the harm that one grant may be expected to let through
LEAST_AUDIT = 0.05
DETECTION = 0.8  # of planted cases that reviewers catch, until enough have been planted
_GUESS = 4  # a good key is taken to be that many times better than the worst admitted


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a tier, with what reviewers notice.

    Args:
        eps: The share of bad actions that is just too many.
        harm: What one bad action costs.
        strikes: How many confirmed harms end a grant.
        detection: The share of bad actions that reviewers notice, `d`.
    """

    eps: float
    harm: float
    strikes: int
    detection: float = DETECTION

    @property
    def noticed(self) -> float:
        """The share of noticed bad actions that is just too many, `e`."""
        return self.eps * self.detection

    @property
    def fine(self) -> float:
        """What a reviewed action that was fine multiplies the score by."""
        noticed = self.noticed
        return (1 - noticed / _GUESS) / (1 - noticed)

    @property
    def harmful(self) -> float:
        """What a confirmed harm multiplies the score by."""
        return 1 / _GUESS

    @property
    def audit(self) -> float:
        """The share of calls that a granted key still brings before a person, `rho`."""
        weight = self.strikes * self.harm
        return max(LEAST_AUDIT, weight / (weight + BUDGET * self.detection))

    @property
    def exposure(self) -> float:
        """How many bad actions one grant is expected to let through at most."""
        rho = self.audit
        return self.strikes * (1 - rho) / (rho * self.detection)

    def missing(self, bar: float, score: float = 1.0) -> int:
        """How many more calls must be found to be fine before a score reaches the bar."""
        return max(0, ceil(log(bar / score) / log(self.fine)))

    def left(self, strikes: int) -> float:
        """How many of these a grant may still let through that has so many strikes."""
        return self.exposure * max(0, self.strikes - strikes) / self.strikes


_TIERS: Mapping[str, tuple[float, float, int]] = {
    "low": (0.05, 1, 2),
    "medium": (0.02, 5, 2),
    "high": (0.01, 25, 1),
}
EARNED = tuple(_TIERS)  # nothing of any other tier ever runs alone


def terms_of(tier: str | None, detection: float = DETECTION) -> Terms | None:
    """Return the terms of a tier; `None` for what never runs alone: critical, and what nobody knows."""
    found = _TIERS.get(tier or "")
    return None if found is None else Terms(*found, detection=detection)
