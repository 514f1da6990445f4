"""Pydantic's adapters: one per type, made once, with errors that say what to do."""

from __future__ import annotations

import functools
import inspect
import typing
from typing import TYPE_CHECKING, Any

from sayso.errors import BadValue
from sayso.model.text import one_line

if TYPE_CHECKING:
    from pydantic import TypeAdapter


UNTYPED = (Any, object, inspect.Parameter.empty)


def adapter_of(type_: object) -> TypeAdapter[Any]:
    """Return the adapter of a type.

    Raises:
        BadValue: values of this type have no form in JSON.
    """
    from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError

    if inspect.isroutine(type_):  # Pydantic would take it for a call to validate
        raise no_schema(type_, "it is a function, not a type")
    try:
        # `int | str` and `str | int` are equal as keys, yet have different schemas.
        adapter = (
            _cached_adapter(type_, repr(type_)) if _is_hashable(type_) else _new_adapter(type_)
        )
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        raise no_schema(type_, error) from None
    if not adapter.pydantic_complete:
        raise no_schema(type_, "it names a type that is not defined")
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


def no_schema(type_: object, reason: object) -> BadValue:
    """Return the error for a type that people could not be shown."""
    first = one_line(str(reason).partition("\n")[0].partition(". ")[0].rstrip("."), 160)
    return BadValue(
        f"{type_name(type_)} has no form in JSON: {first}. Use plain types, a Pydantic model, "
        "a dataclass or a TypedDict, defined at the top of a module."
    )


def type_name(type_: object) -> str:
    """Return what to call a type in a message."""
    return one_line(type_.__qualname__ if inspect.isclass(type_) else repr(type_), 80)
