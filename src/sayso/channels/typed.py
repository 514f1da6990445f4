"""What people type, read as the type that is asked for.

`40` typed for a number is the number, typed for a text it is the text (E38).
Nothing is forced: what fits no type is handed on as it was typed, and the check
of the edit or the answer says what is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sayso.errors import BadValue
from sayso.model.ask import Ask
from sayso.model.faults import violations
from sayso.model.text import one_line

_WORDS = {"yes": True, "y": True, "no": False, "n": False}
_NOUNS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "yes or no",
    "null": "null",
    "array": "a list, as JSON",
    "object": "an object, as JSON",
}
_FORMATS = {
    "date": "a date, such as 2026-01-31",
    "date-time": "a moment, such as 2026-01-31T09:00:00Z",
    "time": "a time, such as 09:00:00",
    "email": "an e-mail address",
}


def read_answer(text: str, schema: Mapping[str, Any] | None) -> Any:  # noqa: ANN401 - JSON
    """Read a typed answer as the schema of the question wants it."""
    return _fitting(text, _candidates(text, prefers_text=_is_text(schema or {})), schema or {})


def typed_freely(schema: object) -> bool:
    """Say if an answer is typed into one box: anything, or a text beside lists and objects.

    JSON in that box is what it says, and all else is the text.
    """
    if not schema:
        return True
    if not isinstance(schema, Mapping) or schema.keys() != {"anyOf"}:
        return False
    return bool(schema["anyOf"] == [{"type": name} for name in ("string", "object", "array")])


def read_changes(lines: Iterable[str], ask: Ask) -> dict[str, Any]:
    """Read `name=value` lines as changes to the arguments of an ask.

    Raises:
        BadValue: a line is not of that form.
    """
    schema, args = ask.proposal.schema, ask.args
    changes: dict[str, Any] = {}
    for line in lines:
        name, separator, text = line.partition("=")
        if not separator or not name.strip():
            raise BadValue(
                f"{one_line(line, 60)!r} changes nothing: write name=value, such as amount=40."
            )
        wanted = _field(schema, name.strip())
        changes[name.strip()] = _read_field(text.strip(), wanted, args.get(name.strip()))
    return changes


def in_words(schema: Mapping[str, Any] | None) -> str:
    """Say which values a schema takes, for somebody who is about to type one."""
    if not schema or typed_freely(schema):
        return "text, or JSON" if schema else "anything: JSON, or text"
    if "enum" in schema or "const" in schema:
        given = schema.get("enum", [schema.get("const")])
        return "one of " + ", ".join(one_line(json.dumps(v, ensure_ascii=False), 40) for v in given)
    if "format" in schema and schema["format"] in _FORMATS:
        return _FORMATS[schema["format"]]
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return " or ".join(
            dict.fromkeys(in_words({**b, "$defs": schema.get("$defs")}) for b in branches)
        )
    if "$ref" in schema:
        return _referred(schema)
    return _typed_in_words(schema)


def _typed_in_words(schema: Mapping[str, Any]) -> str:
    kinds = schema.get("type", ())
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    said = " or ".join(_NOUNS.get(name, name) for name in names) or "anything: JSON, or text"
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{said} from {low} to {high}"
    if low is not None:
        return f"{said}, {low} or more"
    if high is not None:
        return f"{said}, {high} or less"
    fields = schema.get("properties")
    return f"{said}, with {one_line(', '.join(fields), 60)}" if fields else said


def _referred(schema: Mapping[str, Any]) -> str:
    name = str(schema["$ref"]).rpartition("/")[2]
    target = (schema.get("$defs") or {}).get(name)
    if not isinstance(target, Mapping) or "$ref" in target:
        return _NOUNS["object"]
    return in_words({**target, "$defs": schema.get("$defs")})


def _field(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the schema of one argument, with the definitions it may refer to."""
    field = schema.get("properties", {}).get(name)
    if not isinstance(field, dict):
        return {}
    return {**field, "$defs": schema["$defs"]} if "$defs" in schema else field


def _read_field(text: str, schema: Mapping[str, Any], now: object) -> Any:  # noqa: ANN401 - JSON
    prefers_text = isinstance(now, str) or (now is None and _is_text(schema))
    candidates = _candidates(text, prefers_text=prefers_text)
    if text.startswith('"'):  # people quote what they would quote in a program
        candidates = [*_json(text), *candidates]
    return _fitting(text, candidates, schema)


def _candidates(text: str, *, prefers_text: bool) -> list[Any]:
    other = [*_json(text), *([_WORDS[text.lower()]] if text.lower() in _WORDS else [])]
    return [text, *other] if prefers_text else [*other, text]


def _json(text: str) -> Iterator[Any]:
    try:
        yield json.loads(text)
    except (ValueError, RecursionError):
        return


def _fitting(text: str, candidates: list[Any], schema: Mapping[str, Any]) -> Any:  # noqa: ANN401
    for candidate in candidates:
        try:
            if not violations(dict(schema), candidate):
                return candidate
        except BadValue:  # NaN, or nested beyond reason: the check proper will say so
            continue
    return candidates[0] if candidates else text


def _is_text(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "string"
