"""A ToolCallingAgent under a desk: what it calls is asked for, carried out once, and told."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import pytest
from smolagents import Tool

from sayso import Desk, Run
from sayso.adapters.smolagents import Smol, UserInput
from sayso.errors import BadValue, Misuse
from tests.adapters.smolagents.cast import (
    Gives,
    Note,
    Thinks,
    caller,
    final,
    shown,
    steps_taken,
)
from tests.runs.people import answered, approved, ask_of, begun, carried_on, edited

DONE: list[Any] = []


def two_then_answer(texts: list[str]) -> Any:
    if steps_taken(texts) == 0:
        return [("send", {"to": "anna", "amount": 500}), ("send", {"to": "ben"})]
    return final(texts[-1])


def clerk(model: Thinks, **terms: Any) -> Smol:
    return Smol("clerk", lambda: caller(model, Note(DONE)), **{"confirm": ["send"], **terms})


def of(run: Run, to: str) -> Any:
    return next(ask for ask in run.asks if ask.args["to"] == to)


@pytest.mark.parametrize("first", ["anna", "ben"])
def test_two_calls_are_asked_together_and_decided_in_any_order(desk: Desk, first: str):
    model = Thinks(two_then_answer)
    run = begun(desk, clerk(model), "Pay them")
    assert (len(run.asks), DONE) == (2, [])
    assert {ask.content.agent for ask in run.asks} == {"clerk"}
    assert {ask.content.why for ask in run.asks} == {"I know why."}

    def decide(to: str) -> None:
        if to == "anna":
            desk.edit(of(run, "anna"), {"amount": 300})
        else:
            desk.reject(of(run, "ben"), "He left")
        carried_on(desk, run)

    decide(first)
    assert ([("send", "anna", 300)] if first == "anna" else []) == DONE, "it waits for nobody"
    assert len(run.state.pending) == 1
    decide("ben" if first == "anna" else "anna")
    assert DONE == [("send", "anna", 300)]
    assert run.status == "done"
    assert "send to anna: 300" in run.output
    assert "sam said no: He left." in run.output
    assert len(model.seen) == 2, "no reply was asked for twice"


def test_a_call_that_the_model_wrote_as_text_is_rewritten_there_too(desk: Desk):
    def think(texts: list[str]) -> Any:
        if steps_taken(texts):
            return final("done")
        return 'I do: {"name": "send", "arguments": {"to": "anna", "amount": 500}} now'

    model = Thinks(think)
    run = begun(desk, clerk(model), "Pay her")
    edited(desk, run, {"amount": 300})
    assert (run.output, DONE) == ("done", [("send", "anna", 300)])
    assert "500" not in shown(model.seen[-1])
    assert 'I do: {\\"name\\": \\"send\\"' in shown(model.seen[-1]).replace('\\\\"', '\\"')


def test_an_answer_instead_of_a_call_reaches_the_model_and_nothing_is_done(desk: Desk):
    run = begun(desk, clerk(Thinks(two_then_answer)), "Pay them")
    desk.respond(of(run, "anna"), "Ask her first")
    desk.respond(of(run, "ben"), "Not him")
    carried_on(desk, run)
    assert "sam says: Ask her first" in run.output
    assert DONE == []


@pytest.mark.parametrize("ids", [["", ""], ["x", "x"], ["call_10", "call_2"]])
def test_calls_with_empty_and_doubled_ids_are_all_made_and_stay_in_order(
    desk: Desk, ids: list[str]
):
    def think(texts: list[str]) -> Any:
        model.ids = ids if not steps_taken(texts) else ["only"]
        return two_then_answer(texts)

    model = Thinks(think)
    run = begun(desk, clerk(model), "Pay them")
    assert len(run.asks) == 2
    for ask in run.asks:
        desk.approve(ask)
    carried_on(desk, run)
    assert sorted(DONE) == [("send", "anna", 500), ("send", "ben", None)]
    assert run.output.index("anna") < run.output.index("ben")
    told = re.findall(r"'id': '([^']*)'", str(model.seen[-1][-2]))
    assert len(set(told)) == 2
    assert all(told)


def test_tools_that_nobody_named_run_alone_and_once_and_a_risk_asks(desk: Desk):
    def think(texts: list[str]) -> Any:
        calls = ["quick", "risky"]
        taken = steps_taken(texts)
        return [(calls[taken], {"to": "x"})] if taken < 2 else final("done")

    model = Thinks(think)
    agent = Smol(
        "clerk",
        lambda: caller(model, Note(DONE, "quick"), Note(DONE, "risky")),
        risk={"risky": "high"},
    )
    run = begun(desk, agent, "Go")
    assert [call[0] for call in DONE] == ["quick"]
    assert (ask_of(run).tool, ask_of(run).content.risk) == ("risky", "high")
    approved(desk, run)
    assert (run.output, [call[0] for call in DONE]) == ("done", ["quick", "risky"])


def test_a_tool_that_fails_is_told_and_fails_the_same_at_a_replay(desk: Desk):
    def answers(what: str) -> Any:
        DONE.append(what)
        raise ValueError("no such thing")

    def think(texts: list[str]) -> Any:
        if steps_taken(texts) == 0:
            return [("look_up", {"what": "x"}), ("send", {"to": "anna"})]
        return final(texts[-1])

    agent = Smol(
        "clerk", lambda: caller(Thinks(think), Gives(answers), Note(DONE)), confirm=["send"]
    )
    run = begun(desk, agent, "Go")
    approved(desk, run)
    assert DONE == ["x", ("send", "anna", None)]
    assert "no such thing" in run.output
    assert "send to anna" in run.output, "what went well beside it is told"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("nothing", {}), "Unknown tool nothing"),
        (("send", {"whom": "x"}), "not in the tool's input schema"),
        (("send", {}), "required"),
        (("final_answer", {"answer": "x"}), "please do not perform any other tool calls"),
    ],
)
def test_a_reply_with_a_call_that_cannot_be_made_makes_none_of_its_calls(
    desk: Desk, call: Any, said: str
):
    def think(texts: list[str]) -> Any:
        if len(texts) == 2:
            return [("send", {"to": "anna"}), call]
        return final(texts[-1])

    run = begun(desk, clerk(Thinks(think)), "Go")
    assert said in run.output
    assert (DONE, list(run.asks)) == ([], [])


@pytest.mark.parametrize("given", ["5", "x", [1], 7])
def test_arguments_without_names_for_a_tool_that_takes_none_are_an_error_for_the_model(
    local: Desk, given: Any
):
    class Now(Tool):
        name, description, output_type = "now", "The time.", "string"
        inputs: ClassVar[dict[str, Any]] = {}

        def forward(self) -> str:
            DONE.append("now")
            return "now"

    def think(texts: list[str]) -> Any:
        return [("now", given)] if len(texts) == 2 else final(texts[-1])

    run = begun(local, Smol("clerk", lambda: caller(Thinks(think), Now())), "Go")
    assert run.status == "done", run.error
    assert "now takes no arguments" in run.output
    assert DONE == []


@pytest.mark.parametrize("tool", ["ours", "theirs"])
def test_its_questions_reach_people_and_their_answer_the_model(desk: Desk, tool: str):
    from smolagents import UserInputTool

    asks = UserInput() if tool == "ours" else UserInputTool()

    def think(texts: list[str]) -> Any:
        if steps_taken(texts):
            return final(texts[-1])
        return [("user_input", {"question": "Which colour?"})]

    run = begun(desk, Smol("clerk", lambda: caller(Thinks(think), asks)), "Go")
    assert (ask_of(run).title, ask_of(run).kind) == ("Which colour?", "question")
    answered(desk, run, "green")
    assert "green" in run.output


def test_the_drop_in_has_the_name_and_the_inputs_of_the_tool_it_replaces() -> None:
    from smolagents import UserInputTool

    ours, theirs = UserInput(), UserInputTool()
    assert (ours.name, ours.inputs) == (theirs.name, theirs.inputs) == ("user_input", ours.inputs)
    with pytest.raises(Misuse, match="inside a run"):
        ours("Who are you?")


def test_a_typo_in_what_is_to_be_confirmed_is_refused_and_opens_no_gate(desk: Desk):
    model = Thinks(two_then_answer)
    run = begun(desk, clerk(model, confirm=["sned"]), "Pay them")
    assert run.status == "failed"
    assert "did you mean 'send'" in (run.error or "").lower()
    assert (DONE, model.seen) == ([], [])
    with pytest.raises(BadValue, match="sned"):
        Smol("clerk", caller(model, Note(DONE)), confirm=["sned"])


def test_a_reply_that_failed_fails_the_run_and_a_retry_asks_for_it_again(desk: Desk):
    broken = [True]

    def think(texts: list[str]) -> Any:
        if broken[0]:
            raise ConnectionError("the provider is away")
        return final("here")

    run = begun(desk, Smol("clerk", lambda: caller(Thinks(think))), "Go")
    assert run.status == "failed"
    assert "the provider is away" in (run.error or "")
    broken[0] = False
    desk.retry(run)
    carried_on(desk, run)
    assert run.output == "here"


@pytest.mark.parametrize("stream", [False, True])
def test_an_agent_that_streams_is_recorded_like_any_other(local: Desk, stream: bool):
    class Streams(Thinks):
        def generate_stream(self, *args: Any, **kwargs: Any) -> Any:
            raise AssertionError("what streams could not be recorded")

    model = Streams(two_then_answer)

    def build() -> Any:
        return caller(model, Note(DONE), stream_outputs=stream)

    run = begun(local, Smol("clerk", build, confirm=["send"]), "Pay them")
    for ask in run.asks:
        local.approve(ask)
    carried_on(local, run)
    assert (run.status, len(DONE), len(model.seen)) == ("done", 2, 2), run.error
