"""`sayso cases` and `sayso preferences`."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso import Ask, Desk
from tests.cli.conftest import Sayso
from tests.hostile import ALL, raw_in


@pytest.fixture
def decided(desk: Desk, ask: Ask) -> Ask:
    """A refund that was edited and paid, and another that was rejected."""
    desk.edit(ask, {"amount": 30}, note="Only once")
    desk.finish(desk.begin(ask), result="paid 30")
    desk.reject(desk.open("refund", {"reason": "lost bicycle key"}), "We sell no keys")
    return ask


def test_an_empty_desk_has_no_cases_and_none_is_made(sayso: Sayso, here: Path) -> None:
    assert sayso("cases", "list").out == "desk: ./sayso.db, 0 cases\n"
    assert "None yet" in sayso("preferences", "list").out
    assert list(here.iterdir()) == []
    assert sayso("cases", "search", "x").code == 1


def test_a_case_is_listed_with_what_was_decided_and_what_came_of_it(
    sayso: Sayso, decided: Ask
) -> None:
    out = sayso("cases", "list").out

    assert out.startswith("desk: ./sayso.db, 2 cases\n")
    first, second = out.split("\n\n")[1:]
    assert "refund, rejected by" in first
    assert "We sell no keys" in first
    assert f"{decided.id}  refund, approved with edits by" in second
    assert "amount 40 -> 30" in second
    assert "done: paid 30" in second


def test_a_search_shows_scores_the_best_first(sayso: Sayso, decided: Ask) -> None:
    done = sayso("cases", "search", "bicycle key lost")

    assert done.out.startswith("desk: ./sayso.db, 1 case\n\n1.00  a-")
    assert sayso("cases", "search", "key", "--least", "0.9").out.endswith(" 0 cases\n")
    assert sayso("cases", "search", "key", "--tool", "other").out.endswith(" 0 cases\n")
    assert sayso("cases", "search", "key", "--least", "7").code == 2


def test_cases_as_json(sayso: Sayso, decided: Ask) -> None:
    listed = sayso("cases", "list", "--json").json
    found = sayso("cases", "search", "once", "--json").json

    assert [case["verdict"] for case in listed["cases"]] == ["reject", "edit"]
    assert found["cases"][0]["id"] == decided.id
    assert found["cases"][0]["edits"] == ["amount 40 -> 30"]
    assert 0 < found["cases"][0]["score"] <= 1


def test_a_rated_result_says_how_it_was_called(sayso: Sayso, desk: Desk) -> None:
    later = desk.later.feedback("March was fine", task="Summarise March")
    desk.reject(later.ask, "Name the region")

    out = sayso("cases", "list").out

    assert "feedback, called bad by" in out
    assert "Summarise March" in out
    assert "March was fine" in out


def test_hostile_text_is_made_visible(sayso: Sayso, desk: Desk) -> None:
    desk.respond(desk.open("note", {"text": ALL}), ALL)

    for command in (("cases", "list"), ("cases", "search", ALL), ("preferences", "list")):
        assert raw_in(sayso(*command).out) == []


def test_preferences_are_shown_rewritten_and_removed(sayso: Sayso, decided: Ask) -> None:
    listed = sayso("preferences", "list").out.splitlines()
    assert listed[0] == "desk: ./sayso.db, 1 preference"
    assert listed[2].split() == ["ASK", "AGENT", "BY", "PREFERENCE"]
    assert listed[3].endswith("refund: amount 40 -> 30; Only once")

    done = sayso("preferences", "edit", decided.id.upper(), "Pay back once")
    assert done.out == f"{decided.id}: Pay back once\n"
    (known,) = sayso("preferences", "list", "--agent", "shop", "--json").json["preferences"]
    assert (known["text"], known["rewritten"]) == ("Pay back once", True)

    assert sayso("preferences", "remove", decided.id).out.startswith(f"{decided.id} is forgotten")
    assert sayso("preferences", "list", "--json").json["preferences"] == []
    again = sayso("preferences", "remove", decided.id)
    assert (again.code, "no preference" in again.err) == (1, True)


def test_on_a_desk_with_people_somebody_says_who_they_are(sayso: Sayso, desk: Desk) -> None:
    desk.people.add("anna")
    ask = desk.open("pay", {"amount": 40})
    desk.edit(ask, {"amount": 30}, by="anna")

    assert sayso("preferences", "remove", ask.id).code == 1
    assert (
        sayso("preferences", "edit", ask.id, "less", "--as", "anna", "--json").json["by"] == "anna"
    )
    assert sayso("preferences", "remove", ask.id, "--as", "anna", "--json").json == {"id": ask.id}
