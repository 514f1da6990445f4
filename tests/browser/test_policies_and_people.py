"""Policies and people in a browser: for everybody, live, and never in the way of what is typed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.office import Office
from tests.browser.test_everybody import looked_at
from tests.browser.window import PHONE

TRIED = "/policies?tool=refund&args=%7B%22amount%22%3A40%7D&risk=critical&confidence=nan"


@pytest.mark.parametrize(
    "path",
    [
        "/policies?tool=refund&risk=critical&reversible=no",
        TRIED,
        "/people",
        "/people/person/anna",
        "/people/person/anna/remove",
        "/people/sessions",
        "/people/tokens",
        "/people/webhooks",
    ],
)
def test_each_page_is_for_everybody(team: Office, path: str) -> None:
    team.desk.tokens.make(team.agent, owner="anna")
    if not len(team.desk.webhooks):
        team.desk.webhooks.add("http://127.0.0.1:9/hook", "*", allow_private=True)
    here = team.window("root", bypass_csp=True).visit(path)

    assert looked_at(here) == []


def test_solo_mode_is_explained_to_everybody(solo: Office) -> None:
    here = solo.window(bypass_csp=True).visit("/people")

    expect(here.page.get_by_role("heading", name="Solo mode")).to_be_visible()
    assert looked_at(here) == []


@pytest.mark.parametrize("js", [True, False])
def test_a_call_is_tried_on_a_phone_and_its_ruling_is_on_the_screen(team: Office, js: bool) -> None:
    here = team.window("root", size=PHONE, js=js).visit("/policies")
    here.page.get_by_label("Tool").fill("refund")
    here.page.get_by_label("Declared risk").select_option("critical")
    here.page.get_by_role("button", name="What would happen").click()

    expect(here.page).to_have_url(re.compile(r"/policies\?tool=refund&risk=critical"))
    ruling = here.page.get_by_role("heading", name="It waits for people")
    expect(ruling).to_be_in_viewport()
    expect(here.page.get_by_label("Tool")).to_have_value("refund")


def test_tiers_stay_true_while_somebody_types_into_the_form(team: Office) -> None:
    here = team.window("root").visit("/policies")
    here.page.get_by_label("Tool").fill("refund")
    expect(here("#tiers")).not_to_contain_text("zoe")

    team.desk.people.add("zoe", roles=["security"])
    team.open()  # of people alone pages learn at their next look, within twenty seconds

    expect(here("#tiers")).to_contain_text("zoe")
    expect(here.page.get_by_label("Tool")).to_have_value("refund")
    expect(here.page.get_by_label("Tool")).to_be_focused()
    team.desk.people.remove("zoe")


def test_somebody_is_added_and_removed_and_told_what_follows(team: Office) -> None:
    here = team.window("root").visit("/people")
    here.page.get_by_label("Name").fill("yara")
    here.page.get_by_label("Roles").fill("senior")
    here.page.get_by_role("button", name="Add").click()
    expect(here("#person-yara")).to_be_visible()

    here("#person-yara").get_by_role("link", name="yara").click()
    here.page.get_by_role("link", name="Remove yara").click()
    expect(here("main")).to_contain_text("0 sessions and 0 tokens of yara end at once.")
    assert "yara" in team.desk.store.register().people
    here.page.get_by_role("button", name="Remove yara").click()

    expect(here("#person-yara")).to_have_count(0)
    assert "yara" not in team.desk.store.register().people


def test_an_ask_is_given_to_somebody_on_its_page(team: Office) -> None:
    ask = team.open(risk="high")
    here = team.window("anna").visit(team.path(ask)).armed()
    here(f"#more-{ask.id} > summary").click()
    here.page.get_by_label("Who looks into it").select_option("ada")
    here.page.get_by_role("button", name="Give it to them").click()

    expect(here("#detail")).to_contain_text("ada is on it")
    assert team.now(ask).assignee == "ada"
