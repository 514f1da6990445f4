"""A share that audits tell, of which each was drawn with a chance of its own.

An audit that came with the chance rho speaks for 1/rho calls. How sure the share is follows from how
many equal audits would say as much (Kish), and from the exact bounds for that many (Korn and Graubard).
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log, log1p
from typing import NamedTuple

_STEPS = 60  # of a bisection: more than a double can tell apart
_TERMS = 10_000
_CLOSE = 1e-14
_TINY = 1e-300


class Estimate(NamedTuple):
    """A share, and between what it lies with 95% confidence."""

    share: float
    low: float
    high: float


def estimate(bad: float, every: float, squares: float, alpha: float = 0.05) -> Estimate | None:
    """Return the share of bad ones; `None` without an audit.

    Args:
        bad: The weights of those that were bad, added up.
        every: The weights of all.
        squares: The squares of the weights of all.
        alpha: How often the interval may miss the share.
    """
    if every <= 0 or squares <= 0:
        return None
    share = min(1.0, bad / every)
    worth = every * every / squares
    low, high = between(share * worth, worth, alpha)
    return Estimate(share, low, high)


def between(hits: float, tries: float, alpha: float = 0.05) -> tuple[float, float]:
    """Return the two-sided Clopper-Pearson bounds; neither number need be whole."""
    misses = max(0.0, tries - hits)
    low = 0.0 if hits <= 0 else _bisected(lambda p: _beta(p, hits, misses + 1) > alpha / 2)
    high = 1.0 if misses <= 0 else _bisected(lambda p: _beta(p, hits + 1, misses) > 1 - alpha / 2)
    return low, high


def _bisected(above: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if above(middle):
            high = middle
        else:
            low = middle
    return low


def _beta(p: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function."""
    if p <= 0 or p >= 1:
        return float(p >= 1)
    if p > (a + 1) / (a + b + 2):  # where the fraction converges slowly, its mirror does not
        return 1.0 - _beta(1 - p, b, a)
    front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(p) + b * log1p(-p)
    return exp(front) * _fraction(p, a, b) / a


def _fraction(p: float, a: float, b: float) -> float:
    """Return its continued fraction, from the front (Lentz)."""
    above, below = 1.0, 1.0 / _apart(1 - (a + b) * p / (a + 1))
    found = below
    for n in range(1, _TERMS):
        even = n * (b - n) * p / ((a + 2 * n - 1) * (a + 2 * n))
        odd = -(a + n) * (a + b + n) * p / ((a + 2 * n) * (a + 2 * n + 1))
        for term in (even, odd):
            below = 1.0 / _apart(1 + term * below)
            above = _apart(1 + term / above)
            found *= above * below
        if abs(above * below - 1) < _CLOSE:
            break
    return found


def _apart(value: float) -> float:
    """Keep a divisor from zero."""
    return value if abs(value) > _TINY else _TINY
