"""Versions of the policy in a browser: looked at, written, put in force, and put in force again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso import Desk
from sayso.asks.law import PUBLISHED, add_to_law, law_of
from sayso.model.actor import Actor
from tests.served import Served
from tests.web.inbox.browser import Node, Tab, tab

POLICY = '[tools]\npay = "high"\n'
STRICTER = '[tools]\npay = "critical"\n'
NEVER = '[[rules]]\nname = "stopped"\neffect = "deny"\n'
AMISS = '[[rules]]\nname = "odd"\neffect = "ask"\nneeds = ["1 pilot"]\n'


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    """anna is senior in billing, root is admin and security; two versions were put in force."""
    file = tmp_path / "policy.toml"
    file.write_text(POLICY)
    with Desk(f"sqlite:///{tmp_path}/desk.db", policy=file, agent="shop") as desk:
        desk.policies.publish(file, note="the first")
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("root", roles=["admin", "security"])
        with Served(desk) as served:
            bot = served.agent("bot")
            for amount in range(3):
                asked = bot.post("/api/v1/asks", json={"tool": "pay", "args": {"amount": amount}})
                assert asked.status_code == 201, asked.text
            yield served


def button(page: Tab, words: str) -> Node:
    [found] = [one for one in page.page.all("button") if words in one.text]
    return found


def written(page: Tab, text: str) -> Tab:
    page.go("/policies/write")
    return page.press(button(page, "Show what it changes"), text=text)


def number(server: Served) -> int:
    found = server.desk.policies.in_force
    return 0 if found is None else found.number


# --- looking -----------------------------------------------------------------------------------


def test_the_policies_name_the_version_in_force_and_lead_to_its_history(
    server: Served, root: Tab
) -> None:
    server.desk.policies.publish(STRICTER, note="after the incident", by="root")
    page = root.go("/policies").page
    stands, log = page.one("section", id="in-force").text, page.one("section", id="versions")

    assert f"Version 2, {server.desk.policy.version}" in stands
    assert "Put in force by root" in stands
    assert "Why after the incident" in stands
    assert [row.all("a")[0].text for row in log.all("tr")[1:]] == ["Version 2", "Version 1"]
    assert log.all("a", href="/policies/versions")
    assert "the first" in root.go("/policies/versions").page.text


def test_a_version_shows_what_it_changed_and_its_text_to_administrators_alone(
    server: Served, root: Tab
) -> None:
    server.desk.policies.publish(STRICTER, by="root")
    own = root.go("/policies/versions/2").page
    others = tab(server, "anna").go("/policies/versions/2").page

    assert "Changed: the rule 'tools.pay'" in own.text
    assert 'pay = "critical"' in own.one("pre").text
    assert "Put in force again" not in own.text
    assert not others.all("pre")
    assert "critical" not in others.one("main").text
    assert "root" in others.one("main").text


# --- putting in force --------------------------------------------------------------------------


def test_a_policy_is_shown_with_all_that_it_changes_before_it_is_in_force(
    server: Served, root: Tab
) -> None:
    page = written(root, STRICTER).page

    assert root.status == 200
    assert "the rule 'tools.pay'" in page.one("section", aria_labelledby="changes-head").text
    asks = page.one("section", aria_labelledby="asks-head")
    assert "3 of the last 3 would have been ruled otherwise" in asks.text
    assert "asks 1 senior, as high" in asks.text
    assert "asks 1 security and 1 senior, as critical" in asks.text
    assert len([link for link in asks.all("a") if link.attrs["href"].startswith("/inbox/a-")]) == 3
    who = page.one("section", aria_labelledby="who-head").text
    assert "1 security : root" in who.replace(":", " :").replace("  ", " ")
    assert number(server) == 1

    root.press(root.page.one("button", value="put"), note="after the incident")

    last = server.desk.policies.show()
    assert (last.number, last.note, last.by.id, last.text) == (
        2,
        "after the incident",
        "root",
        STRICTER,
    )
    assert "In force" in root.page.one("h2", id="stands-head").text


def test_a_text_can_be_written_on_after_its_difference_was_seen(root: Tab) -> None:
    written(root, STRICTER)
    root.press(root.page.one("button", value="write"))

    assert root.page.one("textarea", name="text").raw.strip() == STRICTER.strip()


def test_a_text_that_makes_no_sense_comes_back_with_what_is_wrong(
    server: Served, root: Tab
) -> None:
    written(root, "[tools\n")

    assert root.status == 409
    assert "Nothing was done." in root.page.one("div", role="alert").text
    assert root.page.one("textarea", name="text").raw.strip() == "[tools"
    assert number(server) == 1


def test_a_policy_that_the_people_could_never_do_has_no_button(server: Served, root: Tab) -> None:
    page = written(root, AMISS).page

    assert "It cannot be in force on this desk." in page.one("div", role="alert").text
    assert not page.all("button", value="put")
    root.client.post("/policies/write", data={"do": "put", "text": AMISS, "over": "1"})
    assert number(server) == 1


def test_a_policy_compared_with_another_version_than_the_one_in_force_is_looked_at_again(
    server: Served, root: Tab
) -> None:
    written(root, NEVER)
    server.desk.policies.publish(STRICTER, by="root")
    root.press(root.page.one("button", value="put"))

    assert root.status == 409
    assert "Version 2 of the policy is in force by now" in root.page.text
    assert number(server) == 2
    root.press(root.page.one("button", value="put"))
    assert number(server) == 3


def test_a_policy_that_denies_everything_is_undone_by_an_administrator(
    server: Served, root: Tab
) -> None:
    written(root, NEVER)
    assert "3 of the last 3" in root.page.text
    assert "does not run" in root.page.text
    root.press(root.page.one("button", value="put"))

    root.go("/policies/versions/1")
    root.go("/policies/versions/1/rollback")
    assert "Gone: the rule 'stopped'" in root.page.text
    root.press(root.page.one("button", value="put"), note="too much")

    last = server.desk.policies.show()
    assert (last.number, last.restores, last.note) == (3, 1, "too much")
    assert "version 1 again: too much" in root.go("/policies/versions").page.text


def test_the_built_in_policy_can_be_gone_back_to(server: Served, root: Tab) -> None:
    root.go("/policies/versions/0/rollback")
    root.press(root.page.one("button", value="put"))

    last = server.desk.policies.show()
    assert (last.kind, last.restores) == ("default", 0)
    assert "the built-in policy again" in root.go("/policies").page.text
    assert root.go("/policies/write").page.one("textarea").raw.strip() == ""


def test_a_policy_that_no_longer_fits_is_replaced_from_its_own_page(
    server: Served, root: Tab
) -> None:
    server.desk.people.add("ben", roles=["pilot"])
    server.desk.policies.publish(AMISS, by="root")
    server.desk.people.remove("ben")
    page = root.go("/policies").page

    assert page.all("a", href="/policies/write")
    assert page.all("a", href="/policies/versions")


def test_a_version_that_this_server_cannot_read_is_replaced_in_the_browser(
    server: Served, root: Tab
) -> None:
    store, newer = server.desk.store, '[quorum]\nof = "all"\n'
    law = law_of(store)
    said = {"kind": "file", "text": newer, "digest": "f00d", "source": "text"}
    assert add_to_law(
        store, law, PUBLISHED, actor=Actor("person", "root"), origin=server.desk.origin, **said
    )

    page = root.go("/policies").page
    assert "No policy can be used" in page.one("div", role="alert").text
    assert page.all("a", href="/policies/write")
    assert "No policy can be used" in root.go("/tools").page.text
    assert "This server cannot read it" in root.go("/policies/versions/2").page.text
    assert root.go("/policies/versions/2/rollback").page.text
    root.go("/policies/versions/1/rollback")
    assert "nothing can be compared" in root.page.text
    root.press(root.page.one("button", value="put"))

    assert number(server) == 3
    assert "No policy can be used" not in root.go("/policies").page.text


def test_asks_of_other_teams_are_counted_and_not_named(server: Served, root: Tab) -> None:
    biller = server.agent("biller", team="billing")
    hidden = biller.post("/api/v1/asks", json={"tool": "pay", "args": {"amount": 7}}).json()["id"]
    written(root, STRICTER)

    assert "4 of the last 4 would have been ruled otherwise" in root.page.text
    assert "1 of them is of teams that you are not of" in root.page.text
    assert hidden not in root.page.text
