"""A tour as data: what a demo wants its visitors to see. A desk of one's own has none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stop:
    """One thing to try: the run that waits with it, by its thread, and what to do there."""

    thread: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Chapter:
    """Things to try that belong together."""

    title: str
    stops: tuple[Stop, ...]


@dataclass(frozen=True, slots=True)
class Tour:
    """The stops in their order, what else there is, and what to type in a second terminal.

    Args:
        title: What it is a tour of.
        text: What a visitor should know before.
        stops: What a visitor should see first, one after the other.
        chapters: Everything else, to be taken in any order.
        commands: What can be typed elsewhere, each with a sentence that says what for.
        again: What begins anew, typed where it was ended.
    """

    title: str
    text: str
    stops: tuple[Stop, ...]
    chapters: tuple[Chapter, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    again: str = ""

    @property
    def everything(self) -> tuple[Stop, ...]:
        """All stops, those of the chapters behind the others: the order of their addresses."""
        return (*self.stops, *(stop for chapter in self.chapters for stop in chapter.stops))
