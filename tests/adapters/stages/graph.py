"""A LangGraph graph with interrupts of its own: it asks in the form of Agent Inbox, and then acts."""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt

import sayso
from sayso.adapters.langgraph import Graph
from tests.adapters.story import Said, Wanted, folder, pay, send, task, think

TOOLS: dict[str, Callable[..., str]] = {"pay": pay, "send": send}
ALLOWED = dict.fromkeys(("allow_accept", "allow_edit", "allow_respond", "allow_ignore"), True)


class Call(TypedDict):
    """A call of the model, as it was made in the end, and what came of it."""

    id: str
    tool: str
    args: dict[str, Any]
    came: str


class State(TypedDict):
    """A task, the calls made for it, and the answer."""

    task: str
    wanted: list[Call]
    made: Annotated[list[Call], operator.add]
    ended: Annotated[bool, operator.or_]
    answer: str


def model(state: State) -> dict[str, Any]:
    made = sorted(state["made"], key=lambda call: call["id"])
    shown = [Said("user", state["task"])]
    for call in made:
        shown.append(Said("model", "", (Wanted(call["tool"], call["args"]),)))
        shown.append(Said("tool", call["came"]))
    said = think(shown)
    if isinstance(said, str):
        return {"wanted": [], "answer": said}
    calls = [one for one in said if isinstance(one, Wanted)]
    return {
        "wanted": [
            Call(id=f"{len(made) + number}", tool=one.tool, args=dict(one.args), came="")
            for number, one in enumerate(calls)
        ]
    }


def act(call: Call) -> dict[str, Any]:
    """Ask, and do what was approved: LangGraph runs all of this again after the pause."""
    request = {"action": call["tool"], "args": call["args"]}
    (said,) = interrupt([{"action_request": request, "config": ALLOWED, "description": None}])
    match said["type"]:
        case "accept" | "edit":
            args = call["args"] if said["type"] == "accept" else said["args"]["args"]
            came = sayso.effect(TOOLS[call["tool"]], **args)
            return {"made": [{**call, "args": args, "came": came}]}
        case "response":
            return {"made": [{**call, "came": said["args"]}]}
        case _:
            return {"ended": True}


def ask(call: Call) -> dict[str, Any]:
    return {"made": [{**call, "came": interrupt(call["args"]["question"])}]}


def gather(_: State) -> dict[str, Any]:
    return {}


def next_calls(state: State) -> Any:
    nodes = [Send("ask" if one["tool"] == "ask" else "act", one) for one in state["wanted"]]
    return nodes or END


def build() -> Any:
    builder = StateGraph(State)
    nodes: list[Any] = [model, act, ask, gather]
    for node in nodes:
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", next_calls, ["act", "ask", END])
    builder.add_edge("act", "gather")
    builder.add_edge("ask", "gather")
    builder.add_conditional_edges("gather", lambda state: END if state["ended"] else "model")
    file = sqlite3.connect(f"{folder()}/graph.db", check_same_thread=False)
    return builder.compile(checkpointer=SqliteSaver(file))


AGENT = Graph("story-of-a-graph", build, tools=[pay, send], guarded=True)
GIVEN = {"task": task(plans=False), "made": [], "ended": False}
