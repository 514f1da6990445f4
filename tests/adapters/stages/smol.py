"""The model of the story, as agents of smolagents call it; they differ in how it makes calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from smolagents import ChatMessage, Model, tool
from smolagents.models import MessageRole

from sayso.adapters.smolagents import UserInput
from tests.adapters.story import Line, Said, Wanted, pay, send, think

ASK = "user_input"  # as its tool for questions is called
Acts = Callable[[str | Sequence[Wanted], int], ChatMessage]


def tools() -> list[Any]:
    return [tool(pay), tool(send), UserInput()]


class Thinking(Model):
    """Follows the story; `acts` writes what it wants in the way of its agent."""

    def __init__(self, acts: Acts) -> None:
        super().__init__()
        self._acts = acts

    def generate(
        self, messages: list[ChatMessage], stop_sequences: list[str] | None = None, **_: Any
    ) -> ChatMessage:
        planning = stop_sequences == ["<end_plan>"]
        line = think([said(message) for message in messages], planning=planning)
        if planning:
            steps = [f"{number}. {step}" for number, step in enumerate(line, start=1)]
            return ChatMessage(MessageRole.ASSISTANT, "\n".join(steps))
        return self._acts(line if isinstance(line, str) else named(line), len(messages))


def said(message: ChatMessage) -> Said:
    content = message.content
    if isinstance(content, list):
        content = "\n".join(part.get("text", "") for part in content)
    return Said(message.role.value, content or "")


def named(line: Line) -> list[Wanted]:
    return [
        Wanted(ASK, one.args) if one.tool == "ask" else one
        for one in line
        if isinstance(one, Wanted)
    ]
