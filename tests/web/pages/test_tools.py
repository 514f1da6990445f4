"""The page of the tools says what the desk knows of each, and declares those it does not know."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import httpx2
import pytest

from sayso import Desk
from tests.served import Served
from tests.web.inbox.browser import Node, Tab, tab

POLICY = """[tools]
refund = "high"
search = "low"

[[rules]]
name = "small refunds"
tools = ["refund"]
when = "has(args.amount) && args.amount <= 20"
tier = "low"
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    """anna is senior in billing, ben is in support, root is admin; crm is called and never declared."""
    file = tmp_path / "policy.toml"
    file.write_text(POLICY)
    with Desk(f"sqlite:///{tmp_path}/desk.db", policy=file, agent="shop") as desk:

        @desk.gate(risk="low", reversible=True)
        def look(order: int, what: str = "all") -> str:
            return f"{what} of {order}"

        look(4)
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ben", teams=["support"])
        desk.people.add("root", roles=["admin"])
        with Served(desk) as served:
            bot = served.agent("bot")
            for args in ({"customer": 1}, {"customer": 2, "note": "moved"}):
                put(bot, "crm", args)
            yield served


@pytest.fixture
def root(server: Served) -> Tab:
    return tab(server, "root")


def put(bot: httpx2.Client, tool: str, args: Mapping[str, object]) -> str:
    answer = bot.post("/api/v1/asks", json={"tool": tool, "args": dict(args)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def line_of(page: Tab, tool: str) -> Node:
    rows = [row for row in page.page.all("tr") if row.all("a") and row.all("a")[0].text == tool]
    assert len(rows) == 1, [row.text for row in page.page.all("tr")]
    return rows[0]


def button_to(page: Tab, action: str) -> Node:
    [form] = [one for one in page.page.all("form") if one.attrs.get("action") == action]
    return form.all("button")[0]


def area(page: Tab, name: str) -> str:
    return page.page.one("textarea", name=name).raw


# --- looking -----------------------------------------------------------------------------------


def test_tools_that_nothing_declares_come_first_with_a_way_to_declare_them(root: Tab) -> None:
    page = root.go("/tools").page
    heads = [node.text for node in page.all("h2") if node.text]
    line = line_of(root, "crm")

    assert heads.index("Nothing declares these") < heads.index("Declared")
    assert line.inside("section", id="undeclared")
    assert "2 all asked of people" in line.text
    assert "never runs alone" in line.text
    assert line.all("a", href="/tools/declare?name=crm")


def test_a_declared_tool_says_who_declares_it_how_it_is_ruled_and_why_it_may_run_alone(
    root: Tab,
) -> None:
    root.go("/tools")
    looked, refund, search = (line_of(root, name).text for name in ("look", "refund", "search"))

    assert "test_tools.py:" in looked
    assert "order, what" in looked
    assert "risk low" in looked
    assert "its risk low" in looked
    assert "1 alone" in looked
    assert "the policy" in refund
    assert "tier high" in refund
    assert "the rule 'small refunds'" in refund
    assert "its tier low" in search
    assert "never" in search


def test_all_that_may_let_a_tool_run_alone_is_named_and_nothing_else(
    server: Served, root: Tab
) -> None:
    """A rule about every tool is one of them; without a rule, a call from elsewhere never is."""
    server.desk.policies.publish('[tools.crm]\nargs = { customer = "integer" }\n', by="root")
    root.go("/tools")
    assert line_of(root, "crm").text.endswith("nothing")

    server.desk.policies.publish(
        '[tools.crm]\nargs = { customer = "integer" }\n'
        '[[rules]]\nname = "whatever"\nwhen = "args.customer < 9"\ntier = "low"\n',
        by="root",
    )
    put(server.agent("bot"), "fax", {"to": "ada"})
    root.go("/tools")
    assert "the rule 'whatever'" in line_of(root, "crm").text
    assert "whatever" not in line_of(root, "fax").text
    assert server.desk.tools.get("fax").rules == ()


def test_two_programs_whose_files_are_called_alike_are_told_apart(
    server: Served, root: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("till", "shop"):
        program = ModuleType(folder)
        program.__file__ = f"/srv/{folder}/main.py"
        monkeypatch.setitem(sys.modules, folder, program)
        exec("def refund(amount: int) -> int:\n    return amount\n", vars(program))
        server.desk.gate(risk="low")(program.refund)
    server.desk.law.current(server.desk.store)

    for who in (root, tab(server, "anna")):
        who.go("/tools")
        assert "till/main.py:refund" in line_of(who, "refund").text
        assert "shop/main.py:refund" in line_of(who, "refund").text
        assert "/srv" not in line_of(who, "refund").text


def test_a_tool_is_found_by_a_part_of_its_name(root: Tab) -> None:
    page = root.go("/tools?q=FUN").page

    assert page.all("a", href="/tools/tool?name=refund")
    assert not page.all("a", href="/tools/tool?name=look")
    assert not page.all("section", id="undeclared")


def test_one_tool_shows_its_arguments_and_where_its_code_lies_to_administrators_alone(
    server: Served, root: Tab
) -> None:
    own = root.go("/tools/tool?name=look").page.text
    others = tab(server, "anna").go("/tools/tool?name=look").page

    assert "integer" in own
    assert "string, optional" in own
    assert "/tests/web/pages/test_tools.py:" in own
    assert "/tests/web/pages" not in others.text
    assert "test_tools.py:" in others.text
    assert not [link for link in others.all("a") if "Forget" in link.text]


def test_a_tool_that_nobody_knows_is_not_found(root: Tab) -> None:
    assert root.go("/tools/tool?name=never").status == 404
    assert root.go("/tools/declare?name=never").status == 404


def test_an_agent_sees_no_page_of_tools(server: Served) -> None:
    bot = server.agent("bot")

    assert bot.get("/tools", headers={"Accept": "text/html"}).status_code == 403


# --- declaring ---------------------------------------------------------------------------------


def test_a_declaration_is_written_from_the_calls_and_put_in_force_after_its_difference(
    server: Served, root: Tab
) -> None:
    root.go("/tools/declare?name=crm")
    assert area(root, "declaration").strip() == (
        "# 1 of 2 calls had note: leave it out if it does not belong there.\n"
        '[tools.crm]\nargs = { customer = "integer", note = { type = "string", optional = true } }'
    )

    root.press(button_to(root, "/tools/declare"))
    assert "New: the declaration of crm" in root.page.text
    assert "customer (integer)" in root.page.text
    assert len(server.desk.policies.log()) == 1, "nothing is in force yet"
    root.press(root.page.one("button", value="put"))

    assert root.page.one("h1").text == "Version 2 of the policy"
    assert server.desk.policies.show().note == "declares crm"
    root.go("/tools")
    assert not root.page.all("section", id="undeclared")
    assert "the policy" in line_of(root, "crm").text


def test_a_tier_of_one_line_goes_into_the_declaration(server: Served, root: Tab) -> None:
    put(server.agent("bot"), "refund", {"order": 3, "amount": 40})
    root.go("/tools/declare?name=refund")
    assert 'tier = "high"' in area(root, "declaration")

    root.press(button_to(root, "/tools/declare"))
    root.press(root.page.one("button", value="put"))

    text = server.desk.policies.show().text
    assert text is not None
    assert 'refund = "high"' not in text
    assert text.count('tier = "high"') == 1
    assert "small refunds" in text
    assert server.desk.tools.get("refund").tier == "high"


def test_a_declaration_alone_lets_nothing_run_alone_that_its_tier_would_let(root: Tab) -> None:
    root.go("/tools/declare?name=crm")
    text = area(root, "declaration")
    root.press(button_to(root, "/tools/declare"))
    asks = root.page.one("section", aria_labelledby="asks-head").text
    assert "All of the last 3 would have been ruled as they were" in asks, asks

    root.go("/tools/declare?name=crm")
    root.press(button_to(root, "/tools/declare"), declaration=f'{text.strip()}\ntier = "low"\n')
    asks = root.page.one("section", aria_labelledby="asks-head").text
    assert "2 of the last 3 would have been ruled otherwise" in asks
    assert "runs alone" in asks


def test_a_declaration_that_its_calls_do_not_fit_says_so_before_it_is_in_force(root: Tab) -> None:
    root.go("/tools/declare?name=crm")
    narrow = '[tools.crm]\nargs = { customer = "string" }\n'
    root.press(button_to(root, "/tools/declare"), declaration=narrow)

    asks = root.page.one("section", aria_labelledby="asks-head").text
    assert "does not run" in asks


def test_a_declaration_that_makes_no_sense_is_said_and_kept(server: Served, root: Tab) -> None:
    root.go("/tools/declare?name=crm")
    root.press(
        button_to(root, "/tools/declare"),
        declaration='[tools.crm]\nargs = { customer = "whole" }\n',
    )

    assert root.status in (409, 422)
    assert "is of a type that is none" in root.page.one("div", role="alert").text
    assert '"whole"' in area(root, "declaration")
    root.press(button_to(root, "/tools/declare"), declaration="default = false\n")
    assert "one tool and nothing else" in root.page.one("div", role="alert").text
    assert len(server.desk.policies.log()) == 1


def test_others_see_the_text_to_copy_and_put_nothing_in_force(server: Served) -> None:
    anna = tab(server, "anna").go("/tools/declare?name=crm")

    assert "readonly" in anna.page.one("textarea", name="declaration").attrs
    assert "[tools.crm]" in area(anna, "declaration")
    assert not [one for one in anna.page.all("button") if "Show what" in one.text]
    answer = anna.client.post("/tools/declare", data={"name": "crm", "declaration": "x"})
    assert answer.status_code == 403


def test_calls_of_other_teams_write_no_declaration(server: Served) -> None:
    put(server.agent("biller", team="billing"), "ledger", {"iban": "AT1"})

    assert "iban" in area(tab(server, "anna").go("/tools/declare?name=ledger"), "declaration")
    assert tab(server, "ben").go("/tools/declare?name=ledger").status == 404


# --- forgetting --------------------------------------------------------------------------------


def test_what_code_declared_is_forgotten_after_a_question(server: Served, root: Tab) -> None:
    root.go("/tools/tool?name=look")
    [link] = [one for one in root.page.all("a") if "Forget it" in one.text]
    root.go(link.attrs["href"])
    assert "Nothing declares it then" in root.page.text

    root.press(button_to(root, "/tools/forget"), note="the code is gone")

    assert not server.desk.tools.get("look").declared
    assert line_of(root.go("/tools"), "look").inside("section", id="undeclared")


def test_somebody_whose_sign_in_is_old_changes_nothing(tmp_path: Path) -> None:
    from sayso.testing import FakeClock

    clock = FakeClock()
    with Desk(f"sqlite:///{tmp_path}/late.db", agent="shop", clock=clock) as desk:
        desk.people.add("root", roles=["admin"])
        with Served(desk) as server:
            put(server.agent("bot"), "crm", {"customer": 1})
            late = tab(server, "root")
            clock.advance(3600)
            late.go("/tools/declare?name=crm")
            assert "must have signed in a moment ago" in late.page.text
            late.press(button_to(late, "/tools/declare"))
            late.press(late.page.one("button", value="put"))

            assert late.status == 403
            assert "Nothing was done." in late.page.text
            assert late.page.one("input", type="hidden", name="text").attrs["value"]
            assert desk.policies.in_force is None
