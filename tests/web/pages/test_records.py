"""The full record of an ask: evidence of what was shown, said and done, and of the chain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso import Desk
from sayso.asks import past_people
from sayso.testing import FakeClock
from tests.places import Place
from tests.served import Served
from tests.web.inbox.browser import Node, Tab, tab


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place("sqlite", f"sqlite:///{tmp_path_factory.mktemp('records')}/desk.db")


@pytest.fixture(scope="module")
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(scope="module")
def server(place: Place, clock: FakeClock) -> Iterator[Served]:
    """anna is senior, ben is security, root is an admin."""
    with Desk(place.url, agent="shop", account="sam@till", clock=clock) as desk:
        desk.people.add("anna", roles=["senior"])
        desk.people.add("ben", roles=["security"])
        desk.people.add("root", roles=["admin"])
        with Served(desk) as served:
            yield served


def panel(page: Tab, name: str) -> Node:
    """The panel under a heading."""
    found = [
        node
        for node in page.page.all("section")
        if node.all("h2") and node.all("h2")[0].text == name
    ]
    assert len(found) == 1, f"{len(found)} panels {name}"
    return found[0]


def test_a_decision_of_two_with_an_edit_is_told_whole(root: Tab, desk: Desk) -> None:
    args = {"order": 7, "amount": 1240}
    ask = desk.open("refund", args, risk="high", needs=["1 senior", "1 security"], why="Twice")
    seen = ask.digest
    desk.edit(ask, {"amount": 990}, by="anna", note="Only one")
    edited = desk.get(ask.id)
    desk.approve(edited, by="ben", note="Fine")
    desk.finish(desk.begin(ask.id), result={"id": "rf-1"})

    page = root.go(f"/audit/asks/{ask.id}")

    shown = panel(page, "What was decided on")
    assert f"version 2, digest {edited.digest[:16]}" in shown.text
    assert "The agent says Twice" in shown.text
    assert "amount changed removed: 1240 added: 990" in shown.text
    votes = panel(page, "Votes").text
    assert "anna edited it" in votes
    assert "ben approved" in votes
    assert f"saw version 1, {seen[:16]}" in votes
    assert f"saw version 2, {edited.digest[:16]}" in votes
    assert "via python as sam@till" in votes
    assert "1 senior : anna" in votes
    assert "1 security : ben" in votes
    assert "risk" in panel(page, "Ruling").text
    outcome = panel(page, "Outcome").text
    assert "done" in outcome
    assert "rf-1" in outcome
    chain = panel(page, "The chain")
    hashes = [node.attrs["title"] for node in chain.all("code") if "title" in node.attrs]
    assert hashes == [event.hash.hex() for event in desk.history(ask.id)]
    assert "Verified just now: 5 events" in page.page.text
    assert "by anna and ben" in page.page.text


def test_take_backs_reminders_and_escalations_are_told(
    root: Tab, desk: Desk, clock: FakeClock
) -> None:
    ask = desk.open("wait", {"n": 1}, within="1h")
    desk.approve(ask, by="anna", hold="30s")
    desk.take_back(ask.id, by="anna")
    desk.assign(ask.id, "ben", by="anna")
    clock.advance("2h")
    desk.sweep()

    page = root.go(f"/audit/asks/{ask.id}")

    assert "anna took that back" in panel(page, "Votes").text
    assert "gave it to ben" in panel(page, "Meanwhile").text


def test_of_what_was_erased_the_page_says_so_and_nothing_else(root: Tab, desk: Desk) -> None:
    ask = desk.open("forgotten", {"name": "Ada Lovelace"})
    desk.reject(ask, "her words", by="anna")
    desk.erase(ask, "case 12")

    page = root.go(f"/audit/asks/{ask.id}")

    assert "Lovelace" not in page.page.text
    assert "forgotten" not in page.page.text
    assert "her words" not in page.page.text
    assert "sam erased what 2 events said: “case 12”." in page.page.text
    assert "Rejected by anna" in page.page.text
    assert "Verified just now: 3 events" in page.page.text


def test_a_changed_journal_is_named_where_it_was_changed(
    root: Tab, desk: Desk, place: Place
) -> None:
    ask = desk.open("forged", {"n": 1})
    desk.reject(ask, by="anna")
    place.sql(
        "update events set payload = replace(payload, 'reject', 'approve') where stream = ? and seq = 2",
        ask.id,
    )

    page = root.go(f"/audit/asks/{ask.id}")
    assert "Not as it was written : event 2 does not fit" in page.page.text
    (broken,) = panel(page, "The chain").all("tr", class_="broken")
    assert "2 ask.decided" in broken.text

    place.sql("update events set payload = '{}' where stream = ? and seq = 1", ask.id)
    page = root.go(f"/audit/asks/{ask.id}")
    assert "event 1, 2 does not fit" in page.page.text
    assert "somebody changed it" in page.page.text


@pytest.mark.parametrize("kind", ["question", "choose", "draft", "plan", "notice", "feedback"])
def test_every_kind_of_ask_has_a_record(root: Tab, desk: Desk, kind: str) -> None:
    given = {
        "question": ("Which one?",),
        "choose": ("Which one?", ["a", "b"]),
        "draft": ("Dear Ada",),
        "plan": (["first", "second"],),
        "notice": ("Look",),
        "feedback": ("Was it good?",),
    }[kind]
    ask = desk.put(getattr(desk.forms, kind)(*given, agent="shop").content)

    page = root.go(f"/audit/asks/{ask.id}")

    assert panel(page, "What is shown").text
    assert not [
        node
        for node in page.page.all("button")
        if node.inside("section", class_="record-card")
        and "disabled" not in node.attrs
        and not node.inside("fieldset")
    ]


def test_the_page_of_an_ask_leads_to_its_record(root: Tab, desk: Desk) -> None:
    ask = desk.open("linked", {"n": 1})

    link = root.go(f"/inbox/{ask.id}").page.one("a", href=f"/audit/asks/{ask.id}")

    assert link.text == "Full record"


# --- who filled which place ---


def seats(page: Tab) -> list[str]:
    return [node.text for node in panel(page, "Votes").one("ul", class_="places").all("li")]


def test_a_place_stays_filled_by_whoever_left_the_desk_or_changed_their_roles_since(
    root: Tab, desk: Desk, clock: FakeClock
) -> None:
    desk.people.add("zoe", roles=["security"])
    desk.people.add("max", roles=["senior"])
    ask = desk.open("keep", {"n": 1}, needs=["1 senior", "1 security"])
    desk.approve(ask, by="max")
    desk.approve(desk.get(ask.id), by="zoe")
    clock.advance("1h")
    desk.people.remove("zoe")
    desk.people.add("max", roles=["junior"])

    page = root.go(f"/audit/asks/{ask.id}")

    assert seats(page) == ["1 senior : max", "1 security : zoe"]
    assert "by the roles that people held when it was closed" in panel(page, "Votes").text


def test_nobody_fills_a_place_of_an_open_ask_by_a_role_they_lost(
    root: Tab, desk: Desk, clock: FakeClock
) -> None:
    desk.people.add("tom", roles=["senior"])
    ask = desk.open("lose", {"n": 1}, needs=["1 senior", "1 security"])
    desk.approve(ask, by="tom")
    clock.advance("1h")
    desk.people.remove("tom")

    page = root.go(f"/audit/asks/{ask.id}")

    assert seats(page) == ["1 senior : nobody", "1 security : nobody"]
    assert "by the roles that people hold today." in panel(page, "Votes").text


def test_who_left_before_it_was_decided_fills_no_place(
    root: Tab, desk: Desk, clock: FakeClock
) -> None:
    desk.people.add("uma", roles=["senior"])
    ask = desk.open("before", {"n": 1}, needs=["1 senior", "1 security"])
    desk.approve(ask, by="uma")
    clock.advance("1h")
    desk.people.remove("uma")
    desk.approve(desk.get(ask.id), by="anna")
    desk.approve(desk.get(ask.id), by="ben")
    clock.advance("1h")
    desk.people.add("ben", roles=["security", "auditor"])

    assert seats(root.go(f"/audit/asks/{ask.id}")) == ["1 senior : anna", "1 security : ben"]


def test_people_who_changed_too_often_are_those_of_today_and_the_page_says_so(
    root: Tab, desk: Desk, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.people.add("eve", roles=["security"])
    ask = desk.open("often", {"n": 1}, needs=["1 security"])
    desk.approve(ask, by="eve")
    clock.advance("1h")
    desk.people.remove("eve")
    monkeypatch.setattr(past_people, "MOST", 1)

    page = root.go(f"/audit/asks/{ask.id}")

    assert seats(page) == ["1 security : nobody"]
    assert "hold today: they changed too often" in panel(page, "Votes").text


def test_what_one_alone_decided_stays_theirs_when_people_come(tmp_path: Path) -> None:
    clock = FakeClock()
    with Desk(f"sqlite:///{tmp_path}/desk.db", account="sam@till", clock=clock) as desk:
        ask = desk.approve(desk.open("alone", {"n": 1}))
        clock.advance("1h")
        desk.people.add("root", roles=["admin"])
        with Served(desk) as served:
            page = tab(served, "root").go(f"/audit/asks/{ask.id}")

    assert seats(page) == ["Whoever sits at this machine : sam"]


def test_a_role_that_the_policy_gives_is_held_by_who_left_too(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[groups]\nguards = ["zoe"]\n')
    clock = FakeClock()
    with Desk(f"sqlite:///{tmp_path}/desk.db", policy=policy, clock=clock) as desk:
        desk.people.add("root", roles=["admin"])
        desk.people.add("zoe", teams=["billing"])
        ask = desk.open("guard", {"n": 1}, needs=["1 guards"])
        desk.approve(ask, by="zoe")
        clock.advance("1h")
        desk.people.remove("zoe")
        with Served(desk) as served:
            page = tab(served, "root").go(f"/audit/asks/{ask.id}")

    assert seats(page) == ["1 guards : zoe"]


def test_e60_of_a_call_that_its_program_carries_out_the_record_says_that_nothing_is_known(
    root: Tab, desk: Desk
) -> None:
    """It said that nothing was carried out, of a call that a graph had made."""
    form = desk.forms.propose("pay", {"amount": 40})
    ask = desk.approve(desk.put(form.content), by="anna")

    root.go(f"/audit/asks/{ask.id}")

    said = panel(root, "Outcome").text
    assert "The program carries it out itself" in said
    assert "Nothing was carried out" not in said
