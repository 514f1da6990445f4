"""Which control a schema becomes, and what stands in it."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel
from pydantic import Field as Given

from sayso.web.forms.drawing import answer_field, form_of, rows_of
from sayso.web.forms.editing import edit
from sayso.web.forms.fields import Field
from sayso.web.forms.reading import Reading, read_answer, read_form
from tests.web.forms.browser import Page, drawn, every

# A graph that asks by a text may want to hear an object: both are typed into one box.
TEXT_OR_JSON = {"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "array"}]}


def only(schema: dict[str, Any], value: Any) -> Field:
    form = form_of({"type": "object", "properties": {"x": schema}, "required": ["x"]}, {"x": value})
    (field,) = form.fields
    return field


@pytest.mark.parametrize(
    ("schema", "value", "control", "text"),
    [
        ({"type": "string"}, "5", "text", "5"),
        ({"type": "string"}, "two\nlines", "textarea", "two\nlines"),
        ({"type": "string"}, "long " * 20, "textarea", "long " * 20),
        ({"type": "string", "maxLength": 201}, "", "textarea", ""),
        ({"type": "number"}, 1240.0, "number", "1240.0"),
        ({"type": "integer"}, 10**30, "integer", "1" + "0" * 30),
        ({"type": "boolean"}, True, "switch", "true"),
        ({"enum": ["eur", "usd"]}, "usd", "select", "usd"),
        ({"enum": [5, "5"]}, "5", "select", '"5"'),
        ({"const": "card"}, "card", "const", "card"),
        ({"type": "null"}, None, "null", "null"),
        ({"type": "string", "format": "date"}, "2026-01-31", "date", "2026-01-31"),
        ({"type": "string", "format": "time"}, "09:00", "time", "09:00"),
        ({"type": "string", "format": "date-time"}, "2026-01-31T09:00:00Z", "datetime", None),
        ({"type": "string", "format": "email"}, "a@b.c", "email", "a@b.c"),
        ({"type": "string", "format": "uri"}, "https://a.b", "url", "https://a.b"),
        ({"type": "object"}, {"a": 1}, "object", '{"a":1}'),
        ({"type": "array", "items": {"type": "string"}}, ["a"], "array", '["a"]'),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, ["b"], "checks", "b"),
        ({"type": ["string", "null"]}, None, "union", "null"),
        ({}, "text", "text", "text"),
        (True, 5, "number", "5"),
    ],
)
def test_every_kind_of_schema_has_its_control(
    schema: Any, value: Any, control: str, text: str | None
) -> None:
    field = only(schema, value)
    assert field.control == control
    assert text is None or field.text == text
    assert not field.changed


@pytest.mark.parametrize(
    ("schema", "value", "why"),
    [
        ({"type": "string", "sparkles": 1}, "a", "'sparkles'"),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, ["a"], "rules of its own"),
        ({"type": "object", "patternProperties": {"^a": {}}}, {"a": 1}, "pattern"),
        ({"$ref": "#/$defs/loop"}, 1, "without end"),
        ({"$ref": "#/$defs/nowhere"}, 1, "not there"),
        ({"$ref": "https://example.com/s.json"}, 1, "refers to"),
        ({"type": "number"}, "5", "does not fit"),
        ({"enum": [1, 2]}, 3, "does not fit"),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "5", "none of the forms"),
        ({"allOf": [{"pattern": "^a"}, {"pattern": "b$"}]}, "ab", "two rules for 'pattern'"),
        ({"allOf": [{"type": "string"}, {"type": "number"}]}, "ab", "two types at once"),
        ({"type": "string"}, "safe\u202etxt", "cannot be seen"),
        ({"type": "string"}, "a\rb", "cannot be seen"),
        ({"type": "object"}, {"a\nb": 1}, "line end"),
        ({"type": "array"}, list(range(400)), "more than 300 fields"),
        ({"type": "object"}, {str(n): n for n in range(400)}, "more than 300 fields"),
        ({"type": "object", "properties": 5}, {}, "broken at 'properties'"),
        (False, 1, "nothing is allowed"),
        ({}, None, "does not say what it is"),
    ],
)
def test_what_no_control_fits_is_json_and_says_why(schema: Any, value: Any, why: str) -> None:
    root = {
        "type": "object",
        "properties": {"x": schema, "y": {"type": "string"}},
        "$defs": {"loop": {"$ref": "#/$defs/pool"}, "pool": {"$ref": "#/$defs/loop"}},
    }
    args = {"x": value, "y": "beside"}
    form = form_of(root, args)
    first, second = form.fields
    assert (first.control, second.control) == ("json", "text")
    assert why in (first.note or "")
    assert "\u202e" not in first.text
    read = read_form(root, args, Page(drawn(form)).sent())
    assert read.value == args


def test_a_tree_is_drawn_as_deep_as_it_is_useful() -> None:
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}},
        "required": ["name"],
    }
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}},
        "$defs": {"node": node},
    }
    tree: dict[str, Any] = {"name": "leaf"}
    for depth in range(20):
        tree = {"name": str(depth), "next": tree}
    form = form_of(schema, {"tree": tree})
    deepest = [field for field in every(form.fields) if field.control == "json"]
    assert [field.note for field in deepest] == [
        "Shown as JSON, because it is nested more than 8 levels deep."
    ]
    sent = Page(drawn(form)).sent()
    assert read_form(schema, {"tree": tree}, sent).value == {"tree": tree}


class Card(BaseModel):
    kind: Literal["card"]
    number: str


class Iban(BaseModel):
    kind: Literal["iban"]
    iban: str
    bic: str | None = None


class Item(BaseModel):
    name: str
    amount: Annotated[float, Given(ge=0, le=100)]
    count: int = 1


class Order(BaseModel):
    to: str = Given(title="Receiver", description="Who gets it")
    total: Decimal
    due: date
    pay: Card | Iban = Given(discriminator="kind")
    items: list[Item]
    note: str | None = None
    rush: bool = False


ORDER = Order.model_json_schema()
ARGS: dict[str, Any] = {
    "to": "Ada",
    "total": "1240.00",
    "due": "2026-01-31",
    "pay": {"kind": "iban", "iban": "DE1"},
    "items": [{"name": "a", "amount": 5, "count": 2}, {"name": "b", "amount": 5.0}],
    "note": None,
}


def test_a_pydantic_model_is_drawn_as_it_was_meant() -> None:
    form = form_of(ORDER, ARGS)
    fields = {field.pointer: field for field in every(form.fields)}
    assert (fields["/to"].label, fields["/to"].title) == ("to", "Receiver")
    assert (fields["/total"].label, fields["/total"].title) == ("total", None)
    assert fields["/to"].help == "Who gets it"
    assert fields["/to"].required
    assert fields["/total"].text == "1240.00"
    limits = fields["/items/0/amount"].attrs
    assert (limits["min"], limits["max"], limits["inputmode"]) == ("0", "100", "decimal")
    assert limits["type"] == "text"  # a half-typed number is sent, and refused with a word
    assert [row.label for row in fields["/items"].children] == ["items 1", "items 2"]
    assert fields["/items/0/amount"].text == "5"
    assert fields["/items/1/amount"].text == "5.0"
    pay = next(field for field in form.fields if field.pointer == "/pay")
    assert (pay.control, [choice.label for choice in pay.choices]) == ("union", ["Card", "Iban"])
    assert fields["/rush"].control == "select"
    assert [choice.label for choice in fields["/rush"].choices] == ["Not set", "Yes", "No"]
    assert not fields["/items/1/count"].present
    assert "default is 1" in (fields["/items/1/count"].note or "")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "ada"),
        ({"type": "boolean"}, True),
        ({"enum": ["ada", "ben"]}, "ada"),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, {"a": "b"}),
        ({"type": "array", "items": {"type": "string"}}, ["ada"]),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "ada"),
    ],
)
def test_a_declaration_cannot_rename_an_argument(schema: Any, value: Any) -> None:
    """Whoever declares a tool chooses the titles; what is sent has the name of the argument."""
    declared = {
        "type": "object",
        "properties": {"pay_to": {**schema, "title": "Reply-to address"}},
        "required": ["pay_to"],
    }
    page = drawn(form_of(declared, {"pay_to": value}))
    labels = re.findall(r'class="field-label"[^>]*>(?:<bdi>)?([^<]*)', page)
    assert labels[0] == "pay_to"
    assert not [label for label in labels if "Reply-to" in label]
    (said,) = re.findall(r'<p class="field-help" id="(title-[^"]*)">Its declaration calls it', page)
    assert said in re.findall(r'aria-describedby="([^" ]*)', page)


def test_only_what_was_edited_is_marked_and_counted() -> None:
    sent = Page(drawn(form_of(ORDER, ARGS))).sent()
    sent |= {"/to": ["Grace"], "/items/1/amount": ["7"]}
    form = form_of(ORDER, ARGS, posted=sent)
    assert form.edits == 2
    changed = {field.pointer for field in every(form.fields) if field.changed}
    assert changed == {"/to", "/items", "/items/1", "/items/1/amount"}
    assert {f.was for f in every(form.fields) if f.pointer == "/items/1/amount"} == {"5.0"}


def test_what_changed_is_marked_with_what_it_was() -> None:
    sent = Page(drawn(form_of(ORDER, ARGS))).sent() | {"/to": ["Grace"]}
    page = Page(drawn(form_of(ORDER, ARGS, posted=sent)))
    field = next(e for e in page.elements if e.attrs.get("data-pointer") == "/to")
    inside = {e.attrs.get("class"): e for e in field.inside}

    assert "changed" in field.attrs["class"].split()
    assert (field.attrs["data-was"], inside["was"].text) == ("Ada", "was Ada")
    assert inside["revert"].attrs["value"] == "revert:/to"


def test_empty_absent_and_null_are_three_things() -> None:
    schema = {
        "type": "object",
        "properties": {
            "in": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"]}},
            }
        },
    }
    for inner in ({}, {"a": ""}, {"b": None}, {"b": ""}, {"a": "", "b": None}):
        args = {"in": inner}
        sent = Page(drawn(form_of(schema, args))).sent()
        assert read_form(schema, args, sent).value == args

    sent = Page(drawn(form_of(schema, {"in": {"a": "x", "b": "y"}}))).sent()
    assert read_form(schema, {"in": {"a": "x", "b": "y"}}, sent | {"/in/a": [""]}).value == {
        "in": {"a": "", "b": "y"}
    }
    for chosen, inner in (("", {"a": "x"}), ("1", {"a": "x", "b": None})):
        read = read_form(schema, {"in": {"a": "x", "b": "y"}}, sent | {"variant:/in/b": [chosen]})
        assert read.value == {"in": inner}


def test_a_text_typed_where_null_was_counts() -> None:
    sent = Page(drawn(form_of(ORDER, ARGS))).sent() | {"/note": ["hello"]}
    assert read_form(ORDER, ARGS, sent).value["note"] == "hello"


def test_an_unticked_switch_is_a_no() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "boolean"}}}
    sent = Page(drawn(form_of(schema, {"x": True}))).sent()
    assert sent == {"set:/x": ["1"], "/x": ["true"]}
    assert read_form(schema, {"x": True}, {"set:/x": ["1"]}).value == {"x": False}
    assert read_form(schema, {"x": True}, {}).value == {"x": True}


def test_the_time_that_a_picker_shortens_is_the_same_time() -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": "time"}}}
    assert read_form(schema, {"at": "09:00:00"}, {"/at": ["09:00"]}).value == {"at": "09:00:00"}
    assert read_form(schema, {"at": "09:00:00"}, {"/at": ["09:01"]}).value == {"at": "09:01"}


def test_what_is_hidden_is_said_and_never_shown() -> None:
    schema = {
        "type": "object",
        "properties": {"token": {"type": "string"}, "n": {"type": "integer"}},
    }
    args = {"token": "s3cr3t-value", "n": 1}
    form = form_of(schema, args, hidden=["token"])
    html = drawn(form)
    assert "s3cr3t" not in repr(form) + html
    assert "It is hidden, and stays as it is." in html
    sent = Page(html).sent()
    assert not [name for name in sent if "token" in name]
    for forged in (
        {"/token": ["mine"]},
        {"json:/token": ["1"], "/token": ['"mine"']},
        {"unset:/token": ["1"]},
    ):
        assert read_form(schema, args, sent | forged, hidden=["token"]).value == args
    typed = {"tab": ["json"], "json": ['{"n": 1, "token": "mine"}']}
    read = read_form(schema, args, typed, hidden=["token"])
    assert read.errors == {"/token": "is hidden and cannot be edited"}
    assert "s3cr3t" not in repr(form_of(schema, args, hidden=["token"], posted=typed))


def test_what_is_read_only_stays() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string", "readOnly": True}}}
    form = form_of(schema, {"id": "a1"})
    page = Page(drawn(form))
    assert page.sent() == {}
    assert read_form(schema, {"id": "a1"}, {"/id": ["b2"]}).value == {"id": "a1"}


@pytest.mark.parametrize(
    "without", [{"unset:/b": ["1"]}, {"tab": ["json"], "json": ['{"a": "x"}']}], ids=str
)
def test_an_argument_may_be_left_out_if_the_schema_does_not_ask_for_it(without: dict) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    args = {"a": "x", "b": "y"}
    assert [field.optional for field in form_of(schema, args).fields] == [True, True]
    assert read_form(schema, args, without) == Reading({"a": "x"})
    assert form_of(schema, args, posted=without).edits == 1

    needed = {**schema, "required": ["a", "b"]}
    assert not any(field.optional for field in form_of(needed, args).fields)
    kept = read_form(needed, args, without)
    assert kept.value == args or list(kept.errors) in (["/b"], [""])


def test_an_argument_that_was_left_out_can_be_taken_back() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": [1, 2]}}}
    args = {"a": 5, "b": 2}
    sent = Page(drawn(form_of(schema, args))).sent()
    assert read_form(schema, args, sent) == Reading(args)
    left_out = edit(schema, sent, "unset:/a")
    assert read_form(schema, args, left_out).value == {"b": 2}
    again = Page(drawn(form_of(schema, args, posted=left_out))).sent()
    assert read_form(schema, args, again).value == {"b": 2}
    assert read_form(schema, args, edit(schema, again, "revert:/a")).value == args
    assert read_form(schema, args, {**sent, "/b": [""]}).value == {"a": 5}


# --- what is wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "pointer", "words"),
    [
        ({"/items/0/amount": ["many"]}, "/items/0/amount", 'must be a number, not the text "many"'),
        ({"/items/0/amount": [""]}, "/items/0/amount", "must be a number, and is empty"),
        ({"/items/0/amount": ["1e999"]}, "/items/0/amount", "too large"),
        ({"/items/0/amount": ["0x10"]}, "/items/0/amount", "must be a number"),
        ({"/items/0/amount": ["101"]}, "/items/0/amount", "must be 100 or less"),
        (
            {"/items/0/count": ["1.5"]},
            "/items/0/count",
            "must be a whole number, not the number 1.5",
        ),
        ({"/items/0/name": ["a", "b"]}, "/items/0/name", "was sent more than once"),
        ({"/due": ["2026-02-31"]}, "/due", "must be a valid date"),
        ({"variant:/pay": ["0"]}, "/pay", "look at its fields"),
        ({"/rush": ["perhaps"]}, "/rush", "must be one of true, false"),
        ({"tab": ["json"], "json": ["{"]}, "", "is not JSON"),
        ({"tab": ["json"], "json": ['{"a":1,"a":2}']}, "", "it has 'a' twice"),
        ({"tab": ["json"], "json": ["[" * 10**5]}, "", "nested too deeply"),
        ({"tab": ["json"], "json": ['{"to": NaN}']}, "", "NaN is no number"),
        ({"tab": ["json"], "json": ["[]"]}, "", "must be an object"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(sent: dict, pointer: str, words: str) -> None:
    whole = Page(drawn(form_of(ORDER, ARGS))).sent() | sent
    read = read_form(ORDER, ARGS, whole)
    assert words in read.errors[pointer]
    form = form_of(ORDER, ARGS, posted=whole, errors=read.errors)
    if pointer and "variant:/pay" not in sent:
        assert words in next(f.error or "" for f in every(form.fields) if f.pointer == pointer)


def test_what_cannot_be_read_is_still_there_to_be_mended() -> None:
    sent = Page(drawn(form_of(ORDER, ARGS))).sent() | {"/items/0/amount": ["many"]}
    form = form_of(ORDER, ARGS, posted=sent)
    page = Page(drawn(form))
    assert page.named("/items/0/amount").attrs["value"] == "many"
    assert page.sent() == sent


def test_a_wrong_number_does_not_become_a_text_because_one_is_allowed() -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"anyOf": [{"type": "number"}, {"type": "string"}]}},
    }
    read = read_form(schema, {"x": 5}, {"variant:/x": ["0"], "/x": ["five"]})
    assert list(read.errors) == ["/x"]


# --- rows and answers --------------------------------------------------------------------------


def test_the_one_list_of_objects_can_be_decided_row_by_row() -> None:
    rows = rows_of(ORDER, ARGS)
    assert rows is not None
    assert [row.pointer for row in rows.children] == ["/items/0", "/items/1"]
    assert rows_of(ORDER, {**ARGS, "more": [{}]}) is None
    assert rows_of(ORDER, {**ARGS, "items": []}) is None


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        ({"type": "string"}, {"=": ["a\r\nb"]}, "a\nb"),
        ({"type": "string"}, {"=": ["007"]}, "007"),
        ({"type": "number"}, {"=": ["5.0"]}, 5.0),
        ({"type": "number"}, {"=": ["2.5"]}, 2.5),
        ({"type": "integer"}, {"=": ["5"]}, 5),
        ({"type": "boolean"}, {"=": ["false"]}, False),
        ({"type": "boolean"}, {"=": ["true"]}, True),
        ({"type": "string", "format": "date"}, {"=": ["2026-01-31"]}, "2026-01-31"),
        ({"enum": ["a", "b"]}, {"=": ["b"]}, "b"),
        ({"type": "array", "items": {"enum": [1, 2, 3]}}, {"=": ["3", "1"]}, [1, 3]),
        (
            {"type": "array", "items": {"type": "string"}},
            {"set:=": ["1"], "from:=/0": [""], "=/0": ["x"]},
            ["x"],
        ),
        (
            Item.model_json_schema(),
            {"=/name": ["x"], "=/amount": ["1"], "=/count": ["2"]},
            {"name": "x", "amount": 1, "count": 2},
        ),
        ({}, {"=": ["5"]}, 5),
        ({}, {"=": ["five"]}, "five"),
        (TEXT_OR_JSON, {"=": ["five"]}, "five"),
        (TEXT_OR_JSON, {"=": ["5"]}, "5"),
        (TEXT_OR_JSON, {"=": ['{"type": "accept"}']}, {"type": "accept"}),
        (TEXT_OR_JSON, {"=": ["[5]"]}, [5]),
        (TEXT_OR_JSON, {"=": ["{broken"]}, "{broken"),
    ],
)
def test_an_answer_has_the_type_that_was_asked_for(schema: Any, typed: dict, value: Any) -> None:
    sent = Page(drawn(answer_field(schema))).sent()
    read = read_answer(schema, sent | typed)
    assert (read.value, read.errors) == (value, {})
    assert type(read.value) is type(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "boolean"},
        {"enum": ["a", "b"]},
        {"type": "number"},
        {"type": "string"},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {},
        TEXT_OR_JSON,
    ],
)
def test_nothing_is_answered_until_somebody_answers(schema: Any) -> None:
    sent = Page(drawn(answer_field(schema))).sent()
    assert list(read_answer(schema, sent).errors) == ["="]


def test_of_an_answer_only_what_has_no_star_may_stay_empty() -> None:
    texts = {"name": {"type": "string"}, "more": {"type": "string"}}
    schema = {"type": "object", "properties": texts, "required": ["name"]}
    sent = Page(drawn(answer_field(schema))).sent()

    assert read_answer(schema, sent | {"=/name": [" "]}).errors == {"=/name": "is empty"}
    assert read_answer(schema, sent | {"=/name": ["Ada"]}).errors == {}
    chosen = {"enum": ["", "a"]}
    assert read_answer(chosen, {"=": ['""']}) == Reading(""), "an empty text that was picked"


def test_what_is_wrong_inside_a_json_text_is_said_at_the_text() -> None:
    schema = {"type": "object", "properties": {"x": {}, "y": {"type": "string"}}}
    wrong = {"/x/0/n": "is too large", "/x/1": "is empty"}

    drawing = drawn(form_of(schema, {"x": None, "y": "a"}, errors=wrong))

    assert "/0/n is too large; /1 is empty" in drawing
