"""From what pydantic-ai received to a reply."""

from __future__ import annotations

import json
from typing import Any

from pydantic_ai.messages import (
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)
from pydantic_core import from_json

from sayso.agent.bridge.loop import Put
from sayso.agent.bridge.native import native_of
from sayso.agent.messages import Reply, ToolCall, Usage
from sayso.errors import BadValue
from sayso.model.digest import frozen

_BETWEEN = "\n\n"  # texts that something else came between


def reply_of(response: ModelResponse) -> Reply:
    """Translate a response."""
    return Reply(
        text=_text(response),
        calls=tuple(_call(part) for part in response.parts if isinstance(part, ToolCallPart)),
        usage=Usage(response.usage.input_tokens, response.usage.output_tokens, _cost(response)),
        model=response.model_name,
        native=native_of(response),
    )


def _text(response: ModelResponse) -> str:
    pieces: list[str] = []
    telling = Telling(pieces.append)
    before: str | None = None
    for part in response.parts:
        if isinstance(part, TextPart):
            telling.begin(part.content, before)
        before = part.part_kind
    return "".join(pieces)


class Telling:
    """Hands on the text of a reply as it arrives."""

    def __init__(self, put: Put) -> None:
        self._put = put
        self._said = False

    def take(self, event: ModelResponseStreamEvent) -> None:
        """Hand on what is text in an event."""
        if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
            self.begin(event.part.content, event.previous_part_kind)
        elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
            self._say(event.delta.content_delta)

    def begin(self, text: str, before: str | None) -> None:
        """Hand on the beginning of another text, which stands apart from an earlier one."""
        if self._said and before != "text":
            self._say(_BETWEEN)
        self._say(text)

    def _say(self, text: str) -> None:
        if text:
            self._said = True
            self._put(text)


def _call(part: ToolCallPart) -> ToolCall:
    raw = part.args if isinstance(part.args, str) else json.dumps(part.args or {})
    args = _arguments(raw)
    if args is None:
        return ToolCall(part.tool_call_id, part.tool_name, broken=raw)
    return ToolCall(part.tool_call_id, part.tool_name, args)


def _arguments(raw: str) -> dict[str, Any] | None:
    """The arguments, or `None` if this is no JSON object, or one that cannot be kept as it is."""
    if not raw.strip():
        return {}  # a tool without any
    try:
        args = from_json(raw, allow_inf_nan=False)
        return frozen(args) if isinstance(args, dict) else None
    except (ValueError, BadValue):
        return None


def _cost(response: ModelResponse) -> float | None:
    """Dollars: what the provider said, else by the price list that comes with the library."""
    if response.usage.cost is not None:
        return float(response.usage.cost)
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
