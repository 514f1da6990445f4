"""A `ToolCallingAgent` of smolagents."""

from __future__ import annotations

from collections.abc import Sequence

from smolagents import ChatMessage, LogLevel, ToolCallingAgent
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

from sayso.adapters.smolagents import Smol
from tests.adapters.stages.smol import Thinking, tools
from tests.adapters.story import Wanted, task


def act(line: str | Sequence[Wanted], turn: int) -> ChatMessage:
    wanted = [Wanted("final_answer", {"answer": line})] if isinstance(line, str) else line
    calls = [
        ChatMessageToolCall(
            ChatMessageToolCallFunction(name=one.tool, arguments=dict(one.args)),
            id=f"call-{turn}-{number}",
            type="function",
        )
        for number, one in enumerate(wanted)
    ]
    return ChatMessage(MessageRole.ASSISTANT, None, calls)


def build() -> ToolCallingAgent:
    model = Thinking(act)
    quiet = LogLevel.OFF
    return ToolCallingAgent(tools(), model, planning_interval=9, verbosity_level=quiet)


AGENT = Smol("story-of-tools", build, confirm=["pay", "send"], review=("plan",))
GIVEN = task(plans=True)
