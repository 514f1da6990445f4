"""The two ways of calling a graph: plainly on this thread, or awaited on an event loop.

A run is carried on by a thread that blocks; an awaited graph runs on the loop of another thread.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, get_args

from langgraph.pregel import Pregel
from langgraph.types import StreamMode

from sayso.adapters.base import Listener, awaited_on, check_loop
from sayso.errors import BadValue

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.types import StateSnapshot

Compiled = Pregel[Any, Any, Any, Any]
_STREAMS = {"stream_mode", "subgraphs"}  # what people may say of a stream; the rest is the run's


class Driver(Protocol):
    """How a graph is called."""

    graph: Compiled

    @property
    def awaits(self) -> Callable[[], bool]:
        """Says whether the code that runs here awaits its verbs."""
        ...

    def invoke(
        self,
        given: Any,  # noqa: ANN401 - what LangGraph takes
        config: RunnableConfig,
        context: Any,  # noqa: ANN401 - what LangGraph takes
        heard: Listener | None,
    ) -> None:
        """Let the graph go on until it asks, or ends. What it streams goes to those who hear it."""
        ...

    def state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """Return where a thread stands."""
        ...

    def update(self, config: RunnableConfig, values: Any, as_node: str | None) -> None:  # noqa: ANN401
        """Change where a thread stands."""
        ...


class Plain:
    """A graph that is called on this thread."""

    def __init__(self, graph: Compiled) -> None:
        self.graph = graph

    @property
    def awaits(self) -> Callable[[], bool]:
        """Its code never awaits a verb."""
        return lambda: False

    def invoke(
        self,
        given: Any,  # noqa: ANN401 - what LangGraph takes
        config: RunnableConfig,
        context: Any,  # noqa: ANN401 - what LangGraph takes
        heard: Listener | None,
    ) -> None:
        """Let the graph go on until it asks, or ends. What it streams goes to those who hear it."""
        more: dict[str, Any] = {"context": context, "durability": "sync"}
        wanted = _wanted(heard)
        if heard is None or wanted is None:
            self.graph.invoke(given, config, **more)
            return
        for part in self.graph.stream(given, config, **wanted, **more):
            heard.put(part)

    def state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """Return where a thread stands."""
        return self.graph.get_state(config, subgraphs=subgraphs)

    def update(self, config: RunnableConfig, values: Any, as_node: str | None) -> None:  # noqa: ANN401
        """Change where a thread stands."""
        self.graph.update_state(config, values, as_node=as_node)


class Awaiting:
    """A graph that is awaited on a loop of another thread."""

    def __init__(self, graph: Compiled, loop: asyncio.AbstractEventLoop) -> None:
        """Take it, with a checkpointer that can be awaited.

        Raises:
            Misuse: this thread cannot wait for the loop.
        """
        check_loop(loop)
        self.loop = loop
        self.graph = awaited_on(loop, lambda: _with_awaited_saver(graph))

    @property
    def awaits(self) -> Callable[[], bool]:
        """Its code awaits verbs on the loop; plain nodes have threads of their own."""
        return lambda: asyncio._get_running_loop() is self.loop  # noqa: SLF001 - the public one raises

    def invoke(
        self,
        given: Any,  # noqa: ANN401 - what LangGraph takes
        config: RunnableConfig,
        context: Any,  # noqa: ANN401 - what LangGraph takes
        heard: Listener | None,
    ) -> None:
        """Let the graph go on until it asks, or ends. What it streams goes to those who hear it."""
        more: dict[str, Any] = {"context": context, "durability": "sync"}

        wanted = _wanted(heard)

        async def invoked() -> None:
            if heard is None or wanted is None:
                await self.graph.ainvoke(given, config, **more)
                return
            async for part in self.graph.astream(given, config, **wanted, **more):
                heard.put(part)

        awaited_on(self.loop, invoked)

    def state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """Return where a thread stands."""
        return awaited_on(self.loop, lambda: self.graph.aget_state(config, subgraphs=subgraphs))

    def update(self, config: RunnableConfig, values: Any, as_node: str | None) -> None:  # noqa: ANN401
        """Change where a thread stands."""
        awaited_on(self.loop, lambda: self.graph.aupdate_state(config, values, as_node=as_node))


def _wanted(heard: Listener | None) -> Mapping[str, Any] | None:
    """Return what somebody wants to hear, if LangGraph streams that; else they are told."""
    if heard is None:
        return None
    modes = heard.options.get("stream_mode", "updates")
    listed = [modes] if isinstance(modes, str) else modes
    known = get_args(StreamMode)
    if not set(heard.options) <= _STREAMS or not set(map(str, listed)) <= set(known):
        error = BadValue(
            f"stream({', '.join(f'{name}={value!r}' for name, value in heard.options.items())}): "
            f"LangGraph takes stream_mode, of {', '.join(known)}, and subgraphs."
        )
        heard.refuse(error)
        return None
    return {"stream_mode": "updates", **heard.options}


async def _with_awaited_saver(graph: Compiled) -> Compiled:
    """Return the graph with a checkpointer that can be awaited: its own, or its own on threads."""
    saver: Any = graph.checkpointer
    try:
        await saver.aget_tuple({"configurable": {"thread_id": "", "checkpoint_ns": ""}})
    except NotImplementedError:
        return graph.copy(update={"checkpointer": on_threads(saver)})
    return graph


def on_threads(saver: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """Return a checkpointer like a plain one, to be awaited while a thread does the work."""
    plain = type(saver)

    def awaited(name: str) -> Callable[..., Any]:
        async def call(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the plain one
            return await asyncio.to_thread(getattr(self, name), *args, **kwargs)

        return call

    async def alist(self: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:  # noqa: ANN401
        for one in await asyncio.to_thread(lambda: list(self.list(*args, **kwargs))):
            yield one

    names = [name for name in dir(plain) if name[:1] == "a" and callable(getattr(plain, name))]
    methods: dict[str, Any] = {
        name: awaited(name[1:]) for name in names if callable(getattr(plain, name[1:], None))
    }
    made = copy.copy(saver)
    with suppress(KeyError):
        del methods["alist"]
    made.__class__ = type(plain.__name__, (plain,), {**methods, "alist": alist})
    return made
