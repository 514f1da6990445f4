"""Questions of an agent to people: a drop-in for the tool that reads from a terminal."""

from __future__ import annotations

from smolagents import UserInputTool

import sayso

UNANSWERED = "Nobody answered. Go on without it, or say in your answer what is missing."


class UserInput(UserInputTool):
    """Asks people at the desk, who may take days. The same name and input as `UserInputTool`."""

    def forward(self, question: str) -> str:
        """Put a question to people, and return what they said."""
        answer = sayso.question(question)
        return UNANSWERED if answer is None else str(answer)
