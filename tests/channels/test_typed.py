"""What people type becomes a value of the type that is asked for (E38)."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

import pytest

from sayso import Desk
from sayso.channels.typed import in_words, read_answer, read_changes
from sayso.errors import BadValue
from sayso.model.schema import schema_of

ARGS = {
    "amount": 40,
    "price": 1.5,
    "to": "x",
    "code": "007",
    "urgent": False,
    "tags": ["a"],
    "who": {"name": "x"},
    "anything": None,
}


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("amount=30", {"amount": 30}),
        ("amount = 30", {"amount": 30}),
        ("amount=abc", {"amount": "abc"}),  # handed on; the schema says what is wrong
        ("price=2", {"price": 2}),
        ("to=40", {"to": "40"}),
        ("to=true", {"to": "true"}),
        ("to=null", {"to": "null"}),
        ('to="a b"', {"to": "a b"}),
        ("to=a=b", {"to": "a=b"}),
        ("to=", {"to": ""}),
        ("code=008", {"code": "008"}),
        ("urgent=yes", {"urgent": True}),
        ("urgent=true", {"urgent": True}),
        ("urgent=no", {"urgent": False}),
        ('tags=["b", "c"]', {"tags": ["b", "c"]}),
        ('who={"name": "y"}', {"who": {"name": "y"}}),
        ("anything=7", {"anything": 7}),
        ("anything=seven", {"anything": "seven"}),
        ("unknown=7", {"unknown": 7}),  # handed on; the schema knows no such field
    ],
)
def test_a_typed_change_keeps_the_type_of_the_argument(
    desk: Desk, line: str, read: dict[str, Any]
) -> None:
    ask = desk.open("send", ARGS)

    found = read_changes([line], ask)

    assert found == read
    assert [type(v) for v in found.values()] == [type(v) for v in read.values()]


def test_the_schema_of_a_function_says_more_than_the_value_at_hand(desk: Desk) -> None:
    schema = {
        "type": "object",
        "properties": {
            "n": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "d": {"$ref": "#/$defs/D"},
        },
        "$defs": {"D": {"enum": ["low", "high", 3]}},
    }
    ask = desk.open("f", {"n": 1, "d": "low"}, schema=schema)

    assert read_changes(["n=2", "d=3"], ask) == {"n": 2, "d": 3}
    assert read_changes(["n=two", "d=high"], ask) == {"n": "two", "d": "high"}


@pytest.mark.parametrize("line", ["amount", "=40", ""])
def test_a_line_that_changes_nothing_is_refused_with_the_form(desk: Desk, line: str) -> None:
    with pytest.raises(BadValue, match="name=value"):
        read_changes([line], desk.open("send", ARGS))


@pytest.mark.parametrize(
    ("text", "type_", "answer"),
    [
        ("yes", bool, True),
        ("No", bool, False),
        ("true", bool, True),
        ("3", int, 3),
        ("3.5", float, 3.5),
        ("3", str, "3"),
        ("yes", str, "yes"),
        ('"quoted"', str, '"quoted"'),
        ("", str, ""),
        ("b", Literal["a", "b"], "b"),
        ("2", Literal[1, 2], 2),
        ("[1, 2]", list[int], [1, 2]),
        ("null", int | None, None),
        ("2026-01-31", date, "2026-01-31"),
        ("three", int, "three"),
        ("[1, ", list[int], "[1, "),
    ],
)
def test_an_answer_is_read_as_the_question_wants_it(text: str, type_: Any, answer: object) -> None:
    read = read_answer(text, schema_of(type_))

    assert read == answer
    assert type(read) is type(answer)


def test_without_a_type_an_answer_is_json_or_text() -> None:
    assert read_answer("40", {}) == 40
    assert read_answer("forty", None) == "forty"
    assert read_answer("NaN", {}) == "NaN"


@pytest.mark.parametrize(
    ("type_", "words"),
    [
        (int, "a whole number"),
        (str, "text"),
        (bool, "yes or no"),
        (float, "a number"),
        (list[int], "a list, as JSON"),
        (Literal["a", "b"], 'one of "a", "b"'),
        (int | None, "a whole number or null"),
        (date, "a date, such as 2026-01-31"),
        (object, "anything: JSON, or text"),
    ],
)
def test_the_type_of_an_answer_is_said_in_words(type_: Any, words: str) -> None:
    assert in_words(schema_of(type_)) == words


def test_bounds_fields_and_references_are_said_too() -> None:
    assert in_words({"type": "integer", "minimum": 1, "maximum": 5}) == "a whole number from 1 to 5"
    assert in_words({"type": "number", "minimum": 0}) == "a number, 0 or more"
    assert in_words({"type": "number", "maximum": 9}) == "a number, 9 or less"
    fields = {"type": "object", "properties": {"a": {}, "b": {}}}
    assert in_words(fields) == "an object, as JSON, with a, b"
    assert in_words({"$ref": "#/$defs/P", "$defs": {"P": fields}}) == in_words(fields)
    assert (
        in_words({"$ref": "#/$defs/P", "$defs": {"P": {"$ref": "#/$defs/P"}}})
        == "an object, as JSON"
    )
