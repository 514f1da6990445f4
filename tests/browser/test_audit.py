"""The journal across runs in a browser: live without moving, proof while one looks on, for everybody."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.office import Office


def test_what_is_new_is_counted_and_the_list_stays(team: Office) -> None:
    for ask in team.several(3):
        team.desk.reject(ask, by="anna")
    here = team.window("anna").visit(f"/audit?actor={team.agent}")
    before = here("#events").inner_text()
    expect(here("[data-fresh-of]")).to_be_hidden()

    team.several(2)

    expect(here("[data-fresh]")).to_have_text("2 new")
    assert here("#events").inner_text() == before
    here("[data-fresh-of] a").click()
    expect(here("#events [data-event]")).to_have_count(5)


def test_verifying_is_watched_without_a_reload(solo: Office) -> None:
    solo.several(2)
    here = solo.window().visit("/audit")
    here.page.evaluate("() => { window.stays = true; }")

    here("form[action='/audit/verification'] button").click()

    expect(here("#proof .finding")).to_contain_text("The journal is whole")
    here("form[action='/audit/seals'] button").click()
    expect(here("#seal-line")).to_have_value(re.compile(r"^sayso-seal:\d+:[0-9a-f]{64}$"))
    expect(here("[data-copy]")).to_be_visible()


def test_a_page_that_answered_a_form_is_kept_true_from_its_own_address(solo: Office) -> None:
    here = solo.window().visit("/audit")
    here("#with-seal > summary").click()
    here("#kept-seal").fill("no seal")
    here("form[action='/audit/verification'] button").click()
    expect(here("[role=alert]")).to_contain_text("no seal")
    assert here.page.url.endswith("/audit/verification")

    with here.page.expect_response(lambda answer: answer.url.endswith("/audit")) as looked:
        solo.several(1)
    assert looked.value.status == 200
    expect(here("#offline")).to_be_hidden()


def test_a_seal_that_is_typed_stays_while_others_work(solo: Office) -> None:
    here = solo.window().visit("/audit")
    here("#with-seal > summary").click()
    here("#kept-seal").fill("sayso-seal:1:")
    here("h1").click()
    here.page.evaluate("() => fetch('/audit/verification', { method: 'POST' })")
    solo.several(1)
    expect(here("[data-fresh]")).to_have_text("1 new")

    expect(here("#kept-seal")).to_have_value("sayso-seal:1:")
