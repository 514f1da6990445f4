"""A verb that was called and is to be awaited.

A coroutine is true, whatever it will come to. So `if sayso.confirm(...)` without `await` would be a
yes that nobody has given: a verb that is not awaited yet is neither true nor equal to anything.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, NoReturn

from sayso.errors import Misuse


class Awaited(Coroutine[Any, Any, Any]):
    """The coroutine of a verb."""

    __slots__ = ("_inner", "_name")

    def __init__(self, name: str, inner: Coroutine[Any, Any, Any]) -> None:
        self._name = name
        self._inner = inner

    def __await__(self) -> Generator[Any, Any, Any]:
        """Go through the verb."""
        return self._inner.__await__()

    def send(self, value: Any) -> Any:  # noqa: ANN401 - as of any coroutine
        """Go on with it."""
        return self._inner.send(value)

    def throw(self, *error: Any) -> Any:  # noqa: ANN401 - as of any coroutine
        """Go on with an error."""
        return self._inner.throw(*error)

    def close(self) -> None:
        """Give it up."""
        self._inner.close()

    def __bool__(self) -> NoReturn:
        """Refuse: nobody has answered yet.

        Raises:
            Misuse: always.
        """
        raise self._unanswered()

    def __eq__(self, other: object) -> bool:
        """Refuse, but for itself: nobody has answered yet.

        Raises:
            Misuse: it is compared with something else.
        """
        if other is self:
            return True
        raise self._unanswered()

    __hash__ = object.__hash__

    def _unanswered(self) -> Misuse:
        return Misuse(
            f"{self._name}(...) was not awaited, so nobody was asked and nothing was done. On an event "
            f"loop write: await {self._name}(...), in a function that is async def."
        )
