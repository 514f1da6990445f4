"""The inbox: what waits, the riskiest first, counted by the same statement."""

from __future__ import annotations

import os
from typing import Any

import pytest

from sayso import Desk
from sayso.asks.inbox import waiting as counting
from sayso.asks.opening import opening
from sayso.errors import BadValue, UnknownPerson, UnknownRole
from sayso.testing import FakeClock
from tests.places import Place


def titles(asks: Any) -> list[str]:
    return [ask.title for ask in asks]


def test_what_waits_is_counted_without_being_read(desk: Desk) -> None:
    desk.people.add("anna", roles=["senior"], teams=["billing"])
    desk.people.add("ben", teams=["support"])
    for team, needs in (("billing", "1 senior"), ("support", "1 ben"), (None, "1 senior")):
        desk.open("pay", {"to": str((team, needs))}, team=team, needs=[needs])

    for name in ("anna", "ben"):
        people = desk.store.register()
        found = counting(desk.store, person=name, teams=None, people=people)
        assert (found.asks, found.cursor) == ((), None)
        assert found.counted == desk.inbox(person=name).counted == {"anna": "2", "ben": "1"}[name]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"kind": "question"}, {"q"}),
        ({"kind": "action"}, {"a", "b", "c"}),
        ({"kind": "plan"}, set()),
        ({"risk": "high"}, {"a"}),
        ({"risk": "medium"}, set()),
        ({"run": "r-1"}, {"a", "b"}),
        ({"thread": "sale"}, {"b", "c"}),
        ({"run": "r-1", "thread": "sale"}, {"b"}),
        ({"run": "r-1", "thread": "other"}, set()),
        ({"run": "r-"}, set()),
    ],
    ids=str,
)
def test_filters_narrow_the_page_and_the_count(
    desk: Desk, wanted: dict[str, Any], found: set[str]
) -> None:
    desk.open("pay", title="a", risk="high", run="r-1")
    desk.open("pay", title="b", run="r-1", thread="sale", risk="low")
    desk.open("pay", title="c", thread="sale", risk="low")
    desk.later.question("q")

    inbox = desk.inbox(**wanted)

    assert set(titles(inbox)) == found
    assert inbox.count == len(found)


# --- for whom ---


@pytest.fixture
def waiting(team: Desk) -> Desk:
    team.open("pay", title="for seniors", needs=["1 senior"])
    team.open("pay", title="for both", needs=["1 senior", "1 security"])
    team.open("pay", title="for security", needs=["1 security"])
    team.open("pay", title="for all")
    return team


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, {"for seniors", "for both", "for security", "for all"}),
        ({"role": "senior"}, {"for seniors", "for both", "for all"}),
        ({"role": "security"}, {"for both", "for security", "for all"}),
        ({"role": "reviewer"}, {"for all"}),
        ({"person": "anna"}, {"for seniors", "for both", "for all"}),
        ({"person": "ada"}, {"for seniors", "for both", "for security", "for all"}),
        ({"person": "ben"}, {"for all"}),
        ({"person": "ada", "role": "security"}, {"for both", "for security", "for all"}),
    ],
    ids=str,
)
def test_each_sees_what_they_may_decide(
    waiting: Desk, wanted: dict[str, str], found: set[str]
) -> None:
    inbox = waiting.inbox(**wanted)  # type: ignore[arg-type]

    assert set(titles(inbox)) == found
    assert inbox.count == len(found)


def test_whoever_voted_no_longer_finds_it_until_somebody_edits_it(waiting: Desk) -> None:
    (both,) = [ask for ask in waiting.inbox() if ask.title == "for both"]
    waiting.approve(both, by="ada")

    assert "for both" not in titles(waiting.inbox(person="ada"))
    assert "for both" in titles(waiting.inbox(person="anna"))
    assert "for both" in titles(waiting.inbox(role="senior"))

    both = waiting.open("pay", {"n": 1}, title="edited", needs=["1 senior", "1 security"])
    waiting.approve(both, by="anna")
    assert "edited" not in titles(waiting.inbox(person="anna"))

    waiting.edit(both, {"n": 2}, by="sec")

    assert "edited" in titles(waiting.inbox(person="anna"))
    assert "edited" not in titles(waiting.inbox(person="sec"))


def test_a_name_is_not_found_inside_another(desk: Desk) -> None:
    desk.people.add("ann")
    desk.people.add("anna")
    ask = desk.open("pay", title="two", needs=["2 reviewer"])
    desk.approve(ask, by="anna")

    assert titles(desk.inbox(person="ann")) == ["two"]
    assert titles(desk.inbox(person="anna")) == []


def test_a_role_is_not_found_inside_another(team: Desk) -> None:
    team.people.add("al", roles=["sen"])
    team.people.add("bo", roles=["sen-ior"])
    team.open("pay", title="for seniors", needs=["1 senior"])

    assert titles(team.inbox(person="al")) == titles(team.inbox(person="bo")) == []


def test_strangers_and_unheld_roles_are_named(waiting: Desk) -> None:
    with pytest.raises(UnknownPerson, match="anna"):
        waiting.inbox(person="zoe")
    with pytest.raises(UnknownRole, match="security, senior"):
        waiting.inbox(role="wizard")


def test_alone_everything_is_for_whoever_sits_here(desk: Desk) -> None:
    desk.open("pay", title="for seniors", needs=["1 senior"])

    assert titles(desk.inbox(role="senior")) == titles(desk.inbox(person="sam")) == ["for seniors"]


# --- pages ---


def test_a_page_behind_the_last_is_empty(desk: Desk) -> None:
    desk.open("pay")
    full = desk.inbox(limit=1)
    assert full.cursor is not None

    beyond = desk.inbox(limit=1, after=full.cursor)

    assert (len(beyond), beyond.count, beyond.cursor) == (0, 1, None)


def test_what_is_past_due_is_not_listed(desk: Desk, clock: FakeClock) -> None:
    desk.open("pay", title="soon", within="1h")
    desk.open("pay", title="later", within="2h")
    clock.advance("1h")

    inbox = desk.inbox()

    assert (titles(inbox), inbox.count) == (["later"], 1)


def test_the_count_stops_at_a_thousand_and_says_so(desk: Desk, place: Place) -> None:
    content = desk.forms.action("pay", {"amount": 1})

    def add(count: int) -> None:
        for _ in range(0, count, 100):
            desk.store.commit(
                *(
                    opening(
                        f"a-{os.urandom(5).hex()}", content, store=desk.store, origin=desk.origin
                    )
                    for _ in range(min(count, 100))
                )
            )

    add(900)
    assert desk.inbox(limit=1).counted == "900"
    add(100)
    assert (desk.inbox(limit=1).counted, desk.inbox(limit=1).count) == ("1,000", 1000)
    add(1)
    assert desk.inbox(limit=1).counted == "1,000+"
    add(500)
    assert desk.inbox(limit=1).counted == "1,000+"
    assert place.count("asks") == 1501


@pytest.mark.parametrize(
    "wanted",
    [
        {"kind": "letter"},
        {"risk": "huge"},
        {"limit": 0},
        {"limit": 501},
        {"limit": -1},
        {"limit": "many"},
        {"after": "x"},
        {"after": "[1,2]"},
        {"after": "5"},
        {"after": '[1, 99999999999999999999, "x"]'},
        {"after": '[1e400, 9, "x"]'},
        {"after": "null"},
        {"run": 5},
        {"thread": ["sale"]},
    ],
    ids=str,
)
def test_a_question_that_makes_no_sense_is_refused(desk: Desk, wanted: dict[str, Any]) -> None:
    with pytest.raises(BadValue, match=r"place in this list|a page holds|it is one of|is text"):
        desk.inbox(**wanted)
