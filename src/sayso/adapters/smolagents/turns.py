"""The calls of one reply of a `ToolCallingAgent`: asked for together, decided in any order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smolagents.agent_types import (
    AgentAudio,
    AgentImage,
    handle_agent_output_types,
)
from smolagents.agents import ToolOutput
from smolagents.memory import ToolCall
from smolagents.tools import validate_tool_arguments
from smolagents.utils import AgentExecutionError, AgentToolCallError, AgentToolExecutionError

from sayso.adapters.smolagents.calls import Calls, Came, Opened
from sayso.adapters.smolagents.terms import named

_FINAL = "final_answer"
_ALONE = (
    "If you want to return an answer, please do not perform any other tool calls than the final "
    "answer tool call!"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One call as the model wants it: what it wrote, and with which values it is made."""

    call: Any  # a ChatMessageToolCall
    tool: Any
    args: Mapping[str, Any]


class Turns:
    """Takes the place of `ToolCallingAgent.process_tool_calls`."""

    def __init__(self, agent: Any, calls: Calls) -> None:  # noqa: ANN401 - a ToolCallingAgent
        self._agent = agent
        self._calls = calls

    def __call__(self, chat_message: Any, memory_step: Any) -> Iterator[Any]:  # noqa: ANN401 - a ChatMessage, an ActionStep
        """Settle every call of a reply. What cannot be called at all is said before any is made."""
        calls = chat_message.tool_calls or []
        wanted = [self._wanted(call) for call in calls]
        if len(calls) > 1 and any(call.function.name == _FINAL for call in calls):
            raise AgentExecutionError(_ALONE, self._agent.logger)
        why = chat_message.content if isinstance(chat_message.content, str) else ""
        came = self._settled(wanted, why)
        for one, outcome in zip(wanted, came, strict=True):
            self._show_edit(one, outcome, chat_message, memory_step)
        outputs = [self._output(one, outcome) for one, outcome in zip(wanted, came, strict=True)]
        yield from (output.tool_call for output in outputs)
        yield from outputs
        memory_step.tool_calls = [output.tool_call for output in outputs]
        memory_step.observations = _observed(outputs)

    def _wanted(self, call: Any) -> Wanted:  # noqa: ANN401 - a ChatMessageToolCall
        """Find the tool of a call, and the values of its arguments, as the host does.

        Raises:
            AgentToolExecutionError: there is no such tool.
            AgentToolCallError: it does not take these arguments.
        """
        agent, name = self._agent, call.function.name
        known = {**agent.tools, **agent.managed_agents}
        if name not in known:
            said = f"Unknown tool {name}, should be one of: {', '.join(known)}."
            raise AgentToolExecutionError(said, agent.logger)
        tool, args = known[name], call.function.arguments or {}
        if not isinstance(args, dict):
            if not tool.inputs:
                said = f"{name} takes no arguments, and was given {args!r}: give {{}}."
                raise AgentToolCallError(said, agent.logger)
            args = {next(iter(tool.inputs)): args}
        args = {
            key: agent.state.get(value, value) if isinstance(value, str) else value
            for key, value in args.items()
        }
        try:
            validate_tool_arguments(tool, args)
            full = args if name in agent.managed_agents else named(tool, (), args)
        except (ValueError, TypeError) as error:
            raise AgentToolCallError(str(error), agent.logger) from error
        return Wanted(call, tool, full)

    def _settled(self, wanted: Sequence[Wanted], why: str) -> list[Came]:
        """Ask for all calls at once; then carry out each that may be, whatever the others wait for.

        Other agents work one after the other: they may be one and the same.
        """
        opened = [self._calls.open(one.tool, one.args, why) for one in wanted]
        for one in opened:
            one.check_ended()
        plain = [one for one in opened if not one.hands_over]
        came = iter(self._side_by_side(plain))
        return [one.came() if one.hands_over else next(came) for one in opened]

    def _side_by_side(self, opened: Sequence[Opened]) -> list[Came]:
        if len(opened) < 2:
            return [one.came() for one in opened]
        return self._calls.run.gather(*[one.came for one in opened])

    def _show_edit(self, one: Wanted, came: Came, message: Any, memory_step: Any) -> None:  # noqa: ANN401
        """Let the history have the call as a person changed it, and only that (E18)."""
        if came.edited is None:
            return
        wrote = one.call.function.arguments
        before = wrote if isinstance(wrote, dict) else {}
        one.call.function.arguments = {
            name: before[name] if name in before and value is one.args.get(name) else value
            for name, value in came.edited.items()
        }
        model = self._agent.model
        said = _rewritten(message.content, one.call.function, model)
        if said is not None:
            message.content = memory_step.model_output = said

    def _output(self, one: Wanted, came: Came) -> Any:  # noqa: ANN401 - a ToolOutput
        agent, name = self._agent, one.call.function.name
        value: Any = came.text
        if came.error is None:
            value = handle_agent_output_types(came.value, one.tool.output_type)
        observation = str(value).strip()
        if came.error is None and type(value) in (AgentImage, AgentAudio):
            stored = "image.png" if type(value) is AgentImage else "audio.mp3"
            agent.state[stored] = value
            observation = f"Stored '{stored}' in memory."
        agent.logger.log(f"{name}: {observation.replace('[', '|')}")  # no markup of the console's
        return ToolOutput(
            id=one.call.id,
            output=value,
            is_final_answer=name == _FINAL and came.error is None,
            observation=observation,
            tool_call=ToolCall(name=name, arguments=one.call.function.arguments, id=one.call.id),
        )


def _observed(outputs: Sequence[Any]) -> str:
    """Return what the model observes; of several calls, each by its name."""
    if len(outputs) == 1:
        return str(outputs[0].observation)
    return "\n".join(
        f"{output.tool_call.name} ({output.id}): {output.observation}" for output in outputs
    )


def _rewritten(text: Any, function: Any, model: Any) -> str | None:  # noqa: ANN401
    """Return a text that holds the call as JSON with the arguments as they are now."""
    if not isinstance(text, str) or "{" not in text or "}" not in text:
        return None
    begin, end = text.index("{"), text.rindex("}") + 1
    try:
        call = json.loads(text[begin:end], strict=False)
    except ValueError:
        return None
    name, args = model.tool_name_key, model.tool_arguments_key
    if not isinstance(call, dict) or call.get(name) != function.name:
        return None
    return f"{text[:begin]}{json.dumps({**call, args: function.arguments})}{text[end:]}"
