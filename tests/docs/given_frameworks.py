"""What a reader of the README has already: a graph of LangGraph, and an agent of smolagents."""

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from smolagents import ChatMessage, CodeAgent, Model, tool

import sayso


def ask(state: dict[str, Any]) -> dict[str, Any]:
    return {"said": interrupt("Pay 40 EUR back?")}


builder: Any = StateGraph(dict)
graph = builder.add_node(ask).add_edge(START, "ask").compile(checkpointer=InMemorySaver())
desk = sayso.Desk()


@tool
def send(to: str) -> str:
    """Send a mail.

    Args:
        to: Who gets it.
    """
    return f"sent to {to}"


class Plays(Model):
    def generate(self, messages: list[Any], **_: Any) -> ChatMessage:
        plans = "write your plan" in str(messages[-1].content)
        said = "1. Write to ben" if plans else "<code>final_answer(send('ben'))</code>"
        return ChatMessage(role="assistant", content=said)


def build_agent() -> CodeAgent:
    return CodeAgent([send], Plays(), planning_interval=5, verbosity_level=0)
