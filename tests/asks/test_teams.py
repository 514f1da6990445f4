"""Teams: whoever is not of an ask's team sees nothing of it, and counts for nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.asks.identity import reviewer
from sayso.errors import (
    BadValue,
    Forbidden,
    UnknownAsk,
    UnknownPerson,
    Unsatisfiable,
)
from sayso.insight.bounds import NEAR
from sayso.model.actor import Origin, Roster
from sayso.model.content import Proposal
from sayso.model.digest import read
from sayso.testing import FakeClock
from tests.places import Place


@pytest.fixture
def walled(desk: Desk) -> Desk:
    """anna and abe are of billing, bea of ops, bo of both, cy of none."""
    desk.people.add("anna", roles=["senior"], teams=["billing"])
    desk.people.add("abe", teams=["billing"])
    desk.people.add("bea", roles=["senior", "security"], teams=["ops"])
    desk.people.add("bo", roles=["chief"], teams=["billing", "ops"])
    desk.people.add("cy", roles=["senior"])
    return desk


def refund(desk: Desk, **terms: Any) -> Ask:
    return desk.open("refund", {"order": 7}, team="billing", **terms)


TOUCHES: dict[str, Callable[[Desk, Ask, str], object]] = {
    "approve": lambda desk, ask, by: desk.approve(ask, by=by),
    "reject": lambda desk, ask, by: desk.reject(ask, by=by),
    "edit": lambda desk, ask, by: desk.edit(ask, {"order": 8}, by=by),
    "claim": lambda desk, ask, by: desk.claim(ask, by=by),
    "assign": lambda desk, ask, by: desk.assign(ask, "anna", by=by),
    "unassign": lambda desk, ask, by: desk.assign(ask, None, by=by),
    "take back": lambda desk, ask, by: desk.take_back(ask, by=by),
}


@pytest.mark.parametrize("touch", TOUCHES.values(), ids=TOUCHES)
@pytest.mark.parametrize("stranger", ["bea", "cy"])
@pytest.mark.parametrize("state", ["open", "settling", "closed"])
def test_to_somebody_of_another_team_an_ask_does_not_exist(
    walled: Desk, touch: Callable[[Desk, Ask, str], object], stranger: str, state: str
) -> None:
    """Whatever they try and however it stands, they learn nothing: not even that it is closed."""
    ask = refund(walled)
    if state != "open":
        walled.approve(ask, by="anna", hold="1h" if state == "settling" else 0)
    before = walled.history(ask)

    with pytest.raises(UnknownAsk) as none:
        touch(walled, ask, stranger)
    with pytest.raises(UnknownAsk) as nowhere:
        walled.approve("a-0000", by=stranger, seen="?")

    assert str(none.value) == str(nowhere.value).replace("a-0000", ask.id)
    assert walled.history(ask) == before


def test_in_solo_mode_there_are_no_walls(desk: Desk) -> None:
    ask = refund(desk)

    assert [one.id for one in desk.inbox(person="sam")] == [ask.id]
    assert desk.approve(ask).decision


def test_somebody_of_another_team_cannot_be_given_an_ask(walled: Desk) -> None:
    ask = refund(walled)

    with pytest.raises(Forbidden, match="bea is not of it"):
        walled.assign(ask, "bea", by="anna")

    assert walled.assign(ask, "bo", by="anna").assignee == "bo"


def test_whoever_left_the_team_holds_no_claim_on_it(walled: Desk) -> None:
    ask = refund(walled)
    walled.claim(ask, by="abe")
    walled.people.add("abe", teams=["ops"])

    assert walled.claim(ask, by="anna").assignee == "anna"


# --- counting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("needs", ["1 security", "2 senior", "1 bea", "4 reviewer", "1 nosuchrole"])
def test_what_only_other_teams_could_decide_is_not_asked(walled: Desk, needs: str) -> None:
    with pytest.raises(Unsatisfiable, match="in the team billing"):
        refund(walled, needs=needs)

    assert walled.inbox().count == 0


def test_what_the_team_alone_could_never_decide_is_not_asked(walled: Desk) -> None:
    with pytest.raises(Unsatisfiable, match="in the team legal"):
        walled.open("refund", {"order": 7}, team="legal")

    with pytest.raises(Unsatisfiable, match="3 in the team billing"):
        refund(walled, deny=4)

    walled.people.add("una", teams=["solo-team"])

    with pytest.raises(Unsatisfiable, match="solo-team"):
        walled.open("refund", {"order": 7}, team="solo-team", requester="una")


def test_what_settles_is_undone_if_its_voter_leaves_the_team(
    walled: Desk, clock: FakeClock
) -> None:
    ask = walled.approve(refund(walled), by="abe", hold="1h")
    walled.people.add("abe", teams=["ops"])
    clock.advance("1h")
    walled.sweep()

    assert walled.get(ask.id).open


def test_with_the_last_person_of_a_team_nothing_becomes_solo(
    walled: Desk, clock: FakeClock
) -> None:
    """An empty team is nobody's: neither who sits at the machine nor the clock decides for it."""
    ask = walled.open("refund", {"order": 7}, team="ops")
    held = walled.approve(walled.open("pay", team="ops"), by="bea", hold="1h")
    walled.people.remove("bea")
    walled.people.add("bo", teams=["billing"])
    clock.advance("1h")
    walled.sweep()

    for by in (None, "sam"):
        with pytest.raises(UnknownPerson):
            walled.approve(ask, by=by)
    for stranger in ("anna", "cy", "bo"):
        with pytest.raises(UnknownAsk):
            walled.approve(ask, by=stranger)
    assert walled.get(ask.id).open
    assert not walled.get(ask.id).solo
    assert walled.get(held.id).open, "nobody is left whose yes it was"


# --- what time does ----------------------------------------------------------------------------

TIMED = """
[tiers.high]
needs = ["1 senior"]
within = "10h"
escalate = [{ after = "2h", to = "chief" }, { after = "3h", to = "security" }]

[tiers.minor]
needs = ["1 reviewer"]
within = "1h"
on_timeout = "approve"

[[rules]]
name = "small ones"
tool = "tip"
tier = "minor"
"""


@pytest.fixture
def timed(walled: Desk, place: Place, clock: FakeClock, tmp_path: Path) -> Any:
    policy = tmp_path / "sayso-policy.toml"
    policy.write_text(TIMED)
    with Desk(place.url, clock=clock, account="sam@till", policy=policy) as desk:
        yield desk


def test_only_people_of_the_team_stand_in(timed: Desk, clock: FakeClock) -> None:
    ask = refund(timed, risk="high")
    clock.advance("3h")
    assert timed.sweep().escalated == (ask.id, ask.id)

    with pytest.raises(UnknownAsk):
        timed.approve(ask, by="bea")
    assert timed.inbox(person="bea").count == 0
    assert timed.approve(ask, by="bo").decision


@pytest.mark.parametrize(("leaves", "verdict"), [(False, "approve"), (True, "reject")])
def test_silence_is_no_yes_where_nobody_of_the_team_could_have_said_no(
    timed: Desk, clock: FakeClock, leaves: bool, verdict: str
) -> None:
    ask = timed.open("tip", {"amount": 1}, team="ops")
    if leaves:
        timed.people.add("bea", roles=["senior", "security"])
        timed.people.add("bo", roles=["chief"], teams=["billing"])
    clock.advance(timedelta(hours=1))
    timed.sweep()

    decision = timed.get(ask.id).decision
    assert decision is not None
    assert decision.verdict == verdict


# --- looking ------------------------------------------------------------------------------------


def test_the_inbox_of_a_person_ends_at_the_wall(walled: Desk) -> None:
    mine, theirs = refund(walled), walled.open("deploy", team="ops")
    ours = walled.open("publish")

    def seen(**query: Any) -> set[str]:
        page = walled.inbox(**query)
        assert page.count == len(page)
        return {ask.id for ask in page}

    assert seen() == {mine.id, theirs.id, ours.id}
    assert seen(person="anna") == seen(teams="billing") == {mine.id, ours.id}
    assert seen(person="bea") == seen(teams=["ops"]) == {theirs.id, ours.id}
    assert seen(person="bo") == seen(teams=["billing", "ops", "ops"]) == seen()
    assert seen(person="cy") == seen(teams=[]) == seen(teams="nosuchteam") == {ours.id}
    assert seen(person="anna", teams=["ops"]) == {ours.id}, "no name opens another wall"


@pytest.mark.parametrize("team", ["", "two words", "x" * 65, "|", 7])
def test_what_cannot_be_a_team_is_refused(desk: Desk, place: Place, team: Any) -> None:
    with pytest.raises(BadValue, match="team"):
        desk.open("pay", team=team)
    with pytest.raises(BadValue, match="team"):
        desk.people.add("anna", teams=[team])
    with pytest.raises(BadValue, match="team"):
        Desk(place.url, team=team)


def test_a_desk_of_a_team_asks_its_team_and_two_teams_are_asked_twice(
    walled: Desk, place: Place, clock: FakeClock
) -> None:
    with Desk(place.url, clock=clock, team="ops", account="sam@till") as ops:
        assert ops.open("deploy").content.team == "ops"
        assert ops.open("refund", team="billing").content.team == "billing"
        assert ops.later.confirm("Go?").ask.content.team == "ops"

    first, second = refund(walled), walled.open("refund", {"order": 7}, team="ops")

    assert first.id != second.id
    assert refund(walled).id == first.id


def test_erasing_what_was_said_leaves_the_wall(walled: Desk) -> None:
    ask = walled.reject(refund(walled), by="anna")
    walled.erase(ask, "asked to")

    assert walled.get(ask.id).content.team == "billing"
    with pytest.raises(UnknownAsk):
        walled.approve(ask.id, by="bea", seen="?")
    assert walled.verify()


# --- the people ---------------------------------------------------------------------------------


def test_teams_are_kept_in_the_journal_and_a_change_is_an_event(walled: Desk) -> None:
    assert {one.name: sorted(one.teams) for one in walled.people}["bo"] == ["billing", "ops"]
    walled.people.add("bo", roles=["chief"], teams=["ops", "billing"])
    added = [event.payload or {} for event in walled.store.stream("people")]
    assert len(added) == 5, "the same again is no change"
    assert added[0]["teams"] == ["billing"]
    assert "teams" not in added[-1], "cy is of none"

    walled.people.add("bo", roles=["chief"])

    assert walled.store.stream("people")[-1].kind == "person.changed"
    assert not walled.store.roster().sees("bo", "ops")
    assert walled.verify()


def test_verify_finds_who_or_what_was_moved_to_another_team_by_hand(
    walled: Desk, place: Place
) -> None:
    place.sql("update people set teams = ? where name = 'cy'", '["billing"]')

    assert "cy" in str(walled.verify().problems)

    ask = refund(walled)
    place.sql("update asks set team = 'ops' where id = ?", ask.id)

    assert "team is 'ops' in the list, 'billing' in the journal" in str(walled.verify().problems)
    with pytest.raises(UnknownAsk):
        walled.approve(ask, by="bea")


def test_a_roster_says_who_sees_what() -> None:
    nobody, held = Roster({}), frozenset[str]()
    some = Roster({"anna": held, "cy": held}, {"anna": frozenset({"billing"}), "cy": held})

    assert nobody.sees("whoever", "billing")
    assert nobody.within("billing").solo
    assert some.sees("anna", "billing")
    assert some.sees("cy", None)
    assert not some.sees("cy", "billing")
    assert not some.sees("stranger", None)
    empty = some.within("ops")
    assert (dict(empty.people), empty.solo, empty.within("ops")) == ({}, False, empty)
    assert not empty.sees("anna", "ops")


def test_a_person_without_a_list_of_teams_is_of_none(desk: Desk) -> None:
    """A roster that says nothing of teams fails closed."""
    bare = Roster({"anna": frozenset()})
    ask = refund(desk)

    with pytest.raises(UnknownAsk):
        reviewer(ask, bare, "anna", Origin("python", "sam"))
    assert not bare.within("billing").people


def test_what_one_team_decided_is_no_precedent_on_the_card_of_another(walled: Desk) -> None:
    words = {"reason": "the parcel came three weeks late and the box was crushed"}
    for team, by in (("ops", "bea"), (None, "cy")):
        walled.approve(walled.open("refund", words, team=team), by=by, note=f"said by {team}")

    shown = {
        team: read(walled.forms.unseen(Proposal.of("refund", words), NEAR, team))
        for team in ("ops", "billing", None)
    }

    said = {team: {case["said"] for case in seen["nearest"]} for team, seen in shown.items()}
    assert said == {
        "ops": {"said by ops", "said by None"},
        "billing": {"said by None"},
        None: {"said by None"},
    }
    assert {team: seen["of"] for team, seen in shown.items()} == {"ops": 2, "billing": 1, None: 1}
    assert len(walled.cases("parcel crushed", least=0)) == 2, "the database itself has no walls"


def test_a_desk_of_a_team_and_its_runs_look_up_the_cases_of_that_team(
    walled: Desk, place: Place
) -> None:
    words = {"reason": "the parcel came three weeks late and the box was crushed"}
    walled.approve(walled.open("refund", words, team="ops"), by="bea")
    found: dict[str | None, int] = {}

    @walled.workflow
    def look(run: Any) -> int:
        return len(run.cases("parcel crushed", least=0))

    for team in ("ops", "billing", None):
        with Desk(place.url, team=team) as desk:
            found[team] = len(desk.cases("parcel crushed", least=0))
        assert walled.run(look, team=team).output == (1 if team == "ops" else 0)

    assert found == {"ops": 1, "billing": 0, None: 1}
