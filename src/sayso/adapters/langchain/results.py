"""What came of a call, as the journal keeps it and as the agent's history wants it.

Mostly that is the text a tool returned. A tool may also return messages, and commands to its
graph: those are kept in a notation of their own. What has no form in JSON is handed on as
it is, for the journal to refuse.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from langchain_core.messages import (
    BaseMessage,
    ToolCall,
    ToolMessage,
    message_to_dict,
    messages_from_dict,
)
from langgraph.types import Command, Send

Result = ToolMessage | Command[Any]
_RICH = "langchain"


def answer(call: ToolCall, content: str | list[Any], *, failed: bool = False) -> ToolMessage:
    """Return the message that answers a call."""
    status = "error" if failed else "success"
    return ToolMessage(content, name=call["name"], tool_call_id=call["id"] or "", status=status)


def kept(result: Any, call: ToolCall) -> Any:  # noqa: ANN401 - whatever the tool returned
    """Return a result as JSON, as far as it has such a form."""
    if isinstance(result, ToolMessage) and _same(result, answer(call, result.content)):
        return result.content
    return {_RICH: _written(result)}


def restored(stored: Any, call: ToolCall) -> Any:  # noqa: ANN401 - what the tool node takes
    """Return what a result was, from what the journal has; a person may have written that."""
    if isinstance(stored, dict) and set(stored) == {_RICH}:
        return _read(stored[_RICH])
    plain = isinstance(stored, str) or _blocks(stored)
    return answer(call, stored if plain else json.dumps(stored, ensure_ascii=False))


def _same(one: ToolMessage, other: ToolMessage) -> bool:
    return one.model_dump(exclude={"id"}) == other.model_dump(exclude={"id"})


def _blocks(stored: object) -> bool:
    return isinstance(stored, list) and all(isinstance(block, str | dict) for block in stored)


def _written(value: Any) -> Any:  # noqa: ANN401 - JSON, and what has no form in it
    match value:
        case BaseMessage():
            return {"$message": message_to_dict(value)}
        case Send():
            return {"$send": [value.node, _written(value.arg)]}
        case Command():
            parts = (value.update, value.goto, value.graph, value.resume)
            return {"$command": [_written(part) for part in parts]}
        case list() | tuple():
            items = [_written(item) for item in value]
            return {"$tuple": items} if isinstance(value, tuple) else items
        case dict():
            inner = {key: _written(item) for key, item in value.items()}
            return {"$dict": inner} if _marked(value) else inner
        case _:
            return value


def _marked(value: dict[Any, Any]) -> bool:
    """Whether it looks like the notation, be it that a tool wrote it so."""
    return len(value) == 1 and str(next(iter(value))).startswith("$")


def _read(value: Any) -> Any:  # noqa: ANN401 - JSON in, a value out
    match value:
        case list():
            return [_read(item) for item in value]
        case dict() if _marked(value):
            ((mark, inner),) = value.items()
            return _READ[mark](inner)
        case dict():
            return _fields(value)
        case _:
            return value


def _fields(value: dict[str, Any]) -> dict[str, Any]:
    return {key: _read(item) for key, item in value.items()}


def _command(parts: list[Any]) -> Command[Any]:
    update, goto, graph, resume = (_read(part) for part in parts)
    return Command(update=update, goto=goto, graph=graph, resume=resume)


_READ: dict[str, Callable[[Any], Any]] = {
    "$message": lambda inner: messages_from_dict([inner])[0],
    "$send": lambda inner: Send(inner[0], _read(inner[1])),
    "$command": _command,
    "$dict": _fields,
    "$tuple": lambda inner: tuple(_read(item) for item in inner),
}
