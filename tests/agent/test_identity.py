"""Whose agent, whose plan, whose arguments, whose money: none is taken for another."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from sayso import Desk
from sayso.agent import Agent, Reply, ScriptedModel, Usage, call
from sayso.runs.ambient import AMBIENT
from tests.agents import RAN, Messages, once, results


def test_a_run_goes_on_with_the_very_agent_it_was_started_with(desk: Desk) -> None:
    def agent(who: str) -> Agent:
        def pay(amount: int) -> str:
            RAN.append(f"{who} paid {amount}")
            return str(RAN[-1])

        return Agent("payer", ScriptedModel(once(call("pay", amount=5))), [pay], confirm=["pay"])

    anna = desk.run(agent("anna"), "x", wait=False)
    bob = desk.run(agent("bob"), "x", wait=False)
    for run in (anna, bob):
        for ask in run.state.pending:
            desk.approve(ask)
    desk.work(until="idle")

    assert (anna.output, bob.output) == ("anna paid 5", "bob paid 5")


def test_an_agent_of_the_same_name_from_elsewhere_never_takes_a_run_over(
    local: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    def wipe() -> str:
        RAN.append("wiped")
        return "wiped"

    gated = Agent("helper", ScriptedModel(once(call("wipe"))), [wipe], confirm=["wipe"])
    run = local.start(gated, "x")
    elsewhere: dict[str, Any] = {"__name__": "other", "Agent": Agent, "wipe": wipe}
    elsewhere |= {"model": ScriptedModel(once(call("wipe")))}
    exec("agent = Agent('helper', model, [wipe])", elsewhere)

    with Desk(local.url) as worker:
        worker.work(until="idle")

    assert (run.status, RAN) == ("ready", [])
    assert "Two agents are called 'helper'" in caplog.text
    assert AMBIENT["helper"].path == "other:helper"


def test_a_step_that_wants_approval_is_asked_for_within_one_reply_too(local: Desk) -> None:
    def delete(name: str) -> str:
        RAN.append(name)
        return name

    script: list[Any] = [
        [
            {"title": "Delete the copy", "tool": "delete"},
            {"title": "Delete the original", "tool": "delete", "needs_approval": True},
        ],
        [call("delete", name="copy"), call("delete", name="original")],
        "done",
    ]
    agent = Agent("clerk", ScriptedModel(script), [delete], plan_every=9)
    run = local.run(agent, "x", wait=False)
    local.approve(run.state.pending[0])
    local.resume(run, wait=False)

    assert RAN == ["copy"]
    (ask,) = run.state.pending
    assert ask.args == {"name": "original"}


def test_a_default_made_anew_each_time_is_frozen_with_the_call(desk: Desk) -> None:
    def fresh(room: str, ticket: str = uuid.uuid4().hex) -> str:
        RAN.append(ticket)
        return ticket

    script = once(call("fresh", room="4"))
    first = Agent("clerk", ScriptedModel(script), [fresh], confirm=True)
    run = desk.run(first, "x", wait=False)
    shown = run.state.pending[0].args["ticket"]

    def later(room: str, ticket: str = uuid.uuid4().hex) -> str:
        RAN.append(ticket)
        return ticket

    later.__name__ = "fresh"
    again = Agent("clerk", ScriptedModel(script), [later], confirm=True)
    desk.approve(run.state.pending[0])
    desk.resume(run, agent=again, wait=False)

    assert (run.status, run.output, RAN) == ("done", shown, [shown])


def test_a_later_no_does_not_undo_what_an_agent_inside_did(local: Desk) -> None:
    inner = Agent("inner", ScriptedModel(lambda messages: "found"), [])

    def script(messages: Messages) -> Any:
        if len(results(messages)) < 2:
            return call("inner", task="look")
        return " | ".join(results(messages))

    tool = inner.as_tool()
    plain = Agent("boss", ScriptedModel(script), [tool])
    asking = Agent("boss", ScriptedModel(script), [tool], confirm=["inner"], max_steps=9)
    run = local.start(plain, "x")

    # The first call ran unasked; the second, the very same, is asked for and refused.
    one = Agent("boss", ScriptedModel(script), [tool], max_steps=1)
    local.resume(run, agent=one, wait=False)
    assert "max_steps" in (run.error or "")
    local.retry(run)
    local.resume(run, agent=asking, wait=False)
    local.reject(run.state.pending[0], "no more")
    local.resume(run, agent=asking, wait=False)

    assert run.status == "done"
    assert run.output.startswith("found | Not carried out")


def test_what_an_agent_inside_costs_counts_for_the_one_it_works_for(local: Desk) -> None:
    def dear(messages: Messages) -> Reply:
        if len(results(messages)) < 20:
            return Reply(calls=(call("note"),), usage=Usage(1, 1, 0.3))
        return Reply(text="at last", usage=Usage(1, 1, 0.3))

    def note() -> str:
        return "noted"

    inner = Agent("inner", ScriptedModel(dear), [note], max_steps=50)

    def boss(messages: Messages) -> Reply:
        said = results(messages)
        made = () if said else (call("inner", task="x"),)
        return Reply(text=said[0] if said else "", calls=made, usage=Usage(1, 1, 0.01))

    outer = Agent("boss", ScriptedModel(boss), [inner.as_tool()], max_cost=1.0)
    run = local.run(outer, "x", wait=False)

    assert run.status == "parked"
    assert "boss has reached a limit: it has cost $1.21 of $1" in (run.error or "")
    local.retry(run)
    local.work(until="idle")
    assert "of $2" in (run.error or "")


def test_the_replies_of_an_agent_inside_are_not_counted_as_ones_own(local: Desk) -> None:
    inner = Agent("inner", ScriptedModel([call("note"), call("note"), "found"]), [_note])
    outer = Agent("boss", ScriptedModel([call("inner", task="x"), "done"]), [inner.as_tool()])

    assert local.run(outer, "x", wait=False).output == "done"


def _note() -> str:
    return "noted"


_note.__name__ = "note"


def test_a_listener_that_fails_costs_no_reply(local: Desk) -> None:
    heard: list[str] = []

    def listen(piece: str) -> None:
        heard.append(piece)
        raise OSError("the line is closed")

    agent = Agent("clerk", ScriptedModel(["one\ntwo"]), on_text=listen)
    run = local.run(agent, "x", wait=False)

    assert (run.status, run.output, heard) == ("done", "one\ntwo", ["one\n"])


def test_a_plan_that_was_sent_back_is_not_remembered_as_the_plan(local: Desk) -> None:
    seen: list[Messages] = []

    def script(messages: Messages, tools: tuple[str, ...]) -> Any:
        seen.append(messages)
        if tools == ("plan",):
            return ["Ask nicely"] if "nicely" in messages[-1].text else ["Shout"]
        return "done"

    agent = Agent("clerk", ScriptedModel(script), plan_every=9)
    run = local.run(agent, "first", thread="t", wait=False)
    local.respond(run.state.pending[0], "more nicely")
    local.resume(run, wait=False)
    local.approve(run.state.pending[0])
    local.resume(run, wait=False)
    local.run(agent, "second", thread="t", wait=False)

    told = "\n".join(message.text for message in seen[-1])
    assert "1. Ask nicely" in told
    assert "Shout" not in told
