"""Plans: shown as steps, changed by people, and never forgotten when the agent plans again.

smolagents leaves its plans out when it makes the next one. What a person changed, or asked for,
is therefore put into the memory of the agent as a step of its own, which every later
prompt has (E9).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from smolagents import ChatMessage, PlanningStep
from smolagents.memory import MemoryStep
from smolagents.models import MessageRole

from sayso import Ask
from sayso.adapters.base import Running, review_plan

_ITEM = re.compile(
    r"^(?P<indent>\s*)(?:#{1,6}\s*)?(?P<mark>(?:\d+\.\s?)*\d+[.):]|[-*•])\s+(?P<text>\S.*)$"
)
_HEADING = re.compile(r"^\s*#{1,6}.*\bplan\b.*$", re.IGNORECASE | re.MULTILINE)
_END = "<end_plan>"


@dataclass
class Heeded(MemoryStep):
    """What a person said to a plan, for every prompt from then on."""

    text: str

    def to_messages(self, summary_mode: bool = False) -> list[ChatMessage]:  # noqa: FBT001, FBT002 - as of MemoryStep: a summary has it, too
        """Return it as a message of the user."""
        return [_message(MessageRole.USER, self.text)]


class Plans:
    """Reviews the plans of one agent: a callback on `PlanningStep`."""

    def __init__(self, run: Running, name: str) -> None:
        self._run = run
        self._name = name

    def __call__(self, memory_step: PlanningStep, agent: Any) -> None:  # noqa: ANN401 - the agent
        """Have the plan reviewed before the first step of it; cancelling it ends the run (E8)."""
        text, about = _text(memory_step), None
        talk = list(memory_step.model_input_messages)
        while True:
            before, steps = split(text)
            ask = review_plan(self._run, steps, title=self._title(agent), about=about)
            decision = ask.decision
            if decision is None or decision.verdict != "respond":
                break
            said = decision.text or "no reason was given"
            talk += [
                _message(MessageRole.ASSISTANT, text),
                _message(MessageRole.USER, _again(said)),
            ]
            reply = agent.model.generate(talk, stop_sequences=[_END])
            text, about = str(reply.content or ""), ask.id
            by = decision.by.id
            agent.memory.steps.append(Heeded(f"{by} said of the plan: {said}\nThis holds on."))
        self._settle(memory_step, agent, text, joined(before, ask.args["steps"]), ask)

    def _settle(
        self,
        memory_step: PlanningStep,
        agent: Any,  # noqa: ANN401
        text: str,
        approved: str,
        ask: Ask,
    ) -> None:
        """Let the agent have the plan as it was approved."""
        new = text if ask.original is None else approved
        old = _text(memory_step)
        memory_step.plan = memory_step.plan.replace(old, new) if old else new
        memory_step.model_output_message.content = new
        if ask.original is not None and ask.decision is not None:
            steps = joined("", ask.args["steps"])
            agent.memory.steps.append(
                Heeded(
                    f"{ask.decision.by.id} changed the plan and approved it as follows. Keep to what "
                    f"they changed, also in later plans, unless they say otherwise:\n{steps}"
                )
            )

    def _title(self, agent: Any) -> str:  # noqa: ANN401
        task = " ".join(str(agent.task or "").split())
        return f"Plan of {self._name}: {task[:80]}"


def split(text: str) -> tuple[str, list[str | dict[str, str]]]:
    """Return what stands before the steps of a plan, and the steps.

    A step is an item of the list after the last heading that says plan; what is indented below it,
    or written under it, is its detail. A plan without a list is one step.
    """
    text = text.replace(_END, "").rstrip()
    headings = list(_HEADING.finditer(text))
    begin = headings[-1].end() if headings else 0
    lines = text[begin:].splitlines()
    items = [(number, found) for number, line in enumerate(lines) if (found := _ITEM.match(line))]
    if not items:
        whole = text[begin:].strip()
        return (text[:begin], [whole]) if whole else ("", [text.strip() or "(an empty plan)"])
    first, kind = len(items[0][1]["indent"]), items[0][1]["mark"][0].isdigit()
    tops = [
        number
        for number, found in items
        if len(found["indent"]) <= first and found["mark"][0].isdigit() is kind
    ]
    ends = [*tops[1:], len(lines)]
    steps = [_step(lines[top:end]) for top, end in zip(tops, ends, strict=True)]
    return text[:begin] + "\n".join(["", *lines[1 : tops[0]]] if begin else lines[: tops[0]]), steps


def _step(lines: Sequence[str]) -> str | dict[str, str]:
    found = _ITEM.match(lines[0])
    title = (found["text"] if found else lines[0]).strip()
    detail = "\n".join(line.strip() for line in lines[1:]).strip()
    return {"title": title, "detail": detail} if detail else title


def joined(before: str, steps: Sequence[Any]) -> str:
    """Return a plan as text again."""
    numbered = []
    for number, step in enumerate(steps, start=1):
        said = step if isinstance(step, str) else step["title"]
        detail = "" if isinstance(step, str) else str(step.get("detail") or "")
        numbered.append(f"{number}. {said}")
        numbered += [f"   {line}" for line in detail.splitlines()]
    return "\n".join([*([before.rstrip()] if before.strip() else []), *numbered])


def _again(said: str) -> str:
    return (
        f"A person has seen this plan and wants another one: {said}\n"
        f"Write the whole plan again, as a numbered list, and end it with '{_END}'."
    )


def _text(step: PlanningStep) -> str:
    content = step.model_output_message.content
    return content if isinstance(content, str) else str(content or "")


def _message(role: MessageRole, text: str) -> ChatMessage:
    return ChatMessage(role=role, content=[{"type": "text", "text": text}])
