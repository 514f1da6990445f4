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
    """A run, found again by its thread. `said` is one answer for each of its first asks."""

    name: str
    does: Any
    given: tuple[Any, ...] = ()
    said: tuple[Said, ...] = field(default=())

    def run(self, desk: Desk) -> Run:
        """Return its run, started if it is not there yet."""
        there = desk.runs(thread=self.name, limit=1)
        return there[0] if there else desk.start(self.does, *self.given, thread=self.name)


Workflow = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Department:
    """What a department can do, and what it is at."""

    workflows: tuple[Workflow, ...]
    jobs: tuple[Job, ...]
