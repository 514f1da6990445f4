"""From a prompt to what pydantic-ai sends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    SystemPromptPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings, ToolOrOutput
from pydantic_ai.tools import ToolDefinition

from sayso.agent.bridge.native import response_of
from sayso.agent.messages import Message, Prompt


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt in pydantic-ai's words."""

    messages: list[ModelMessage]
    parameters: ModelRequestParameters
    settings: ModelSettings
    # The same for a model that cannot be forced to call a tool: it is shown no other one.
    unforced: Asked | None = None

    @classmethod
    def of(cls, prompt: Prompt, system: str, settings: ModelSettings) -> Asked:
        """Translate a prompt for the provider that pydantic-ai calls `system`."""
        tools = [
            # As it is: a schema that the provider enforces is a smaller language than JSON Schema,
            # and forbids several calls in one reply. What arrives is checked by us anyway.
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.schema),
                strict=False,
            )
            for tool in prompt.tools
        ]
        parameters = ModelRequestParameters(
            function_tools=tools, allow_text_output=prompt.must is None
        )
        messages = list(_messages(prompt.messages, system))
        if prompt.must is None:
            return cls(messages, parameters, settings)
        forced: ModelSettings = {**settings, "tool_choice": [prompt.must]}
        shown: ModelSettings = {**settings, "tool_choice": ToolOrOutput([prompt.must])}
        return cls(messages, parameters, forced, cls(messages, parameters, shown))


def _messages(messages: Iterable[Message], system: str) -> Iterator[ModelMessage]:
    tools: dict[str, str] = {}
    for spoken, some in groupby(messages, lambda message: message.role == "assistant"):
        if not spoken:
            yield ModelRequest(parts=_request(some, tools))
            continue
        for message in some:
            tools |= {call.id: call.tool for call in message.calls}
            yield response_of(message, system)


def _request(messages: Iterable[Message], tools: Mapping[str, str]) -> list[ModelRequestPart]:
    """Results first: providers want them right behind the calls they belong to."""
    parts = [_part(message, tools) for message in messages]
    return sorted(parts, key=lambda part: not isinstance(part, ToolReturnPart))


def _part(message: Message, tools: Mapping[str, str]) -> ModelRequestPart:
    if message.role == "system":
        return SystemPromptPart(message.text)
    if message.role == "user":
        return UserPromptPart(message.text)
    call: Any = message.call or ""
    return ToolReturnPart(
        message.tool or tools.get(call, "tool"),
        message.text,
        call,
        outcome="failed" if message.failed else "success",
    )
