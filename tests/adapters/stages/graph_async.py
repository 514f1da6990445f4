"""The LangGraph graph of `graph`, as most people write it: nodes are `async def`, and so is the saver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

import sayso
from sayso.adapters.langgraph import Graph
from tests.adapters.stages.graph import ALLOWED, TOOLS, Call, State, next_calls
from tests.adapters.stages.graph import model as think_plainly
from tests.adapters.story import folder, pay, send, task


async def model(state: State) -> dict[str, Any]:
    await asyncio.sleep(0)
    return think_plainly(state)


async def act(call: Call) -> dict[str, Any]:
    """Ask, and do what was approved: LangGraph runs all of this again after the pause."""
    request = {"action": call["tool"], "args": call["args"]}
    (said,) = interrupt([{"action_request": request, "config": ALLOWED, "description": None}])
    match said["type"]:
        case "accept" | "edit":
            args = call["args"] if said["type"] == "accept" else said["args"]["args"]
            came = await sayso.effect(TOOLS[call["tool"]], **args)
            return {"made": [{**call, "args": args, "came": came}]}
        case "response":
            return {"made": [{**call, "came": said["args"]}]}
        case _:
            return {"ended": True}


async def ask(call: Call) -> dict[str, Any]:
    return {"made": [{**call, "came": interrupt(call["args"]["question"])}]}


def gather(_: State) -> dict[str, Any]:
    """A plain node among the others."""
    return {}


async def further(state: State) -> Any:
    return END if state["ended"] else "model"


def built() -> Any:
    builder = StateGraph(State)
    nodes: list[Any] = [model, act, ask, gather]
    for node in nodes:
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", next_calls, ["act", "ask", END])
    builder.add_edge("act", "gather")
    builder.add_edge("ask", "gather")
    builder.add_conditional_edges("gather", further, ["model", END])
    return builder


@asynccontextmanager
async def make() -> AsyncIterator[Any]:
    async with AsyncSqliteSaver.from_conn_string(f"{folder()}/graph.db") as saver:
        yield built().compile(checkpointer=saver)


AGENT = Graph("story-of-an-async-graph", make, tools=[pay, send], guarded=True)
GIVEN = {"task": task(plans=False), "made": [], "ended": False}
