"""E55: programs on LangGraph and LangChain that are async, as most are. One test for each fault.

They were refused; or people approved a call, and then nothing ran.
"""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from sayso import Desk, Run
from sayso.adapters.langgraph import Graph
from tests.runs.people import ask_of


class Model(GenericFakeChatModel):
    def bind_tools(self, *_: Any, **__: Any) -> Model:
        return self


def agent(sends: BaseTool, *middleware: Any) -> Any:
    call = {"name": "send", "args": {"to": "anna"}, "id": "1"}
    replies = iter([AIMessage("", tool_calls=[call]), AIMessage("Done.")])
    asks = HumanInTheLoopMiddleware({"send": True})
    model = Model(messages=replies)
    return create_agent(
        model, [sends], middleware=[asks, *middleware], checkpointer=InMemorySaver()
    )


def approved(desk: Desk, graph: Graph) -> Run:
    run = desk.run(graph, {"messages": [("user", "Go.")]}, wait=False)
    desk.approve(ask_of(run))
    desk.work(until="idle")
    return run


def test_e55_a_node_that_is_async_asks_and_is_answered(local: Desk):
    async def human(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("user", interrupt("And?"))]}

    builder = StateGraph(MessagesState)
    builder.add_node("human", human)
    builder.add_edge(START, "human")
    graph = Graph("project-template", builder.compile(checkpointer=InMemorySaver()))
    run = local.run(graph, {"messages": []}, wait=False)
    local.respond(ask_of(run), "so")
    local.work(until="idle")
    assert run.output["messages"][-1]["content"] == "so"


def test_e55_an_approved_call_of_a_tool_without_a_plain_side_is_made(local: Desk):
    did: list[str] = []

    async def send(to: str) -> str:
        did.append(to)
        return "sent"

    sends = StructuredTool.from_function(coroutine=send, description="Send.")
    run = approved(local, Graph("tools-of-mcp", agent(sends)))
    assert (run.status, did) == ("done", ["anna"]), run.error


def test_e55_an_approved_call_is_made_below_middleware_that_is_async(local: Desk):
    did: list[str] = []

    class Wraps(AgentMiddleware[Any, Any, Any]):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            return await handler(request)

    @tool
    def send(to: str) -> str:
        """Send."""
        did.append(to)
        return "sent"

    run = approved(local, Graph("async-middleware", agent(send, Wraps())))
    assert (run.status, did) == ("done", ["anna"]), run.error
    said = [one for one in run.output["messages"] if one["type"] == "tool"]
    assert [one["content"] for one in said] == ["sent"], "the model reads that it was made"


@pytest.mark.parametrize("whole", [True, False], ids=["async", "mixed"])
def test_e55_an_async_task_of_the_functional_api_asks_and_is_answered(local: Desk, whole: bool):
    @task
    async def asks(text: str) -> str:
        return str(interrupt(text))

    @entrypoint(checkpointer=InMemorySaver())
    async def awaited(text: str) -> str:
        return await asks(text)

    @entrypoint(checkpointer=InMemorySaver())
    def mixed(text: str) -> str:
        return asks(text).result()

    run = local.run(Graph("functional", awaited if whole else mixed), "And?", wait=False)
    local.respond(ask_of(run), "so")
    local.work(until="idle")
    assert run.output == "so", run.error
