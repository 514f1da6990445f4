"""LangChain's agent with `SaysoMiddleware`, whose tools can only be awaited, as those of MCP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

import sayso
from sayso.adapters.langchain import SaysoMiddleware
from sayso.adapters.langgraph import Graph
from tests.adapters.stages.chain import GIVEN, Thinking
from tests.adapters.story import folder, pay, send

__all__ = ["AGENT", "GIVEN"]


async def pay_async(to: str, amount: int) -> str:
    """Pay money to somebody."""
    return pay(to, amount)


async def send_async(to: str, text: str) -> str:
    """Send somebody a mail."""
    return send(to, text)


async def ask(question: str) -> str:
    """Ask the person who is waiting."""
    return str(await sayso.question(question))


def tools() -> list[BaseTool]:
    awaited: dict[str, Callable[..., Awaitable[str]]]
    awaited = {"pay": pay_async, "send": send_async, "ask": ask}
    return [StructuredTool.from_function(coroutine=fn, name=name) for name, fn in awaited.items()]


@asynccontextmanager
async def make() -> AsyncIterator[Any]:
    middleware = SaysoMiddleware(confirm=["pay", "send"], tools={"ask": {"asks": True}})
    async with AsyncSqliteSaver.from_conn_string(f"{folder()}/graph.db") as saver:
        yield create_agent(Thinking(), tools(), middleware=[middleware], checkpointer=saver)


AGENT = Graph("story-of-an-async-chain", make, guarded=True)
