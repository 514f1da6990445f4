"""Any compiled graph as something a desk can run, with the checkpointer it was compiled with.

How a run of it goes is in `turns`, what it may ask in `shapes`, where its thread stands in
`position` and `stops`, what its nodes may use in `nodes`, and who watches what they ask in `watching`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from pydantic import PlainSerializer
from pydantic_core import to_jsonable_python

from sayso.adapters.base import Running, check_host, hosted
from sayso.adapters.langgraph.answers import Answers, Takes
from sayso.adapters.langgraph.raised import Known
from sayso.adapters.langgraph.stops import Compiled
from sayso.adapters.langgraph.turns import Thread
from sayso.adapters.langgraph.watching import watch_interrupts
from sayso.errors import Misuse

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

OLDEST, NEWEST = "1.2.20", "1.2.20"  # before, all questions of a node have one id
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
        graph: Compiled | Callable[[], Compiled],
        *,
        tools: Iterable[Any] = (),
        guarded: bool = False,
        answer: Takes = None,
        config: RunnableConfig | None = None,
        context: object = None,
    ) -> None:
        """Take a graph under oversight.

        Args:
            name: What people and the journal call it. Workers find its runs by it.
            graph: The compiled graph, or a function that returns it. It needs a checkpointer.
            tools: Tools whose calls its interrupts ask about; edits must fit their schemas.
            guarded: Whether its nodes act only through `sayso.effect`, `sayso.step` and gates. Then
                a turn whose process died is simply repeated; else people are asked first.
            answer: The type, or JSON Schema, of answers to interrupts that do not say it; one for each
                node by its name; or a function of the payload that returns one, or `None`.
            config: What each `invoke` is given besides.
            context: The runtime context that each `invoke` is given.

        Raises:
            Misuse: the graph has no checkpointer, or this LangGraph cannot be watched.
            BadValue: there is no JSON Schema of the type of answers.
        """
        check_host("langgraph", OLDEST, NEWEST)
        watch_interrupts()
        self.name = name
        self.guarded = guarded
        self._make: Callable[[], object] = (lambda: graph) if isinstance(graph, Pregel) else graph
        self._made: Compiled | None = None
        self._lock = threading.Lock()
        self._tools = _schemas(tools)
        self._answers = Answers(answer)
        self.config: RunnableConfig = config or {}
        self.context = context
        if isinstance(graph, Pregel) or not callable(graph):
            _check_saver(graph)

        def carry_on(run: Running, input: Input) -> Any:  # noqa: A002, ANN401 - the host's word
            return Thread(self, run, input).carried_on()

        self.__sayso_workflow__ = hosted(name, carry_on)

    @property
    def graph(self) -> Compiled:
        """The compiled graph.

        Raises:
            Misuse: it is none, or has no checkpointer.
        """
        with self._lock:
            if self._made is None:
                self._made = _check_saver(self._make())
            return self._made

    @property
    def known(self) -> Known:
        """What is known of answers beforehand: the tools it was given and those of the graph."""
        return Known({**_schemas(_tools(self.graph)), **self._tools}, self._answers.to)


def _tools(graph: Compiled) -> list[Any]:
    """Return the tools of its tool nodes, and of those of its subgraphs."""
    nodes = [node for one in _all(graph) for node in one.nodes.values()]
    return [
        tool
        for node in nodes
        if isinstance(node.bound, ToolNode)
        for tool in node.bound.tools_by_name.values()
    ]


def _all(graph: Compiled) -> list[Compiled]:
    inner = [one for _, one in graph.get_subgraphs(recurse=True) if isinstance(one, Pregel)]
    return [graph, *inner]


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
    for one in _all(graph):
        for name, node in one.nodes.items():
            if getattr(node.bound, "afunc", None) and getattr(node.bound, "func", None) is None:
                raise Misuse(
                    f"The node {name} is async def, and graphs under a desk run by invoke. Make it "
                    "a plain function: def node(state): return asyncio.run(...)."
                )
    return graph


def _schemas(tools: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Return what each tool takes, by its name; an edit may not add anything."""
    found = [convert_to_openai_tool(tool)["function"] for tool in tools]
    return {
        one["name"]: {"additionalProperties": False, **one.get("parameters", {"type": "object"})}
        for one in found
    }
