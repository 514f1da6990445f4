"""A few idle connections, lent to one thread at a time.

Both databases use it, because both need the same two things their own pools do
not give: no thread of its own, and safety across `fork`. A connection opened
before a fork belongs to the parent: the child neither uses nor closes it
(closing would end the parent's session, or its locks on the file).
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from itertools import count
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
_forks = count()
_fork = next(_forks)  # another one in each forked child


def _forked() -> None:
    global _fork
    _fork = next(_forks)


os.register_at_fork(after_in_child=_forked)


class Pool(Generic[C, F]):
    """Lends connections; makes a new one when none is idle.

    What the driver raises meanwhile, an error of type `failure`, leaves as `explained` has it.
    Every loan goes through the `door`, if there is one, and back.
    """

    def __init__(
        self,
        connect: Callable[[], C],
        failure: type[F],
        explained: Callable[[F], Exception],
        *,
        door: AbstractContextManager[object] | None = None,
        keep: int = 32,
    ) -> None:
        self._connect = connect
        self.failure = failure
        self.explained = explained
        self.door = nullcontext() if door is None else door
        self.keep = keep
        self.idle: deque[C] = deque()
        self._fork = _fork
        self.closings = 0
        # A desk that nobody closed lets go at the end all the same, and without a warning.
        weakref.finalize(self, _close_all, self.idle, _fork)

    def lend(self) -> Loan[C, F]:
        """Lend a connection for a `with` block; one that saw an error is closed, not kept."""
        return Loan(self)

    def take(self) -> C:
        """Return an idle connection, or a new one."""
        if self._fork != _fork:
            _inherited.append(self.idle)
            self.idle = deque()
            self._fork = _fork
        try:
            return self.idle.pop()
        except IndexError:  # also if another thread was faster
            return self._connect()

    def close(self) -> None:
        """Close what is idle now, and what is lent out when it comes back."""
        if self._fork != _fork:
            return
        self.closings += 1
        _close_all(self.idle, self._fork)


def _close_all(idle: deque[C], fork: int) -> None:
    while idle and fork == _fork:
        idle.pop().close()


class Loan(Generic[C, F]):
    """A connection on its way out and back.

    A class, because entering and leaving a generator takes as long as a small query.
    """

    __slots__ = ("_closings", "_connection", "_pool")

    def __init__(self, pool: Pool[C, F]) -> None:
        self._pool = pool
        self._closings = pool.closings

    def __enter__(self) -> C:
        """Take the connection."""
        pool = self._pool
        pool.door.__enter__()
        try:
            self._connection = pool.take()
        except BaseException as error:
            pool.door.__exit__(None, None, None)
            if isinstance(error, pool.failure):
                raise pool.explained(error) from error
            raise
        return self._connection

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Keep it for the next loan, unless it saw an error, or the pool was closed or is full."""
        pool = self._pool
        try:
            if error is None and self._closings == pool.closings and len(pool.idle) < pool.keep:
                pool.idle.append(self._connection)
            else:
                self._connection.close()
        finally:
            pool.door.__exit__(None, None, None)
        if error is not None and isinstance(error, pool.failure):
            raise pool.explained(error) from error
