"""Trust as pages: every number is the one of Python, and what people do there is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import connect

import pytest

from sayso import Desk
from sayso.autonomy.book import Book
from sayso.channels.reputation import marks_words, reputation, score_words
from sayso.testing import FakeClock
from sayso.web.pages import trust as pages
from tests.earlier import any_names
from tests.keyed import call, earning, granted, law, locked, proposed, said
from tests.served import Served
from tests.web.inbox.browser import Node, Tab, tab

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory, clock: FakeClock) -> Iterator[Served]:
    """anna and ada are senior in billing, ben is a junior in support."""
    folder = tmp_path_factory.mktemp("trust")
    url = f"sqlite:///{folder}/desk.db"
    with Desk(url, agent="shop", clock=clock, policy=law()) as desk:
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ada", roles=["senior"], teams=["billing"])
        desk.people.add("ben", roles=["junior"], teams=["support"])
        with Served(desk) as served:
            yield served


def listed(page: Node) -> dict[str, list[str]]:
    """Return the keys of each group."""
    return {
        group.one("h2").text: [
            row.attrs["id"].removeprefix("line-") for row in group.one("tbody").all("tr")
        ]
        for group in page.one("div", id="keys").all("section")
        if group.all("h2")
    }


def row(page: Node, book: Book) -> Node:
    return page.one("tr", id=f"line-{book.id}")


def fact(page: Node, name: str) -> str:
    for pair in page.one("dl", class_="run-facts").all("div"):
        if pair.one("dt").text == name:
            return pair.one("dd").text
    raise AssertionError(f"nothing says {name}")


def press(here: Tab, label: str, **typed: str) -> Tab:
    (button,) = (one for one in here.page.all("button") if one.text == label)
    return here.press(button, **typed)


# --- the list ----------------------------------------------------------------------------------


def test_nothing_earned_yet_says_what_begins_a_record(anna: Tab) -> None:
    assert "Nothing was earned yet" in anna.go("/trust").page.text


def test_keys_stand_in_groups_with_the_numbers_of_python(desk: Desk, anna: Tab) -> None:
    earns = earning(desk, by="anna", short=57)
    alone = granted(desk, "wire", by="anna", agent="till")
    said(desk, alone.id, "fine", 3, rho=alone.terms.audit)
    wants = proposed(desk, "note", by="anna")
    shut = locked(desk, "note", by="anna", agent="till")

    page = anna.go("/trust").page

    assert listed(page) == {
        "Wants somebody": [wants.id],
        "Runs alone": [alone.id],
        "Earning": [earns.id],
        "Locked": [shut.id],
    }
    earns = desk.trust.key(earns.id)
    assert row(page, earns).one("td", data_head="Still needed").text == f"{earns.missing}" == "57"
    score = row(page, earns).one("td", data_head="Score")
    assert score_words(earns) in score.text
    assert 0 < float(score.one("progress").attrs["value"]) < 1
    alone = desk.trust.key(alone.id)
    assert row(page, alone).one("td", data_head="Looked at").text == f"{alone.terms.audit:.1%}"
    assert row(page, alone).one("td", data_head="Strikes").text == "0 of 1"
    left = row(page, alone).one("td", data_head="May let through").text
    assert left == f"{alone.exposure:.1f}" == "4.0"
    assert row(page, wants).one("a", class_="btn").attrs["href"] == f"/inbox/{wants.grant_ask}"
    assert row(page, shut).one("td", data_head="Grants ended by harm").text == "3"


def test_ticks_say_in_words_what_they_show(desk: Desk, anna: Tab) -> None:
    book = earning(desk, by="anna", short=240)
    said(desk, book.id, "flagged", by="anna")
    said(desk, book.id, "confirmed", by="ada", flagged="a-0001")
    book = desk.trust.key(book.id)

    drawn = row(anna.go("/trust").page, book).one("svg", class_="marks")

    assert drawn.attrs["aria-label"] == marks_words(book.marks)
    assert "8 fine, 1 flagged, 1 harmful" in drawn.attrs["aria-label"]
    assert len(drawn.all("rect")) == len(book.marks)


def test_filters_are_those_of_python_and_counts_are_of_all(desk: Desk, anna: Tab) -> None:
    first, second = earning(desk, by="anna"), earning(desk, by="anna", agent="till")
    third = granted(desk, "wire", by="anna", agent="till")

    for query, wanted in {
        "?agent=till": {third.id, second.id},
        "?tool=refund": {first.id, second.id},
        "?standing=granted": {third.id},
        "?standing=reviewed&agent=till": {second.id},
        "?standing=nonsense": {first.id, second.id, third.id},
    }.items():
        page = anna.go(f"/trust{query}").page
        assert {key for keys in listed(page).values() for key in keys} == wanted, query
        chips = [chip.text for chip in page.one("nav", aria_label="Standing").all("a")]
        assert chips == ["All 3", "Runs alone 1", "Earning 2"]
    assert "No key fits" in anna.go("/trust?tool=nothing").page.text


def test_more_keys_than_a_page_holds_are_said_to_be_left_out(
    desk: Desk, anna: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    earning(desk, by="anna"), earning(desk, by="anna", agent="till")
    monkeypatch.setattr(pages, "SHOWN", 1)

    page = anna.go("/trust").page

    assert sum(map(len, listed(page).values())) == 1
    assert "These are the first 1." in page.text


def test_a_book_that_was_changed_by_hand_says_so_and_hides_nothing_else(
    tmp_path: Path, clock: FakeClock
) -> None:
    url = f"sqlite:///{tmp_path}/desk.db"
    with Desk(url, agent="shop", clock=clock, policy=law()) as desk:
        desk.people.add("anna", roles=["senior"])
        broken, whole = earning(desk, by="anna"), earning(desk, by="anna", agent="till")
    with closing(connect(tmp_path / "desk.db", isolation_level=None)) as database:
        forge = "update events set payload = replace(payload, 'a-0001', 'a-0007') where stream = ?"
        database.execute(forge, (broken.id,))

    with Desk(url, agent="shop", clock=clock, policy=law()) as desk, Served(desk) as served:
        page = tab(served, "anna").go("/trust").page

    assert "Not as it was written" in row(page, broken).text
    assert "247 of its calls were fine" in row(page, whole).text


# --- one key -----------------------------------------------------------------------------------


def test_the_page_of_a_key_says_all_that_its_book_says(desk: Desk, anna: Tab) -> None:
    book = granted(desk, by="anna")

    page = anna.go(f"/trust/{book.id}").page

    assert page.one("p", class_="run-now").text == f"Runs alone {reputation(book)}."
    for name, value in {
        "Key": book.id,
        "Tier": "medium",
        "Found fine": "248",
        "Confirmed harms": "0",
        "Incidents": "0",
        "Looked at": "11.1% of its calls",
        "Strikes": "0 of 2",
        "Bad calls it may let through": f"{book.exposure:.1f} expected, at most",
        "Reviewers are taken to notice": "80% of bad calls",
        "Grants": "1, 0 ended by harm",
        "Who decides its calls": "1 junior",
        "Reaches": "amount 40; order: text",
    }.items():
        assert fact(page, name) == value
    history = page.one("section", id="history")
    last = desk.trust.history(book.id)[-1].payload or {}
    first = history.all("p", class_="line-said")[0].text
    assert first.startswith(f"anna let it run alone, in {last['ask']}")
    assert "the last 100 of 251" in history.text


@pytest.mark.parametrize("path", ["", "/revoke", "/reopen"])
def test_a_key_that_is_not_there_is_not_found(anna: Tab, path: str) -> None:
    assert anna.go(f"/trust/k-0000000000{path}").status == 404


def test_a_team_is_a_wall_before_its_keys(server: Served, desk: Desk, anna: Tab) -> None:
    book = granted(desk, by="anna", team="billing")
    ben = tab(server, "ben")

    assert [book.id] in listed(anna.go("/trust").page).values()
    assert listed(ben.go("/trust").page) == {}
    assert "All 0" in ben.page.text
    for path in ("", "/revoke"):
        assert ben.go(f"/trust/{book.id}{path}").status == 404
    assert desk.trust.alone(book.id)


def test_a_grant_is_taken_back_after_one_more_question(desk: Desk, anna: Tab) -> None:
    book = granted(desk, by="anna")

    anna.go(f"/trust/{book.id}/revoke")
    assert "people are asked for every call of refund by shop" in anna.page.text
    assert desk.trust.alone(book.id)
    press(anna, "Take it back", note="The shop has moved")

    assert anna.direct.headers["location"] == f"/trust/{book.id}"
    assert desk.trust.key(book.id).ledger.standing == "reviewed"
    assert "The shop has moved" in anna.page.one("section", id="history").text
    assert desk.trust.history(book.id)[-1].actor.id == "anna"


def test_what_is_no_longer_granted_is_said_to_be_so(server: Served, desk: Desk, anna: Tab) -> None:
    book = granted(desk, by="anna")
    anna.go(f"/trust/{book.id}/revoke")
    desk.trust.revoke(book.id, by="ada")

    press(anna, "Take it back")

    assert anna.status == 422
    assert (
        "Only a grant, or a key that is suspended, can be revoked"
        in anna.page.one(role="alert").text
    )
    assert not anna.go(f"/trust/{book.id}").page.all("a", href=f"/trust/{book.id}/revoke")


def test_a_locked_key_is_opened_by_those_who_decide_its_calls(
    server: Served, desk: Desk, anna: Tab
) -> None:
    book = locked(desk, "wire", by="anna")
    ben = tab(server, "ben")
    ben.go(f"/trust/{book.id}/reopen")
    press(ben, "Let it earn again")
    assert ben.status == 403
    assert "ben is none of these" in ben.page.one(role="alert").text

    anna.go(f"/trust/{book.id}/reopen")
    press(anna, "Let it earn again", note="Looked into it")

    assert desk.trust.key(book.id).ledger.standing == "reviewed"


def test_names_of_agents_are_only_text(desk: Desk, anna: Tab) -> None:
    with any_names():
        book = earning(desk, by="anna", agent=HOSTILE, short=240)
        assert call(desk, agent=HOSTILE).stake is not None

    for path in ("/trust", f"/trust/{book.id}"):
        text = anna.go(path).page
        assert not text.all("img")
