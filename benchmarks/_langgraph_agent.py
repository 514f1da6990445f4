"""LangGraph's prebuilt agent with a scripted model and one tool."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks._langgraph import Saver

# Given how many replies there were, what the model says: a text and the subject of a call, if any.
Script = Callable[[int], tuple[str, str | None]]


def memory_saver() -> Saver:
    """Return its store in memory."""
    from langgraph.checkpoint.memory import InMemorySaver  # type: ignore[import-not-found]

    return InMemorySaver()


def agent(saver: Saver, script: Script, act: Callable[[str], str]) -> Any:  # noqa: ANN401
    """Return the agent: a graph that calls the model and its tools in turns."""
    from langchain_core.language_models import BaseChatModel  # type: ignore[import-not-found]
    from langchain_core.messages import AIMessage, BaseMessage  # type: ignore[import-not-found]
    from langchain_core.outputs import ChatGeneration, ChatResult  # type: ignore[import-not-found]

    def work(subject: str) -> str:
        """Work on something."""
        return act(subject)

    class Scripted(BaseChatModel):  # type: ignore[misc]
        """A model that says what the script says."""

        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Sequence[Any], **_: object) -> Scripted:
            return self

        def _generate(
            self,
            messages: list[BaseMessage],
            stop: list[str] | None = None,
            run_manager: object = None,
            **_: object,
        ) -> ChatResult:
            number = len(messages) // 2  # one by the user, then two a turn
            text, subject = script(number)
            calls = (
                []
                if subject is None
                else [{"name": "work", "args": {"subject": subject}, "id": f"call-{number}"}]
            )
            said = AIMessage(content=text, tool_calls=calls)
            return ChatResult(generations=[ChatGeneration(message=said)])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is about to move to another package
        from langgraph.prebuilt import create_react_agent  # type: ignore[import-not-found]

        return create_react_agent(Scripted(), [work], checkpointer=saver)
