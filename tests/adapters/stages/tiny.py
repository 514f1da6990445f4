"""The host of docs/howto/adapters.md and its adapter, as the page has them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import sayso
from tests.adapters.story import Said, Wanted, pay, send, task, think
from tests.docs.pages import DOCS, blocks


def load(name: str) -> ModuleType:
    """Load a file that the page shows."""
    (found,) = [one for one in blocks(DOCS / "howto/adapters.md") if one.title == f"{name}.py"]
    module = sys.modules[name] = ModuleType(name)
    exec(compile(found.text, f"{found.page}:{found.line}", "exec"), module.__dict__)
    return module


tiny, sayso_tiny = load("tiny"), load("sayso_tiny")


def ask(question: str) -> str:
    return str(sayso.question(question))


def model(messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    shown = [
        Said(one["role"], one["text"], tuple(Wanted(**call) for call in one["calls"]))
        for one in messages
    ]
    said = think(shown)
    if isinstance(said, str):
        return {"text": said, "calls": []}
    calls = [one for one in said if isinstance(one, Wanted)]
    return {"text": "", "calls": [{"tool": one.tool, "args": dict(one.args)} for one in calls]}


def schema(**types: str) -> dict[str, Any]:
    return {
        "properties": {name: {"type": given} for name, given in types.items()},
        "required": list(types),
        "additionalProperties": False,
    }


SCHEMAS = {
    "pay": schema(to="string", amount="integer"),
    "send": schema(to="string", text="string"),
    "ask": schema(question="string"),
}

AGENT = sayso_tiny.Tiny(
    "story-of-tiny",
    lambda: tiny.Agent(model, {"pay": pay, "send": send, "ask": ask}, SCHEMAS),
    confirm=["pay", "send"],
    terms={"ask": {"asks": True}},
)
GIVEN = task(plans=False)
