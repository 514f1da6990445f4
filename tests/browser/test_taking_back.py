"""Undo while it can be undone, and deciding many at once with a result for each."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from sayso import Ask
from sayso.channels.headline import headline
from tests.browser.office import Office
from tests.browser.window import PHONE, Window

WAYS = pytest.mark.parametrize("js", [True, False], ids=["js", "plain"])


# --- undo --------------------------------------------------------------------------------------


@WAYS
def test_a_decision_is_undone_while_it_holds_and_the_ask_is_back(solo: Office, js: bool) -> None:
    ask = solo.open()
    here = solo.window(js=js).visit(solo.path(ask)).armed()
    here.verdict("approve").click()

    here("#held form.undo button").click()

    here.shows(ask.id)
    expect(here.verdict("approve")).to_be_visible()
    assert solo.now(ask).status == "open"
    solo.later()
    assert solo.now(ask).status == "open"


def test_the_key_z_undoes_and_the_ask_can_be_decided_again(solo: Office) -> None:
    first, second = solo.several(2)
    here = solo.window().visit(solo.path(first)).armed()
    here.page.keyboard.press("a")
    expect(here("#held form.undo")).to_be_visible()
    here.shows(second.id)

    here.page.keyboard.press("z")

    here.shows(first.id).armed()
    assert solo.now(first).status == "open"
    assert solo.now(second).status == "open"
    here.page.keyboard.press("r")
    expect(here("#held form.undo")).to_be_visible()
    assert solo.decided(first).verdict == "reject"


@WAYS
def test_an_undo_that_comes_too_late_says_so_and_changes_nothing(solo: Office, js: bool) -> None:
    ask = solo.open()
    here = solo.window(js=js)
    if js:  # nobody tells this browser that something happened
        here.forgive("ERR_FAILED", "/api/v1/events")
        here.context.route("**/api/v1/events**", lambda route: route.abort())
    here.visit(solo.path(ask)).armed()
    here.verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()
    solo.later()

    # The browser of somebody whose clock is behind still shows the button.
    here("#held form.undo button").first.dispatch_event("click")

    expect(here("body")).to_contain_text(re.compile("too late|already", re.IGNORECASE))
    assert solo.now(ask).status == "decided"
    assert solo.now(ask).decision.verdict == "approve"  # type: ignore[union-attr]


def test_nobody_carries_out_what_can_still_be_undone(solo: Office) -> None:
    ask = solo.open()
    here = solo.window().visit(solo.path(ask)).armed()
    here.verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()

    with pytest.raises(Exception, match=ask.id):
        solo.desk.begin(ask)
    solo.later()
    assert solo.desk.begin(ask).args == ask.args


def test_the_hold_is_shorter_where_there_is_less_time(solo: Office) -> None:
    ask = solo.open(within="5s")
    here = solo.window(js=False).visit(solo.path(ask))

    here.verdict("approve").click()

    now = solo.now(ask)
    assert now.status in ("settling", "decided")
    if now.settles_at is not None:
        assert now.settles_at <= ask.content.due_at  # type: ignore[operator]
    assert solo.decided(ask).verdict == "approve"


# --- many at once ------------------------------------------------------------------------------


def picks(here: Window, *asks: Ask) -> None:
    for ask in asks:
        here(f'#queue input.pick[value^="{ask.id} "]').check(force=True)


@WAYS
def test_several_are_decided_at_once_and_each_has_its_result(solo: Office, js: bool) -> None:
    asks = solo.several(3, risk="low")
    other = solo.open(risk="medium")
    here = solo.window(js=js).visit(solo.queue)

    picks(here, *asks)
    here(
        "form#bulk button[name=verdict][value=approve], .bulk-bar button[value=approve]"
    ).first.click()
    page = here("main")
    for ask in asks:  # what is about to be decided is listed first
        expect(page.first).to_contain_text(headline(ask))
    assert {solo.now(ask).status for ask in asks} == {"open"}
    solo.desk.reject(asks[1])  # somebody is faster
    confirm(here)

    expect(here("main").first).to_contain_text(re.compile(r"2 approved|2 of 3", re.IGNORECASE))
    expect(here("main").first).to_contain_text(re.compile("already|rejected", re.IGNORECASE))
    solo.later()
    verdicts = [solo.now(ask).decision.verdict for ask in asks]  # type: ignore[union-attr]
    assert verdicts == ["approve", "reject", "approve"]
    assert solo.now(other).status == "open"


def confirm(here: Window) -> None:
    """Say yes to the list of what is about to be decided."""
    here('form[action="/inbox/bulk"] button[name=sure]').first.click()


def test_the_key_x_selects_and_the_keyboard_alone_decides_them(solo: Office) -> None:
    solo.several(2, risk="low")
    here = solo.window().visit(solo.queue).armed()

    here.page.keyboard.press("x")
    here.page.keyboard.press("j")
    here.armed()
    here.page.keyboard.press("x")

    expect(here("#queue input.pick:checked")).to_have_count(2)
    expect(here(".bulk-bar")).to_be_visible()
    expect(here(".bulk-bar")).to_contain_text("2")


def test_what_is_of_high_risk_cannot_be_picked_nor_smuggled_in(solo: Office) -> None:
    low, high = solo.open(risk="low"), solo.open(risk="high")
    here = solo.window(js=False).visit(solo.queue)
    expect(here(f'#queue .row[data-ask="{high.id}"] input.pick')).to_have_count(0)
    expect(here(f'#queue .row[data-ask="{high.id}"]')).not_to_have_attribute(
        "data-bulk", re.compile(".")
    )

    picks(here, low)
    here(f'#queue input.pick[value^="{low.id} "]').evaluate(
        "(pick, value) => { pick.value = value }", f"{high.id} {high.digest}"
    )
    here(
        "form#bulk button[name=verdict][value=approve], .bulk-bar button[value=approve]"
    ).first.click()
    again = here('form[action="/inbox/bulk"] button[name=sure]')
    if again.count():
        again.first.click()

    assert solo.now(high).status == "open"
    assert solo.now(low).status == "open"


def test_several_are_decided_at_once_on_a_phone(solo: Office) -> None:
    asks = solo.several(2, risk="low")
    here = solo.window(size=PHONE, touch=True).visit(solo.queue)

    picks(here, *asks)
    here(".bulk-bar button[value=reject]").tap()
    expect(here('form[action="/inbox/bulk"] button[name=sure]')).to_be_visible()
    assert here.too_wide() == []
    confirm(here)

    expect(here("main").first).to_contain_text(re.compile("2", re.IGNORECASE))
    solo.later()
    assert [solo.now(ask).decision.verdict for ask in asks] == ["reject", "reject"]  # type: ignore[union-attr]
