"""JSON Schemas: from a type, from data given by the caller, or from the arguments themselves.

Pydantic and jsonschema are imported where they are used: a program that only
opens the front door should not pay for them.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Hashable, Iterator
from datetime import datetime, time
from typing import TYPE_CHECKING, Any, TypeAlias

from sayso.errors import BadValue
from sayso.model.bounded import bounded_validator
from sayso.model.digest import Json, canonical, frozen, path_text
from sayso.model.pattern import check_pattern
from sayso.model.text import one_line

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, FormatChecker
    from pydantic.json_schema import GenerateJsonSchema

from sayso.model.adapting import UNTYPED, adapter_of, no_schema

Schema: TypeAlias = dict[str, Any]
_INFERRED_DEPTH = 24  # deeper than anybody edits by hand; keeps the schema itself storable


def schema_of(type_: object) -> Schema:
    """Return the JSON Schema of a Python or Pydantic type.

    Raises:
        BadValue: values of this type have no form in JSON.
    """
    return json.loads(schema_text(type_))  # type: ignore[no-any-return]


def schema_text(type_: object) -> str:
    """Return the same schema as canonical JSON.

    Raises:
        BadValue: as `schema_of`.
    """
    try:
        return _remembered(type_, repr(type_))
    except TypeError:  # a type that cannot be a key, such as Annotated[str, []]
        return canonical(_made(type_))


@functools.lru_cache(
    maxsize=256
)  # asked at every replay; `int | str` equals `str | int`, but differs
def _remembered(type_: Hashable, _order: str) -> str:
    return canonical(_made(type_))


def _made(type_: object) -> Schema:
    if type_ in UNTYPED:
        return {}
    from pydantic.errors import PydanticUserError

    try:
        return adapter_of(type_).json_schema(schema_generator=quiet_generator())
    except PydanticUserError as error:
        raise no_schema(type_, error) from None


@functools.cache
def quiet_generator() -> type[GenerateJsonSchema]:
    """Return a generator of schemas that does not warn about what it leaves out."""
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

    class Quiet(GenerateJsonSchema):
        # A default that JSON cannot hold is left out; nobody needs a warning for that.
        ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012 - as its parent has it
            "skipped-choice",
            "non-serializable-default",
        }

    return Quiet


def inferred_schema(args: dict[str, Any]) -> Schema:
    """Return a schema that keeps the fields and JSON types of the arguments at hand.

    Raises:
        BadValue: the arguments are not plain data.
    """
    return _shape(frozen(args, what="arguments"), _INFERRED_DEPTH)


def check_schema(schema: object) -> None:
    """Make sure that a schema given as data can be used.

    Raises:
        BadValue: it is not a JSON Schema (Draft 2020-12), or it refers to
            something outside itself, which is never fetched.
    """
    text = canonical(schema, what="schema")
    if not text.startswith("{"):
        raise BadValue(
            f'A schema is an object such as {{"type": "string"}}, not {one_line(text, 60)}.'
        )
    _check_sound(text)


@functools.lru_cache(maxsize=256)  # takes milliseconds, and a gate brings its schema every time
def _check_sound(schema_text: str) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    plain = json.loads(schema_text)
    try:
        Draft202012Validator.check_schema(plain)
    except SchemaError as error:
        where = path_text(error.absolute_path)
        raise BadValue(
            f"This is not a JSON Schema (Draft 2020-12); {where or 'at the top'}: "
            f"{one_line(error.message, 160)}",
            path=where,
        ) from None
    _check_references(plain)
    if '"patternProperties":' in schema_text and '"unevaluatedProperties":' in schema_text:
        raise BadValue(
            'A schema with "patternProperties" has no "unevaluatedProperties" here: use '
            '"additionalProperties".'
        )
    for node in _nodes(plain):
        _check_bounded(node, top=node is plain)


def _nodes(node: Json) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for child in inner:
        yield from _nodes(child)


def _check_bounded(node: dict[str, Any], *, top: bool) -> None:
    """Refuse what could not be applied in a bounded time."""
    if isinstance(node.get("pattern"), str):
        check_pattern(node["pattern"])
    patterns = node.get("patternProperties")
    for pattern in patterns if isinstance(patterns, dict) else ():
        check_pattern(pattern)
    if isinstance(node.get("$schema"), str) and not top:
        raise BadValue('"$schema" stands at the top of a schema, and nowhere else.')


_JSON_TYPES = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def _shape(value: Json, depth: int) -> Schema:
    if value is None:
        return {}
    if not isinstance(value, dict) or depth == 0:
        return {"type": _JSON_TYPES[type(value)]}
    return {
        "type": "object",
        "properties": {name: _shape(child, depth - 1) for name, child in value.items()},
        "required": list(value),
        "additionalProperties": False,
    }


def _check_references(schema: Schema) -> None:
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    root = Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver()
    for reference in _references(schema):
        shown = one_line(reference, 80)
        if not reference.startswith("#"):
            raise BadValue(
                f"The schema refers to {shown}, and nothing is fetched from elsewhere. "
                'Copy that part under "$defs" and refer to it as "#/$defs/...".'
            )
        try:
            root.lookup(reference)
        except Unresolvable:
            raise BadValue(f"The schema refers to {shown}, which it does not hold.") from None


def _references(node: Json) -> Iterator[str]:
    if isinstance(node, list):
        for child in node:
            yield from _references(child)
    elif isinstance(node, dict):
        for key, child in node.items():
            if key in {"$ref", "$dynamicRef"} and isinstance(child, str):
                yield child
            yield from _references(child)


@functools.lru_cache(maxsize=256)
def validator_of(schema_text: str) -> Draft202012Validator:
    """Return the validator of a schema, given as canonical text; it never goes to the network."""
    from referencing import Registry

    schema = json.loads(schema_text)
    if isinstance(schema, dict):
        schema.pop("$schema", None)  # it would let jsonschema take a validator of its own
    # An empty registry: with the default one jsonschema would go to the network.
    return bounded_validator()(schema, registry=Registry(), format_checker=_formats())


_TIME = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?"
_IS_TIME = re.compile(_TIME, re.IGNORECASE)
_IS_MOMENT = re.compile(rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ]{_TIME}", re.IGNORECASE)
_IS_DURATION = re.compile(
    r"[+-]?P(?=[0-9T])([0-9]+Y)?([0-9]+M)?([0-9]+W)?([0-9]+D)?"
    r"(T(?=[0-9])([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?"
)


@functools.cache
def _formats() -> FormatChecker:
    from jsonschema import FormatChecker

    # Named one by one, because otherwise a package that happens to be installed
    # would change which edits are accepted.
    formats = FormatChecker(("date", "email", "idn-email", "ipv4", "ipv6", "regex", "uuid"))
    formats.checks("date-time", ValueError)(functools.partial(_is_iso, _IS_MOMENT, datetime))
    formats.checks("time", ValueError)(functools.partial(_is_iso, _IS_TIME, time))
    formats.checks("duration")(functools.partial(_is_iso, _IS_DURATION, None))
    return formats


def _is_iso(form: re.Pattern[str], type_: type[datetime | time] | None, value: object) -> bool:
    if not isinstance(value, str):
        return True  # a format says nothing about other types
    if not form.fullmatch(value):
        return False
    return type_ is None or bool(type_.fromisoformat(value.upper()))
