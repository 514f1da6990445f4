"""Our own agent: what every other one is measured by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sayso
from sayso.agent import Message, call
from tests.adapters.story import Said, Wanted, pay, send, task, think


@sayso.tool(asks=True)
def ask(question: str) -> str:
    """Ask the person who is waiting."""
    return str(sayso.question(question))


def reply(messages: Sequence[Message], tools: tuple[str, ...]) -> Any:
    shown = [
        Said(one.role, one.text, tuple(Wanted(made.tool, made.args) for made in one.calls))
        for one in messages
    ]
    said = think(shown, planning=tools == ("plan",))
    if isinstance(said, list):
        return [call(one.tool, **one.args) if isinstance(one, Wanted) else one for one in said]
    return said


AGENT = sayso.Agent(
    "story-of-ours",
    sayso.ScriptedModel(reply),
    [pay, send, ask],
    confirm=["pay", "send"],
    plan_every=9,
)

GIVEN = task(plans=True)
