"""What an agent and its model say to each other: our own small JSON, whoever the provider is.

A reply is kept in the journal once, as it came; the messages of a prompt are
made from the journal each time. The form has a version, so that a journal
written today can be read by the code of tomorrow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sayso.errors import BadValue

VERSION = 1
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model wants made. `broken` is what it sent, if that were no arguments."""

    id: str
    tool: str
    args: Mapping[str, Any] = field(default_factory=dict)
    broken: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls took: tokens in and out, and dollars, if the price is known."""

    input: int = 0
    output: int = 0
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.input + self.output


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation.

    One of the role `assistant` may carry calls; one of the role `tool` says what came of
    the call with the id `call`, and one of the role `user` with a `call` does so later, for a
    call that waited in the queue. `native` is what a provider wants to see again as it was.
    """

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    call: str | None = None
    tool: str | None = None
    failed: bool = False
    native: Any = None

    @property
    def json(self) -> dict[str, Any]:
        """The message as plain data."""
        said: dict[str, Any] = {"role": self.role, "text": self.text}
        if self.calls:
            said["calls"] = [_call_json(call) for call in self.calls]
        for name in ("call", "tool", "failed", "native"):
            if getattr(self, name):
                said[name] = getattr(self, name)
        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said: a text, calls, or both. A text without calls is its answer."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    model: str | None = None
    native: Any = None

    @property
    def json(self) -> dict[str, Any]:
        """The reply as the journal keeps it."""
        said: dict[str, Any] = {"v": VERSION, "text": self.text}
        if self.calls:
            said["calls"] = [_call_json(call) for call in self.calls]
        if self.usage != Usage():
            said["usage"] = _usage_json(self.usage)
        for name in ("model", "native"):
            if getattr(self, name):
                said[name] = getattr(self, name)
        return said

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Reply:
        """Read a reply from the journal.

        Raises:
            BadValue: a newer version of sayso wrote it.
        """
        if said.get("v", 0) > VERSION:
            raise BadValue(
                f"This reply was recorded in version {said['v']} of its form; this sayso reads up "
                f"to {VERSION}. Carry the run on with the version that began it, or a newer one."
            )
        return cls(
            text=said.get("text", ""),
            calls=tuple(_call_of(call) for call in said.get("calls", ())),
            usage=Usage(**said.get("usage", {})),
            model=said.get("model"),
            native=said.get("native"),
        )


def _call_json(call: ToolCall) -> dict[str, Any]:
    said: dict[str, Any] = {"id": call.id, "tool": call.tool, "args": dict(call.args)}
    return said if call.broken is None else {**said, "broken": call.broken}


def _call_of(said: Mapping[str, Any]) -> ToolCall:
    return ToolCall(said["id"], said["tool"], said.get("args", {}), said.get("broken"))


def _usage_json(usage: Usage) -> dict[str, Any]:
    said: dict[str, Any] = {"input": usage.input, "output": usage.output}
    return said if usage.cost is None else {**said, "cost": usage.cost}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it: `schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a model is asked.

    `must` names the one tool it has to call now, as when it is to make a plan. `say` takes
    the text of the reply while it arrives, piece by piece. `number` counts the model calls of
    the run, the ones before a pause included.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    must: str | None = None
    say: Callable[[str], object] | None = None
    number: int = 1

    @property
    def last(self) -> str:
        """The text of the last message."""
        return self.messages[-1].text if self.messages else ""


class Model(Protocol):
    """Whatever can reply to a prompt."""

    def reply(self, prompt: Prompt) -> Reply:
        """Reply, blocking until all of it is there.

        Raises:
            ModelUnavailable: not now; the same prompt may do later.
            ModelFailed: it will not reply to this prompt.
        """
        ...
