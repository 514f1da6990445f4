"""Places in a run that somebody else names: the tasks of a graph, the calls of a turn.

A framework that hosts somebody's agent calls its parts in an order of its own, on
threads of its own, and some of them again. So the verbs in such a part stand in
a lane with the part's name, not behind whatever happened to come before. Whoever takes
the seat anew begins at its first place, and meets there what went through a verb before.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from sayso.errors import Misuse
from sayso.model.digest import text_digest
from sayso.runs.lanes import CHAIN, Lane, inside
from sayso.runs.stops import Paused

_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_HERE: ContextVar[Seats | None] = ContextVar("sayso_seats", default=None)


def _never() -> bool:
    return False


def seated() -> Seats | None:
    """Return the places of which one is taken here, so that others beside it can be."""
    return _HERE.get()


class Seating(Protocol):
    """What seats need to know of their run."""

    @property
    def id(self) -> str:
        """The id of the run."""
        ...

    def check_answered(self, path: str) -> None:
        """Pause if anything is open that was asked below this place."""
        ...

    def check_awaited(self, within: Callable[[str], bool] = ...) -> None:
        """Refuse verbs at these places that were called and never awaited."""
        ...


class MixedLane(Lane):
    """A lane for code that awaits its verbs where it is `async def`, and blocks elsewhere."""

    def __init__(self, run: object, path: str, awaits: Callable[[], bool]) -> None:
        super().__init__(run, path)
        self._awaits = awaits

    @property
    def awaits(self) -> bool:
        """Say if verbs are awaited here: on an event loop, which nobody may block."""
        return self._awaits()

    @awaits.setter
    def awaits(self, _: bool) -> None:
        """Take no note of what a plain lane would be told."""


class Lobby(MixedLane):
    """A lane for code whose place is known only when it uses a verb: it stands there, then."""

    def __init__(self, run: Seating, find: Callable[[], Lane], awaits: Callable[[], bool]) -> None:
        self.run = run
        self.path = ""
        self._find = find
        self._awaits = awaits

    @property
    def place(self) -> str:
        """The path of the lane that is meant here."""
        return self._find().path

    @property
    def paused(self) -> bool:
        """Whether the lane that is meant here is paused."""
        return self._find().paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        self._find().paused = paused

    def next(self) -> str:
        """Return the key of the next verb, where it is used."""
        return self._find().next()

    @property
    def here(self) -> str:
        """The key of the verb that came last, where that is asked."""
        return self._find().here

    def enter(self) -> bool:
        """Let one verb in at a time, in each lane."""
        return self._find().enter()

    def leave(self) -> None:
        """Let the next verb in."""
        self._find().leave()


class Seats:
    """The named places below one place of a run. `run.seats()` makes them."""

    def __init__(self, run: Seating, path: str) -> None:
        self.run = run
        self.path = path
        self._agents = CHAIN.get()
        self._lanes: list[tuple[str, Lane]] = []
        self._found: dict[str, tuple[object, Lane]] = {}
        self._taken: set[str] = set()
        self._lock = threading.Lock()
        self._awaits: Callable[[], bool] = _never

    @contextmanager
    def at(self, name: str, *, agent: str | None = None, awaits: bool = False) -> Iterator[None]:
        """Let the verbs of this block stand at a place of this name, on whatever thread.

        Args:
            name: What is the same when the same part runs again, and of no other part.
            agent: Who acts in it, if it is somebody who works for the agent of the run.
            awaits: Whether its verbs are awaited on the event loop of the host, if it has one.

        Raises:
            Misuse: two threads want one place at the same time.
        """
        path = f"{self.path}.{_written(name)}"
        lane = MixedLane(self.run, path, self._awaits) if awaits else Lane(self.run, path)
        with self._lock:
            if lane.path in self._taken:
                raise Misuse(
                    f"Two parts called {name!r} run at the same time, and a replay could not tell "
                    "them apart. Give them names of their own."
                )
            self._taken.add(lane.path)
            self._lanes.append((name, lane))
        around_it = CHAIN.get() if _HERE.get() is self else self._agents
        agents = around_it if agent is None else (*around_it, agent)
        before, around = CHAIN.set(agents), _HERE.set(self)
        try:
            with inside(lane):
                yield
        finally:
            _HERE.reset(around)
            CHAIN.reset(before)
            with self._lock:
                self._taken.discard(lane.path)

    @contextmanager
    def by(
        self, place: Callable[[], tuple[str, object]], awaits: Callable[[], bool] = _never
    ) -> Iterator[None]:
        """Let each verb of this block stand where a function says, on whatever thread it is used.

        Args:
            place: Called at each verb. Returns the name of the part that runs here, and what tells
                this time of running it from the one before, which began at the first place, too.
            awaits: Says whether the code that runs here awaits its verbs.
        """
        self._awaits = awaits
        around = _HERE.set(self)
        try:
            with inside(Lobby(self.run, lambda: self._lane(*place()), awaits)):
                yield
        finally:
            _HERE.reset(around)

    def _lane(self, name: str, time: object) -> Lane:
        with self._lock:
            known = self._found.get(name)
            if known is not None and known[0] == time:
                return known[1]
            lane = Lane(self.run, f"{self.path}.{_written(name)}")
            self._found[name] = (time, lane)
            self._lanes.append((name, lane))
            return lane

    def key(self, name: str) -> str:
        """Return the first place of a part: for what is begun in one part and ended in another."""
        return f"{self.path}.{_written(name)}.1"

    def check_paused(self, within: Callable[[str], bool] = lambda _: True) -> None:
        """Pause if a part did, even if the code around it swallowed that.

        Args:
            within: Which parts are meant, by their names; all of them, if it is left out.

        Raises:
            Paused: people have to answer first.
        """
        if any(lane.paused and within(name) for name, lane in tuple(self._lanes)):
            raise Paused(self.run.id)

    def check_awaited(self, within: Callable[[str], bool]) -> None:
        """Refuse that a part ends in which a verb was called and never awaited.

        Args:
            within: Which parts are meant, by their names.

        Raises:
            Misuse: names the verb.
        """
        paths = {lane.path for name, lane in tuple(self._lanes) if within(name)}
        self.run.check_awaited(paths.__contains__)

    def check_answered(self) -> None:
        """Pause if anything is open that a part asked, even if the part does not run now.

        Raises:
            Paused: people have to answer first.
        """
        self.run.check_answered(self.path)


def _written(name: str) -> str:
    """Return a name as a part of a key, which has dots and marks of its own."""
    plain = _ODD.sub("-", name)[:60]
    return plain if plain == name and name else f"{plain}-{text_digest(name)[:8]}"
