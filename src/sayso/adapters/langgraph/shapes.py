"""What graphs ask, and the shape in which each wants to hear the answer.

`interrupt()` takes any value. Known are Agent Inbox's requests, the same as courses
write them, and both shapes of LangChain's middleware. Everything else is read by `own`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sayso import Running
from sayso.adapters.langgraph.calls import VERDICTS, Calls, Proposed, Said, called, described
from sayso.adapters.langgraph.own import own_shape
from sayso.adapters.langgraph.raised import Earlier, Known, Raised


class Shape(Protocol):
    """One interrupt: what is asked of people, and what the graph is told."""

    @property
    def anew(self) -> bool:
        """Say if it may be asked again when the graph did not take the answer."""
        ...

    def put(
        self,
        run: Running,
        earlier: Earlier | None = None,
        **terms: Any,  # noqa: ANN401
    ) -> list[Any]:
        """Open what people are asked, and return it to be collected; say what came before."""
        ...

    def reply(self, laters: Sequence[Any]) -> Any:  # noqa: ANN401 - what the graph expects
        """Return what the graph is resumed with, pausing the run until people have answered."""
        ...


def shape_of(raised: Raised, known: Known) -> Shape:
    """Return the shape of an interrupt; a plain question, if none is recognised for sure."""
    for reader in (_inbox, _listed, _batched, _per_call):
        shape = reader(raised, known)
        if shape is not None and not raised.whole:
            shape = shape.unedited()
        if shape is not None:
            return shape
    return own_shape(raised, known)


# --- Agent Inbox -------------------------------------------------------------------------------

_WORDS = {"accept": "approve", "edit": "edit", "respond": "respond", "ignore": "reject"}


def _inbox(raised: Raised, known: Known) -> Calls | None:
    """Read `{"action_request": ..., "config": ..., "description": ...}`, or a list of those."""
    value = raised.value if isinstance(raised.value, list) else [raised.value]
    calls = [_request(one, known) for one in value]
    if not calls or None in calls:
        return None
    return Calls(tuple(call for call in calls if call), _inbox_word, lambda said: said)


def _request(value: object, known: Known) -> Proposed | None:
    if not isinstance(value, dict):
        return None
    request, config = value.get("action_request"), value.get("config")
    if not isinstance(request, dict) or not isinstance(config, dict):
        return None
    words = frozenset(word for word in _WORDS if config.get(f"allow_{word}") is True)
    return _worded(request.get("action"), request.get("args"), words, described(value), known)


def _worded(
    name: object, args: object, words: frozenset[str], description: str | None, known: Known
) -> Proposed | None:
    """Return a call that may be decided in these words of Agent Inbox."""
    if not words:
        return None
    allow = (*(_WORDS[word] for word in _WORDS if word in words and word != "ignore"), "reject")
    schema = known.tools.get(str(name))
    return called(name, args, allow=allow, words=words, description=description, schema=schema)


def _inbox_word(call: Proposed, said: Said) -> dict[str, Any]:
    match said.verdict:
        case "approve":
            return {"type": "accept", "args": None}
        case "edit":
            return {"type": "edit", "args": {"action": call.tool, "args": said.args}}
        case "respond":
            return {"type": "response", "args": said.text}
        case _:
            return {"type": said.word, "args": said.text if said.word == "response" else None}


def _listed(raised: Raised, known: Known) -> Calls | None:
    """Read `{"action": ..., "config": ["accept", ...], "args": ...}`, answered by one object."""
    value = raised.value
    if not isinstance(value, dict) or not isinstance(value.get("config"), list):
        return None
    words = frozenset(word for word in _WORDS if word in value["config"])
    args = value.get("args", {})
    call = _worded(value.get("action"), args, words, described(value), known)
    return None if call is None else Calls((call,), _listed_word, lambda said: said[0])


def _listed_word(call: Proposed, said: Said) -> dict[str, Any]:
    word = _inbox_word(call, said)
    return {**word, "args": word["args"]["args"]} if word["type"] == "edit" else word


# --- LangChain's middleware --------------------------------------------------------------------


def _batched(raised: Raised, known: Known) -> Calls | None:
    """Read a `HITLRequest`: several calls, and for each name what may be decided."""
    value = raised.value
    if not isinstance(value, dict):
        return None
    requests, configs = _dicts(value.get("action_requests")), _dicts(value.get("review_configs"))
    if not requests or not configs:
        return None
    allowed = {config.get("action_name"): config.get("allowed_decisions") for config in configs}
    calls = [_reviewed(request, allowed.get(request.get("name")), known) for request in requests]
    if None in calls:
        return None
    found = tuple(call for call in calls if call)
    return Calls(found, _decision_word, lambda said: {"decisions": said})


def _dicts(value: object) -> list[dict[str, Any]]:
    """Return a list of objects; an empty one, if it is anything else."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return []
    return value


def _reviewed(request: dict[str, Any], allowed: object, known: Known) -> Proposed | None:
    allow = tuple(v for v in VERDICTS if v in allowed) if isinstance(allowed, list) else ()
    if not allow:
        return None
    name = request.get("name")
    schema = known.tools.get(str(name))
    return _decidable(name, request, allow, schema)


def _decidable(
    name: object, request: Mapping[str, Any], allow: Sequence[str], schema: dict[str, Any] | None
) -> Proposed | None:
    """Return a call that takes these decisions; people may always say no."""
    return called(
        name,
        request.get("args"),
        allow=tuple(verdict for verdict in VERDICTS if verdict in {*allow, "reject"}),
        words=frozenset(allow),
        description=described(request),
        schema=schema,
    )


def _per_call(raised: Raised, known: Known) -> Calls | None:
    """Read a `ToolApprovalRequest`. Its response schema says what may be decided."""
    value = raised.value
    if not isinstance(value, dict) or value.get("type") != "tool_approval":
        return None
    branches = _branches(raised.schema or {})
    allow = tuple(verdict for verdict in VERDICTS if verdict in branches)
    if not allow:
        return None
    name = value.get("name")
    schema = known.tools.get(str(name)) or _edited(raised.schema or {}, branches)
    call = _decidable(name, value, allow, schema)
    return None if call is None else Calls((call,), _decision_word, lambda said: said[0])


def _branches(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the decisions of a response schema, each by its type."""
    every = schema.get("oneOf") or schema.get("anyOf") or [schema]
    found = [_resolved(one, schema) for one in every]
    return {str(one.get("properties", {}).get("type", {}).get("const")): one for one in found}


def _edited(
    schema: dict[str, Any], branches: Mapping[str, dict[str, Any]]
) -> dict[str, Any] | None:
    """Return the schema of the arguments that an edit may give, standing by itself."""
    action = _resolved(branches.get("edit", {}).get("properties", {}).get("edited_action"), schema)
    args = _resolved(action.get("properties", {}).get("args"), schema)
    if not args.get("properties"):
        return None
    return {**args, "additionalProperties": False, "$defs": schema.get("$defs", {})}


def _resolved(part: object, schema: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(part, dict):
        return {}
    name = str(part.get("$ref", "")).rpartition("/")[2]
    found = schema.get("$defs", {}).get(name, part)
    return found if isinstance(found, dict) else {}


def _decision_word(call: Proposed, said: Said) -> dict[str, Any]:
    match said.verdict:
        case "edit":
            return {"type": "edit", "edited_action": {"name": call.tool, "args": said.args}}
        case "respond":
            return {"type": "respond", "message": said.text}
        case "reject" if said.text:
            return {"type": "reject", "message": said.text}
        case verdict:
            return {"type": verdict}
