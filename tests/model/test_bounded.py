"""A schema is somebody else's: whatever it asks for, checking a value ends soon."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.errors import BadValue
from sayso.model import bounded
from sayso.model.bounded import MOST, MOST_FAULTS
from sayso.model.digest import canonical
from sayso.model.faults import violations
from sayso.model.kept import Kept
from sayso.model.pattern import LONGEST, check_pattern, fits, weight
from sayso.model.schema import LONGEST as LONGEST_SCHEMA
from sayso.model.schema import MOST_PARTS, check_schema, validator_of

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
    with pytest.raises(BadValue, match=r"cannot be used|at most"):
        check_pattern(pattern)
    inside: dict[str, Any] = {"items": {"patternProperties": {pattern: {}}}}
    for schema in ({"pattern": pattern}, inside):
        with pytest.raises(BadValue, match=r"cannot be used|at most|JSON Schema"):
            check_schema(schema)


def test_a_field_may_be_called_pattern() -> None:
    schema: dict[str, Any] = {"properties": {"pattern": {}, "patternProperties": {}}}
    check_schema(schema)

    assert violations(schema, {"pattern": "(a)\\1"}) == {}


# --- the number of steps -----------------------------------------------------------------------


def _doubling(keyword: str, times: int = 60) -> dict[str, Any]:
    step = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(times)}
    return {"$defs": {**step, f"d{times}": {"type": "string"}}, "$ref": "#/$defs/d0"}


DEEP: dict[str, Any] = {"$ref": "#/$defs/tree", "$defs": {"tree": {}}}
DEEP["$defs"]["tree"] = {"anyOf": [{"items": {"$ref": "#/$defs/tree"}, "type": "array"}] * 2}


def _nested(levels: int, value: object) -> Any:
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (DEEP, _nested(20, 7)),
        ({"items": {"enum": list(range(5000))}}, [-1] * 5000),
        ({"items": {"properties": {str(n): {} for n in range(4000)}}}, [{}] * 4000),
        ({"allOf": [{"additionalProperties": {}}] * 2000}, {str(n): n for n in range(3000)}),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", **DEEP}, _nested(20, 7)),
    ],
    ids=["any", "enum", "properties", "additional", "named draft"],
)
def test_a_schema_that_multiplies_the_work_is_given_up(
    schema: dict[str, Any], value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "MOST", MOST // 20)  # all of them below, once
    check_schema(schema)

    with pytest.raises(BadValue, match="takes too long"):
        violations(schema, value)


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_parts_that_refer_to_each_other_twice_are_refused_at_the_door_e46(keyword: str) -> None:
    """Each step doubled the work: 16 of them took half a minute."""
    with pytest.raises(BadValue, match="takes too long to check"):
        check_schema(_doubling(keyword))
    with pytest.raises(BadValue, match="takes too long"):
        violations(
            _doubling(keyword), "x" if keyword == "allOf" else 7
        )  # also if it came past the door


def test_what_refers_to_the_same_part_often_or_to_itself_is_taken() -> None:
    money = {"type": "object", "properties": {"amount": {}, "currency": {"$ref": "#/$defs/iso"}}}
    fields = {f"f{n}": {"$ref": "#/$defs/money"} for n in range(500)}
    check_schema({"properties": fields, "$defs": {"money": money, "iso": {"type": "string"}}})

    tree = {"properties": {"children": {"items": {"$ref": "#"}}}}
    check_schema(tree)

    assert violations(tree, {"children": [{"children": [{"children": 7}]}]}) == {}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"properties": {str(n): {} for n in range(MOST_PARTS)}}, "5,000 parts"),
        ({"description": "x" * LONGEST_SCHEMA}, "characters; at most 500,000"),
        ({"required": [*map(str, range(90_000))]}, "characters; at most 500,000"),
        ({"patternProperties": {rf"^{n}\w{{200}}": {} for n in range(9)}}, "patterns .* too large"),
    ],
    ids=["parts", "characters", "one list", "patterns"],
)
def test_a_schema_that_is_too_large_is_refused_before_it_is_looked_at_e46(
    schema: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadValue, match=words):
        check_schema(schema)


@pytest.mark.parametrize("levels", [65, 300, 100_000])
@pytest.mark.parametrize("step", [lambda inner: {"not": inner}, lambda inner: {"allOf": [inner]}])
def test_a_schema_of_300_levels_is_refused_in_plain_words_e46(
    step: Callable[[Any], dict[str, Any]], levels: int
) -> None:
    inner: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        inner = step(inner)

    with pytest.raises(BadValue, match=r"^The schema nests more than 64 levels deep\."):
        check_schema(inner)


def test_of_each_form_that_does_not_fit_only_the_first_faults_are_kept_e46() -> None:
    """They were all kept until the check ended: 16 at once took more than a gigabyte."""
    form = {"type": "array", "items": {"type": "integer"}}
    (fault,) = validator_of(canonical({"anyOf": [form, {"type": "null"}]})).iter_errors(["x"] * 900)

    assert len(fault.context) == MOST_FAULTS + 1


def test_a_list_of_different_things_that_must_differ_is_no_work_e46() -> None:
    """What is compared two by two takes the square of its length."""
    with pytest.raises(BadValue, match="not a JSON Schema"):
        check_schema({"required": [*map(str, range(20_000)), *range(20_000), {}]})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "(?:a{1,200}){1,200}b"}, "a" * 50_000),
        ({"pattern": "(?:a{1,200}){1,200}b"}, "a" * 20_000),
        ({"pattern": "(?x)(?:a{1,200} # )\n){1,200}b"}, "a" * 20_000),
        ({"patternProperties": {"(?:a{1,200}){1,200}b": {}}}, {"a" * 20_000: 1}),
        ({"items": {"pattern": "(?:a{1,50}){1,50}b"}}, ["a" * 1000] * 50),
    ],
    ids=["one text", "a shorter one", "with a comment", "a name", "many texts"],
)
def test_a_pattern_that_stands_in_many_places_at_once_is_given_up_e46(
    schema: dict[str, Any], value: Any
) -> None:
    """Nothing else in the process moved meanwhile: one text of 50 KB took 28 seconds."""
    check_schema(schema)

    with pytest.raises(BadValue, match="takes too long"):
        violations(schema, value)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^[\s\S]{1,4000}$", "a" * 4000),
        (r"^\w{8}-\w{4}-\w{4}-\w{4}-\w{12}$", "0f8fad5b-d9cb-469f-a165-70867728950e"),
        ("^[a-z ]+$", "a" * 200_000),
    ],
)
def test_a_pattern_that_people_write_is_taken(pattern: str, text: str) -> None:
    schema = {"items": {"pattern": pattern}}
    check_schema(schema)

    assert violations(schema, [text] * 2) == {}


def test_a_fault_takes_steps_too_e46() -> None:
    """Fifty thousand of them were kept in an instant, and the memory for them for good."""
    schema = {"propertyNames": {"anyOf": [{"const": str(n)} for n in range(400)]}}

    with pytest.raises(BadValue, match="takes too long"):
        violations(schema, {f"x{n}": n for n in range(60)})


@pytest.mark.parametrize(
    "wrap", [lambda form: form, lambda form: {"anyOf": [form, {"type": "null"}]}]
)
def test_of_20_000_missing_fields_fifty_are_named_e46(
    wrap: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    """Each was a fault, and each fault named all of them: a million sentences."""
    schema = wrap({"required": [f"f{n}" for n in range(20_000)]})

    assert [*violations(schema, {})] == [f"f{n}" for n in range(MOST_FAULTS)]
    (fault,) = validator_of(canonical(schema)).iter_errors({})
    assert len(fault.context) <= 2


# --- what is remembered of them ----------------------------------------------------------------


def test_what_is_remembered_of_schemas_is_bounded_in_size_e46() -> None:
    """256 of a megabyte each stayed for good."""
    made: list[str] = []

    def make(text: str) -> str:
        made.append(text)
        return text

    kept = Kept(make, most=3, room=100)

    for text in ("a" * 40, "b" * 40, "a" * 40, "c" * 40, "x" * 101):
        assert kept(text) == text
    assert (len(made), kept.taken) == (4, 80)
    assert (kept("b" * 40), kept("c" * 40), len(made)) == ("b" * 40, "c" * 40, 4)
    for text in "defg":
        kept(text)
    assert kept.taken == 3


def test_a_pattern_weighs_what_it_takes_once_it_is_compiled() -> None:
    light, heavy = weight("^[a-z0-9-]{1,64}$"), weight(r"^\w{200}$")

    assert light < 100_000 < 5_000_000 < heavy

    assert weight(r"^\w{8}-\w{4}-\w{4}-\w{4}-\w{12}$") < 2_000_000


@pytest.mark.parametrize("pattern", ["(?:a{1,300}){1,300}b", "(?x)(?:a{300} # (\n){300}"])
def test_copies_of_a_letter_weigh_too_e46(pattern: str) -> None:
    """Twenty such patterns took 172 MB, and counted as 200 KB."""
    assert weight(pattern) > 8_000_000
    with pytest.raises(BadValue, match=r"patterns .* too large"):
        check_schema({"allOf": [{"pattern": f"{pattern}{n}"} for n in range(20)]})


def test_no_part_of_a_schema_brings_a_validator_of_its_own() -> None:
    """With a draft named further down, nobody would count."""
    inner = {"$schema": "http://json-schema.org/draft-07/schema#"}
    with pytest.raises(BadValue, match="at the top"):
        check_schema({"properties": {"a": inner}})
    with pytest.raises(BadValue, match="unevaluatedProperties"):
        check_schema({"patternProperties": {"a": {}}, "unevaluatedProperties": False})


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


def test_long_lists_are_checked_in_an_instant() -> None:
    assert violations({"uniqueItems": True}, [{"n": n} for n in range(50_000)]) == {}

    schema = {"type": "array", "maxItems": 10, "items": {"type": "object", "required": ["a"]}}

    (fault,) = violations(schema, [{}] * 20_000).values()

    assert "10" in fault

    schema = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    value = list(range(MOST // 5))

    assert violations(schema, value) == {}
    assert violations(schema, [*value, "x"]) != {}
