"""Two people at one ask, and one person who is too quick: the right ask is decided, once."""

from __future__ import annotations

import re
from itertools import cycle
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.office import Office
from tests.browser.window import PHONE, Window

# --- two browsers ------------------------------------------------------------------------------


def typed_into(here: Window, ask_id: str) -> None:
    """Begin to edit, and to write a note."""
    here('main#detail [name="/amount"]').first.fill("31")
    here.note(ask_id).fill("thirty-one is fair")


def still_typed(here: Window, ask_id: str) -> None:
    """What was typed is on screen, and the browser still has it."""
    expect(here('main#detail [name="/amount"]').first).to_have_value("31")
    expect(here.note(ask_id)).to_have_value("thirty-one is fair")


def test_the_second_of_two_browsers_sees_the_first_at_once_and_keeps_what_was_typed(
    team: Office,
) -> None:
    ask = team.open()
    anna = team.comes_by_password(team.stranger(), "anna", team.path(ask)).shows(ask.id)
    ben = team.comes_by_password(team.stranger(), "ben", team.path(ask)).shows(ask.id)
    typed_into(ben, ask.id)
    ben('main#detail [name="/amount"]').first.focus()

    anna.armed().verdict("approve").click()
    expect(anna("#held form.undo")).to_be_visible()
    team.decided(ask)

    banner = ben(f"#banner-{ask.id}")
    expect(banner).to_contain_text("anna")
    expect(banner).to_contain_text(re.compile("approved", re.IGNORECASE))
    expect(ben("main#detail [data-arms]")).to_have_count(0)
    still_typed(ben, ask.id)
    expect(ben('main#detail [name="/amount"]').first).to_be_focused()


def test_a_decision_that_comes_too_late_says_who_was_faster_and_keeps_every_word(
    team: Office,
) -> None:
    ask = team.open()
    ben = team.window("ben")
    # Nobody tells this browser that something happened.
    ben.forgive("ERR_FAILED", "/api/v1/events")
    ben.context.route("**/api/v1/events**", lambda route: route.abort())
    ben.visit(team.path(ask)).armed()
    typed_into(ben, ask.id)
    team.desk.approve(ask, by="anna")

    ben.verdict("approve").click()

    expect(ben(f"#banner-{ask.id}")).to_contain_text("anna")
    expect(ben("main#detail [data-arms]")).to_have_count(0)
    still_typed(ben, ask.id)
    assert team.now(ask).decision.by.id == "anna"  # type: ignore[union-attr]
    assert team.now(ask).args["amount"] == 40


@pytest.mark.parametrize("size", [None, PHONE], ids=["desktop", "phone"])
def test_a_refusal_is_in_view_and_focused_however_far_one_had_scrolled(
    team: Office, size: Any
) -> None:
    ask = team.open(needs=["2 senior"], why="because\n" * 90, impact="much\n" * 90)
    ada = team.window("ada", **({"size": size} if size else {}))
    ada.forgive("ERR_FAILED", "/api/v1/events")
    ada.context.route("**/api/v1/events**", lambda route: route.abort())
    ada.visit(team.path(ask)).armed()
    ada("main#detail .editor").evaluate("(one) => one.scrollIntoView({ block: 'end' })")
    expect(ada(f"#title-{ask.id}")).not_to_be_in_viewport()
    team.desk.edit(ask, {"amount": 35}, by="anna")

    ada.verdict("approve").click()

    banner = ada(f"#banner-{ask.id} .banner")
    expect(banner).to_be_focused()
    expect(banner).to_be_in_viewport()
    expect(banner).to_have_attribute("role", "alert")
    expect(ada("#toast")).to_contain_text("Nothing was decided")
    assert [vote.by.id for vote in team.now(ask).votes] == ["anna"]
    ada.armed().verdict("approve").click()  # having seen it
    expect(ada("#held form.undo")).to_be_visible()


def test_an_ask_that_was_withdrawn_or_ran_out_of_time_says_so_and_takes_nothing(
    team: Office,
) -> None:
    gone, late = team.open(), team.open(within="1h")
    here = team.window("ben").visit(team.path(gone)).armed()
    typed_into(here, gone.id)
    team.desk.withdraw(gone, "no longer needed")
    expect(here(f"#banner-{gone.id}")).to_contain_text("withdrawn")
    expect(here("main#detail [data-arms]")).to_have_count(0)
    still_typed(here, gone.id)

    here.visit(team.path(late)).armed()
    team.later(3601)
    expect(here(f"#banner-{late.id}")).to_be_visible()
    expect(here("main#detail [data-arms]")).to_have_count(0)


# --- too quick (E31) ---------------------------------------------------------------------------

DELAYS = (0, 0, 5, 20, 60, 110, 145, 160, 220)  # milliseconds between moving on and saying yes


def quick_presses(office: Office, presses: int, latency: int) -> list[str]:
    """Move on and say yes at once, many times; return which asks were decided by mistake."""
    office.several(2 * presses + 5)
    here = office.window().visit(office.queue).armed()
    slow(here, latency)
    wrong: list[str] = []
    for _, delay, move in zip(range(presses), cycle(DELAYS), cycle("jjk"), strict=False):
        before = here.ask
        assert before is not None
        here.page.keyboard.press(move)
        if delay:
            here.passes(delay)
        here.page.keyboard.press("a")
        here.idle().armed()
        if office.now(before).status != "open":
            wrong.append(f"{before} was decided by a, {delay} ms after {move}")
    # Whoever looks first decides what they look at.
    seen = here.armed().ask
    assert seen is not None
    here.page.keyboard.press("a")
    expect(here(f'#held form.undo[action^="/inbox/{seen}/"]')).to_be_visible()
    assert office.now(seen).status == "settling"
    return wrong


def slow(here: Window, latency: int) -> None:
    """Let every answer take so many milliseconds more."""
    wire = here.context.new_cdp_session(here.page)
    wire.send("Network.enable")
    speed = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    wire.send("Network.emulateNetworkConditions", {**speed, "latency": latency})


@pytest.mark.parametrize("latency", [0, 80])
def test_yes_right_after_moving_on_never_decides_the_ask_before(solo: Office, latency: int) -> None:
    assert quick_presses(solo, len(DELAYS), latency) == []


@pytest.mark.soak
@pytest.mark.parametrize("latency", [0, 30, 80, 200])
def test_hundreds_of_quick_presses_never_decide_the_ask_before(solo: Office, latency: int) -> None:
    assert quick_presses(solo, 100, latency) == []


# --- one query (E36) ---------------------------------------------------------------------------


def test_the_count_the_badge_the_title_and_the_list_are_of_one_mind(solo: Office) -> None:
    asks = solo.several(4)
    here = solo.window().visit(solo.queue)
    agreed(here, 4)

    shown = here("article.ask").get_attribute("data-ask")
    solo.desk.reject(next(ask for ask in asks if ask.id != shown))
    agreed(here, 3)
    solo.several(2)
    expect(here("#new")).to_be_visible()
    here("#new").click()
    agreed(here, 5)
    here.armed().verdict("approve").click()
    agreed(here, 4)


def agreed(here: Window, number: int) -> None:
    """Every place that counts says the same."""
    expect(here("#count")).to_contain_text(str(number))
    expect(here.page).to_have_title(re.compile(rf"^\({number}\)"))
    expect(here(".rail [data-count]").first).to_contain_text(str(number))
    expect(here("#queue .row:not([data-left])")).to_have_count(number)
