"""Taking a question back, and erasing what was said in closed ones."""

from __future__ import annotations

import pytest

from sayso import Ask, Desk
from sayso.errors import AskClosed, NotApproved
from tests.places import Place


def test_a_withdrawn_ask_leaves_the_inbox_and_stays_in_the_journal(desk: Desk) -> None:
    ask = desk.open("refund", {"amount": 1})

    withdrawn = desk.withdraw(ask, "No longer needed")

    assert (withdrawn.status, withdrawn.decision) == ("withdrawn", None)
    assert desk.inbox().count == 0
    assert [event.kind for event in desk.history(ask)] == ["ask.opened", "ask.withdrawn"]
    payload = desk.history(ask)[-1].payload
    assert payload is not None
    assert payload["note"] == "No longer needed"


def test_what_was_decided_cannot_be_withdrawn(desk: Desk, place: Place) -> None:
    ask = desk.approve(desk.open("refund", {"amount": 1}))
    before = place.count()

    with pytest.raises(AskClosed) as conflict:
        desk.withdraw(ask)

    assert conflict.value.decision == ask.decision
    assert place.count() == before


# --- erasing ---


def spent(desk: Desk) -> Ask:
    ask = desk.open("pay", {"to": "Zebulon"}, why="Zebulon asked", title="Pay Zebulon")
    desk.edit(ask, {"to": "Zebulon Jr"}, note="for Zebulon")
    return desk.finish(desk.begin(ask), "paid Zebulon")


def test_an_erased_ask_keeps_who_and_when_and_loses_what(desk: Desk, place: Place) -> None:
    ask = spent(desk)
    kinds = [event.kind for event in desk.history(ask)]

    erased = desk.erase(ask, "Right to be forgotten")

    texts = [str(row) for row in place.sql("select payload from events")]
    assert not [text for text in texts if "Zebulon" in text]
    assert [event.kind for event in desk.history(ask)] == [*kinds, "payload.erased"]
    assert erased.decision is not None
    assert (erased.status, erased.decision.by.id) == ("decided", "sam")


def test_an_erased_journal_verifies_and_erasing_twice_does_no_harm(desk: Desk) -> None:
    kept, erased = spent(desk), spent(desk)
    seal = desk.seal()

    desk.erase(erased, "Right to be forgotten")

    report = desk.verify(seal=seal)
    assert report.problems == ()
    assert report.erased == 5
    assert desk.get(kept.id).args == {"to": "Zebulon Jr"}

    ask = spent(desk)
    desk.erase(ask, "once")
    desk.erase(ask, "twice")

    assert desk.verify()


def test_an_erased_approval_can_no_longer_be_spent(desk: Desk) -> None:
    ask = desk.edit(desk.open("pay", {"amount": 40}), {"amount": 30})
    desk.erase(ask, "forget it")

    with pytest.raises(NotApproved):
        desk.begin(ask)


def test_what_is_not_over_cannot_be_erased(desk: Desk, place: Place) -> None:
    waiting = desk.open("pay", {"amount": 1})
    running = desk.approve(desk.open("pay", {"amount": 1}))
    desk.begin(running)
    before = place.count()

    for ask in (waiting, running):
        with pytest.raises(NotApproved, match="not over"):
            desk.erase(ask, "forget it")

    assert place.count() == before
