"""Questions, choices and approvals that programs ask in words of their own.

Nothing is guessed. A payload becomes a choice where it lists its options, or the schema of the
answer does. It becomes a call that people approve where it names one, and where the words for yes
and no are known: from that schema, or because its options are just those two. What it says besides
is shown, and nothing in it decides who is asked, by when, or how risky that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayso import Option
from sayso.adapters.langgraph.calls import Calls, Proposed, Said, called
from sayso.adapters.langgraph.questions import PROSE, Question
from sayso.adapters.langgraph.raised import Known, Raised, written

_OPTIONS = ("options", "choices")
_LABELS = ("label", "title", "name", "text")
_TOOLS = ("tool", "tool_name", "action", "name")
_ARGS = ("args", "arguments", "params", "parameters", "input", "tool_input", "tool_args")
_INSIDE = ("tool_call", "call")
_APART = frozenset({*PROSE, *_OPTIONS, "description", "type", "id", "tool_call_id"})
_YES = {"yes", "y", "ok", "approve", "approved", "accept", "accepted", "confirm", "confirmed"}
_YES |= {"allow", "proceed", "continue"}
_NO = {"no", "n", "reject", "rejected", "deny", "denied", "decline", "declined", "cancel"}
_NO |= {"cancelled", "abort", "stop", "ignore"}
_AGREED = {"approve", "approved", "accept", "accepted", "agree", "allow", "confirm", "confirmed"}
_AGREED |= {"granted"}
Options = tuple[tuple[Option, Any], ...]


def own_shape(raised: Raised, known: Known) -> Question | Calls:
    """Return the shape of a payload that follows no protocol."""
    schema = raised.schema if raised.schema is not None else known.answer(raised)
    if not raised.whole:  # its words and options may be cut off
        return Question(raised, schema)
    listed = _listed(raised.value) if schema is None else _enumerated(schema)
    words = _words(schema, [heard for _, heard in listed])
    call = _call(raised.value, known) if words is not None else None
    if words is not None and call is not None:
        return _approval(call, *words)
    return Question(raised, schema, listed, own=schema is None)


# --- choices -----------------------------------------------------------------------------------


def _listed(value: Any) -> Options:  # noqa: ANN401 - JSON
    """Return the options that a payload lists."""
    if not isinstance(value, dict):
        return ()
    given = [value[name] for name in _OPTIONS if isinstance(value.get(name), list)]
    found = [_option(one) for one in given[0]] if given else []
    return tuple(one for one in found if one is not None) if None not in found else ()


def _option(given: object) -> tuple[Option, Any] | None:
    """Return an option and what the graph hears. Where its label is other words, it says both."""
    if isinstance(given, str | int | float):
        return _button(written(given), given)
    if not isinstance(given, dict):
        return None
    label = next((given[name] for name in _LABELS if isinstance(given.get(name), str)), None)
    return None if label is None else _button(label, given.get("value", given))


def _button(label: str, heard: Any) -> tuple[Option, Any]:  # noqa: ANN401 - JSON
    said = written(heard)
    return Option(label, heard, None if said == label else f"The graph hears: {said}"), heard


def _enumerated(schema: Mapping[str, Any]) -> Options:
    """Return the values of a schema that lists them."""
    values = schema.get("enum")
    if isinstance(values, list):
        return tuple(_button(written(one), one) for one in values)
    branches = schema.get("oneOf") or schema.get("anyOf")
    if not isinstance(branches, list) or not all(
        isinstance(one, dict) and "const" in one for one in branches
    ):
        return ()
    return tuple(_button(_titled(one), one["const"]) for one in branches)


def _titled(branch: Mapping[str, Any]) -> str:
    title = branch.get("title")
    return title if isinstance(title, str) else written(branch["const"])


# --- approvals ---------------------------------------------------------------------------------


def _words(schema: Mapping[str, Any] | None, listed: list[Any]) -> tuple[Any, Any] | None:
    """Return what the graph hears for a yes and for a no; `None`, if nothing says so."""
    if schema is not None and schema.get("type") == "boolean":
        return True, False
    if schema is not None and not listed:
        return _agreement(schema)
    said = {_folded(one): one for one in listed}
    yes, no = [said[w] for w in said if w in _YES], [said[w] for w in said if w in _NO]
    return (yes[0], no[0]) if len(listed) == len(yes) + len(no) == 2 and yes and no else None


def _folded(word: object) -> str:
    return word.strip().casefold() if isinstance(word, str) else ""


def _agreement(schema: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """Return both answers for an object in which nothing but a yes or no must be said."""
    fields, required = schema.get("properties"), schema.get("required")
    if not isinstance(fields, dict) or not isinstance(required, list) or len(required) != 1:
        return None
    (name,) = required
    field = fields.get(name)
    if name not in _AGREED or not isinstance(field, dict) or field.get("type") != "boolean":
        return None
    return {name: True}, {name: False}


def _call(value: Any, known: Known) -> Proposed | None:  # noqa: ANN401 - JSON
    """Return the call that a payload names; people may approve it or not."""
    if not isinstance(value, dict):
        return None
    inside = next((value[name] for name in _INSIDE if isinstance(value.get(name), dict)), None)
    place = value if inside is None else inside
    names = _TOOLS if inside is not None else _TOOLS[:-1]
    at = next((name for name in names if isinstance(place.get(name), str)), None)
    if at is None:
        return None
    given = next((name for name in _ARGS if isinstance(place.get(name), dict)), None)
    args = place[given] if given else _rest(place, at)
    gone = {at, given, *(() if given else args)}
    shown = {name: one for name, one in place.items() if name not in gone}
    if inside is not None:
        shown = {**{name: one for name, one in value.items() if one is not inside}, **_apart(shown)}
    return called(
        place[at],
        args,
        allow=("approve", "reject"),
        words=frozenset({"reject"}),
        facts=shown or None,
        schema=known.tools.get(place[at]),
    )


def _rest(place: Mapping[str, Any], at: str) -> dict[str, Any]:
    return {name: one for name, one in place.items() if name != at and name not in _APART}


def _apart(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return what else stands in a call inside a payload: beside what the payload itself says."""
    return {f"call {name}": one for name, one in shown.items()}


def _approval(call: Proposed, yes: Any, no: Any) -> Calls:  # noqa: ANN401 - JSON
    def word(_: Proposed, said: Said) -> Any:  # noqa: ANN401 - as the graph wants it
        return no if said.verdict == "reject" else yes

    return Calls((call,), word, lambda said: said[0])
