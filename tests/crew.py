"""Real processes that do what a test tells them, together or one by one.

Starting an interpreter takes half a second, so a crew is started once and kept
for all trials. A job is a function of a module; it finds its desk by address.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from sayso import Desk

_spawn = get_context("spawn")


@functools.cache
def desk_at(url: str) -> Desk:
    """Return this process's own desk on a database, the same one every time."""
    return Desk(url, agent=f"racer-{os.getpid()}", account="sam@till")


def _serve(orders: Connection, barrier: Any) -> None:
    while (order := orders.recv()) is not None:
        job, args, together = order
        if together:
            barrier.wait(60)
        try:
            orders.send((True, job(*args)))
        except BaseException as error:
            orders.send((False, repr(error)))


class Crew:
    """A few processes, waiting for orders."""

    def __init__(self, size: int) -> None:
        self._barrier = _spawn.Barrier(size)
        self._lines: list[Connection] = []
        self._members = []
        for _ in range(size):
            ours, theirs = _spawn.Pipe()
            member = _spawn.Process(target=_serve, args=(theirs, self._barrier), daemon=True)
            member.start()
            theirs.close()
            self._lines.append(ours)
            self._members.append(member)

    def together(self, job: Callable[..., Any], *args: object) -> list[Any]:
        """Let everybody do the same at the same moment."""
        for line in self._lines:
            line.send((job, args, True))
        return [self._answer(line) for line in self._lines]

    def start(self, member: int, job: Callable[..., Any], *args: object) -> Callable[[], Any]:
        """Let one member do something; call what is returned to wait for the result."""
        line = self._lines[member]
        line.send((job, args, False))
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
