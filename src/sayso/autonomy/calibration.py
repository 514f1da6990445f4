"""What a stated confidence is worth, from what people decided afterwards.

A label says whether what came with a confidence was approved as it was and not found harmful later.
Labels of audits stand for all calls that ran alone, and weigh one over the audit rate. Below
`FEWEST` there is no record; then a curve of two parameters is fitted (Platt); beyond `MANY` steps
that only rise (isotonic) follow the labels more closely.

A recalibrated confidence may add a review. It never takes one away.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

from sayso.model.worth import FEWEST, Light

MANY = 1000
GREEN, AMBER = 0.95, 0.70
_NEWTON = 50  # steps at most; a handful is usual
_RIDGE = 1e-3  # keeps the curve finite where the labels are all alike
_EDGE = 1e-4  # a stated 0 or 1 has no logit
_STEPS = 30  # halvings of a step of Newton that goes too far


class Label(NamedTuple):
    """One stated confidence, whether it was right, and how much it counts.

    Or several that were alike, as one: then `weight` is what they weigh together.
    """

    stated: float
    right: bool
    weight: float = 1.0
    times: int = 1


@dataclass(frozen=True, slots=True)
class Platt:
    """A curve on the logit of what was stated."""

    slope: float
    offset: float

    def __call__(self, stated: float) -> float:
        """Return how often what was stated so was right."""
        return _logistic(self.slope * _logit(stated) + self.offset)


@dataclass(frozen=True, slots=True)
class Isotonic:
    """Steps that only rise: from each stated confidence on, how often it was right."""

    stated: tuple[float, ...]
    right: tuple[float, ...]

    def __call__(self, stated: float) -> float:
        """Return how often what was stated so was right."""
        return self.right[max(0, bisect_right(self.stated, stated) - 1)]


Curve = Platt | Isotonic


def calibrated(labels: Sequence[Label]) -> Curve | None:
    """Return what stated confidences are worth; `None` while there are too few labels."""
    count = sum(one.times for one in labels)
    if count < FEWEST:
        return None
    return isotonic(labels) if count > MANY else platt(labels)


def light(worth: float | None) -> Light:
    """Return the light of a recalibrated confidence; without a record it is red."""
    if worth is None or worth < AMBER:
        return "red"
    return "green" if worth >= GREEN else "amber"


def platt(labels: Sequence[Label]) -> Platt:
    """Fit the curve under which the labels are likeliest, by Newton's method."""
    points = [(_logit(one.stated), float(one.right), one.weight) for one in labels]
    slope, offset = 1.0, 0.0
    for _ in range(_NEWTON):
        step = _newton(points, slope, offset)
        share = 1.0
        before = _loss(points, slope, offset)
        for _ in range(_STEPS):
            tried = slope - share * step[0], offset - share * step[1]
            if _loss(points, *tried) <= before:
                break
            share /= 2
        else:
            break
        slope, offset = tried
        if abs(share * step[0]) + abs(share * step[1]) < 1e-9:
            break
    # A model that is surer where it is wrong gets no better by being turned round: one level for all.
    if slope < 0:
        return Platt(0.0, _logit(_mean(labels)))
    return Platt(slope, offset)


_Points = Sequence[tuple[float, float, float]]


def _newton(points: _Points, slope: float, offset: float) -> tuple[float, float]:
    """Return the step of Newton's method at these parameters."""
    first = [_RIDGE * (slope - 1.0), _RIDGE * offset]
    second = [_RIDGE, 0.0, _RIDGE]
    for at, right, weight in points:
        found = _logistic(slope * at + offset)
        off, spread = weight * (found - right), weight * found * (1 - found)
        first[0] += off * at
        first[1] += off
        second[0] += spread * at * at
        second[1] += spread * at
        second[2] += spread
    whole = second[0] * second[2] - second[1] ** 2
    return (
        (first[0] * second[2] - first[1] * second[1]) / whole,
        (first[1] * second[0] - first[0] * second[1]) / whole,
    )


def _loss(points: _Points, slope: float, offset: float) -> float:
    lost = _RIDGE / 2 * ((slope - 1.0) ** 2 + offset**2)
    for at, right, weight in points:
        score = slope * at + offset
        lost += weight * (_softplus(score) - right * score)
    return lost


def isotonic(labels: Sequence[Label]) -> Isotonic:
    """Fit the rising steps that are nearest to the labels: neighbours that fall are pooled."""
    blocks: list[list[float]] = []  # where it begins, weight, sum of right ones
    for one in sorted(labels):
        if blocks and blocks[-1][0] == one.stated:
            blocks[-1][1] += one.weight
            blocks[-1][2] += one.weight * one.right
        else:
            blocks.append([one.stated, one.weight, one.weight * one.right])
        while len(blocks) > 1 and _share(blocks[-2]) >= _share(blocks[-1]):
            _, weight, right = blocks.pop()
            blocks[-1][1] += weight
            blocks[-1][2] += right
    return Isotonic(tuple(block[0] for block in blocks), tuple(_share(block) for block in blocks))


def _share(block: Sequence[float]) -> float:
    return block[2] / block[1]


# --- how good it is ----------------------------------------------------------------------------


class Bin(NamedTuple):
    """The labels whose confidence was in one tenth: what was stated, how often it was right."""

    low: float
    high: float
    labels: int
    stated: float
    right: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """How far stated confidences can be relied upon.

    Attributes:
        bins: By tenths, those without a label left out.
        ece: The mean distance between stated and right, weighed by how many: 0 is perfect.
        brier: The mean square of that distance for each label: 0 is perfect.
        auroc: The chance that of a right and a wrong one the right one was stated surer; 0.5 is
            a coin, `None` if all were right or all wrong.
    """

    bins: tuple[Bin, ...]
    ece: float
    brier: float
    auroc: float | None


def reliability(labels: Sequence[Label]) -> Reliability | None:
    """Return how far stated confidences can be relied upon; `None` without a label."""
    if not labels:
        return None
    whole = sum(one.weight for one in labels)
    tenths: dict[int, list[Label]] = {}
    for one in labels:
        tenths.setdefault(min(9, int(one.stated * 10)), []).append(one)
    bins = tuple(_bin(tenth, tenths[tenth]) for tenth in sorted(tenths))
    weights = [sum(one.weight for one in tenths[tenth]) for tenth in sorted(tenths)]
    return Reliability(
        bins=bins,
        ece=sum(
            weight * abs(one.stated - one.right) for weight, one in zip(weights, bins, strict=True)
        )
        / whole,
        brier=sum(one.weight * (one.stated - one.right) ** 2 for one in labels) / whole,
        auroc=_auroc(labels),
    )


def _bin(tenth: int, labels: Sequence[Label]) -> Bin:
    weight = sum(one.weight for one in labels)
    stated = sum(one.weight * one.stated for one in labels) / weight
    count = sum(one.times for one in labels)
    return Bin(tenth / 10, (tenth + 1) / 10, count, stated, _mean(labels))


def _mean(labels: Sequence[Label]) -> float:
    return sum(one.weight * one.right for one in labels) / sum(one.weight for one in labels)


def _auroc(labels: Sequence[Label]) -> float | None:
    """Count, for every right one, the wrong ones that were stated less sure; equals count half."""
    won = below = rights = 0.0
    tied: dict[float, list[float]] = {}
    for one in labels:
        tied.setdefault(one.stated, [0.0, 0.0])[one.right] += one.weight
    for stated in sorted(tied):
        wrong, right = tied[stated]
        won += right * (below + wrong / 2)
        below += wrong
        rights += right
    return won / (rights * below) if rights and below else None


def _logit(share: float) -> float:
    inside = min(max(share, _EDGE), 1 - _EDGE)
    return log(inside / (1 - inside))


def _logistic(score: float) -> float:
    if score >= 0:
        return 1 / (1 + exp(-score))
    return exp(score) / (1 + exp(score))


def _softplus(score: float) -> float:
    return max(score, 0.0) + log(1 + exp(-abs(score)))
