from __future__ import annotations

import json
import math
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.errors import BadValue
from sayso.model.digest import MAX_DEPTH, canonical, digest, frozen, path_text, sha256

text = st.text(st.characters(exclude_categories=["Cs"]))
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=20,
)


class Colour(StrEnum):
    RED = "red"


class OldColour(str, Enum):  # noqa: UP042 - many programs still have these
    RED = "red"


class Size(IntEnum):
    BIG = 3


class Hermit(str):
    """Text that is equal to nothing else, so that a dict holds it twice."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


class Point(NamedTuple):
    x: int
    y: int


def same(left: Any, right: Any) -> bool:
    """Equal, and of the same JSON types: 1, 1.0 and True are three values."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and repr(left) == repr(right)


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


@given(plain)
def test_what_is_written_reads_back_as_the_same_value(value: Any) -> None:
    assert same(json.loads(canonical(value)), value)


@given(plain)
def test_a_frozen_copy_is_equal_and_freezing_it_again_changes_nothing(value: Any) -> None:
    copy = frozen(value)
    assert same(copy, value)
    assert canonical(copy) == canonical(value)


@given(plain, plain)
def test_two_values_share_a_digest_only_if_they_are_the_same(left: Any, right: Any) -> None:
    assert (digest(left) == digest(right)) == same(left, right)


@given(st.dictionaries(text, plain), st.randoms())
def test_the_order_of_keys_does_not_matter(value: dict[str, Any], random: Any) -> None:
    keys = list(value)
    random.shuffle(keys)
    assert canonical({key: value[key] for key in keys}) == canonical(value)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ({"Ä": "東京 🎉"}, '{"Ä":"東京 🎉"}'),
        ("\u0000\n\u2028", '"\\u0000\\n\u2028"'),
        (2**200, str(2**200)),
        (10 ** (sys.get_int_max_str_digits() - 1), "1" + "0" * (sys.get_int_max_str_digits() - 1)),
        ([1, 1.0, -0.0, 1e22, 0.1], "[1,1.0,-0.0,1e+22,0.1]"),
        ((1, (2, 3)), "[1,[2,3]]"),
        (Point(1, 2), "[1,2]"),
        ({"colour": Colour.RED, "size": Size.BIG}, '{"colour":"red","size":3}'),
        ({Colour.RED: 1}, '{"red":1}'),
        ({OldColour.RED: OldColour.RED}, '{"red":"red"}'),
        ({}, "{}"),
        (None, "null"),
    ],
)
def test_the_canonical_form_is_fixed(value: Any, written: str) -> None:
    assert canonical(value) == written


def test_a_digest_covers_the_borders_of_its_parts_and_stays_what_it_is() -> None:
    assert digest({"tool": "refund", "args": {"order": "1182", "amount": 40}}) == (
        "a2bf6efcd528b23adf60f7edf5718f7908901279814eb03ec674347f8008a0e5"
    )

    assert (
        len({sha256(), sha256(b""), sha256(b"ab", b"c"), sha256(b"a", b"bc"), sha256(b"abc")}) == 5
    )


def test_a_frozen_copy_is_plain_and_of_its_own() -> None:
    copy = frozen({"colour": Colour.RED, "size": Size.BIG})
    assert [type(value) for value in copy.values()] == [str, int]

    original: dict[str, Any] = {"items": [{"amount": 40}]}
    copy = frozen(original)
    original["items"][0]["amount"] = 4000
    assert copy == {"items": [{"amount": 40}]}


@pytest.mark.parametrize(
    ("bad", "hint"),
    [
        (math.nan, "None"),
        (math.inf, "None"),
        (-math.inf, "None"),
        ({"b", "a"}, "sorted"),
        (frozenset("a"), "sorted"),
        (b"abc", "base64"),
        (datetime(2026, 1, 1, tzinfo=UTC), "isoformat"),
        (date(2026, 1, 1), "isoformat"),
        (Decimal("1.5"), "str(value)"),
        (object(), "Pydantic"),
        ("half \ud83d of an emoji", "surrogate"),
        pytest.param(10 ** sys.get_int_max_str_digits(), "hexadecimal", id="huge integer"),
        ({1: "a"}, "str(key)"),
        ({None: "a"}, "str(key)"),
        ({1.5: "a"}, "str(key)"),
        ({True: "a"}, "str(key)"),
        ({True: "a", "true": "b"}, "str(key)"),
        ({(1, 2): "a"}, "str(key)"),
        ({Size.BIG: "a"}, "str(key)"),
        ({"\ud83d": "a"}, "surrogate"),
        ({Hermit("red"): 1, Hermit("red"): 2}, "twice"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_place_and_a_way_out(bad: Any, hint: str) -> None:
    with pytest.raises(BadValue) as refused:
        canonical({"fine": [1], "items": [0, {"amount": bad}]}, what="arguments")
    assert refused.value.path == "items[1].amount"
    assert hint in str(refused.value)
    assert str(refused.value).startswith("The arguments cannot be stored: items[1].amount ")


def test_a_bad_value_is_named_by_its_path_also_at_the_top_and_in_a_tuple() -> None:
    with pytest.raises(BadValue) as refused:
        canonical(math.nan)
    assert refused.value.path == ""
    assert str(refused.value).startswith("The value cannot be stored: it is nan")

    with pytest.raises(BadValue) as refused:
        canonical(({1: "a"},))
    assert refused.value.path == "[0]"


def test_a_value_that_contains_itself_is_refused_and_the_same_twice_is_not() -> None:
    loop: dict[str, Any] = {"name": "a"}
    loop["child"] = [loop]
    with pytest.raises(BadValue, match="contains itself") as refused:
        canonical(loop)
    assert refused.value.path == "child[0]"

    shared = {"a": 1}
    assert canonical((shared, shared)) == '[{"a":1},{"a":1}]'


@pytest.mark.parametrize("levels", [2 * MAX_DEPTH + 1, 500, 100_000])
def test_a_value_nested_too_deeply_is_refused(levels: int) -> None:
    with pytest.raises(BadValue, match="levels deep"):
        canonical(nested(levels))


def test_depth_is_what_nests_and_leaves_room_to_be_wrapped() -> None:
    outside = frozen(nested(MAX_DEPTH), limit=1000)
    assert canonical({"event": {"proposal": {"args": outside}}})
    with pytest.raises(BadValue, match=f"more than {MAX_DEPTH} levels"):
        frozen(nested(MAX_DEPTH + 1), limit=1000)

    assert frozen([[]] * 1000, limit=10_000) == [[]] * 1000


def test_the_limit_counts_bytes_not_characters() -> None:
    assert canonical("ää", limit=6) == '"ää"'
    with pytest.raises(BadValue, match="a reference and its digest"):
        canonical("ää", limit=5)


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ((), ""),
        (("amount",), "amount"),
        (("items", 2, "amount"), "items[2].amount"),
        ((0, "größe"), "[0].größe"),
        (("prices", "per hour"), 'prices["per hour"]'),
        (('a"b',), '["a\\"b"]'),
        (("a\u202eb",), '["a[U+202E RIGHT-TO-LEFT OVERRIDE]b"]'),
        (("a" * 200,), "a" * 79 + "…"),
    ],
)
def test_a_path_reads_like_python(path: tuple[str | int, ...], written: str) -> None:
    assert path_text(path) == written
