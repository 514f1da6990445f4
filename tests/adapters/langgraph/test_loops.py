"""Which event loop an async graph runs on, and what is refused before anybody is asked."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command, interrupt

from sayso import Desk, Run
from sayso.adapters.langgraph import Graph
from sayso.errors import Misuse
from sayso.runs.loops import LoopThread
from tests.adapters.langgraph.graphs import State, line, one_node
from tests.runs.people import ask_of
from tests.together import until

HERE: ContextVar[str] = ContextVar("here", default="nothing")


async def asks(state: State) -> State:
    return {"log": [interrupt("And?")]}


def compiled(node: Any, saver: Any = None) -> Any:
    return one_node(node).compile(checkpointer=saver or InMemorySaver())


def begun(desk: Desk, graph: Graph) -> Run:
    return desk.run(graph, {"log": []}, wait=False)


def answered(desk: Desk, run: Run, said: object = "so") -> Run:
    desk.respond(ask_of(run), said)
    desk.work(until="idle", only=run.id)
    return run


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"{tmp_path}/checkpoints.db"


@pytest.fixture
def opening(file: str) -> Any:
    """A way to make a graph whose checkpointer belongs to the loop it is made on."""

    @asynccontextmanager
    async def make() -> AsyncIterator[Any]:
        async with AsyncSqliteSaver.from_conn_string(file) as saver:
            yield compiled(asks, saver)

    return make


# --- where it runs -----------------------------------------------------------------------------


@pytest.fixture
def plain_saver(file: str) -> Iterator[SqliteSaver]:
    connection = sqlite3.connect(file, check_same_thread=False)
    yield SqliteSaver(connection)
    connection.close()


def test_async_nodes_work_with_a_checkpointer_that_is_plain(local: Desk, plain_saver: SqliteSaver):
    run = begun(local, Graph("plain-saver", compiled(asks, plain_saver)))
    assert answered(local, run).output["log"] == ["so"]


@pytest.mark.parametrize("threads", [1, 3])
def test_every_run_of_a_desk_is_on_one_loop(local: Desk, threads: int):
    """So a client that was opened in one run is good in the next."""
    loops: list[Any] = []

    async def node(state: State) -> State:
        loops.append((asyncio.get_running_loop(), threading.current_thread().name))
        return {"log": [interrupt("And?")]}

    graph = Graph("one-loop", compiled(node))
    runs = [begun(local, graph) for _ in range(3)]
    for run in runs:
        local.respond(ask_of(run), "so")
    local.work(until="idle", threads=threads)
    assert [run.status for run in runs] == ["done"] * 3
    assert len(loops) == 6
    assert len({id(loop) for loop, _ in loops}) == 1
    assert {name for _, name in loops} == {"sayso-loop"}


def test_what_is_set_around_a_run_reaches_its_nodes(local: Desk):
    async def node(state: State) -> State:
        return {"log": [HERE.get()]}

    def plainly(state: State) -> State:
        return {"log": [HERE.get()]}

    HERE.set("the caller")
    built = line(one=node, other=plainly).compile(checkpointer=InMemorySaver())
    assert begun(local, Graph("around", built)).output["log"] == ["the caller"] * 2


def test_a_graph_is_made_once_on_the_loop_and_left_with_the_desk(local: Desk, opening: Any):
    made: list[str] = []

    @asynccontextmanager
    async def make() -> AsyncIterator[Any]:
        made.append("entered")
        async with opening() as graph:
            yield graph
        made.append("left")

    graph = Graph("made-once", make)
    first, second = begun(local, graph), begun(local, graph)
    assert [answered(local, run).output["log"] for run in (first, second)] == [["so"]] * 2
    assert made == ["entered"]
    local.close()
    assert made == ["entered", "left"]
    third = begun(local, graph)
    assert answered(local, third).output["log"] == ["so"], (
        "a desk that is used again opens it again"
    )


def test_a_graph_may_be_made_by_an_async_function(local: Desk):
    async def make() -> Any:
        return compiled(asks)

    run = begun(local, Graph("made-async", make))
    assert answered(local, run).output["log"] == ["so"]
    with pytest.raises(Misuse, match="made on the event loop of the desk"):
        Graph("made-async", make).graph  # noqa: B018


def test_a_graph_that_cannot_be_made_starts_no_run(local: Desk):
    @asynccontextmanager
    async def make() -> AsyncIterator[Any]:
        await asyncio.open_connection("127.0.0.1", 1)
        yield compiled(asks)

    run = begun(local, Graph("unmade", make))
    assert run.status == "failed"
    assert "Connect call failed" in str(run.error)


# --- the loop of the caller --------------------------------------------------------------------


async def test_a_graph_with_a_saver_of_this_loop_is_awaited(local: Desk, file: str):
    seen: list[Any] = []

    async def node(state: State) -> State:
        seen.append(asyncio.get_running_loop())
        return {"log": [interrupt("And?")]}

    async with AsyncSqliteSaver.from_conn_string(file) as saver:
        graph = Graph("callers-loop", compiled(node, saver))
        run = await local.run_async(graph, {"log": []}, wait=False)
        local.respond(ask_of(run), "so")
        await local.resume_async(run, wait=False)
    assert (run.status, run.output["log"]) == ("done", ["so"])
    assert set(seen) == {asyncio.get_running_loop()}


async def test_waiting_for_people_leaves_the_loop_free(local: Desk):
    graph = Graph("free-loop", compiled(asks))

    running = asyncio.create_task(local.run_async(graph, {"log": []}))
    await asyncio.to_thread(until, lambda: list(local.inbox()))
    (asked,) = local.inbox()
    local.respond(asked, "so")
    assert (await running).output["log"] == ["so"]


async def test_blocking_the_loop_that_is_needed_is_refused_and_nothing_begins(
    local: Desk, file: str
):
    async with AsyncSqliteSaver.from_conn_string(file) as saver:
        graph = Graph("blocking", compiled(asks, saver))
        with pytest.raises(Misuse, match=r"would wait for ever.*await desk\.run_async"):
            begun(local, graph)
        assert local.runs() == []
        run = await local.run_async(graph, {"log": []}, wait=False)
        local.respond(ask_of(run), "so")
        local.work(until="idle")
        assert run.status == "parked", "nor does a worker block it"
        assert "await desk.resume_async(run)" in str(run.error)
        local.retry(run)
        await local.resume_async(run, wait=False)
    assert run.output["log"] == ["so"]


async def test_whoever_no_longer_waits_lets_the_run_go_at_its_next_verb(local: Desk):
    went, goes = asyncio.Event(), threading.Event()
    here = asyncio.get_running_loop()

    def slow(state: State) -> State:
        here.call_soon_threadsafe(went.set)
        goes.wait(30)
        return {"log": ["slow"]}

    graph = Graph("let-go", line(slow=slow, asks=asks).compile(checkpointer=InMemorySaver()))
    running = asyncio.create_task(local.run_async(graph, {"log": []}))
    await went.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    goes.set()
    (run,) = local.runs()
    await asyncio.to_thread(until, lambda: run.status != "running")
    await asyncio.to_thread(local.work, "idle")
    local.respond(ask_of(run), "so")
    await local.resume_async(run, wait=False)
    assert run.output["log"] == ["slow", "so"]


# --- loops that are gone -----------------------------------------------------------------------


def of_a_closed_loop(file: str) -> Any:
    async def make() -> Any:
        async with AsyncSqliteSaver.from_conn_string(file) as saver:
            return compiled(asks, saver)

    return asyncio.run(make())


def test_a_saver_whose_loop_is_closed_starts_no_run(local: Desk, file: str):
    with pytest.raises(Misuse, match=r"is closed.*Nothing was asked.*async context manager"):
        begun(local, Graph("closed", of_a_closed_loop(file)))
    assert local.runs() == []


def test_a_run_whose_loop_was_closed_parks_and_goes_on_where_there_is_one(
    local: Desk, file: str, opening: Any
):
    run = begun(local, Graph("reopened", opening))
    local.respond(ask_of(run), "so")
    closed = Graph("reopened", of_a_closed_loop(file))
    local.resume(run, agent=closed, wait=False)
    assert run.status == "parked"
    assert "The event loop that the checkpointer was opened on is closed" in str(run.error)
    local.retry(run)
    local.resume(run, agent=Graph("reopened", opening), wait=False)
    assert run.output["log"] == ["so"]


def test_a_loop_that_is_closed_in_the_middle_leaves_the_run_as_a_death_does(
    local: Desk, file: str, opening: Any
):
    """Nothing is lost, nothing is repeated unasked: the next worker looks at what was kept."""
    did: list[str] = []
    began = threading.Event()

    async def node(state: State) -> State:
        did.append("acted")
        began.set()
        if len(did) == 1:
            await asyncio.sleep(60)
        return {"log": ["acted"]}

    loop = asyncio.new_event_loop()
    turning = threading.Thread(target=loop.run_forever)
    turning.start()

    async def make() -> Any:
        return AsyncSqliteSaver(await aiosqlite.connect(file))

    saver = asyncio.run_coroutine_threadsafe(make(), loop).result()
    graph = Graph("cut", compiled(node, saver))
    carrying = threading.Thread(target=lambda: begun(local, graph))
    carrying.start()
    assert began.wait(30)
    asyncio.run_coroutine_threadsafe(saver.conn.close(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    carrying.join(30)
    assert not carrying.is_alive()
    (run,) = local.runs()
    assert run.status == "ready"
    turning.join()
    left = asyncio.all_tasks(loop)  # else the next test hears what they say when they are collected
    for task in left:
        task.cancel()
    loop.run_until_complete(asyncio.wait(left))
    loop.close()

    @asynccontextmanager
    async def again() -> AsyncIterator[Any]:
        async with AsyncSqliteSaver.from_conn_string(file) as saver:
            yield compiled(node, saver)

    local.resume(run, agent=Graph("cut", again), wait=False)
    assert (run.status, ask_of(run).kind, did) == ("waiting", "doubt", ["acted"])


def test_savers_of_two_loops_are_refused(tmp_path: Path):
    async def make(file: str) -> Any:
        async with AsyncSqliteSaver.from_conn_string(file) as saver:
            return saver

    one, other = (asyncio.run(make(f"{tmp_path}/{name}")) for name in "ab")
    inner = compiled(asks, one)
    with pytest.raises(Misuse, match="two event loops"):
        Graph("two", one_node(inner).compile(checkpointer=other))


# --- nodes that do not end as they should ------------------------------------------------------


def test_a_graph_that_never_ends_fails_in_plain_words(local: Desk):
    async def round_(state: State) -> Command[Any]:
        return Command(goto="node")

    run = begun(local, Graph("for-ever", compiled(round_), config={"recursion_limit": 5}))
    assert run.status == "failed"
    assert "Recursion limit of 5 reached" in str(run.error)


def test_a_node_that_leaves_python_stops_nobody_else(local: Desk):
    async def leaves(state: State) -> State:
        sys.exit(3)

    left = begun(local, Graph("leaves", compiled(leaves)))
    assert (left.status, ask_of(left).kind) == ("waiting", "doubt")
    run = begun(local, Graph("stays", compiled(asks)))
    assert answered(local, run).output["log"] == ["so"]


def test_a_node_that_swallows_its_end_holds_nobody_up(caplog: pytest.LogCaptureFixture):
    loops = LoopThread()
    began, goes = threading.Event(), threading.Event()

    async def stubborn() -> None:
        began.set()
        while not goes.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    waiting = threading.Thread(target=lambda: loops.run(stubborn), daemon=True)
    waiting.start()
    assert began.wait(30)
    loops.close(patience=0.1)
    assert "it swallows CancelledError" in caplog.text
    goes.set()
    waiting.join(30)
    assert not waiting.is_alive()
