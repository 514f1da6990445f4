"""Earn, audit, strike: what moves a key, and what does not."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.autonomy.ledger import (
    ENDS,
    FORGIVING,
    NEW,
    Happening,
    Ledger,
    What,
    after,
    begun,
    refusal,
)
from sayso.autonomy.terms import terms_of

LOW, HIGH = terms_of("low"), terms_of("high")
assert LOW is not None
assert HIGH is not None
GRANTED = Ledger(standing="granted", grants=1)
FINE = Happening("fine")


def fines(count: int) -> list[What]:
    return ["fine"] * count


def lived(ledger: Ledger, *said: What, by: str = "anna", solo: bool = False) -> Ledger:
    assert LOW is not None
    for what in said:
        other = "ben" if what in ("confirmed", "overturned") else by
        ledger = after(ledger, Happening(what, other), LOW, solo=solo)
    return ledger


def test_a_new_key_is_reviewed_and_only_a_person_makes_a_proposal_a_grant() -> None:
    assert (NEW.standing, NEW.score, NEW.bar, NEW.alone) == ("reviewed", 1.0, 20.0, False)

    proposed = lived(NEW, *fines(98))

    assert proposed.standing == "proposed"
    assert not proposed.alone
    assert lived(proposed, *fines(500)).standing == "proposed"
    assert lived(proposed, "ratified").alone

    proposed = lived(NEW, *fines(98))

    assert lived(proposed, "declined") == NEW
    assert lived(proposed, "ratified", "revoked") == Ledger(grants=1)


def test_a_first_flag_suspends_until_another_person_settles_it_once() -> None:
    flagged = lived(GRANTED, "flagged")

    assert (flagged.standing, flagged.alone) == ("suspended", False)
    assert lived(flagged, "overturned") == GRANTED
    assert lived(flagged, "confirmed").strikes == 1
    assert lived(flagged, "confirmed").alone

    flagged = lived(NEW, "fine", "flagged")

    assert lived(flagged, "fine", "fine") == flagged

    settled = lived(GRANTED, "flagged", "confirmed")

    assert "no flag to confirm" in (refusal(settled, Happening("confirmed", "carl")) or "")
    assert lived(settled, "confirmed") == settled

    assert lived(NEW, "flagged", solo=True).score == 0.25
    assert lived(GRANTED, "flagged", "flagged", solo=True).ends == 1


@pytest.mark.parametrize("what", ["confirmed", "overturned"])
def test_who_flagged_a_key_settles_nothing(what: What) -> None:
    flagged = lived(GRANTED, "flagged", by="anna")
    assert LOW is not None

    assert "anna flagged this key" in (refusal(flagged, Happening(what, "anna")) or "")
    assert after(flagged, Happening(what, "anna"), LOW) == flagged


def test_strikes_and_one_incident_end_a_grant_and_the_bar_doubles() -> None:
    ended = lived(GRANTED, "flagged", "confirmed", "flagged", "confirmed")

    assert ended == Ledger(ends=1, grants=1)
    assert ended.bar == 40

    assert lived(GRANTED, "incident").ends == 1
    assert lived(GRANTED, "flagged", "incident").ends == 1
    assert lived(NEW, "incident").score == 0.25


def test_three_ends_lock_a_key_until_somebody_reopens_it() -> None:
    ledger = GRANTED
    for _ in range(ENDS):
        ledger = lived(replace(ledger, standing="granted"), "incident")

    assert ledger.standing == "locked"
    assert lived(ledger, *fines(5000), "flagged", "incident") == ledger
    again = lived(ledger, "reopened")
    assert (again.standing, again.ends, again.bar) == ("reviewed", 3, 160)


def test_fifty_clean_audits_in_a_row_forgive_one_end() -> None:
    granted = replace(GRANTED, ends=2)
    almost = lived(granted, *fines(FORGIVING - 1))

    assert lived(almost, "fine").ends == 1
    assert lived(almost, "flagged", "overturned", "fine").ends == 2
    assert lived(granted, *fines(2 * FORGIVING)).ends == 0


def test_a_new_version_sheds_no_strikes() -> None:
    assert begun([]) == NEW
    assert begun([Ledger(ends=1), Ledger(ends=2)]).ends == 2
    assert begun([GRANTED]).standing == "reviewed"
    assert begun([Ledger(standing="locked", ends=3)]).standing == "locked"


@pytest.mark.parametrize(
    ("ledger", "what"),
    [
        (NEW, "ratified"),
        (NEW, "revoked"),
        (GRANTED, "ratified"),
        (GRANTED, "reopened"),
        (Ledger(standing="locked"), "ratified"),
        (Ledger(standing="suspended"), "ratified"),
        (NEW, "confirmed"),
        (NEW, "overturned"),
    ],
)
def test_what_does_not_apply_is_refused_in_words(ledger: Ledger, what: What) -> None:
    assert f"this key is {ledger.standing}" in (refusal(ledger, Happening(what, "carl")) or "")
    assert lived(ledger, what) == ledger


WORDS: list[What] = ["fine", "fine", "fine", "flagged", "confirmed", "overturned", "incident"]
WORDS += ["ratified", "declined", "revoked", "reopened"]


@given(st.lists(st.sampled_from(WORDS), max_size=150), st.booleans())
def test_whatever_happens_only_a_person_grants_and_harm_always_ends(
    said: list[What], solo: bool
) -> None:
    assert LOW is not None
    ledger = Ledger(score=18.0)
    for what in said:
        before = ledger
        by = "ben" if what in ("confirmed", "overturned") else "anna"
        ledger = after(ledger, Happening(what, by), LOW, solo=solo)
        assert ledger.alone <= (before.alone or what in ("ratified", "overturned", "confirmed"))
        assert ledger.grants - before.grants <= (what == "ratified")
        assert ledger.strikes < LOW.strikes
        assert ledger.score > 0
        assert 0 <= ledger.ends - before.ends + (what == "fine") <= 2
        assert (ledger.standing == "proposed") <= (ledger.score >= ledger.bar)
        if what == "incident":
            assert not ledger.alone


# --- strategies that know the scheme, and everything but the coin -------------------------------

Strategy = Callable[[Ledger, int, random.Random], bool]
STRATEGIES: dict[str, Strategy] = {
    "always bad": lambda ledger, n, chance: True,
    "bad once it is trusted": lambda ledger, n, chance: ledger.alone,
    "bad after a clean start": lambda ledger, n, chance: n > 30,
    "bad in bursts": lambda ledger, n, chance: n % 40 < 10,
    "bad until it is struck": lambda ledger, n, chance: ledger.strikes == 0,
    "careful after a clean audit": lambda ledger, n, chance: ledger.clean % 3 == 0,
    "now and then": lambda ledger, n, chance: chance.random() < 0.1,
}


@pytest.mark.parametrize("tier", ["low", "high"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_no_strategy_lets_more_through_than_the_bound(name: str, tier: str) -> None:
    asked = terms_of(tier)
    assert asked is not None
    chance, runs = random.Random(f"{name} {tier}"), 300
    escaped = sum(_escaped(STRATEGIES[name], tier, chance) for _ in range(runs)) / runs

    # Within three standard errors: what escapes one grant is spread like its mean.
    assert escaped <= asked.exposure * (1 + 3 / runs**0.5)


def _escaped(bad: Strategy, tier: str, chance: random.Random, calls: int = 2000) -> int:
    asked = terms_of(tier)
    assert asked is not None
    ledger, escaped = GRANTED, 0
    for number in range(calls):
        acts_badly = bad(ledger, number, chance)
        if chance.random() >= asked.audit:
            escaped += acts_badly
            continue
        if not acts_badly:
            ledger = after(ledger, FINE, asked)
        elif chance.random() < asked.detection:
            flagged = after(ledger, Happening("flagged", "anna"), asked)
            ledger = after(flagged, Happening("confirmed", "ben"), asked)
        if not ledger.alone:
            break
    return escaped


@pytest.mark.parametrize("ratio", [1.0, 1.5, 3.0])
def test_no_order_of_bad_actions_gets_a_bad_key_in(ratio: float) -> None:
    """However its badness is spread over time, as long as it never falls below the bound."""
    assert HIGH is not None
    chance, trials = random.Random(f"spread {ratio}"), 120
    let_in = 0
    for _ in range(trials):
        ledger = NEW
        for number in range(1200):
            share = HIGH.noticed * (ratio if number % 7 < 3 else 1.0)
            if chance.random() < share:
                flagged = after(ledger, Happening("flagged", "anna"), HIGH)
                ledger = after(flagged, Happening("confirmed", "ben"), HIGH)
            else:
                ledger = after(ledger, FINE, HIGH)
            if ledger.standing == "proposed":
                let_in += 1
                break

    assert let_in / trials <= 0.05 + 3 * (0.05 * 0.95 / trials) ** 0.5
