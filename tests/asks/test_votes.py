"""Several people: who counts, and when it is enough."""

from __future__ import annotations

from sayso import Ask, Desk
from sayso.model.tally import missing
from tests.places import Place

BOTH = ["1 senior", "1 security"]


def still_needed(desk: Desk, ask: Ask) -> list[str]:
    return [str(factor) for factor in missing(desk.get(ask.id), desk.store.roster())]


def test_the_same_person_twice_counts_once_and_writes_once(team: Desk, place: Place) -> None:
    ask = team.open("drop", {"table": "users"}, needs=["2 reviewer"])
    team.approve(ask, by="ben")
    before = place.count()

    assert team.approve(ask, by="ben").open

    assert place.count() == before
    assert team.approve(ask, by="anna").decision


def test_a_removed_persons_refusal_no_longer_counts(team: Desk) -> None:
    ask = team.open("drop", {"table": "users"}, needs=BOTH, deny=2)
    team.reject(ask, "no", by="anna")
    team.people.remove("anna")

    assert team.reject(ask, "no", by="sec").open


def test_whoever_was_removed_meanwhile_no_longer_counts(team: Desk) -> None:
    ask = team.open("drop", {"table": "users"}, needs=BOTH)
    team.approve(ask, by="anna")
    team.people.remove("anna")

    assert team.approve(ask, by="sec").open
    assert still_needed(team, ask) == ["1 senior"]
    assert team.approve(ask, by="ada").decision


def test_alone_one_word_is_enough_until_the_first_person_comes(desk: Desk) -> None:
    ask = desk.open("drop", {"table": "users"}, needs=BOTH, deny=2)

    assert desk.get(ask.id).solo
    assert desk.approve(ask).decision

    ask = desk.open("drop", {"table": "users"}, needs=BOTH)
    desk.people.add("anna", roles=["senior"])
    desk.people.add("sec", roles=["security"])

    assert not desk.get(ask.id).solo
    assert desk.approve(ask, by="anna").open
    assert desk.approve(ask, by="sec").decision
