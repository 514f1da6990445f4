"""`sayso people`."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso import Desk
from tests.cli.conftest import AtTerminal, Sayso


def test_a_desk_without_people_says_who_decides(sayso: Sayso, here: Path) -> None:
    done = sayso("people", "list")

    assert done.out.startswith("desk: ./sayso.db, 0 people\n")
    assert "solo mode" in done.out
    assert list(here.iterdir()) == []


def test_the_first_person_ends_solo_mode_and_is_told_so(sayso: Sayso, desk: Desk) -> None:
    done = sayso("people", "add", "anna", "--role", "senior", "--role", "security")

    assert done.code == 0
    assert "anna is on ./sayso.db now: security, senior" in done.out
    assert "Solo mode has ended" in done.out
    assert "--as anna" in done.out
    assert not desk.people.solo
    assert sayso("people", "list").out.startswith("desk: ./sayso.db, 1 person\n")
    assert "Solo mode" not in sayso("people", "add", "ben").out
    listed = sayso("people", "list").out.splitlines()
    assert listed[0] == "desk: ./sayso.db, 2 people"
    assert [line.split() for line in listed[2:]] == [
        ["NAME", "ROLES"],
        ["anna", "security,", "senior"],
        ["ben", "-"],
    ]


def test_json_for_scripts(sayso: Sayso, desk: Desk) -> None:
    added = sayso("people", "add", "anna", "--role", "senior", "--json").json

    assert (added["name"], added["roles"], added["solo_ended"]) == ("anna", ["senior"], True)
    assert sayso("people", "list", "--json").json["people"] == [
        {"name": "anna", "roles": ["senior"], "teams": []}
    ]
    sayso("people", "add", "ben")
    refused = sayso("people", "remove", "anna", "--json")
    assert (refused.code, refused.error["error"]) == (1, "would-stop")
    assert sayso("people", "remove", "anna", "--yes", "--json").json == {
        "name": "anna",
        "undecidable": [],
    }


def test_adding_somebody_again_changes_their_roles(sayso: Sayso, desk: Desk) -> None:
    sayso("people", "add", "anna", "--role", "senior")

    assert "before: senior" in sayso("people", "add", "anna", "--role", "security").out
    assert "already" in sayso("people", "add", "anna", "--role", "security").out
    assert [sorted(person.roles) for person in desk.people] == [["security"]]


def test_asks_that_nobody_can_decide_any_more_are_named(sayso: Sayso, desk: Desk) -> None:
    stuck = desk.open("pay", needs=["1 senior", "1 security"])
    fine = desk.open("pay")

    done = sayso("people", "add", "anna", "--role", "senior")

    assert stuck.id in done.out
    assert fine.id not in done.out
    assert "security" in done.out[done.out.index(stuck.id) :]
    assert stuck.id not in sayso("people", "add", "sec", "--role", "security").out
    removed = sayso("people", "remove", "sec", "--yes")
    assert stuck.id in removed.out
    assert sayso("people", "add", "ben", "--json").json["undecidable"] == [stuck.id]


def test_removing_says_what_it_would_stop_and_asks_e59(
    sayso: Sayso, desk: Desk, at_terminal: AtTerminal
) -> None:
    for name, role in (("anna", "senior"), ("sec", "security"), ("ben", "junior")):
        desk.people.add(name, role)
    desk.open("pay", needs=["1 senior", "1 security"])

    refused = sayso("people", "remove", "sec")
    assert refused.code == 1
    assert "1 open ask could then be decided by nobody." in refused.err
    assert "The policy, tier critical: Nobody holds the role 'security'" in refused.err
    assert "sayso people remove sec --yes" in refused.err
    assert len(desk.people) == 3

    for answer, left in (("n", 3), ("y", 2)):
        with at_terminal("people", "remove", "sec", ends=None) as terminal:
            terminal.wait_for("Remove sec all the same?")
            assert "1 open ask could then be decided by nobody." in terminal.text
            terminal.type(answer)
            assert terminal.ended() == (answer == "n")
        assert len(desk.people) == left
    assert sayso("people", "remove", "ben").code == 0, "nothing needs him"


def test_the_last_person_stays(sayso: Sayso, desk: Desk) -> None:
    sayso("people", "add", "anna")

    done = sayso("people", "remove", "anna")

    assert done.code == 1
    assert "last person" in done.err
    assert not desk.people.solo


@pytest.mark.parametrize(
    ("args", "instead"),
    [
        (("add", "anna"), "Leave them the role with --admin, or name another administrator first"),
        (("add", "anna", "--role", "senior"), "sayso people add NAME --admin"),
        (("remove", "anna"), "Name another administrator first: sayso people add NAME --admin"),
    ],
)
def test_the_only_administrator_stays_one(
    sayso: Sayso, desk: Desk, args: tuple[str, ...], instead: str
) -> None:
    sayso("people", "add", "anna", "--admin", "--team", "ops")
    sayso("people", "add", "ben")

    done = sayso("people", *args)

    assert done.code == 1
    assert "anna is the only administrator of this desk, so nothing was changed." in done.err
    assert instead in done.err
    assert [(one.name, sorted(one.roles), sorted(one.teams)) for one in desk.people] == [
        ("anna", ["admin"], ["ops"]),
        ("ben", [], []),
    ]
    assert sayso("people", "add", "ben", "--role", "admin").code == 0
    assert sayso("people", *args).code == 0, "there is another one now"


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (("add", "two words"), "two words"),
        (("add", ""), "name of a person"),
        (("add", "anna", "--role", "no good"), "no good"),
        (("add", "agent:x"), "agent:x"),
        (("remove", "nobody"), "nobody"),
    ],
)
def test_names_that_are_none_are_refused(
    sayso: Sayso, desk: Desk, args: tuple[str, ...], word: str
) -> None:
    desk.sweep()

    done = sayso("people", *args)

    assert done.code == 1
    assert word in done.err
    assert len(desk.people) == 0


def test_teams_are_given_listed_and_looked_into(sayso: Sayso, desk: Desk) -> None:
    added = sayso("people", "add", "anna", "--role", "senior", "--team", "billing", "--team", "ops")
    assert "senior; teams: billing, ops" in added.out
    sayso("people", "add", "cy")
    listed = sayso("people", "list").out
    assert ["NAME", "ROLES", "TEAMS"] in [line.split() for line in listed.splitlines()]
    assert ["cy", "-", "-"] in [line.split() for line in listed.splitlines()]
    assert sayso("people", "list", "--json").json["people"][0]["teams"] == ["billing", "ops"]
    ask = desk.open("refund", {"order": 7}, team="billing")
    free = desk.open("publish")

    shown = sayso("inbox", "list", "--team", "ops", "--json").json

    assert [one["id"] for one in shown["asks"]] == [free.id]
    assert sayso("inbox", "list", "--team", "billing", "--json").json["count"] == 2
    assert "It is for the team billing" in " ".join(sayso("inbox", "show", ask.id).out.split())
    assert sayso("inbox", "show", ask.id, "--json").json["team"] == "billing"
    refused = sayso("inbox", "approve", ask.id, "--as", "cy")
    assert refused.code != 0
    assert "There is no ask" in refused.err
    again = sayso("people", "add", "anna", "--role", "senior")
    assert "anna now holds: senior (before: senior; teams: billing, ops)" in again.out
    assert "needs 1 reviewer" in again.out, "nobody is left in billing"


def test_runs_are_listed_by_team(sayso: Sayso, desk: Desk) -> None:
    @desk.workflow
    def settle(run: object) -> None:
        run.confirm("Go?")  # type: ignore[attr-defined]

    run = desk.start(settle, team="billing")

    assert sayso("runs", "list", "--team", "ops", "--json").json["runs"] == []
    (found,) = sayso("runs", "list", "--team", "billing", "--json").json["runs"]
    assert (found["id"], found["team"]) == (run.id, "billing")
    assert "billing" in sayso("runs", "show", run.id).out


# --- whom a provider means ---


PROVIDER = ("--oidc", "https://login.example.org", "248289761001")


def test_a_provider_is_told_whom_it_means_and_told_otherwise(sayso: Sayso, desk: Desk) -> None:
    desk.people.add("anna")

    done = sayso("people", "link", "anna", *PROVIDER)

    assert done.code == 0
    assert "https://login.example.org (248289761001) signs anna in on ./sayso.db now." in done.out
    assert desk.store.identity(*PROVIDER[1:]) == "anna"
    assert sayso("people", "link", "anna", *PROVIDER, "--json").json["subject"] == PROVIDER[2]
    assert sayso("people", "unlink", *PROVIDER).code == 0
    assert desk.store.identity(*PROVIDER[1:]) is None
    assert sayso("people", "unlink", *PROVIDER).code == 1


def test_nobody_is_linked_who_is_not_there_and_nobody_twice(sayso: Sayso, desk: Desk) -> None:
    desk.people.add("anna")
    desk.people.add("ben")
    sayso("people", "link", "anna", *PROVIDER)

    assert sayso("people", "link", "nobody", *PROVIDER).code == 1
    taken = sayso("people", "link", "ben", *PROVIDER)
    assert taken.code == 1
    assert "means anna" in taken.err
    assert sayso("people", "link", "ben", "--oidc", "https://x", "a\x1b[31m").code == 1
