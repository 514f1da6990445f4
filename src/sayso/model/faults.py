"""Where a value breaks a schema, in words that a reviewer can act on.

An edit or an answer is checked when a person sends it, so that they hear what
is wrong while they can still mend it, field by field.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

from sayso.errors import BadValue
from sayso.model.digest import Json, canonical, frozen, path_text
from sayso.model.schema import Schema, validator_of
from sayso.model.text import one_line

Finding: TypeAlias = tuple[tuple[str | int, ...], str]


# What a plain schema, as canonical JSON, takes without a further look.
_TAKES = {
    '{"type":"string"}': str,
    '{"type":"integer"}': int,
    '{"type":"boolean"}': bool,
}


def violations(schema: Schema | str, value: object) -> dict[str, str]:
    """Say where a value breaks a schema: each path, and what is wrong there.

    Types are taken strictly. Of a great many faults the first fifty are named. A schema may
    come as canonical JSON.

    Raises:
        BadValue: the value is not JSON, or the schema cannot be applied.
    """
    return gathered(findings(schema, value))


def findings(schema: Schema | str, value: object) -> list[Finding]:
    """Say the same as `violations`, with the way to each place as names and numbers.

    Raises:
        BadValue: as `violations`.
    """
    plain = frozen(value)
    text = schema if isinstance(schema, str) else canonical(schema, what="schema")
    if type(plain) is _TAKES.get(text):
        return []
    from referencing.exceptions import Unresolvable

    from sayso.model.bounded import MOST_FAULTS, bounded

    validator = validator_of(text)
    try:
        with bounded():
            faults: list[Any] = list(itertools.islice(validator.iter_errors(plain), MOST_FAULTS))
        found = (finding for fault in faults for finding in _findings(fault))
        return list(itertools.islice(found, MOST_FAULTS))
    except RecursionError:
        raise BadValue(
            "The value is nested too deeply to be checked, or the schema refers to itself without end."
        ) from None
    except Unresolvable as error:
        message = one_line(str(error), 160)
        raise BadValue(f"The schema refers to what it does not hold: {message}") from None
    except OverflowError:
        return [((), "holds a number too large to be checked")]


class _Fault(Protocol):
    """What jsonschema reports, as far as we read it; its own types leave too much open."""

    validator: str | None
    validator_value: Any
    instance: Any
    schema: Any
    message: str
    absolute_path: Iterable[str | int]
    relative_path: Sequence[str | int]
    relative_schema_path: Sequence[str | int]
    context: Sequence[_Fault]


_NOUNS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "null": "nothing",
    "array": "a list",
    "object": "an object",
}
_SENTENCES = {
    "enum": "must be one of {rule}",
    "const": "must be {rule}",
    "minimum": "must be {rule} or more",
    "maximum": "must be {rule} or less",
    "exclusiveMinimum": "must be more than {rule}",
    "exclusiveMaximum": "must be less than {rule}",
    "multipleOf": "must be a multiple of {rule}",
    "minLength": "must have at least {rule} characters",
    "maxLength": "must have at most {rule} characters",
    "pattern": "must match the pattern {rule}",
    "format": "must be a valid {rule}",
    "minItems": "must have at least {rule} items",
    "maxItems": "must have at most {rule} items",
    "uniqueItems": "must not hold the same item twice",
    "minProperties": "must have at least {rule} fields",
    "maxProperties": "must have at most {rule} fields",
    "not": "is not allowed here",
    "oneOf": "fits more than one of the forms allowed here",
}


def gathered(findings: Iterable[Finding], joint: str = " and ") -> dict[str, str]:
    """Return one sentence for each place, however many findings it has."""
    fields: dict[str, list[str]] = {}
    for path, sentence in findings:
        said = fields.setdefault(path_text(path), [])
        if sentence not in said:
            said.append(sentence)
    return {path: joint.join(said) for path, said in fields.items()}


def _findings(fault: _Fault) -> Iterator[Finding]:
    """Yield the first findings of a fault: one can be about every field of a value."""
    from sayso.model.bounded import MOST_FAULTS

    return itertools.islice(_all_findings(fault), MOST_FAULTS)


def _all_findings(fault: _Fault) -> Iterator[Finding]:
    path = tuple(fault.absolute_path)
    match fault.validator:
        case "required":
            missing = (name for name in fault.validator_value if name not in fault.instance)
            yield from (((*path, name), "is missing") for name in missing)
        case "additionalProperties" if fault.validator_value is False:
            yield from _unknown_fields(fault, path)
        case "anyOf" | "oneOf" if fault.context:
            yield from _closest(fault, path)
        case _:
            yield path, _sentence(fault)


def _unknown_fields(fault: _Fault, path: tuple[str | int, ...]) -> Iterator[Finding]:
    from sayso.model.pattern import fits

    known = fault.schema.get("properties", {})
    patterns = fault.schema.get("patternProperties", {})
    names = one_line(", ".join(known) or "none", 80)
    for name in fault.instance:
        if name not in known and not any(fits(pattern, name) for pattern in patterns):
            yield (*path, name), f"is not a field here; the fields are: {names}"


def _closest(fault: _Fault, path: tuple[str | int, ...]) -> Iterator[Finding]:
    """Of several forms allowed, report on those the value was probably meant to have."""
    forms: dict[str | int, list[_Fault]] = {}
    for inner in fault.context:
        forms.setdefault(inner.relative_schema_path[0], []).append(inner)
    meant = [faults for faults in forms.values() if not any(map(_is_other_type, faults))]
    if not meant:
        types = [t for inner in fault.context if _is_other_type(inner) for t in _types(inner)]
        yield path, _wrong_type(types, fault.instance)
        return
    every = [[finding for fault in faults for finding in _findings(fault)] for faults in meant]
    fewest = min(map(len, every))
    found = [findings for findings in every if len(findings) == fewest]
    if all(len(form) == 1 and form[0][0] == path for form in found):
        yield path, " or ".join(dict.fromkeys(form[0][1] for form in found))
    else:
        yield from found[0]


def _is_other_type(fault: _Fault) -> bool:
    return fault.validator == "type" and not fault.relative_path


def _types(fault: _Fault) -> list[str]:
    rule = fault.validator_value
    return [rule] if isinstance(rule, str) else list(rule)


def _sentence(fault: _Fault) -> str:
    if fault.validator is None:  # the schema `false`, for which jsonschema gives no place
        return "holds something that is not allowed"
    if fault.validator == "type":
        return _wrong_type(_types(fault), fault.instance)
    if (fault.validator, fault.validator_value) == ("pattern", r"\S"):
        return "must not be blank"
    form = _SENTENCES.get(fault.validator)
    if form is None:
        return one_line(fault.message, 80)
    rule = fault.validator_value
    plain = fault.validator in {"format", "pattern"}
    return form.format(rule=one_line(rule if plain else canonical(rule).strip("[]"), 80))


def _wrong_type(types: Iterable[str], value: Json) -> str:
    wanted = " or ".join(dict.fromkeys(_NOUNS.get(name, name) for name in types))
    return f"must be {wanted}, not {_spoken(value)}"


def _spoken(value: Json) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f'the text "{one_line(value, 60)}"'
        case int() | float():
            return f"the number {one_line(repr(value), 60)}"
        case list():
            return "a list"
        case dict():
            return "an object"
