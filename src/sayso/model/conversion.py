"""Between Python values and JSON, in agreement with the schema.

`"40"` is never `40`, and what `encode` wrote, `decode` reads.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sayso.errors import BadValue, InvalidAnswer
from sayso.model.digest import Json, canonical, frozen
from sayso.model.text import one_line

if TYPE_CHECKING:
    from pydantic import ValidationError

from sayso.model.adapting import UNTYPED, adapter_of, type_name
from sayso.model.faults import Finding, gathered

# Values of these types are their own form in JSON, and Pydantic would say nothing else.
_AS_IT_IS = (str, int, bool, float)


def decode(type_: object, value: object) -> Any:  # noqa: ANN401 - whatever the type says
    """Turn JSON into a value of the type: ISO text into dates, objects into models.

    Raises:
        InvalidAnswer: it does not fit; `error.fields` says where.
        BadValue: the value is not JSON, or the type has no form in it.
    """
    plain = frozen(value)
    if type_ in UNTYPED or (type(plain) is type_ and type_ in _AS_IT_IS):
        return plain
    from pydantic import ValidationError

    adapter = adapter_of(type_)
    try:
        return adapter.validate_json(canonical(plain), strict=True)
    except ValidationError as error:
        fault = error
    # JSON Schema counts 1.0 as an integer, so that `violations` let it pass.
    try:
        return adapter.validate_json(canonical(_whole(plain)), strict=True)
    except ValidationError:
        fields = gathered(_pydantic_findings(fault, plain), joint=" or ")
        raise InvalidAnswer("The value does not fit.", fields=fields) from None


def encode(type_: object, value: object) -> Json:
    """Turn a Python value of the type into JSON that `decode` reads back.

    A value without a type must be plain data already.

    Raises:
        BadValue: it does not fit its type, or JSON cannot hold it.
    """
    if type_ in UNTYPED or (type(value) is type_ and type_ in _AS_IT_IS):
        return frozen(value)
    if value is None and not _takes_none(type_):  # which Pydantic writes for any type
        raise BadValue(
            f"The value does not fit its type {type_name(type_)}: it is None. Pass a value of that "
            "type, or correct the annotation."
        )
    # `round_trip` leaves out computed fields, which `decode` could not take back.
    dump = functools.partial(
        adapter_of(type_).dump_python, value, by_alias=True, round_trip=True, warnings="error"
    )
    try:
        dumped = _in_order(dump(mode="python"), dump(mode="json"))
    except (TypeError, ValueError) as error:
        raise BadValue(
            f"The value does not fit its type {type_name(type_)}: {_dump_trouble(error)}. "
            "Pass a value of that type, or correct the annotation."
        ) from None
    return frozen(dumped)


def _takes_none(type_: object) -> bool:
    from pydantic import ValidationError

    try:
        adapter_of(type_).validate_python(None)
    except ValidationError:
        return False
    return True


def _pydantic_findings(error: ValidationError, value: Json) -> Iterator[Finding]:
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
