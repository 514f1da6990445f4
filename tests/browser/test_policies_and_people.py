"""Policies and people in a browser: for everybody, live, and never in the way of what is typed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.office import Office
from tests.browser.test_everybody import ALL, looked_at
from tests.browser.window import PHONE

KNOWN = {
    "type": "object",
    "properties": {
        "order": {"type": "integer", "description": "Its number"},
        "amount": {"type": "number"},
        "currency": {"enum": ["EUR", "USD"]},
        "lines": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["order", "amount"],
}
TRIED = "/policies?tool=refund&args=%7B%22amount%22%3A40%7D&risk=critical&confidence=nan"


@pytest.mark.parametrize(
    "path",
    [
        "/policies?tool=refund&risk=critical&reversible=no",
        TRIED,
        "/policies?tool=known&draw=1",
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
    team.open("known", {"order": 7, "amount": 40}, schema=KNOWN)
    if not len(team.desk.webhooks):
        team.desk.webhooks.add("http://127.0.0.1:9/hook", "*", allow_private=True)
    here = team.window("root").visit(path)

    assert looked_at(here, ALL) == []


def test_solo_mode_is_explained_to_everybody(solo: Office) -> None:
    here = solo.window().visit("/people")

    expect(here.page.get_by_role("heading", name="Solo mode")).to_be_visible()
    assert looked_at(here, ALL) == []


@pytest.mark.parametrize("js", [True, False])
def test_a_call_is_tried_on_a_phone_and_its_ruling_is_on_the_screen(team: Office, js: bool) -> None:
    here = team.window("root", size=PHONE, js=js).visit("/policies")
    here.page.get_by_label("Tool").fill("refund")
    here.page.get_by_label("Declared risk").select_option("high")
    here.page.get_by_role("button", name="What would happen").click()

    expect(here.page).to_have_url(re.compile(r"/policies\?tool=refund&risk=high"))
    ruling = here.page.get_by_role("heading", name="It waits for people")
    expect(ruling).to_be_in_viewport()
    expect(here.page.get_by_label("Tool")).to_have_value("refund")


@pytest.mark.parametrize("js", [True, False])
def test_the_arguments_of_a_known_tool_are_typed_into_fields(team: Office, js: bool) -> None:
    team.open("known", {"order": 7, "amount": 40}, schema=KNOWN)
    here = team.window("root", size=PHONE, js=js).visit("/policies")
    here.page.get_by_label("Tool").fill("known")
    here.page.get_by_role("button", name="As fields").click()
    fields = here.page.get_by_role("group", name="Arguments of known")

    fields.get_by_role("textbox", name="order").fill("seven")
    fields.get_by_role("textbox", name="amount").fill("40")
    here.page.get_by_role("button", name="What would happen").click()
    expect(fields.get_by_role("textbox", name="order")).to_have_value("seven")
    expect(fields).to_contain_text("must be a whole number")
    fields.get_by_role("button", name="Set: lines").click()
    fields.get_by_role("button", name="Add: lines").click()
    expect(fields.get_by_role("textbox", name="amount")).to_have_value("40")
    fields.get_by_role("textbox", name="order").fill("7")
    fields.get_by_role("textbox", name="order").press("Enter")

    expect(here.page.get_by_role("heading", name="It runs alone")).to_be_in_viewport()
    expect(fields.get_by_role("textbox", name="order")).to_have_value("7")
    fields.get_by_role("button", name="As JSON").click()
    expect(here.page.get_by_label("Arguments, as JSON")).to_have_value(re.compile('"order": 7'))


def test_people_and_sessions_stay_true_while_others_come_and_go(team: Office) -> None:
    here, there = team.window("root").visit("/people"), team.window("root", size=PHONE)
    there.visit("/people/sessions")
    expect(here("#person-xaver")).to_have_count(0)

    team.desk.people.add("xaver", roles=["senior"])
    team.window("xaver")
    team.open()  # of people alone pages learn at their next look

    expect(here("#person-xaver")).to_be_visible()
    expect(there("#sessions")).to_contain_text("xaver")
    team.desk.people.remove("xaver")
    team.open()
    expect(here("#person-xaver")).to_have_count(0)


def test_messages_to_webhooks_stay_true_while_they_are_sent(team: Office) -> None:
    hook = team.desk.webhooks.add("http://127.0.0.1:9/hook", "ask.opened", allow_private=True)
    here = team.window("root").visit(f"/people/webhooks?webhook={hook.id}")
    expect(here("#deliveries tbody tr")).to_have_count(0)
    ask = team.open()
    team.desk.deliver()
    team.open("mail", {"to": "ada"})

    expect(here("#deliveries")).to_contain_text(ask.id)
    team.desk.webhooks.remove(hook)


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
