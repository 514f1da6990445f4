"""E34: a flood of asks from one agent must not bury the one that matters."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

import pytest

from sayso import Desk
from sayso.asks import pacing
from sayso.asks.pacing import AGENTS
from sayso.errors import TooManyAsks
from sayso.policy.paces import DEFAULT
from sayso.store.contract import Paced
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


def test_a_repeated_question_is_spent_once_and_not_asked_again_while_it_settles(
    desk: Desk,
) -> None:
    ask, again = refund(desk), refund(desk)
    desk.approve(ask)
    desk.begin(again)

    with pytest.raises(Exception, match=r"begun|spent"):
        desk.begin(ask)

    first = desk.approve(refund(desk), hold="8s")

    again = refund(desk)
    assert (again.id, again.repeats, again.status) == (first.id, 1, "settling")
    assert desk.take_back(first).open
    assert desk.verify()


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


def test_the_same_with_as_much_time_is_the_same_whenever_it_is_asked(
    desk: Desk, clock: FakeClock
) -> None:
    first = refund(desk, within="1h")
    clock.advance("10m")

    again = refund(desk, within="1h")

    assert (again.id, again.due_at) == (first.id, first.due_at)
    assert refund(desk, within="5m").id != first.id, "less time is another matter"


def test_once_it_is_decided_the_same_may_be_asked_again_and_what_programs_wait_for_is_never_shared(
    desk: Desk,
) -> None:
    first = refund(desk)
    desk.reject(first)

    assert refund(desk).id != first.id

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
    assert place.count() == before + 1, "nothing was opened; that it was refused is written"
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


def test_what_the_policy_allows_bothers_nobody_and_is_not_counted(
    office: Office, clock: FakeClock
) -> None:
    desk = office(PACED)

    @desk.gate(risk="low")
    def look_up(order: int) -> int:
        return order

    assert [look_up(n) for n in range(5)] == [0, 1, 2, 3, 4]
    assert refund(desk).open


def test_one_agent_in_a_hurry_does_not_slow_down_another(office: Office) -> None:
    desk = office(PACED)
    for amount in range(3):
        refund(desk, amount)

    assert refund(desk, agent="other").open


# --- the pace of whoever nothing is said of ------------------------------------------------------


def slowed(desk: Desk) -> list[dict[str, object]]:
    return [e.payload or {} for e in desk.store.stream(AGENTS)]


def looked_at(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the agents of which somebody looks up from now on how much they have asked."""
    looks, look = list[str](), desk.store.paced

    def paced(agent: str, since: datetime) -> Paced:
        looks.append(agent)
        return look(agent, since)

    monkeypatch.setattr(desk.store, "paced", paced)
    return looks


def test_a_flood_is_slowed_down_without_any_setting_e46(desk: Desk, clock: FakeClock) -> None:
    """2,885 asks in 25 s, and nobody said a word."""
    for n in range(DEFAULT.asks):
        refund(desk, n)
        clock.advance(timedelta(milliseconds=40))

    with pytest.raises(TooManyAsks, match="shop has asked 600 times within 1 min") as caught:
        refund(desk, -1)

    assert caught.value.after == 36.0
    assert [one["says"] for one in slowed(desk)] == [
        "shop asked 600 times within 1 min and is slowed down"
    ]
    clock.advance("36s")
    assert refund(desk, -1).open
    assert desk.verify()


def test_whoever_tries_a_refused_flood_again_is_refused_cheaply_and_said_once_e46(
    office: Office, clock: FakeClock, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = office(PACED)
    for n in range(3):
        refund(desk, n)
    with pytest.raises(TooManyAsks):
        refund(desk, 3)
    before, looks = place.count(), looked_at(desk, monkeypatch)

    for n in range(4, 24):
        with pytest.raises(TooManyAsks, match="3600 s"):
            refund(desk, n)

    assert place.count() == before, "one event for them all"
    assert not looks, "the answer was known"
    clock.advance("61m")
    assert [refund(desk, n).open for n in range(30, 33)] == [True] * 3
    with pytest.raises(TooManyAsks):
        refund(desk, 33)
    assert len(slowed(desk)) == 2, "once an hour"


def test_processes_that_refuse_at_once_say_it_once_e46(office: Office) -> None:
    desk = office(PACED)
    for n in range(3):
        refund(desk, n)
    others = [office(PACED) for _ in range(4)]

    refused = at_once([partial(refund, one, 9) for one in others])

    assert {type(one) for one in refused} == {TooManyAsks}
    assert len(slowed(desk)) == 1
    assert desk.verify()


def test_far_below_its_limit_an_agent_costs_no_statement_e46(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    refund(desk, 0)
    looks = looked_at(desk, monkeypatch)
    for n in range(1, 50):
        refund(desk, n)

    assert not looks


def test_several_processes_together_stay_near_the_limit_e46(office: Office) -> None:
    """Each lets an eighth of what is left pass without looking: near the limit, none at all."""
    desks = [office("") for _ in range(3)]
    let_in = 0
    for n in range(3 * DEFAULT.asks):
        with suppress(TooManyAsks):
            refund(desks[n % 3], n)
            let_in += 1

    assert DEFAULT.asks <= let_in < DEFAULT.asks * 1.2


def test_a_changed_pace_counts_from_the_next_ask_on_e46(office: Office) -> None:
    desk, strict = office('[agents]\nasks = "5 per hour"'), office('[agents]\nasks = "2 per hour"')
    refund(desk, 0)
    refund(strict, 1)

    with pytest.raises(TooManyAsks, match="may 2 times"):
        refund(strict, 2)
    assert refund(desk, 2).open


def test_a_limit_that_was_lifted_lets_a_flood_in(office: Office) -> None:
    desk = office("[agents]\nasks = false\n")

    assert sum(refund(desk, n).open for n in range(DEFAULT.asks + 1)) == DEFAULT.asks + 1


def test_the_overview_says_who_is_slowed_down_e46(office: Office, clock: FakeClock) -> None:
    desk = office(PACED)
    for n in range(4):
        with suppress(TooManyAsks):
            refund(desk, n)
    for n in range(3):
        with suppress(TooManyAsks):
            refund(desk, n, agent="bulk")

    (said,) = [one for one in desk.outlook()["attention"] if one["need"] == "slowed"]

    assert (said["count"], said["text"]) == (
        2,
        "shop asked 3 times within 1 h and is slowed down, and 1 other agent",
    )
    clock.advance("61m")
    assert not [one for one in desk.outlook()["attention"] if one["need"] == "slowed"]


def test_an_agent_of_another_team_is_slowed_down_behind_its_wall_e46(office: Office) -> None:
    desk = office(PACED)
    desk.people.add("carl", teams=["billing"])
    for n in range(4):
        with suppress(TooManyAsks):
            refund(desk, n, team="billing")

    assert list(pacing.slowed(desk.store, ("support",))) == []
    assert len(list(pacing.slowed(desk.store, ("billing",)))) == 1
    assert len(list(pacing.slowed(desk.store, None))) == 1


# --- the queue ---------------------------------------------------------------------------------


def test_a_tier_that_the_policy_gives_counts_like_a_declared_risk(office: Office) -> None:
    desk = office('[tools]\nwipe = "critical"\n')
    refund(desk, 1, risk="high")
    desk.open("wipe")

    assert [ask.tool for ask in desk.inbox()] == ["wipe", "refund"]
