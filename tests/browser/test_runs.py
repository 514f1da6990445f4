"""Overview and runs in a browser: they stay true while runs move, and decisions are made there."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from sayso import Ask, Run
from tests.browser.office import Office
from tests.browser.window import PHONE


def pay(run: Any, order: int) -> str:
    run.progress(0.5, "looking")
    said = run.propose("refund", {"order": order, "amount": 40}, risk="low")
    return str(said.decision.verdict)


@pytest.fixture
def run(solo: Office) -> Run:
    """A run that waits for a small refund."""
    if "pay" not in solo.desk.flows:
        solo.desk.workflow(pay)
    for old in solo.desk.runs(status="waiting"):
        solo.desk.cancel(old)
    return solo.desk.run(pay, 7, wait=False)


def asked(run: Run) -> Ask:
    [ask] = run.state.pending
    return ask


def test_an_ask_is_opened_approved_and_undone_on_the_overview(solo: Office, run: Run) -> None:
    ask = asked(run)
    here = solo.window().visit("/overview")
    here(f"#spot-{ask.id} > summary").click()
    expect(here(f"#spot-{ask.id} .why")).to_contain_text("40")
    here(f"#here-{ask.id} button[value=approve]").click()
    expect(here("#toast")).to_contain_text("Approved: Refund")
    assert here.page.url.endswith(f"/overview?done={ask.id}")
    assert solo.now(ask).settling

    here.page.keyboard.press("z")
    expect(here(f"#spot-{ask.id}")).to_be_visible()
    assert solo.now(ask).open


def test_what_somebody_has_opened_is_not_drawn_anew_and_the_rest_is(solo: Office, run: Run) -> None:
    ask = asked(run)
    here = solo.window().visit("/overview")
    here(f"#spot-{ask.id} > summary").click()
    here(f"#here-{ask.id} input[name=note]").fill("I am in the mid")
    other = solo.open()
    expect(here("#happened")).to_contain_text("asked: Refund")

    assert here(f"#here-{ask.id} input[name=note]").input_value() == "I am in the mid"
    expect(here(f"#here-{ask.id} input[name=note]")).to_be_focused()
    solo.desk.reject(other)


def test_a_run_is_followed_while_it_goes_on(solo: Office, run: Run) -> None:
    here = solo.window().visit(f"/runs/{run.id}")
    top = here("main#detail")
    expect(here("#standing")).to_contain_text("Waiting for you")
    expect(here("#standing progress")).to_have_attribute("value", "0.5")
    lines = here("#what-it-did li").count()
    before = top.evaluate("(place) => place.scrollTop")

    solo.desk.approve(asked(run))
    solo.desk.resume(run, wait=False)
    expect(here("#standing .status")).to_have_text("Done")
    expect(here("#pending")).to_be_hidden()
    expect(here("#steering")).to_be_hidden()
    assert here("#what-it-did li").count() > lines
    assert top.evaluate("(place) => place.scrollTop") == before


@pytest.mark.parametrize("path", ["/runs?workflow=pay", "/overview"])
def test_a_list_of_runs_moves_with_them_on_a_phone_in_the_dark(
    solo: Office, run: Run, path: str
) -> None:
    here = solo.window(size=PHONE, theme="dark").visit(path)
    line = here(f"#line-{run.id}")
    expect(line.locator(".status")).to_have_text(re.compile("^Waiting"))

    solo.desk.approve(asked(run))
    solo.desk.resume(run, wait=False)
    if path == "/overview":
        expect(line).to_have_count(0)
    else:
        expect(line.locator(".status")).to_have_text("Done")


def test_a_part_in_which_nothing_happened_or_something_is_selected_stays(
    solo: Office, run: Run
) -> None:
    here = solo.window().visit(f"/runs/{run.id}")
    for _ in range(2):
        here.page.evaluate("() => { document.querySelector('#pending').stays = true; }")
        with here.page.expect_response(lambda answer: answer.url.endswith(run.id)):
            other = solo.open()
        with here.page.expect_response(lambda answer: answer.url.endswith(run.id)):
            solo.desk.reject(other)
        assert here.page.evaluate("() => document.querySelector('#pending').stays")

    here("#standing").select_text()
    solo.desk.cancel(run)
    expect(here("#pending")).to_be_hidden()
    expect(here("#standing")).to_contain_text("Waiting for you")
    here.page.evaluate("() => getSelection().removeAllRanges()")
    solo.desk.reject(solo.open())
    expect(here("#standing")).not_to_contain_text("Waiting for you")
