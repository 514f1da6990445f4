"""`sayso tools`: what the desk knows of each tool, and what it does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso import Desk
from sayso.asks.opening import open_ask
from sayso.asks.posted import read_post
from tests.cli.conftest import Sayso

LAW = '[tools.pay]\ntier = "low"\nargs = { amount = { type = "number", maximum = 20 } }\n'


@pytest.fixture
def desk(here: Path) -> Iterator[Desk]:
    (here / "sayso.toml").write_text(LAW)
    with Desk("sqlite:///sayso.db", agent="shop") as desk:
        yield desk


def posted(desk: Desk, tool: str, **args: object) -> None:
    content = read_post({"tool": tool, "args": args}, desk.forms).content
    open_ask(desk.store, content, origin=desk.origin, law=desk.law, requested=True)


def test_a_desk_without_tools_says_what_declares_one(sayso: Sayso, here: Path) -> None:
    done = sayso("tools")

    assert done.out.startswith("desk: ./sayso.db, 0 tools, 0 of them undeclared\n")
    assert "None yet: code declares a tool with @desk.gate" in done.out
    assert list(here.iterdir()) == []


def test_tools_that_nothing_declares_come_first(sayso: Sayso, desk: Desk) -> None:
    posted(desk, "zip", path="a")
    posted(desk, "pay", amount=2)

    out = sayso("tools").out

    assert out.startswith("desk: ./sayso.db, 2 tools, 1 of them undeclared\n")
    assert out.index("zip  nothing declares it") < out.index("pay  tier low  (amount)")
    assert "called once: 1 asked of people" in out
    assert "called once: 1 ran alone by a rule" in out
    assert "sayso tools sketch NAME" in out
    assert max(map(len, out.splitlines())) <= 80
    only = json.loads(sayso("tools", "list", "--undeclared", "--json").out)["tools"]
    assert [one["name"] for one in only] == ["zip"]
    assert sayso("tools", "sketch", "zip").out == '[tools.zip]\nargs = { path = "string" }\n'


def test_one_tool_is_shown_with_what_each_source_declares(sayso: Sayso, desk: Desk) -> None:
    @desk.gate(risk="high", reversible=False, secret=["card"])
    def pay(amount: float, card: str = "") -> float:
        return amount

    desk.law.current(desk.store)
    out = sayso("tools", "show", "PAY").out
    source = json.loads(sayso("tools", "show", "pay", "--json").out)["declared"][1]["source"]

    assert "They differ in its arguments" in out
    assert "amount      number, maximum 20" in out
    assert "undone      cannot be undone" in out
    assert "Alone by    rule 'tools.pay'" in out
    done = sayso("tools", "forget", "pay", "--from", source)
    assert done.out.endswith("declares it no longer.\n")
    assert "They differ" not in sayso("tools", "show", "pay").out
    again = sayso("tools", "forget", "pay", "--from", source)
    assert (again.code, "declares the tool 'pay'" in again.err) == (1, True)


def test_an_argument_that_sorts_the_calls_is_shown(sayso: Sayso, desk: Desk) -> None:
    desk.policies.publish(f'{LAW}bucket = "amount"\n', note="By amount")

    assert "sorted      each amount is a kind of call" in sayso("tools", "show", "pay").out
    [said] = json.loads(sayso("tools", "show", "pay", "--json").out)["declared"]
    assert said["sorts"] == "amount"


def test_a_tool_that_is_not_known_is_told_with_those_that_are(sayso: Sayso, desk: Desk) -> None:
    desk.inbox()
    done = sayso("tools", "show", "payy")

    assert done.code == 1
    assert "Nothing is known of a tool 'payy' here. Tools: pay." in done.err


def test_e49_a_tool_that_code_declares_is_known_before_it_is_called(
    sayso: Sayso, desk: Desk, here: Path
) -> None:
    @desk.gate(risk="high")
    def refund(amount: float) -> float:
        return amount

    desk.law.current(desk.store)
    rules = '[[rules]]\nname = "{0}"\ntool = "{0}"\nwhen = "args.{1} > 5"\neffect = "ask"\n'
    (here / "new.toml").write_text(rules.format("refund", "amount") + rules.format("refnd", "n"))
    out = sayso("policy", "check", "new.toml", "--strict").out

    assert "'refund' was ever called" not in out
    assert "No tool 'refnd' was ever called here. Did you mean 'refund'?" in " ".join(out.split())
    (here / "new.toml").write_text(rules.format("refund", "amuont"))
    out = " ".join(sayso("policy", "check", "new.toml").out.split())
    assert "No call of refund had an argument 'amuont'. Did you mean 'amount'?" in out
