"""Models that are functions of what they are shown, and tools that leave a trace.

A model sees a conversation as texts, one a message; nothing else does it go by, so what it does
in a new process follows from what the agent shows it there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from smolagents import ChatMessage, CodeAgent, Model, Tool, ToolCallingAgent
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

Call = tuple[str, dict[str, Any]]
Thought = str | list[Call]


class Thinks(Model):
    """A model that replies what a function of the texts says: a text, or calls."""

    def __init__(self, think: Callable[[list[str]], Thought]) -> None:
        super().__init__(model_id="thinks")
        self.seen: list[list[str]] = []
        self._think = think
        self.ids: Sequence[str] = ()  # those of the calls, if they are not to be sound

    def generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatMessage:
        texts = [text_of(message) for message in messages]
        self.seen.append(texts)
        thought = self._think(texts)
        if isinstance(thought, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=thought)
        ids = self.ids or [f"c{number}" for number in range(len(thought))]
        calls = [
            ChatMessageToolCall(
                id=id_,
                type="function",
                function=ChatMessageToolCallFunction(name=name, arguments=given),
            )
            for id_, (name, given) in zip(ids, thought, strict=True)
        ]
        return ChatMessage(role=MessageRole.ASSISTANT, content="I know why.", tool_calls=calls)


def text_of(message: Any) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def final(answer: Any) -> list[Call]:
    return [("final_answer", {"answer": answer})]


def code(text: str) -> str:
    return f"Thought: so be it.\n<code>\n{text}\n</code>"


def steps_taken(texts: list[str]) -> int:
    """How many steps the agent has behind it."""
    return sum(text.startswith("Calling tools:") for text in texts)


class Note(Tool):
    """A tool that notes what it is called with."""

    name = "send"
    description = "Send a mail."
    inputs: ClassVar[dict[str, Any]] = {
        "to": {"type": "string", "description": "Who"},
        "amount": {"type": "integer", "description": "How much", "nullable": True},
    }
    output_type = "string"

    def __init__(self, done: list[Any], name: str = "send") -> None:
        super().__init__()
        self.name = name
        self.done = done

    def forward(self, to: str, amount: int | None = None) -> str:
        self.done.append((self.name, to, amount))
        return f"{self.name} to {to}: {amount}"


class Gives(Tool):
    """A tool that returns something, or raises it."""

    name = "look_up"
    description = "Look something up."
    inputs: ClassVar[dict[str, Any]] = {"what": {"type": "string", "description": "What"}}
    output_type = "any"

    def __init__(self, answers: Callable[[str], Any], name: str = "look_up") -> None:
        super().__init__()
        self.name = name
        self.answers = answers

    def forward(self, what: str) -> Any:
        return self.answers(what)


def caller(model: Model, *tools: Tool, **more: Any) -> ToolCallingAgent:
    return ToolCallingAgent(tools=list(tools), model=model, verbosity_level=0, **more)


def coder(model: Model, *tools: Tool, **more: Any) -> CodeAgent:
    return CodeAgent(tools=list(tools), model=model, verbosity_level=0, **more)


def shown(texts: list[str]) -> str:
    return json.dumps(texts)
