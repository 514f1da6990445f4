"""A node that cannot use an answer, or asks something else: people are asked again, and say so."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import RetryPolicy, Send, interrupt

import sayso
from sayso import Desk, Run
from sayso.adapters.langgraph import Graph
from tests.adapters.langgraph.conftest import Setting
from tests.adapters.langgraph.graphs import State, Talk, one_node
from tests.runs.people import ask_of, titles

Node = Callable[[Any], Any]


def begun(desk: Desk, node: Node, value: Any = None, **how: Any) -> Run:
    compiled = one_node(node, **how).compile(checkpointer=InMemorySaver())
    return desk.run(Graph("till", compiled), {"log": [], "value": value}, wait=False)


def on(desk: Desk, run: Run) -> Run:
    desk.work(until="idle", only=run.id)
    return desk.get_run(run.id)


def told(desk: Desk, run: Run, *answers: Any) -> Run:
    """Answer what is asked, one after the other."""
    for answer in answers:
        desk.respond(ask_of(run), answer)
        run = on(desk, run)
    return run


def age(state: State) -> State:
    return {"log": [int(interrupt("How old?"))]}


# --- an answer that a node cannot use ----------------------------------------------------------


def test_the_next_ask_says_what_the_node_raised_and_is_about_the_last_one(local: Desk):
    run = begun(local, age)
    first = ask_of(run)
    run = told(local, run, "\x1b[31mseven")
    again = ask_of(run)
    assert again.content.about == first.id
    assert "did not take the last answer: ValueError: invalid literal" in str(again.content.why)
    assert told(local, run, "7").output["log"] == [7]


def test_after_three_answers_the_run_is_parked_in_plain_words_and_a_retry_asks_again(local: Desk):
    run = told(local, begun(local, age), "a", "b", "c")
    assert run.status == "parked"
    assert "node took none of 3 answers" in str(run.error)
    assert "invalid literal for int() with base 10: 'c'" in str(run.error)
    local.retry(run)
    run = told(local, on(local, run), "d", "e", "7")
    assert (run.status, run.output["log"]) == ("done", [7]), run.error
    assert len(run.asks) == 6


def test_a_run_that_was_parked_after_three_answers_can_be_cancelled(local: Desk):
    run = told(local, begun(local, age), "a", "b", "c")
    assert local.cancel(run).status == "cancelled"


def test_a_schema_that_no_answer_fits_parks_the_run_too(bench: Setting):
    made = bench("even")
    run = made.begin({"log": [], "value": ["How many?"]})
    for number in (1, 3, 5):
        made.answer(run, {"n": number})
    assert (run.status, "5 is odd" in str(run.error)) == ("parked", True)


def test_of_several_questions_of_a_node_only_the_last_is_asked_again(local: Desk):
    def node(state: State) -> State:
        name = interrupt("Who?")
        return {"log": [name, int(interrupt("How old?")), interrupt("Why?")]}

    run = told(local, begun(local, node), "Ada", "seven")
    assert ask_of(run).title == "How old?"
    run = told(local, run, "7", "Just so")
    assert (run.status, run.output["log"]) == ("done", ["Ada", 7, "Just so"]), run.error


def test_of_parallel_nodes_only_those_that_raised_are_asked_again(local: Desk):
    def side(part: State) -> State:
        return {"log": [int(interrupt(part["value"]))]}

    builder: Any = StateGraph(State)
    builder.add_node("side", side)
    builder.add_conditional_edges(
        START, lambda _: [Send("side", {"value": one}) for one in ("a", "b", "c")], ["side"]
    )
    compiled = builder.compile(checkpointer=InMemorySaver())
    run = local.run(Graph("till", compiled), {"log": []}, wait=False)
    for title, answer in (("a", "1"), ("b", "two"), ("c", "three")):
        local.respond(ask_of(run, title), answer)
    answers = {"a": "1", "b": "2", "c": "3"}
    run, rounds = on(local, run), count()
    while run.status == "waiting" and next(rounds) < 4:
        for ask in [one for one in run.asks if one.open]:
            assert ask.title != "a"
            local.respond(ask, answers[ask.title])
        run = on(local, run)
    assert (run.status, sorted(run.output["log"])) == ("done", [1, 2, 3]), run.error


def test_an_answer_that_a_node_of_a_subgraph_cannot_use_is_asked_for_again(local: Desk):
    run = begun(local, one_node(age).compile())
    run = told(local, run, "seven", "7")
    assert (run.status, run.output["log"]) == ("done", [7]), run.error


@tool
def expert(query: str) -> str:
    """Ask an expert."""
    return str(interrupt({"query": query})["data"])


def test_a_tool_that_wants_an_object_is_told_one_after_a_plain_text(local: Desk):
    """A support desk reads `["data"]` from the answer, and people type a sentence."""
    calls = [{"name": "expert", "args": {"query": one}, "id": one} for one in ("How?", "And then?")]
    builder = StateGraph(Talk)
    builder.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=calls)]})
    builder.add_node("tools", ToolNode([expert]))
    builder.add_edge(START, "model")
    builder.add_edge("model", "tools")
    compiled = builder.compile(checkpointer=InMemorySaver())
    run = local.run(Graph("desk", compiled), {"messages": []}, wait=False)
    run = told(local, run, "Just so")
    assert ask_of(run).title == "How?"
    run = told(local, run, {"data": "so"}, {"data": "then"})
    assert run.status == "done", run.error
    assert [one["content"] for one in run.output["messages"][1:]] == ["so", "then"]


def test_a_choice_is_asked_again_and_takes_another_answer(local: Desk):
    payload = {"question": "Send?", "options": ["approve", "edit"]}

    def node(state: State) -> State:
        said = interrupt(payload)
        return {"log": [said if said == "approve" else said["edit"]]}

    run = begun(local, node)
    local.approve(ask_of(run), option="edit")
    run = on(local, run)
    assert (ask_of(run).kind, ask_of(run).content.why is None) == ("choice", False)
    run = told(local, run, {"edit": "Shorter"})
    assert run.output["log"] == ["Shorter"]


def test_an_answer_is_asked_for_again_in_a_new_process(everywhere: Setting):
    made = everywhere("talk")
    message = {"role": "user", "content": "How?", "id": "m1"}
    run = made.begin({"messages": [message]})
    made.answer(run, "Just so")
    made.answer(run, "Like this")
    made.answer(run, {"data": "so"})
    assert run.status == "done", run.error
    assert run.output["messages"][-1]["content"] == "They say: so"


# --- what an answer is not the reason for ------------------------------------------------------


class Model(GenericFakeChatModel):
    """A model that says yes."""


def offline(said: Any) -> None:
    raise ConnectionError("no line")


def after_a_verb(said: Any) -> None:
    sayso.step(str, said)
    raise ValueError("broken")


def after_a_model(said: Any) -> None:
    Model(messages=iter([AIMessage("yes")])).invoke(str(said))
    raise ValueError("broken")


def after_a_tool(said: Any) -> None:
    looked.invoke({"what": str(said)})
    raise ValueError("broken")


@tool
def looked(what: str) -> str:
    """Look something up."""
    return what


@pytest.mark.parametrize("then", [offline, after_a_verb, after_a_model, after_a_tool])
def test_what_fails_for_another_reason_fails_the_run_and_keeps_the_answer(
    local: Desk, then: Callable[[Any], None]
):
    broken = [True]

    def node(state: State) -> State:
        said = interrupt("Go?")
        if broken:
            then(said)
        return {"log": [said]}

    run = told(local, begun(local, node), "yes")
    assert run.status == "failed"
    broken.clear()
    local.retry(run)
    run = on(local, run)
    assert (run.output["log"], len(run.asks)) == (["yes"], 1)


def test_an_approval_is_never_asked_for_again_because_its_call_failed(local: Desk):
    def node(state: State) -> State:
        interrupt({"action": "wipe", "disk": "a", "options": ["yes", "no"]})
        raise ValueError("the disk is on fire")

    run = begun(local, node)
    local.approve(ask_of(run))
    run = on(local, run)
    assert (run.status, len(run.asks)) == ("failed", 1)


def test_what_langgraph_tries_again_by_itself_asks_nobody(local: Desk):
    tries = count()

    def node(state: State) -> State:
        said = interrupt("Go?")
        if next(tries) == 0:
            raise LookupError("not yet")
        return {"log": [said]}

    policy = RetryPolicy(initial_interval=0.01, retry_on=LookupError)
    run = told(local, begun(local, node, retry_policy=policy), "yes")
    assert (run.output["log"], len(run.asks)) == (["yes"], 1)


# --- a node that asks something else when it runs again ----------------------------------------


def wording(*words: Any) -> Node:
    """A node that says something else each time, as a model would."""
    left = iter(words)
    return lambda state: {"log": [interrupt(next(left, words[-1]))]}


def test_what_differs_is_shown_line_by_line(local: Desk):
    was, now = "Dear Ben,\nwe are glad.\nYours", "Dear Ben,\nwe are sorry.\nYours"
    run = begun(local, wording({"draft": was}, {"draft": now}))
    first = ask_of(run)
    run = told(local, run, {"ok": True})
    again = ask_of(run)
    facts = str(again.content.facts)
    assert again.content.about == first.id
    assert "nothing that was said before counts" in str(again.content.why)
    assert ("glad" in facts, "sorry" in facts) == (True, True)


def test_a_payload_cannot_take_the_place_of_what_was_asked_before(local: Desk):
    """A payload is hostile text: it may bring a fact of that name itself."""
    run = begun(local, wording({"a": "Pay 5"}, {"a": "Pay 500", "Asked before": "Pay 500"}))
    facts = dict(ask_facts(told(local, run, "yes")))
    assert facts["Asked before"] == "Pay 500"
    assert 'Pay 5"' in facts["Asked before'"]


def ask_facts(run: Run) -> list[list[str]]:
    facts: list[list[str]] = json.loads(str(ask_of(run).content.facts))
    return facts


def test_wordings_too_long_to_compare_are_shown_as_they_were(local: Desk):
    words = ["\n".join(f"{n} {word}" for n in range(5_000)) for word in ("tea", "coffee")]
    run = told(local, begun(local, wording(*words)), "yes")
    assert "0 tea" in str(ask_of(run).content.facts)


def test_no_approval_carries_over_to_another_wording_nor_back(local: Desk):
    wiped: list[str] = []
    disks = iter(["a", "b", "a", "a"])

    def node(state: State) -> State:
        disk = next(disks)
        if interrupt({"action": "wipe", "disk": disk, "options": ["yes", "no"]}) == "yes":
            wiped.append(disk)
        return {}

    run = begun(local, node)
    for verdict, disk in (("approve", "a"), ("approve", "b"), ("reject", "a")):
        ask = ask_of(run, "wipe")
        assert ask.args == {"disk": disk}
        getattr(local, verdict)(ask)
        run = on(local, run)
    assert (run.status, wiped) == ("done", [])


def test_a_wording_that_never_settles_parks_the_run_and_a_retry_asks_again(local: Desk):
    numbers = count()

    def node(state: State) -> State:
        return {"log": [interrupt(f"Draft {min(next(numbers), 5)}: fine?")]}

    run = told(local, begun(local, node), "yes", "yes", "yes")
    assert run.status == "parked"
    assert "asked something else 3 times" in str(run.error)
    assert "sayso.step" in str(run.error)
    local.retry(run)
    run = told(local, on(local, run), "yes", "yes", "yes")
    assert (run.status, run.output["log"]) == ("done", ["yes"]), run.error


def test_an_earlier_answer_stays_and_a_later_one_is_asked_for_again(local: Desk):
    words = iter(["Fine?", "Good?", "Good?", "Good?"])

    def node(state: State) -> State:
        return {"log": [interrupt("Who?"), interrupt(next(words)), interrupt("Why?")]}

    run = told(local, begun(local, node), "Ada", "yes", "no", "So")
    assert run.status == "done", run.error
    assert titles(run) == ["Fine?", "Good?", "Who?", "Why?"]
    assert run.output["log"] == ["Ada", "no", "So"]


def test_another_wording_in_a_tool_is_asked_anew(local: Desk):
    words = iter(["How?", "How come?", "How come?"])

    @tool
    def wonder(about: str) -> str:
        """Ask."""
        return str(interrupt(next(words)))

    calls = [{"name": "wonder", "args": {"about": "x"}, "id": "1"}]
    builder = StateGraph(Talk)
    builder.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=calls)]})
    builder.add_node("tools", ToolNode([wonder]))
    builder.add_edge(START, "model")
    builder.add_edge("model", "tools")
    compiled = builder.compile(checkpointer=InMemorySaver())
    run = local.run(Graph("desk", compiled), {"messages": []}, wait=False)
    run = told(local, run, "so", "thus")
    assert run.status == "done", run.error
    assert run.output["messages"][-1]["content"] == "thus"


def test_another_wording_is_asked_anew_in_a_new_process(everywhere: Setting):
    made = everywhere("rewords")
    run = made.begin({"log": []})
    made.answer(run, "yes", "draft 1")
    made.answer(run, "no", "draft 2")
    assert (run.status, run.output["log"]) == ("done", ["no"]), run.error
