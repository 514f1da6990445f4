"""What the agent of the plan document works with, offline: its tools, its model, its world.

The model follows the plan that it is shown in the prompt, whoever wrote it, and nothing else. What
was done to the world, and how often the model was asked, is lines in the files of a folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import sayso
from sayso.agent import Message, ToolCall, call
from tests.crash.shop import note, noted, reached

FOLDER = "SAYSO_TEST_FOLDER"
TASK = "Which are the most significant AI breakthroughs?"
DRAFT = [
    {"title": "Search for recent AI developments", "tool": "search"},
    {"title": "Analyze the top results", "tool": "read"},
    {"title": "Summarize the 3 most significant breakthroughs", "tool": "read"},
    {"title": "Include sources for each breakthrough", "tool": "publish"},
]
Steps = list[dict[str, Any]]


def folder() -> str:
    """Where the world is."""
    return os.environ[FOLDER]


def did(tool: str, subject: str) -> str:
    """Do something to the world, and say what came of it."""
    reached("in the tool")
    note(folder(), "done", f"{tool}: {subject}")
    reached("after the effect")
    return f"{subject}: found"


def search(subject: str) -> str:
    """Search for something."""
    return did("search", subject)


def read(subject: str) -> str:
    """Read something."""
    return did("read", subject)


def publish(subject: str) -> str:
    """Put it where everybody reads it."""
    return did("publish", subject)


def done() -> list[str]:
    """What was done to the world, in order."""
    return noted(folder(), "done")


_STEP = re.compile(r"^\d+\. (.+?)(?: \(([^()]*)\))?$", re.MULTILINE)


def think(messages: Sequence[Message], tools: Sequence[str]) -> Any:
    """Reply. Each time somebody asks is one line in `thoughts`."""
    planning = tuple(tools) == ("plan",)
    note(folder(), "thoughts", "plan" if planning else "act")
    reached("thinking")
    reply = _plan(messages) if planning else _act(messages)
    reached("thought")
    return reply


def _read(text: str) -> tuple[Steps, Steps]:
    """Read a plan as a prompt shows it: all steps, and those that are left."""
    every, left = [], []
    for title, marks in _STEP.findall(text):
        tool = re.search(r"with (\w+)", marks)
        step = {"title": title, "tool": tool[1] if tool else "read"}
        every.append(step)
        left += [] if "done" in marks else [step]
    return every, left


def _plan(messages: Sequence[Message]) -> Steps:
    """Plan what is left of the plan in force; what the person wants comes first."""
    asked = messages[-1].text
    wanted = re.match(r"The person wants another plan: (.+)", asked)
    if wanted:
        return [{"title": wanted[1], "tool": "read"}, *_read(messages[-2].text)[0]]
    return _read(asked)[1] if "The plan in force" in asked else DRAFT


def _act(messages: Sequence[Message]) -> str | ToolCall:
    """Do the next step of the last plan that was approved, or say what was found on the way."""
    approved = [n for n, m in enumerate(messages) if m.role == "user" and "Follow it:" in m.text]
    since = messages[approved[-1] + 1 :]
    steps, made = _read(messages[approved[-1]].text)[0], [m for m in since if m.calls]
    if len(made) < len(steps):
        step = steps[len(made)]
        return call(step["tool"], subject=step["title"])
    found = [m.text for m in messages if m.role == "tool" and not m.failed]
    earlier = [m.text for m in messages[: approved[0]] if m.text.startswith("Answer: ")]
    return f"Answer: {len(found)} findings, {len(earlier)} answers before"


def shown(step: sayso.PlanStep) -> None:
    """Hear of a plan that was approved."""
    note(folder(), "told", f"{step.status}: " + "; ".join(one["title"] for one in step.plan))


def unsure(step: sayso.ActionStep) -> str | None:
    """Want a person to look at whatever was read."""
    note(folder(), "told", f"{step.status}: {step.name}")
    return "Was this worth reading?" if step.name == "read" else None


TOOLS = [search, read, publish]
MODEL = sayso.ScriptedModel(think)
