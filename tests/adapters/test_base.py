"""What adapters stand on."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from sayso import Desk, Running
from sayso.adapters.base import (
    UntestedHost,
    acting_as,
    check_host,
    distinct,
    foreign,
    prepared,
    review_draft,
    review_plan,
)
from sayso.errors import BadValue, InvalidEdit
from tests.runs.people import ask_of, begun, carried_on

SCHEMA = {
    "properties": {"to": {"type": "string"}, "amount": {"type": "integer", "maximum": 100}},
    "required": ["to"],
    "additionalProperties": False,
}


def test_a_tool_of_a_host_is_asked_for_edited_within_its_schema_and_carried_out_once(desk: Desk):
    ran: list[Any] = []

    def pay(**args: Any) -> str:
        ran.append(args)
        return "paid"

    @desk.workflow
    def flow(run: Running) -> Any:
        return run.call(foreign("pay", pay, SCHEMA), to="anna", amount=40)

    run = begun(desk, flow)
    ask = ask_of(run)
    assert (ask.tool, ask.args) == ("pay", {"to": "anna", "amount": 40})
    with pytest.raises(InvalidEdit):
        desk.edit(ask, {"amount": 1000})
    with pytest.raises(InvalidEdit):
        desk.edit(ask, {"tool": "delete_db"})
    desk.edit(ask, {"amount": 30})
    carried_on(desk, run)
    assert (run.output, ran) == ("paid", [{"to": "anna", "amount": 30}])


def test_what_a_host_s_tool_keeps_secret_is_hidden_from_people_and_reaches_the_tool(desk: Desk):
    ran: list[Any] = []

    @desk.workflow
    def flow(run: Running) -> Any:
        return run.call(
            foreign("log_in", lambda **args: ran.append(args), {}, secret="key"),
            user="a",
            key="s3cr3t",
        )

    run = begun(desk, flow)
    assert ask_of(run).args == {"user": "a", "key": "(hidden)"}
    desk.approve(ask_of(run))
    carried_on(desk, run)
    assert ran == [{"user": "a", "key": "s3cr3t"}]


def test_an_option_that_no_gate_has_is_refused() -> None:
    with pytest.raises(BadValue, match="colour"):
        foreign("pay", print, SCHEMA, colour="red")


def test_every_call_of_a_turn_has_an_id_of_its_own() -> None:
    assert distinct(["a", "", None, "a", "a+", "b"]) == ["a", "call-2", "call-3", "a+", "a++", "b"]
    assert distinct([]) == []


def test_a_host_that_is_too_old_is_warned_about() -> None:
    with pytest.warns(UntestedHost, match="the oldest version that this adapter was tried with"):
        check_host("pytest", "99.0")


@pytest.mark.parametrize("version", ["7", "7.1", "7.1.3"])
def test_a_version_that_a_test_fails_with_is_warned_about_with_what_fails(
    monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: "7.1.3")
    with pytest.warns(UntestedHost, match=r"host 7\.1\.3 .*: edits are lost"):
        check_host("host", "1.0", {version: "edits are lost"})


@pytest.mark.parametrize("found", ["1.0", "7.1.4", "7.10", "71.3", "99.9.dev0"])
def test_any_other_is_not_however_new(monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: found)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_host("host", "1.0", {"7.1.3": "edits are lost"}) == found


def test_calls_of_one_turn_are_asked_for_at_once_and_each_is_carried_out_once(desk: Desk):
    ran: list[Any] = []

    def pay(**args: Any) -> str:
        ran.append(args["to"])
        return f"paid {args['to']}"

    @desk.workflow
    def flow(run: Running) -> Any:
        gate = foreign("pay", pay, SCHEMA)
        whom = {"anna": True, "ben": True, "carl": False}
        calls = [prepared(run, gate, {"to": to}, always=asks) for to, asks in whom.items()]
        return run.gather(*[call.result for call in calls])

    run = begun(desk, flow)
    assert sorted(str(ask.args["to"]) for ask in run.asks) == ["anna", "ben"]
    assert ran == ["carl"], "what needs nobody waits for nobody"
    desk.approve(next(ask for ask in run.asks if ask.args["to"] == "ben"))
    carried_on(desk, run)
    assert ran == ["carl", "ben"]
    desk.approve(ask_of(run))
    carried_on(desk, run)
    assert (run.output, ran) == (["paid anna", "paid ben", "paid carl"], ["carl", "ben", "anna"])


def test_a_plan_and_a_draft_come_back_with_what_people_said_to_them(desk: Desk):
    @desk.workflow
    def flow(run: Running) -> Any:
        first = review_plan(run, ["Search"], title="Plan A")
        second = review_plan(run, ["Search", "Cite"], title="Plan B", about=first.id)
        draft = review_draft(run, "Dear all", title="Letter")
        assert first.decision is not None
        assert draft.decision is not None
        said = [first.decision.text, second.args["steps"], second.content.about == first.id]
        return [*said, draft.decision.verdict, draft.args["text"]]

    run = begun(desk, flow)
    desk.respond(ask_of(run, "Plan A"), "cite sources")
    carried_on(desk, run)
    desk.edit(ask_of(run, "Plan B"), {"steps": ["Cite"]})
    carried_on(desk, run)
    desk.edit(ask_of(run, "Letter"), {"text": "Dear Anna"})
    carried_on(desk, run)
    assert run.output == ["cite sources", ["Cite"], True, "edit", "Dear Anna"]


def test_an_agent_is_named_and_so_is_whom_it_works_for(desk: Desk):
    @desk.workflow
    def flow(run: Running) -> Any:
        with acting_as(run, "chief"), run.seats().at("helper", agent="helper"):
            return run.question("Who asks?")

    run = begun(desk, flow)
    content = ask_of(run).content
    assert (content.agent, content.chain) == ("helper", "chief > helper")
