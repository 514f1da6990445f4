"""A job of the demo: a run to start, and what a colleague has said to it in the days before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sayso.desk import Desk
from sayso.model.ask import Ask
from sayso.model.verdicts import RejectKind, Verdict
from sayso.runs.handle import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a reviewer says to one ask."""

    verdict: Verdict = "approve"
    args: Any = None
    answer: Any = None
    note: str | None = None
    kind: RejectKind | None = None

    def to(self, ask: Ask, desk: Desk) -> Ask:
        """Say it, as everybody decides."""
        said = {"args": self.args, "answer": self.answer, "note": self.note, "kind": self.kind}
        return desk.decide(ask, self.verdict, **said)


@dataclass(frozen=True, slots=True)
class Job:
    """A run, found again by its thread. `said` is one answer for each of its first asks.

    The second of a thread (`nth`) goes on with what was said in the first, once that is over.
    """

    name: str
    does: Any
    given: tuple[Any, ...] = ()
    said: tuple[Said, ...] = field(default=())
    nth: int = 1

    def run(self, desk: Desk) -> Run:
        """Return its run, started if it is not there yet."""
        there = desk.runs(thread=self.name, limit=self.nth + 1)[::-1]
        if len(there) >= self.nth:
            return there[self.nth - 1]
        return desk.start(self.does, *self.given, thread=self.name)


Workflow = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Department:
    """What a department can do, and what it is at."""

    workflows: tuple[Workflow, ...]
    jobs: tuple[Job, ...]
