"""The plan that a run of an agent follows, and how far it has come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rich.text import Text

from sayso.channels.steps import Line, Step, seen_line
from sayso.model.text import one_line
from sayso.runs.handle import Run

_MOST = 50


@dataclass(frozen=True, slots=True)
class Following:
    """A plan in force, as a person approved it, and how many of its steps are done."""

    steps: tuple[Step, ...]
    done: int
    by: str
    changed: bool
    waits: tuple[str, ...] = ()  # tools whose calls wait in the queue

    @classmethod
    def of(cls, run: Run) -> Following | None:
        """Return the plan in force of an agent's run; `None` if it has none."""
        approved = [
            ask
            for ask in run.asks
            # What an agent inside plans is not the plan of the run.
            if ask.kind == "plan" and ask.decision and ask.content.chain is None
        ]
        if not approved or approved[-1].decision is None:
            return None
        ask, decision = approved[-1], approved[-1].decision
        steps = tuple(ask.args["steps"])
        # Until the run has gone on, how far it is still speaks of the plan before.
        went_on = any(event.at > decision.at for event in run.events)
        done = round((run.row.progress or 0.0) * len(steps)) if went_on else 0
        changed, waits = ask.original is not None, tuple(_queued(run))
        return cls(steps, min(done, len(steps)), decision.by.id, changed, waits)

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

    def lines(self) -> Iterator[Text]:
        """Draw it with a mark for each step: done, waiting for a person, in hand, to come."""
        left = list(self.waits)
        for place, step in enumerate(self.steps[:_MOST]):
            line, tool = f"{place + 1}. {seen_line(step)}", Line.of(step).tool
            if place < self.done:
                yield Text.assemble(("✓ ", "green"), line)
            elif tool in left:
                left.remove(tool)
                yield Text.assemble(("◷ ", "yellow"), line)
            elif place == self.done:
                yield Text.assemble(("▶ ", "cyan"), line)
            else:
                yield Text(f"· {line}", "dim")
        if len(self.steps) > _MOST:
            yield Text(f"  ... {len(self.steps) - _MOST} more", "dim")


def _queued(run: Run) -> Iterator[str]:
    """Yield the tools of calls that wait in the queue of the run's own agent."""
    said = [event.payload or {} for event in run.events]
    places = {one["key"].partition("?")[0] for one in said if one.get("verb") == "queued"}
    for ask in run.asks:
        queued = (ask.key or "").partition(":")[2] in places
        if queued and ask.open and ask.tool and ask.content.chain is None:
            yield ask.tool
