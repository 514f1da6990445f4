"""Tools and versions of the policy in a browser: for everybody, live, with and without scripts."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.office import Office
from tests.browser.test_everybody import looked_at
from tests.browser.window import PHONE

STRICT = '[tools]\nrefund = "high"\n\n[[rules]]\nname = "no drops"\ntools = ["drop_*"]\neffect = "deny"\n'


def test_a_tool_is_declared_on_a_phone_and_its_difference_is_seen_before(team: Office) -> None:
    team.open("crm", {"customer": 7})
    here = team.window("root", size=PHONE).visit("/tools")
    here.page.get_by_role("link", name="Write its declaration of crm", exact=True).click()
    expect(here.page.get_by_label("Declaration")).to_have_value(re.compile('customer = "integer"'))
    here.page.get_by_role("button", name="Show what it changes").click()

    expect(here.page.get_by_role("heading", name="Put this policy in force?")).to_be_visible()
    expect(here("main")).to_contain_text("the declaration of crm")
    assert looked_at(here) == []
    here.page.set_viewport_size(PHONE)
    here.page.get_by_role("button", name="Put it in force").click()

    expect(here.page).to_have_url(re.compile(r"/policies/versions/\d+$"))
    here.visit("/tools")
    expect(here("#declared")).to_contain_text("crm")


def test_somebody_comes_to_the_tools_by_a_key_and_by_the_palette(team: Office) -> None:
    here = team.window("root").visit("/overview")
    here.page.keyboard.press("g")
    here.page.keyboard.press("l")
    expect(here.page.get_by_role("heading", name="Tools", exact=True)).to_be_visible()
    here.visit("/overview")
    here.page.keyboard.press("Control+k")
    here.page.keyboard.type("Go to Tools")
    here.page.keyboard.press("Enter")
    expect(here.page).to_have_url(re.compile("/tools$"))


def test_a_new_tool_and_a_new_version_appear_while_somebody_looks(team: Office) -> None:
    team.open("mail", {"to": "ada"})
    tools = team.window("root").visit("/tools")
    log = team.window("anna").visit("/policies/versions")
    before = len(team.desk.policies.log())
    team.open("fax", {"to": "ada"})
    team.desk.policies.publish(STRICT, note="once more", by="root")
    team.open()  # of a policy alone pages learn at their next look

    expect(tools("#undeclared")).to_contain_text("fax")
    expect(log("#versions")).to_contain_text(f"Version {before + 1}")
