"""Packages that stand on LangGraph and LangChain, with the programs of their own guides.

They are not among the tools of development: `python -m tools.hosts deepagents langgraph-supervisor
langgraph-swarm` installs them beside and runs this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from sayso import Desk, Run
from sayso.adapters.langgraph import Graph
from tests.runs.people import ask_of

Reply = Callable[[list[BaseMessage]], AIMessage]


class Model(BaseChatModel):
    """A chat model that replies what a function says to the messages."""

    reply: Reply

    @property
    def _llm_type(self) -> str:
        return "family"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.reply(messages))])

    def bind_tools(self, *_: Any, **__: Any) -> Model:
        return self


def calls(name: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"{name}-1"}])


def once(name: str, **args: Any) -> Reply:
    """Make one call, and say so when it is answered."""

    def reply(messages: list[BaseMessage]) -> AIMessage:
        done = [one for one in messages if one.type == "tool" and one.name == name]
        return AIMessage(f"{name}: {done[-1].text}") if done else calls(name, **args)

    return reply


@pytest.fixture
def did() -> list[str]:
    return []


@pytest.fixture
def sends(did: list[str]) -> BaseTool:
    """A tool that can only be awaited, as those of MCP."""

    async def send(to: str) -> str:
        did.append(to)
        return f"sent to {to}"

    return StructuredTool.from_function(coroutine=send, description="Send a mail.")


def approved(desk: Desk, made: Any) -> Run:
    given = {"messages": [{"role": "user", "content": "Write to anna."}]}
    run = desk.run(Graph("family", made), given, wait=False)
    assert (ask_of(run).tool, ask_of(run).args) == ("send", {"to": "anna"}), run.error
    desk.approve(ask_of(run))
    desk.work(until="idle", only=run.id)
    return run


def clerk(sends: BaseTool, name: str) -> Any:
    return create_agent(
        Model(reply=once("send", to="anna")),
        [sends],
        name=name,
        middleware=[HumanInTheLoopMiddleware({"send": True})],
    )


def test_deepagents_asks_before_the_tools_it_is_told_of(
    local: Desk, sends: BaseTool, did: list[str]
) -> None:
    made = pytest.importorskip("deepagents").create_deep_agent(
        model=Model(reply=once("send", to="anna")),
        tools=[sends],
        interrupt_on={"send": True},
        checkpointer=InMemorySaver(),
    )
    assert (approved(local, made).status, did) == ("done", ["anna"])


def test_deepagents_asks_inside_a_subagent(local: Desk, sends: BaseTool, did: list[str]) -> None:
    inner = {
        "name": "mailer",
        "description": "Writes mails.",
        "system_prompt": "Write.",
        "tools": [sends],
        "model": Model(reply=once("send", to="anna")),
        "interrupt_on": {"send": True},
    }
    made = pytest.importorskip("deepagents").create_deep_agent(
        model=Model(reply=once("task", description="Write.", subagent_type="mailer")),
        subagents=[inner],
        checkpointer=InMemorySaver(),
    )
    assert (approved(local, made).status, did) == ("done", ["anna"])


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
def test_a_supervisor_hands_over_to_an_agent_that_asks(
    local: Desk, sends: BaseTool, did: list[str]
) -> None:
    supervisor = pytest.importorskip("langgraph_supervisor")
    made = supervisor.create_supervisor(
        [clerk(sends, "mailer")], model=Model(reply=once("transfer_to_mailer"))
    ).compile(checkpointer=InMemorySaver())
    assert (approved(local, made).status, did) == ("done", ["anna"])


def test_a_swarm_hands_over_to_an_agent_that_asks(
    local: Desk, sends: BaseTool, did: list[str]
) -> None:
    swarm = pytest.importorskip("langgraph_swarm")
    hands = swarm.create_handoff_tool(agent_name="mailer")
    first = create_agent(Model(reply=lambda _: calls(hands.name)), [hands], name="first")
    made = swarm.create_swarm([first, clerk(sends, "mailer")], default_active_agent="first")
    run = approved(local, made.compile(checkpointer=InMemorySaver()))
    assert (run.status, did) == ("done", ["anna"])
