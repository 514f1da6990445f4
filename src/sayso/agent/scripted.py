"""A model that follows a script: for tests, demos and the first five minutes, without a key."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from sayso.agent.messages import Message, Prompt, Reply, ToolCall, Usage
from sayso.agent.plan import NAME as PLAN
from sayso.errors import Misuse
from sayso.model.text import one_line

Line = str | ToolCall | Reply | Sequence[Any]
Script = Callable[..., Line] | Sequence[Line]


def call(tool: str, **args: Any) -> ToolCall:  # noqa: ANN401 - as the tool takes them
    """Return a call as a model would make it: `call("search", query="news")`."""
    return ToolCall("", tool, args)


class ScriptedModel:
    """A model that says what its script says.

    A script is a function of the messages (and, if it takes two arguments, of the names of
    the tools that are offered), or a list with one line for each reply. A line is a text, a
    `call(...)`, several calls, or a `Reply`. Where a plan is wanted, it is a list of steps.

    ```python
    from sayso.agent import call

    model = ScriptedModel(lambda messages: "Nothing to do.")
    model = ScriptedModel([["Search", "Write it up"], call("search", query="news"), "Done."])
    ```
    """

    def __init__(self, script: Script) -> None:
        if not callable(script) and (isinstance(script, str) or not isinstance(script, Sequence)):
            raise Misuse(
                f"A script is a function of the messages, or a list of lines, not "
                f"{type(script).__name__}."
            )
        self._script = script
        self._takes = _takes(script) if callable(script) else 0

    def reply(self, prompt: Prompt) -> Reply:
        """Say the next line.

        Raises:
            Misuse: the script does not fit what the agent wants.
        """
        said = _reply(self._line(prompt), prompt)
        if prompt.say is not None:
            for piece in said.text.splitlines(keepends=True):
                prompt.say(piece)
        return said

    def _line(self, prompt: Prompt) -> Line:
        if callable(self._script):
            tools = tuple(spec.name for spec in prompt.tools)
            return self._script(*(prompt.messages, tools)[: self._takes])
        if prompt.number > len(self._script):
            raise Misuse(
                f"The script ends after line {len(self._script)}, and the agent wants one more "
                f"({'a plan' if prompt.must else 'a reply'}) to: {one_line(prompt.last, 200)!r}"
            )
        return self._script[prompt.number - 1]


def _takes(script: Callable[..., Line]) -> int:
    parameters = inspect.signature(script).parameters.values()
    given = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 2
    if len(given) not in (1, 2):
        raise Misuse("A script takes the messages, or the messages and the names of the tools.")
    return len(given)


def _reply(line: Line, prompt: Prompt) -> Reply:
    if isinstance(line, Reply):
        return line
    usage = Usage(_tokens(prompt.messages), 1)
    if isinstance(line, str):
        return Reply(text=line, usage=Usage(usage.input, _count(line)))
    if isinstance(line, ToolCall):
        return Reply(calls=(line,), usage=usage)
    if not isinstance(line, Sequence):
        raise _no_line(line, prompt)
    calls = tuple(item for item in line if isinstance(item, ToolCall))
    if calls and len(calls) == len(line):
        return Reply(calls=calls, usage=usage)
    if prompt.must == PLAN:
        return Reply(calls=(ToolCall("", PLAN, {"steps": list(line)}),), usage=usage)
    raise _no_line(line, prompt)


def _no_line(line: object, prompt: Prompt) -> Misuse:
    return Misuse(
        f"The script says {one_line(repr(line), 200)}, which is no reply here. A line is a text, "
        f"call(...), a list of them, or a Reply{'; for a plan, a list of steps' if prompt.must else ''}."
    )


def _tokens(messages: Sequence[Message]) -> int:
    """Return roughly what a provider would count, so that limits can be tried out."""
    return sum(_count(message.text) for message in messages)


def _count(text: str) -> int:
    return 1 + len(text) // 4
