"""A call to try is typed into fields where it is known what its tool takes, and as JSON otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from sayso import Desk
from sayso.web.pages.calling import declared
from tests.served import Served
from tests.web.inbox.browser import Node, Tab, tab

POLICY = """
[[rules]]
name = "large refunds"
tools = ["refund"]
when = "args.amount > 100"
effect = "ask"
needs = ["1 senior"]
"""


REFUND = {
    "type": "object",
    "properties": {
        "order": {"type": "integer"},
        "amount": {"type": "number"},
        "lines": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["order", "amount"],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """anna is senior in billing, ben in support; refund was asked for in billing, mail without a schema."""
    folder = tmp_path_factory.mktemp("calling")
    file = folder / "policy.toml"
    file.write_text(POLICY)
    with Desk(f"sqlite:///{folder}/desk.db", policy=file, agent="shop") as desk:
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ben", teams=["support"])
        desk.open("refund", {"order": 7, "amount": 200}, schema=REFUND, team="billing")
        desk.open("mail", {"to": "ada"})
        desk.open("pay", {"amount": 1}, risk="low", team="billing")
        desk.open("pay", {"amount": 9}, risk="high", team="billing")
        with Served(desk) as served:
            yield served


def form(page: Tab) -> Node:
    return next(one for one in page.page.all("form") if one.attrs.get("action") == "/policies")


def button(page: Tab, do: str | None = None) -> Node:
    found = form(page).all("button", name="do", value=do) if do else form(page).all("button")
    return found[0]


def args(page: Tab) -> Any:
    """The arguments in the address that the page was sent to."""
    query = parse_qs(urlsplit(page.direct.headers["location"]).query)
    return json.loads(query["args"][0])


def names(page: Tab) -> list[str]:
    found = (one.attrs.get("name", "") for one in form(page).walk())
    return [name for name in found if name.startswith("/")]


def test_a_tool_that_was_asked_for_has_a_field_for_each_argument(anna: Tab) -> None:
    page = anna.go("/policies")
    assert "open" not in page.page.one("details", id="try-more").attrs, "nothing stands in it"
    page.press(button(page, "fields"), tool="refund")

    assert page.status == 303
    assert page.page.all("section", id="ruling") == [], "nothing is tried yet"
    assert sorted(names(page))[:2] == ["/amount", "/order"]
    assert form(page).all("textarea", id="f-args") == []


def test_what_is_hidden_has_no_field_and_is_not_asked_for() -> None:
    schema = {
        "type": "object",
        "properties": {"order": {"type": "integer"}, "key": {"const": "<hidden>"}},
        "required": ["order", "key"],
    }
    content = {"proposal": {"tool": "pay", "args": {}, "schema": schema}, "hidden": ["key"]}

    found = declared(content, "pay")
    assert found == {**schema, "properties": {"order": {"type": "integer"}}, "required": ["order"]}
    assert declared(content, "mail") is None


def test_what_stands_in_the_fields_is_tried_with_its_types(anna: Tab) -> None:
    page = anna.go("/policies?tool=refund&draw=1")
    typed = {"/order": "7", "/amount": "200.5"}
    page.press(button(page), **typed)

    assert args(page) == {"order": 7, "amount": 200.5}
    assert "It waits for people" in page.page.one("section", id="ruling").text
    told = anna.client.post(
        "/api/v1/policy/simulate", json={"tool": "refund", "args": args(page)}
    ).json()
    assert told["sentence"] in page.page.one("section", id="ruling").text
    assert form(page).one("input", name="/amount").attrs["value"] == "200.5", "to be changed"
    small = page.press(button(page), **{"/amount": "40"})
    assert args(small) == {"order": 7, "amount": 40}
    assert "It runs alone" in small.page.one("section", id="ruling").text


@pytest.mark.parametrize(
    ("typed", "pointer", "words"),
    [
        ({"/order": "seven", "/amount": "1"}, "/order", "must be a whole number"),
        ({"/order": "7.5", "/amount": "1"}, "/order", "must be a whole number"),
        ({"/order": "7", "/amount": "much"}, "/amount", "must be a number"),
        ({"/order": "7", "/amount": "NaN"}, "/amount", "must be a number"),
        ({"/order": "7", "/amount": ""}, "/amount", "is missing"),
        ({"/order": "\u0667", "/amount": "1"}, "/order", "must be a whole number"),
    ],
)
def test_what_does_not_fit_is_said_on_its_field_and_what_was_typed_stays(
    anna: Tab, typed: dict[str, str], pointer: str, words: str
) -> None:
    page = anna.go("/policies?tool=refund&draw=1")
    page.press(button(page), agent="shop", **typed)

    assert page.status == 422
    field = form(page).one("input", name=pointer)
    assert field.attrs["value"] == typed[pointer]
    said = [page.page.one(id=name).text for name in field.attrs["aria-describedby"].split()]
    assert any(words in one for one in said)
    assert field.attrs["aria-invalid"] == "true"
    assert page.page.one("section", id="try").all(role="alert")
    assert form(page).one("input", id="f-agent").attrs["value"] == "shop"
    assert page.page.all("section", id="ruling") == []


def test_a_list_gets_a_row_and_keeps_what_was_typed(anna: Tab) -> None:
    page = anna.go("/policies?tool=refund&draw=1")
    shape = {"tool": "refund", "fields-of": "refund", "args": "{}", "/order": "7", "/amount": "3"}
    sent = {**shape, "set:/lines": "1", "do": "add:/lines"}
    answer = page.client.post("/policies", data=sent)
    page.answer = answer
    page._read()

    assert answer.status_code == 200
    assert "/lines/0" in names(page)
    assert form(page).one("input", name="/order").attrs["value"] == "7"
    assert page.page.all("section", id="ruling") == []


def test_fields_become_json_and_json_becomes_fields(anna: Tab) -> None:
    page = anna.go("/policies?tool=refund&draw=1")
    page.press(button(page, "json"), **{"/order": "7", "/amount": "much"})

    text = form(page).one("textarea", id="f-args").raw
    assert json.loads(text) == {"order": 7, "amount": "much"}, "as it was typed"
    page.press(button(page, "fields"), args='{"order": 8, "amount": 1, "more": true}')
    assert form(page).one("input", name="/order").attrs["value"] == "8"
    page.press(button(page))
    assert args(page)["more"] is True


def test_of_a_tool_that_nobody_knows_arguments_are_json_and_the_page_says_why(anna: Tab) -> None:
    for tool in ("mail", "drop_users"):
        page = anna.go(f"/policies?tool={tool}&draw=1")
        assert form(page).all("textarea", id="f-args")
        assert f"Nothing is known of what {tool} takes" in form(page).text


def test_json_that_is_none_stays_beside_what_is_wrong_with_it(anna: Tab) -> None:
    page = anna.go("/policies?tool=refund&args=%7B")

    assert page.answer.status_code == 422
    assert form(page).one("textarea", id="f-args").raw.strip() == "{"
    assert "no JSON" in page.page.one("p", id="wrong-args").text


def test_another_tool_gets_its_own_fields(anna: Tab) -> None:
    page = anna.go("/policies?tool=refund&draw=1")
    page.press(button(page), tool="mail", **{"/order": "7", "/amount": "3"})

    assert form(page).all("textarea", id="f-args")
    assert names(page) == []
    assert page.page.all("section", id="ruling") == []


def test_what_a_tool_of_another_team_takes_is_not_told(server: Served) -> None:
    ben = tab(server, "ben").go("/policies?tool=refund&draw=1")

    assert names(ben) == []
    assert "amount" not in form(ben).text
    sent = {"tool": "refund", "fields-of": "refund", "/amount": "3", "args": "{}"}
    assert ben.client.post("/policies", data=sent).status_code == 303


def test_a_call_is_tried_with_the_risk_of_its_last_call_unless_another_is_chosen(anna: Tab) -> None:
    def ruling(query: str) -> str:
        return anna.go(f"/policies?tool=pay{query}").page.one("section", id="ruling").text

    last = ruling("")
    chosen = [one.text for one in form(anna).one("select", id="f-risk").all("option", selected="")]

    assert "It waits for people" in last
    assert "Calls of high risk need 1 senior." in last
    assert "With the risk of its last call, high." in last
    assert chosen == ["that of its last call, high"]
    assert "It runs alone" in ruling("&risk=none")
    assert [
        one.attrs["value"]
        for one in form(anna).one("select", id="f-risk").all("option", selected="")
    ] == ["none"]
    assert "of its last call" not in ruling("&risk=low")
    assert "of its last call" not in anna.go("/policies?tool=mail").answer.text, "it declared none"


def test_the_risk_of_a_call_of_another_team_is_not_told(server: Served) -> None:
    page = tab(server, "ben").go("/policies?tool=pay")

    assert "It runs alone" in page.page.one("section", id="ruling").text
    assert "of its last call" not in page.answer.text


def test_a_hostile_schema_is_shown_as_text(server: Served) -> None:
    evil = "<script>alert(1)</script>\u202e"
    schema = {
        "type": "object",
        "properties": {evil: {"type": "string", "title": evil, "description": evil}},
    }
    server.desk.open("odd", {}, schema=schema)
    page = tab(server, "anna").go("/policies?tool=odd&draw=1")

    assert page.answer.status_code == 200
    assert "<script>alert" not in page.answer.text
    assert names(page) == [f"/{evil}".replace("</", "<~1")]
    assert page.client.get(f"/policies?{httpx2.QueryParams({'tool': evil})}").status_code == 200
