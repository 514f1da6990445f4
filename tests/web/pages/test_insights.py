"""Insights as a page: every figure is the one of Python, and autonomy never stands without its harm."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayso import Desk
from sayso.testing import FakeClock
from sayso.web.pages import parts
from sayso.web.pages.figures import fine_share, share, took
from tests.earlier import any_names
from tests.keyed import call, granted, law
from tests.served import Served
from tests.web.inbox.browser import Node, Tab, tab


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory, clock: FakeClock) -> Iterator[Served]:
    """anna and ada are senior in billing, ben in support."""
    folder = tmp_path_factory.mktemp("insights")
    url = f"sqlite:///{folder}/desk.db"
    with Desk(url, agent="shop", clock=clock, policy=law()) as desk:
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ada", roles=["senior"], teams=["billing"])
        desk.people.add("ben", teams=["support"])
        with Served(desk) as served:
            yield served


def figure(page: Node, label: str) -> Node:
    for one in page.all("div", class_="figure"):
        if one.one("dt").text == label:
            return one
    raise AssertionError(f"nothing says {label}")


def value(page: Node, label: str) -> str:
    return figure(page, label).one("span", class_="figure-value").text


def test_a_desk_on_which_nothing_happened_measures_nothing(anna: Tab) -> None:
    page = anna.go("/insights").page

    assert value(page, "Approved") == "-"
    assert "Nothing was asked in this time." in page.one("section", id="staffing").text
    assert "No agent has stated how sure it is yet." in page.text


def test_every_figure_is_that_of_python(desk: Desk, anna: Tab, clock: FakeClock) -> None:
    for number in range(6):
        ask = call(desk)
        clock.advance(30 * (number + 1))
        if number == 0:
            desk.reject(ask, by="anna")
        elif number == 1:
            desk.edit(ask, {"amount": 7}, by="anna")
        else:
            desk.approve(ask, by="anna")

    page, found = anna.go("/insights?days=7").page, desk.metrics(days=7)

    for label, name, said in (
        ("Approved", "approval_rate", share),
        ("Edited first", "edit_rate", share),
        ("Overridden", "override_rate", share),
        ("Ran without asking", "autonomous_rate", share),
        ("Average time to decide", "avg_approval_time", took),
        ("Waited for somebody", "p50_queue_time", took),
        ("In time", "sla_rate", share),
    ):
        assert value(page, label) == said(found[name]), label
    assert value(page, "Human minutes") == f"{found['minutes_per_1000']:,.0f}"
    assert value(page, "Approved") == "83%"
    assert page.one("a", class_="chip", aria_current="true").text == "7 days"


def test_what_ran_alone_never_stands_without_its_harm(desk: Desk, anna: Tab) -> None:
    granted(desk, by="anna")
    ask = call(desk)
    desk.finish(desk.begin(ask), "paid")
    desk.law.coin = lambda: 0.0
    desk.approve(call(desk), by="anna")
    desk.incident(ask, "It paid a stranger", by="anna")

    page, found = anna.go("/insights").page, desk.metrics()

    assert (found["incidents"], found["audited"]) == (1, 1)
    assert "1 incident" in figure(page, "Ran without asking").text
    assert value(page, "Incidents") == "1"
    assert value(page, "Estimated bad, of what ran alone") == fine_share(
        found["unapproved_bad_rate"]
    )
    bounds = (
        f"{fine_share(found['unapproved_bad_low'])} to {fine_share(found['unapproved_bad_high'])}"
    )
    assert bounds in figure(page, "Estimated bad, of what ran alone").text
    (row,) = page.one("section", id="tiers").one("tbody").all("tr")
    assert row.one("th").text == "medium"
    assert "1 incident" in row.one("td", data_head="Harm").text


def test_whether_people_keep_up_is_said_in_a_sentence(
    desk: Desk, anna: Tab, clock: FakeClock
) -> None:
    asks = [call(desk) for _ in range(3)]
    for ask in asks:
        desk.claim(ask, by="anna")
        clock.advance("40m")
        desk.approve(ask, by="anna")

    found = desk.staffing(days=30)
    told = anna.go("/insights").page.one("section", id="staffing").text

    assert found["per_hour"] == 3
    assert found["warning"]
    assert found["warning"] in told
    assert "1 person" in told
    assert f"{found['hour']:02d}:00 UTC" in told


def test_what_a_confidence_is_worth_is_told_by_tenths(desk: Desk, anna: Tab) -> None:
    for number in range(60):
        ask = call(desk, confidence=0.95)
        if number % 4:
            desk.approve(ask, by="anna")
        else:
            desk.reject(ask, by="anna")

    panel = anna.go("/insights").page.one("section", id="confidence")
    (table,) = desk.calibration()
    (only,) = table["bins"]

    assert "45 of 60 left as they were" in panel.text
    (row,) = panel.one("tbody").all("tr")
    assert [cell.text for cell in row.all("td")][:2] == [f"{only['right']:.0%}", "60"]
    assert f"{table['worth'][0]['worth']:.0%}, {table['worth'][0]['light']}" in row.text
    assert f"{table['ece']:.1%}" in panel.text


def test_a_team_is_a_wall_before_figures(server: Served, desk: Desk) -> None:
    desk.approve(call(desk, team="billing", confidence=0.9), by="anna")

    page = tab(server, "ben").go("/insights").page

    assert value(page, "Approved") == "-"
    assert "No agent has stated" in page.text


def row(page: Node, section: str, name: str) -> dict[str, str]:
    rows = page.one("section", id=section).one("tbody").all("tr")
    (found,) = [one for one in rows if one.one("th").text == name]
    return {cell.attrs["data-head"]: cell.text for cell in found.all("td")}


def rows(page: Node, section: str) -> list[str]:
    return [one.one("th").text for one in page.one("section", id=section).one("tbody").all("tr")]


def test_a_tier_says_how_many_bad_calls_would_be_too_many(desk: Desk, anna: Tab) -> None:
    granted(desk, by="anna")
    desk.law.coin = lambda: 0.0
    desk.approve(call(desk), by="anna")

    page, found = anna.go("/insights").page, desk.metrics(tier="medium")

    said = row(page, "tiers", "medium")["Harm"]
    assert f"at most {found['unapproved_bad_high']:.1%} bad" in said
    assert f"{found['bad_limit']:.0%} would be too many" in said


def test_agents_stand_below_each_other_the_busiest_first(desk: Desk, anna: Tab) -> None:
    desk.approve(call(desk, agent="clerk"), by="anna")
    for _ in range(2):
        desk.approve(call(desk), by="anna")

    assert rows(anna.go("/insights").page, "agents") == ["shop", "clerk"]


def test_whom_somebody_does_not_see_is_counted_and_not_named(server: Served, desk: Desk) -> None:
    for _ in range(3):
        desk.approve(call(desk), by="anna")
    desk.approve(desk.open("chat", needs=["1 ben"]), by="ben")

    mine, theirs = (tab(server, name).go("/insights").page for name in ("ben", "anna"))

    assert rows(mine, "reviewers") == ["ben", "people you do not see, together"]
    assert row(mine, "reviewers", "people you do not see, together")["Decisions"] == "3"
    assert "anna" not in mine.one("section", id="reviewers").text
    assert rows(theirs, "reviewers") == ["anna", "people you do not see, together"]


def test_a_name_that_wants_to_be_more_is_a_name(desk: Desk, anna: Tab) -> None:
    with any_names():
        desk.approve(call(desk, agent="<b>root</b>"), by="anna")

    page = anna.go("/insights").page

    assert rows(page, "agents") == ["<b>root</b>"]
    assert not page.one("section", id="agents").all("b")


def test_only_the_first_agents_and_people_are_drawn(
    desk: Desk, anna: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "AGENTS", 1)
    monkeypatch.setattr(parts, "PEOPLE", 1)
    for name in ("anna", "anna", "ada"):
        desk.approve(call(desk, agent=f"{name}s"), by=name)

    page = anna.go("/insights").page

    assert rows(page, "agents") == ["annas"]
    assert "And 1 more with fewer calls" in page.one("section", id="agents").text
    assert rows(page, "reviewers") == ["anna"]
    assert "And 1 more who decided less" in page.one("section", id="reviewers").text
