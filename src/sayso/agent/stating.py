"""What a model states with a call: why, how sure it is, and what contradicts it.

Arguments of our own beside those of the tool. They go on the card and to the policy, which may ask
for more people because of them, and are taken off before the call is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sayso.agent.messages import ToolCall
from sayso.asks.forms import Terms, check_conflicts
from sayso.errors import BadValue
from sayso.model.faults import violations

SCHEMA: Mapping[str, Any] = {
    "_why": {
        "type": "string",
        "description": "Why you make this call, for the person who may be asked about it.",
    },
    "_confidence": {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "description": "Before you say how sure you are, hunt for the flaw: what is the likeliest way "
        "in which this call is wrong? Then say from 0 to 1 how sure you are that a person who checks "
        "it finds none, and approves it unchanged. Leave it out if you cannot tell.",
    },
    "_conflicts": {
        "type": "array",
        "items": {"type": "string"},
        "maxItems": 20,
        "description": "What you found that contradicts this call, or contradicts itself.",
    },
}
_WHOLE = {"type": "object", "properties": dict(SCHEMA), "additionalProperties": False}


def offered(schema: Mapping[str, Any], tool: str) -> dict[str, Any]:
    """Return the schema of a tool with these arguments beside its own.

    Raises:
        BadValue: the tool has one of that name.
    """
    taken = next((name for name in SCHEMA if name in schema["properties"]), None)
    if taken is not None:
        raise BadValue(f"{tool} takes {taken!r}, which an agent with explain=True uses itself.")
    return {**schema, "properties": {**schema["properties"], **SCHEMA}}


def parted(call: ToolCall) -> tuple[ToolCall, dict[str, Any]]:
    """Return the call as the tool takes it, and what was stated with it."""
    stated = {name: call.args[name] for name in SCHEMA if name in call.args}
    if not stated:
        return call, {}
    return replace(call, args={n: v for n, v in call.args.items() if n not in stated}), stated


def terms_of(stated: Mapping[str, Any]) -> Terms:
    """Return what was stated as the terms of an ask.

    Raises:
        BadValue: a confidence that is no number from 0 to 1, and the like.
    """
    wrong = violations(_WHOLE, dict(stated))
    if wrong:
        raise BadValue("; ".join(f"{where}: {what}" for where, what in wrong.items()))
    check_conflicts(stated.get("_conflicts"))
    return {name.removeprefix("_"): value for name, value in stated.items()}  # type: ignore[return-value]
