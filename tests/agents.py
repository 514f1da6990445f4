"""Models that read what they are shown, and what tests of agents look for in a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import sayso
from sayso import Run, ScriptedModel
from sayso.agent import Message, Prompt, Reply, ToolCall, call

Messages = Sequence[Message]
RAN: list[Any] = []  # what the tools below, and those of a test, really did
PLANNING = ("plan",)  # what is offered when a plan is wanted, and nothing else
_STEP = re.compile(r"^(\d+)\. (.*?)(?: \((?:with (\w+))?(.*)\))?$")


class Watched(ScriptedModel):
    """A model that follows a script, and remembers every prompt it was really shown."""

    def __init__(self, script: Any) -> None:
        super().__init__(script)
        self.prompts: list[Prompt] = []

    def reply(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        return super().reply(prompt)

    @property
    def last(self) -> Messages:
        """The messages it was shown last, without the instructions."""
        return self.prompts[-1].messages[1:]


def results(messages: Messages) -> list[str]:
    """Return what the calls of a conversation came to, as the model reads it."""
    return [message.text for message in messages if message.role == "tool"]


def calls(messages: Messages) -> list[ToolCall]:
    """Return the calls of a conversation, as the model reads them."""
    return [made for message in messages for made in message.calls]


def shown(messages: Messages) -> list[tuple[str, dict[str, Any], str]]:
    """Return each call with what came of it: the tool, the arguments, the result."""
    came = {message.call: message.text for message in messages if message.role == "tool"}
    return [(made.tool, dict(made.args), came[made.id]) for made in calls(messages)]


def once(*lines: Any) -> Callable[[Messages], Any]:
    """Return a script that makes these calls, and answers with the results it then reads."""

    def script(messages: Messages) -> Any:
        read = results(messages)
        return " | ".join(read) if read else list(lines)

    return script


def one_by_one(*lines: Any) -> Callable[[Messages], Any]:
    """Return a script that goes on to its next line with each result that it reads."""

    def script(messages: Messages) -> Any:
        read = results(messages)
        return lines[len(read)] if len(read) < len(lines) else " | ".join(read)

    return script


def plan_in(messages: Messages) -> list[tuple[str, str | None]]:
    """Return the steps of the plan that the model was last told to follow: title and tool."""
    told = [message.text for message in messages if "Follow it:\n" in message.text]
    if not told:
        return []
    lines = told[-1].partition("Follow it:\n")[2].splitlines()
    found = [_STEP.match(line) for line in lines]
    return [(step[2], step[3]) for step in found if step is not None]


def following(*plans: Sequence[Any]) -> Callable[[Messages, tuple[str, ...]], Any]:
    """Return a script that plans, and then calls the tools of the plan it is told to follow.

    Each step is one call of its tool with the step's title; when all are made, it answers
    with what they came to. A later plan is handed in where one is wanted again.
    """

    def script(messages: Messages, tools: tuple[str, ...]) -> Any:
        told = sum("Follow it:\n" in message.text for message in messages)
        if tools == PLANNING:
            return list(plans[min(told, len(plans) - 1)])
        since = max(n for n, message in enumerate(messages) if "Follow it:\n" in message.text)
        made = len(results(messages[since:]))
        steps = [step for step in plan_in(messages) if step[1] is not None]
        if made < len(steps):
            title, tool = steps[made]
            return call(tool or "", what=title)
        return " | ".join(results(messages)) or "nothing was to be done"

    return script


def asked_model(run: Run) -> int:
    """Return how many replies of models the journal of a run has."""
    said = [event.payload or {} for event in run.events]
    return sum(1 for one in said if one.get("verb") == "model")


def told(run: Run, kind: str) -> list[dict[str, Any]]:
    """Return what the events of one kind say."""
    return [event.payload or {} for event in run.events if event.kind == kind]


# --- tools ---


def note(text: str) -> str:
    """Write something down."""
    RAN.append(text)
    return f"noted {text}"


def search(what: str) -> str:
    """Search for something."""
    RAN.append(what)
    return f"found {what}"


@sayso.tool(risk="high")
def pay(amount: int) -> str:
    """Pay an amount."""
    RAN.append(amount)
    return f"paid {amount}"
