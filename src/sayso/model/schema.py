"""JSON Schemas: from a type, from data given by the caller, or from the arguments themselves.

Pydantic, jsonschema and what bounds them are imported where they are used: a program that only
opens the front door should not pay for them.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Hashable, Iterator
from datetime import datetime, time
from typing import TYPE_CHECKING, Any, TypeAlias

from sayso.errors import BadValue
from sayso.model.digest import Json, canonical, path_text, read, written
from sayso.model.kept import Kept
from sayso.model.text import one_line

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, FormatChecker
    from pydantic.json_schema import GenerateJsonSchema
    from referencing._core import Resolver

from sayso.model.adapting import UNTYPED, adapter_of, no_schema

Schema: TypeAlias = dict[str, Any]
LONGEST = 500_000  # characters of a schema from elsewhere
MOST_PARTS = 5_000  # objects and lists in it
MOST_SPREAD = 20_000  # of them, with every reference written out
DEEPEST = 64  # levels of objects and lists
_REFERS = frozenset(("$ref", "$dynamicRef"))
_APART = frozenset(("$defs", "definitions", "const", "enum", "default", "examples"))
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
    return read(inferred(canonical(args, what="arguments")))  # type: ignore[no-any-return]


def _inferred(args_text: str) -> str:
    return written(_shape(read(args_text), _INFERRED_DEPTH))


inferred = Kept(_inferred, most=64, room=2_000_000)  # a page asks for it several times


def check_schema(schema: object) -> None:
    """Make sure that a schema given as data can be used, and used in a bounded time.

    Raises:
        BadValue: it is not a JSON Schema (Draft 2020-12), it is too large, or it refers to
            something outside itself, which is never fetched.
    """
    if isinstance(schema, dict):
        _check_extent(schema)
    text = canonical(schema, what="schema")
    if len(text) > LONGEST:
        raise BadValue(
            f"The schema has {len(text):,} characters; at most {LONGEST:,} are allowed. "
            "Leave out what people need not see to check a value."
        )
    check_sound(text)
    if _spread(text) > MOST_SPREAD:
        raise BadValue(
            "The schema takes too long to check: with all it refers to written out it has more "
            f"than {MOST_SPREAD:,} parts. Refer to each part fewer times."
        )


def check_sound(text: str) -> None:
    """Make sure that a schema, given as canonical text, can be used, however large it is.

    Raises:
        BadValue: as `check_schema`.
    """
    if not text.startswith("{"):
        raise BadValue(
            f'A schema is an object such as {{"type": "string"}}, not {one_line(text, 60)}.'
        )
    _sound(text)


def _check_extent(schema: dict[str, Any]) -> None:
    """Refuse a schema of too many parts or levels, before anything else looks at it."""
    parts, level = 1, [schema]
    for _ in range(DEEPEST):
        level = [part for node in level for part in _parts(node)]
        parts += len(level)
        if not level:
            return
        if parts > MOST_PARTS:
            raise BadValue(
                f"The schema has more than {MOST_PARTS:,} parts (objects and lists). Describe "
                'fewer fields, or several that are alike once, under "$defs".'
            )
    raise BadValue(
        f'The schema nests more than {DEEPEST} levels deep. Put inner parts under "$defs" and '
        'refer to them as "#/$defs/...".'
    )


def _parts(node: Any) -> list[Any]:  # noqa: ANN401 - JSON
    children = node.values() if isinstance(node, dict) else node
    return [child for child in children if isinstance(child, dict | list | tuple)]


def _is_sound(schema_text: str) -> None:
    from jsonschema.exceptions import best_match

    from sayso.model.bounded import MOST_FAULTS

    plain = json.loads(schema_text)
    errors = itertools.islice(_validator_of_schemas().iter_errors(plain), MOST_FAULTS)
    error = best_match(errors)
    if error is not None:
        where = path_text(error.absolute_path)
        raise BadValue(
            f"This is not a JSON Schema (Draft 2020-12); {where or 'at the top'}: "
            f"{one_line(error.message, 160)}",
            path=where,
        )
    if '"patternProperties":' in schema_text and '"unevaluatedProperties":' in schema_text:
        raise BadValue(
            'A schema with "patternProperties" has no "unevaluatedProperties" here: use '
            '"additionalProperties".'
        )
    _check_references(plain)
    _check_patterns(plain)


@functools.cache
def _validator_of_schemas() -> Draft202012Validator:
    """Return the validator of the draft itself, its vocabularies put together as one.

    As they come, each part of a schema is gone through once for each of the seven.
    """
    from jsonschema import Draft202012Validator
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
    from referencing import Registry

    from sayso.model.bounded import bounded_validator

    whole: Any = Draft202012Validator.META_SCHEMA
    base = whole["$id"].removesuffix("schema")
    parts: list[Any] = [REGISTRY[base + part["$ref"]].contents for part in whole["allOf"]]
    one: dict[str, Any] = {"$defs": {}, "properties": {}, "type": whole["type"]}
    for part in (*parts, whole):
        one["$defs"] |= part.get("$defs", {})
        one["properties"] |= part["properties"]
    text = canonical(one).replace('"$dynamicRef":"#meta"', '"$ref":"#"')
    text = re.sub(r'"meta/[a-z-]+#', '"#', text)
    return bounded_validator()(json.loads(text), registry=Registry(), format_checker=_formats())


def _check_patterns(plain: Schema) -> None:
    """Refuse patterns that could not be applied in a bounded time and room."""
    from sayso.model.pattern import check_patterns

    patterns: set[str] = set()
    for node in _nodes(plain):
        if isinstance(node.get("$schema"), str) and node is not plain:
            raise BadValue('"$schema" stands at the top of a schema, and nowhere else.')
        named = node.get("patternProperties")
        patterns |= {*named} if isinstance(named, dict) else set()
        patterns |= {node["pattern"]} if isinstance(node.get("pattern"), str) else set()
    check_patterns(patterns)


def _nodes(node: Json) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for child in inner:
        yield from _nodes(child)


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


def _spread_of(schema_text: str) -> int:
    """Return how many parts a schema has once each reference is replaced by what it refers to.

    Two parts that each refer to the next one twice double it with every step. A part that is
    referred to from within itself counts once: how often it is applied is for the value to say.
    """
    schema = json.loads(schema_text)
    root = _resolver(schema)
    known: dict[int, int] = {}
    inside: set[int] = set()

    def spread(node: Json) -> int:
        if not isinstance(node, dict | list) or id(node) in inside:
            return 0
        if id(node) not in known:
            inside.add(id(node))
            known[id(node)] = min(1 + sum(map(spread, _applied(node))), 2 * MOST_SPREAD)
            inside.discard(id(node))
        return known[id(node)]

    def _applied(node: dict[str, Any] | list[Any]) -> Iterator[Json]:
        if isinstance(node, list):
            yield from node
            return
        for name, part in node.items():
            if name in _REFERS and isinstance(part, str):
                yield root.lookup(part).contents
            elif name not in _APART:
                yield part

    try:
        return spread(schema)
    except RecursionError:
        return 2 * MOST_SPREAD


def _check_references(schema: Schema) -> None:
    from referencing.exceptions import Unresolvable

    root = _resolver(schema)
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


def _resolver(schema: Schema) -> Resolver[Any]:
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    resource = DRAFT202012.create_resource(schema)
    resolver: Resolver[Any] = Registry().with_resource("", resource).resolver()
    return resolver


def _references(node: Json) -> Iterator[str]:
    if isinstance(node, list):
        for child in node:
            yield from _references(child)
    elif isinstance(node, dict):
        for key, child in node.items():
            if key in _REFERS and isinstance(child, str):
                yield child
            yield from _references(child)


def _validator(schema_text: str) -> Draft202012Validator:
    """Return the validator of a schema, given as canonical text; it never goes to the network."""
    from referencing import Registry

    from sayso.model.bounded import bounded_validator

    schema = json.loads(schema_text)
    if isinstance(schema, dict):
        schema.pop("$schema", None)  # it would let jsonschema take a validator of its own
    # An empty registry: with the default one jsonschema would go to the network.
    return bounded_validator()(schema, registry=Registry(), format_checker=_formats())


# Each takes about twenty times the room of its text. A gate brings its schema every time.
validator_of = Kept(_validator, most=256, room=2_000_000)
_sound = Kept(_is_sound, most=256, room=2_000_000)
_spread = Kept(_spread_of, most=256, room=2_000_000)


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
    formats = FormatChecker(("date", "email", "idn-email", "ipv4", "ipv6", "uuid"))
    formats.checks("date-time", ValueError)(functools.partial(_is_iso, _IS_MOMENT, datetime))
    formats.checks("time", ValueError)(functools.partial(_is_iso, _IS_TIME, time))
    formats.checks("regex", (re.error, OverflowError, RecursionError))(_is_regex)
    formats.checks("duration")(functools.partial(_is_iso, _IS_DURATION, None))
    return formats


def _is_regex(value: object) -> bool:
    from sayso.model.pattern import LONGEST as LONGEST_PATTERN

    if not isinstance(value, str):
        return True
    return len(value) <= LONGEST_PATTERN and bool(re.compile(value))


def _is_iso(form: re.Pattern[str], type_: type[datetime | time] | None, value: object) -> bool:
    if not isinstance(value, str):
        return True  # a format says nothing about other types
    if not form.fullmatch(value):
        return False
    return type_ is None or bool(type_.fromisoformat(value.upper()))
