"""What a function takes and returns, read from its signature."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Collection
from typing import Any

from sayso.errors import BadValue
from sayso.model.adapting import UNTYPED, adapter_of
from sayso.model.conversion import encode
from sayso.model.schema import Schema, quiet_generator, schema_of
from sayso.model.text import one_line


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


def hinted_types(fn: Callable[..., object]) -> dict[str, Any]:
    """Return the annotated types of whatever parameters have one, by name."""
    return {name: type_ for name, type_ in _hints(fn).items() if name != "return"}


def return_type(fn: Callable[..., object]) -> Any:  # noqa: ANN401 - annotations are anything
    """Return the annotated type of a function's result; `Any` where nothing is said."""
    return _hints(fn).get("return", Any)


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
    return hint | None if default is None and hint not in UNTYPED else hint


def _function_name(fn: object) -> str:
    return one_line(getattr(fn, "__qualname__", None) or repr(fn), 80)


def _schemas_by_name(types: dict[str, Any]) -> tuple[dict[str, Schema], Schema]:
    """Return the schema of each type, and the definitions they share."""
    from pydantic import TypeAdapter

    typed = {name: type_ for name, type_ in types.items() if type_ not in UNTYPED}
    for name, type_ in typed.items():
        try:
            schema_of(type_)
        except BadValue as error:
            raise BadValue(f"The parameter {name!r} cannot be shown: {error}", path=name) from None
    # Together, because two models of the same name must not share a definition.
    schemas, shared = TypeAdapter.json_schemas(
        [(name, "validation", adapter_of(type_)) for name, type_ in typed.items()],
        schema_generator=quiet_generator(),
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
