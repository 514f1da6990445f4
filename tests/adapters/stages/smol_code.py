"""A `CodeAgent` of smolagents: both calls stand in one block of code."""

from __future__ import annotations

from collections.abc import Sequence

from smolagents import ChatMessage, CodeAgent, LogLevel
from smolagents.models import MessageRole

from sayso.adapters.smolagents import Smol
from tests.adapters.stages.smol import Thinking, tools
from tests.adapters.story import Wanted, task


def act(line: str | Sequence[Wanted], _: int) -> ChatMessage:
    if isinstance(line, str):
        code = f"final_answer({line!r})"
    else:
        given = [(one.tool, ", ".join(f"{k}={v!r}" for k, v in one.args.items())) for one in line]
        code = "\n".join(f"print({tool}({args}))" for tool, args in given)
    return ChatMessage(MessageRole.ASSISTANT, f"<code>\n{code}\n</code>")


def build() -> CodeAgent:
    return CodeAgent(tools(), Thinking(act), planning_interval=9, verbosity_level=LogLevel.OFF)


AGENT = Smol("story-of-code", build, confirm=["pay", "send"], review=("plan",))
GIVEN = task(plans=True)
