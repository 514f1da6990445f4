"""JSON Schemas, and the checks of edits and answers against them.

An edit or an answer is checked when a person sends it, so that they hear what
is wrong while they can still mend it, field by field. The schema comes from a
type, from a function's signature, from data given by the caller, or, where
there is nothing else, from the shape of the arguments themselves.

The same module converts between Python values and JSON, because both must
agree with the schema: `"40"` is never `40`, and what `encode` wrote, `decode`
reads. Pydantic and jsonschema are imported where they are used: a program that
only opens the front door should not pay for them.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import re
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, time
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sayso.errors import BadValue, InvalidAnswer
from sayso.model.digest import Json, canonical, frozen, path_text
from sayso.model.text import one_line

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, FormatChecker
    from pydantic import TypeAdapter, ValidationError
    from pydantic.json_schema import GenerateJsonSchema

Schema: TypeAlias = dict[str, Any]
_Finding: TypeAlias = tuple[tuple[str | int, ...], str]

_UNTYPED = (Any, object, inspect.Parameter.empty)
_MOST_VIOLATIONS = 50
_INFERRED_DEPTH = 24  # deeper than anybody edits by hand; keeps the schema itself storable


# --- Making schemas ---------------------------------------------------------------------------


def schema_of(type_: object) -> Schema:
    """Return the JSON Schema of a Python or Pydantic type.

    Raises:
        BadValue: values of this type have no form in JSON.
    """
    if type_ in _UNTYPED:
        return {}
    from pydantic.errors import PydanticUserError

    try:
        return _adapter(type_).json_schema(schema_generator=_quiet_generator())
    except PydanticUserError as error:
        raise _no_schema(type_, error) from None


def signature_schema(fn: Callable[..., object], *, skip: Collection[str] = ()) -> Schema:
    """Return the schema of the arguments a function takes, as one object.

    Parameters with a default are optional, `**kwargs` lets further fields in,
    an unannotated parameter may be anything, and those in `skip` are left out.

    Raises:
        BadValue: a parameter can only be given by position, or its type has no
            form in JSON; `error.path` is the parameter.
    """
    named, takes_more = _parameters(fn)
    named = {name: parameter for name, parameter in named.items() if name not in skip}
    types = {name: type_ for name, type_ in parameter_types(fn).items() if name not in skip}
    properties, definitions = _schemas_by_name(types)
    for name, parameter in named.items():
        properties[name] |= _default_of(types[name], parameter.default)
    return {
        "type": "object",
        "properties": properties,
        "required": [n for n, p in named.items() if p.default is inspect.Parameter.empty],
        "additionalProperties": takes_more,
        **definitions,
    }


def parameter_types(fn: Callable[..., object]) -> dict[str, Any]:
    """Return the type of each named parameter; `Any` where nothing is said.

    `note: str = None` counts as `str | None`, which is what it means.

    Raises:
        BadValue: a parameter can only be given by position, or an annotation
            cannot be resolved.
    """
    named, _ = _parameters(fn)
    hints = _hints(fn)
    return {name: _meant(hints.get(name, Any), given.default) for name, given in named.items()}


def return_type(fn: Callable[..., object]) -> Any:  # noqa: ANN401 - annotations are anything
    """Return the annotated type of a function's result; `Any` where nothing is said."""
    return _hints(fn).get("return", Any)


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
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    plain = frozen(schema, what="schema")
    if not isinstance(plain, dict):
        raise BadValue(f'A schema is an object such as {{"type": "string"}}, not {_spoken(plain)}.')
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


# --- Checking and converting values -----------------------------------------------------------


def violations(schema: Schema, value: object) -> dict[str, str]:
    """Say where a value breaks a schema: each path, and what is wrong there.

    Types are taken strictly. Of a great many faults the first fifty are named.

    Raises:
        BadValue: the value is not JSON, or the schema cannot be applied.
    """
    from referencing.exceptions import Unresolvable

    plain = frozen(value)
    validator = _validator(canonical(schema, what="schema"))
    try:
        faults: list[Any] = list(itertools.islice(validator.iter_errors(plain), _MOST_VIOLATIONS))
        return _gathered(finding for fault in faults for finding in _findings(fault))
    except RecursionError:
        raise BadValue(
            "The value is nested too deeply to be checked, or the schema refers to itself without end."
        ) from None
    except Unresolvable as error:
        message = one_line(str(error), 160)
        raise BadValue(f"The schema refers to what it does not hold: {message}") from None
    except OverflowError:
        return {"": "holds a number too large to be checked"}


def decode(type_: object, value: object) -> Any:  # noqa: ANN401 - whatever the type says
    """Turn JSON into a value of the type: ISO text into dates, objects into models.

    Raises:
        InvalidAnswer: it does not fit; `error.fields` says where.
        BadValue: the value is not JSON, or the type has no form in it.
    """
    plain = frozen(value)
    if type_ in _UNTYPED:
        return plain
    from pydantic import ValidationError

    adapter = _adapter(type_)
    try:
        return adapter.validate_json(canonical(plain), strict=True)
    except ValidationError as error:
        fault = error
    # JSON Schema counts 1.0 as an integer, so that `violations` let it pass.
    try:
        return adapter.validate_json(canonical(_whole(plain)), strict=True)
    except ValidationError:
        fields = _gathered(_pydantic_findings(fault, plain), joint=" or ")
        raise InvalidAnswer("The value does not fit.", fields=fields) from None


def encode(type_: object, value: object) -> Json:
    """Turn a Python value of the type into JSON that `decode` reads back.

    A value without a type must be plain data already.

    Raises:
        BadValue: it does not fit its type, or JSON cannot hold it.
    """
    if type_ in _UNTYPED:
        return frozen(value)
    # `round_trip` leaves out computed fields, which `decode` could not take back.
    dump = functools.partial(
        _adapter(type_).dump_python, value, by_alias=True, round_trip=True, warnings="error"
    )
    try:
        dumped = _in_order(dump(mode="python"), dump(mode="json"))
    except (TypeError, ValueError) as error:
        raise BadValue(
            f"The value does not fit its type {_type_name(type_)}: {_dump_trouble(error)}. "
            "Pass a value of that type, or correct the annotation."
        ) from None
    return frozen(dumped)


# --- Types and signatures ---------------------------------------------------------------------


def _adapter(type_: object) -> TypeAdapter[Any]:
    from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError

    try:
        # `int | str` and `str | int` are equal as keys, yet have different schemas.
        adapter = (
            _cached_adapter(type_, repr(type_)) if _is_hashable(type_) else _new_adapter(type_)
        )
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        raise _no_schema(type_, error) from None
    if not adapter.pydantic_complete:
        raise _no_schema(type_, "it names a type that is not defined")
    return adapter


@functools.lru_cache(maxsize=512)
def _cached_adapter(type_: object, _spelling: str) -> TypeAdapter[Any]:
    return _new_adapter(type_)


def _new_adapter(type_: object) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(typing.cast("Any", type_))


def _is_hashable(type_: object) -> bool:
    try:
        hash(type_)
    except TypeError:  # such as Annotated with a list in it
        return False
    return True


@functools.cache
def _quiet_generator() -> type[GenerateJsonSchema]:
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

    class Quiet(GenerateJsonSchema):
        # A default that JSON cannot hold is left out; nobody needs a warning for that.
        ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012 - as its parent has it
            "skipped-choice",
            "non-serializable-default",
        }

    return Quiet


def _no_schema(type_: object, reason: object) -> BadValue:
    first = one_line(str(reason).partition("\n")[0].partition(". ")[0].rstrip("."), 160)
    return BadValue(
        f"{_type_name(type_)} has no form in JSON: {first}. Use plain types, a Pydantic model, "
        "a dataclass or a TypedDict, defined at the top of a module."
    )


def _type_name(type_: object) -> str:
    return one_line(type_.__qualname__ if inspect.isclass(type_) else repr(type_), 80)


def _parameters(fn: Callable[..., object]) -> tuple[dict[str, inspect.Parameter], bool]:
    """Return the parameters that have a name to be given by, and whether any others may be."""
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        raise BadValue(
            f"{_function_name(fn)} does not say which arguments it takes. "
            "Wrap it in a function with named parameters."
        ) from None
    named, takes_more = {}, False
    for name, parameter in signature.parameters.items():
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY}:
            raise BadValue(
                f"{_function_name(fn)} takes {parameter} by position only, and a reviewer sees "
                "and edits arguments by name. Give it a name: a list instead of *args, no "
                "`/` in the signature.",
                path=name,
            )
        if parameter.kind is parameter.VAR_KEYWORD:
            takes_more = True
        else:
            named[name] = parameter
    return named, takes_more


def _hints(fn: Callable[..., object]) -> dict[str, Any]:
    target: Any = inspect.unwrap(fn)
    while isinstance(target, functools.partial):
        target = inspect.unwrap(target.func)
    if inspect.isclass(target):
        target = target.__init__
    elif not inspect.isroutine(target):
        target = type(target).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except NameError as error:
        raise BadValue(
            f"{_function_name(fn)} is annotated with {error.name!r}, which its module does not "
            "know when it runs. Define or import it at the top of the module, and not under "
            "TYPE_CHECKING."
        ) from None


def _meant(hint: Any, default: object) -> Any:  # noqa: ANN401 - annotations are anything
    return hint | None if default is None and hint not in _UNTYPED else hint


def _function_name(fn: object) -> str:
    return one_line(getattr(fn, "__qualname__", None) or repr(fn), 80)


def _schemas_by_name(types: dict[str, Any]) -> tuple[dict[str, Schema], Schema]:
    """Return the schema of each type, and the definitions they share."""
    from pydantic import TypeAdapter

    typed = {name: type_ for name, type_ in types.items() if type_ not in _UNTYPED}
    for name, type_ in typed.items():
        try:
            schema_of(type_)
        except BadValue as error:
            raise BadValue(f"The parameter {name!r} cannot be shown: {error}", path=name) from None
    # Together, because two models of the same name must not share a definition.
    schemas, shared = TypeAdapter.json_schemas(
        [(name, "validation", _adapter(type_)) for name, type_ in typed.items()],
        schema_generator=_quiet_generator(),
    )
    return {name: dict(schemas.get((name, "validation"), {})) for name in types}, shared


def _default_of(type_: object, default: object) -> Schema:
    if default is inspect.Parameter.empty:
        return {}
    for type_or_none in (type_, Any):  # `tags: list[str] = ()` does not fit, but is plain data
        try:
            return {"default": encode(type_or_none, default)}
        except BadValue:
            continue
    return {}


# --- Schemas given as data, or not at all -----------------------------------------------------


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
def _validator(schema_text: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # An empty registry: with the default one jsonschema would go to the network.
    return Draft202012Validator(
        json.loads(schema_text), registry=Registry(), format_checker=_formats()
    )


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


# --- What is wrong, in words ------------------------------------------------------------------


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


def _gathered(findings: Iterable[_Finding], joint: str = " and ") -> dict[str, str]:
    fields: dict[str, list[str]] = {}
    for path, sentence in findings:
        said = fields.setdefault(path_text(path), [])
        if sentence not in said:
            said.append(sentence)
    return {path: joint.join(said) for path, said in fields.items()}


def _findings(fault: _Fault) -> Iterator[_Finding]:
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


def _unknown_fields(fault: _Fault, path: tuple[str | int, ...]) -> Iterator[_Finding]:
    known = fault.schema.get("properties", {})
    patterns = fault.schema.get("patternProperties", {})
    names = one_line(", ".join(known) or "none", 80)
    for name in fault.instance:
        if name not in known and not any(re.search(pattern, name) for pattern in patterns):
            yield (*path, name), f"is not a field here; the fields are: {names}"


def _closest(fault: _Fault, path: tuple[str | int, ...]) -> Iterator[_Finding]:
    """Of several forms allowed, report on those the value was probably meant to have."""
    forms: dict[str | int, list[_Fault]] = {}
    for inner in fault.context:
        forms.setdefault(inner.relative_schema_path[0], []).append(inner)
    meant = [faults for faults in forms.values() if not any(map(_is_other_type, faults))]
    if not meant:
        types = [t for inner in fault.context if _is_other_type(inner) for t in _types(inner)]
        yield path, _wrong_type(types, fault.instance)
        return
    fewest = min(map(len, meant))
    nearest = [list(map(_findings, faults)) for faults in meant if len(faults) == fewest]
    found = [[finding for findings in form for finding in findings] for form in nearest]
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


# --- Between Python and JSON ------------------------------------------------------------------


def _pydantic_findings(error: ValidationError, value: Json) -> Iterator[_Finding]:
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        path, node = [], value
        # Pydantic also names the branch of a union it tried; only what leads
        # somewhere in the value is a place that a person can find.
        for part in item["loc"]:
            if _leads_on(node, part):
                path.append(part)
                node = node[part]  # type: ignore[index]
        if item["type"] == "missing":
            path.append(item["loc"][-1])
        yield tuple(path), one_line(item["msg"].removeprefix("Input "), 160)


def _leads_on(node: Json, part: str | int) -> bool:
    if isinstance(node, dict):
        return part in node
    return isinstance(node, list) and isinstance(part, int) and part < len(node)


def _whole(value: Json) -> Json:
    """Return the value with every float that is a whole number as an integer."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_whole(child) for child in value]
        case dict():
            return {name: _whole(child) for name, child in value.items()}
        case _:
            return value


def _in_order(shape: object, dumped: Json) -> Json:
    """Sort what was a set, whose own order differs from one process to the next."""
    if isinstance(shape, set | frozenset) and isinstance(dumped, list):
        if any(isinstance(member, frozenset) for member in shape):
            raise ValueError("a set inside a set has no lasting order; use lists")
        return sorted(dumped, key=canonical)
    if isinstance(shape, dict) and isinstance(dumped, dict):
        pairs = zip(shape.values(), dumped.items(), strict=True)
        return {name: _in_order(inner, child) for inner, (name, child) in pairs}
    if isinstance(shape, list | tuple) and isinstance(dumped, list):
        return [_in_order(inner, child) for inner, child in zip(shape, dumped, strict=True)]
    return dumped


def _dump_trouble(error: Exception) -> str:
    expected = re.search(r"Expected `([^`]+)`.*?input_type=(\w+)", str(error), re.DOTALL)
    if expected:
        return f"expected {expected[1]}, got {expected[2]}"
    if "unhashable" in str(error):
        return "a set of models has no lasting order; use a list"
    return one_line(str(error).partition("\n")[0].rstrip("."), 160)
