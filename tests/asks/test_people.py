"""The people of a desk are kept in the journal like everything else."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from sayso import Desk
from sayso.errors import BadValue, Forbidden, UnknownPerson
from sayso.model.actor import Person
from tests.places import Place
from tests.together import at_once


def test_a_desk_without_people_is_in_solo_mode_until_the_first_is_added(desk: Desk) -> None:
    assert desk.people.solo
    assert (len(desk.people), list(desk.people)) == (0, [])

    desk.people.add("anna", roles=["senior"])

    assert list(desk.people) == [Person("anna", frozenset({"senior"}))]
    assert desk.people.solo is False


def test_adding_somebody_again_gives_them_other_roles_and_reviewer_is_none(
    desk: Desk, place: Place
) -> None:
    desk.people.add("anna", roles=["senior"])
    desk.people.add("anna", roles="security")

    assert list(desk.people) == [Person("anna", frozenset({"security"}))]
    assert [event.kind for event in desk.events()] == ["person.added", "person.changed"]

    person = desk.people.add("anna", roles=["reviewer", "senior"])

    assert person.roles == {"senior"}


def test_adding_somebody_as_they_are_writes_nothing(team: Desk, place: Place) -> None:
    before = place.count()

    team.people.add("anna", roles=["senior"])

    assert place.count() == before


def test_the_journal_says_who_changed_the_people(team: Desk) -> None:
    team.people.add("zoe", by="anna")

    last = list(team.events())[-1]

    assert (last.kind, str(last.actor)) == ("person.added", "person:anna")


def test_history_keeps_the_name_of_somebody_who_left(team: Desk) -> None:
    ask = team.approve(team.open("refund", {"amount": 1}), by="anna")
    team.people.remove("anna")

    decision = team.get(ask.id).decision
    assert decision is not None
    assert decision.by.id == "anna"
    with pytest.raises(UnknownPerson):
        team.approve(team.open("refund", {"amount": 2}), by="anna")


def test_somebody_removed_can_come_back(team: Desk) -> None:
    team.people.remove("anna")
    assert "anna" not in [person.name for person in team.people]

    team.people.add("anna", roles=["security"])

    assert Person("anna", frozenset({"security"})) in list(team.people)
    assert team.verify()


def test_an_agent_cannot_change_the_people(team: Desk, place: Place) -> None:
    before = place.count()

    with pytest.raises(Forbidden):
        team.people.add("mallory", roles=["senior"], by="agent:shop")
    with pytest.raises(UnknownPerson):
        team.people.remove("anna", by="mallory")

    assert place.count() == before


@pytest.mark.parametrize(
    "name", ["", " ", "an na", "agent:shop", "|anna|", "-anna", "x" * 65, 5, None]
)
def test_a_name_that_would_not_read_as_one_is_refused(desk: Desk, place: Place, name: Any) -> None:
    desk.inbox()
    with pytest.raises(BadValue, match="name"):
        desk.people.add(name)
    assert place.count() == 0


@pytest.mark.parametrize("role", ["", "se nior", "|senior|", "a:b", 5, None])
def test_a_role_that_would_not_read_as_one_is_refused(desk: Desk, place: Place, role: Any) -> None:
    desk.inbox()
    with pytest.raises(BadValue, match="role"):
        desk.people.add("anna", roles=[role])
    assert place.count() == 0


def test_people_added_at_the_same_moment_are_all_there(desk: Desk) -> None:
    names = [f"p{n}" for n in range(8)]

    at_once([partial(desk.people.add, name, roles=[name]) for name in names])

    assert [person.name for person in desk.people] == names
    assert desk.verify()
