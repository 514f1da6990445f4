"""The middleware: every tool call of a turn is ruled on by the desk, and carried out once.

It works at three moments. When the model has replied, it notes the schemas of the tools that
are called. After that it shows people all calls that need them, at once, and puts their words
into the history: an edited call replaces the one that the model made, a refused one is
answered. When a tool is to run, its approval is spent and the result recorded.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NoReturn, NotRequired, cast

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
    ToolCallRequest,
)
from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.types import Command
from pydantic import BaseModel

from sayso import Ask
from sayso.adapters.base import (
    Errand,
    Refusal,
    Seats,
    carried_out,
    carried_out_async,
    check_host,
    cleared,
    errand,
    foreign,
    told,
)
from sayso.adapters.langchain.making import (
    AsyncHandler,
    Handler,
    asking,
    asking_async,
    carrying,
    carrying_async,
    here,
    part,
    with_args,
)
from sayso.adapters.langchain.results import Result, answer, kept, restored
from sayso.adapters.langchain.turns import completed, last_turn, named, pending, rewritten
from sayso.errors import Answered, BadValue, Misuse, Outcome, SaysoError, StepFailed

_log = logging.getLogger("sayso.adapters.langchain")
OLDEST = "1.4.0"
FAILS: dict[str, str] = {}  # versions that a test of ours fails with, and what does not work
_WHY = 4000  # of what a model writes, that much goes on a card
_NO_PLACE = ("later", "on_reject")  # options of a tool that a LangChain agent has no way to keep


class _State(AgentState[Any]):
    sayso_tools: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class SaysoMiddleware(AgentMiddleware[Any, Any, Any]):
    """Puts the tool calls of a LangChain agent under the policy of a desk.

    ```python
    agent = create_agent(model, tools, middleware=[SaysoMiddleware(confirm=["send"])],
                         checkpointer=saver)
    run = desk.run(Graph("clerk", agent), {"messages": [...]}, thread="42")
    ```

    A call runs alone if the policy says so, or the risk that is declared of its tool does;
    a tool that nothing is known of asks. Put it first in the list of middleware: what others
    make of a turn is then decided on, and what they do around a tool happens once.

    Args:
        confirm: Names of tools that ask whatever the policy allows; `True` for all.
        risk: What is declared of tools: a risk, or a function of the arguments that returns one.
        tools: What else is declared of tools, by name: what `sayso.tool` takes, such as
            `idempotent`, `verify`, `preview`, `secret`, and `asks=True` for a tool that itself
            asks people.

    Raises:
        BadValue: an option is unknown or makes no sense.
    """

    state_schema = _State

    def __init__(
        self,
        *,
        confirm: Sequence[str] | Literal[True] = (),
        risk: Mapping[str, Any] | None = None,
        tools: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init__()
        check_host("langchain", OLDEST, FAILS)
        if isinstance(confirm, str):
            raise BadValue(f"confirm={confirm!r}: give a list of names, or True.")
        self._confirm: frozenset[str] | None = None if confirm is True else frozenset(confirm)
        self._declared = {name: dict(given) for name, given in (tools or {}).items()}
        for name, said in (risk or {}).items():
            self._declared.setdefault(name, {})["risk"] = said
        for name, given in self._declared.items():
            _check(name, given)
        self._unmet = {*self._declared, *(self._confirm or ())}

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ExtendedModelResponse[Any]:
        """Note with the reply what the tools take that it calls: the next process has no list."""
        return self._noted(request, handler(self._shown(request)))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        """Do the same on an event loop."""
        return self._noted(request, await handler(self._shown(request)))

    def _shown(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        here().check_paused()
        self._check_names(request.tools)
        return request.override(messages=completed(request.messages))

    def _noted(
        self, request: ModelRequest[Any], response: ModelResponse[Any]
    ) -> ExtendedModelResponse[Any]:
        replies = [message for message in response.result if isinstance(message, AIMessage)]
        called = {call["name"] for reply in replies for call in reply.tool_calls}
        found = [tool for tool in request.tools if isinstance(tool, BaseTool)]
        shapes = {tool.name: _shape(tool) for tool in found if tool.name in called}
        return ExtendedModelResponse(response, Command(update={"sayso_tools": shapes}))

    def after_model(self, state: Any, runtime: object) -> dict[str, Any] | None:  # noqa: ANN401
        """Have people decide on the calls that need them, and put their words into the history."""
        seats = here()
        seats.check_paused()
        message, answered = last_turn(state["messages"])
        if message is None or not message.tool_calls:
            return None
        calls = named(message.tool_calls)
        shapes = state.get("sayso_tools") or {}
        turn = _Turn(self, message, shapes, list(pending(calls, answered)))
        said = turn.said(seats)
        changed = rewritten(message, [turn.as_decided(call, said) for call in calls])
        refusals = [
            _refusal(call, error)
            for call in calls
            if isinstance(error := said.get(call["id"] or ""), SaysoError)
        ]
        if changed is message and not refusals:
            return None
        return {"messages": [changed, *refusals]}

    async def aafter_model(self, state: Any, runtime: object) -> dict[str, Any] | None:  # noqa: ANN401
        """Do the same on an event loop: nothing in it waits for anybody."""
        return self.after_model(state, runtime)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Result:
        """Carry out a call that was decided on, once; or say again what came of it."""
        seats, call = here(), request.tool_call

        def perform(**args: Any) -> Any:  # noqa: ANN401 - as the tool itself
            return kept(carrying(request, args, handler), call)

        try:
            made = self._wanted(seats, request, perform)
            if not made.gate.rules.asks:
                return restored(carried_out(seats, part(), made), call)  # type: ignore[no-any-return]
            (said,) = cleared(seats, part(), [made])
        except (Outcome, StepFailed, BadValue) as error:
            return _refusal(call, error)
        if isinstance(said, SaysoError):
            return _refusal(call, said)
        return asking(seats, made.place, with_args(request, _decided(made, said)), handler)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: AsyncHandler) -> Result:
        """Do the same on an event loop, with a tool that is awaited."""
        seats, call = here(), request.tool_call

        async def perform(**args: Any) -> Any:  # noqa: ANN401 - as the tool itself
            return kept(await carrying_async(request, args, handler), call)

        try:
            made = self._wanted(seats, request, perform)
            if not made.gate.rules.asks:
                return restored(await carried_out_async(seats, part(), made), call)  # type: ignore[no-any-return]
            (said,) = cleared(seats, part(), [made])
        except (Outcome, StepFailed, BadValue) as error:
            return _refusal(call, error)
        if isinstance(said, SaysoError):
            return _refusal(call, said)
        wanted = with_args(request, _decided(made, said))
        return await asking_async(seats, made.place, wanted, handler)

    def _wanted(
        self, seats: Seats, request: ToolCallRequest, perform: Callable[..., Any]
    ) -> Errand:
        """Return the call that a tool is to be run for.

        Raises:
            Misuse: the model made no such call.
            BadValue: nobody could be shown it.
        """
        seats.check_paused()
        message, _ = last_turn(_messages(request.state))
        call = request.tool_call
        if message is None:
            raise Misuse(
                f"{call['name']} is to be called, and no message of the model asks for it, so "
                "nobody can have decided on it. Call tools through the agent."
            )
        shape = _shape(request.tool) if request.tool is not None else None
        return self.errand(message, call, shape, perform)

    def _check_names(self, tools: Sequence[object]) -> None:
        """Warn of a name that no tool has, once: it may be misspelt, or come with a later request."""
        known = {tool.name for tool in tools if isinstance(tool, BaseTool)}
        for name in sorted(self._unmet - known):
            _log.warning("SaysoMiddleware is told of %r, and the agent has no such tool.", name)
        self._unmet = set()

    def errand(
        self,
        message: AIMessage,
        call: ToolCall,
        shape: Mapping[str, Any] | None,
        perform: Callable[..., Any] | None = None,
    ) -> Errand:
        """Return a call of this message as a run takes it.

        Raises:
            BadValue: nobody could be shown it.
        """
        name, args = call["name"], call["args"]
        given = {"why": _why(message), **self._declared.get(name, {})}
        tool = foreign(name, perform or _nobody, _closed(shape or {}, args), **given)
        confirmed = self._confirm is None or name in self._confirm
        return errand(_place(message, call), tool, args, confirmed=confirmed)


class _Turn:
    """The calls of one message that are not answered yet, before people."""

    def __init__(
        self,
        middleware: SaysoMiddleware,
        message: AIMessage,
        shapes: Mapping[str, Mapping[str, Any]],
        calls: Sequence[ToolCall],
    ) -> None:
        self._errands: dict[str, Errand] = {}
        self._bad: dict[str, Ask | Refusal | None] = {}
        for call in calls:
            try:
                made = middleware.errand(message, call, shapes.get(call["name"]))
                self._errands[call["id"] or ""] = made
            except BadValue as error:
                self._bad[call["id"] or ""] = error

    def said(self, seats: Seats) -> dict[str, Ask | Refusal | None]:
        """Ask about all of them, and return what was said to each, by its id."""
        said = cleared(seats, part(), list(self._errands.values()))
        return {**self._bad, **dict(zip(self._errands, said, strict=True))}

    def as_decided(self, call: ToolCall, said: Mapping[str, Ask | Refusal | None]) -> ToolCall:
        """Return a call as it is to be made: edited, if a person edited it."""
        ask, made = said.get(call["id"] or ""), self._errands.get(call["id"] or "")
        if made is None or not isinstance(ask, Ask):
            return call
        return cast("ToolCall", {**call, "args": _decided(made, ask)})


def _decided(made: Errand, ask: Ask | None) -> dict[str, Any]:
    """Return the arguments of a call as they are after people had their say; secrets as they were."""
    if ask is None or ask.original is None:
        return dict(made.args)
    tool = made.gate.tool
    found = tool.thaw(ask.args, tool.bind((), dict(made.args)))
    return {name: found[name] for name in sorted(found, key=[*made.args, *found].index)}


def _refusal(call: ToolCall, error: Refusal) -> ToolMessage:
    return answer(call, told(error), failed=not isinstance(error, Answered))


def _check(name: str, given: Mapping[str, Any]) -> None:
    """Refuse what is declared of a tool if it cannot be kept.

    Raises:
        BadValue: says why.
    """
    for option in _NO_PLACE:
        if option in given:
            raise BadValue(
                f"tools={{{name!r}: ...}}: LangChain waits for all calls of a turn and tells the "
                f"model what people said, so there is no {option}= here."
            )
    foreign(name, _nobody, {}, **given)


def _nobody(**_: object) -> NoReturn:
    raise AssertionError("unreachable: a call is not carried out where it is decided on")


def _messages(state: Any) -> Sequence[AnyMessage]:  # noqa: ANN401 - as the agent's schema has it
    found = state.get("messages") if isinstance(state, dict) else getattr(state, "messages", state)
    return found if isinstance(found, list) else []


def _why(message: AIMessage) -> str | None:
    """Return what the model says to its calls; a reply that was cut off may end in half a sign."""
    return message.text[:_WHY].encode("utf-8", "replace").decode() or None


def _place(message: AIMessage, call: ToolCall) -> str:
    """Return the name of a call: of this agent among others, of this message, of this id."""
    around, _, _ = part().rpartition("|")
    return f"{message.id} {call['id']} {around}"


def _shape(tool: BaseTool) -> dict[str, Any]:
    """Return what a model can give to a tool; what the host puts in is not among it."""
    schema = tool.tool_call_schema
    if isinstance(schema, dict):
        return dict(schema)
    return schema.model_json_schema() if issubclass(schema, BaseModel) else schema.schema()


def _closed(shape: Mapping[str, Any], args: Mapping[str, Any]) -> dict[str, Any]:
    """Let an edit add no argument that the tool does not have; what the model sent may stay."""
    fields = shape.get("properties")
    if not isinstance(fields, dict) or not set(args) <= set(fields):
        return dict(shape)
    return {"additionalProperties": False, **shape}
