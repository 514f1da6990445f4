"""What a stated confidence is worth."""

from __future__ import annotations

import random
from itertools import pairwise
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.autonomy.calibration import (
    MANY,
    Isotonic,
    Label,
    Platt,
    calibrated,
    isotonic,
    light,
    platt,
    reliability,
)
from sayso.model.worth import FEWEST

RIDGE = 1e-3
LABELS = st.lists(
    st.builds(
        Label,
        st.floats(0, 1),
        st.booleans(),
        st.floats(0.1, 50),
        st.just(1),
    ),
    min_size=1,
    max_size=80,
)


def said(count: int, worth: float, stated: float = 0.9, seed: str = "") -> list[Label]:
    """Labels of an agent that states one confidence, and is right so often."""
    chance = random.Random(f"{count} {worth} {seed}")
    return [Label(stated, chance.random() < worth) for _ in range(count)]


def test_there_is_no_record_before_fifty_labels_and_a_simple_curve_until_there_are_many() -> None:
    labels = said(FEWEST - 1, 0.9)

    assert calibrated(labels) is None
    assert light(None) == "red"
    assert calibrated([*labels, Label(0.9, True)]) is not None

    assert isinstance(calibrated(said(MANY, 0.8)), Platt)
    assert isinstance(calibrated(said(MANY + 1, 0.8)), Isotonic)


def test_an_agent_that_is_too_sure_is_shown_as_sure_as_it_should_be_at_each_level() -> None:
    labels = [Label(0.99, number % 10 < 6) for number in range(500)]
    curve = calibrated(labels)
    assert curve is not None

    assert curve(0.99) == pytest.approx(0.6, abs=0.01)
    assert light(curve(0.99)) == "red"

    labels = [Label(0.6, number % 10 < 3) for number in range(400)]
    labels += [Label(0.95, number % 10 < 9) for number in range(400)]
    curve = calibrated(labels)
    assert curve is not None

    assert curve(0.6) == pytest.approx(0.3, abs=0.02)
    assert curve(0.95) == pytest.approx(0.9, abs=0.02)


def test_the_curve_is_the_likeliest_there_is() -> None:
    chance = random.Random("likeliest")
    stated = [chance.random() for _ in range(300)]
    labels = [Label(one, chance.random() < one**2) for one in stated]
    found = platt(labels)

    def lost(curve: Platt) -> float:
        return -sum(
            log(curve(one.stated) if one.right else 1 - curve(one.stated)) for one in labels
        )

    best = lost(found)
    for slope, offset in ((0.05, 0.0), (-0.05, 0.0), (0.0, 0.05), (0.0, -0.05)):
        assert lost(Platt(found.slope + slope, found.offset + offset)) > best - 1e-3


@settings(max_examples=200, deadline=None)
@given(LABELS)
def test_no_other_curve_is_likelier_for_any_record(labels: list[Label]) -> None:
    found = platt(labels)
    # How what is lost changes with each parameter. Small terms draw them to one and nought.
    lost = [RIDGE * (found.slope - 1), RIDGE * found.offset]
    for one in labels:
        inside = min(max(one.stated, 1e-4), 1 - 1e-4)
        over = one.weight * (found(one.stated) - one.right)
        lost = [lost[0] + over * log(inside / (1 - inside)), lost[1] + over]
    whole = sum(one.weight for one in labels)

    if found.slope == 0:  # it would gain by falling, and is laid flat
        assert lost[0] > -2 * RIDGE
    else:
        assert lost == pytest.approx([0, 0], abs=1e-6 * whole)


def test_being_surer_where_it_is_wrong_is_not_turned_into_a_virtue() -> None:
    labels = [Label(0.95, number % 10 < 2) for number in range(100)]
    labels += [Label(0.2, number % 10 < 9) for number in range(100)]
    curve = platt(labels)

    assert curve.slope == 0
    assert curve(0.1) == curve(0.9) == pytest.approx(0.55, abs=0.01)


def test_what_an_audit_found_stands_for_all_that_ran_alone() -> None:
    seen = [Label(0.9, True) for _ in range(95)]
    audited = [Label(0.9, False, weight=20) for _ in range(5)]
    curve = calibrated([*seen, *audited])
    assert curve is not None

    assert curve(0.9) == pytest.approx(95 / 195, abs=0.01)


@settings(max_examples=60, deadline=None)
@given(LABELS)
def test_more_stated_is_never_worth_less(labels: list[Label]) -> None:
    steps = [number / 50 for number in range(51)]
    for curve in (platt(labels), isotonic(labels)):
        worth = [curve(stated) for stated in steps]
        assert all(0 <= one <= 1 for one in worth)
        assert all(low <= high + 1e-9 for low, high in pairwise(worth))


@settings(max_examples=60, deadline=None)
@given(LABELS)
def test_reliability_is_within_its_bounds_and_counts_every_label(labels: list[Label]) -> None:
    found = reliability(labels)
    assert found is not None

    assert sum(one.labels for one in found.bins) == len(labels)
    assert 0 <= found.ece <= 1
    assert 0 <= found.brier <= 1
    assert found.auroc is None or 0 <= found.auroc <= 1
    assert (found.auroc is None) == (len({one.right for one in labels}) == 1)


def test_labels_that_are_alike_may_come_as_one() -> None:
    apart = [Label(0.9, number % 4 > 0, 2.0) for number in range(80)]
    summed = [Label(0.9, True, 120.0, 60), Label(0.9, False, 40.0, 20)]
    curve, sums = calibrated(apart), calibrated(summed)
    assert curve is not None
    assert sums is not None

    assert sums(0.9) == pytest.approx(curve(0.9))
    assert calibrated(summed[:1]) is not None, "it is sixty of them"
    found, whole = reliability(summed), reliability(apart)
    assert found is not None
    assert whole is not None
    assert found.bins[0].labels == whole.bins[0].labels == 80
    assert found.brier == pytest.approx(whole.brier)


def test_reliability_by_hand() -> None:
    labels = [Label(0.9, True), Label(0.9, False), Label(0.2, False), Label(0.3, True)]
    found = reliability(labels)
    assert found is not None

    assert found.brier == pytest.approx((0.01 + 0.81 + 0.04 + 0.49) / 4)
    assert found.ece == pytest.approx((2 * 0.4 + 0.2 + 0.7) / 4)
    # right .9 beats .2 and ties .9; right .3 beats .2 and loses to .9: 2.5 of 4
    assert found.auroc == pytest.approx(2.5 / 4)
    assert reliability([]) is None


@pytest.mark.parametrize(
    ("worth", "colour"),
    [(0.95, "green"), (0.9499, "amber"), (0.70, "amber"), (0.6999, "red"), (0.0, "red")],
)
def test_lights(worth: float, colour: str) -> None:
    assert light(worth) == colour
