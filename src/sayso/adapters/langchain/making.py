"""How the host makes a call: in a run, once and recorded, or asking people on its way."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.tools import StructuredTool
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp

from sayso.adapters.base import SILENT, Seats, in_a_loop, seated
from sayso.adapters.langchain.results import Result
from sayso.errors import Misuse

Handler = Callable[[ToolCallRequest], Result]
AsyncHandler = Callable[[ToolCallRequest], Awaitable[Result]]


def here() -> Seats:
    """Return the places of the run that is carried on here.

    Raises:
        Misuse: there is none, or nobody can be asked in this part of it.
    """
    name, seats = SILENT.get(), seated()
    if name is not None:
        raise _asks(name)
    if seats is None:
        raise Misuse(
            "SaysoMiddleware works inside a run of a desk. Run the agent through "
            "sayso.adapters.langgraph: desk.run(Graph('clerk', agent), {'messages': [...]})."
        )
    return seats


def part() -> str:
    """Return which task of the graph runs here, and of which graph in it."""
    return str(get_config()["configurable"].get("checkpoint_ns", ""))


def asking(seats: Seats, place: str, request: ToolCallRequest, handler: Handler) -> Result:
    """Let the host run a tool that asks people itself, at a place of its own for what it asks."""
    with seats.at(f"{part()} {place} inside"):
        return handler(_blocking(request))


async def asking_async(
    seats: Seats, place: str, request: ToolCallRequest, handler: AsyncHandler
) -> Result:
    """Do the same on an event loop: what the tool asks is awaited if it is `async def`."""
    with seats.at(f"{part()} {place} inside", awaits=True):
        return await handler(request)


def carrying(request: ToolCallRequest, args: dict[str, Any], handler: Handler) -> Result:
    """Let the host run a tool. What it must not do meanwhile is to ask anybody."""
    with _silent(request.tool_call["name"]):
        return handler(_blocking(with_args(request, args)))


async def carrying_async(
    request: ToolCallRequest, args: dict[str, Any], handler: AsyncHandler
) -> Result:
    """Do the same on an event loop."""
    with _silent(request.tool_call["name"]):
        return await handler(with_args(request, args))


@contextmanager
def _silent(name: str) -> Iterator[None]:
    before = SILENT.set(name)
    try:
        yield
    except GraphBubbleUp as error:
        raise _asks(name) from error
    finally:
        SILENT.reset(before)


def with_args(request: ToolCallRequest, args: dict[str, Any]) -> ToolCallRequest:
    """Return the request with the arguments that it is to be made with."""
    return request.override(tool_call=cast("Any", {**request.tool_call, "args": args}))


def _blocking(request: ToolCallRequest) -> ToolCallRequest:
    """Let a tool that can only be awaited run in a loop of its own: the graph is plain."""
    tool = request.tool
    if not isinstance(tool, StructuredTool) or tool.func is not None or tool.coroutine is None:
        return request
    awaited = tool.coroutine

    @functools.wraps(awaited)
    def run(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the tool itself
        return in_a_loop(cast("Any", awaited(*args, **kwargs)))

    return request.override(tool=tool.model_copy(update={"func": run}))


def _asks(name: str) -> Misuse:
    return Misuse(
        f"{name} asks people while it runs (interrupt(), another agent), so it cannot be carried "
        f"out once and recorded. Declare it: SaysoMiddleware(tools={{{name!r}: {{'asks': True}}}})."
    )
