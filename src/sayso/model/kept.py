"""A memory of what was made from somebody else's text, bounded in number and in size."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

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
        self._taken = 0
        self._values: dict[str, T | Kept[T]] = {}
        self._lock = threading.Lock()

    def __call__(self, text: str) -> T:
        """Return what the text makes, made now or before."""
        found = self._values.get(text, self)
        if found is not self:
            return found  # type: ignore[return-value]
        value = self._make(text)
        with self._lock:
            self._keep(text, value)
        return value

    @property
    def taken(self) -> int:
        """How much of the room is taken."""
        return self._taken

    def _keep(self, text: str, value: T) -> None:
        size = self._size(text)
        if text in self._values or size > self._room:
            return
        self._values[text] = value
        self._taken += size
        while self._taken > self._room or len(self._values) > self._most:
            oldest = next(iter(self._values))
            del self._values[oldest]
            self._taken -= self._size(oldest)
