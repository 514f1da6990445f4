"""Graphs as people write them, small. What they did to the world is lines in a file of a folder."""

from __future__ import annotations

import contextlib
import operator
import os
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, RetryPolicy, Send, interrupt
from pydantic import BaseModel, field_validator
from typing_extensions import TypedDict

import sayso
from tests.crash.shop import note, noted

FOLDER = {"at": ""}


class State(TypedDict, total=False):
    value: Any
    schema: Any
    log: Annotated[list[Any], operator.add]


Builder = Any


def did(what: str) -> str:
    """Act: one line more. Then die, if that was arranged."""
    note(FOLDER["at"], "did", what)
    struck("dies after acting")
    return what


def struck(moment: str) -> None:
    """Kill this process if its time has come: the first one that comes by."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(Path(FOLDER["at"], moment))
        os.kill(os.getpid(), signal.SIGKILL)


def one_node(node: Any, **more: Any) -> Builder:
    builder = StateGraph(State)
    builder.add_node("node", node, **more)
    builder.add_edge(START, "node")
    return builder


def ask(state: State) -> State:
    """Ask whatever the input says, and keep the answer as it came."""
    return {"log": [interrupt(state["value"], response_schema=state.get("schema"))]}


class Even(BaseModel):
    """What JSON Schema cannot say."""

    n: int

    @field_validator("n")
    @classmethod
    def even(cls, n: int) -> int:
        if n % 2:
            raise ValueError(f"{n} is odd")
        return n


def ask_even(part: State) -> State:
    return {"log": [interrupt(part["value"], response_schema=Even).n]}


class Thing:
    """Nothing that JSON knows. (Checkpointers do: they pickle it, where that is allowed.)"""


def odd(state: State) -> State:
    """Ask something that cannot be stored as it is."""
    odd: dict[str, Any] = {
        "nan": float("nan"),
        "half": "\ud800",
        "bytes": b"\xff\x00",
        "big": 2**80,
        "set": {1},
        "blank": "",
    }
    return {"log": [interrupt(odd[state["value"]])]}


def twice(state: State) -> State:
    """Act, ask, act, ask, act, as one would in a plain function."""
    did("looked up")
    first = interrupt("first?")
    did(f"first {first}")
    second = interrupt("second?")
    did(f"second {second}")
    return {"log": [first, second]}


def twice_kept(state: State) -> State:
    """The same with what acts in our verbs."""
    sayso.step(did, "looked up")
    first = interrupt("first?")
    sayso.effect(did, f"first {first}")
    second = interrupt("second?")
    sayso.effect(did, f"second {second}")
    return {"log": [first, second]}


def asked_by_verbs(state: State) -> State:
    """Everything by our verbs."""
    sayso.step(did, "looked up")
    if not sayso.confirm("May I?"):
        return {"log": ["no"]}
    amount = sayso.question("How much?", int)
    sayso.effect(did, f"paid {amount}")
    return {"log": [amount]}


@sayso.tool(risk="high")
def refund(amount: int) -> str:
    did(f"refunded {amount}")
    return f"refunded {amount}"


def gated(state: State) -> State:
    try:
        return {"log": [sayso.effect(refund, 40)]}
    except sayso.Rejected as no:
        return {"log": [no.note]}


def pay(state: State) -> State:
    """Ask, then act: what LangGraph repeats if it dies in between."""
    if interrupt("Pay?") == "yes":
        did("paid")
    return {"log": ["paid"]}


def pay_kept(state: State) -> State:
    if interrupt("Pay?") == "yes":
        sayso.effect(pay_out)
    return {"log": ["paid"]}


@sayso.tool(verify=lambda: sayso.Happened("paid") if paid() else sayso.CannotTell())
def pay_out() -> str:
    return did("paid")


def paid() -> list[str]:
    file = Path(FOLDER["at"], "did")
    return (
        [line for line in file.read_text().splitlines() if line == "paid"] if file.exists() else []
    )


def swallow(state: State) -> State:
    """A node that lets nothing disturb it."""
    try:
        said = sayso.question("May I?")
    except BaseException:
        said = "yes"
    if said == "yes":
        did("went on")
    return {"log": [said]}


def rewords(state: State) -> State:
    """Ask in the words of a model, which settles on its second ones."""
    times = noted(FOLDER["at"], "times")
    note(FOLDER["at"], "times", "once more")
    return {"log": [interrupt(f"draft {min(len(times) + 1, 2)}")]}


def flaky(state: State) -> State:
    """A node that fails the first time, and is tried again by LangGraph."""
    sayso.effect(did, "once")
    if not Path(FOLDER["at"], "failed").exists():
        note(FOLDER["at"], "failed", "now")
        raise ConnectionError("try again")
    return {"log": [sayso.question("And now?")]}


def failing(state: State) -> State:
    if interrupt("Go?") and not Path(FOLDER["at"], "mended").exists():
        raise OSError("the node is broken")
    return {"log": ["mended"]}


def side(part: State) -> State:
    return {"log": [f"{part['value']} {interrupt(part['value'])}"]}


def each(part: State) -> State:
    """Ask whatever this part of the input says, and keep what was asked beside what was heard."""
    value = part["value"]
    return {"log": [[value, interrupt(value, response_schema=part.get("schema"))]]}


def side_kept(part: State) -> State:
    said = sayso.question(part["value"])
    return {"log": [sayso.effect(did, f"{part['value']} {said}")]}


def mixed(part: State) -> State:
    """Half of the parts ask by interrupt, half by a verb."""
    return side(part) if part["value"] < "c" else side_kept(part)


def fan_out(node: Any) -> Builder:
    builder = StateGraph(State)
    builder.add_node("side", node)
    builder.add_node("end", lambda state: {"log": ["end"]})
    builder.add_conditional_edges(
        START,
        lambda state: [
            Send("side", {"value": one, "schema": state.get("schema")}) for one in state["value"]
        ],
        ["side"],
    )
    builder.add_edge("side", "end")
    return builder


def inner(state: State) -> State:
    sayso.effect(did, "inside")
    return {"log": [interrupt("inside?"), sayso.question("deeper?")]}


def nested() -> Builder:
    builder = StateGraph(State)
    builder.add_node("part", one_node(inner).compile())
    builder.add_node("end", lambda state: {"log": ["end"]})
    builder.add_edge(START, "part")
    builder.add_edge("part", "end")
    return builder


def again(state: State) -> Command[Any]:
    """Ask, round after round, until somebody has enough."""
    number = len(state.get("log", []))
    said = interrupt(f"round {number}?")
    sayso.effect(did, f"round {number} {said}")
    return Command(update={"log": [said]}, goto=END if said == "enough" else "node")


@tool
def send(to: str) -> str:
    """Send a mail, if somebody agrees."""
    if not sayso.confirm(f"Send to {to}?"):
        return f"not sent to {to}"
    return str(sayso.effect(did, f"sent to {to}"))


def sends(ids: list[str]) -> Builder:
    """A model that makes several calls in one message."""

    def model(state: Talk) -> dict[str, Any]:
        names = ["anna", "ben", "cy"]
        calls = [
            {"name": "send", "args": {"to": name}, "id": id_}
            for name, id_ in zip(names, ids, strict=False)
        ]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    builder = StateGraph(Talk)
    builder.add_node("model", model)
    builder.add_node("tools", ToolNode([send]))
    builder.add_edge(START, "model")
    builder.add_edge("model", "tools")
    return builder


class Talk(TypedDict):
    messages: Annotated[list[Any], add_messages]


@tool
def human_assistance(query: str) -> str:
    """Ask a person."""
    answer = interrupt({"query": query})
    return str(answer["data"])


def talk() -> Builder:
    """A model that asks for help about each thing it is told, and repeats what it heard."""

    def model(state: Talk) -> dict[str, Any]:
        last = state["messages"][-1]
        if last.type == "tool":
            return {"messages": [AIMessage(f"They say: {last.content}")]}
        call = {"name": "human_assistance", "args": {"query": last.content}, "id": f"c-{last.id}"}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    builder = StateGraph(Talk)
    builder.add_node("model", model)
    builder.add_node("tools", ToolNode([human_assistance]))
    builder.add_edge(START, "model")
    builder.add_conditional_edges(
        "model", lambda state: "tools" if state["messages"][-1].tool_calls else END
    )
    builder.add_edge("tools", "model")
    return builder


def pay_then_ask() -> Builder:
    builder = one_node(pay)
    builder.add_node("after", lambda state: {"log": [interrupt("After?")]})
    builder.add_edge("node", "after")
    return builder


def paying(state: State) -> State:
    return {"log": [did("paid")]}


def paying_kept(state: State) -> State:
    sayso.question("Which account?")
    return {"log": [sayso.effect(did, "paid")]}


def line(**nodes: Any) -> Builder:
    """Nodes in a row."""
    builder = StateGraph(State)
    for name, node in nodes.items():
        builder.add_node(name, node)
    for one, next_ in pairwise([START, *nodes]):
        builder.add_edge(one, next_)
    return builder


def beside(ask: Any, part: Any) -> Builder:
    """A node that asks beside a subgraph that stops before it pays."""
    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_node("part", part)
    builder.add_edge(START, "ask")
    builder.add_edge(START, "part")
    return builder


def asking(state: State) -> State:
    return {"log": [interrupt("First?")]}


def asking_by_verb(state: State) -> State:
    return {"log": [sayso.question("First?")]}


def looked(state: State) -> State:
    return {"log": [did("looked")]}


def stops(**nodes: Any) -> Any:
    return line(**nodes).compile(interrupt_before=["pay"])


def hidden(part: Any) -> Any:
    """A node in which LangGraph does not see that it runs a graph."""
    kept = {"part": part}
    return lambda state: {"log": kept["part"].invoke({"log": []})["log"]}


GRAPHS: dict[str, Callable[[], Builder]] = {
    "ask": lambda: one_node(ask),
    "even": lambda: fan_out(ask_even),
    "odd": lambda: one_node(odd),
    "twice": lambda: one_node(twice),
    "twice kept": lambda: one_node(twice_kept),
    "gated": lambda: one_node(gated),
    "verbs": lambda: one_node(asked_by_verbs),
    "pay": lambda: one_node(pay),
    "pay kept": lambda: one_node(pay_kept),
    "pay then ask": pay_then_ask,
    "rewords": lambda: one_node(rewords),
    "swallow": lambda: one_node(swallow),
    "flaky": lambda: one_node(flaky, retry_policy=RetryPolicy(initial_interval=0.01)),
    "failing": lambda: one_node(failing),
    "each": lambda: fan_out(each),
    "odd each": lambda: fan_out(odd),
    "side": lambda: fan_out(side),
    "side kept": lambda: fan_out(side_kept),
    "mixed": lambda: fan_out(mixed),
    "nested": nested,
    "again": lambda: one_node(again),
    "talk": talk,
    "stop": lambda: line(look=looked, pay=paying),
    "ask then pay": lambda: line(ask=asking, pay=paying),
    "stop beside": lambda: beside(asking, stops(pay=paying)),
    "stop beside verb": lambda: beside(asking_by_verb, stops(pay=paying)),
    "stop beside hidden": lambda: beside(asking, hidden(stops(pay=paying))),
    "stop and verb": lambda: beside(asking, stops(pay=paying_kept)),
    "stop below": lambda: line(part=stops(ask=asking, pay=paying)),
    "sends": lambda: sends(["c1", "c2", "c3"]),
    "sends namesakes": lambda: sends(["c1", "c1", "c1"]),
}
