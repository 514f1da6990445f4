"""What a schema says about one value, once its references are followed and its parts put together.

Only for drawing. Whether a value fits is for the validator, which reads the schema itself, so
that a rule which is put together wrongly here can make a form clumsy, and nothing worse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from sayso.model.digest import canonical
from sayso.model.text import one_line

Shape = Mapping[str, Any]

_PLACE = re.compile(r"[0-9]{1,9}")
_MOST_STEPS = 20_000
_MOST_VARIANTS = 50
_DEEPEST = 40

_COUNTS = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
)
# What each keyword holds, if it is written as it should be.
_HOLDS: dict[str, tuple[type, ...]] = {
    "type": (str, list),
    "properties": (dict,),
    "required": (list,),
    "additionalProperties": (dict, bool),
    "items": (dict, bool),
    "enum": (list,),
    "anyOf": (list,),
    "oneOf": (list,),
    "allOf": (list,),
    "$ref": (str,),
    "$defs": (dict,),
    "discriminator": (dict,),
    "title": (str,),
    "description": (str,),
    "format": (str,),
    "pattern": (str,),
    "readOnly": (bool,),
    "writeOnly": (bool,),
    "uniqueItems": (bool,),
    **dict.fromkeys(_COUNTS, (int, float)),
}
_SAYS_NOTHING = frozenset(
    {"$schema", "$id", "$comment", "$anchor", "definitions", "examples", "example", "deprecated"}
    | {"contentEncoding", "contentMediaType", "contentSchema", "default", "const"}
)
# Rules about the whole, which a form cannot show; the check on sending applies them.
CHECKED_LATER = (
    *("not", "if", "then", "else", "dependentRequired", "dependentSchemas", "propertyNames"),
    *("contains", "minContains", "maxContains", "unevaluatedProperties", "unevaluatedItems"),
)
_NOT_DRAWN = {
    "prefixItems": "each place in this list has rules of its own",
    "patternProperties": "its fields are known by a pattern only",
    "$dynamicRef": "its schema refers to a part that is chosen as it is read",
}
_KNOWN = frozenset(_HOLDS) | _SAYS_NOTHING | set(CHECKED_LATER) | set(_NOT_DRAWN)


class Unfit(Exception):
    """No control fits this part of a schema; the message says why."""


class Shapes:
    """The parts of one schema. How much it may ask for is counted: agents write schemas."""

    def __init__(self, schema: object) -> None:
        self._root = schema
        self._steps = 0

    def of(self, schema: object) -> Shape:
        """Return what a part of the schema says, with its references and `allOf` put together.

        Raises:
            Unfit: no control can be drawn for it.
        """
        merged = self._merged(schema, ())
        for keyword, reason in _NOT_DRAWN.items():
            if keyword in merged:
                raise Unfit(reason)
        unknown = [key for key in merged if key not in _KNOWN and not key.startswith("x-")]
        if unknown:
            raise Unfit(f"its schema says {one_line(unknown[0], 40)!r}, which is not known here")
        return merged

    def variants(self, shape: Shape) -> list[Shape] | None:
        """Return the forms that a value may have, `None` if there is only one.

        Raises:
            Unfit: one of them cannot be drawn, or there are too many.
        """
        found = list(self._variants(shape, 0))
        return found if len(found) > 1 else None

    def _variants(self, shape: Shape, depth: int) -> list[Shape]:
        if depth > _DEEPEST:
            raise Unfit("its schema refers to itself without end")
        common = {key: shape[key] for key in shape if key not in _OF_UNIONS}
        given = shape.get("anyOf") or shape.get("oneOf")
        if given is not None and "enum" not in shape and "const" not in shape:
            inner = [self.of(_joined(common, self._merged(branch, ()))) for branch in given]
            found = [one for branch in inner for one in self._variants(branch, depth + 1)]
        elif isinstance(shape.get("type"), list):
            found = [{**shape, "type": name} for name in shape["type"]]
        else:
            found = [shape]
        self._count(len(found))
        if len(found) > _MOST_VARIANTS:
            raise Unfit(f"it may have more than {_MOST_VARIANTS} forms")
        return found

    def _merged(self, schema: object, seen: tuple[str, ...]) -> dict[str, Any]:
        if schema is True:
            return {}
        if not isinstance(schema, dict):
            raise Unfit("nothing is allowed here" if schema is False else "its schema is broken")
        if len(seen) > _DEEPEST:
            raise Unfit("its schema is nested too deeply")
        self._count(1 + len(schema) + _values_in(schema) // 8)
        for keyword, kinds in _HOLDS.items():
            if keyword in schema and not isinstance(schema[keyword], kinds):
                raise Unfit(f"its schema is broken at {keyword!r}")
        merged = {key: value for key, value in schema.items() if key not in {"$ref", "allOf"}}
        for branch in schema.get("allOf", ()):
            merged = _joined(self._merged(branch, (*seen, "")), merged)
        if "$ref" in schema:
            merged = _joined(self._followed(schema["$ref"], seen), merged)
        self._count(len(merged.get("properties", ())))
        return merged

    def _followed(self, reference: str, seen: tuple[str, ...]) -> dict[str, Any]:
        if reference in seen:
            raise Unfit("its schema refers to itself without end")
        return self._merged(self._target(reference), (*seen, reference))

    def _target(self, reference: str) -> object:
        node = self._root
        path = unquote(reference).removeprefix("#")
        if not reference.startswith("#") or (path and not path.startswith("/")):
            raise Unfit(f"its schema refers to {one_line(reference, 60)}")
        for step in path.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and _PLACE.fullmatch(name) and int(name) < len(node):
                node = node[int(name)]
            elif isinstance(node, dict) and name in node:
                node = node[name]
            else:
                raise Unfit(f"its schema refers to {one_line(reference, 60)}, which is not there")
        return node

    def _count(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise Unfit("its schema asks for too much work")


def _values_in(schema: Mapping[str, Any]) -> int:
    values = schema.get("enum")
    return len(values) if isinstance(values, list) else 0


_OF_UNIONS = frozenset({"anyOf", "oneOf", "discriminator", "title", "description", "default"})


def _joined(base: Mapping[str, Any], nearer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what two schemas say together. Of what they both describe the nearer words count."""
    both = {**base, **nearer}
    for key in base.keys() & nearer.keys():
        if key not in _NEARER and base[key] != nearer[key]:
            both[key] = _together(key, base[key], nearer[key])
    return both


_NEARER = frozenset({"title", "description", "default", "$defs", "definitions", "format"}) | (
    _SAYS_NOTHING - {"const"}
)


def _together(key: str, one: Any, other: Any) -> Any:  # noqa: ANN401 - JSON
    if key not in _JOINS:
        raise Unfit(f"its schema has two rules for {one_line(key, 40)!r}")
    try:
        return _JOINS[key](one, other)
    except TypeError:
        raise Unfit(f"its schema is broken at {key!r}") from None


def _types(one: str | list[str], other: str | list[str]) -> str | list[str]:
    first, second = ({t} if isinstance(t, str) else set(t) for t in (one, other))
    whole = {"integer"} if "integer" in first | second and "number" in first | second else set()
    shared = sorted((first & second) | whole)
    if not shared:
        raise Unfit("its schema asks for two types at once")
    return shared[0] if len(shared) == 1 else shared


def _properties(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    shared = {name: {"allOf": [one[name], other[name]]} for name in one if name in other}
    return {**one, **other, **shared}


def _shared(one: list[Any], other: list[Any]) -> list[Any]:
    known = set(map(canonical, other))
    return [value for value in one if canonical(value) in known]


def _either(one: Any, other: Any) -> Any:  # noqa: ANN401 - JSON
    return False if one is False or other is False else other if one is True else one


_JOINS: dict[str, Callable[[Any, Any], Any]] = {
    "type": _types,
    "properties": _properties,
    "required": lambda one, other: list(dict.fromkeys([*one, *other])),
    "enum": _shared,
    "additionalProperties": _either,
    "readOnly": lambda one, other: one or other,
    "writeOnly": lambda one, other: one or other,
    "uniqueItems": lambda one, other: one or other,
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}
