"""The tour of a demo, without scripts: what to try, how each of it stands, and how to put it away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sayso
from sayso import Desk
from sayso.access.tokens import make_token
from sayso.web.stops import Chapter, Stop, Tour
from tests import hostile
from tests.web.house import House, serving
from tests.web.inbox.browser import Tab

TOUR = Tour(
    "A place to see",
    "It is small.",
    (
        Stop("first", "Say yes", "It is only a yes."),
        Stop("gone", "Nobody started it", "It is not there."),
        Stop("second", "Say something", "And it is said."),
    ),
    (Chapter("More", (Stop("third", "Another", "As good."),)),),
    (("sayso top --desk demo.db", "Live."),),
    "sayso demo --keep company --reset",
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Desk(f"sqlite:///{tmp_path}/desk.db", account="sam@till") as desk:

        @desk.workflow
        def agree(run: sayso.Running) -> str:
            run.progress(0.4, "four of ten")
            return f"said <b>yes</b> {hostile.ALL}" if run.confirm("Yes?") else "said no"

        for thread in ("first", "second", "third"):
            desk.start(agree, thread=thread)
        desk.work(until="idle")
        yield desk


@pytest.fixture
def house(desk: Desk) -> Iterator[House]:
    with serving(desk, tour=TOUR) as house:
        yield house


@pytest.fixture
def tab(house: House) -> Tab:
    return Tab(house.signed_in())


def stands(tab: Tab, number: int) -> str:
    return tab.go("/tour").page.one("li", data_stop=str(number)).one(class_="stop-stands").text


def ask_of(desk: Desk, thread: str) -> sayso.Ask:
    (ask,) = (ask for ask in desk.inbox() if ask.content.thread == thread)
    return ask


def test_the_inbox_invites_to_the_tour_and_the_rail_leads_there(tab: Tab) -> None:
    tab.go("/inbox")

    assert "3 stops" in tab.page.one("aside", id="tour").text
    assert tab.page.one("aside", id="tour").one("a").attrs["href"] == "/tour/1"
    assert [one for one in tab.page.all("a", class_="place") if one.attrs["href"] == "/tour"]


def test_the_page_of_the_tour_says_how_to_begin_anew(tab: Tab) -> None:
    assert "sayso demo --keep company --reset" in tab.go("/tour").page.text


def test_a_stop_leads_to_what_waits_there_and_says_what_to_do(tab: Tab, desk: Desk) -> None:
    tab.go("/tour/1")

    assert tab.ask == ask_of(desk, "first").id
    line = tab.page.one("aside", id="tour")
    assert "Say yes" in line.text
    assert "It is only a yes." in line.text
    assert line.one("a").attrs["href"] == "/tour/3", "at the second stop nothing waits"


def test_a_script_that_goes_on_to_another_ask_gets_the_line_of_that_one(
    tab: Tab, desk: Desk
) -> None:
    swap = {"HX-Request": "true"}
    said = tab.client.get(f"/inbox/{ask_of(desk, 'second').id}", headers=swap).text
    other = tab.client.get(f"/inbox/{ask_of(desk, 'third').id}", headers=swap).text

    assert "And it is said." in said
    assert 'id="tour" class="tour-line" aria-label="Tour" hx-swap-oob="true"' in said
    assert "New here?" in other, "no stop of the tour, and none was seen yet"


def test_each_stop_says_how_its_run_stands(tab: Tab, desk: Desk) -> None:
    assert stands(tab, 1) == "Waits for you"
    assert stands(tab, 2) == "Not there"

    desk.approve(ask_of(desk, "first"))
    assert "40%" in stands(tab, 1)

    desk.work(until="idle")
    assert stands(tab, 1).startswith("Done said <b>yes</b>")
    assert "1 of 3 stops seen" in tab.page.text
    assert hostile.raw_in(tab.answer.text) == []


def test_a_stop_that_is_over_leads_to_what_was_decided_there(tab: Tab, desk: Desk) -> None:
    ask = ask_of(desk, "first")
    desk.approve(ask)
    desk.work(until="idle")

    assert tab.go("/tour/1").ask == ask.id
    assert tab.state == "decided"


def test_after_each_decision_the_line_leads_on_until_nothing_waits(tab: Tab, desk: Desk) -> None:
    tab.go("/tour/1")
    tab.verdict("approve")
    line = tab.go("/inbox").page.one("aside", id="tour")
    assert line.one("a").attrs["href"] == "/tour/3", "what is decided is not offered again"

    desk.approve(ask_of(desk, "second"))
    desk.work(until="idle")
    line = tab.go("/inbox").page.one("aside", id="tour")
    assert "That was the tour" in line.text
    assert line.one("a").attrs["href"] == "/tour"


def test_once_something_is_seen_the_next_stop_is_named_everywhere(tab: Tab, desk: Desk) -> None:
    desk.approve(ask_of(desk, "first"))
    desk.work(until="idle")

    for path in ("/inbox", f"/inbox/{ask_of(desk, 'third').id}"):
        line = tab.go(path).page.one("aside", id="tour")
        assert "Next on the tour: Say something" in line.text
        assert line.one("a").attrs["href"] == "/tour/3"


def test_where_nothing_is_comes_the_page_of_all(tab: Tab) -> None:
    for number in (2, 5, 1000):
        tab.go(f"/tour/{number}")
        assert tab.answer.url.path == "/tour"
        assert tab.page.one("h1").text == "A place to see"
    assert "sayso top --desk demo.db" in tab.page.text


def test_the_tour_can_be_put_away_and_stays_away(tab: Tab) -> None:
    tab.go("/inbox")
    tab.client.headers["Referer"] = str(tab.answer.url)
    tab.press(tab.page.one("aside", id="tour").one("button"))

    assert tab.answer.url.path == "/inbox"
    assert tab.page.all("aside", id="tour") == []
    assert tab.go("/tour/1").page.all("aside", id="tour") == []
    assert tab.page.all("a", href="/tour"), "it is still there for whoever looks for it"

    tab.go("/tour")
    tab.client.headers["Referer"] = str(tab.answer.url)
    tab.press(tab.page.one("button", name="show", value="on"))
    assert len(tab.go("/tour/1").page.all("aside", id="tour")) == 1


def test_a_desk_without_a_tour_has_none(desk: Desk) -> None:
    with serving(desk) as house:
        tab = Tab(house.signed_in())
        tab.go("/inbox")
        assert tab.page.all("aside", id="tour") == []
        assert tab.page.all("a", href="/tour") == []
        assert tab.go("/tour").answer.status_code == 404


def test_only_people_are_shown_around(house: House) -> None:
    store, origin = house.desk.store, house.desk.origin
    _, secret = make_token(store, name="bot", kind="agent", expires=None, origin=origin)

    for path in ("/tour", "/tour/1", "/tour/stops"):
        assert house.client().get(path).status_code == 401
        assert house.client(secret).get(path).status_code == 403
