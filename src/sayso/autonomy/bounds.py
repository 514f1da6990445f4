"""Bounds on a share that was counted: exact ones, by bisection."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log, log1p

_STEPS = 60  # of a bisection: more than a double can tell apart


def lower(hits: int, tries: int, alpha: float = 0.05) -> float:
    """Return the lower Clopper-Pearson bound: the share is above it with confidence `1 - alpha`."""
    if hits == 0:
        return 0.0
    return _bisected(lambda share: _at_least(hits, tries, share) > alpha)


def upper(hits: int, tries: int, alpha: float = 0.05) -> float:
    """Return the upper Clopper-Pearson bound: the share is below it with confidence `1 - alpha`."""
    return 1.0 - lower(tries - hits, tries, alpha)


def _bisected(above: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if above(middle):
            high = middle
        else:
            low = middle
    return low


def _at_least(hits: int, tries: int, share: float) -> float:
    """Return the chance of so many hits or more."""
    if share in (0.0, 1.0):
        return share
    ways = lgamma(tries + 1)
    return sum(
        exp(
            ways
            - lgamma(count + 1)
            - lgamma(tries - count + 1)
            + count * log(share)
            + (tries - count) * log1p(-share)
        )
        for count in range(hits, tries + 1)
    )
