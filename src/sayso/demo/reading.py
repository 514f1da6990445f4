"""What a model without a mind finds in the messages it is shown."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.agent import Message

Messages = tuple[Message, ...]
_FOLLOW = "Follow it:"


def task_of(messages: Messages) -> str:
    """Return what it was asked to do."""
    return next(message.text for message in messages if message.role == "user")


def told(messages: Messages, tool: str) -> list[str]:
    """Return what came of the calls of a tool, in order."""
    return [message.text for message in messages if message.tool == tool]


def plan_of(messages: Messages) -> Sequence[str]:
    """Return the steps of the plan that a person approved last."""
    shown = next((m.text for m in reversed(messages) if _FOLLOW in m.text), "")
    lines = shown.partition(_FOLLOW)[2].strip().splitlines()
    return [line.partition(". ")[2] for line in lines if line[:1].isdigit()]
