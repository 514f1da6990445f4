"""What a provider wants to see again as it was: thinking and its signatures, its own ids, their order.

Kept with the reply as small plain JSON. Text and arguments are not in it: a person may have
changed a call, and then that is what the provider is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_core import to_jsonable_python

from sayso.agent.messages import Message, ToolCall

VERSION = 1
# Anthropic says here that it dropped thinking, as it does once a person has changed an earlier call;
# from then on it has to be asked to.
_BESIDE = {"input_transformations"}
_ALOUD = "content"  # thought in tags within the text: no provider asks for that again


def native_of(response: ModelResponse) -> dict[str, Any] | None:
    """Return what to keep of a reply beside its text and its calls, or `None` if nothing."""
    notes = [note for part in response.parts if (note := _note(part)) is not None]
    kinds = [note["kind"] for note in notes]
    beside = {
        name: value
        for name, value in (response.provider_details or {}).items()
        if name in _BESIDE and value
    }
    if not beside and all(len(note) == 1 for note in notes) and kinds == _usual(kinds):
        return None
    if kinds.count("text") > 1:
        texts = (part.content for part in response.parts if isinstance(part, TextPart))
        for note in notes:
            if note["kind"] == "text":
                note["text"] = next(texts)
    kept = {"v": VERSION, "by": response.provider_name, "parts": notes}
    return _plain(to_jsonable_python(kept | ({"beside": beside} if beside else {})))  # type: ignore[no-any-return]


def _usual(kinds: Sequence[str]) -> list[str]:
    return ["text"] * ("text" in kinds) + ["call"] * kinds.count("call")


def _note(part: ModelResponsePart) -> dict[str, Any] | None:
    match part:
        case TextPart():
            note: dict[str, Any] = {"kind": "text"}
        case ToolCallPart():
            note = {"kind": "call"}
        case ThinkingPart() if part.signature or (part.id and part.id != _ALOUD):
            note = {"kind": "thinking", "text": part.content, "signature": part.signature}
        case _:
            return None
    note |= {"id": part.id, "details": part.provider_details}
    return {name: value for name, value in note.items() if value is not None}


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return JSON that every database keeps: no half characters, no zero bytes."""
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode()
        return text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {_plain(name): _plain(item) for name, item in value.items()}
    return value


def response_of(message: Message, system: str) -> ModelResponse:
    """Return what an assistant said, in the provider's own words where they are its own."""
    kept = message.native
    if not isinstance(kept, dict) or kept.get("v") != VERSION or kept.get("by") != system:
        return ModelResponse(parts=_parts(message, [], system))
    return ModelResponse(
        parts=_parts(message, kept["parts"], system),
        provider_name=system,
        provider_details=kept.get("beside"),
    )


def _parts(message: Message, notes: list[dict[str, Any]], system: str) -> list[ModelResponsePart]:
    if sum(note["kind"] == "call" for note in notes) != len(message.calls):
        notes = [note for note in notes if note["kind"] != "call"]
    texts, calls = _texts(message, notes), iter(message.calls)
    said: list[ModelResponsePart] = []
    for note in notes:
        own: dict[str, Any] = {
            "id": note.get("id"),
            "provider_name": system,
            "provider_details": note.get("details"),
        }
        if note["kind"] == "thinking":
            said.append(ThinkingPart(note["text"], signature=note.get("signature"), **own))
        elif note["kind"] == "text":
            said += [TextPart(text, **own) for text in [next(texts, "")] if text]
        else:
            said.append(_call(next(calls), **own))
    said += [TextPart(text) for text in texts if text]
    said += [_call(call) for call in calls]
    return said


def _texts(message: Message, notes: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the text in the parts it came in, or in one if it is another text by now."""
    parts = [note["text"] for note in notes if note["kind"] == "text" and "text" in note]
    return iter(parts if parts and _same("".join(parts), message.text) else [message.text])


def _same(one: str, other: str) -> bool:
    return "".join(one.split()) == "".join(other.split())


def _call(call: ToolCall, **own: Any) -> ToolCallPart:  # noqa: ANN401 - fields of the part
    # A provider takes nothing but an object here, so what was none is put into one.
    args = dict(call.args) if call.broken is None else {"INVALID_JSON": call.broken}
    return ToolCallPart(call.tool, args, call.id, **own)
