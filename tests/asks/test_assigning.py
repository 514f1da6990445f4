"""Who looks into an ask: a word to colleagues, and nothing more."""

from __future__ import annotations

import pytest

from sayso import Ask, Desk
from sayso.errors import AskClosed, Claimed, Forbidden, Misuse, UnknownPerson
from tests.places import Place
from tests.together import at_once


@pytest.fixture
def ask(team: Desk) -> Ask:
    return team.open("drop", {"table": "users"}, needs=["1 senior"])


def test_the_second_to_claim_learns_who_was_faster(team: Desk, ask: Ask, place: Place) -> None:
    def claimed(name: str) -> object:
        try:
            return team.claim(ask, by=name).assignee
        except Claimed as error:
            return error

    first, second = at_once([lambda: claimed("anna"), lambda: claimed("ada")])

    winner, loser = (first, second) if isinstance(first, str) else (second, first)
    assert isinstance(loser, Claimed)
    assert loser.by == winner
    assert str(winner) in str(loser)


def test_whoever_may_decide_it_still_may_and_claiming_twice_says_it_once(
    team: Desk, ask: Ask, place: Place
) -> None:
    team.claim(ask, by="anna")
    before = place.count()

    assert team.claim(ask, by="anna").assignee == "anna"
    assert place.count() == before

    team.claim(ask, by="anna")

    decided = team.approve(ask, by="ada")

    assert decided.decision, "the digest is the one that was seen before the claim"


def test_an_ask_is_given_to_somebody_and_back_to_everybody(team: Desk, ask: Ask) -> None:
    team.claim(ask, by="anna")
    assert team.assign(ask, "ada", by="ben").assignee == "ada"
    assert team.assign(ask, None, by="ada").assignee is None

    said = [(e.actor.id, (e.payload or {}).get("to")) for e in team.history(ask)[1:]]
    assert said == [("anna", "anna"), ("ben", "ada"), ("ada", None)]


@pytest.mark.parametrize("name", ["ben", "sec"])
def test_it_is_not_given_to_somebody_whose_word_would_not_count(
    team: Desk, ask: Ask, place: Place, name: str
) -> None:
    before = place.count()

    with pytest.raises(Forbidden):
        team.assign(ask, name, by="anna")
    with pytest.raises(Forbidden):
        team.claim(ask, by=name)

    assert place.count() == before


def test_it_is_not_given_to_strangers_agents_or_when_it_is_over(team: Desk, ask: Ask) -> None:
    with pytest.raises(UnknownPerson):
        team.assign(ask, "zoe", by="anna")
    with pytest.raises(Forbidden, match="agents are not people"):
        team.claim(ask, by="agent:shop")
    with pytest.raises(Misuse):
        team.claim(ask)
    team.approve(ask, by="anna")

    with pytest.raises(AskClosed):
        team.claim(ask, by="ada")


def test_alone_at_the_desk_one_claims_for_oneself(desk: Desk) -> None:
    ask = desk.open("refund")

    assert desk.claim(ask).assignee == "sam"
    assert desk.approve(ask).decision
