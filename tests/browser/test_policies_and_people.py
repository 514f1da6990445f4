"""Policies and people in a browser: for everybody, live, and never in the way of what is typed."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.office import Office
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


def test_a_call_is_tried_on_a_phone_and_its_ruling_is_on_the_screen(team: Office) -> None:
    here = team.window("root", size=PHONE).visit("/policies")
    here.page.get_by_label("Tool").fill("refund")
    here.page.get_by_label("Declared risk").select_option("high")
    here.page.get_by_role("button", name="What would happen").click()

    expect(here.page).to_have_url(re.compile(r"/policies\?tool=refund&risk=high"))
    ruling = here.page.get_by_role("heading", name="It waits for people")
    expect(ruling).to_be_in_viewport()
    expect(here.page.get_by_label("Tool")).to_have_value("refund")


def test_the_arguments_of_a_known_tool_are_typed_into_fields(team: Office) -> None:
    team.open("known", {"order": 7, "amount": 40}, schema=KNOWN)
    here = team.window("root", size=PHONE).visit("/policies")
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
