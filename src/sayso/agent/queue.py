"""The calls of an agent that wait for people while its model goes on with other work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sayso.agent.plan import Plan
from sayso.agent.way import Way
from sayso.model.digest import canonical


class Queue:
    """Calls whose outcome the model has not been told yet, in the order they were made."""

    def __init__(self) -> None:
        self._ways: dict[str, tuple[Way, int]] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._ways)

    def __iter__(self) -> Iterator[Way]:
        """Go through them."""
        return iter([way for way, _ in self._ways.values()])

    def __getitem__(self, place: str) -> Way:
        """Return the one that was made at this place."""
        return self._ways[place][0]

    def add(self, way: Way, plan: int) -> None:
        """Let a call wait, which was made under the plan of this number."""
        self._ways[way.place] = (way, plan)

    def leave(self, place: str) -> int:
        """Let a call wait no longer; returns the number of the plan it was made under."""
        return self._ways.pop(place)[1]

    def waits(self, tool: str, args: Mapping[str, Any]) -> bool:
        """Whether this very call waits already."""
        wanted = (tool, canonical(args))
        return any(
            way.gate is not None
            and way.bound is not None
            and (way.gate.tool.name, canonical(way.bound.args)) == wanted
            for way in self
        )

    def ahead(self, plan: Plan) -> Plan:
        """Return how far a plan would be once all of them are carried out."""
        for way in self:
            plan = plan.after(way.call.tool)
        return plan

    def steps(self, plan: Plan) -> tuple[int, ...]:
        """Return the steps of a plan that wait here."""
        found = []
        for way in self:
            number = plan.at(way.call.tool)
            if number is not None:
                found.append(number)
                plan = plan.after(way.call.tool)
        return tuple(found)
