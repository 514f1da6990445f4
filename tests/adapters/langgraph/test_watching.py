"""What nodes say in `interrupt()` when they run again: an answer goes only to what people saw."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count, cycle
from pathlib import Path
from typing import Any

import langgraph.config
import langgraph.types
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, RetryPolicy, interrupt

import sayso
from sayso import Desk, Run
from sayso.adapters.langgraph import Graph, watching
from sayso.errors import Misuse
from tests.adapters.langchain.clerk import Script, call, turns
from tests.adapters.langgraph.graphs import State, one_node
from tests.runs.people import ask_of

Node = Callable[[State], Any]


def hosted(node: Any, **more: Any) -> Graph:
    return Graph("till", one_node(node, **more).compile(checkpointer=InMemorySaver()))


def begun(desk: Desk, graph: Graph) -> Run:
    return desk.run(graph, {"log": []}, wait=False)


def answered(desk: Desk, run: Run, answer: str = "yes") -> Run:
    desk.respond(ask_of(run), answer)
    desk.work(until="idle", only=run.id)
    return run


def parked(run: Run, *because: str) -> None:
    assert run.status == "parked", (run.status, run.error)
    for word in because:
        assert word in str(run.error)


def asked_anew(run: Run, *words: str) -> None:
    """Make sure that people are asked about something else, and see what it was before."""
    assert run.status == "waiting", (run.status, run.error)
    ask = ask_of(run)
    assert "asks something else" in str(ask.content.why)
    for word in words:
        assert word in f"{ask.title}{ask.args}{ask.content.facts}"


def request(to: str) -> dict[str, Any]:
    allow = dict.fromkeys(["allow_ignore", "allow_respond", "allow_edit", "allow_accept"], True)
    return {"action_request": {"action": "pay", "args": {"to": to}}, "config": allow}


# --- another payload ---------------------------------------------------------------------------


def test_an_approval_is_not_given_to_a_payload_that_was_computed_anew(local: Desk):
    paid: list[str] = []
    names = cycle(["bob", "mallory"])

    def node(state: State) -> State:
        to = next(names)
        if interrupt([request(to)])[0]["type"] == "accept":
            paid.append(to)
        return {}

    run = begun(local, hosted(node))
    local.approve(ask_of(run, "pay"))
    local.work(until="idle", only=run.id)
    asked_anew(run, "bob", "mallory")
    assert paid == []


def test_a_node_whose_code_changed_is_not_given_the_old_answer_even_when_it_is_put_back(
    local: Desk,
):
    asks, heard = ["Pay 1?"], list[str]()

    def node(state: State) -> State:
        answer = interrupt(asks[0])
        heard.append(f"{asks[0]} {answer}")
        return {}

    run = begun(local, hosted(node))
    asks[0] = "Wipe all?"
    asked_anew(answered(local, run), "Pay 1?", "Wipe all?")
    asks[0] = "Pay 1?"
    asked_anew(answered(local, run, "no"), "Pay 1?", "Wipe all?")
    answered(local, run, "later")
    assert (run.status, heard) == ("done", ["Pay 1? later"])


def test_an_answer_that_was_given_elsewhere_is_not_taken_for_ours(local: Desk):
    made: Any = one_node(lambda state: {"log": [interrupt("a?"), interrupt("b?")]}).compile(
        checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    made.invoke({"log": []}, config)
    made.invoke(Command(resume="elsewhere"), config)
    run = local.run(Graph("till", made), None, thread="t", wait=False)
    while run.status == "waiting":
        answered(local, run)
    assert "elsewhere" not in made.get_state(config).values["log"]


def test_a_question_that_is_put_before_the_old_one_does_not_get_its_answer(local: Desk):
    asks, heard = ["Which colour?"], list[str]()

    def node(state: State) -> State:
        heard.extend(f"{one} {interrupt(one)}" for one in asks)
        return {}

    run = begun(local, hosted(node))
    asks.insert(0, "Delete all?")
    asked_anew(answered(local, run), "Delete all?", "Which colour?")
    assert heard == []


def test_a_node_that_swallows_the_stop_can_do_nothing_by_our_verbs(local: Desk):
    numbers, did = count(1), list[str]()

    def node(state: State) -> State:
        try:
            interrupt(f"Pay {next(numbers)}?")
        except GraphInterrupt:
            raise
        except BaseException:
            with suppress(BaseException):
                sayso.effect(lambda: did.append("paid"), name="pay")
        return {"log": ["swallowed"]}

    asked_anew(answered(local, begun(local, hosted(node))), "Pay 1?", "Pay 2?")
    assert did == []


def test_the_same_question_twice_in_a_node_gets_both_answers_in_their_order(local: Desk):
    def node(state: State) -> State:
        return {"log": [interrupt("And?"), interrupt("And?")]}

    run = begun(local, hosted(node))
    for word in ("one", "two"):
        answered(local, run, word)
    assert run.output["log"] == ["one", "two"]


def test_a_node_that_langgraph_tries_again_gets_the_same_answer_again(local: Desk):
    heard: list[str] = []

    def node(state: State) -> State:
        heard.append(interrupt("Pay?"))
        if len(heard) == 1:
            raise ConnectionError
        return {"log": list(heard)}

    run = begun(local, hosted(node, retry_policy=RetryPolicy(initial_interval=0.01)))
    answered(local, run)
    assert (run.status, heard) == ("done", ["yes", "yes"]), run.error


def test_what_a_checkpointer_keeps_as_another_type_is_the_same_question(local: Desk):
    def node(state: State) -> State:
        return {"log": [interrupt({"pair": (1, 2), "where": Path("a"), "raw": b"\xff"})]}

    run = begun(local, hosted(node))
    local.respond(ask_of(run), {"ok": True})
    local.work(until="idle", only=run.id)
    assert (run.status, run.output["log"]) == ("done", [{"ok": True}]), run.error


def test_a_task_of_the_functional_api_is_watched_too(local: Desk):
    numbers = count(1)

    @task
    def pay(word: str) -> str:
        return f"{word} {interrupt(f'Pay {next(numbers)}?')}"

    @entrypoint(checkpointer=InMemorySaver())
    def flow(given: Any) -> Any:
        return {"log": [pay("a").result()]}

    asked_anew(answered(local, begun(local, Graph("flow", flow))), "Pay 1?", "Pay 2?")


# --- tools that ask side by side ---------------------------------------------------------------


def test_tools_that_ask_side_by_side_each_hear_the_answer_to_their_own_question(local: Desk):
    done = threading.Condition()
    times = {"A": 0, "B": 0, "C": 0}

    def after(word: str, other: str) -> None:
        with done:
            assert done.wait_for(lambda: times[other] > times[word], timeout=60)

    @tool
    def ask(word: str) -> str:
        """Ask, the last one first."""
        if word != "C":
            after(word, "C" if word == "B" else "B")
        try:
            return f"{word}: {interrupt(f'Pay {word}?')}"
        finally:
            with done:
                times[word] += 1
                done.notify_all()

    def model(state: MessagesState) -> Any:
        calls: list[Any] = [call("ask", str(n), word=word) for n, word in enumerate("ABC")]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    builder = StateGraph(MessagesState)
    builder.add_node("model", model)
    builder.add_node("tools", ToolNode([ask]))
    builder.add_edge(START, "model")
    builder.add_edge("model", "tools")
    graph = Graph("tools", builder.compile(checkpointer=InMemorySaver()))
    run = local.run(graph, {"messages": []}, wait=False)
    while run.status == "waiting":
        ask_now = ask_of(run)
        answered(local, run, f"answer to {ask_now.title}")
    assert run.status == "done", run.error
    said = [one["content"] for one in run.output["messages"] if one["type"] == "tool"]
    assert said == [f"{word}: answer to Pay {word}?" for word in "ABC"]


# --- answers that nobody hears -----------------------------------------------------------------


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_a_rejection_does_not_vanish_when_the_middleware_no_longer_asks(
    local: Desk, tmp_path: Path, mode: Any
):
    asks, paid = [True], list[str]()

    @tool
    def pay(to: str) -> str:
        """Pay."""
        paid.append(to)
        return "paid"

    when: Any = {"allowed_decisions": ["approve", "reject"], "when": lambda _: asks[0]}
    middleware = HumanInTheLoopMiddleware(interrupt_on={"pay": when}, interrupt_mode=mode)
    script = Script(reply=turns([call("pay", "x", to="bob")], "done"), prompts=tmp_path / "prompts")
    agent: Any = create_agent(script, [pay], middleware=[middleware], checkpointer=InMemorySaver())
    run = local.run(Graph("clerk", agent), {"messages": [("user", "pay")]}, wait=False)
    local.reject(ask_of(run, "pay"), "never")
    asks[0] = False
    local.work(until="idle", only=run.id)
    parked(run, "did not ask what people have answered")
    assert paid == []


def test_a_node_that_no_longer_asks_does_not_count_as_done(local: Desk):
    asks, after = [True], list[str]()

    def node(state: State) -> State:
        if asks[0] and interrupt("Pay?") != "yes":
            return {"log": ["no"]}
        return {"log": ["paid"]}

    builder = one_node(node)
    builder.add_node("after", lambda state: after.append("ran"))
    builder.add_edge("node", "after")
    graph = Graph("till", builder.compile(checkpointer=InMemorySaver()))
    run = begun(local, graph)
    asks[0] = False
    parked(answered(local, run, "no"), "did not ask what people have answered", "Pay?")
    assert after == []


# --- interrupts that are swallowed -------------------------------------------------------------


def swallows(state: State) -> State:
    try:
        return {"log": [interrupt("Pay?")]}
    except Exception:
        return {"log": ["yes"]}


def swallows_below(state: State) -> State:
    inner = one_node(lambda state: {"log": [interrupt("Pay?")]}).compile()
    try:
        return {"log": inner.invoke({"log": []})["log"]}
    except Exception:
        return {"log": ["yes"]}


def acts_after(state: State) -> State:
    try:
        interrupt("Pay?")
    except Exception:
        sayso.effect(lambda: pytest.fail("acted"), name="act")
    return {}


@pytest.mark.parametrize("node", [swallows, swallows_below, acts_after])
def test_a_node_that_swallows_its_own_interrupt_does_not_count_as_done(local: Desk, node: Node):
    after: list[str] = []
    builder = one_node(node)
    builder.add_node("after", lambda state: after.append("ran"))
    builder.add_edge("node", "after")
    run = begun(local, Graph("till", builder.compile(checkpointer=InMemorySaver())))
    parked(run, "swallowed its own interrupt", "Pay?")
    assert after == []


def test_a_tool_that_swallows_its_own_interrupt_does_not_count_as_done(local: Desk):
    @tool
    def pay(to: str) -> str:
        """Pay."""
        try:
            return str(interrupt(f"Pay {to}?"))
        except Exception:
            return "paid"

    builder = StateGraph(MessagesState)
    calls: list[Any] = [call("pay", "x", to="bob")]
    builder.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=calls)]})
    builder.add_node("tools", ToolNode([pay]))
    builder.add_edge(START, "model")
    builder.add_edge("model", "tools")
    graph = Graph("tools", builder.compile(checkpointer=InMemorySaver()))
    parked(local.run(graph, {"messages": []}, wait=False), "swallowed its own interrupt")


# --- others ------------------------------------------------------------------------------------


def test_graphs_that_run_beside_a_desk_are_left_alone(local: Desk):
    numbers = count(1)
    other: Any = one_node(lambda state: {"log": [interrupt(next(numbers))]}).compile(
        checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "other"}}

    def run_to_its_end(state: State) -> State:
        other.invoke({"log": []}, config)
        return {"log": other.invoke(Command(resume="yes"), config)["log"]}

    assert run_to_its_end({})["log"] == ["yes"], "outside of any run"
    run = begun(local, hosted(run_to_its_end))
    assert (run.status, run.output["log"][-1:]) == ("done", ["yes"]), "on a thread of its own"


@pytest.fixture
def unhooked(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """LangGraph as it will be put back after the test."""
    monkeypatch.setattr(langgraph.config, "get_config", langgraph.config.get_config)
    return monkeypatch


def test_a_langgraph_that_cannot_be_watched_runs_no_graph(unhooked: pytest.MonkeyPatch):
    def deaf(value: Any) -> Any:
        raise RuntimeError("it has looked its config up in another way")

    unhooked.setattr(watching, "interrupt", deaf)
    with pytest.raises(Misuse, match="cannot be watched"):
        hosted(swallows)


def test_a_langgraph_that_names_interrupts_otherwise_runs_no_graph(unhooked: pytest.MonkeyPatch):
    unhooked.delattr(langgraph.types, "_interrupt_id")
    with pytest.raises(Misuse, match="cannot be watched"):
        hosted(swallows)


def test_the_watch_is_set_once_and_again_if_somebody_covers_it(unhooked: pytest.MonkeyPatch):
    watching.watch_interrupts()
    ours = langgraph.config.get_config
    watching.watch_interrupts()
    assert langgraph.config.get_config is ours
    unhooked.setattr(langgraph.config, "get_config", lambda: ours())
    watching.watch_interrupts()
    with pytest.raises(RuntimeError, match="outside of a runnable context"):
        langgraph.config.get_config()
