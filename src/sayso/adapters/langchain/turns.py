"""The turns in the history of an agent: their calls, answered, and as people want them made.

Providers keep a call in more than one place of a message: LangChain's own list, blocks of the
content, and what the provider sent beside it. A call that a person edited is rewritten in
all of them, or the model would read the old one again and repeat it (E18).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    ToolCall,
    ToolMessage,
    message_chunk_to_message,
)

from sayso.adapters.base import distinct

# How blocks of a content name the arguments of a call, as an object or as text.
_BLOCKS = {
    "tool_call": "args",
    "tool_call_chunk": "args",
    "tool_use": "input",
    "function_call": "arguments",
}
_NEVER = "Not carried out: the task ended before anybody had decided on this call."
_LEFTOVERS = ("partial_json", "text")  # what a streamed block keeps of the arguments besides


def last_turn(messages: Sequence[AnyMessage]) -> tuple[AIMessage | None, set[str]]:
    """Return the last message of the model, and the ids of its calls that are answered."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, AIMessage):
            after = [m for m in messages[place + 1 :] if isinstance(m, ToolMessage)]
            return message, {answer.tool_call_id for answer in after}
    return None, set()


def completed(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return a history in which every call is answered, as providers want it.

    A task that somebody ended leaves calls behind that nobody will answer any more.
    """
    found: list[AnyMessage] = []
    for place, message in enumerate(messages):
        found.append(message)
        if isinstance(message, AIMessage) and message.tool_calls:
            following = takewhile(lambda m: isinstance(m, ToolMessage), messages[place + 1 :])
            answered = {cast("ToolMessage", answer).tool_call_id for answer in following}
            found += [
                ToolMessage(
                    _NEVER, name=call["name"], tool_call_id=call["id"] or "", status="error"
                )
                for call in message.tool_calls
                if (call["id"] or "") not in answered
            ]
    return found


def named(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Return the calls with an id of its own for each: without one, a call has no answer."""
    ids = distinct(call["id"] for call in calls)
    return [cast("ToolCall", {**call, "id": id_}) for call, id_ in zip(calls, ids, strict=True)]


def rewritten(message: AIMessage, calls: Sequence[ToolCall]) -> AIMessage:
    """Return the message as if the model had made these calls instead of its own."""
    before = list(message.tool_calls)
    if before == list(calls):
        return message
    plain = cast("AIMessage", message_chunk_to_message(message))
    extra = dict(plain.additional_kwargs)
    content: Any = plain.content
    if not isinstance(content, str):
        finding = _Finding(before, calls)
        content = [_block(block, finding) for block in content]
    if isinstance(extra.get("tool_calls"), list):
        finding = _Finding(before, calls)
        extra["tool_calls"] = [_provided(sent, finding) for sent in extra["tool_calls"]]
    extra.pop("function_call", None)  # of old: a single call, which the list has as well
    changed = {"tool_calls": list(calls), "content": content, "additional_kwargs": extra}
    return plain.model_copy(update=changed)


class _Finding:
    """Finds for each call as it was written the one in its stead; of two alike, in their order."""

    def __init__(self, before: Sequence[ToolCall], after: Sequence[ToolCall]) -> None:
        self._left = list(zip(before, after, strict=True))

    def of(self, id_: object, name: object) -> ToolCall | None:
        for pair in self._left:
            was, now = pair
            if (was["id"] or "") == (id_ or "") and was["name"] == name:
                self._left.remove(pair)
                return now
        return None


def _block(block: Any, finding: _Finding) -> Any:  # noqa: ANN401 - as the provider wrote it
    key = _BLOCKS.get(block.get("type", "")) if isinstance(block, dict) else None
    if key is None:
        return block
    name = "call_id" if "call_id" in block else "id"
    now = finding.of(block.get(name), block.get("name"))
    if now is None:
        return block
    kept = {k: value for k, value in block.items() if k not in _LEFTOVERS}
    return {**kept, name: now["id"], key: _as_before(block.get(key), now)}


def _provided(sent: Any, finding: _Finding) -> Any:  # noqa: ANN401 - as the provider wrote it
    function = sent.get("function") if isinstance(sent, dict) else None
    if not isinstance(function, dict):
        return sent
    now = finding.of(sent.get("id"), function.get("name"))
    if now is None:
        return sent
    arguments = _as_before(function.get("arguments"), now)
    return {**sent, "id": now["id"], "function": {**function, "arguments": arguments}}


def _as_before(before: object, call: ToolCall) -> Any:  # noqa: ANN401 - text, or an object
    return json.dumps(call["args"]) if isinstance(before, str) else call["args"]


def pending(calls: Sequence[ToolCall], answered: set[str]) -> Iterator[ToolCall]:
    """Yield the calls of a turn that nobody has answered yet."""
    return (call for call in calls if call["id"] not in answered)
