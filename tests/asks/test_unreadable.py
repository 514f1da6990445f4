"""A call with something in it that nobody can read is asked one level higher (B1), on real asks."""

from __future__ import annotations

import base64
import random

import pytest

from sayso import Desk
from sayso.errors import AskChanged, Forbidden
from sayso.policy.rules import UNREADABLE
from tests.asks.test_law import Office, approved, office
from tests.test_gate import in_thread, opened

__all__ = ["office"]  # the fixture

BLOB = base64.b64encode(random.Random(8).randbytes(2048)).decode()
TOOLS = '[tools]\nsend = "medium"\nlook = "low"\n'


def test_an_edit_that_puts_in_what_nobody_can_read_needs_more_people(office: Office) -> None:
    desk = office(TOOLS)
    ask = desk.open("send", {"text": "Hello"})

    edited = desk.edit(ask, {"text": BLOB}, by="jun")

    assert edited.open, "whoever may approve a greeting has not approved bytes"
    assert UNREADABLE in edited.content.sentence
    with pytest.raises(AskChanged):
        desk.approve(edited, by="anna", seen=ask.digest)
    approved(desk, edited, "anna")


def test_an_ask_from_before_is_raised_when_it_is_decided(office: Office) -> None:
    """The policy of then did not mind; that of now looks at the same arguments."""
    lax = office('[[rules]]\nname = "all"\ntools = ["send"]\neffect = "ask"\nneeds = ["1 junior"]')
    ask = lax.open("send", {"text": BLOB})
    assert str(ask.needs) == "1 junior"

    with pytest.raises((AskChanged, Forbidden)):
        office(TOOLS).approve(ask, by="jun")
    assert "senior" in str(lax.get(ask.id).needs)


def test_a_gate_without_a_policy_only_says_so(desk: Desk) -> None:
    @desk.gate
    def send(text: str) -> str:
        return text[:3]

    sending = in_thread(lambda: send(BLOB))
    ask = opened(desk)
    assert ask.content.sentence.endswith(UNREADABLE)
    assert str(ask.needs) == "1 reviewer"
    desk.approve(ask)
    assert sending.result(10) == BLOB[:3]


def test_a_draft_is_no_call(office: Office) -> None:
    desk = office(TOOLS)

    reviewing = in_thread(lambda: desk.draft(BLOB, title="Bytes"))
    ask = opened(desk)
    assert UNREADABLE not in ask.content.sentence
    desk.approve(ask, by="jun")
    assert reviewing.result(10) == BLOB
