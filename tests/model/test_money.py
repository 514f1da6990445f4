"""Amounts are written for people: exact where it counts, and never in powers of ten."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.model.money import say_dollars


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        (0, "$0"),
        (0.0000123, "$0.0000123"),
        (0.0125, "$0.0125"),
        (0.006, "$0.006"),
        (1, "$1"),
        (12.3456, "$12.35"),
        (99.994, "$99.99"),
        (99.996, "$100.00"),
        (100, "$100.00"),
        (12345.67, "$12,345.67"),
        (1_000_000, "$1,000,000.00"),
    ],
)
def test_an_amount_is_written_for_people(amount: float, said: str) -> None:
    assert say_dollars(amount) == said


@given(st.floats(min_value=0, max_value=1e15))
def test_no_amount_is_written_in_powers_of_ten(amount: float) -> None:
    said = say_dollars(amount)

    assert "e" not in said.lower()
    assert abs(float(said[1:].replace(",", "")) - amount) <= max(amount / 1000, 1e-300)
