"""What people decide on the calls of a LangChain agent, and what its model and tools see of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from sayso import Run
from tests.adapters.langchain.clerk import Clerk, asks, call, consistent, turns
from tests.adapters.langchain.conftest import Hire
from tests.runs.people import ask_of

ONE = turns([call("send", to="anna")], "Done.")
TWO = turns([call("send", "a", to="anna"), call("send", "b", to="ben")], "Done.")


def heard(clerk: Clerk, run: Run) -> dict[str, str]:
    """What the model was told of its calls, by their ids."""
    return {
        message.tool_call_id: str(message.content)
        for message in clerk.history(run)
        if isinstance(message, ToolMessage)
    }


def test_calls_of_one_message_are_asked_together_and_decided_in_any_order(hire: Hire):
    clerk = hire(TWO)
    run = clerk.begin()
    assert sorted(asks(run)) == ["anna", "ben"]
    clerk.desk.approve(asks(run)["ben"])
    run = clerk.go_on(run)
    assert (clerk.did, run.status) == ([], "waiting"), "a turn waits for all of its calls"
    clerk.desk.approve(asks(run)["anna"])
    run = clerk.go_on(run)
    assert sorted(clerk.did) == [["send", "anna", "hello"], ["send", "ben", "hello"]]
    assert (run.status, len(clerk.prompts)) == ("done", 2), "no reply was asked for twice"
    assert consistent(clerk.history(run))
    assert [ask.effect.status for ask in run.asks if ask.effect] == ["done", "done"]


def test_an_edited_call_is_the_only_one_that_the_model_ever_sees_again(hire: Hire):
    message = AIMessage(
        [
            {"type": "text", "text": "I pay."},
            {"type": "tool_use", "id": "p", "name": "pay", "input": {"to": "eve", "amount": 99}},
        ],
        tool_calls=[call("pay", "p", to="eve", amount=99)],
        additional_kwargs={
            "tool_calls": [
                {"id": "p", "function": {"name": "pay", "arguments": '{"to":"eve","amount":99}'}}
            ]
        },
    )
    clerk = hire(turns(message, "Done."))
    run = clerk.begin()
    run = clerk.decided(run, "edit", {"to": "anna", "amount": 7})
    assert clerk.did == [["pay", "anna", 7]]
    assert heard(clerk, run) == {"p": "paid 7 to anna"}
    last = json.dumps(clerk.prompts[-1])
    assert ("eve" in last, "99" in last) == (False, False)
    (made,) = [m for m in clerk.history(run) if isinstance(m, AIMessage) and m.tool_calls]
    assert made.tool_calls == [call("pay", "p", to="anna", amount=7)]
    assert made.content[1]["input"] == {"to": "anna", "amount": 7}  # type: ignore[index]
    sent = made.additional_kwargs["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"to": "anna", "amount": 7}


def test_an_answer_in_place_of_a_call_reaches_the_model_as_one(hire: Hire):
    clerk = hire(ONE)
    run = clerk.begin()
    run = clerk.decided(run, "respond", "Ask her in the office.")
    (answer,) = [m for m in clerk.history(run) if isinstance(m, ToolMessage)]
    assert (clerk.did, answer.status) == ([], "success")
    assert "Ask her in the office." in str(answer.content)


def test_a_second_turn_that_reuses_the_ids_of_the_first_is_asked_anew(hire: Hire):
    clerk = hire(turns([call("send", "c1", to="anna")], [call("send", "c1", to="anna")], "Done."))
    run = clerk.begin()
    for _ in range(2):
        run = clerk.decided(run, "approve")
    assert (run.status, len(clerk.did), len(run.asks)) == ("done", 2, 2)


def test_a_thread_goes_on_after_a_run_that_somebody_ended_with_every_call_answered(hire: Hire):
    clerk = hire(turns([call("send", "a", to="anna")], [call("send", "b", to="ben")], "Done."))
    first = clerk.begin("Write to Anna.", thread="42")
    clerk.desk.reject(ask_of(first), end=True)
    assert clerk.go_on(first).status == "cancelled"
    second = clerk.begin("Write to Ben.", thread="42")
    shown = [message["type"] for message in clerk.prompts[-1]]
    assert shown == ["human", "ai", "tool", "human"], "providers refuse a call without an answer"
    clerk.desk.approve(ask_of(second))
    assert clerk.go_on(second).status == "done"
    assert clerk.did == [["send", "ben", "hello"]]


def test_what_the_policy_allows_runs_alone_and_what_it_denies_is_told(hire: Hire):
    law = """
    [[rules]]
    name = "mail"
    tool = "send"
    effect = "allow"

    [[rules]]
    name = "frozen"
    tool = "pay"
    effect = "deny"
    why = "Payments stopped."
    """
    reply = turns([call("send", to="anna"), call("pay", to="eve", amount=9)], "Done.")
    clerk = hire(reply, law=law)
    run = clerk.begin()
    assert (run.status, run.asks, clerk.did) == ("done", [], [["send", "anna", "hello"]])
    assert "Payments stopped." in heard(clerk, run)["pay"]
    assert consistent(clerk.history(run))


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({}, True),
        ({"risk": {"send": "low"}}, False),
        ({"risk": {"send": "high"}}, True),
        ({"risk": {"send": "low"}, "confirm": ["send"]}, True),
        ({"risk": {"send": "low"}, "confirm": True}, True),
        ({"risk": {"send": lambda to: "high" if to == "anna" else "low"}}, True),
        ({"tools": {"send": {"risk": "low"}}}, False),
    ],
    ids=["nothing known", "low", "high", "confirmed", "all confirmed", "computed", "declared"],
)
def test_a_tool_asks_unless_something_is_known_of_it(
    hire: Hire, options: dict[str, Any], *, asked: bool
):
    clerk = hire(ONE, options=options)
    run = clerk.begin()
    assert [ask.tool for ask in run.asks] == ["send"] * asked
    assert len(clerk.did) == (not asked)


def test_a_tool_that_the_agent_does_not_have_is_asked_about_and_runs_nothing(hire: Hire):
    clerk = hire(turns([call("delete_db", "x", name="all")], "Done."))
    run = clerk.begin()
    run = clerk.decided(run, "approve", what="delete_db")
    assert clerk.did == []
    assert "not a valid tool" in heard(clerk, run)["x"]


FROZEN = '[[rules]]\nname = "frozen"\ntool = "send"\neffect = "deny"\nwhy = "No mail today."'
FREE = '[[rules]]\nname = "free"\ntool = "send"\neffect = "allow"'


@pytest.mark.parametrize(
    ("verdict", "law", "told"),
    [("reject", FREE, "said no"), ("approve", FROZEN, "No mail today.")],
    ids=["allows after a no", "denies after a yes"],
)
def test_of_people_and_a_policy_that_came_later_the_stricter_counts(
    hire: Hire, verdict: str, law: str, told: str
):
    clerk = hire(ONE)
    run = clerk.begin()
    clerk.law = law
    run = clerk.decided(run, verdict)
    assert (run.status, clerk.did) == ("done", [])
    assert told in heard(clerk, run)["send"]


def test_what_was_allowed_and_is_not_any_more_is_asked_when_the_turn_goes_on(hire: Hire):
    reply = turns([call("send", to="anna"), call("pay", to="eve", amount=9)], "Done.")
    clerk = hire(reply, law=FREE)
    run = clerk.begin()
    clerk.desk.approve(ask_of(run, "pay"))
    clerk.law = ""
    run = clerk.go_on(run)
    assert (run.status, clerk.did) == ("waiting", []), "by now the message needs a person, too"
    run = clerk.decided(run, "reject", "no", what="send")
    assert (run.status, clerk.did) == ("done", [["pay", "eve", 9]])
