"""A few idle connections, lent to one thread at a time.

Both databases use it, because both need the same two things their own pools do
not give: no thread of its own, and safety across `fork`. A connection opened
before a fork belongs to the parent: the child neither uses nor closes it
(closing would end the parent's session, or its locks on the file).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """Anything with a `close`."""

    def close(self) -> None:
        """Let go of the connection."""
        ...


C = TypeVar("C", bound=Closable)
F = TypeVar("F", bound=Exception)

# Connections inherited through a fork are parked here, so that the garbage
# collector does not close what belongs to the parent process.
_inherited: list[object] = []


class Pool(Generic[C, F]):
    """Lends connections; makes a new one when none is idle.

    What the driver raises meanwhile, an error of type `failure`, leaves as `explained` has it.
    """

    def __init__(
        self,
        connect: Callable[[], C],
        failure: type[F],
        explained: Callable[[F], Exception],
        *,
        keep: int = 8,
    ) -> None:
        self._connect = connect
        self._failure = failure
        self._explained = explained
        self._keep = keep
        self._idle: deque[C] = deque()
        self._pid = os.getpid()
        self._closings = 0

    @contextmanager
    def lend(self) -> Iterator[C]:
        """Lend a connection for the block; one that saw an error is closed, not kept."""
        closings = self._closings
        try:
            connection = self._take()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
        except self._failure as error:
            raise self._explained(error) from error
        if len(self._idle) < self._keep and closings == self._closings:
            self._idle.append(connection)
        else:
            connection.close()

    def _take(self) -> C:
        if self._pid != os.getpid():
            _inherited.append(self._idle)
            self._idle = deque()
            self._pid = os.getpid()
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def close(self) -> None:
        """Close what is idle now, and what is lent out when it comes back."""
        if self._pid != os.getpid():
            return
        self._closings += 1
        while self._idle:
            self._idle.pop().close()
