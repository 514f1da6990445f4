"""Several people: who counts, and when it is enough."""

from __future__ import annotations

import pytest

from sayso import Ask, Desk
from sayso.errors import AskChanged, AskClosed, Forbidden
from sayso.model.tally import missing
from tests.places import Place

BOTH = ["1 senior", "1 security"]


def still_needed(desk: Desk, ask: Ask) -> list[str]:
    return [str(factor) for factor in missing(desk.get(ask.id), desk.store.roster())]


def test_two_factors_need_two_people(team: Desk) -> None:
    ask = team.open("drop", {"table": "users"}, needs=BOTH)

    voted = team.approve(ask, by="anna")
    assert voted.open
    assert still_needed(team, ask) == ["1 security"]

    decided = team.approve(ask, by="sec")
    assert decided.decision
    assert [vote.by.id for vote in decided.decision.votes] == ["anna", "sec"]
    assert decided.decision.by.id == "sec"


def test_somebody_with_both_roles_fills_one_place(team: Desk) -> None:
    """E20: one person never counts twice."""
    ask = team.open("drop", {"table": "users"}, needs=BOTH)

    for _ in range(3):
        assert team.approve(ask, by="ada").open

    assert len(team.get(ask.id).votes) == 1
    assert team.approve(ask, by="anna").decision, "anna is senior, so ada counts as security"


def test_the_same_person_twice_counts_once_and_writes_once(team: Desk, place: Place) -> None:
    ask = team.open("drop", {"table": "users"}, needs=["2 reviewer"])
    team.approve(ask, by="ben")
    before = place.count()

    assert team.approve(ask, by="ben").open

    assert place.count() == before
    assert team.approve(ask, by="anna").decision


def test_somebody_without_the_role_cannot_vote(team: Desk, place: Place) -> None:
    ask = team.open("drop", {"table": "users"}, needs=BOTH, risk="high")
    before = place.count()

    with pytest.raises(Forbidden, match="needs 1 senior and 1 security"):
        team.approve(ask, by="ben")
    with pytest.raises(Forbidden):
        team.reject(ask, by="ben")

    assert place.count() == before


def test_one_rejection_is_enough_unless_more_are_asked_for(team: Desk) -> None:
    one = team.open("drop", {"table": "users"}, needs=BOTH)
    two = team.open("drop", {"table": "users"}, needs=BOTH, deny=2)

    assert not team.reject(one, "no", by="anna").open
    assert team.reject(two, "no", by="anna").open
    decided = team.reject(two, "no", by="sec")

    assert decided.decision is not None
    assert decided.decision.verdict == "reject"


def test_a_mind_that_changed_counts_as_it_is_now(team: Desk) -> None:
    ask = team.open("drop", {"table": "users"}, needs=BOTH, deny=2)
    team.reject(ask, "no", by="anna")
    team.approve(ask, by="sec")

    decided = team.approve(ask, by="anna")

    assert decided.decision
    assert {vote.by.id: vote.verdict for vote in decided.decision.votes} == {
        "anna": "approve",
        "sec": "approve",
    }


def test_an_edit_starts_over_with_the_editors_vote_only(team: Desk) -> None:
    ask = team.open("refund", {"amount": 40}, needs=BOTH)
    team.approve(ask, by="anna")

    edited = team.edit(ask, {"amount": 30}, by="sec")

    assert edited.open
    assert (edited.version, edited.args) == (2, {"amount": 30})
    assert [vote.by.id for vote in edited.votes] == ["sec"]
    assert still_needed(team, ask) == ["1 senior"]


def test_whoever_saw_the_old_version_must_look_again(team: Desk, place: Place) -> None:
    ask = team.open("refund", {"amount": 40}, needs=BOTH)
    edited = team.edit(ask, {"amount": 30}, by="sec")
    before = place.count()

    with pytest.raises(AskChanged) as refused:
        team.approve(ask, by="anna")

    assert refused.value.ask.digest == edited.digest
    assert place.count() == before
    decided = team.approve(edited, by="anna")
    assert decided.decision
    assert (decided.decision.verdict, decided.decision.args) == ("edit", {"amount": 30})
    assert team.begin(ask).args == {"amount": 30}


def test_an_edit_that_fills_the_last_place_decides(team: Desk) -> None:
    ask = team.open("refund", {"amount": 40}, needs=["1 senior"])

    decided = team.edit(ask, {"amount": 30}, by="anna")

    assert decided.decision
    assert (decided.decision.verdict, decided.version) == ("edit", 2)
    assert [event.kind for event in team.history(ask)] == [
        "ask.opened",
        "ask.edited",
        "ask.decided",
    ]


def test_two_edits_and_the_first_editor_votes_again(team: Desk) -> None:
    ask = team.open("refund", {"amount": 40}, needs=BOTH)
    first = team.edit(ask, {"amount": 30}, by="sec")
    second = team.edit(first, {"amount": 20}, by="sec")

    assert (second.version, second.original) == (3, {"amount": 40})
    with pytest.raises(AskChanged):
        team.approve(first, by="anna")
    assert team.approve(second, by="anna").decision


def test_people_agree_only_on_the_same_answer(team: Desk) -> None:
    question = team.later.question("How many?", type=int, needs=["2 reviewer"])

    assert team.respond(question.ask, 6, by="anna").open
    assert team.respond(question.ask, 7, by="ben").open
    decided = team.respond(question.ask, 7, by="anna")

    assert decided.decision is not None
    assert decided.decision.answer == 7


def test_whoever_was_removed_meanwhile_no_longer_counts(team: Desk) -> None:
    ask = team.open("drop", {"table": "users"}, needs=BOTH)
    team.approve(ask, by="anna")
    team.people.remove("anna")

    assert team.approve(ask, by="sec").open
    assert still_needed(team, ask) == ["1 senior"]
    assert team.approve(ask, by="ada").decision


def test_whoever_lost_the_role_meanwhile_no_longer_counts(team: Desk) -> None:
    ask = team.open("drop", {"table": "users"}, needs=BOTH)
    team.approve(ask, by="anna")
    team.people.add("anna", roles=[])

    assert team.approve(ask, by="sec").open


def test_a_removed_persons_refusal_no_longer_counts(team: Desk) -> None:
    ask = team.open("drop", {"table": "users"}, needs=BOTH, deny=2)
    team.reject(ask, "no", by="anna")
    team.people.remove("anna")

    assert team.reject(ask, "no", by="sec").open


def test_alone_one_word_is_enough_whatever_is_needed(desk: Desk) -> None:
    ask = desk.open("drop", {"table": "users"}, needs=BOTH, deny=2)

    assert desk.get(ask.id).solo
    assert desk.approve(ask).decision


def test_the_first_person_ends_solo_mode_for_open_asks_too(desk: Desk) -> None:
    ask = desk.open("drop", {"table": "users"}, needs=BOTH)
    desk.people.add("anna", roles=["senior"])
    desk.people.add("sec", roles=["security"])

    assert not desk.get(ask.id).solo
    assert desk.approve(ask, by="anna").open
    assert desk.approve(ask, by="sec").decision


def test_the_one_who_came_too_late_learns_who_was_faster(team: Desk) -> None:
    ask = team.open("refund", {"amount": 40})
    team.reject(ask, "wrong order", by="anna")

    with pytest.raises(AskClosed) as conflict:
        team.approve(ask, by="ben")

    assert conflict.value.decision is not None
    assert (conflict.value.decision.by.id, conflict.value.decision.note) == ("anna", "wrong order")
