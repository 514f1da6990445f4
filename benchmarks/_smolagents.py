"""smolagents doing what an agent of ours does, as its documentation shows it.

It is installed for the benchmarks only (requirements/bench.txt).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

MISSING = "smolagents is not installed here, so its side is missing. `make bench` installs it."

Agent = Any  # smolagents' ToolCallingAgent
# What a model says: a text (a plan, the answer), or the subject of a call of the one tool and a text.
Line = str | tuple[str, str]
# Given the texts of all messages it is shown, and whether it is to make a plan.
Script = Callable[[Sequence[str], bool], Line]


def installed() -> bool:
    """Whether smolagents can be imported."""
    return find_spec("smolagents") is not None


def agent(
    script: Script,
    act: Callable[[str], str],
    *,
    max_steps: int,
    plan_every: int | None = None,
    callbacks: dict[str, Callable[..., None]] | None = None,
) -> Agent:
    """Return an agent with one tool; callbacks are by the name of a type of step."""
    import smolagents as theirs

    tool = theirs.tool  # by another name it warns

    @tool
    def work(subject: str) -> str:
        """Work on something.

        Args:
            subject: On what.
        """
        return act(subject)

    return theirs.ToolCallingAgent(
        tools=[work],
        model=_model(script),
        planning_interval=plan_every,
        max_steps=max_steps,
        verbosity_level=theirs.LogLevel.OFF,
        step_callbacks={
            getattr(theirs, name): callback for name, callback in (callbacks or {}).items()
        },
    )


def adapted(name: str, build: Callable[[], Agent]) -> Any:  # noqa: ANN401 - our adapter
    """Return an agent as something that a desk can run; its tool asks."""
    from sayso.adapters.smolagents import Smol

    return Smol(name, build, confirm=["work"])


def _model(script: Script) -> Any:  # noqa: ANN401 - smolagents' Model
    from smolagents.models import (
        ChatMessage,
        ChatMessageToolCall,
        ChatMessageToolCallFunction,
        MessageRole,
        Model,
        TokenUsage,
    )

    class Scripted(Model):
        """A model that says what the script says."""

        def generate(
            self,
            messages: list[Any],
            stop_sequences: list[str] | None = None,
            response_format: dict[str, str] | None = None,
            tools_to_call_from: list[Any] | None = None,
            **_: object,
        ) -> Any:  # noqa: ANN401
            planning = not tools_to_call_from
            said = script([_text(message.content) for message in messages], planning)
            usage = TokenUsage(input_tokens=1, output_tokens=1)
            if planning:
                return ChatMessage(MessageRole.ASSISTANT, content=said, token_usage=usage)
            if isinstance(said, str):
                text, name, args = None, "final_answer", {"answer": said}
            else:
                text, name, args = said[1], "work", {"subject": said[0]}
            function = ChatMessageToolCallFunction(name=name, arguments=args)
            call = ChatMessageToolCall(
                id=f"call_{len(messages)}", type="function", function=function
            )
            return ChatMessage(
                MessageRole.ASSISTANT, content=text, tool_calls=[call], token_usage=usage
            )

    return Scripted()


def _text(content: Any) -> str:  # noqa: ANN401 - a text, or parts of one
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(part.get("text", "") for part in content)
