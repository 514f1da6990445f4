"""The declared rule of a step: how often it may be tried, and how long it may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sayso.errors import BadValue
from sayso.model.span import Span, span

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Rule:
    """How a step may be tried."""

    times: int = 1
    pause: float = 0.0
    limit: float | None = None
    on: tuple[type[Exception], ...] = (Exception,)


_ONCE = Rule()


def retrying(
    times: int = 3,
    *,
    pause: Span = 1,
    limit: Span | None = None,
    on: type[Exception] | tuple[type[Exception], ...] = Exception,
) -> Callable[[F], F]:
    """Declare that a function, used as a step, may be tried again when it fails.

    ```python
    @sayso.retrying(3, pause="2s", limit="30s", on=OSError)
    def fetch(url: str) -> str: ...
    ```

    Args:
        times: How often it is tried at most.
        pause: How long to wait before the next try.
        limit: How long one try may take. A thread that takes longer is left behind.
        on: The exceptions after which it is tried again.
    """
    if type(times) is not int or not 1 <= times <= 100:
        raise BadValue(f"retrying({times!r}): give a whole number from 1 to 100.")
    kinds = on if isinstance(on, tuple) else (on,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise BadValue(f"on={kind!r}: name classes of exceptions, such as OSError.")
    seconds = None if limit is None else span(limit).total_seconds()
    rule = Rule(times, span(pause).total_seconds() if pause else 0.0, seconds, kinds)

    def declare(fn: F) -> F:
        fn.__sayso_rule__ = rule  # type: ignore[attr-defined]
        return fn

    return declare


def rule_of(fn: object) -> Rule:
    """Return the rule declared for a function; once, if there is none."""
    rule = getattr(fn, "__sayso_rule__", None)
    return rule if isinstance(rule, Rule) else _ONCE
