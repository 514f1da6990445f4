"""What anybody can read of a conversation is what the model was told, and what it waits for."""

from __future__ import annotations

from typing import Any

import pytest

import sayso
from sayso import Agent, Desk
from sayso.agent import Message, call, transcript
from tests.agents import Watched, following, once, one_by_one
from tests.runs.people import answered, approved, ask_of, begun, carried_on, edited


def search(what: str) -> str:
    """Search for something."""
    if what == "nothing":
        raise LookupError("there is nothing")
    return f"found {what}"


@sayso.tool(risk="high")
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


@sayso.tool(asks=True)
def consult(query: str) -> Any:
    """Ask a person."""
    if query == "fails":
        sayso.effect(search, "nothing")
    if query == "raises":
        raise LookupError("nobody knows")
    return sayso.question(query)


def plain(messages: Any) -> list[Message]:
    """The messages without what only a provider wants to see again."""
    return [sayso.agent.Message(**{**message.json, **_calls(message)}) for message in messages]


def _calls(message: Message) -> dict[str, Any]:
    return {"calls": message.calls} if message.calls else {}


def check(run: sayso.Run, model: Watched) -> None:
    """All but the answer, which no model was told, is what the model was shown last."""
    read = transcript(run)
    assert plain(read[:-1]) == plain(model.last)
    assert (read[-1].role, read[-1].text) == ("assistant", run.output)


def agent(model: Watched, **more: Any) -> Agent:
    return Agent("clerk", model, [search, pay, consult], **more)


def test_calls_that_run_alone_fail_or_do_not_exist(desk: Desk) -> None:
    script = one_by_one(
        call("search", what="tea"), call("search", what="nothing"), call("sudo", what="x")
    )
    model = Watched(script)

    check(begun(desk, agent(model), "look"), model)


def approve(desk: Desk, run: sayso.Run) -> None:
    desk.approve(ask_of(run))


def edit(desk: Desk, run: sayso.Run) -> None:
    desk.edit(ask_of(run), {"amount": 30})


def reject(desk: Desk, run: sayso.Run) -> None:
    desk.reject(ask_of(run), "Too dear")


def respond(desk: Desk, run: sayso.Run) -> None:
    desk.respond(ask_of(run), "Pay half")


@pytest.mark.parametrize("decide", [approve, edit, reject, respond])
def test_a_call_that_waits_and_then_whatever_a_person_says_to_it(desk: Desk, decide: Any) -> None:
    model = Watched(once(call("pay", amount=40)))
    run = begun(desk, agent(model), "pay the bill")
    task, wants = transcript(run)
    assert (task.role, task.text) == ("user", "pay the bill")
    assert [(made.tool, made.args) for made in wants.calls] == [("pay", {"amount": 40})]

    decide(desk, run)
    carried_on(desk, run)

    check(run, model)


def test_a_tool_that_asks_stands_as_one_call_whatever_it_does_inside(desk: Desk) -> None:
    model = Watched(once(call("consult", query="Which tea?"), call("search", what="tea")))
    run = begun(desk, agent(model), "find out")
    assert [message.role for message in transcript(run)] == ["user", "assistant", "tool"]
    answered(desk, run, "green")

    check(run, model)
    assert "green" in str(run.output)


def test_a_tool_that_asks_and_fails_says_what_failed_inside(desk: Desk) -> None:
    model = Watched(once(call("consult", query="fails")))
    check(begun(desk, agent(model), "find out"), model)


def test_of_a_tool_that_asks_and_raises_by_itself_only_that_it_failed_is_known(desk: Desk) -> None:
    model = Watched(once(call("consult", query="raises")))
    run = begun(desk, agent(model), "find out")

    assert [(m.text, m.failed) for m in transcript(run) if m.role == "tool"] == [
        ("It failed.", True)
    ]


def test_what_an_agent_inside_says_is_not_mixed_in(desk: Desk) -> None:
    inner = Agent("payer", Watched(once(call("pay", amount=7))), [pay])
    model = Watched(once(call("payer", task="pay 7")))
    run = begun(desk, Agent("boss", model, [inner.as_tool()]), "go")
    approved(desk, run)

    check(run, model)


def test_the_plan_in_force_is_told_as_the_model_is_told_it(desk: Desk) -> None:
    steps = [{"title": "tea", "tool": "search"}, {"title": "milk", "tool": "search"}]
    model = Watched(following(steps))
    run = begun(desk, agent(model, plan_every=5), "shop")
    assert [message.role for message in transcript(run)] == ["user"]
    edited(desk, run, {"steps": [steps[1]]})

    check(run, model)


@pytest.mark.parametrize("decide", [approve, edit, reject, respond])
def test_a_call_that_waits_while_the_model_goes_on_is_told_where_the_model_was_told(
    desk: Desk, decide: Any
) -> None:
    @sayso.tool(risk="high", later=True)
    def refund(amount: int) -> str:
        """Pay back."""
        return f"paid back {amount}"

    def think(messages: tuple[Message, ...]) -> Any:
        made = [c.tool for message in messages for c in message.calls]
        told = [message for message in messages if message.role == "user" and message.call]
        if not made:
            return [call("refund", amount=40), call("search", what="tea")]
        if "search" in made and made.count("search") == 1:
            return call("search", what="milk")
        return "All is told." if told else "It waits."

    model = Watched(think)
    run = begun(desk, Agent("clerk", model, [search, refund]), "pay back")
    assert "go on with other work" in transcript(run)[2].text
    decide(desk, run)
    carried_on(desk, run)

    check(run, model)
    assert run.output == "All is told."


def test_a_run_of_a_plain_workflow_has_its_task_and_no_more(desk: Desk) -> None:
    run = begun(desk, lambda run, order: run.question(f"Pay {order}?"), 7)

    assert [(message.role, message.text) for message in transcript(run)] == [("user", "7")]
