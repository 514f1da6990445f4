"""What the model replied: asked for once, and read from the journal ever after."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from smolagents import ChatMessage, Model, TokenUsage
from smolagents.models import (
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)

from sayso.adapters.base import Running, distinct


class Replies(Model):
    """Stands before a model. Each reply is a step of the run."""

    def __init__(self, model: Any, run: Running, live: Callable[[], None]) -> None:  # noqa: ANN401
        self.inner = model
        self.said = ""  # what it wrote last, which is why it does what it does next
        self._run = run
        self._live = live

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the model has
        if name in ("generate_stream", "inner"):  # a stream could not be recorded
            raise AttributeError(name)
        return getattr(self.inner, name)

    def generate(self, messages: Sequence[Any], *args: Any, **kwargs: Any) -> ChatMessage:  # noqa: ANN401 - as of `Model.generate`
        """Return the recorded reply, or ask for one and record it."""

        def reply(prompt: str) -> dict[str, Any]:
            self._live()
            return _written(self.inner.generate(messages, *args, **kwargs))

        reply.__qualname__ = "model"
        message = _read(self._run.step(reply, _digest(messages)))
        self.said = message.content if isinstance(message.content, str) else ""
        return message

    def before(self, tag: str) -> str:
        """Return what it wrote last before its code, which begins with this tag."""
        return self.said.partition(tag)[0].partition("```")[0].strip()

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """Find the calls in a text as the model does; with ids that are the same at a replay."""
        parsed = self.inner.parse_tool_calls(message)
        for number, call in enumerate(parsed.tool_calls, start=1):
            call.id = f"call-{number}"
        return parsed


def _digest(messages: Sequence[Any]) -> str:
    written = "\n".join(_text(message) for message in messages)
    return hashlib.sha256(written.encode("utf-8", "backslashreplace")).hexdigest()


def _text(message: Any) -> str:  # noqa: ANN401 - a ChatMessage, or a dict of the caller's
    """Return what can be compared of a message: an image is another object each time."""
    content = getattr(message, "content", message)
    if not isinstance(content, list):
        return str(content)
    return "".join(str(part.get("text", "")) for part in content)


def _written(message: Any) -> dict[str, Any]:  # noqa: ANN401 - a ChatMessage
    calls = message.tool_calls or []
    ids = distinct(call.id for call in calls)
    used = message.token_usage
    return {
        "role": str(getattr(message.role, "value", message.role)),
        "content": message.content,
        "calls": [
            {"id": id_, "tool": call.function.name, "args": call.function.arguments}
            for id_, call in zip(ids, calls, strict=True)
        ],
        "tokens": None if used is None else [used.input_tokens, used.output_tokens],
    }


def _read(said: dict[str, Any]) -> ChatMessage:
    calls = [
        ChatMessageToolCall(
            id=call["id"],
            type="function",
            function=ChatMessageToolCallFunction(name=call["tool"], arguments=call["args"]),
        )
        for call in said["calls"]
    ]
    return ChatMessage(
        role=MessageRole(said["role"]),
        content=said["content"],
        tool_calls=calls or None,
        token_usage=None if said["tokens"] is None else TokenUsage(*said["tokens"]),
    )
