"""The plan that a run of an agent follows, and how far it has come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sayso.channels.steps import Line, Step
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.text import one_line
from sayso.runs.handle import Run

Mark = Literal["done", "wait", "now", "todo"]


@dataclass(frozen=True, slots=True)
class Following:
    """A plan in force, as a person approved it, and how many of its steps are done."""

    steps: tuple[Step, ...]
    done: int
    by: str
    changed: bool
    waits: tuple[str, ...] = ()  # tools whose calls wait in the queue
    ask: str = ""

    @classmethod
    def of(cls, run: Run) -> Following | None:
        """Return the plan in force of an agent's run; `None` if it has none."""
        return cls.read(run.events, run.asks, run.row.progress)

    @classmethod
    def read(
        cls, events: Sequence[Event], asks: Sequence[Ask], progress: float | None
    ) -> Following | None:
        """Return the plan in force from what was read of a run already."""
        approved = [
            ask
            for ask in asks
            # What an agent inside plans is not the plan of the run.
            if ask.kind == "plan" and ask.decision and ask.content.chain is None
        ]
        if not approved or approved[-1].decision is None:
            return None
        ask, decision = approved[-1], approved[-1].decision
        steps = tuple(ask.args["steps"])
        # Until the run has gone on, how far it is still speaks of the plan before.
        went_on = any(event.at > decision.at for event in events)
        done = round((progress or 0.0) * len(steps)) if went_on else 0
        changed, waits = ask.original is not None, tuple(_queued(events, asks))
        return cls(steps, min(done, len(steps)), decision.by.id, changed, waits, ask.id)

    def after(self, tool: str) -> Following:
        """Return it once a call of this tool has been carried out."""
        place = self._place(tool)
        return self if place is None else replace(self, done=place + 1)

    def where(self, tool: str | None = None) -> str:
        """Say which step is in hand; while a tool works, the one that names it."""
        place = self._place(tool)
        if place is None:
            place = min(self.done, len(self.steps) - 1)
        return f"{place + 1}/{len(self.steps)} {one_line(Line.of(self.steps[place]).title, 60)}"

    def _place(self, tool: str | None) -> int | None:
        left = range(self.done, len(self.steps)) if tool is not None else ()
        return next((place for place in left if Line.of(self.steps[place]).tool == tool), None)

    def marked(self) -> Iterator[tuple[Mark, Step]]:
        """Yield each step with its mark: done, waiting for a person, in hand, to come."""
        left = list(self.waits)
        for place, step in enumerate(self.steps):
            tool = Line.of(step).tool
            if place < self.done:
                yield "done", step
            elif tool in left:
                left.remove(tool)
                yield "wait", step
            else:
                yield ("now" if place == self.done else "todo"), step


def _queued(events: Iterable[Event], asks: Iterable[Ask]) -> Iterator[str]:
    """Yield the tools of calls that wait in the queue of the run's own agent."""
    said = [event.payload or {} for event in events]
    places = {one["key"].partition("?")[0] for one in said if one.get("verb") == "queued"}
    for ask in asks:
        queued = (ask.key or "").partition(":")[2] in places
        if queued and ask.open and ask.tool and ask.content.chain is None:
            yield ask.tool
