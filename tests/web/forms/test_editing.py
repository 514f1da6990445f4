"""Editing without a script: each button does one thing, and nothing that was typed is lost."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.web.forms.drawing import answer_field, form_of
from sayso.web.forms.editing import edit
from sayso.web.forms.reading import read_answer, read_form
from tests.web.forms.browser import EDIT, Page, drawn, every

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "n": {"type": "integer"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "at": {"type": "string", "format": "time"},
                },
                "required": ["name"],
            },
        },
        "pay": {
            "oneOf": [
                {
                    "type": "object",
                    "title": "Card",
                    "properties": {"number": {"type": "string"}},
                    "required": ["number"],
                },
                {
                    "type": "object",
                    "title": "Iban",
                    "properties": {"iban": {"type": "string"}},
                    "required": ["iban"],
                },
            ]
        },
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "more": {
            "type": "object",
            "properties": {"deep": {"type": "string"}, "on": {"type": "boolean"}},
        },
    },
    "required": ["title", "items", "pay", "headers"],
}
A, B, C = {"name": "a", "n": 1, "tags": ["x", "y"]}, {"name": "b", "at": "09:00:00"}, {"name": "c"}
ARGS: dict[str, Any] = {
    "title": "t",
    "items": [A, B, C],
    "pay": {"number": "4711"},
    "headers": {"x/y": "1"},
}


class Desk:
    """A person before the form, whose browser has no scripts."""

    def __init__(self, args: dict[str, Any] = ARGS) -> None:
        self.args = args
        self.page = Page(drawn(form_of(SCHEMA, args)))
        self.typed: dict[str, list[str]] = {}

    def press(self, do: str) -> Desk:
        button = next(e for e in self.page.elements if e.tag == "button" and e.attrs["value"] == do)
        assert button.attrs["formaction"] == EDIT
        posted = edit(SCHEMA, self.sent() | {"do": [do]}, do)
        self.form = form_of(SCHEMA, self.args, posted=posted)
        self.page, self.typed = Page(drawn(self.form)), {}
        return self

    def type(self, name: str, text: str) -> Desk:
        self.page.named(name)
        self.typed[name] = [text]
        return self

    def sent(self) -> dict[str, list[str]]:
        return self.page.sent() | self.typed

    def read(self) -> Any:
        read = read_form(SCHEMA, self.args, self.sent())
        return read.value if not read.errors else read.errors

    def items(self) -> Any:
        return self.read()["items"]


def test_rows_move_with_everything_that_was_typed_in_them() -> None:
    desk = Desk().type("/items/0/name", "typed").type("/title", "other").press("down:/items/0")
    assert desk.read() == {**ARGS, "title": "other", "items": [B, {**A, "name": "typed"}, C]}
    assert desk.form.edits == 3  # the order, the name and the title
    assert desk.press("up:/items/1").items() == [{**A, "name": "typed"}, B, C]
    assert desk.form.edits == 2


def test_rows_inside_rows_move_on_their_own() -> None:
    assert Desk().press("up:/items/0/tags/1").items() == [{**A, "tags": ["y", "x"]}, B, C]


def test_a_row_is_dropped_and_the_others_close_up() -> None:
    desk = Desk().type("/items/2/name", "typed").press("drop:/items/1")
    assert desk.items() == [A, {"name": "typed"}]
    assert desk.press("drop:/items/0").press("drop:/items/0").items() == []
    assert desk.form.edits == 3


def test_a_new_row_has_to_be_filled_in() -> None:
    desk = Desk().press("add:/items")
    assert desk.items() == [A, B, C, {"name": ""}]
    desk.type("/items/3/name", "d").type("/items/3/n", "4")
    assert desk.items() == [A, B, C, {"name": "d", "n": 4}]
    assert desk.press("up:/items/3").items() == [A, B, {"name": "d", "n": 4}, C]


def test_another_variant_shows_its_own_fields_and_the_first_one_comes_back() -> None:
    desk = Desk().type("/title", "other").type("variant:/pay", "1").press("variant:/pay")
    desk.type("/pay/iban", "DE1")
    assert desk.read() == {**ARGS, "title": "other", "pay": {"iban": "DE1"}}
    desk.type("variant:/pay", "0").press("variant:/pay")
    assert desk.read() == {**ARGS, "title": "other"}


def test_a_value_is_set_and_left_out() -> None:
    desk = Desk().press("set:/items/2/tags").press("add:/items/2/tags")
    desk.type("/items/2/tags/0", "new")
    assert desk.items() == [A, B, {**C, "tags": ["new"]}]
    assert desk.press("unset:/items/0/n").items()[0] == {"name": "a", "tags": ["x", "y"]}
    assert desk.press("revert:/items/0/n").items()[0] == A
    assert desk.press("set:/more").type("/more/deep", "d").read()["more"] == {"deep": "d"}
    assert desk.press("set:/more/on").read()["more"] == {"deep": "d", "on": False}


def test_a_key_is_added_under_its_name() -> None:
    desk = Desk().type("new:/headers", "a~/b").press("add:/headers")
    desk.type("/headers/a~0~1b", "v")
    assert desk.read()["headers"] == {"x/y": "1", "a~/b": "v"}
    desk.type("new:/headers", "x/y").press("add:/headers")
    assert desk.read()["headers"] == {"x/y": "1", "a~/b": "v"}
    assert desk.press("unset:/headers/a~0~1b").read()["headers"] == {"x/y": "1"}
    assert desk.press("unset:/headers/x~1y").read()["headers"] == {}


def test_a_field_is_put_back_as_it_was_proposed() -> None:
    desk = Desk().type("/items/1/name", "typed").type("/title", "other").press("add:/items")
    assert desk.press("revert:/items/1/name").read()["items"][1] == B
    assert desk.press("revert:/items").read() == {**ARGS, "title": "other"}


@pytest.mark.parametrize(
    "do",
    [
        "",
        "add",
        "add:",
        "add:/nowhere",
        "add:/title",
        "drop:/items/9",
        "drop:/items/-1",
        "up:/items/0",
        "down:/items/2",
        "drop:/items/²",
        "drop:/items/01",
        "up:items",
        "fly:/items",
        "variant:/pay",
        "revert:/nowhere",
        "drop:/title",
        "add:/headers",
        "set:/nowhere/deep",
    ],
)
def test_what_leads_nowhere_changes_nothing(do: str) -> None:
    sent = Page(drawn(form_of(SCHEMA, ARGS))).sent()
    assert read_form(SCHEMA, ARGS, edit(SCHEMA, sent, do)).value == ARGS


def test_the_rows_of_an_answer_are_edited_the_same_way() -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    posted = Page(drawn(answer_field(schema))).sent()
    for _ in range(2):
        field = answer_field(schema, posted=edit(schema, posted, "add:="))
        posted = Page(drawn(field)).sent()
    posted |= {"=/0": ["1"], "=/1": ["2"]}
    assert read_answer(schema, edit(schema, posted, "up:=/1")).value == [2, 1]


def test_every_button_of_a_form_is_understood() -> None:
    desk = Desk().type("/title", "other").press("add:/items")
    buttons = [e.attrs["value"] for e in desk.page.elements if e.tag == "button"]
    verbs = {value.partition(":")[0] for value in buttons}
    assert verbs == {"preview", "add", "drop", "up", "down", "set", "unset", "variant", "revert"}
    assert buttons[0] == "preview"  # what Enter in a field presses
    assert len(set(buttons)) == len(buttons)
    assert {f.pointer for f in every(desk.form.fields)} >= {
        v.partition(":")[2] for v in buttons if ":" in v
    }
