"""A memory of what was made from somebody else's text, bounded in number and in size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class Kept(Generic[T]):
    """The values made last; the oldest goes first.

    Args:
        make: What makes a value from its text.
        most: How many are kept.
        room: How much they may take together, in the unit of `size`.
        size: How much one takes, by its text; one that takes more than all the room is not kept.
    """

    def __init__(
        self, make: Callable[[str], T], *, most: int, room: int, size: Callable[[str], int] = len
    ) -> None:
        self._make = make
        self._most = most
        self._room = room
        self._size = size
        self._values: dict[str, T] = {}

    def __call__(self, text: str) -> T:
        """Return what the text makes, made now or before."""
        found: Any = self._values.get(text, self)
        if found is not self:
            return cast("T", found)
        value: T = self._make(text)
        if self._size(text) <= self._room:
            self._values[text] = value
            # Two threads may drop one more than they must, and never keep too many.
            while len(self._values) > self._most or self.taken > self._room:
                self._values.pop(list(self._values)[0], None)  # noqa: RUF015 - others may change it
        return value

    @property
    def taken(self) -> int:
        """How much of the room is taken."""
        return sum(map(self._size, list(self._values)))
