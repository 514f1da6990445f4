"""Places in a run that somebody else names: the tasks of a graph, the calls of a turn.

A framework that hosts somebody's agent calls its parts in an order of its own, on
threads of its own, and some of them again. So the verbs in such a part stand in
a lane with the part's name, not behind whatever happened to come before. Whoever takes
the seat anew begins at its first place, and meets there what went through a verb before.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from sayso.errors import Misuse
from sayso.model.digest import text_digest
from sayso.runs.lanes import CHAIN, Lane, inside
from sayso.runs.stops import Paused

_ODD = re.compile(r"[^A-Za-z0-9_-]+")


class Seating(Protocol):
    """What seats need to know of their run."""

    @property
    def id(self) -> str:
        """The id of the run."""
        ...


class Seats:
    """The named places below one place of a run. `run.seats()` makes them."""

    def __init__(self, run: Seating, path: str) -> None:
        self.run = run
        self.path = path
        self._agents = CHAIN.get()
        self._lanes: list[Lane] = []
        self._taken: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def at(self, name: str, *, agent: str | None = None) -> Iterator[None]:
        """Let the verbs of this block stand at a place of this name, on whatever thread.

        Args:
            name: What is the same when the same part runs again, and of no other part.
            agent: Who acts in it, if it is somebody who works for the agent of the run.

        Raises:
            Misuse: two threads want one place at the same time.
        """
        lane = Lane(self.run, f"{self.path}.{_written(name)}")
        with self._lock:
            if lane.path in self._taken:
                raise Misuse(
                    f"Two parts called {name!r} run at the same time, and a replay could not tell "
                    "them apart. Give them names of their own."
                )
            self._taken.add(lane.path)
            self._lanes.append(lane)
        agents = (*self._agents, agent) if agent is not None else self._agents
        before = CHAIN.set(agents)
        try:
            with inside(lane):
                yield
        finally:
            CHAIN.reset(before)
            with self._lock:
                self._taken.discard(lane.path)

    def check_paused(self) -> None:
        """Pause if a part did, even if the code around it swallowed that.

        Raises:
            Paused: people have to answer first.
        """
        if any(lane.paused for lane in self._lanes):
            raise Paused(self.run.id)


def _written(name: str) -> str:
    """Return a name as a part of a key, which has dots and marks of its own."""
    plain = _ODD.sub("-", name)[:60]
    return plain if plain == name and name else f"{plain}-{text_digest(name)[:8]}"
