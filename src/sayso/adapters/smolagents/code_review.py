"""Blocks of code, seen by people before they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sayso.adapters.base import Running, told
from sayso.adapters.smolagents.terms import CODE, Terms
from sayso.errors import Answered, Rejected

_SCHEMA = {
    "type": "object",
    "properties": {"code": {"type": "string", "pattern": r"\S"}},
    "required": ["code"],
    "additionalProperties": False,
}


class NotRun(Exception):
    """A block of code that people did not want to run."""


class CodeReview:
    """Asks before each block, and lets the history of the agent have it as it ran."""

    def __init__(self, run: Running, terms: Terms, why: Callable[[], str]) -> None:
        self._run = run
        self._terms = terms
        self._why = why
        self._edit: tuple[str, str] | None = None

    def code(self, written: str) -> str:
        """Return a block as it may run.

        Raises:
            NotRun: it may not.
        """
        self._edit = None
        ask = self._run.propose(
            CODE,
            {"code": written},
            schema=_SCHEMA,
            title="Run this code",
            why=self._why()[:2000] or None,
            risk=self._terms.risk.get(CODE),
        )
        if not ask.decision:
            no = Answered(ask) if ask.decision.verdict == "respond" else Rejected(ask)
            raise NotRun(told(no))
        allowed = str(ask.args["code"])
        if allowed != written:
            self._edit = (written, allowed)
        return allowed

    def __call__(self, memory_step: Any, agent: Any) -> None:  # noqa: ANN401 - an ActionStep, and the agent
        """Show the model the code that ran, not the code that it wrote (E18)."""
        if self._edit is None or memory_step.code_action is None:
            return
        (old, new), self._edit = self._edit, None
        said = str(memory_step.model_output or "")
        begin, end = agent.code_block_tags
        shown = said.replace(old, new) if old in said else f"{begin}\n{new}\n{end}"
        memory_step.code_action = new
        memory_step.model_output = shown
        if memory_step.model_output_message is not None:
            memory_step.model_output_message.content = shown
        for call in memory_step.tool_calls or ():
            call.arguments = new
