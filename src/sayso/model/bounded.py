"""A validator that gives up: a schema can ask for more work than anybody has time for.

Parts that refer to each other twice double the work with each step, and a list compared with a
list multiplies it. Agents write schemas, and everybody else in the process waits while one is
applied. So every step is counted, and patterns never go back.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from sayso.errors import BadValue
from sayso.model.pattern import effort, fits

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

    Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]

MOST = 100_000  # steps; a fifth of a second
MOST_FAULTS = 50  # of a value, and of each form that it may have
# Of these each makes a validator anew, which takes as long as several plain steps.
_DEAR = frozenset(("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "contains"))
_DEAR_STEPS = 5
_FAULT_STEPS = 5  # what it takes to write down one fault that is perhaps not told
_taken: ContextVar[list[int]] = ContextVar("steps taken by the check that runs")


class TooMuchWork(Exception):
    """A check has taken all the steps it may take."""


@contextmanager
def bounded() -> Iterator[None]:
    """Count the steps of the checks in a block.

    Raises:
        BadValue: there are too many.
    """
    before = _taken.set([0])
    try:
        yield
    except TooMuchWork:
        raise BadValue(
            "To check this value against its schema takes too long, so it was not checked. Send less, "
            "or use a plainer schema."
        ) from None
    finally:
        _taken.reset(before)


@functools.cache
def bounded_validator() -> type[Draft202012Validator]:
    """Return the validator of schemas whose every step is counted."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    ours: dict[str, Keyword] = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
        "required": _required,
        "anyOf": _any_of,
        "oneOf": _one_of,
        "items": _unless_too_long(Draft202012Validator.VALIDATORS["items"]),
    }
    every = {**Draft202012Validator.VALIDATORS, **ours}
    counted = {
        name: _counted(keyword, _DEAR_STEPS if name in _DEAR else 1)
        for name, keyword in every.items()
    }
    return extend(Draft202012Validator, counted)  # type: ignore[no-any-return, no-untyped-call]


def _unless_too_long(keyword: Keyword) -> Keyword:
    """Leave out the items of a list that is refused for its length anyway."""

    def check(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[Any] | None:  # noqa: ANN401 - JSON
        most = schema.get("maxItems")
        if isinstance(value, list) and most is not None and len(value) > most:
            return None
        return keyword(validator, rule, value, schema)

    return check


def _counted(keyword: Keyword, steps: int) -> Keyword:
    def check(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[Any] | None:  # noqa: ANN401 - JSON
        _take(steps + _size(rule) + _size(value))
        return keyword(validator, rule, value, schema)

    return check


def _take(steps: int) -> None:
    taken = _taken.get(None)
    if taken is None:
        return
    taken[0] += steps
    if taken[0] > MOST:
        raise TooMuchWork


def _found(pattern: str, text: str) -> bool:
    _take(effort(pattern, text))
    return fits(pattern, text)


def _size(value: object) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def _pattern(_validator: Any, rule: str, value: object, _schema: Any) -> Iterator[Any]:  # noqa: ANN401
    from jsonschema import ValidationError

    if isinstance(value, str) and not _found(rule, value):
        yield ValidationError(f"{value!r} does not match {rule!r}")


def _pattern_properties(
    validator: Any,  # noqa: ANN401
    rule: dict[str, Any],
    value: object,
    _schema: Any,  # noqa: ANN401
) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    for pattern, inner in rule.items():
        for name, held in value.items():
            if _found(pattern, name):
                yield from validator.descend(held, inner, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any,  # noqa: ANN401
    rule: Any,  # noqa: ANN401
    value: object,
    schema: dict[str, Any],
) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not isinstance(value, dict):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    others = [
        name
        for name in value
        if name not in known and not any(_found(pattern, name) for pattern in patterns)
    ]
    if isinstance(rule, dict):
        for name in others:
            yield from validator.descend(value[name], rule, path=name)
    elif not rule and others:
        yield ValidationError(f"Fields that are not allowed here: {', '.join(others)}")


def _required(_validator: Any, rule: list[str], value: object, _schema: Any) -> Iterator[Any]:  # noqa: ANN401
    """Tell of all that is missing as one fault, however much that is."""
    from jsonschema import ValidationError

    if isinstance(value, dict) and not value.keys() >= set(rule):
        yield ValidationError("Fields are missing")


def _any_of(validator: Any, rule: list[Any], value: object, _schema: Any) -> Iterator[Any]:  # noqa: ANN401
    from jsonschema import ValidationError

    found: list[Any] = []
    for number, form in enumerate(rule):
        faults = _faults(validator, value, form, number)
        if not faults:
            return
        found += faults
    yield ValidationError("It fits none of the forms allowed here", context=found)


def _one_of(validator: Any, rule: list[Any], value: object, _schema: Any) -> Iterator[Any]:  # noqa: ANN401
    from jsonschema import ValidationError

    found: list[Any] = []
    fitting = 0
    for number, form in enumerate(rule):
        faults = _faults(validator, value, form, number)
        found += faults
        fitting += not faults
        if fitting > 1:
            yield ValidationError("It fits more than one of the forms allowed here")
            return
    if not fitting:
        yield ValidationError("It fits none of the forms allowed here", context=found)


def _faults(validator: Any, value: object, form: Any, number: int) -> list[Any]:  # noqa: ANN401
    """Return the first faults of a value in one of several forms: nobody reads thousands."""
    faults = list(itertools.islice(validator.descend(value, form, schema_path=number), MOST_FAULTS))
    _take(len(faults) * _FAULT_STEPS)
    return faults


def _unique_items(_validator: Any, rule: object, value: object, _schema: Any) -> Iterator[Any]:  # noqa: ANN401
    from jsonschema import ValidationError

    if rule and isinstance(value, list) and len(set(map(_same, value))) < len(value):
        yield ValidationError("The same item stands there twice")


def _same(value: Any) -> Hashable:  # noqa: ANN401 - JSON
    """Return what two values have in common that JSON takes for the same: 1 and 1.0, not true."""
    match value:
        case bool():
            return bool, value
        case list():
            return tuple(map(_same, value))
        case dict():
            return frozenset((name, _same(held)) for name, held in value.items())
        case _:
            return value  # type: ignore[no-any-return]
