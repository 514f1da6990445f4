"""Real processes that do what a test tells them, together or one by one.

Starting an interpreter takes half a second, so a crew is started once and kept
for all trials. A job is a function of a module; it finds its desk by address.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from sayso import Desk

_spawn = get_context("spawn")

Span = tuple[float, float]  # from and until, by the clock all processes of a machine share


def overlap(spans: Sequence[Span]) -> bool:
    """Whether at least two of them were at it at the same time."""
    ordered = sorted(spans)
    return any(later[0] < earlier[1] for earlier, later in pairwise(ordered))


_desks: dict[str, Desk] = {}


def desk_at(url: str, *, anew: bool = False) -> Desk:
    """Return this process's own desk on a database, the same one until another is asked for."""
    if url not in _desks or anew:
        for desk in _desks.values():
            desk.close()
        _desks.clear()
        _desks[url] = Desk(url, agent=f"racer-{os.getpid()}", account="sam@till")
    return _desks[url]


def _serve(orders: Connection, barriers: dict[int, Any]) -> None:
    while (order := orders.recv()) is not None:
        job, args, together = order
        if together > 1:
            barriers[together].wait(60)
        try:
            orders.send((True, job(*args)))
        except BaseException as error:
            orders.send((False, repr(error)))


class Crew:
    """A few processes, waiting for orders."""

    def __init__(self, size: int) -> None:
        # Kept here: a barrier nobody refers to is gone before a slow starter has opened it.
        self._barriers = {number: _spawn.Barrier(number) for number in range(2, size + 1)}
        self._lines: list[Connection] = []
        self._members = []
        for _ in range(size):
            ours, theirs = _spawn.Pipe()
            member = _spawn.Process(target=_serve, args=(theirs, self._barriers), daemon=True)
            member.start()
            theirs.close()
            self._lines.append(ours)
            self._members.append(member)

    def together(
        self, job: Callable[..., Any], *args: object, members: int | None = None
    ) -> list[Any]:
        """Let everybody, or the first few, do the same at the same moment."""
        return self.each(job, [args] * len(self._lines[:members]))

    def each(self, job: Callable[..., Any], given: Sequence[tuple[object, ...]]) -> list[Any]:
        """Let one member for each of these do it at the same moment, with what is given to it."""
        lines = self._lines[: len(given)]
        for line, args in zip(lines, given, strict=True):
            line.send((job, args, len(lines)))
        return [self._answer(line) for line in lines]

    def start(self, member: int, job: Callable[..., Any], *args: object) -> Callable[[], Any]:
        """Let one member do something; call what is returned to wait for the result."""
        line = self._lines[member]
        line.send((job, args, 1))
        return lambda: self._answer(line)

    def tell(self, member: int, job: Callable[..., Any], *args: object) -> Any:
        """Let one member do something, and wait for the result."""
        return self.start(member, job, *args)()

    @staticmethod
    def _answer(line: Connection) -> Any:
        assert line.poll(60), "a member of the crew did not answer"
        fine, answer = line.recv()
        assert fine, answer
        return answer

    def dismiss(self) -> None:
        for line in self._lines:
            line.send(None)
            line.close()
        for member in self._members:
            member.join(10)
            assert member.exitcode == 0, f"a member ended with {member.exitcode}"


@contextmanager
def hired(size: int) -> Iterator[Crew]:
    """A crew for a block."""
    crew = Crew(size)
    try:
        yield crew
    finally:
        crew.dismiss()
