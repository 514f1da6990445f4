"""A plan: what an agent means to do, step by step, in the version a person approved.

Pure values. A call belongs to the first step that is not done and names its
tool; once it is carried out, that step and those before it are done. So progress
can be told, and approval asked for, without believing what a model says of itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sayso.agent.messages import Reply, ToolSpec
from sayso.errors import BadValue

MOST = 50
NAME = "plan"


@dataclass(frozen=True, slots=True)
class PlanItem:
    """One step of a plan."""

    title: str
    detail: str | None = None
    tool: str | None = None
    needs_approval: bool = False

    @classmethod
    def of(cls, step: str | Mapping[str, Any]) -> PlanItem:
        """Read one step, which may be its title alone."""
        if isinstance(step, str):
            return cls(step)
        return cls(
            str(step["title"]),
            step.get("detail") or None,
            step.get("tool") or None,
            bool(step.get("needs_approval")),
        )

    @property
    def json(self) -> dict[str, Any]:
        """The step as plain data, with what it says and nothing else."""
        said: dict[str, Any] = {"title": self.title}
        if self.detail:
            said["detail"] = self.detail
        if self.tool:
            said["tool"] = self.tool
        if self.needs_approval:
            said["needs_approval"] = True
        return said


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan in force, and how far it has come."""

    items: tuple[PlanItem, ...]
    done: int = 0
    changed: bool = False  # whether a person changed it
    by: str = ""
    seen: frozenset[int] = frozenset()  # steps for which a person approved a call

    @property
    def progress(self) -> float:
        """The share of it that is done."""
        return self.done / len(self.items) if self.items else 1.0

    def at(self, tool: str) -> int | None:
        """Return the number of the step that a call of this tool belongs to, from 1."""
        left = range(self.done + 1, len(self.items) + 1)
        return next((number for number in left if self.items[number - 1].tool == tool), None)

    def unapproved(self, tool: str) -> tuple[int, ...]:
        """Return the steps that want a person's approval before this call.

        These are the step it belongs to and those that it passes over. A call that
        belongs to none left is asked for if the step in hand names no tool and wants approval,
        or if the tool's last step did: a yes to one call is no yes to the next.
        """
        number = self.at(tool)
        if number is not None:
            return self._wanting(range(self.done + 1, number + 1))
        last = [n for n in range(1, self.done + 1) if self.items[n - 1].tool == tool][-1:]
        here = self.done + 1
        if here <= len(self.items) and self.items[here - 1].tool is None:
            last.append(here)
        return self._wanting(last)

    def left(self) -> tuple[int, ...]:
        """Return the steps that want a person's approval and never came to it."""
        left = range(self.done + 1, len(self.items) + 1)
        return tuple(number for number in self._wanting(left) if number not in self.seen)

    def _wanting(self, numbers: Iterable[int]) -> tuple[int, ...]:
        return tuple(number for number in numbers if self.items[number - 1].needs_approval)

    def named(self, numbers: Sequence[int]) -> str:
        """Return steps by number and title, for a person."""
        return "; ".join(f"step {n} of the plan: {self.items[n - 1].title}" for n in numbers)

    def after(self, tool: str) -> Plan:
        """Return the plan once a call of this tool has been carried out."""
        number = self.at(tool)
        # A call that the plan does not speak of brings it no further.
        return self if number is None else replace(self, done=number)

    def approved(self, numbers: Iterable[int]) -> Plan:
        """Return the plan once a person approved a call for these steps."""
        return replace(self, seen=self.seen.union(numbers))


def numbered(plan: Plan, waiting: Collection[int] = ()) -> str:
    """Return the plan as text for a model; `waiting` are steps whose calls wait for people."""
    lines = []
    for number, item in enumerate(plan.items, start=1):
        marks = [f"with {item.tool}"] if item.tool else []
        marks += ["a person approves it when it comes to it"] if item.needs_approval else []
        marks += ["done"] if number <= plan.done else []
        marks += ["made, and waiting for a person"] if number in waiting else []
        more = f" ({', '.join(marks)})" if marks else ""
        lines.append(f"{number}. {item.title}{more}")
        if item.detail:
            lines.append(f"   {item.detail}")
    return "\n".join(lines)


def plan_tool(tools: Sequence[str]) -> ToolSpec:
    """Return the tool with which a model hands in its plan."""
    return ToolSpec(
        NAME,
        "Hand in the plan: the steps in order, each with a short title. Name the tool of a step if "
        "it needs one. Set needs_approval where a person should approve that very step.",
        {
            "type": "object",
            "properties": {
                "steps": {"type": "array", "minItems": 1, "maxItems": MOST, "items": item(tools)}
            },
            "required": ["steps"],
        },
    )


def item(tools: Sequence[str]) -> dict[str, Any]:
    """Return the JSON Schema of one step."""
    tool: dict[str, Any] = {"enum": [*tools]} if tools else {"type": "null"}
    return {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": 500},
            "detail": {"type": "string", "maxLength": 5000},
            "tool": tool,
            "needs_approval": {"type": "boolean"},
        },
        "required": ["title"],
        "additionalProperties": False,
    }


def handed_in(reply: Reply, tools: Sequence[str]) -> tuple[PlanItem, ...]:
    """Return the steps of the plan in a reply; one that came as text is read line by line.

    Raises:
        BadValue: there is no plan in it that could be shown; says why, for the model to read.
    """
    call = next((call for call in reply.calls if call.tool == NAME), None)
    steps = _listed(reply.text) if call is None else call.args.get("steps")
    if not isinstance(steps, list) or not steps:
        raise BadValue("There are no steps in it.")
    if len(steps) > MOST:
        raise BadValue(f"It has {len(steps)} steps, and nobody can review more than {MOST}.")
    return tuple(_checked(step, number, tools) for number, step in enumerate(steps, start=1))


def _checked(step: object, number: int, tools: Sequence[str]) -> PlanItem:
    if isinstance(step, str) and step.strip():
        return PlanItem(step.strip()[:500])
    title = step.get("title") if isinstance(step, dict) else None
    if not isinstance(step, dict) or not isinstance(title, str) or not title.strip():
        raise BadValue(f"Step {number} has no title.")
    tool = step.get("tool") or None
    if tool is not None and tool not in tools:
        raise BadValue(f"Step {number} names the tool {tool!r}, which does not exist.")
    detail = step.get("detail")
    return PlanItem(
        title.strip()[:500],
        detail[:5000] if isinstance(detail, str) and detail else None,
        tool,
        bool(step.get("needs_approval")),
    )


def _listed(text: str) -> list[str]:
    """Read a plan that a model wrote as text: numbered lines, or else lines with a dash."""
    lines = [line.strip() for line in text.splitlines()]
    found = [line.partition(".")[2].strip() for line in lines if line.partition(".")[0].isdigit()]
    return found or [line[1:].strip() for line in lines if line[:1] in ("-", "*") and line[1:]]
