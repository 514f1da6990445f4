"""Agents of LangChain whose tools or middleware can only be awaited."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

import sayso
from sayso import Desk, Run
from sayso.adapters.langgraph import Graph
from sayso.errors import Misuse
from tests.adapters.langchain.clerk import Reply, Script, call, consistent, noted, turns
from tests.adapters.langchain.conftest import Hire
from tests.runs.people import ask_of

Handler = Callable[[Any], Awaitable[Any]]


def awaited(fn: Callable[..., Awaitable[str]], **more: Any) -> BaseTool:
    """A tool without a plain side."""
    return StructuredTool.from_function(coroutine=fn, description="Act.", **more)


def send_of(did: list[str]) -> BaseTool:
    """A tool as LangChain's adapter for MCP makes them."""

    async def send(to: str) -> tuple[str, None]:
        await asyncio.sleep(0)
        did.append(to)
        return f"sent to {to}", None

    return awaited(send, response_format="content_and_artifact")  # type: ignore[arg-type]


class Awaits(AgentMiddleware[Any, Any, Any]):
    """Wraps calls in the one way that async programs write."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    async def awrap_tool_call(self, request: Any, handler: Handler) -> Any:
        self.seen.append(request.tool_call["name"])
        return await handler(request)


class Calls(AgentMiddleware[Any, Any, Any]):
    """Wraps calls in the other way."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request)


SEND = turns([call("send", "a", to="anna")], "Done.")


def agent(
    tmp_path: Path, tools: list[BaseTool], *middleware: Any, reply: Reply = SEND, **given: Any
) -> Any:
    return create_agent(
        Script(reply=reply, prompts=tmp_path / "prompts"),
        tools,
        middleware=middleware,
        checkpointer=InMemorySaver(),
        **given,
    )


def begun(desk: Desk, made: Any, **options: Any) -> Run:
    graph = Graph("awaits", made, **options)
    return desk.run(graph, {"messages": [{"role": "user", "content": "Go."}]}, wait=False)


def approved(desk: Desk, run: Run) -> Run:
    desk.approve(ask_of(run))
    desk.work(until="idle", only=run.id)
    return run


def last(run: Run) -> str:
    return str(run.output["messages"][-1]["content"])


# --- the host's own way of asking --------------------------------------------------------------


HAS_MODES = "interrupt_mode" in inspect.signature(HumanInTheLoopMiddleware.__init__).parameters


@pytest.mark.parametrize("options", [{}, *([{"interrupt_mode": "per_call"}] if HAS_MODES else [])])
def test_an_approved_call_of_a_tool_of_mcp_is_made(
    local: Desk, tmp_path: Path, options: dict[str, Any]
):
    did: list[str] = []
    asks = HumanInTheLoopMiddleware({"send": True}, **options)
    run = begun(local, agent(tmp_path, [send_of(did)], asks))
    assert did == []
    assert (approved(local, run).status, did, last(run)) == ("done", ["anna"], "Done.")


def test_an_agent_that_stops_before_its_tools_makes_the_call_when_it_may(
    local: Desk, tmp_path: Path
):
    did: list[str] = []
    run = begun(local, agent(tmp_path, [send_of(did)], interrupt_before=["tools"]))
    assert did == []
    assert (approved(local, run).status, did) == ("done", ["anna"])


def test_middleware_that_wraps_calls_in_the_async_way_alone_is_heard(local: Desk, tmp_path: Path):
    did: list[str] = []
    wraps, asks = Awaits(), HumanInTheLoopMiddleware({"send": True})
    run = begun(local, agent(tmp_path, [send_of(did)], asks, wraps))
    assert (approved(local, run).status, did, wraps.seen) == ("done", ["anna"], ["send"])


@pytest.mark.parametrize("order", [1, -1])
def test_middleware_that_can_run_neither_way_together_is_refused_before_anybody_is_asked(
    tmp_path: Path, order: int
):
    both = [Awaits(), Calls()][::order]
    with pytest.raises(Misuse, match=r"Awaits .awrap_tool_call. .*Calls .wrap_tool_call. only"):
        Graph("neither", agent(tmp_path, [send_of([])], *both))


def test_so_is_a_tool_of_mcp_below_middleware_that_only_calls(tmp_path: Path):
    asks = HumanInTheLoopMiddleware({"send": True})
    with pytest.raises(Misuse, match="the tool send can only be awaited"):
        Graph("neither", agent(tmp_path, [send_of([])], asks, Calls()))


# --- under the policy of a desk ----------------------------------------------------------------


def test_an_approved_call_is_awaited_once_and_as_it_was_edited(hire: Hire, tmp_path: Path):
    did: list[str] = []
    clerk = hire(SEND, tools=[send_of(did)], options={"confirm": ["send"]}, after=[Awaits()])
    run = clerk.begin()
    clerk.desk.edit(ask_of(run), {"to": "ben"})
    clerk.desk.work(until="idle", only=run.id)
    assert (run.status, did) == ("done", ["ben"]), run.error
    messages = run.output["messages"]
    assert messages[1]["tool_calls"][0]["args"] == {"to": "ben"}, "the model reads what was made"
    assert messages[2]["content"] == "sent to ben"


def test_a_refused_call_is_not_made_and_the_model_hears_why(hire: Hire):
    did: list[str] = []
    clerk = hire(SEND, tools=[send_of(did)], options={"confirm": ["send"]})
    run = clerk.begin()
    clerk.desk.reject(ask_of(run), "Not today")
    clerk.desk.work(until="idle", only=run.id)
    assert (run.status, did) == ("done", [])
    assert "Not today" in str(clerk.prompts[-1])


def test_calls_of_one_turn_run_side_by_side(hire: Hire):
    """Each waits for the other: one after the other they would never end."""
    here: set[str] = set()
    both = asyncio.Event()

    async def send(to: str) -> str:
        here.add(to)
        if len(here) == 2:
            both.set()
        await both.wait()
        return to

    calls = turns([call("send", "a", to="anna"), call("send", "b", to="ben")], "Done.")
    clerk = hire(calls, tools=[awaited(send)], options={"risk": {"send": "low"}})
    run = clerk.begin()
    assert (run.status, here) == ("done", {"anna", "ben"}), run.error


def test_a_call_that_fails_is_told_to_the_model_and_the_agent_goes_on(hire: Hire):
    async def send(to: str) -> str:
        raise ConnectionError("no line")

    clerk = hire(SEND, tools=[awaited(send)], options={"risk": {"send": "low"}})
    run = clerk.begin()
    assert run.status == "done", run.error
    assert "no line" in str(clerk.prompts[-1])


def test_tools_may_ask_while_they_run_awaited_or_not(hire: Hire):
    async def far(word: str) -> str:
        return str(await sayso.question(f"Far {word}?"))

    @tool
    def near(word: str) -> str:
        """Ask plainly."""
        return str(sayso.question(f"Near {word}?"))

    calls = turns([call("far", "a", word="one"), call("near", "b", word="two")], "Done.")
    asks = {"far": {"asks": True}, "near": {"asks": True}}
    clerk = hire(calls, tools=[awaited(far), near], options={"tools": asks})
    run = clerk.begin()
    assert sorted(ask.title for ask in run.state.pending) == ["Far one?", "Near two?"]
    for ask in run.state.pending:
        clerk.desk.respond(ask, ask.title[:4])
    clerk.desk.work(until="idle", only=run.id)
    said = [m["content"] for m in run.output["messages"] if m["type"] == "tool"]
    assert (run.status, said) == ("done", ["Far ", "Near"]), run.error


def test_a_tool_that_asks_without_saying_so_is_told_how_to(hire: Hire):
    async def send(to: str) -> str:
        return str(interrupt("Really?"))

    clerk = hire(SEND, tools=[awaited(send)], options={"risk": {"send": "low"}})
    run = clerk.begin()
    assert run.status == "done", run.error
    assert "{'send': {'asks': True}}" in str(clerk.prompts[-1])


def test_plain_middleware_and_awaited_tools_run_together_as_before(hire: Hire, tmp_path: Path):
    """The middleware of a desk calls such a tool in a loop of its own."""
    did: list[str] = []
    clerk = hire(SEND, tools=[send_of(did)], options={"risk": {"send": "low"}}, after=[Calls()])
    run = clerk.begin()
    assert (run.status, did) == ("done", ["anna"]), run.error


def test_hooks_of_middleware_may_be_async_alone(hire: Hire, tmp_path: Path):
    class Hooked(AgentMiddleware[Any, Any, Any]):
        async def abefore_model(self, state: Any, runtime: Any) -> None:
            noted(tmp_path / "hooks", "before")

        async def aafter_model(self, state: Any, runtime: Any) -> None:
            noted(tmp_path / "hooks", "after")

    clerk = hire(SEND, options={"confirm": ["send"]}, after=[Hooked()])
    run = clerk.begin()
    clerk.desk.approve(ask_of(run))
    clerk.desk.work(until="idle", only=run.id)
    assert (run.status, clerk.did) == ("done", [["send", "anna", "hello"]]), run.error
    assert (tmp_path / "hooks").read_text().count("before") == 2
    assert consistent([*clerk.history(run)])
    assert isinstance(clerk.history(run)[2], ToolMessage)
