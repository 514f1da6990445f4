"""What we rely on in LangGraph itself. A test that fails here names what an upgrade has broken.

None of these tests uses `Graph`: they are about the host, and each name says what would go wrong.
"""

from __future__ import annotations

import operator
import sys
import threading
from typing import Annotated, Any

import langgraph.config
import langgraph.types
import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt, UnknownInterruptError
from langgraph.graph import START, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Command, RetryPolicy, Send, interrupt
from typing_extensions import TypedDict

THREAD: Any = {"configurable": {"thread_id": "1"}}
STRICT: Any = {"configurable": {"thread_id": "1", "__pregel_strict_resume": True}}


class State(TypedDict, total=False):
    value: Any
    log: Annotated[list[Any], operator.add]


class Halt(BaseException):
    """As our pauses are: no Exception."""


def halt() -> None:
    raise Halt


def compiled(node: Any, **more: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("node", node, **more)
    builder.add_edge(START, "node")
    return builder.compile(checkpointer=InMemorySaver())


def fanned(node: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_conditional_edges(
        START, lambda state: [Send("node", {"value": one}) for one in state["value"]], ["node"]
    )
    return builder.compile(checkpointer=InMemorySaver())


def asks(state: State) -> State:
    return {"log": [interrupt(state["value"])]}


def pending(graph: Any, config: Any = THREAD) -> list[Any]:
    return list(graph.get_state(config, subgraphs=True).interrupts)


def test_an_id_names_a_place_and_not_what_is_asked__so_digests_of_payloads_are_kept() -> None:
    graph = compiled(lambda state: {"log": [interrupt({"amount": state["value"]})]})
    graph.invoke({"value": 1}, THREAD)
    (first,) = pending(graph)
    assert len(first.id) == 32
    graph.update_state(THREAD, {"value": 82_000}, as_node="__start__")
    state = graph.get_state(THREAD)
    graph.invoke(None, THREAD)
    (second,) = pending(graph)
    again = compiled(lambda state: {"log": [interrupt({"amount": 2 * state["value"]})]})
    again.checkpointer = graph.checkpointer
    again.invoke(None, THREAD)
    (third,) = pending(again)
    assert state.next == ("node",)
    assert (third.id, third.value) == (second.id, {"amount": 164_000}), "same id, other payload"


def test_a_node_runs_again_from_its_top__so_what_acts_in_it_needs_a_verb() -> None:
    ran: list[str] = []

    def node(state: State) -> State:
        ran.append("top")
        return {"log": [interrupt("a?"), interrupt("b?")]}

    graph = compiled(node)
    graph.invoke({"log": []}, THREAD)
    for _ in range(2):
        graph.invoke(Command(resume={pending(graph)[0].id: "x"}), THREAD)
    assert ran == ["top"] * 3


def test_each_question_of_a_node_has_an_id_of_its_own__so_no_answer_goes_to_the_next() -> None:
    graph = compiled(lambda state: {"log": [interrupt("a?"), interrupt("b?")]})
    graph.invoke({"log": []}, THREAD)
    (first,) = pending(graph)
    graph.invoke(Command(resume={first.id: "x"}), THREAD)
    (second,) = pending(graph)
    assert first.id != second.id


def test_a_map_answers_by_id_and_some_of_many__so_order_does_not_matter() -> None:
    graph = fanned(asks)
    graph.invoke({"value": ["a", "b"], "log": []}, THREAD)
    ids = {one.value: one.id for one in pending(graph)}
    graph.invoke(Command(resume={ids["b"]: "B"}), THREAD)
    assert [one.value for one in pending(graph)] == ["a"]
    graph.invoke(Command(resume={ids["a"]: "A"}), THREAD)
    assert graph.get_state(THREAD).values["log"] == ["A", "B"]


@pytest.mark.parametrize("resume", [{}, {"0" * 32: "x"}], ids=["empty", "unknown"])
def test_strict_resume_refuses_what_is_not_pending__so_no_stale_answer_is_used(resume: Any) -> None:
    graph = compiled(asks)
    graph.invoke({"value": "a?", "log": []}, THREAD)
    with pytest.raises(UnknownInterruptError):
        graph.invoke(Command(resume=resume), STRICT)
    (one,) = pending(graph)
    graph.invoke(Command(resume={one.id: "x"}), STRICT)
    assert graph.get_state(THREAD).values["log"] == ["x"]


def test_metadata_reaches_the_checkpoint__so_a_turn_that_died_is_recognised() -> None:
    graph = compiled(asks)
    graph.invoke({"value": "a?", "log": []}, {**THREAD, "metadata": {"sayso": "r-1:1"}})
    assert graph.get_state(THREAD).metadata["sayso"] == "r-1:1"


def test_a_new_thread_has_no_checkpoint_id__so_a_lost_one_is_noticed() -> None:
    state = compiled(asks).get_state(THREAD)
    assert (state.config["configurable"].get("checkpoint_id"), state.next) == (None, ())


def test_resuming_keeps_the_checkpoint_until_the_step_is_over__so_progress_is_told_apart() -> None:
    graph = compiled(lambda state: {"log": [interrupt("a?"), interrupt("b?")]})
    graph.invoke({"log": []}, THREAD)
    before = graph.get_state(THREAD).config["configurable"]["checkpoint_id"]
    graph.invoke(Command(resume={pending(graph)[0].id: "x"}), THREAD)
    assert graph.get_state(THREAD).config["configurable"]["checkpoint_id"] == before
    graph.invoke(Command(resume={pending(graph)[0].id: "x"}), THREAD)
    assert graph.get_state(THREAD).config["configurable"]["checkpoint_id"] != before


def test_interrupts_of_a_subgraph_are_those_of_its_graph__so_they_are_found() -> None:
    inner = StateGraph(State)
    inner.add_node("inside", asks)
    inner.add_edge(START, "inside")
    graph = compiled(inner.compile())
    graph.invoke({"value": "a?", "log": []}, THREAD)
    state = graph.get_state(THREAD, subgraphs=True)
    assert [one.value for one in state.interrupts] == ["a?"]
    assert [task.name for task in state.tasks[0].state.tasks if task.interrupts] == ["inside"]


def test_a_task_has_the_same_name_when_it_runs_again__so_verbs_find_their_place() -> None:
    seen: list[tuple[str, int]] = []

    def node(state: State) -> State:
        info = get_runtime().execution_info
        assert info is not None
        seen.append((info.checkpoint_ns, info.node_attempt))
        if len(seen) == 1:
            raise ConnectionError
        return {"log": [interrupt("a?")]}

    graph = compiled(node, retry_policy=RetryPolicy(initial_interval=0.01))
    graph.invoke({"log": []}, THREAD)
    graph.invoke(Command(resume={pending(graph)[0].id: "x"}), THREAD)
    assert len({name for name, _ in seen}) == 1
    assert [attempt for _, attempt in seen] == [1, 2, 1], "and says which attempt it is"


def test_parallel_tasks_and_rounds_have_names_of_their_own__so_verbs_do_not_mix() -> None:
    seen: list[str] = []

    def node(state: State) -> Command[Any]:
        info = get_runtime().execution_info
        assert info is not None
        seen.append(info.checkpoint_ns)
        return Command(goto="node" if len(seen) < 4 else "__end__")

    fanned(node).invoke({"value": ["a", "b"], "log": []}, THREAD)
    assert len(set(seen)) == len(seen) >= 4


def test_what_is_no_exception_passes_through_a_node__so_except_exception_lets_pauses_be() -> None:
    def node(state: State) -> State:
        try:
            halt()
        except Exception:
            return {"log": ["swallowed"]}
        return {}

    graph = compiled(node, retry_policy=RetryPolicy(initial_interval=0.01, retry_on=Exception))
    with pytest.raises(Halt):
        graph.invoke({"log": []}, THREAD)


class Handler(BaseCallbackHandler):
    """As our watch: it makes interrupts of halts where a node ends."""

    raise_error = True

    def __init__(self) -> None:
        self.nodes: dict[Any, str] = {}

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: Any, metadata: Any = None, **more: Any
    ) -> None:
        if more.get("name") == (metadata or {}).get("langgraph_node"):
            self.nodes[run_id] = metadata["langgraph_checkpoint_ns"]

    def on_chain_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
        if run_id in self.nodes and isinstance(error, Halt):
            raise GraphInterrupt from error

    def on_chain_end(self, outputs: Any, *, run_id: Any, **_: Any) -> None:
        if run_id in self.nodes and outputs == {"log": ["swallowed"]}:
            raise GraphInterrupt


def test_a_handler_makes_an_interrupt_of_a_halt__so_nodes_beside_keep_their_work() -> None:
    ran: list[str] = []
    halted = threading.Event()

    def node(part: State) -> State:
        ran.append(part["value"])
        if part["value"] == "halts" and ran.count("halts") == 1:
            halted.set()
            raise Halt
        halted.wait(30)
        return {"log": [part["value"]]}

    graph = fanned(node)
    graph.invoke({"value": ["halts", "goes"], "log": []}, {**THREAD, "callbacks": [Handler()]})
    assert graph.get_state(THREAD).next == ("node",)
    assert pending(graph) == [], "it asks nothing of its own"
    graph.invoke(None, THREAD)
    assert sorted(graph.get_state(THREAD).values["log"]) == ["goes", "halts"]
    assert ran.count("goes") == 1


def test_a_handler_stops_a_node_that_ends__so_a_swallowed_pause_does_not_count() -> None:
    graph = compiled(lambda state: {"log": ["swallowed"]})
    graph.invoke({"log": []}, {**THREAD, "callbacks": [Handler()]})
    assert (graph.get_state(THREAD).next, graph.get_state(THREAD).values["log"]) == (("node",), [])


def test_updating_as_a_node_counts_as_its_run__so_a_person_can_say_that_it_happened() -> None:
    graph = compiled(asks)
    graph.invoke({"value": "a?", "log": []}, THREAD)
    graph.update_state(THREAD, {"log": ["by hand"]}, as_node="node")
    state = graph.get_state(THREAD)
    assert (state.next, state.values["log"]) == ((), ["by hand"])


# --- interrupt() itself ------------------------------------------------------------------------


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What is in each call of `interrupt()` when it looks its config up, and that config."""
    real, seen = langgraph.config.get_config, list[tuple[dict[str, Any], dict[str, Any]]]()

    def get_config() -> Any:
        caller, config = sys._getframe(1), real()
        if caller.f_code is interrupt.__code__:
            seen.append((dict(caller.f_locals), dict(config["configurable"])))
        return config

    monkeypatch.setattr(langgraph.config, "get_config", get_config)
    return seen


def test_interrupt_looks_its_config_up_each_time__so_what_a_node_asks_is_met(frames: Any) -> None:
    graph = compiled(lambda state: {"log": [interrupt("a?"), interrupt("b?")]})
    graph.invoke({"log": []}, THREAD)
    graph.invoke(Command(resume={pending(graph)[0].id: "x"}), THREAD)
    assert [held["value"] for held, _ in frames] == ["a?", "a?", "b?"]
    assert all("response_schema" in held for held, _ in frames)
    assert {conf["thread_id"] for _, conf in frames} == {"1"}
    assert len({conf["checkpoint_ns"] for _, conf in frames}) == 1
    assert [conf["__pregel_scratchpad"].resume for _, conf in frames] == [[], ["x"], ["x"]]


def test_an_id_is_made_of_task_and_number__so_what_was_decided_is_found_again(frames: Any) -> None:
    graph = compiled(lambda state: {"log": [interrupt("a?"), interrupt("b?")]})
    graph.invoke({"log": []}, THREAD)
    for number in range(2):
        (one,) = pending(graph)
        ns = frames[-1][1]["checkpoint_ns"]
        assert one.id == langgraph.types._interrupt_id(ns, number)
        graph.invoke(Command(resume={one.id: "x"}), THREAD)


def test_interrupt_believes_the_config_it_is_given__so_it_can_be_given_its_own_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dataclasses import replace

    real, sent = langgraph.config.get_config, list[Any]()

    def get_config() -> Any:
        config = real()
        conf = config["configurable"]
        value = sys._getframe(1).f_locals.get("value")
        if value not in ("a?", "b?"):
            return config
        pad, send = conf["__pregel_scratchpad"], conf["__pregel_send"]
        number = "ab".index(value[0])

        def noted(writes: Any) -> None:
            sent.extend(writes)
            send(writes)

        own = {"__pregel_scratchpad": replace(pad, interrupt_counter=lambda: number)}
        return {**config, "configurable": {**conf, **own, "__pregel_send": noted}}

    order = ["a?", "b?"]
    monkeypatch.setattr(langgraph.config, "get_config", get_config)
    graph = compiled(lambda state: {"log": [f"{one} {interrupt(one)}" for one in order]})
    graph.invoke({"log": []}, THREAD)
    graph.invoke(Command(resume={pending(graph)[0].id: "A"}), THREAD)
    order.reverse()
    graph.invoke(Command(resume={pending(graph)[0].id: "B"}), THREAD)
    assert graph.get_state(THREAD).values["log"] == ["b? B", "a? A"]
    assert sent[-2:] == [("__resume__", ["A", "B"]), ("__resume__", ["A"])], "the last one counts"


def test_context_variables_reach_every_node__so_verbs_know_their_run() -> None:
    from contextvars import ContextVar

    here: ContextVar[str] = ContextVar("here")
    here.set("set outside")
    graph = fanned(lambda part: {"log": [here.get()]})
    assert graph.invoke({"value": ["a", "b"], "log": []}, THREAD)["log"] == ["set outside"] * 2
