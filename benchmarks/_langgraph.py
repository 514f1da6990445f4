"""LangGraph doing what a run of ours does, as its documentation shows it.

It is installed for the benchmarks only (requirements/bench.txt); where it is
missing, ours is measured beside the floor alone.
"""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import Callable
from importlib.util import find_spec
from typing import Annotated, Any, TypedDict

import psycopg
from psycopg.rows import dict_row

MISSING = "LangGraph is not installed here, so its side is missing. `make bench` installs it."

Graph = Any  # langgraph's CompiledStateGraph
Saver = Any


def installed() -> bool:
    """Whether LangGraph and both of its savers can be imported."""
    names = ("langgraph", "langgraph.checkpoint.sqlite", "langgraph.checkpoint.postgres")
    try:
        return all(find_spec(name) is not None for name in names)
    except ModuleNotFoundError:  # of a parent package
        return False


def sqlite_saver(path: str) -> Saver:
    """Open its store in a file, as durably as ours."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    connection = sqlite3.connect(path, check_same_thread=False, timeout=30)
    saver = SqliteSaver(connection)
    saver.setup()  # chooses WAL
    connection.execute("pragma synchronous = full")
    return saver


def postgres_saver(address: str) -> Saver:
    """Open its store on a server, by one connection as it makes them itself."""
    from langgraph.checkpoint.postgres import PostgresSaver

    connection = psycopg.connect(
        address,
        autocommit=True,
        prepare_threshold=0,
        row_factory=dict_row,
        options="-c synchronous_commit=on",
    )
    saver = PostgresSaver(connection)
    saver.setup()
    return saver


def saver_of(database: str, place: str) -> Saver:
    """Open its store: `place` is a file or an address, as the database wants it."""
    return sqlite_saver(place) if database == "SQLite" else postgres_saver(place)


class _State(TypedDict):
    order: int
    answer: str


class _Mails(TypedDict):
    orders: list[int]
    sent: list[int]


class _Memory(TypedDict):
    messages: Annotated[list[str], operator.add]


def asking(saver: Saver, act: Callable[[int], object] | None = None) -> Graph:
    """Return a graph that asks a person; with `act`, for leave to do that."""
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import interrupt

    def ask(state: _State) -> dict[str, str]:
        answer = interrupt({"question": "May this be refunded?", "order": state["order"]})
        if act is not None and answer == "approve":
            act(state["order"])
        return {"answer": answer}

    graph = StateGraph(_State)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    return graph.compile(checkpointer=saver)


def mailing(saver: Saver, send: Callable[[int], object]) -> Graph:
    """Return a graph with one node for the calls of a message: it asks about each, and makes it.

    So does the email assistant of its course.
    """
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import interrupt

    def handle(state: _Mails) -> dict[str, list[int]]:
        sent = []
        for order in state["orders"]:
            if interrupt({"action": "write_email", "order": order}) == "approve":
                send(order)
                sent.append(order)
        return {"sent": sent}

    graph = StateGraph(_Mails)
    graph.add_node("handle", handle)
    graph.add_edge(START, "handle")
    graph.add_edge("handle", END)
    return graph.compile(checkpointer=saver)


def remembering(saver: Saver, *, reply: Callable[[int], str] | None = None) -> Graph:
    """Return a graph with a growing history: it replies, or it asks a person and waits."""
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import interrupt

    def turn(state: _Memory) -> dict[str, list[str]]:
        if reply is None:
            return {"messages": [interrupt("Go on?")]}
        return {"messages": [reply(len(state["messages"]))]}

    graph = StateGraph(_Memory)
    graph.add_node("turn", turn)
    graph.add_edge(START, "turn")
    graph.add_edge("turn", END)
    return graph.compile(checkpointer=saver)


def thread(name: object) -> dict[str, Any]:
    """Return what LangGraph calls the configuration of a run."""
    return {"configurable": {"thread_id": str(name)}}


def adapted(name: str, graph: Graph) -> Any:  # noqa: ANN401 - our adapter
    """Return a graph as something that a desk can run."""
    from sayso.adapters.langgraph import Graph

    return Graph(name, graph)


def resumed(answer: str) -> Any:  # noqa: ANN401 - langgraph's Command
    """Return what an answer is handed in as."""
    from langgraph.types import Command

    return Command(resume=answer)
