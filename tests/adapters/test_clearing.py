"""Calls that a host shows all at once and makes one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import Desk, Running, SaysoError, StepFailed
from sayso.adapters.base import carried_out, cleared, errand, foreign, seated, told
from sayso.asks.lawbook import Lawbook
from tests.adapters.test_base import SCHEMA
from tests.runs.people import ask_of, begun, carried_on

ALLOWED = '[[rules]]\nname = "small"\ntool = "pay"\nwhen = "args.amount < 10"\neffect = "allow"'


def host(ran: list[Any], calls: list[dict[str, Any]], *, confirmed: bool = False) -> Any:
    """A host that has its calls cleared, and then makes those that may be made, the last first."""

    def pay(**args: Any) -> str:
        ran.append(args)
        return f"paid {args['amount']}"

    def flow(run: Running) -> Any:
        seats, tool = run.seats(), foreign("pay", pay, SCHEMA)
        errands = [
            errand(f"call {n}", tool, args, confirmed=confirmed) for n, args in enumerate(calls)
        ]
        said = cleared(seats, "model", errands)
        came: dict[str, Any] = {
            one.place: told(word)
            for one, word in zip(errands, said, strict=True)
            if isinstance(word, SaysoError)
        }
        for one, word in reversed(list(zip(errands, said, strict=True))):
            if not isinstance(word, SaysoError):
                made = replace(one, args=word.args) if word is not None else one
                came[one.place] = carried_out(seats, "tools", made)
        return came

    return flow


def test_calls_are_cleared_together_and_each_is_made_once_as_it_was_approved(desk: Desk):
    ran: list[Any] = []
    flow = desk.workflow(
        host(
            ran,
            [
                {"to": "anna", "amount": 40},
                {"to": "ben", "amount": 50},
                {"to": "eve", "amount": 60},
            ],
        )
    )
    run = begun(desk, flow)
    by_name = {ask.args["to"]: ask for ask in run.asks}
    assert sorted(by_name) == ["anna", "ben", "eve"]
    assert "Nothing is declared of this tool" in by_name["anna"].content.sentence
    desk.reject(by_name["eve"], "not her")
    carried_on(desk, run)
    desk.edit(by_name["anna"], {"amount": 30})
    carried_on(desk, run)
    assert (run.status, ran) == ("waiting", [])
    desk.approve(by_name["ben"])
    carried_on(desk, run)
    assert ran == [{"to": "ben", "amount": 50}, {"to": "anna", "amount": 30}]
    assert (run.output["call 0"], run.output["call 1"]) == ("paid 30", "paid 50")
    assert "not her" in run.output["call 2"]
    assert {ask.effect.status for ask in run.asks if ask.effect} == {"done"}


@pytest.mark.parametrize("declared", [None, "medium", "high"])
def test_people_are_told_that_nothing_is_declared_of_a_tool_only_where_that_is_so(
    desk: Desk, declared: str | None
):
    def flow(run: Running) -> Any:
        tool = foreign("pay", str, SCHEMA, risk=declared)
        return cleared(run.seats(), "model", [errand("call", tool, {"to": "anna", "amount": 4})])

    ask = ask_of(begun(desk, flow))

    assert ask.risk == declared
    assert ("Nothing is declared" in str(ask.content.sentence)) == (declared is None)


DECLARED = """
[tools.pay]
tier = "high"
args = { to = { type = "string" }, amount = { type = "integer" } }
"""


def test_a_tool_that_the_policy_declares_is_not_said_to_be_undeclared(desk: Desk, tmp_path: Path):
    law = tmp_path / "law.toml"
    law.write_text(DECLARED)
    desk.law = Lawbook(law)
    ask = ask_of(begun(desk, desk.workflow(host([], [{"to": "anna", "amount": 4}]))))
    assert "Nothing is declared" not in str(ask.content.sentence)
    assert "Calls of high risk need 1 senior." in str(ask.content.sentence)


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_rule_lets_a_call_go_alone_unless_it_is_confirmed(
    desk: Desk, tmp_path: Path, *, confirmed: bool
):
    ran: list[Any] = []
    law = tmp_path / "law.toml"
    law.write_text(ALLOWED)
    desk.law = Lawbook(law)
    run = begun(desk, desk.workflow(host(ran, [{"to": "anna", "amount": 4}], confirmed=confirmed)))
    assert (len(run.asks), len(ran)) == ((1, 0) if confirmed else (0, 1))


def test_what_nobody_was_asked_about_is_not_made(desk: Desk):
    ran: list[Any] = []

    def flow(run: Running) -> Any:
        tool = foreign("pay", lambda **args: ran.append(args), SCHEMA)
        with pytest.raises(StepFailed, match="nobody was asked"):
            carried_out(run.seats(), "tools", errand("call 1", tool, {"to": "anna"}))

    assert begun(desk, flow).status == "done"
    assert ran == []


def test_whoever_takes_a_place_beside_another_is_found(desk: Desk):
    def flow(run: Running) -> Any:
        seats = run.seats()
        with seats.at("node", agent="helper"), seats.at("call"):
            assert seated() is seats
            return sayso.question("Who asks?")

    assert seated() is None
    assert ask_of(begun(desk, flow)).content.agent == "helper"


def test_a_tool_of_a_host_is_declared_by_its_own_schema_and_by_the_program(desk: Desk) -> None:
    schema = {"properties": {"amount": {"type": "number"}}, "required": ["amount"]}
    pay = foreign("Pay out", lambda amount: amount, schema, risk="low")

    run = desk.run(desk.workflow(name="paying")(lambda run: run.call(pay, amount=3)))

    known = next(tool for tool in desk.tools if tool.declared)
    assert run.output == 3
    assert known.name.startswith("pay-out-")
    assert known.joined is not None
    assert known.joined.arguments == ("amount",)
    assert "adapters/base.py" not in known.declared[0].source
