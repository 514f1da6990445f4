"""A decision that can be taken back for a while before it counts."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.errors import AskChanged, AskClosed, Forbidden, Misuse, NotApproved, StillOpen
from sayso.model.actor import CLOCK
from sayso.testing import FakeClock
from tests.asks.test_law import Office, approved, kinds, office, refund
from tests.places import Place
from tests.together import at_once

__all__ = ["office"]  # the fixture

COOL = """
[tiers.high]
needs = ["1 senior"]
cool_off = "5m"
"""
TICK = timedelta(microseconds=1)


def settling(desk: Desk, **terms: Any) -> Ask:
    return desk.approve(refund(desk, risk="high", **terms), by="anna")


def test_a_yes_counts_only_once_its_time_is_over(office: Office, clock: FakeClock) -> None:
    desk = office(COOL)
    ask = settling(desk)

    assert (ask.status, ask.decision) == ("settling", None)
    assert ask.pending is not None
    assert ask.pending.by.id == "anna"
    with pytest.raises(NotApproved, match="may be taken back"):
        desk.begin(ask)
    with pytest.raises(StillOpen):
        desk.wait(ask, timeout=0)

    clock.advance(timedelta(minutes=5) - TICK)
    assert desk.sweep().settled == ()
    clock.advance(TICK)

    assert desk.sweep().settled == (ask.id,)
    decided = desk.get(ask.id)
    assert decided.decision
    assert (decided.decision.by.id, decided.decision.at) == ("anna", clock.now())
    assert kinds(desk, ask) == ["ask.opened", "ask.settling", "ask.decided"]
    assert desk.begin(ask).args == {"amount": 40}
    assert desk.verify()


def test_what_is_taken_back_in_time_is_open_again_without_that_vote(
    office: Office, clock: FakeClock
) -> None:
    desk = office(COOL)
    ask = settling(desk)
    clock.advance(timedelta(minutes=5) - TICK)

    again = desk.take_back(ask, "Wrong order", by="anna")

    assert (again.status, again.votes, again.pending) == ("open", (), None)
    assert again.digest == ask.digest
    clock.advance("1d")
    assert desk.sweep().settled == ()
    with pytest.raises(NotApproved, match="still open"):
        desk.begin(ask)
    approved_again = desk.approve(again, by="ada")
    assert approved_again.settling
    clock.advance("5m")
    desk.sweep()
    desk.begin(ask)
    assert desk.verify()


def test_a_take_back_and_the_clock_at_once_one_of_them_wins(
    office: Office, clock: FakeClock
) -> None:
    desk = office(COOL)
    for amount in range(12):
        ask = desk.approve(refund(desk, amount, risk="high"), by="anna")
        clock.advance(timedelta(minutes=5) - TICK)
        outcomes = at_once([partial(_taken_back, desk, ask), partial(_swept, desk, clock)])
        now = desk.get(ask.id)
        taken = isinstance(outcomes[0], Ask)
        assert now.status == ("open" if taken else "decided"), outcomes
        assert kinds(desk, ask).count("ask.decided") == (0 if taken else 1)
    assert desk.verify()


def _taken_back(desk: Desk, ask: Ask) -> object:
    try:
        return desk.take_back(ask, by="anna")
    except AskClosed as error:
        return error


def _swept(desk: Desk, clock: FakeClock) -> object:
    clock.advance(TICK)
    return desk.sweep().settled


@pytest.mark.parametrize("other", ["ada", "ben", "sec"])
def test_only_who_said_it_takes_it_back(office: Office, place: Place, other: str) -> None:
    desk = office(COOL)
    ask = settling(desk)
    before = place.count()

    with pytest.raises(Forbidden, match="decided by anna"):
        desk.take_back(ask, by=other)
    with pytest.raises(Forbidden, match="agents are not people"):
        desk.take_back(ask, by="agent:shop")

    assert place.count() == before
    assert desk.get(ask.id).settling


def test_of_two_who_agreed_either_may_take_it_back_and_the_other_vote_stays(
    office: Office, clock: FakeClock
) -> None:
    desk = office(COOL)
    both = desk.open("drop", needs=["1 senior", "1 security"], risk="high")
    ask = desk.approve(both, by="anna")
    assert ask.open, "nothing settles before all have spoken"
    ask = desk.approve(ask, by="sec")
    assert ask.settling

    again = desk.take_back(ask, by="anna")

    assert [vote.by.id for vote in again.votes] == ["sec"]
    assert desk.approve(again, by="ada").settling
    clock.advance("5m")
    assert desk.sweep().settled == (ask.id,)


@pytest.mark.parametrize("state", ["open", "decided"])
def test_nothing_else_can_be_taken_back(office: Office, state: str) -> None:
    desk = office()
    ask = refund(desk)
    if state == "decided":
        approved(desk, ask, "ben")

    with pytest.raises((Misuse, AskClosed)):
        desk.take_back(ask, by="ben")


def test_a_person_may_hold_a_no_and_a_yes_longer_than_the_policy(
    office: Office, clock: FakeClock
) -> None:
    desk = office(COOL)

    assert desk.reject(refund(desk, 1, risk="high"), by="anna").status == "decided"
    held = desk.reject(refund(desk, 2, risk="high"), by="anna", hold="8s")

    assert held.settling
    assert desk.take_back(held, by="anna").open

    longer = desk.approve(refund(desk, 1, risk="high"), by="anna", hold="10m")
    shorter = desk.approve(refund(desk, 2, risk="high"), by="anna", hold="1s")

    assert longer.settles_at == clock.now() + timedelta(minutes=10)
    assert shorter.settles_at == clock.now() + timedelta(minutes=5)


def test_an_edit_that_settles_stays_to_be_seen_and_may_be_withdrawn(
    office: Office, clock: FakeClock
) -> None:
    desk = office(COOL)
    ask = desk.edit(refund(desk, risk="high"), {"amount": 30}, by="anna")
    assert ask.settling

    again = desk.take_back(ask, by="anna")

    assert (again.args, again.votes, again.version) == ({"amount": 30}, (), 2)

    ask = settling(desk)

    assert desk.withdraw(ask).status == "withdrawn"

    clock.advance("1h")
    assert desk.sweep().settled == ()
    assert desk.verify()


def test_a_deadline_that_passes_while_a_yes_settles_counts_once_it_is_taken_back(
    office: Office, clock: FakeClock
) -> None:
    desk = office(COOL)
    ask = desk.approve(refund(desk, risk="high", within="2m"), by="anna")
    clock.advance("3m")
    assert desk.sweep().expired == ()
    clock.advance("2m")

    assert desk.sweep().settled == (ask.id,)
    assert desk.get(ask.id).decision

    ask = desk.approve(refund(desk, risk="high", within="2m"), by="anna")
    clock.advance("3m")

    desk.take_back(ask, by="anna")
    assert desk.sweep().expired == (ask.id,)

    decision = desk.get(ask.id).decision
    assert decision is not None
    assert (decision.by, decision.verdict) == (CLOCK, "reject")


# --- a policy that lets a yes settle by now (E17) ------------------------------------------------


def test_a_longer_cool_off_holds_for_what_is_open_already(office: Office, clock: FakeClock) -> None:
    then, now = office(), office(COOL)
    ask = refund(then, risk="high")

    with pytest.raises(AskChanged):
        now.approve(ask, by="anna")
    ask = now.approve(now.get(ask.id), by="anna")

    assert ask.settles_at == clock.now() + timedelta(minutes=5)


def test_a_yes_that_would_still_settle_is_not_carried_out_yet(
    office: Office, clock: FakeClock
) -> None:
    then, now = office(), office(COOL)
    ask = approved(then, refund(then, risk="high"), "anna")
    clock.advance(timedelta(minutes=5) - TICK)

    with pytest.raises(NotApproved, match="counts from 2026-01-01 09:05:00 UTC on"):
        now.begin(ask)

    clock.advance(TICK)
    now.begin(ask)


@pytest.mark.parametrize("how", ["leaves", "loses the role"])
def test_a_decision_of_somebody_who_leaves_while_it_settles_does_not_count(
    office: Office, clock: FakeClock, how: str
) -> None:
    desk = office(COOL)
    ask = settling(desk)
    if how == "leaves":
        desk.people.remove("anna", by="ada")
    else:
        desk.people.add("anna", roles=["junior"], by="ada")
    clock.advance("5m")
    desk.sweep()

    again = desk.get(ask.id)
    assert (again.status, again.decision) == ("open", None)
    with pytest.raises(NotApproved):
        desk.begin(ask)
    desk.approve(again, by="ada")
    clock.advance("5m")
    desk.sweep()
    assert desk.get(ask.id).decision
    assert desk.verify()


def test_a_clock_that_was_set_back_does_not_shorten_the_time_to_take_it_back(
    office: Office, clock: FakeClock
) -> None:
    desk = office(COOL)
    ask = refund(desk, risk="high")
    clock._now -= timedelta(hours=1)
    voted = desk.approve(ask, by="anna")
    clock.advance("1h")

    assert voted.settles_at == clock.now() + timedelta(minutes=5)
    assert desk.sweep().settled == ()


def test_a_doubt_that_is_answered_with_a_hold_settles_its_effect_later(
    desk: Desk, clock: FakeClock
) -> None:
    ask = desk.approve(desk.open("refund", {"amount": 1}))
    desk.begin(ask, limit="1m")
    clock.advance("2m")
    (doubt,) = desk.sweep().doubts

    desk.respond(desk.get(doubt), None, hold="8s")
    effect = desk.get(ask.id).effect
    assert effect is not None
    assert effect.status == "unknown"
    clock.advance("8s")
    desk.sweep()

    effect = desk.get(ask.id).effect
    assert effect is not None
    assert effect.status == "done"
