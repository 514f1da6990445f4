"""What a desk knows of a tool: read from functions, joined to the stricter, held against calls."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from sayso.errors import BadValue
from sayso.model.declaration import (
    COMPUTED,
    Declaration,
    changes,
    differing,
    fit,
    joined,
    schema_of_args,
    sketched,
    widened,
)
from sayso.model.digest import canonical, read
from sayso.model.tool import Tool


class Item(BaseModel):
    sku: str
    cents: int


def refund(order: int, amount: float, note: str = "") -> str:
    return f"{order} {amount} {note}"


def order(items: list[Item], more: dict[str, int], maybe: Item | None = None) -> str:
    return f"{items} {more} {maybe}"


def anything(amount: int, **rest: Any) -> str:
    return f"{amount} {rest}"


def declared(source: str = "shop.py:refund", **said: Any) -> Declaration:
    args = said.pop("args", {"order": "integer", "amount": "number"})
    shape = canonical(schema_of_args(args))
    return Declaration(name="refund", sources=(source,), shapes=(shape,), **said)


def test_a_function_declares_its_arguments_and_what_its_gate_says() -> None:
    tool = Tool.of(refund, risk=lambda **_: "low", secret=["note"], matters="amount")
    found = Declaration.of(tool, asks=True)

    assert found.arguments == ("order", "amount", "note")
    assert found.risk == COMPUTED
    assert (found.secret, found.matters, found.asks) == (("note",), ("amount",), True)
    assert found.source.endswith("test_declaration.py:refund")
    assert Declaration.from_json(found.to_json(), found.source) == found
    assert found.digest == Declaration.from_json(found.to_json(), "elsewhere").digest


@pytest.mark.parametrize(
    ("risks", "gravest"),
    [
        (("low", "high"), "high"),
        ((None, "low"), "low"),
        ((None, None), None),
        ((COMPUTED, COMPUTED), COMPUTED),
        ((COMPUTED, "low"), "critical"),
        (("medium", None, "critical"), "critical"),
    ],
)
def test_of_several_risks_the_graver_counts(
    risks: tuple[str | None, ...], gravest: str | None
) -> None:
    found = joined(declared(f"{n}.py:refund", risk=risk) for n, risk in enumerate(risks))

    assert found is not None
    assert found.risk == gravest


def test_of_several_declarations_the_stricter_counts_and_all_are_named() -> None:
    one = declared("a.py:refund", reversible=True, secret=("card",), matters=("amount",))
    other = declared("b.py:refund", args={"order": "integer"}, reversible=False, affects="staff")

    found = joined([one, other])

    assert found is not None
    assert found.sources == ("a.py:refund", "b.py:refund")
    assert (found.reversible, found.affects, found.secret) == (False, "staff", ("card",))
    assert found.arguments == ("order",), "an argument is known if each of them knows it"
    assert fit(found, {"order": 1, "amount": 2}).strays == ("amount",)
    assert differing([one, other]) == [
        "its arguments",
        "whether it can be undone",
        "whom it affects",
        "what is secret",
    ]
    assert joined([one]) is one
    assert joined([]) is None


def test_a_value_must_fit_every_schema() -> None:
    wide = declared("a.py:refund", args={"amount": {"type": "number", "maximum": 5000}})
    narrow = declared("b.py:refund", args={"amount": {"type": "number", "maximum": 20}})
    both = joined([wide, narrow])

    assert both is not None
    assert not fit(both, {"amount": 20}).wrong
    assert fit(both, {"amount": 21}).told == "amount: must be 20 or less"
    assert fit(both, {}).wrong == {"amount": "is missing"}


def test_a_stray_is_what_no_declaration_names() -> None:
    found = Declaration.of(Tool.of(anything))

    assert fit(found, {"amount": 1, "cents": 2}).strays == ("cents",)

    found = Declaration(name="refund", sources=("policy",))

    assert fit(found, {"order": 1}).strays == ("order",)
    assert fit(found, {}).strays == ()

    node: dict[str, Any] = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
    }
    schema = {"type": "object", "properties": {"node": {"$ref": "#/$defs/node"}}}
    shape = canonical({**schema, "$defs": {"node": node}})
    found = Declaration(name="walk", sources=("policy",), shapes=(shape,))

    assert fit(found, {"node": {"next": {"next": {"over": 1}}}}).strays == ("node.next.next.over",)


@pytest.mark.parametrize(
    ("args", "strays"),
    [
        ({"items": [{"sku": "a", "cents": 1}], "more": {"x": 1}}, ()),
        ({"items": [{"sku": "a", "cents": 1, "usd": 9}], "more": {}}, ("items[0].usd",)),
        ({"items": [], "more": {}, "maybe": {"sku": "a", "cents": 1, "x": {}}}, ("maybe.x",)),
        ({"items": [], "more": {}, "maybe": None}, ()),
        ({"items": [], "more": {}, "a b": 1}, ('["a b"]',)),
    ],
)
def test_a_field_inside_an_argument_is_known_or_not(
    args: dict[str, Any], strays: tuple[str, ...]
) -> None:
    assert fit(Declaration.of(Tool.of(order)), args).strays == strays


def test_people_may_let_an_argument_in_that_nobody_declared_and_edit_it() -> None:
    shape = declared().shapes[0]

    wide = read(widened(shape, {"order": 1, "amount": 2, "cents": 3}))

    assert wide["properties"]["cents"] == {"type": "number"}
    assert widened(shape, {"order": 1}) == shape


def test_what_a_declaration_changed_is_said_in_words() -> None:
    before = declared(risk="low")
    after = declared(
        args={"order": "string", "cents": "integer"},
        risk="high",
        reversible=False,
        secret=("order",),
    )

    assert changes(before, after) == [
        "argument cents added",
        "argument amount removed",
        "argument order changed",
        "risk: low → high",
        "can be undone: not said → no",
        "order is secret",
    ]


@pytest.mark.parametrize("args", [{"order": 5}, {"order": {"type": "integer", "optional": "yes"}}])
def test_an_argument_is_listed_with_its_type_or_its_schema(args: dict[str, Any]) -> None:
    with pytest.raises(BadValue, match=r"is a type|true or false"):
        schema_of_args(args)


def test_a_declaration_is_written_from_the_calls_that_were_seen() -> None:
    seen: list[dict[str, object]] = [
        {"order": 1, "amount": 2, "note": None},
        {"order": 2, "amount": 2.5, "note": "x", "a b": {"c": []}},
    ]

    assert sketched("refund", seen) == (
        '# 1 of 2 calls had "a b": leave it out if it does not belong there.\n'
        "[tools.refund]\n"
        'args = { order = "integer", amount = "number", note = { type = ["null", "string"] }, '
        '"a b" = { type = "object", optional = true } }\n'
    )
    assert sketched("refund", [{}]) == ""
