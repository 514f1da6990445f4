"""A verb at work in its lane, and what is remembered when it leaves.

User code may swallow whatever a verb raises. So what stops a lane or the run is
noted here, on the way out, and the next verb meets it again.
"""

from __future__ import annotations

import sys
from typing import Protocol

from sayso.errors import Diverged, Misuse
from sayso.runs.lanes import Lane
from sayso.runs.stops import Paused, Stop


class Entrance(Protocol):
    """What a verb needs to know of its run, and leaves with it."""

    stop: Stop | None
    fault: Exception | None
    in_flight: dict[object, None]

    def check(self, lane: Lane) -> None:
        """Refuse a verb that must not act now."""
        ...

    def note_cut(self, place: str, what: str) -> None:
        """Note that a verb was cancelled in the middle."""
        ...


class Entered:
    """A verb at work in its lane. A class, because every step of a replay comes through here."""

    __slots__ = ("_lane", "_run")

    def __init__(self, run: Entrance, lane: Lane) -> None:
        self._run = run
        self._lane = lane

    def __enter__(self) -> None:
        """Enter the lane, if the verb may act now."""
        self._run.check(self._lane)
        if not self._lane.enter():
            self._run.fault = Misuse(
                "Two verbs of a run at the same time in one lane: their order would differ at the "
                "next replay. Put them into branches: run.gather(lambda: ..., lambda: ...)."
            )
            raise self._run.fault
        self._run.in_flight[self] = None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Leave it, and remember what stops the lane or the run."""
        self._run.in_flight.pop(self, None)
        self._lane.leave()
        match error:
            case None:
                return
            case Paused():
                self._lane.paused = True
            case Stop():
                self._run.stop = error
            case Diverged():
                self._run.fault = error
            case _ if cancelled(error):
                self._run.note_cut(self._lane.here, self._lane.here)
            case _:
                return


def cancelled(error: BaseException) -> bool:
    """Whether a task was cancelled; said so that a plain workflow need not load asyncio."""
    loaded = sys.modules.get("asyncio")
    return loaded is not None and isinstance(error, loaded.CancelledError)
