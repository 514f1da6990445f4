"""A schema is somebody else's: whatever it asks for, checking a value ends soon."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.errors import BadValue
from sayso.model import bounded
from sayso.model.bounded import MOST
from sayso.model.faults import violations
from sayso.model.pattern import LONGEST, check_pattern, fits
from sayso.model.schema import check_schema

DECIMAL = r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"  # as some versions of Pydantic write it
PASSWORD = r"^(?=.*[A-Z])(?=.*\d).{8,}$"


# --- patterns ----------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^a*a*a*a*a*a*$"])
def test_a_pattern_that_goes_back_and_forth_does_not(pattern: str) -> None:
    """Python's own engine would be busy for longer than there are people."""
    schema = {"type": "string", "pattern": pattern}
    check_schema(schema)

    assert list(violations(schema, "a" * 50_000 + "!")) == [""]


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        (r"^\d{3}$", "123", True),
        (r"^[\w.-]+@[\w.-]+$", "anna@till", True),
        ("", "", True),
        ("ä", "Bär", True),
        (DECIMAL, "-12.50", True),
        (DECIMAL, "", False),
        (DECIMAL, "+.", False),
        (DECIMAL, "1e5", False),
        (PASSWORD, "Abcdefg1", True),
        (PASSWORD, "abcdefg1", False),
        (PASSWORD, "Abc1", False),
        (r"^(?![)\]]|\))x", "x", True),
        (r"^(?![)\]]|\))x", ")x", False),
    ],
)
def test_patterns_say_what_they_said_before(pattern: str, text: str, found: bool) -> None:
    check_pattern(pattern)

    assert fits(pattern, text) is found
    assert bool(re.search(pattern, text)) is found


@given(
    st.lists(
        st.sampled_from([*"ab|^$.", "(", ")", "[ab]", "[^a]", "(?=", "(?!", "(?:", "*", "{2}"]),
        max_size=9,
    ).map("".join),
    st.text("ab|", max_size=6),
)
def test_whatever_is_taken_means_what_it_means_to_python(pattern: str, text: str) -> None:
    try:
        meant = bool(re.search(pattern, text))
        check_pattern(pattern)
    except (re.error, BadValue):
        return

    assert fits(pattern, text) is meant


@pytest.mark.parametrize(
    "pattern",
    [r"(a)\1", r"(?<=a)b", r"a(?=b)", r"^(?=a)b|c", r"^(?!a)*b", "a" * (LONGEST + 1), "("],
)
def test_a_pattern_that_could_keep_us_busy_is_refused(pattern: str) -> None:
    with pytest.raises(BadValue):
        check_pattern(pattern)
    inside: dict[str, Any] = {"items": {"patternProperties": {pattern: {}}}}
    for schema in ({"pattern": pattern}, inside):
        with pytest.raises(BadValue):
            check_schema(schema)


def test_a_field_may_be_called_pattern() -> None:
    schema: dict[str, Any] = {"properties": {"pattern": {}, "patternProperties": {}}}
    check_schema(schema)

    assert violations(schema, {"pattern": "(a)\\1"}) == {}


# --- the number of steps -----------------------------------------------------------------------


def _doubling(keyword: str) -> dict[str, Any]:
    step = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
    return {"$defs": {**step, "d60": {"type": "string"}}, "$ref": "#/$defs/d0"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (_doubling("allOf"), "x"),
        (_doubling("anyOf"), 7),
        (_doubling("oneOf"), 7),
        ({"items": {"enum": list(range(5000))}}, [-1] * 5000),
        ({"items": {"properties": {str(n): {} for n in range(5000)}}}, [{}] * 5000),
        ({"allOf": [{"additionalProperties": {}}] * 3000}, {str(n): n for n in range(3000)}),
        (
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **_doubling("allOf")},
            "x",
        ),
    ],
    ids=["all", "any", "one", "enum", "properties", "additional", "named draft"],
)
def test_a_schema_that_multiplies_the_work_is_given_up(
    schema: dict[str, Any], value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "MOST", MOST // 20)  # all of them below, once
    check_schema(schema)

    with pytest.raises(BadValue, match="too much work"):
        violations(schema, value)


def test_it_is_given_up_after_all_the_steps_there_are() -> None:
    with pytest.raises(BadValue, match="too much work"):
        violations(_doubling("allOf"), "x")


def test_no_part_of_a_schema_brings_a_validator_of_its_own() -> None:
    """With a draft named further down, nobody would count."""
    inner = {"$schema": "http://json-schema.org/draft-07/schema#"}
    with pytest.raises(BadValue, match="at the top"):
        check_schema({"properties": {"a": inner}})
    with pytest.raises(BadValue, match="unevaluatedProperties"):
        check_schema({"patternProperties": {"a": {}}, "unevaluatedProperties": False})


def test_a_large_value_that_a_plain_schema_describes_is_checked() -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    value = list(range(MOST // 5))

    assert violations(schema, value) == {}
    assert violations(schema, [*value, "x"]) != {}


@pytest.mark.parametrize(
    ("items", "unique"),
    [
        ([1, 2], True),
        ([1, 1.0], False),
        ([1, True], True),
        ([0, False, None, "", [], {}], True),
        ([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}], False),
        ([[1], [True]], True),
        ([{}, []], True),
    ],
)
def test_the_same_item_is_what_json_takes_for_the_same(items: list[Any], unique: bool) -> None:
    assert (violations({"uniqueItems": True}, items) == {}) is unique


def test_many_different_objects_are_told_apart_at_once() -> None:
    assert violations({"uniqueItems": True}, [{"n": n} for n in range(50_000)]) == {}


def test_a_list_that_is_too_long_anyway_is_not_gone_through() -> None:
    schema = {"type": "array", "maxItems": 10, "items": {"type": "object", "required": ["a"]}}

    (fault,) = violations(schema, [{}] * 20_000).values()

    assert "10" in fault
