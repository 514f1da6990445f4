"""E34: a flood of asks from one agent must not bury the one that matters."""

from __future__ import annotations

from functools import partial

import pytest

from sayso import Desk
from sayso.errors import TooManyAsks
from sayso.testing import FakeClock
from tests.asks.test_law import Office, approved, office, refund
from tests.places import Place
from tests.together import at_once

__all__ = ["office"]  # the fixture

PACED = """
[agents]
asks = "3 per hour"

[agents.bulk]
asks = "10 per hour"
waiting = 2
"""


# --- repeats -----------------------------------------------------------------------------------


def test_the_same_question_is_counted_and_not_asked_twice(desk: Desk) -> None:
    first = refund(desk, why="Charged twice")

    again = [refund(desk, why="Charged twice") for _ in range(3)]

    assert {one.id for one in again} == {first.id}
    assert [one.repeats for one in again] == [1, 2, 2]
    assert desk.inbox().count == 1
    assert desk.get(first.id).digest == first.digest, "a reviewer who saw it may go on"
    assert desk.verify()


def test_a_flood_does_not_grow_the_journal_of_what_it_repeats(desk: Desk) -> None:
    first = refund(desk)
    for _ in range(100):
        refund(desk)

    said = [(e.payload or {})["times"] for e in desk.history(first) if e.kind == "ask.repeated"]
    assert said == [1, 2, 4, 8, 16, 32, 64]
    assert desk.get(first.id).repeats == 64


def test_what_was_edited_is_another_question_by_now(team: Desk) -> None:
    first = refund(team, needs=["2 reviewer"])
    team.edit(first, {"amount": 999}, by="anna")

    again = refund(team, needs=["2 reviewer"])

    assert (again.id != first.id, again.args) == (True, {"amount": 40})
    assert team.verify()


def test_a_repeat_is_counted_even_by_an_agent_that_has_asked_enough(office: Office) -> None:
    desk = office(PACED)
    asks = [refund(desk, amount) for amount in range(3)]

    assert refund(desk, 0).id == asks[0].id
    with pytest.raises(TooManyAsks):
        refund(desk, 3)


def test_one_approval_of_a_repeated_question_is_spent_once(desk: Desk) -> None:
    ask, again = refund(desk), refund(desk)
    desk.approve(ask)
    desk.begin(again)

    with pytest.raises(Exception, match=r"begun|spent"):
        desk.begin(ask)


@pytest.mark.parametrize(
    "differs",
    [
        {"amount": 41},
        {"why": "Another reason"},
        {"risk": "low"},
        {"key": "mine"},
        {"needs": ["1 reviewer"], "deny": 2},
        {"agent": "other"},
        {"thread": "t-1"},
        {"confidence": 0.4},
        {"within": "1h"},
    ],
    ids=str,
)
def test_what_differs_in_a_word_is_another_question(team: Desk, differs: dict[str, object]) -> None:
    first = refund(team)

    assert refund(team, **differs).id != first.id


def test_what_still_settles_is_not_asked_again_either(desk: Desk) -> None:
    first = desk.approve(refund(desk), hold="8s")

    again = refund(desk)
    assert (again.id, again.repeats, again.status) == (first.id, 1, "settling")
    assert desk.take_back(first).open
    assert desk.verify()


def test_the_same_with_as_much_time_is_the_same_whenever_it_is_asked(
    desk: Desk, clock: FakeClock
) -> None:
    first = refund(desk, within="1h")
    clock.advance("10m")

    again = refund(desk, within="1h")

    assert (again.id, again.due_at) == (first.id, first.due_at)
    assert refund(desk, within="5m").id != first.id, "less time is another matter"


def test_once_it_is_decided_the_same_may_be_asked_again(desk: Desk) -> None:
    first = refund(desk)
    desk.reject(first)

    assert refund(desk).id != first.id


def test_what_programs_wait_for_themselves_is_never_shared(desk: Desk) -> None:
    one, two = desk.later.confirm("Send it?"), desk.later.confirm("Send it?")

    assert one.id != two.id


def test_the_same_question_from_many_at_once_is_one_line_in_the_inbox(desk: Desk) -> None:
    ids = at_once([partial(refund, desk, n // 4) for n in range(8)])

    assert desk.inbox().count == len({ask.id for ask in ids}) == 2
    assert sorted(ask.repeats for ask in desk.inbox()) == [2, 2]
    assert desk.verify()


# --- pace --------------------------------------------------------------------------------------


def test_an_agent_that_asks_too_often_is_told_when_to_come_back(
    office: Office, clock: FakeClock, place: Place
) -> None:
    desk = office(PACED)
    for amount in range(3):
        refund(desk, amount)
        clock.advance("10m")
    before = place.count()

    with pytest.raises(TooManyAsks, match=r"shop has asked 3 times within 1 h.*1800 s") as caught:
        refund(desk, 99)

    assert caught.value.after == 1800
    assert place.count() == before, "nothing was opened"
    clock.advance("30m")
    assert refund(desk, 99).open


def test_an_agent_with_too_much_open_waits_until_some_of_it_is_decided(office: Office) -> None:
    desk = office(PACED)
    first = refund(desk, 1, agent="bulk")
    refund(desk, 2, agent="bulk")

    with pytest.raises(TooManyAsks, match="once some of them are decided"):
        refund(desk, 3, agent="bulk")

    approved(desk, first, "ben")
    assert refund(desk, 3, agent="bulk").open


def test_one_agent_in_a_hurry_does_not_slow_down_another(office: Office) -> None:
    desk = office(PACED)
    for amount in range(3):
        refund(desk, amount)

    assert refund(desk, agent="other").open


def test_what_the_policy_allows_bothers_nobody_and_is_not_counted(
    office: Office, clock: FakeClock
) -> None:
    desk = office(PACED)

    @desk.gate(risk="low")
    def look_up(order: int) -> int:
        return order

    assert [look_up(n) for n in range(5)] == [0, 1, 2, 3, 4]
    assert refund(desk).open


# --- the queue ---------------------------------------------------------------------------------


def test_the_one_that_matters_comes_first_however_many_came_before_it(desk: Desk) -> None:
    for n in range(30):
        refund(desk, n, risk="medium")
    desk.open("wipe", risk="critical")

    assert next(iter(desk.inbox(limit=5))).tool == "wipe"


def test_a_tier_that_the_policy_gives_counts_like_a_declared_risk(office: Office) -> None:
    desk = office('[tools]\nwipe = "critical"\n')
    refund(desk, 1, risk="high")
    desk.open("wipe")

    assert [ask.tool for ask in desk.inbox()] == ["wipe", "refund"]


def test_among_equals_the_least_time_left_comes_first(desk: Desk, clock: FakeClock) -> None:
    for name, within in (("calm", None), ("week", "7d"), ("hour", "1h"), ("day", "1d")):
        desk.open(name, within=within)
        clock.advance("1s")
    desk.open("newer", within=None)

    page = desk.inbox()
    assert [ask.tool for ask in page] == ["hour", "day", "week", "calm", "newer"]
    first = desk.inbox(limit=3)
    rest = desk.inbox(limit=3, after=first.cursor)
    assert [ask.tool for ask in (*first, *rest)] == ["hour", "day", "week", "calm", "newer"]
