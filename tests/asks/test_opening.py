"""Opening an ask freezes what is shown and writes it once."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from sayso import Desk
from sayso.errors import BadValue, KeyConflict, NotApproved, UnknownRole, Unsatisfiable
from sayso.testing import FakeClock
from tests.places import Place
from tests.together import at_once


def test_what_a_carrier_does_to_its_call_changes_nothing(desk: Desk) -> None:
    ask = desk.open("pay", {"amount": 40})
    desk.approve(ask)
    call = desk.begin(ask)

    call.args["amount"] = 999_999
    desk.finish(call, "paid")

    assert desk.get(ask.id).args == {"amount": 40}
    assert desk.verify()


def test_at_a_prompt_an_ask_is_a_line(desk: Desk) -> None:
    ask = desk.open("refund", {"note": "long " * 100}, title="Pay \x1b[31m back?")

    assert repr(ask) == f"<Ask {ask.id} {ask.label!r}, open>"
    assert "\x1b" not in repr(ask)
    assert repr(desk.edit(ask, {"note": "short"})).endswith(", approved with edits>")


# --- the idempotency key ---


def test_the_same_question_asked_later_is_the_same_question(desk: Desk, clock: FakeClock) -> None:
    first = desk.open("refund", {"amount": 1}, key="order-7", within="1h")
    clock.advance("10m")

    again = desk.open("refund", {"amount": 1}, key="order-7", within="1h")

    assert (again.id, again.due_at) == (first.id, first.due_at)


@pytest.mark.parametrize(
    "other",
    [
        {"args": {"amount": 1_000_000}},
        {"tool": "pay"},
        {"risk": "low"},
        {"why": "Because"},
        {"args": {"amount": 1.0}},
    ],
    ids=str,
)
def test_the_same_key_with_other_content_is_a_conflict(
    desk: Desk, place: Place, other: dict[str, Any]
) -> None:
    """E7: amount 1 and then 1,000,000 under one key."""
    first = desk.open("refund", {"amount": 1}, key="order-7")
    asked: dict[str, Any] = {"tool": "refund", "args": {"amount": 1}, **other}

    with pytest.raises(KeyConflict) as refused:
        desk.open(**asked, key="order-7")

    assert refused.value.ask.id == first.id
    assert place.count() == 1


def test_a_key_returns_the_closed_ask_too_and_authorises_nothing(desk: Desk) -> None:
    """E6: an identical later call is not approved by the decision on the first."""
    first = desk.open("refund", {"amount": 1}, key="order-7")
    with pytest.raises(NotApproved):
        desk.begin(desk.open("refund", {"amount": 1}, key="order-7"))
    desk.reject(first, "no")

    again = desk.open("refund", {"amount": 1}, key="order-7")

    assert again.id == first.id
    assert again.decision is not None
    with pytest.raises(NotApproved):
        desk.begin(again)


def test_racing_openers_with_one_key_and_two_contents_meet_a_conflict(desk: Desk) -> None:
    openers = [partial(desk.open, "refund", {"amount": n % 2}, key="k") for n in range(8)]

    outcomes = at_once(openers)

    asks = {ask.id: ask.args for ask in outcomes if not isinstance(ask, KeyConflict)}
    assert len(asks) == 1
    assert sum(isinstance(one, KeyConflict) for one in outcomes) == 4


@pytest.mark.parametrize("key", ["", 5, b"k", ["k"]])
def test_a_key_is_text(desk: Desk, place: Place, key: Any) -> None:
    desk.inbox()
    with pytest.raises(BadValue, match="key"):
        desk.open("refund", key=key)
    assert place.count() == 0


# --- requirements ---


def test_a_requirement_nobody_can_meet_is_refused_at_once(team: Desk, place: Place) -> None:
    """E21: 3 of a group of 2 would block for ever."""
    before = place.count()

    with pytest.raises(Unsatisfiable, match="missing 1 senior"):
        team.open("drop", needs=["3 senior"])
    with pytest.raises(Unsatisfiable, match="each person counts once"):
        team.open("drop", needs=["2 senior", "2 security"])
    with pytest.raises(Unsatisfiable, match="deny"):
        team.open("drop", needs=["1 senior"], deny=3)
    with pytest.raises(UnknownRole) as unknown:
        team.open("drop", needs=["1 wizard"])

    assert unknown.value.known == ("junior", "security", "senior")
    assert place.count() == before
