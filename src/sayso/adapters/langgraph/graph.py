"""Any compiled graph as something a desk can run, with the checkpointer it was compiled with.

How a run of it goes is in `turns`, what it may ask in `shapes`, where its thread stands in
`position` and `stops`, what its nodes may use in `nodes`, and who watches what they ask in `watching`.
`modes` sees whether it must be awaited, and `driver` calls it in either way.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Annotated, Any
from weakref import WeakKeyDictionary

from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from pydantic import PlainSerializer
from pydantic_core import to_jsonable_python

from sayso.adapters.base import LoopThread, Running, check_host, check_loop, hosted
from sayso.adapters.langgraph.answers import Answers, Takes
from sayso.adapters.langgraph.driver import Awaiting, Compiled, Driver, Plain
from sayso.adapters.langgraph.modes import loop_of, must_await, tools_of
from sayso.adapters.langgraph.raised import Known
from sayso.adapters.langgraph.turns import Thread
from sayso.adapters.langgraph.watching import watch_interrupts
from sayso.errors import Misuse

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from langchain_core.runnables import RunnableConfig

Making = Compiled | Awaitable[Compiled] | AbstractAsyncContextManager[Compiled]
OLDEST = "1.2.20"  # before, all questions of a node have one id
FAILS: dict[str, str] = {}  # versions that a test of ours fails with, and what does not work
# Messages and models may be given as they are; they are stored as JSON, which graphs take, too.
Input = Annotated[Any, PlainSerializer(to_jsonable_python)]


class Graph:
    """A compiled graph that a desk can run: `desk.run(Graph("support", graph), input)`.

    Every `interrupt()` becomes an ask, and the graph is resumed with what people decided in the
    shape it asked for. The thread of the run is the thread of the graph.
    """

    def __init__(
        self,
        name: str,
        graph: Compiled | Callable[[], Making],
        *,
        tools: Iterable[Any] = (),
        guarded: bool = False,
        answer: Takes = None,
        awaits: bool | None = None,
        config: RunnableConfig | None = None,
        context: object = None,
    ) -> None:
        """Take a graph under oversight.

        Args:
            name: What people and the journal call it. Workers find its runs by it.
            graph: The compiled graph, or a function that returns it. The function may be `async def`
                or an async context manager: it is entered on the event loop of the desk, and left
                when the desk is closed. The graph needs a checkpointer.
            tools: Tools whose calls its interrupts ask about; edits must fit their schemas.
            guarded: Whether its nodes act only through `sayso.effect`, `sayso.step` and gates. Then
                a turn whose process died is simply repeated; else people are asked first.
            answer: The type, or JSON Schema, of answers to interrupts that do not say it; one for each
                node by its name; or a function of the payload that returns one, or `None`.
            awaits: Whether the graph is awaited (`ainvoke`) on an event loop of its own thread. Unless
                given, that is seen from its nodes, tools, middleware and checkpointer.
            config: What each `invoke` is given besides.
            context: The runtime context that each `invoke` is given.

        Raises:
            Misuse: the graph has no checkpointer, has parts that cannot run together, or this
                LangGraph cannot be watched.
            BadValue: there is no JSON Schema of the type of answers.
        """
        check_host("langgraph", OLDEST, FAILS)
        watch_interrupts()
        self.name = name
        self.guarded = guarded
        self._make: Callable[[], object] = (lambda: graph) if isinstance(graph, Pregel) else graph
        self._made: Compiled | None = None
        self._made_on: WeakKeyDictionary[AbstractEventLoop, Compiled] = WeakKeyDictionary()
        self._awaits = awaits
        self._modes: WeakKeyDictionary[Compiled, bool] = WeakKeyDictionary()
        self._lock = threading.Lock()
        self._tools = _schemas(tools)
        self._answers = Answers(answer)
        self.config: RunnableConfig = config or {}
        self.context = context
        if isinstance(graph, Pregel) or not callable(graph):
            self._check(graph)

        def carry_on(run: Running, input: Input) -> Any:  # noqa: A002, ANN401 - the host's word
            return Thread(self, run, input).carried_on()

        self.__sayso_workflow__ = hosted(name, carry_on)

    @property
    def graph(self) -> Compiled:
        """The compiled graph, if it is made without an event loop.

        Raises:
            Misuse: it is none, has no checkpointer, or is made on the loop of a desk.
        """
        with self._lock:
            if self._made is None:
                made = self._make()
                if _is_entered(made):
                    _close(made)
                    raise Misuse(
                        f"{self.name} is made on the event loop of the desk that runs it, so nobody "
                        "else has it. Make another one to look at its threads."
                    )
                self._made = self._check(made)
            return self._made

    def driver(self, loops: LoopThread) -> Driver:
        """Return the way to call it, on the loop of this desk if it must be awaited.

        Raises:
            Misuse: it cannot be run; nobody was asked.
        """
        graph = self._made_for(loops)
        awaits, bound = self._modes[graph], loop_of(graph)
        if not awaits:
            if bound is not None:
                check_loop(bound)  # its checkpointer waits for that loop
            return Plain(graph)
        return Awaiting(graph, bound or loops.loop())

    def _made_for(self, loops: LoopThread) -> Compiled:
        with self._lock:
            if self._made is not None:
                return self._made
            if self._made_on:
                found = self._made_on.get(loops.loop())
                if found is not None:
                    return found
            made = self._make()
            if not _is_entered(made):
                self._made = self._check(made)
                return self._made
            graph = self._check(_entered(loops, made))
            self._made_on[loops.loop()] = graph
            return graph

    def known(self, graph: Compiled) -> Known:
        """What is known of answers beforehand: the tools it was given and those of the graph."""
        return Known({**_schemas(tools_of(graph)), **self._tools}, self._answers.to)

    def _check(self, graph: object) -> Compiled:
        found = _check_saver(graph)
        self._modes[found] = must_await(found) if self._awaits is None else self._awaits
        return found


def _is_entered(made: object) -> bool:
    """Say if it is made on an event loop: an awaitable, or an async context manager."""
    return inspect.isawaitable(made) or hasattr(made, "__aenter__")


def _entered(loops: LoopThread, made: Any) -> object:  # noqa: ANN401 - one of the two
    if not inspect.isawaitable(made):
        return loops.hold(made)

    async def awaited() -> object:
        return await made

    return loops.run(awaited)


def _close(made: object) -> None:
    if inspect.iscoroutine(made):
        made.close()


def _check_saver(graph: object) -> Compiled:
    if not isinstance(graph, Pregel):
        raise Misuse(
            f"Graph takes a compiled graph, not {type(graph).__name__}: builder.compile(...)."
        )
    if not isinstance(graph.checkpointer, BaseCheckpointSaver):
        raise Misuse(
            "The graph has no checkpointer, so nothing of it would outlast a pause. Compile it with "
            "one: builder.compile(checkpointer=SqliteSaver(...)), or PostgresSaver."
        )
    return graph


def _schemas(tools: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Return what each tool takes, by its name; an edit may not add anything."""
    found = [convert_to_openai_tool(tool)["function"] for tool in tools]
    return {
        one["name"]: {"additionalProperties": False, **one.get("parameters", {"type": "object"})}
        for one in found
    }
