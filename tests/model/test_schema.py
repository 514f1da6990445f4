from __future__ import annotations

import functools
import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, computed_field
from typing_extensions import TypedDict

from sayso.errors import BadValue, InvalidAnswer
from sayso.model.conversion import decode, encode
from sayso.model.digest import MAX_DEPTH, canonical
from sayso.model.faults import violations
from sayso.model.schema import check_schema, inferred_schema, schema_of
from sayso.model.signature import parameter_types, return_type, signature_schema

if TYPE_CHECKING:
    from somewhere import Unknown  # type: ignore[import-not-found]


class Colour(StrEnum):
    RED = "red"


class Line(BaseModel):
    sku: str
    amount: int = Field(gt=0)


class Order(BaseModel):
    number: str = Field(alias="orderNumber")
    lines: list[Line]
    due: date | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total(self) -> int:
        return sum(line.amount for line in self.lines)


class Frozen(BaseModel, frozen=True):
    name: str


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


@dataclass
class Point:
    x: int
    y: float = 0.0


class Address(TypedDict):
    city: str


class Opaque:
    pass


# --- Schemas of types -------------------------------------------------------------------------


def test_a_type_has_the_schema_pydantic_gives_it() -> None:
    assert schema_of(Annotated[int, Field(gt=0)]) == {"type": "integer", "exclusiveMinimum": 0}
    assert schema_of(Line)["required"] == ["sku", "amount"]
    assert schema_of(Any) == schema_of(object) == {}

    assert [form["type"] for form in schema_of(int | str)["anyOf"]] == ["integer", "string"]
    assert [form["type"] for form in schema_of(str | int)["anyOf"]] == ["string", "integer"]

    assert schema_of(Annotated[int, ["a note"]]) == {"type": "integer"}

    class Model(BaseModel):
        x: Any = object()

    assert "default" not in schema_of(Model)["properties"]["x"]


@pytest.mark.parametrize("type_", [Opaque, type(lambda: None), list[Opaque], "Nowhere", 3])
def test_a_type_without_a_form_in_json_is_refused_with_advice(type_: Any) -> None:
    with pytest.raises(BadValue, match="Pydantic model"):
        schema_of(type_)


# --- Schemas of signatures --------------------------------------------------------------------


def refund(
    order: str,
    amount: Annotated[int, Field(gt=0, description="in euros")],
    note: str = "",
    *,
    by=None,
) -> None: ...


def test_a_signature_becomes_an_object_of_its_parameters() -> None:
    assert signature_schema(refund) == {
        "type": "object",
        "properties": {
            "order": {"type": "string"},
            "amount": {"type": "integer", "exclusiveMinimum": 0, "description": "in euros"},
            "note": {"type": "string", "default": ""},
            "by": {"default": None},
        },
        "required": ["order", "amount"],
        "additionalProperties": False,
    }


def test_models_in_a_signature_share_their_definitions() -> None:
    def ship(order: Order, lines: list[Line]) -> None: ...

    schema = signature_schema(ship)
    check_schema(schema)
    assert set(schema["$defs"]) == {"Order", "Line"}
    fine = {"order": {"orderNumber": "1", "lines": []}, "lines": [{"sku": "a", "amount": 1}]}
    assert violations(schema, fine) == {}
    fine["lines"][0]["amount"] = 0  # type: ignore[index]
    assert violations(schema, fine) == {"lines[0].amount": "must be more than 0"}


def test_two_models_of_one_name_are_kept_apart() -> None:
    def other() -> type[BaseModel]:
        class Line(BaseModel):
            text: str

        return Line

    def ship(a: Line, b: Any) -> None: ...

    ship.__annotations__["b"] = other()
    schema = signature_schema(ship)
    assert violations(schema, {"a": {"sku": "x", "amount": 1}, "b": {"text": "y"}}) == {}


def test_defaults_are_shown_as_json() -> None:
    def plan(
        when: datetime = datetime(2026, 1, 1, tzinfo=UTC),
        tags: list[str] = (),  # type: ignore[assignment]
        at: Point = Point(1),  # noqa: B008 - a default like any other
        handle: object = Opaque(),
    ) -> None: ...

    schema = signature_schema(plan)
    defaults = {
        name: part.get("default", "left out") for name, part in schema["properties"].items()
    }
    assert defaults == {
        "when": "2026-01-01T00:00:00Z",
        "tags": [],
        "at": {"x": 1, "y": 0.0},
        "handle": "left out",
    }
    assert schema["required"] == []


def test_parameters_are_those_of_the_signature() -> None:
    def say(note: str = None, extra=None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013

    assert violations(signature_schema(say), {"note": None, "extra": [1]}) == {}
    assert parameter_types(say) == {"note": str | None, "extra": Any}

    def close(self: Opaque, day: date) -> None: ...

    assert list(signature_schema(close, skip=["self"])["properties"]) == ["day"]

    def log(text: str, **more: Any) -> None: ...

    assert violations(signature_schema(log), {"text": "a", "level": 3}) == {}
    assert parameter_types(log) == {"text": str}

    def count() -> int: ...  # type: ignore[empty-body]

    assert return_type(count) is int
    assert return_type(lambda: 1) is Any


class Shop:
    def close(self, day: date) -> None: ...

    def __call__(self, day: date) -> None: ...


def wrapped(fn: Any) -> Any:
    @functools.wraps(fn)
    def around(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return around


async def close_later(day: date) -> None: ...


@pytest.mark.parametrize(
    "fn",
    [
        Shop().close,
        Shop(),
        wrapped(Shop().close),
        functools.partial(Shop.close, Shop()),
        close_later,
    ],
    ids=["method", "callable object", "wrapped", "partial", "async"],
)
def test_every_kind_of_callable_shows_its_parameters(fn: Any) -> None:
    assert parameter_types(fn) == {"day": date}
    assert signature_schema(fn)["properties"] == {"day": {"type": "string", "format": "date"}}


def positional(a: int, /, b: int) -> None: ...


def starred(*a: int) -> None: ...


@pytest.mark.parametrize("fn", [positional, starred])
def test_arguments_without_a_name_are_refused_with_advice(fn: Any) -> None:
    with pytest.raises(BadValue, match="by name") as refused:
        signature_schema(fn)
    assert refused.value.path == "a"


def test_a_signature_without_a_form_in_json_is_refused_with_advice() -> None:
    def send(to: str, connection: Opaque) -> None: ...

    with pytest.raises(BadValue, match="Opaque") as refused:
        signature_schema(send)
    assert refused.value.path == "connection"

    def unknown(to: Unknown) -> None: ...

    with pytest.raises(BadValue, match=r"'Unknown'.*TYPE_CHECKING"):
        signature_schema(unknown)

    with pytest.raises(BadValue, match="named parameters"):
        signature_schema(iter)


# --- Schemas inferred from data ---------------------------------------------------------------

ARGS: dict[str, Any] = {
    "order": "1182",
    "amount": 40,
    "urgent": True,
    "lines": [1],
    "to": {"city": "Ulm", "zip": None},
}


@pytest.mark.parametrize(
    ("edit", "wrong"),
    [
        ({"amount": 39.5}, {}),
        ({"lines": ["other", 2], "to": {"city": "Bonn", "zip": "53111"}}, {}),
        ({"amount": "40"}, {"amount": 'must be a number, not the text "40"'}),
        ({"amount": True}, {"amount": "must be a number, not true"}),
        ({"urgent": 1}, {"urgent": "must be true or false, not the number 1"}),
        ({"order": None}, {"order": "must be text, not nothing"}),
        ({"to": {"city": "Ulm"}}, {"to.zip": "is missing"}),
        (
            {"to": {"city": "Ulm", "zip": 1, "x": 1}},
            {"to.x": "is not a field here; the fields are: city, zip"},
        ),
        ({"lines": {}}, {"lines": "must be a list, not an object"}),
    ],
)
def test_an_inferred_schema_keeps_fields_and_types(
    edit: dict[str, Any], wrong: dict[str, str]
) -> None:
    assert violations(inferred_schema(ARGS), ARGS | edit) == wrong


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_values, max_size=4))
def test_arguments_always_fit_the_schema_inferred_from_them(args: dict[str, Any]) -> None:
    schema = inferred_schema(args)
    check_schema(schema)
    assert violations(schema, args) == {}


def test_the_deepest_arguments_allowed_have_a_schema_that_can_be_stored() -> None:
    args: dict[str, Any] = {}
    for _ in range(MAX_DEPTH - 1):
        args = {"a": args}
    schema = inferred_schema(args)
    assert canonical(schema, limit=100_000)
    assert violations(schema, args) == {}


# --- Schemas given as data --------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string", "format": "date"},
        {"$defs": {"a": {"type": "integer"}}, "properties": {"x": {"$ref": "#/$defs/a"}}},
        {"$id": "https://example.com/s", "$ref": "#/$defs/a", "$defs": {"a": {}}},
        {"properties": {"$ref": {"type": "string"}}},
    ],
)
def test_a_sound_schema_is_accepted(schema: dict[str, Any]) -> None:
    check_schema(schema)


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "nope"}, "type"),
        ({"properties": {"a": {"minimum": "x"}}}, "properties.a.minimum"),
        ({"pattern": "("}, "pattern"),
        ({"$ref": "https://example.com/schema.json"}, ""),
        ({"items": {"$ref": "other.json#/a"}}, ""),
        ({"$ref": "#/$defs/missing"}, ""),
        ("string", ""),
        ([], ""),
        ({"const": float("nan")}, "const"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: Any, path: str) -> None:
    with pytest.raises(BadValue) as refused:
        check_schema(schema)
    assert refused.value.path == path


def test_a_reference_is_never_followed_elsewhere_nor_without_end() -> None:
    with pytest.raises(BadValue, match="does not hold"):
        violations({"$ref": "http://127.0.0.1:9/schema.json"}, 1)

    with pytest.raises(BadValue, match="without end"):
        violations({"$ref": "#"}, 1)


# --- What is wrong, in words ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "value", "wrong"),
    [
        ({"type": "integer"}, 1.0, {}),
        ({"type": "integer"}, "40", {"": 'must be a whole number, not the text "40"'}),
        ({"type": "integer"}, True, {"": "must be a whole number, not true"}),
        ({"type": ["integer", "null"]}, "x", {"": 'must be a whole number or nothing, not the text "x"'}),
        ({"enum": ["a", "b", 3]}, "c", {"": 'must be one of "a","b",3'}),
        ({"const": "a"}, "c", {"": 'must be "a"'}),
        ({"minimum": 5}, 4, {"": "must be 5 or more"}),
        ({"maximum": 5}, 6, {"": "must be 5 or less"}),
        ({"exclusiveMinimum": 5}, 5, {"": "must be more than 5"}),
        ({"exclusiveMaximum": 5}, 5, {"": "must be less than 5"}),
        ({"multipleOf": 5}, 4, {"": "must be a multiple of 5"}),
        ({"minLength": 2}, "a", {"": "must have at least 2 characters"}),
        ({"maxLength": 2}, "abc", {"": "must have at most 2 characters"}),
        ({"pattern": "^a"}, "b", {"": "must match the pattern ^a"}),
        ({"minLength": 2, "pattern": "^a"}, "b", {"": "must have at least 2 characters and must match the pattern ^a"}),
        ({"minItems": 1}, [], {"": "must have at least 1 items"}),
        ({"maxItems": 1}, [1, 2], {"": "must have at most 1 items"}),
        ({"uniqueItems": True}, [1, 1], {"": "must not hold the same item twice"}),
        ({"minProperties": 1}, {}, {"": "must have at least 1 fields"}),
        ({"not": {"type": "string"}}, "a", {"": "is not allowed here"}),
        ({"properties": {"a": False}}, {"a": 1}, {"": "holds something that is not allowed"}),
        ({"required": ["a", "b"]}, {}, {"a": "is missing", "b": "is missing"}),
        ({"additionalProperties": False}, {"a": 1}, {"a": "is not a field here; the fields are: none"}),
        ({"additionalProperties": False, "patternProperties": {"^x": {}}}, {"x1": 1, "y": 1}, {"y": "is not a field here; the fields are: none"}),
        ({"items": {"properties": {"a": {"type": "number"}}}}, [{"a": 1}, {"a": []}], {"[1].a": "must be a number, not a list"}),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, {"": "'b' is a dependency of 'a'"}),
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, 3, {"": "fits more than one of the forms allowed here"}),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, "c", {"": 'must be "a" or must be "b"'}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", {"": 'must be a whole number or nothing, not the text "x"'}),
        ({"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]}, 2, {"": "must be 3 or more"}),
        ({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "null"}]}, {}, {"a": "is missing"}),
        ({"multipleOf": 0.5}, 10**400, {"": "holds a number too large to be checked"}),
        ({"type": "array"}, (1, 2), {}),
    ],
)  # fmt: skip
def test_each_fault_is_said_in_a_short_sentence(
    schema: dict[str, Any], value: Any, wrong: dict[str, str]
) -> None:
    check_schema(schema)
    assert violations(schema, value) == wrong


@pytest.mark.parametrize(
    ("format_", "good", "bad"),
    [
        ("date", "2026-02-28", "2026-02-30"),
        ("date-time", "2026-02-28T10:00:00Z", "2026-02-28T25:00:00Z"),
        ("date-time", "2026-02-28T10:00:00.5+01:00", "2026-02-28"),
        ("date-time", "2026-02-28 10:00", "tomorrow"),
        ("time", "10:00:00", "25:00:00"),
        ("duration", "P1DT2H", "one day"),
        ("duration", "PT0.5S", "P"),
        ("email", "anna@example.com", "anna"),
        ("ipv4", "10.0.0.1", "10.0.0.256"),
        ("ipv6", "::1", ":::1"),
        ("uuid", "12345678-1234-5678-1234-567812345678", "12345678"),
        ("regex", "^a+$", "("),
    ],
)
def test_formats_are_checked(format_: str, good: str, bad: str) -> None:
    schema = {"format": format_}
    assert violations(schema, good) == {}
    assert violations(schema, 5) == {}
    assert violations(schema, bad) == {"": f"must be a valid {format_}"}


def test_a_sentence_is_short_and_shows_what_hides() -> None:
    (sentence,) = violations({"type": "integer"}, "x" * 1_000_000).values()
    assert len(sentence) < 120
    (sentence,) = violations({"type": "integer"}, {"x" * 1_000_000: 1}).values()
    assert len(sentence) < 120
    ((path, sentence),) = violations({"additionalProperties": False}, {"x" * 1_000_000: 1}).items()
    assert len(path) + len(sentence) < 200

    (sentence,) = violations({"type": "integer"}, "4\u202e0").values()
    assert "[U+202E RIGHT-TO-LEFT OVERRIDE]" in sentence

    assert len(violations({"items": {"type": "integer"}}, ["x"] * 1000)) == 50


def test_a_value_that_is_not_json_is_no_matter_of_schema() -> None:
    with pytest.raises(BadValue) as refused:
        violations({}, {"a": float("nan")})
    assert refused.value.path == "a"


# --- Between Python and JSON ------------------------------------------------------------------

BOTH_WAYS: list[tuple[Any, Any, Any]] = [
    (int, 40, 40),
    (float, 40, 40.0),
    (str, "40", "40"),
    (bool, True, True),
    (None, None, None),
    (int | None, None, None),
    (Colour, Colour.RED, "red"),
    (Literal["a", "b"], "a", "a"),
    (datetime, datetime(2026, 1, 1, 12, tzinfo=UTC), "2026-01-01T12:00:00Z"),
    (date, date(2026, 1, 1), "2026-01-01"),
    (timedelta, timedelta(days=1, hours=2), "P1DT2H"),
    (Decimal, Decimal("1.50"), "1.50"),
    (UUID, UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (bytes, b"abc", "abc"),
    (tuple[int, ...], (1, 2), [1, 2]),
    (set[str], {"b", "a", "c"}, ["a", "b", "c"]),
    (dict[str, frozenset[int]], {"x": frozenset({10, 9})}, {"x": [10, 9]}),
    (dict[int, str], {1: "a"}, {"1": "a"}),
    (dict[date, int], {date(2026, 1, 1): 1}, {"2026-01-01": 1}),
    (list[Line], [Line(sku="a", amount=1)], [{"sku": "a", "amount": 1}]),
    (
        Order,
        Order(orderNumber="7", lines=[Line(sku="a", amount=1)], due=date(2026, 1, 1)),
        {"orderNumber": "7", "lines": [{"sku": "a", "amount": 1}], "due": "2026-01-01"},
    ),
    (Point, Point(1, 2.5), {"x": 1, "y": 2.5}),
    (Address, {"city": "Ulm"}, {"city": "Ulm"}),
    (Any, {"a": [1, None]}, {"a": [1, None]}),
]


@pytest.mark.parametrize(("type_", "value", "written"), BOTH_WAYS)
def test_what_is_encoded_fits_the_schema_and_decodes_to_the_same(
    type_: Any, value: Any, written: Any
) -> None:
    assert encode(type_, value) == written
    assert violations(schema_of(type_), written) == {}
    back = decode(type_, written)
    assert back == value
    assert isinstance(back, type(value)) or type_ is float


def test_a_set_is_written_in_the_same_order_by_every_process() -> None:
    program = (
        "from sayso.model.conversion import encode; from pydantic import BaseModel\n"
        "class M(BaseModel): tags: set[str]; more: dict[str, list[frozenset[str]]]\n"
        "words = 'the quick brown fox jumps over a lazy dog'.split()\n"
        "print(encode(M, M(tags=words, more={'x': [words]})))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in range(3)
    }
    assert len(outputs) == 1


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (set[Frozen], {Frozen(name="a")}),
        (frozenset[frozenset[str]], frozenset({frozenset({"a"})})),
    ],
)
def test_a_set_that_cannot_be_put_in_order_is_refused(type_: Any, value: Any) -> None:
    with pytest.raises(BadValue, match="no lasting order"):
        encode(type_, value)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (int, "40"),
        (dict[str, int], {"a": "40"}),
        (Line, {"sku": "a"}),
        (bytes, b"\xff"),
        (float, float("nan")),
        (Any, {1, 2}),
        (Any, datetime(2026, 1, 1, tzinfo=UTC)),
        (dict[str, Any], {"a": Opaque()}),
        (Opaque, Opaque()),
    ],
)
def test_a_value_that_does_not_fit_its_type_is_not_encoded(type_: Any, value: Any) -> None:
    with pytest.raises(BadValue, match=r"does not fit|cannot be stored|form in JSON"):
        encode(type_, value)


@pytest.mark.parametrize(
    ("type_", "value", "fields"),
    [
        (int, "40", {"": "should be a valid integer"}),
        (int, True, {"": "should be a valid integer"}),
        (int, 1.5, {"": "should be a valid integer"}),
        (bool, 1, {"": "should be a valid boolean"}),
        (str, 40, {"": "should be a valid string"}),
        (date, "tomorrow", None),
        (datetime, 1700000000, None),
        (int | None, "x", {"": "should be a valid integer"}),
        (int | str, [], {"": "should be a valid integer or should be a valid string"}),
        (Line, {"sku": "a"}, {"amount": "Field required"}),
        (Line, {"sku": "a", "amount": 0}, {"amount": "should be greater than 0"}),
        (list[Line | int], [1, {"sku": 1, "amount": 1}], None),
        (
            Order,
            {"orderNumber": "1", "lines": [{"sku": "a", "amount": 1}, {"sku": "b", "amount": "2"}]},
            {"lines[1].amount": "should be a valid integer"},
        ),
    ],
)
def test_an_answer_of_the_wrong_type_names_its_fields(type_: Any, value: Any, fields: Any) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        decode(type_, value)
    assert refused.value.fields
    if fields is not None:
        assert refused.value.fields == fields


def test_a_whole_number_written_with_a_point_is_an_integer_here_as_in_the_schema() -> None:
    assert violations(schema_of(Line), {"sku": "a", "amount": 40.0}) == {}
    line = decode(Line, {"sku": "a", "amount": 40.0})
    assert type(line.amount) is int
    assert type(decode(float, 40.0)) is float


def test_the_deepest_answer_allowed_can_be_checked_and_decoded() -> None:
    tree: dict[str, Any] = {"name": "leaf"}
    for _ in range(MAX_DEPTH // 2 - 1):
        tree = {"name": "branch", "children": [tree]}
    assert violations(schema_of(Tree), tree) == {}
    assert encode(Tree, decode(Tree, tree))


def test_an_untyped_answer_is_a_copy_of_plain_data() -> None:
    value = {"a": [1]}
    back = decode(Any, value)
    assert back == value
    assert back is not value


shaped = st.recursive(
    json_values | st.integers(-2, 2) | st.sampled_from(["a", "1", "2026-01-01", 1.0]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["sku", "amount", "x", "y", "1"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(shaped)
@pytest.mark.parametrize(
    "type_",
    [
        int,
        str,
        float,
        bool,
        Line,
        list[Line],
        Point,
        dict[str, int],
        int | str,
        date,
        tuple[int, str],
    ],
)
def test_what_fits_the_schema_fits_the_type_and_the_other_way_round(type_: Any, value: Any) -> None:
    if violations(schema_of(type_), value):
        with pytest.raises(InvalidAnswer) as refused:
            decode(type_, value)
        assert refused.value.fields
    else:
        decode(type_, value)


def test_importing_the_module_imports_neither_pydantic_nor_jsonschema() -> None:
    program = "import sys, sayso.model.schema; sys.exit(bool({'pydantic', 'jsonschema'} & set(sys.modules)))"
    subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": os.pathsep.join(sys.path)}, check=True
    )
