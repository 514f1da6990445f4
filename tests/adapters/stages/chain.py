"""LangChain's agent with `SaysoMiddleware`, run as a graph."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.sqlite import SqliteSaver

import sayso
from sayso.adapters.langchain import SaysoMiddleware
from sayso.adapters.langgraph import Graph
from tests.adapters.story import Said, Wanted, folder, pay, send, task, think


def said(message: BaseMessage) -> Said:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    wanted = tuple(Wanted(call["name"], call["args"]) for call in calls)
    return Said(message.type, message.text, wanted)


class Thinking(BaseChatModel):
    """The model of the story, as LangChain calls it."""

    @property
    def _llm_type(self) -> str:
        return "story"

    def bind_tools(self, tools: Sequence[Any], **_: object) -> Thinking:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: object = None,
        **_: object,
    ) -> ChatResult:
        line = think([said(message) for message in messages])
        reply = AIMessage(line) if isinstance(line, str) else AIMessage("", tool_calls=calls(line))
        return ChatResult(generations=[ChatGeneration(message=reply)])


def calls(line: Sequence[str | Wanted]) -> list[Any]:
    wanted = [one for one in line if isinstance(one, Wanted)]
    return [
        {"name": one.tool, "args": dict(one.args), "id": f"{one.tool}-{number}"}
        for number, one in enumerate(wanted)
    ]


def ask(question: str) -> str:
    """Ask the person who is waiting."""
    return str(sayso.question(question))


def build() -> Any:
    file = sqlite3.connect(f"{folder()}/graph.db", check_same_thread=False)
    middleware = SaysoMiddleware(confirm=["pay", "send"], tools={"ask": {"asks": True}})
    return create_agent(
        Thinking(), [pay, send, ask], middleware=[middleware], checkpointer=SqliteSaver(file)
    )


AGENT = Graph("story-of-a-chain", build, guarded=True)
GIVEN = {"messages": [{"role": "user", "content": task(plans=False)}]}
