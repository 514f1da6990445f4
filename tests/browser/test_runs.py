"""Overview and runs in a browser: they stay true while runs move, and decisions are made there."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from sayso import Ask, Run
from tests.browser.office import Office
from tests.browser.test_everybody import ALL, looked_at
from tests.browser.window import PHONE, Window


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


@pytest.mark.parametrize("path", ["/overview", "/runs", "/runs/{id}", "/runs/{id}?show=memory"])
def test_the_pages_are_for_everybody(solo: Office, run: Run, path: str) -> None:
    here = solo.window().visit(path.format(id=run.id))
    for fold in here.page.locator("main details:not([open])").all():
        if fold.is_visible():
            fold.locator("summary").first.click()

    assert looked_at(here, ALL) == []


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


def test_no_page_beside_the_inbox_breaks_its_own_rules_on_a_phone(solo: Office, run: Run) -> None:
    ask = asked(run)
    here = solo.window(size=PHONE)  # what it complains about fails the test
    for path in (
        *("/overview", "/runs", f"/runs/{run.id}", f"/runs/{run.id}?show=memory"),
        *("/audit", f"/audit/asks/{ask.id}", "/policies", "/policies?tool=refund&risk=critical"),
        *("/people", "/people/sessions", "/people/tokens", "/people/webhooks"),
    ):
        here.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        here.visit(path)
        expect(here("h1")).to_be_visible()
        here.page.emulate_media(color_scheme="light", reduced_motion="reduce")
        expect(here("h1")).to_be_visible()


def test_a_run_is_stopped_from_a_phone(solo: Office, run: Run) -> None:
    here: Window = solo.window(size=PHONE, touch=True).visit(f"/runs/{run.id}")
    here("#steering summary").tap()
    here("#steering input[name=note]").fill("not today")
    here("#steering button.danger").tap()

    expect(here("#standing .status")).to_have_text("Cancelled")
    assert run.error == "not today"


def test_filters_of_the_list_are_in_the_address(solo: Office, run: Run) -> None:
    here = solo.window().visit("/runs")
    here("nav.chips a", has_text="Waiting").click()
    here.page.get_by_label("Id begins with").fill(run.id)
    here.page.get_by_role("button", name="Filter").click()

    assert "status=waiting" in here.page.url
    assert f"begins={run.id}" in here.page.url
    expect(here("li.run-line")).to_have_count(1)
    here("li.run-line .line-title a").click()
    expect(here("h1")).to_contain_text("pay(7)")


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
