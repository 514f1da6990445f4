"""The numbers that earned autonomy rests on: each is worked out here as whoever designed it did."""

from __future__ import annotations

import random
from fractions import Fraction
from math import comb, log

import pytest

from sayso.autonomy.bounds import lower, upper
from sayso.autonomy.ledger import NEW, Happening, Ledger, after
from sayso.autonomy.staffing import enough, staffing
from sayso.autonomy.terms import Terms, terms_of
from sayso.errors import BadValue

FINE = Happening("fine")


def terms(tier: str, detection: float = 0.8) -> Terms:
    found = terms_of(tier, detection)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("tier", "detection", "count"),
    [
        ("low", 1.0, 78),
        ("medium", 1.0, 198),
        ("high", 1.0, 397),
        ("low", 0.8, 98),
        ("medium", 0.8, 248),
        ("high", 0.8, 497),
    ],
)
def test_clean_approvals_to_the_first_grant(tier: str, detection: float, count: int) -> None:
    ledger, looked = NEW, 0
    while ledger.standing == "reviewed":
        ledger, looked = after(ledger, FINE, terms(tier, detection)), looked + 1

    assert (ledger.standing, looked) == ("proposed", count)


@pytest.mark.parametrize(("tier", "count"), [("low", 45.1), ("medium", 114.4), ("high", 229.9)])
def test_one_confirmed_harm_costs_so_many_clean_ones(tier: str, count: float) -> None:
    flagged = after(NEW, Happening("flagged", "anna"), terms(tier))
    harmed = after(flagged, Happening("confirmed", "ben"), terms(tier))

    assert log(1 / harmed.score) / log(terms(tier).fine) == pytest.approx(count, abs=0.1)


@pytest.mark.parametrize(("tier", "rho"), [("low", 0.05), ("medium", 0.1111), ("high", 0.2381)])
def test_the_share_that_is_audited(tier: str, rho: float) -> None:
    assert terms(tier).audit == pytest.approx(rho, abs=1e-4)


def test_critical_and_unknown_tiers_have_no_terms() -> None:
    assert [terms_of(tier) for tier in ("critical", "", None, "made-up")] == [None] * 4


@pytest.mark.parametrize(
    ("hits", "tries", "bound"),
    [(14, 14, 0.807), (20, 20, 0.861), (28, 30, 0.805), (45, 50, 0.801), (95, 100, 0.898)],
)
def test_the_lower_bound_is_clopper_and_pearsons(hits: int, tries: int, bound: float) -> None:
    found = lower(hits, tries)
    exact = Fraction(found)
    tail = sum(
        comb(tries, n) * exact**n * (1 - exact) ** (tries - n) for n in range(hits, tries + 1)
    )

    assert found == pytest.approx(bound, abs=0.001)
    assert float(tail) == pytest.approx(0.05, abs=1e-9)  # by definition, in whole numbers


def test_bounds_end_at_nothing_and_everything() -> None:
    assert (lower(0, 10), upper(10, 10)) == (0.0, 1.0)
    assert upper(0, 14) == pytest.approx(1 - 0.807, abs=0.001)


@pytest.mark.parametrize(
    ("per_hour", "people", "waits", "wait"),
    [(60, 1, 0.75, 135), (120, 2, 0.6429, 57.9), (150, 3, 0.3874, 15.5), (400, 6, 0.5875, 26.4)],
)
def test_how_long_asks_wait_for_people(
    per_hour: int, people: int, waits: float, wait: float
) -> None:
    found = staffing(per_hour, 45, people)

    assert found.waits == pytest.approx(waits, abs=1e-4)
    assert found.wait == pytest.approx(wait, abs=0.05)


def test_a_queue_with_too_few_people_only_grows() -> None:
    assert (staffing(100, 45, 1).wait, staffing(100, 45, 1).waits) == (None, 1.0)
    assert enough(150, 45, 20) == 3
    assert enough(1_000_000, 45, 20, most=10) is None
    assert staffing(0, 45, 1).wait == 0
    with pytest.raises(BadValue, match="at least one person"):
        staffing(10, 45, 0)


# --- by chance, with the same seed each time ---


def escapes(rho: float, strikes: int, detection: float, chance: random.Random) -> int:
    """How many bad actions run unseen until a key that does nothing else loses its grant."""
    granted = Ledger(standing="granted", grants=1)
    asked = Terms(eps=0.01, harm=25, strikes=strikes, detection=detection)
    ledger, escaped = granted, 0
    while ledger.alone:
        if chance.random() >= rho:
            escaped += 1
        elif chance.random() < detection:
            flagged = after(ledger, Happening("flagged", "anna"), asked)
            ledger = after(flagged, Happening("confirmed", "ben"), asked)
    return escaped


@pytest.mark.parametrize(("rho", "mean"), [(0.05, 23.75), (0.0588, 20.0), (0.238, 4.0)])
def test_what_escapes_per_grant(rho: float, mean: float) -> None:
    chance = random.Random(f"escapes {rho}")
    runs = 20_000
    found = sum(escapes(rho, 1, 0.8, chance) for _ in range(runs)) / runs

    assert found == pytest.approx(mean, rel=0.04)


@pytest.mark.parametrize("tier", ["low", "medium", "high"])
def test_expected_harm_of_a_grant_stays_in_its_budget(tier: str) -> None:
    asked = terms(tier)

    assert asked.exposure * asked.harm <= 100 * (1 + 1e-9)


LABELS = 3000


def granted_by_score(trials: int) -> float:
    """How often a key that is just too bad is ever granted, if one looks after each label."""
    asked, chance = terms("medium"), random.Random("by score")
    return sum(_let_in(asked, chance) for _ in range(trials)) / trials


def _let_in(asked: Terms, chance: random.Random) -> bool:
    ledger = NEW
    for _ in range(LABELS):
        if chance.random() < asked.noticed:
            flagged = after(ledger, Happening("flagged", "anna"), asked)
            ledger = after(flagged, Happening("confirmed", "ben"), asked)
        else:
            ledger = after(ledger, FINE, asked)
        if ledger.standing == "proposed":
            return True
    return False


def granted_by_a_bound(trials: int) -> float:
    """The same by a bound that holds for one look, and is looked at after each label."""
    share, chance = terms("medium").noticed, random.Random("by bound")
    needed = [_first(harms, share) for harms in range(30)]

    def let_in() -> bool:
        label = 0
        for enough_for in needed:
            bad_at = label + 1 + int(log(1 - chance.random()) / log(1 - share))
            if min(bad_at - 1, LABELS) >= enough_for:
                return True
            label = bad_at
        return False

    return sum(let_in() for _ in range(trials)) / trials


def _first(harms: int, share: float) -> int:
    """The first number of labels at which a bound with so many harms lets a key through."""
    low, high = harms, 20_000
    while low < high:
        middle = (low + high) // 2
        if upper(harms, max(middle, 1)) < share:
            high = middle
        else:
            low = middle + 1
    return low


def test_a_key_that_is_just_too_bad_is_seldom_granted_however_often_one_looks() -> None:
    assert granted_by_score(80) <= 0.06

    assert granted_by_a_bound(20_000) > 0.15


@pytest.mark.soak
def test_so_it_is_over_thousands_of_keys() -> None:
    assert granted_by_score(4000) <= 0.06
