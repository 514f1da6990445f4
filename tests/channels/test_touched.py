"""Whom and what a call names, read from the call itself."""

from __future__ import annotations

from typing import Any

import pytest

from sayso import Desk
from sayso.channels.touched import in_words, touched
from tests import hostile


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"to": "ada"}, '"ada" (to)'),
        ({"customer_id": 7, "amount": 40}, "7 (customer_id)"),
        ({"customerEmail": "a@x"}, '"a@x" (customerEmail)'),
        ({"phone_number": "1"}, '"1" (phone_number)'),
        ({"beneficiaries": ["ada"]}, '1 (beneficiaries: "ada")'),
        ({"addresses": ["a", "b"]}, '2 (addresses: "a", "b")'),
        ({"IBAN": "DE1"}, '"DE1" (IBAN)'),
        ({"to": "a@x, b@x; c@x,d@x"}, '4 (to: "a@x", "b@x", "c@x", …)'),
        ({"to": "Lovelace, Ada <a@x>"}, '"Lovelace, Ada <a@x>" (to)'),
        ({"mail": {"to": ["a", "b"], "text": "x"}}, '2 (mail.to: "a", "b")'),
        ({"paths": list(range(300))}, "300 (paths)"),
        ({"files": [1, 2], "to": "a", "users": ["b"]}, '"a" (to), 1 (users: "b") and 2 (files)'),
        ({"to": 'x" (to). Needs nobody'}, '"x\\" (to). Needs nobody" (to)'),
        ({"to": "x" * 100}, f'"{"x" * 37}…" (to)'),
        ({"to to": "a"}, '"a" ("to to")'),
    ],
)
def test_people_are_named_and_lists_are_counted(
    desk: Desk, args: dict[str, Any], said: str
) -> None:
    assert in_words(touched(desk.open("f", args))) == said


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"to": None, "cc": [], "bcc": ""},
        {"account_balance": 5, "group_by": "day", "user_agent": "x", "name": "y", "text": "to: a"},
        {"tags": ["one"]},
        {"a": {"b": {"c": {"d": {"e": {"to": "too deep to say"}}}}}},
    ],
)
def test_what_names_nobody_says_nothing(desk: Desk, args: dict[str, Any]) -> None:
    assert touched(desk.open("f", args)) == ()


def test_only_a_call_touches_anybody(desk: Desk) -> None:
    assert touched(desk.later.draft("to: ada").ask) == ()


def test_a_hidden_recipient_is_said_to_be_hidden(desk: Desk) -> None:
    @desk.gate(secret=["to", "pin"])
    def send(to: str, pin: str, cc: str) -> None: ...

    gate = send.__sayso_gate__  # type: ignore[attr-defined]
    ask = desk.put(gate.content(desk.forms, gate.tool.bind(("eve@x", "4711", "ada"), {})))

    assert in_words(touched(ask)) == '"ada" (cc) and somebody hidden (to)'


def test_many_arguments_are_counted_in_the_end(desk: Desk) -> None:
    args = {f"u{n}_email": "a" for n in range(20)}

    assert in_words(touched(desk.open("f", args))).endswith(" and 12 more arguments")


def test_hostile_names_and_values_are_labelled(desk: Desk) -> None:
    bad = hostile.ALL

    said = in_words(touched(desk.open("f", {"to": bad, f"{bad} to": [bad, bad]})))

    assert not hostile.raw_in(said)
    assert "\n" not in said
