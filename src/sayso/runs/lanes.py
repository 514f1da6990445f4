"""Where in a run a verb stands: its key is a position in a lane, never a file or a line.

The run is a lane; so is a workflow inside it, and each branch of a `gather`.
Within a lane one verb follows the other, or positions would mean nothing.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar, Token

LANE: ContextVar[Lane | None] = ContextVar("sayso_lane", default=None)
INSIDE: ContextVar[str | None] = ContextVar("sayso_inside", default=None)
# Who works for whom: the agents around the code that runs here, the outermost first.
CHAIN: ContextVar[tuple[str, ...]] = ContextVar("sayso_chain", default=())
# The version of the innermost of them: its model, its instructions and its tools.
VERSION: ContextVar[str] = ContextVar("sayso_version", default="")


class Lane:
    """A sequence of verbs."""

    def __init__(self, run: object, path: str = "", *, awaits: bool = False) -> None:
        self.run = run
        self.path = path
        self.awaits = awaits  # whether the code in it is `async def`
        self.paused = False
        self._count = 0
        self._busy = threading.Lock()

    def next(self) -> str:
        """Return the key of the next verb."""
        self._count += 1
        return self.here

    @property
    def here(self) -> str:
        """The key of the verb that came last."""
        return f"{self.path}.{self._count}" if self.path else str(self._count)

    @property
    def place(self) -> str:
        """The path of the lane that a verb goes to from here."""
        return self.path

    def enter(self) -> bool:
        """Let one verb in at a time; False if another one is at work in this lane."""
        return self._busy.acquire(blocking=False)

    def leave(self) -> None:
        """Let the next verb in."""
        self._busy.release()


# Classes, because every step comes through here: a generator takes three times as long.


class inside:  # noqa: N801 - used like a function
    """Let the verbs of this block go to a lane of their own."""

    __slots__ = ("_before", "_closed", "_lane")
    _before: Token[Lane | None]
    _closed: Token[str | None]

    def __init__(self, lane: Lane) -> None:
        self._lane = lane

    def __enter__(self) -> None:
        """Enter the lane."""
        self._before, self._closed = LANE.set(self._lane), INSIDE.set(None)

    def __exit__(self, *_: object) -> None:
        """Go back to the one before."""
        INSIDE.reset(self._closed)
        LANE.reset(self._before)


class closed_to_verbs:  # noqa: N801 - used like a function
    """Refuse verbs while a step or an effect runs: what they say would not be found again."""

    __slots__ = ("_before", "_name")
    _before: Token[str | None]

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        """Say what runs."""
        self._before = INSIDE.set(self._name)

    def __exit__(self, *_: object) -> None:
        """Say what ran before."""
        INSIDE.reset(self._before)
