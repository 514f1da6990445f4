"""How far a grant reaches: names and ranges that enough calls, people and days stand behind."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.autonomy.reach import (
    DAY,
    DEPTH,
    MOST_NAMES,
    Mark,
    Reach,
    end_of,
    marked,
    reach_told,
    saw,
    within,
)
from sayso.model.stake import MOST_DAYS, MOST_PEOPLE, Least

ONE = Least(0, 1)


def seen(calls: Iterable[dict[str, Any]], by: str = "ann") -> Reach:
    """The reach of approved calls, one an hour."""
    reach = Reach()
    for number, args in enumerate(calls):
        told = saw(args)
        assert told is not None
        reach = reach.grown(told, [by], number * DAY // 24)
    return reach


def beyond(reach: Reach, args: dict[str, Any], least: Least = ONE) -> str | None:
    return reach.beyond(saw(args), least)


# --- what people see of a call ---


def test_numbers_are_kept_by_path_and_other_arguments_by_name_and_kind() -> None:
    args = {
        "amount": 40,
        "note": "thanks",
        "force": False,
        "items": [{"price": 3, "name": "a"}, {"price": 1.5, "name": "b"}],
        "to": [],
        "x-id": None,
    }

    assert saw(args) == {
        "amount": 40,
        "note: text": None,
        "force: false": None,
        "number of items": 2,
        "items[]: object": None,
        "items[].price": [1.5, 3],
        "items[].name: text": None,
        "number of to": 0,
        '["x-id"]: null': None,
    }


@pytest.mark.parametrize(
    "args",
    [
        {f"a{number}": 1 for number in range(MOST_NAMES + 1)},
        {"a": float("inf")},
        {"a": [float("nan")]},
        {"a" * 9_000: 1},
    ],
)
def test_what_cannot_be_compared_asks(args: dict[str, Any]) -> None:
    reach = seen([{"a": 1}] * 5)

    assert saw(args) is None
    assert beyond(reach, args) == "It has more arguments than sayso compares with approved calls."


def test_what_nests_too_deep_cannot_be_compared_and_free_numbers_are_not() -> None:
    deep: Any = 1
    for _ in range(DEPTH):
        deep = [deep]

    assert saw({"a": deep}) is None
    assert saw({"a": deep[0]}) is not None

    assert saw({"order": 7, "amount": 40}, ("amount",)) == {"order: number": None, "amount": 40}


def test_no_name_passes_for_another() -> None:
    names = [saw({"a": {"b": 1}}), saw({"a.b": 1}), saw({"a: text": 1}), saw({"a[]": 1})]

    for one, other in permutations(names, 2):
        assert one is not None
        assert other is not None
        assert not {*one} & {*other}


# --- ranges ---


def test_a_number_counts_in_the_range_that_people_approved_and_a_tenth_beyond() -> None:
    reach = seen({"amount": amount} for amount in [10, 20, 30] * 3)

    assert beyond(reach, {"amount": 32}) is None
    assert beyond(reach, {"amount": 8}) is None
    assert beyond(reach, {"amount": 33}) == "amount: 33 is outside what people approved: 10 to 30."


@pytest.mark.parametrize(
    ("number", "low", "high", "inside"),
    [
        (0, 1, 100, False),  # 0 may mean all of it
        (-1, 0, 100, False),
        (-1, 1, 100, False),
        (1, -100, 0, False),
        (-101, -100, 100, True),
        (1.1, 1, 1, False),
        (1.0, 1, 1, True),
        (10**400, 1, 10**399, False),
        (10**400, 1, 10**400, True),
        (10**400, 0.5, 2.5, False),
    ],
)
def test_the_margin_never_crosses_a_sign(number: Any, low: Any, high: Any, inside: bool) -> None:
    assert within(number, low, high) is inside


def test_one_odd_call_stretches_no_range() -> None:
    usual = [{"amount": 1}] * 60
    odd = {"amount": 1_000_000}

    assert beyond(seen([*usual, odd, odd]), odd) is not None
    assert beyond(seen([odd, odd, *usual]), odd) is not None
    assert beyond(seen([*usual, odd, odd, odd]), odd) is None


def test_one_odd_call_makes_no_argument_known_and_none_optional() -> None:
    usual = [{"amount": 1, "note": "a"}] * 60

    assert beyond(seen([*usual, {"amount": 1, "note": "a", "force": True}]), {
        "amount": 1, "note": "a", "force": True,
    }) == "Too few approved calls had force: true."  # fmt: skip
    assert beyond(seen([*usual, {"note": "a"}]), {"note": "a"}) == (
        "Too few approved calls were without amount."
    )
    assert beyond(seen([*usual, *[{"note": "a"}] * 3]), {"note": "a"}) is None
    assert beyond(seen([*[{"note": "a"}] * 3, *usual]), {"note": "a"}) is None


def test_an_argument_that_is_a_number_once_and_a_text_another_time_is_two() -> None:
    mixed = seen([{"amount": 1}] * 9 + [{"amount": "2"}])

    assert beyond(mixed, {"amount": 1}) is None
    assert beyond(mixed, {"amount": "1"}) == "Too few approved calls had amount: text."
    assert beyond(seen([{"amount": "1"}] * 9), {"amount": 1}) == (
        "Too few approved calls had amount with a number."
    )


def test_more_entries_ask_and_so_does_a_book_that_says_nothing() -> None:
    reach = seen([{"to": ["a"]}, {"to": ["a", "b"]}] * 5)

    assert beyond(reach, {"to": ["c", "d"]}) is None
    assert beyond(reach, {"to": ["x"] * 500}) == (
        "number of to: 500 is outside what people approved: 1 to 2."
    )

    assert beyond(Reach(), {}) == "No approved call says which arguments people saw."


# --- people and days ---


def test_an_end_of_a_range_takes_as_many_people_and_days_as_the_tier() -> None:
    reach, least = Reach(), Least(2, 2)
    for day, by, amount in [
        (0, "ann", 1),
        (1, "ben", 5),
        (2, "ann", 9),
        (2, "ann", 9),
        (2, "ann", 9),
    ]:
        reach = reach.grown({"amount": amount}, [by], day * DAY)

    assert reach.enough(least)
    assert not reach.enough(Least(3, 2))
    assert not reach.enough(Least(2, 3))
    assert reach.numbers(Least(0, 1)) == {"amount": (9, 9)}
    assert reach.numbers(least) == {}, "only ann saw more than 5, and only on one day"


def test_both_people_of_one_decision_stand_behind_it() -> None:
    reach = Reach()
    for day in range(3):
        reach = reach.grown({"amount": 1}, ["ann", "ben"], day * DAY)

    assert reach.enough(Least(2, 2))
    assert (reach.people, reach.days) == (2, 2)


@given(
    st.lists(
        st.tuples(st.integers(-50, 50), st.sampled_from("abcdef"), st.integers(0, 90)), max_size=60
    ),
    st.integers(1, 4),
)
def test_what_is_forgotten_never_widens_an_end(words: list[Any], people: int) -> None:
    words.sort(key=lambda word: word[2])
    every = [Mark(value, frozenset([by]), day * DAY) for value, by, day in words]
    for up in (True, False):
        kept: Any = ()
        for mark in every:
            kept = marked(kept, mark, up=up)
        for days in (0, 1, 5):
            whole = sorted(every, key=lambda mark: mark.value, reverse=up)
            end, exact = (
                end_of(kept, Least(days, people)),
                end_of(tuple(whole), Least(days, people)),
            )
            assert end is None or (exact is not None and (end <= exact if up else end >= exact))
            assert days or end == exact
        assert len(kept) <= 3 + MOST_PEOPLE + MOST_DAYS


def test_a_reach_is_said_in_a_line() -> None:
    reach = seen([{"amount": amount, "note": "a", "order": 7} for amount in [1, 20, 4_000] * 3])

    assert reach_told(reach, ONE) == "amount 1 to 4,000; order 7; note: text"
    assert reach_told(Reach(), ONE) == "nothing yet"
