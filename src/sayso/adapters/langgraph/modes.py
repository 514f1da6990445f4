"""Find out before it runs if a graph must be awaited, from its parts.

Parts that can only be awaited: nodes, hooks and conditions that are `async def`, tools without a
plain side (all of MCP), middleware that wraps calls by `awrap_...` alone, checkpointers and stores
that belong to an event loop. Parts that can only be called plainly: middleware that wraps calls by
`wrap_...` alone. A graph that has both could fail after people were asked, so it is refused.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from sayso.adapters.langgraph.driver import Compiled
from sayso.errors import Misuse

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

_WRAPS = ("wrap_tool_call", "wrap_model_call")
_DEPTH = 6  # of functions in functions, in which a middleware is looked for


def graphs_of(graph: Compiled) -> list[Compiled]:
    """Return a graph and those that its nodes are."""
    inner = [one for _, one in graph.get_subgraphs(recurse=True) if isinstance(one, Pregel)]
    return [graph, *inner]


def tools_of(graph: Compiled) -> list[BaseTool]:
    """Return the tools of its tool nodes, and of those of its subgraphs."""
    nodes = [node for one in graphs_of(graph) for node in one.nodes.values()]
    return [
        tool
        for node in nodes
        if isinstance(node.bound, ToolNode)
        for tool in node.bound.tools_by_name.values()
    ]


def _all(graph: Compiled) -> list[Compiled]:
    """Return a graph, those that its nodes are, and those that its nodes and tools hold.

    A subagent is in the closure of the tool that calls it, or of the node.
    """
    found = {id(one): one for one in graphs_of(graph)}
    left = list(found.values())
    while left:
        one = left.pop()
        funcs = [
            getattr(part, "func", None) for n in one.nodes.values() for part in _parts(n.bound)
        ]
        funcs += [getattr(tool, "func", None) for tool in tools_of(one)]
        for held in _held(funcs, Pregel, _DEPTH):
            for inner in graphs_of(held):
                if id(inner) not in found:
                    found[id(inner)] = inner
                    left.append(inner)
    return list(found.values())


def loop_of(graph: Compiled) -> asyncio.AbstractEventLoop | None:
    """Return the event loop that its checkpointer or its store belongs to, if they belong to one.

    Raises:
        Misuse: they belong to two.
    """
    found = {}
    for one in graphs_of(graph):
        for kept, name in ((one.checkpointer, "loop"), (one.store, "_loop")):
            loop = getattr(kept, name, None)
            if isinstance(loop, asyncio.AbstractEventLoop):
                found[id(loop)] = loop
    if len(found) > 1:
        raise Misuse(
            "The checkpointers and stores of this graph were opened on two event loops, and it can "
            "run on one. Open them on the same: in one async context manager, given to Graph."
        )
    return next(iter(found.values()), None)


def must_await(graph: Compiled) -> bool:
    """Say if the graph is to be awaited.

    Raises:
        Misuse: some of its parts can only be awaited, and others only called; or they belong to
            two event loops.
    """
    bound = loop_of(graph) is not None
    graphs = _all(graph)
    middleware = _middleware(graphs)
    awaited = [*_awaited(graphs), *_wraps_one_way(middleware, awaited=True)]
    called = _wraps_one_way(middleware, awaited=False)
    ours = any(type(one).__module__.startswith("sayso.") for one in middleware)
    if not (ours and called):  # ours lets such a tool be called
        tools = [tool for one in graphs for tool in tools_of(one)]
        awaited += [f"the tool {tool.name}" for tool in tools if _only_awaited(tool)]
    if awaited and called:
        raise Misuse(
            f"{awaited[0]} can only be awaited, and {called[0]} only called, so LangChain can run "
            "this agent neither way. Nothing was asked. Give the middleware both: "
            "def wrap_tool_call(...) and async def awrap_tool_call(...)."
        )
    return bool(awaited) or (bound and not called)


def _awaited(graphs: list[Compiled]) -> list[str]:
    """Name the nodes, and the conditions behind them, that are only `async def`."""
    found = []
    for one in graphs:
        for name, node in one.nodes.items():
            if any(_async_alone(part) for part in _parts(node.bound)):
                found.append(f"the node {name}")
        branches = getattr(getattr(one, "builder", None), "branches", {})
        for name, behind in branches.items():
            if any(_async_alone(branch.path) for branch in behind.values()):
                found.append(f"the condition behind {name}")
        for name, task in _tasks(one):
            if inspect.iscoroutinefunction(task):
                found.append(f"the task {name}")
    return found


def _parts(runnable: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever a node is
    yield runnable
    for one in getattr(runnable, "steps", ()):
        yield from _parts(one)


def _async_alone(runnable: Any) -> bool:  # noqa: ANN401 - whatever a node is
    return bool(getattr(runnable, "afunc", None)) and getattr(runnable, "func", None) is None


def _tasks(graph: Compiled) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Find the tasks of the functional API that an entrypoint names, and those that they name."""
    seen: set[int] = set()
    left = [getattr(node.bound, "func", None) for node in graph.nodes.values()]
    while left:
        fn = left.pop()
        code = getattr(fn, "__code__", None)
        if fn is None or code is None or id(fn) in seen:
            continue
        seen.add(id(fn))
        near = inspect.getclosurevars(fn)
        for name, value in {**near.globals, **near.nonlocals}.items():
            inner = getattr(value, "func", None)
            if type(value).__name__ == "_TaskFunction" and callable(inner):
                yield name, inner
                left.append(inner)


def _only_awaited(tool: BaseTool) -> bool:
    plain, awaited = getattr(tool, "func", None), getattr(tool, "coroutine", None)
    return plain is None and awaited is not None


# --- LangChain's middleware, which its graph holds in closures ---


def _middleware(graphs: list[Compiled]) -> list[Any]:
    """Return the middleware of agents, as far as it is found."""
    types = sys.modules.get("langchain.agents.middleware.types")
    if types is None:
        return []
    found: dict[int, Any] = {}
    for one in graphs:
        for node in one.nodes.values():
            bound = node.bound
            held = [getattr(bound, name, None) for name in ("func", "_wrap_tool_call")]
            for part in _held(held, types.AgentMiddleware, _DEPTH):
                found[id(part)] = part
    return list(found.values())


def _held(values: Any, wanted: type, depth: int) -> Iterator[Any]:  # noqa: ANN401 - of any function
    for value in values if depth else ():
        if isinstance(value, wanted):
            yield value
        elif isinstance(value, list | tuple):
            yield from _held(value, wanted, depth - 1)
        elif isinstance(value, dict):
            yield from _held(value.values(), wanted, depth - 1)
        elif isinstance(value, functools.partial):
            yield from _held((value.func, *value.args), wanted, depth - 1)
        elif inspect.ismethod(value):
            yield from _held((value.__self__,), wanted, depth - 1)
        elif inspect.isfunction(value):
            cells = [_content(cell) for cell in value.__closure__ or ()]
            inner = getattr(value, "__wrapped__", None)
            yield from _held((*cells, inner), wanted, depth - 1)


def _content(cell: Any) -> Any:  # noqa: ANN401 - of any function
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None


def _wraps_one_way(middleware: list[Any], *, awaited: bool) -> list[str]:
    """Name the middleware that wraps calls in one way only."""
    found = []
    for one in middleware:
        for name in _WRAPS:
            plain, other = _own(one, name), _own(one, f"a{name}")
            if (other and not plain) if awaited else (plain and not other):
                found.append(f"the middleware {one.name} ({'a' if awaited else ''}{name})")
    return found


def _own(middleware: Any, name: str) -> bool:  # noqa: ANN401 - of LangChain
    """Say if a middleware has a method of its own, not the one that refuses."""
    base = sys.modules["langchain.agents.middleware.types"].AgentMiddleware
    return getattr(type(middleware), name, None) is not getattr(base, name, None)
