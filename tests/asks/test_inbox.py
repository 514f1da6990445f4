"""The inbox: what waits, the riskiest first, counted by the same statement."""

from __future__ import annotations

import os
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.asks.inbox import waiting as counting
from sayso.asks.opening import opening
from sayso.errors import BadValue, UnknownPerson, UnknownRole
from sayso.testing import FakeClock
from tests.places import Place


def titles(asks: Any) -> list[str]:
    return [ask.title for ask in asks]


def test_an_empty_inbox_is_empty(desk: Desk) -> None:
    inbox = desk.inbox()

    assert (len(inbox), inbox.count, inbox.counted, inbox.cursor) == (0, 0, "0", None)
    assert list(inbox) == []


def test_the_riskiest_come_first_then_the_oldest(desk: Desk, clock: FakeClock) -> None:
    """Unknown is not harmless: undeclared risk sorts with medium."""
    for title, risk in [
        ("low", "low"),
        ("none", None),
        ("high", "high"),
        ("medium", "medium"),
        ("critical", "critical"),
        ("high again", "high"),
    ]:
        desk.open("pay", title=title, risk=risk)  # type: ignore[arg-type]
        clock.advance("1s")

    assert titles(desk.inbox()) == ["critical", "high", "high again", "none", "medium", "low"]


def test_the_inbox_shows_asks_as_they_are(desk: Desk) -> None:
    ask = desk.open("pay", {"amount": 40}, risk="high", needs=["2 reviewer"])

    assert list(desk.inbox()) == [desk.get(ask.id)]


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


def test_only_what_is_open_is_listed(desk: Desk) -> None:
    desk.approve(desk.open("pay", title="approved"))
    desk.reject(desk.open("pay", title="rejected"))
    desk.withdraw(desk.open("pay", title="withdrawn"))
    desk.open("pay", title="open")

    inbox = desk.inbox()

    assert (titles(inbox), inbox.count) == (["open"], 1)


def test_what_is_past_due_is_not_listed(desk: Desk, clock: FakeClock) -> None:
    desk.open("pay", title="soon", within="1h")
    desk.open("pay", title="later", within="2h")
    clock.advance("1h")

    inbox = desk.inbox()

    assert (titles(inbox), inbox.count) == (["later"], 1)


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


def test_a_role_is_not_found_inside_another(team: Desk) -> None:
    team.people.add("al", roles=["sen"])
    team.people.add("bo", roles=["sen-ior"])
    team.open("pay", title="for seniors", needs=["1 senior"])

    assert titles(team.inbox(person="al")) == titles(team.inbox(person="bo")) == []


def test_whoever_voted_no_longer_finds_it_in_their_inbox(waiting: Desk) -> None:
    (both,) = [ask for ask in waiting.inbox() if ask.title == "for both"]
    waiting.approve(both, by="ada")

    assert "for both" not in titles(waiting.inbox(person="ada"))
    assert "for both" in titles(waiting.inbox(person="anna"))
    assert "for both" in titles(waiting.inbox(role="senior"))


def test_after_an_edit_everybody_but_the_editor_finds_it_again(waiting: Desk) -> None:
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


def test_strangers_and_unheld_roles_are_named(waiting: Desk) -> None:
    with pytest.raises(UnknownPerson, match="anna"):
        waiting.inbox(person="zoe")
    with pytest.raises(UnknownRole, match="security, senior"):
        waiting.inbox(role="wizard")


def test_alone_everything_is_for_whoever_sits_here(desk: Desk) -> None:
    desk.open("pay", title="for seniors", needs=["1 senior"])

    assert titles(desk.inbox(role="senior")) == titles(desk.inbox(person="sam")) == ["for seniors"]


# --- pages ---


def pages(desk: Desk, limit: int, **wanted: Any) -> list[list[Ask]]:
    found, cursor = [], None
    while True:
        inbox = desk.inbox(limit=limit, after=cursor, **wanted)
        found.append(list(inbox))
        cursor = inbox.cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("limit", [1, 3, 7, 50])
def test_going_through_the_pages_sees_each_ask_once(
    desk: Desk, clock: FakeClock, limit: int
) -> None:
    for n in range(14):
        desk.open("pay", {"n": n}, risk=["low", "high", None][n % 3])  # type: ignore[arg-type]
        if n % 4 == 0:
            clock.advance("1s")
    everything = [ask.id for ask in desk.inbox(limit=500)]

    seen = [ask.id for page in pages(desk, limit) for ask in page]

    assert seen == everything
    assert len(set(seen)) == 14


def test_asks_decided_and_opened_meanwhile_neither_repeat_nor_hide_others(
    desk: Desk, clock: FakeClock
) -> None:
    asks = []
    for n in range(9):
        asks.append(desk.open("pay", {"n": n}))
        clock.advance("1s")
    first = desk.inbox(limit=3)
    desk.approve(asks[1])
    desk.approve(asks[4])
    desk.open("pay", {"n": 99}, risk="critical")

    rest = [ask.id for page in pages_after(desk, first.cursor) for ask in page]

    assert rest == [asks[n].id for n in (3, 5, 6, 7, 8)]


def pages_after(desk: Desk, cursor: str | None) -> list[list[Ask]]:
    found = []
    while cursor is not None:
        inbox = desk.inbox(limit=3, after=cursor)
        found.append(list(inbox))
        cursor = inbox.cursor
    return found


def test_every_page_counts_everything(desk: Desk) -> None:
    for n in range(5):
        desk.open("pay", {"n": n})

    first = desk.inbox(limit=2)
    second = desk.inbox(limit=2, after=first.cursor)

    assert (first.count, second.count) == (5, 5)


def test_a_page_behind_the_last_is_empty(desk: Desk) -> None:
    desk.open("pay")
    full = desk.inbox(limit=1)
    assert full.cursor is not None

    beyond = desk.inbox(limit=1, after=full.cursor)

    assert (len(beyond), beyond.count, beyond.cursor) == (0, 1, None)


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
    with pytest.raises(BadValue):
        desk.inbox(**wanted)
