"""What a graph streams, heard by the program that carries it on."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.types import interrupt

import sayso
from sayso import Desk, Run
from sayso.adapters.langgraph import Graph
from sayso.errors import BadValue, Misuse
from tests.adapters.langgraph.graphs import State, line
from tests.runs.people import ask_of
from tests.together import until


def looks(state: State) -> State:
    get_stream_writer()("looking")
    return {"log": ["looked"]}


async def looks_async(state: State) -> State:
    get_stream_writer()("looking")
    return {"log": ["looked"]}


def asks(state: State) -> State:
    return {"log": [interrupt("And?")]}


@pytest.fixture(params=["plain", "async"])
def graph(request: pytest.FixtureRequest) -> Graph:
    node: Any = {"plain": looks, "async": looks_async}[request.param]
    return Graph("streams", line(look=node, ask=asks).compile(checkpointer=InMemorySaver()))


def started(desk: Desk, graph: Graph) -> Run:
    return desk.start(graph, {"log": []})


def test_what_nodes_return_comes_until_the_run_waits_and_after_that_the_rest(
    local: Desk, graph: Graph
):
    run = started(local, graph)
    first, second = run.stream()
    assert first == {"look": {"log": ["looked"]}}
    assert [one.value for one in second["__interrupt__"]] == ["And?"]
    assert run.status == "waiting"
    local.respond(ask_of(run), "so")
    assert list(run.stream()) == [{"ask": {"log": ["so"]}}]
    assert (run.status, run.output["log"]) == ("done", ["looked", "so"])
    assert list(run.stream()) == [], "a run that is over streams nothing"


async def test_it_is_heard_on_an_event_loop_that_goes_on_meanwhile(local: Desk, graph: Graph):
    run = started(local, graph)
    ticks, over = 0, False

    async def ticking() -> None:
        nonlocal ticks
        while not over:
            ticks += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(ticking())
    parts = [part async for part in run.stream(stream_mode=["updates", "custom"])]
    over = True
    await beside
    assert parts[:2] == [("custom", "looking"), ("updates", {"look": {"log": ["looked"]}})]
    assert ticks > 1
    with pytest.raises(Misuse, match="async for part in"):
        list(run.stream())


def test_tokens_of_a_model_come_while_its_node_still_runs(local: Desk):
    heard = threading.Event()
    model = GenericFakeChatModel(messages=iter([AIMessage("one two three")]))

    def talks(state: State) -> State:
        words = []
        for chunk in model.stream("go"):
            words.append(chunk.text)
            if len(words) == 1:
                assert heard.wait(30), "nobody heard the first word while the others were made"
        return {"log": ["".join(words)]}

    graph = Graph("talks", line(talk=talks).compile(checkpointer=InMemorySaver()))
    run = started(local, graph)
    words = []
    for chunk, _ in run.stream(stream_mode="messages"):
        heard.set()
        words.append(chunk.text)
    assert "".join(words) == "one two three"
    assert run.output["log"] == ["one two three"]


def test_a_stream_that_nobody_reads_any_more_does_not_hold_the_run(local: Desk, graph: Graph):
    run = started(local, graph)
    for _ in run.stream():
        break
    until(lambda: run.status == "waiting")
    local.respond(ask_of(run), "so")
    assert len(list(run.stream())) == 1, "and it may be listened to again"


def test_it_is_heard_too_if_a_worker_of_the_program_carries_the_run_on(local: Desk):
    goes = threading.Event()

    def slow(state: State) -> State:
        goes.wait(30)
        return {"log": ["slow"]}

    graph = Graph("worker", line(slow=slow, ask=asks).compile(checkpointer=InMemorySaver()))
    run = started(local, graph)
    stream = iter(run.stream())
    worker = threading.Thread(target=lambda: local.work(until="idle"))
    worker.start()
    goes.set()
    assert next(stream) == {"slow": {"log": ["slow"]}}
    assert len(list(stream)) == 1
    worker.join()


def test_two_cannot_listen_at_once(local: Desk):
    goes = threading.Event()

    def slow(state: State) -> State:
        get_stream_writer()("here")
        goes.wait(30)
        return {"log": ["slow"]}

    graph = Graph("two", line(slow=slow).compile(checkpointer=InMemorySaver()))
    run = started(local, graph)
    first = iter(run.stream(stream_mode="custom"))
    assert next(first) == "here"
    with pytest.raises(Misuse, match="streamed already"):
        next(iter(run.stream()))
    goes.set()
    assert list(first) == []


@pytest.mark.parametrize("wrong", [{"stream_mode": "all"}, {"durability": "exit"}])
def test_a_wish_that_nobody_can_fulfil_is_refused_and_the_run_goes_on(
    local: Desk, graph: Graph, wrong: dict[str, Any]
):
    run = started(local, graph)
    with pytest.raises(BadValue, match="LangGraph takes stream_mode, of values, updates"):
        list(run.stream(**wrong))
    until(lambda: run.status == "waiting")


def test_a_verb_in_a_node_pauses_a_streamed_run(local: Desk):
    def pays(state: State) -> State:
        return {"log": [sayso.question("How much?", int)]}

    graph = Graph("pays", line(look=looks, pay=pays).compile(checkpointer=InMemorySaver()))
    run = started(local, graph)
    assert {"look": {"log": ["looked"]}} in list(run.stream())
    local.respond(ask_of(run), 40)
    assert list(run.stream()) == [{"pay": {"log": [40]}}]
