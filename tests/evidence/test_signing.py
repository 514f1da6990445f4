"""The faults of the list of evidence that concern what a person is shown, one test each.

As in `test_evidence.py`: each test is the story of a fault measured elsewhere, told of an ask as a
page draws it. The finer points are in `tests/channels/test_facts.py`, `tests/web/test_text.py` and
`tests/web/test_prose.py`.
"""

from __future__ import annotations

import base64
import random

import pytest

from sayso import Desk
from sayso.channels.card import Card
from sayso.channels.facts import facts_of
from sayso.errors import Forbidden, InvalidEdit
from sayso.model.actor import Roster
from sayso.web.look.prose import prose
from tests import hostile
from tests.asks.test_law import Office, office
from tests.channels.test_card import drawn as printed
from tests.test_gate import in_thread, opened
from tests.web.drawing import drawn

__all__ = ["office"]  # the fixture


def test_e27_arguments_are_text_on_a_page(desk: Desk) -> None:
    """approvekit: tool arguments went into innerHTML."""
    attack = "<img src=x onerror=\"fetch('/inbox/1/decision')\"><svg/onload=alert(1)>"
    ask = desk.open("send", {attack: attack, "list": [attack], "rows": [{attack: attack}]})

    page = drawn("facts", facts_of(ask)) + str(prose(attack))

    assert "<img" not in page
    assert "<svg" not in page
    assert page.count("&lt;img src=x onerror=") >= 5


def test_e28_what_hides_is_labelled_wherever_it_stands(desk: Desk) -> None:
    """tollgate and others: bidi, zero-width and control characters hid what was approved."""
    ask = desk.open("send", {"to": hostile.ALL, hostile.BIDI: [hostile.ALL]}, why=hostile.ALL)

    page = drawn("facts", facts_of(ask)) + str(prose(hostile.ALL))
    card = printed(Card(ask=ask, roster=Roster({}), now=ask.opened_at))

    assert not hostile.raw_in(page)
    assert not hostile.raw_in(card)
    for name, code in (("RIGHT-TO-LEFT OVERRIDE", "202E"), ("ESCAPE", "001B")):
        assert page.count(f'<span class="cp" title="{name}">U+{code}</span>') >= 3
        assert f"[U+{code} {name}]" in card


def test_e29_the_facts_are_of_the_call_and_not_of_what_the_agent_says(office: Office) -> None:
    """All of them: the summary said one thing, the call did another."""
    desk = office('[tools]\nrun_sql = "medium"')
    lie = "Reads last week's numbers. It changes nothing."
    ask = desk.open("run_sql", {"query": "SELECT 1; DROP TABLE staging.events_2023"}, why=lie)
    payload = base64.b64encode(random.Random(1).randbytes(900)).decode()
    hidden = desk.open("run_sql", {"query": payload}, why=lie)

    page = drawn("facts", facts_of(ask))

    assert lie not in page
    assert '<li class="loud"><bdi>DROP TABLE staging.events_2023</bdi></li>' in page
    assert "2 statements." in page
    assert "900 bytes that cannot be read" in drawn("facts", facts_of(hidden))
    with pytest.raises(Forbidden):  # a level riskier than what can be read
        desk.approve(hidden, by="jun")
    desk.approve(ask, by="jun")


def test_e30_what_is_hidden_is_said_to_be_hidden_and_cannot_be_edited(desk: Desk) -> None:
    """approvekit: fields were redacted from the reviewer, then executed."""

    @desk.gate(secret=["card"])
    def pay(card: str, amount: int) -> str:
        return f"{card[-4:]}:{amount}"

    paying = in_thread(lambda: pay("4111111111111111", 5))
    ask = opened(desk)

    page = drawn("facts", facts_of(ask))
    assert "4111" not in page
    assert '<div class="fact fact-hidden">\n<dt><bdi>card</bdi></dt>' in page
    assert "The program that asks puts a value in. The desk does not have it" in page
    with pytest.raises(InvalidEdit, match="hidden"):
        desk.edit(ask, {"card": "0", "amount": 5})
    desk.approve(ask)
    assert paying.result(10) == "1111:5"
