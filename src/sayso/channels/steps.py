"""The steps of a plan as lines that people read and write.

A line is the title, then `[tool]` and `(needs approval)` where a step has them.
These marks are ours: a title that could be taken for one stands in quotes. So no
text of an agent passes for a mark, and every line reads back as the step it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sayso.channels.values import as_json, escaped
from sayso.errors import BadValue
from sayso.model.ask import Ask
from sayso.model.text import hides, one_line

Step = str | dict[str, Any]
_NEEDS = "needs approval"
APPROVAL = f"({_NEEDS})"
_TOOL = re.compile(r"\s*\[([^\[\]]+)\]$")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_NUMBER = re.compile(r"\d{1,3}[.)]\s+")


@dataclass(frozen=True, slots=True)
class Line:
    """What a line says of a step."""

    title: str
    tool: str | None = None
    approval: bool = False

    @classmethod
    def of(cls, step: Step) -> Line:
        """Return what can be said of a step on its line."""
        if isinstance(step, str):
            return cls(step)
        tool = step.get("tool")
        return cls(
            str(step.get("title", "")),
            tool if isinstance(tool, str) and _is_plain(tool) else None,
            step.get("needs_approval") is True,
        )

    @property
    def marks(self) -> str:
        """What stands behind the title, with a space before it."""
        tool = f" [{self.tool}]" if self.tool else ""
        return f"{tool} {APPROVAL}" if self.approval else tool

    @property
    def deceives(self) -> bool:
        """Whether something in the title, written as it is, could be taken for ours."""
        marked = "[" in self.title or "]" in self.title or _NEEDS in self.title.lower()
        return marked or self.title.startswith(('"', "{"))


def tools_of(ask: Ask) -> tuple[str, ...]:
    """Return the names of the tools that a step of this plan may name."""
    used = (Line.of(step).tool for step in ask.args.get("steps", ()))
    return tuple(dict.fromkeys([*_listed(ask.proposal.schema), *filter(None, used)]))


def _listed(schema: Mapping[str, Any]) -> list[str]:
    steps = schema.get("properties", {}).get("steps", {})
    for form in steps.get("items", {}).get("anyOf", ()):
        if "tool" in form.get("properties", {}):
            return [str(name) for name in form["properties"]["tool"].get("enum", ())]
    return []


def more_of(step: Step) -> dict[str, Any]:
    """Return what a step says that is not on its line."""
    if isinstance(step, str):
        return {}
    line = Line.of(step)
    on_line = {"title": line.title, "tool": line.tool, "needs_approval": line.approval}
    return {name: value for name, value in step.items() if value != on_line.get(name, step)}


# --- writing -----------------------------------------------------------------------------------


def step_line(step: Step) -> str:
    """Write a step on one line for an editor, where `read_steps` reads it back."""
    return _written(step, lambda value: escaped(json.dumps(value, ensure_ascii=False)))


def seen_line(step: Step) -> str:
    """Write a step on one line that is safe to print."""
    return _written(step, as_json)


def _written(step: Step, quoted: Callable[[object], str]) -> str:
    line = Line.of(step)
    if isinstance(step, dict) and not _fits(step, line):
        return quoted(step)
    bare = line.title == line.title.strip() != "" and not line.deceives
    if bare and not hides(line.title, lines=False):
        return f"{line.title}{line.marks}"
    return f"{quoted(line.title)}{line.marks}"


def _fits(step: dict[str, Any], line: Line) -> bool:
    """Whether a line can say what this step is called, which tool it names, and what it needs."""
    wants = step.get("needs_approval")
    whole = isinstance(step.get("title"), str) and (wants is None or isinstance(wants, bool))
    return whole and (line.tool is not None or not step.get("tool"))


def _is_plain(tool: str) -> bool:
    """Whether a name can stand in brackets without a doubt where it ends."""
    bare = tool == tool.strip() != "" and not set("[]") & set(tool)
    return bare and not hides(tool, lines=False)


# --- reading -----------------------------------------------------------------------------------


def read_steps(
    lines: Iterable[str], before: Sequence[Step] = (), tools: Sequence[str] = ()
) -> list[Step]:
    """Read steps of a plan, one a line; empty lines, and those with a `#` in front, do not count.

    A line whose title was there before keeps what else that step said. Numbers in front only
    help to read: the order of the lines is what counts.

    Raises:
        BadValue: a line names a tool that does not exist, or has no title.
    """
    left = list(before)
    found = (line.strip() for line in lines)
    return [
        _step(_NUMBER.sub("", line, count=1) if _NUMBER.match(line) else line, left, tools)
        for line in found
        if line and not line.startswith("#")
    ]


def _step(text: str, left: list[Step], tools: Sequence[str]) -> Step:
    whole = _json(text) if text.startswith("{") else None
    if isinstance(whole, dict):
        if whole in left:
            left.remove(whole)
        return whole
    line = read_line(text, tools)
    same = [step for step in left if Line.of(step).title == line.title]
    base = next((step for step in same if Line.of(step) == line), same[0] if same else None)
    if base is None:
        return reworded(line.title, line)
    left.pop(next(place for place, step in enumerate(left) if step is base))
    return reworded(base, line)


def read_line(text: str, tools: Sequence[str] = ()) -> Line:
    """Read what a line says of a step.

    Raises:
        BadValue: it names a tool that does not exist, or has no title.
    """
    rest, tool, approval = text.strip(), None, False
    while True:
        found = _TOOL.search(rest)
        if not approval and rest.lower().endswith(APPROVAL):
            rest, approval = rest[: -len(APPROVAL)].rstrip(), True
        elif tool is None and found is not None and found[1] in tools:
            rest, tool = rest[: found.start()], found[1]
        else:
            break
    if tool is None and tools and found is not None and _NAME.fullmatch(found[1]):
        raise BadValue(
            f"There is no tool {one_line(found[1], 60)!r}. There are: {', '.join(tools)}. If it is "
            "none, put the title in quotes."
        )
    title = _json(rest) if rest.startswith('"') else rest
    if not isinstance(title, str):
        title = rest
    if not title:
        raise BadValue(f"{one_line(text, 60)!r} has no title: say what is to be done.")
    return Line(title, tool, approval)


def reworded(step: Step, line: Line) -> Step:
    """Return a step that says what a line says; what the line cannot say stays as it was."""
    if isinstance(step, str) and line.tool is None and not line.approval:
        return line.title
    changed = {**(step if isinstance(step, dict) else {}), "title": line.title}
    for name, value in (("tool", line.tool), ("needs_approval", line.approval)):
        if value:
            changed[name] = value
        elif changed.get(name):
            del changed[name]
    return changed


def _json(text: str) -> Any:  # noqa: ANN401 - whatever it holds
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
