"""LangGraph's functional API, whose tasks and entrypoints may be async."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.types import Send, interrupt

import sayso
from sayso import Desk, Run
from sayso.adapters.langgraph import Graph
from tests.adapters.langgraph.graphs import State, beside, fan_out, line, one_node
from tests.runs.people import ask_of

DID: list[str] = []


@pytest.fixture(autouse=True)
def nothing_done_yet() -> None:
    DID.clear()


def did(what: str) -> str:
    DID.append(what)
    return what


def begun(desk: Desk, graph: Any, given: Any, **options: Any) -> Run:
    return desk.run(Graph("functional", graph, **options), given, wait=False)


def answered(desk: Desk, run: Run, **said: object) -> Run:
    """Answer what is asked by title, and carry the run on."""
    open_ = {ask.title: ask for ask in run.state.pending}
    assert sorted(open_) == sorted(said), run.error
    for title, answer in said.items():
        desk.respond(open_[title], answer)
    desk.work(until="idle", only=run.id)
    return run


# --- entrypoints and tasks ---------------------------------------------------------------------


@task
async def look_up(name: str) -> str:
    await asyncio.sleep(0)
    return did(f"looked {name} up")


@task
async def ask(title: str) -> str:
    return str(interrupt(title))


@task
def ask_plainly(title: str) -> str:
    return str(interrupt(title))


def test_a_task_that_is_done_is_not_done_again_after_a_pause(local: Desk):
    @entrypoint(checkpointer=InMemorySaver())
    async def flow(name: str) -> dict[str, str]:
        found = await look_up(name)
        return {"found": found, "said": await ask("And")}

    run = answered(local, begun(local, flow, "anna"), And="so")
    assert (run.output, DID) == ({"found": "looked anna up", "said": "so"}, ["looked anna up"])


def test_tasks_side_by_side_ask_one_after_the_other_as_they_do_without_us(local: Desk):
    @entrypoint(checkpointer=InMemorySaver())
    async def flow(titles: list[str]) -> list[str]:
        return list(await asyncio.gather(*(ask(title) for title in titles)))

    run = begun(local, flow, ["One", "Two", "Three"])
    for title in ("One", "Two", "Three"):
        answered(local, run, **{title: title.lower()})
    assert run.output == ["one", "two", "three"], run.error


def test_a_node_that_is_cancelled_since_another_fails_does_not_hide_why(local: Desk):
    started: list[str] = []
    going = asyncio.Event()

    async def slowly() -> str:
        started.append("look")
        going.set()
        if len(started) == 1:
            await asyncio.Event().wait()
        return "found"

    async def looks(part: State) -> State:
        return {"log": [await sayso.step(slowly)]}

    async def fails(state: State) -> State:
        await going.wait()
        if len(started) == 1:
            raise ConnectionError("no line")
        return {"log": ["mended"]}

    built = beside(looks, fails).compile(checkpointer=InMemorySaver())
    run = begun(local, built, {"log": []}, guarded=True)
    assert (run.status, "no line" in str(run.error)) == ("failed", True), run.error
    local.retry(run)
    local.work(until="idle")
    assert sorted(run.output["log"]) == ["found", "mended"], run.error


def test_a_plain_entrypoint_waits_for_async_tasks_and_an_async_one_for_plain_ones(local: Desk):
    @entrypoint(checkpointer=InMemorySaver())
    def plain(title: str) -> str:
        return str(ask(title).result())

    @entrypoint(checkpointer=InMemorySaver())
    async def awaited(title: str) -> str:
        return str(await ask_plainly(title))

    for flow in (plain, awaited):
        run = begun(local, flow, "And")
        assert answered(local, run, And="so").output == "so", run.error


def test_verbs_in_entrypoints_and_tasks_are_awaited_and_act_once(local: Desk):
    @task
    async def pays(amount: int) -> str:
        return str(await sayso.effect(did, f"paid {amount}"))

    @entrypoint(checkpointer=InMemorySaver())
    async def flow(amount: int) -> list[Any]:
        if not await sayso.confirm("Pay"):
            return []
        paid = await pays(amount)
        return [paid, await sayso.question("Thanks")]

    run = begun(local, flow, 40, guarded=True)
    local.approve(ask_of(run))
    local.work(until="idle")
    assert answered(local, run, Thanks="a lot").output == ["paid 40", "a lot"], run.error
    assert DID == ["paid 40"]


def test_an_entrypoint_remembers_what_its_thread_saved(local: Desk):
    @entrypoint(checkpointer=InMemorySaver())
    async def flow(word: str, *, previous: Any = None) -> Any:
        said = await ask("And")
        return entrypoint.final(value=previous, save=f"{word} {said}")

    graph = Graph("functional", flow)
    outputs = []
    for word in ("one", "two"):
        run = local.run(graph, word, thread="same", wait=False)
        outputs.append(answered(local, run, And="so").output)
    assert outputs == [None, "one so"]


def test_a_task_that_is_only_named_in_another_function_is_found_where_awaits_says_so(local: Desk):
    tasks = {"ask": ask}

    @entrypoint(checkpointer=InMemorySaver())
    def flow(title: str) -> str:
        return str(tasks["ask"](title).result())

    run = begun(local, flow, "And", awaits=True)
    assert answered(local, run, And="so").output == "so"


# --- subgraphs ---------------------------------------------------------------------------------


async def inner(state: State) -> State:
    return {"log": [interrupt("Inside"), await sayso.question("Deeper")]}


def inner_plain(state: State) -> State:
    return {"log": [interrupt("Inside"), sayso.question("Deeper")]}


AROUND = [  # LangGraph itself calls no async graph plainly
    *[(inner, around) for around in ("node", "async")],
    *[(inner_plain, around) for around in ("node", "async", "plain")],
]


@pytest.mark.parametrize(("node", "around"), AROUND)
def test_a_subgraph_asks_whatever_calls_it(local: Desk, node: Any, around: str):
    part = one_node(node).compile()

    async def awaits(state: State) -> State:
        return {"log": (await part.ainvoke({"log": []}))["log"]}

    def calls(state: State) -> State:
        return {"log": part.invoke({"log": []})["log"]}

    async def end(state: State) -> State:
        return {"log": ["end"]}

    nodes = {"node": part, "async": awaits, "plain": calls}
    built = line(part=nodes[around], end=end).compile(checkpointer=InMemorySaver())
    run = begun(local, built, {"log": []})
    answered(local, run, Inside="in")
    assert answered(local, run, Deeper="deep").output["log"] == ["in", "deep", "end"], run.error


def test_many_parts_of_a_subgraph_ask_at_once(local: Desk):
    async def side(part: State) -> State:
        return {"log": [f"{part['value']} {interrupt(part['value'])}"]}

    built = one_node(fan_out(side).compile()).compile(checkpointer=InMemorySaver())
    run = begun(local, built, {"value": ["A", "B"], "log": []})
    answered(local, run, A="1", B="2")
    assert sorted(run.output["log"]) == ["A 1", "B 2", "end"], run.error


def test_a_condition_may_be_async_alone(local: Desk):
    async def chosen(state: State) -> Any:
        return [Send("side", {"value": "Asked"})]

    builder = one_node(lambda state: {"log": []})
    builder.add_node("side", lambda part: {"log": [interrupt(part["value"])]})
    builder.add_conditional_edges("node", chosen, ["side"])
    run = begun(local, builder.compile(checkpointer=InMemorySaver()), {"log": []})
    assert answered(local, run, Asked="so").output["log"] == ["so"], run.error
