"""LangGraph's prebuilt agent, and LangChain's, with a scripted model and one tool."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from benchmarks._langgraph import Saver

# Given how many replies there were, what the model says: a text and the subject of a call, if any.
Script = Callable[[int], tuple[str, str | None]]


def memory_saver() -> Saver:
    """Return its store in memory."""
    from langgraph.checkpoint.memory import InMemorySaver

    return InMemorySaver()


def langchain_installed() -> bool:
    """Whether LangChain can be imported."""
    return find_spec("langchain") is not None


def agent(saver: Saver, script: Script, act: Callable[[str], str]) -> Any:  # noqa: ANN401
    """Return the agent: a graph that calls the model and its tools in turns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is about to move to another package
        from langgraph.prebuilt import create_react_agent

        return create_react_agent(_model(script), [_tool(act)], checkpointer=saver)


def reviewed(saver: Saver, script: Script, act: Callable[[str], str]) -> Any:  # noqa: ANN401
    """Return LangChain's agent, with its own middleware to ask before a call."""
    from langchain.agents.middleware import HumanInTheLoopMiddleware

    return _with(HumanInTheLoopMiddleware({"work": True}), saver, script, act)


def governed(saver: Saver, script: Script, act: Callable[[str], str]) -> Any:  # noqa: ANN401
    """Return the same agent with our middleware, as something that a desk can run."""
    from sayso.adapters.langchain import SaysoMiddleware
    from sayso.adapters.langgraph import Graph

    return Graph("governed", _with(SaysoMiddleware(confirm=["work"]), saver, script, act))


def approved() -> Any:  # noqa: ANN401 - langgraph's Command
    """Return what its middleware hears when a person approves the only call."""
    from langgraph.types import Command

    return Command(resume={"decisions": [{"type": "approve"}]})


def _with(middleware: Any, saver: Saver, script: Script, act: Callable[[str], str]) -> Any:  # noqa: ANN401
    from langchain.agents import create_agent

    return create_agent(_model(script), [_tool(act)], middleware=[middleware], checkpointer=saver)


def _tool(act: Callable[[str], str]) -> Callable[[str], str]:
    def work(subject: str) -> str:
        """Work on something."""
        return act(subject)

    return work


def _model(script: Script) -> Any:  # noqa: ANN401 - langchain's BaseChatModel
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Scripted(BaseChatModel):
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

    return Scripted()
