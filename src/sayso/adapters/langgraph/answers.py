"""Answers that graphs expect where their interrupts do not say it, as code declares them.

For all of them, by node, or by a function of the payload. Code decides that, and never a payload.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, cast

from pydantic import PydanticUserError, TypeAdapter

from sayso.adapters.base import check_schema, one_line
from sayso.adapters.langgraph.raised import Raised
from sayso.errors import BadValue

Takes = object  # a type, a JSON Schema, a function of the payload, or a mapping of nodes to those
_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType, functools.partial)
# A mapping of nodes looks like a JSON Schema: it is one if each of its names is a word of those.
_KEYWORDS = {"type", "enum", "const", "title", "description", "default", "examples", "format"}
_KEYWORDS |= {"properties", "required", "items", "anyOf", "oneOf", "allOf", "not", "if", "then"}
_KEYWORDS |= {"else", "additionalProperties", "patternProperties", "propertyNames", "contains"}
_KEYWORDS |= {"minProperties", "maxProperties", "prefixItems", "minItems", "maxItems", "pattern"}
_KEYWORDS |= {"uniqueItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
_KEYWORDS |= {"multipleOf", "minLength", "maxLength", "definitions", "dependentRequired"}
_KEYWORDS |= {"dependentSchemas", "readOnly", "writeOnly", "deprecated", "discriminator"}


class Answers:
    """The declared answers of a graph."""

    def __init__(self, given: Takes) -> None:
        """Take what was declared.

        Raises:
            BadValue: there is no JSON Schema of a type.
        """
        by_node = isinstance(given, Mapping) and not _is_schema(given)
        self._nodes: dict[str, Takes] = {}
        if by_node:
            for name, one in cast("Mapping[str, Takes]", given).items():
                self._nodes[name] = _declared(one, f"answer[{name!r}]")
        self._other: Takes = None if by_node else _declared(given, "answer")

    def to(self, raised: Raised) -> dict[str, Any] | None:
        """Return the schema of the answer to an interrupt; `None`, if nothing is declared.

        Raises:
            BadValue: a function failed, or returned what has no JSON Schema.
        """
        found = self._nodes.get(raised.node, self._other)
        if not isinstance(found, _FUNCTIONS):
            return cast("dict[str, Any] | None", found)
        try:
            said = found(copy.deepcopy(raised.value))
        except Exception as error:
            name, why = type(error).__name__, one_line(str(error), 200)
            raise BadValue(f"answer= failed on what {raised.node} asks: {name}: {why}") from error
        return _schema(said, f"answer(...) of {raised.node}")


def _is_schema(given: Mapping[Any, Any]) -> bool:
    return all(isinstance(one, str) and (one in _KEYWORDS or one[:1] == "$") for one in given)


def _declared(given: Takes, where: str) -> Takes:
    return given if isinstance(given, _FUNCTIONS) else _schema(given, where)


def _schema(given: Takes, where: str) -> dict[str, Any] | None:
    """Return the JSON Schema of a type; what people answer reaches the graph as plain JSON."""
    if given is None:
        return None
    if isinstance(given, dict):
        check_schema(given)
        return given
    try:
        made: TypeAdapter[Any] = TypeAdapter(cast("Any", given))
        return made.json_schema()
    except PydanticUserError as error:
        raise BadValue(f"{where}={given!r} has no JSON Schema: {error}") from error
