"""A grant reaches as far as what people saw: E45 on real asks, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.asks.lawbook import default_policy
from sayso.autonomy.book import Book, read
from sayso.errors import BadPolicy
from sayso.model.actor import Actor
from sayso.model.stake import Least
from sayso.policy.reading import read as read_policy
from sayso.testing import FakeClock
from tests.fine import HERE, fine, granted_before, pen_of
from tests.places import Place

LAW = """
[tools]
refund = "low"
wire = "medium"

[tiers.low]
needs = ["1 reviewer"]
"""
JUN = Actor("person", "jun")
Office = Callable[..., Desk]


@pytest.fixture
def office(place: Place, clock: FakeClock) -> Iterator[Office]:
    with ExitStack() as opened:

        def sit_down(text: str = "", **given: Any) -> Desk:
            policy = read_policy(LAW + text, source="law.toml", default=default_policy())
            named: dict[str, Any] = {"agent": "shop", "account": "sam@till", "clock": clock} | given
            desk = opened.enter_context(Desk(place.url, policy=policy, **named))
            desk.law.coin = lambda: 0.999  # nothing is picked
            return desk

        yield sit_down


@pytest.fixture
def team(office: Office) -> Desk:
    desk = office()
    for name, roles in {"jun": ["junior"], "ann": ["senior"], "ben": ["senior"]}.items():
        desk.people.add(name, roles=roles)
    return desk


def call(desk: Desk, amount: Any = 1, tool: str = "refund", **more: Any) -> Ask:
    return desk.open(tool, {"amount": amount, **more})


def book_of(desk: Desk, ask: Ask) -> Book:
    assert ask.stake is not None
    return desk.trust.key(ask.stake.key)


def test_98_refunds_of_1_eur_let_no_refund_of_a_million_run_alone_e45(
    team: Desk, clock: FakeClock
) -> None:
    ask = team.approve(call(team), by="jun")
    for number in range(97):
        if number == 96:
            clock.advance("1d")
        team.approve(call(team), by="jun")
    team.approve(team.get(str(book_of(team, ask).grant_ask)), by="jun")

    assert call(team).decision
    dear, unseen = call(team, 1_000_000), call(team, 1, everything=True)

    assert dear.open
    assert dear.content.sentence.endswith(
        "The grant of this agent does not reach so far. "
        "amount: 1,000,000 is outside what people approved: 1."
    )
    assert unseen.open
    assert unseen.content.sentence.endswith("Too few approved calls had everything: true.")


def test_98_refunds_in_a_second_propose_no_grant_e45(team: Desk, clock: FakeClock) -> None:
    ask = team.approve(call(team), by="jun")
    for _ in range(99):
        team.approve(call(team), by="jun")
    book = book_of(team, ask)
    assert (book.ledger.standing, book.missing, book.grant_ask) == ("reviewed", 0, None)
    assert book.ledger.score < 1.1 * book.ledger.bar, "what it earns now outweighs no harm"

    clock.advance("1d")
    team.approve(call(team), by="jun")

    assert book_of(team, ask).grant_ask is not None


def test_where_risk_is_higher_one_person_alone_earns_an_agent_no_grant_e45(team: Desk) -> None:
    ask = call(team, tool="wire")
    fine(team, ask, 250, ("jun",))
    team.approve(ask, by="jun")
    assert book_of(team, ask).ledger.standing == "reviewed"
    for _ in range(2):
        team.approve(call(team, tool="wire"), by="ben")

    book = book_of(team, ask)

    assert book.ledger.standing == "proposed"
    asked = team.get(str(book.grant_ask))
    assert asked.facts["Approved by"] == "2 people, over 4 days"
    assert asked.facts["Reaches"] == "amount 1"


def test_alone_at_a_desk_one_person_is_enough_and_one_day_is_not(
    office: Office, clock: FakeClock
) -> None:
    desk = office()
    ask = desk.approve(call(desk, tool="wire"))
    for _ in range(249):
        desk.approve(call(desk, tool="wire"))
    assert book_of(desk, ask).ledger.standing == "reviewed"
    clock.advance("2d")
    desk.approve(call(desk, tool="wire"))

    desk.approve(desk.get(str(book_of(desk, ask).grant_ask)))

    assert call(desk, tool="wire").decision
    desk.people.add("ann", roles=["senior"])
    assert call(desk, tool="wire").open, "in a team it takes two who looked"


def test_a_policy_may_want_more_people_and_days(office: Office, clock: FakeClock) -> None:
    desk = office("[autonomy]\ndays = 3\npeople = {low = 2}\n")
    for name in ("jun", "ann"):
        desk.people.add(name, roles=["junior"])
    ask = call(desk)
    assert ask.stake is not None
    assert ask.stake.least == Least(3, 2)
    fine(desk, ask, 100)
    desk.approve(ask, by="jun")
    assert book_of(desk, ask).ledger.standing == "proposed", "the last word is four days after"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("days = 1", "days of the tier medium is a number from 2 to 30"),
        ("people = 0", "people of the tier low is a number from 1 to 10"),
        ("people = {high = 1}", "people of the tier high is a number from 2 to 10"),
        ("people = {critical = 3}", "the tiers low, medium, high"),
        ("days = true", "is a number from"),
        ("days = 2.5", "is a number from"),
        ("people = 11", "to 10"),
    ],
)
def test_a_policy_can_only_want_more(text: str, says: str) -> None:
    with pytest.raises(BadPolicy, match=says):
        read_policy(f"[autonomy]\n{text}\n", source="law.toml", default=default_policy())


def test_three_approvals_widen_a_grant_and_one_does_not(team: Desk, clock: FakeClock) -> None:
    granted_before(team, call(team))
    team.approve(call(team, 5), by="jun")
    assert call(team, 5, note="x").open
    for _ in range(2):
        clock.advance("1d")
        dear = call(team, 5)
        assert dear.open
        team.approve(dear, by="jun")

    assert call(team, 5).decision


def test_what_an_edit_made_of_a_call_is_in_a_book_that_reads_back_as_it_was_written(
    team: Desk,
) -> None:
    ask = call(team, 1_000_000)
    team.edit(ask, {"amount": 1}, by="jun", harmful=False)

    words = team.trust.history(book_of(team, ask).id)[-1].payload or {}

    assert words["saw"] == {"amount": 1}

    ask = call(team, 40, items=[{"price": 3}, {"price": 1.5}], note=None)
    book = granted_before(team, ask)

    assert read(team.trust.history(book.id)) == book


def test_after_harm_nothing_that_people_saw_before_counts(team: Desk) -> None:
    book = granted_before(team, call(team))
    ran = call(team)
    team.finish(team.begin(ran), "paid")

    team.incident(ran, "The card was a stranger's", by="ann")

    assert team.trust.key(book.id).reach.calls == ()


def test_a_grant_whose_book_says_nothing_of_what_people_saw_asks(team: Desk) -> None:
    pen = pen_of(team, call(team))
    for number in range(98):  # as lines were written before they said it
        pen.write("fine", JUN, HERE, ask=f"a-{number:04d}", detection=0.8)
    pen.write("ratified", JUN, HERE, ask="a-0099")
    assert pen.book.alone
    assert team.store.commit(*pen.appends())

    waits = call(team, 1, note="x")

    assert waits.open
    assert "No approved call says which arguments people saw." in waits.content.sentence
    assert team.verify()
    fine(team, waits, 3)
    assert call(team, 1, note="y").decision


def test_calls_with_more_arguments_than_can_be_compared_earn_no_grant(team: Desk) -> None:
    many = {f"a{number}": number for number in range(150)}
    pen = pen_of(team, team.open("refund", many))
    for _ in range(99):
        pen.write("fine", JUN, HERE, ask="a-0000", detection=0.8, saw=False)
    assert pen.book.ledger.standing == "reviewed"
    assert team.store.commit(*pen.appends())

    ask = team.approve(team.open("refund", many), by="jun")

    assert book_of(team, ask).grant_ask is None
