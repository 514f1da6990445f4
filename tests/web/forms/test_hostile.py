"""Schemas and values that somebody made to be a nuisance: usable, safe, explained."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sayso.model.digest import canonical
from sayso.web.forms.drawing import answer_field, form_of, rows_of
from sayso.web.forms.editing import edit
from sayso.web.forms.reading import read_answer, read_form
from tests.hostile import ALL, FAKED
from tests.web.forms.browser import Page, drawn, every
from tests.web.forms.schemas import ODD

FIELD = {"type": "string"}


def doubling(keyword: str) -> dict[str, Any]:
    """Twenty definitions, each of which refers to the next one twice: a million in the end."""
    parts: dict[str, Any] = {"d20": FIELD}
    for n in range(20):
        twice = {"$ref": f"#/$defs/d{n + 1}"}
        inner: Any = [twice, twice]
        parts[f"d{n}"] = {
            "type": "object",
            "properties": {"a": twice, "b": twice},
            "required": ["a", "b"],
        }
        if keyword != "properties":
            parts[f"d{n}"] = {keyword: inner}
    return {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": parts}


SCHEMAS: dict[str, Any] = {
    "nothing": {},
    "true": True,
    "false": False,
    "not a schema": 5,
    "doubling": doubling("properties"),
    "doubling anyOf": doubling("anyOf"),
    "doubling allOf": doubling("allOf"),
    "itself": {"$ref": "#"},
    "itself in parts": {"allOf": [{"$ref": "#"}]},
    "itself in variants": {
        "type": "object",
        "properties": {"x": {"anyOf": [{"$ref": "#/properties/x"}, FIELD]}},
    },
    "itself needed": {"type": "object", "properties": {"x": {"$ref": "#"}}, "required": ["x"]},
    "many fields": {"type": "object", "properties": {f"f{n}": FIELD for n in range(600)}},
    "many needed": {
        "type": "object",
        "properties": {"x": FIELD},
        "required": [f"f{n}" for n in range(600)],
    },
    "many variants": {
        "type": "object",
        "properties": {"x": {"anyOf": [{"const": n} for n in range(600)]}},
    },
    "many values": {"type": "object", "properties": {"x": {"enum": list(range(600))}}},
    "broken": {"type": 5, "properties": [], "required": "x", "enum": {}, "minimum": "no"},
    "broken inside": {
        "type": "object",
        "properties": {
            "x": {"type": ["string", 5], "required": [[]], "title": 5, "maxLength": "x"}
        },
    },
    "broken limits": {"type": "object", "properties": {"x": {"type": "string", "maxLength": "x"}}},
    "broken union": {"type": "object", "properties": {"x": {"anyOf": [5, {"type": "null"}]}}},
    "no types": {"type": "object", "properties": {"x": {"type": []}}},
    "no variants": {"type": "object", "properties": {"x": {"anyOf": []}}},
    "odd pattern": {
        "type": "object",
        "properties": {"x": {"type": "string", "pattern": "^(a+)+$"}},
    },
}
VALUES: list[dict[str, Any]] = [{}, {"x": "text"}, {"x": {"a": None}}]


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("args", VALUES, ids=str)
def test_whatever_the_schema_nothing_is_lost(name: str, args: dict[str, Any]) -> None:
    schema = SCHEMAS[name]
    form = form_of(schema, args)
    page = Page(drawn(form))
    read = read_form(schema, args, page.sent())
    assert canonical(read.value) == canonical(args)
    assert canonical(json.loads(form.json_text)) == canonical(args)
    answer = answer_field(schema)
    read_answer(schema, Page(drawn(answer)).sent())
    rows_of(schema, args)
    assert len(list(every(form.fields))) <= 400


HUGE: dict[str, dict[str, Any]] = {
    "a long text": {"x": "word " * 200_000},
    "a long text that hides": {"x": "\u202eé" * 400_000},
    "a long list": {"x": list(range(150_000))},
    "a long table": {"x": [{"a": "b" * 20, "c": [1, 2]} for _ in range(20_000)]},
    "many keys": {"x": {f"key {n}": n for n in range(50_000)}},
    "many arguments": {f"key {n}": n for n in range(50_000)},
}


@pytest.mark.parametrize("name", HUGE)
def test_a_mebibyte_is_drawn_and_read(name: str) -> None:
    schema = {"type": "object", "properties": {"x": {}, "y": FIELD}}
    args = {**HUGE[name], "y": "small"}
    assert len(canonical(args)) > 700_000
    form = form_of(schema, args)
    html = drawn(form)
    sent = Page(html).sent()
    read = read_form(schema, args, sent)
    again = form_of(schema, args, posted=sent)
    assert canonical(read.value) == canonical(args)
    assert again.edits == 0


TEXTS = [
    ALL,
    FAKED,
    '"><img src=x onerror=alert(1)><script>alert(1)</script>',
    "</textarea></select></fieldset></form><h1>Approved</h1>",
    "' onfocus='alert(1)' autofocus='",
    "{{ 7 * 7 }}{% raw %}",
    "&quot;&lt;&#39;",
    "e" + "\u0301" * 50,
    "x" * 10_000,
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_hostile_words_are_text_wherever_they_stand(text: str) -> None:
    schema = {
        "type": "object",
        "title": text,
        "properties": {
            text: {"type": "string", "title": text, "description": text},
            "one": {"enum": [text, "b"], "default": text, "description": text},
            "some": {"type": "array", "items": {"enum": [text, "b"]}},
            "pay": {"anyOf": [{"title": text, "const": text}, {"type": "null"}]},
            "strange": {text: 1},
            "limit": {"type": "string", "pattern": f"^{text}$", "format": text},
        },
    }
    args = {text: text, "one": text, "some": [text], "pay": text, "strange": text, "limit": text}
    form = form_of(schema, args, errors={"/one": text})
    page = Page(drawn(form))  # asserts that tags are balanced and attributes come once
    assert {e.tag for e in page.elements} <= {
        *("div", "label", "input", "textarea", "select", "option", "fieldset", "legend", "button"),
        *("p", "span", "bdi", "ol", "li"),
    }
    for element in page.elements:
        assert not [name for name in element.attrs if name.startswith("on") or name == "style"]
    assert canonical(read_form(schema, args, page.sent()).value) == canonical(args)


def test_odd_names_are_pointers() -> None:
    schema = {"type": "object", "properties": {name: FIELD for name in ODD if name != "\n"}}
    args = dict.fromkeys(schema["properties"], "x")
    page = Page(drawn(form_of(schema, args)))
    sent = page.sent()
    assert {"/a~1b", "/m~0n", '/qu"ote', "/", "/🙂", "/~01", "/set:~1x"} <= sent.keys()
    read = read_form(schema, args, sent | {"/~01": ["changed"]})
    assert read.value == {**args, "~1": "changed"}


@pytest.mark.parametrize(
    "posted",
    [
        {f"/stray/{n}": ["x"] for n in range(10_000)},
        {f"from:/x/{n}": [""] for n in range(4_500)},
        {f"from:/x{'/0' * n}": [""] for n in range(1, 1_000)},
        {"/x" + "/a" * 100_000: ["x"]},
        {"from:/x/0": ["9" * 10_000], "set:/x": ["1"]},
        {"extra:/": ["1"], "extra:": ["1"], "extra:/x/\0": ["1"], "set:": [], "": ["x"]},
        {"tab": ["json"], "json": []},
        {"tab": ["json"], "json": ["{}", "{}"]},
        {"#": ["{}"], "json:#": ["1"]},
        {"variant:/x": ["-1"]},
        {"/y": ["half a \ud800"], "new:/x": ["\udfff"]},
    ],
    ids=[
        "many",
        "rows",
        "deep rows",
        "deep",
        "origin",
        "odd",
        "no json",
        "two jsons",
        "whole",
        "variant",
        "half",
    ],
)
def test_whatever_is_sent_is_refused_or_passed_over(posted: dict[str, list[str]]) -> None:
    wide = {"type": "object", "properties": {f"f{n}": FIELD for n in range(250)}}
    properties = {"x": {"type": "array", "items": wide}, "y": FIELD}
    schema = {"type": "object", "properties": properties, "required": ["y"]}
    args = {"x": [{"f1": "v"}], "y": "w"}
    read = read_form(schema, args, posted)
    form = form_of(schema, args, posted=posted, errors=read.errors)
    Page(drawn(form))
    edit(schema, posted, "add:/x")
    assert read.errors or read.value["y"] in {"w", "half a ?"}


def test_the_whole_is_one_json_text_if_there_are_too_many_arguments() -> None:
    args = {f"a{n}": n for n in range(301)}
    form = form_of({"type": "object"}, {**args, "token": "s3cr3t"}, hidden=["token"])
    (field,) = form.fields
    assert (field.pointer, field.control) == ("#", "json")
    assert "s3cr3t" not in drawn(form)
    sent = {**Page(drawn(form)).sent(), "#": [canonical({**args, "a7": 8})]}
    read = read_form({"type": "object"}, {**args, "token": "s3cr3t"}, sent, hidden=["token"])
    assert read.value == {**args, "a7": 8, "token": "s3cr3t"}


def test_more_choices_than_a_form_can_hold_are_typed_as_json() -> None:
    long = {"enum": [f"value {n}" for n in range(20_000)]}
    schema = {"type": "object", "properties": {"x": long, "y": {"enum": ["a", "b"]}}}
    form = form_of(schema, {"x": "value 7", "y": "a"})

    assert [field.control for field in form.fields] == ["json", "select"]
    assert "more choices" in str(form.fields[0].note)
    assert len(drawn(form)) < 10_000
    assert (
        read_form(schema, {"x": "value 7", "y": "a"}, {"/x": ['"value 8"']}).value["x"] == "value 8"
    )
    assert read_form(schema, {"x": "value 7", "y": "a"}, {"/x": ['"value"']}).errors


def test_the_choices_of_all_fields_together_are_bounded() -> None:
    zones = {"enum": [f"Region/Town {n}" for n in range(600)]}
    names = [f"f{n}" for n in range(200)]
    schema = {
        "type": "object",
        "properties": {name: {"$ref": "#/$defs/zone"} for name in names},
        "$defs": {"zone": zones},
    }
    form = form_of(schema, dict.fromkeys(names, "Region/Town 5"))

    assert form.fields[0].control == "select"
    assert sum(len(field.choices) for field in form.fields) < 3_000
    assert len(drawn(form)) < 600_000


def test_a_pattern_of_an_agent_is_not_run_by_the_browser() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}}

    assert "(a+)+" not in drawn(form_of(schema, {"x": "aaa"}))


@pytest.mark.parametrize("place", ["9" * 5_000, "\u0661", "-1", ""])
def test_a_reference_to_no_place_is_edited_as_json(place: str) -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": f"#/allOf/{place}"}},
        "allOf": [{}, {"title": "second"}],
    }
    (field,) = form_of(schema, {"x": 1}).fields

    assert field.control == "json"
    assert "not there" in str(field.note)
