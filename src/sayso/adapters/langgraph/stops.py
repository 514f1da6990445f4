"""Where a graph was compiled to stop: `interrupt_before` and `interrupt_after`, at any depth.

LangGraph keeps no note of such a stop, and whatever resumes the thread goes past it. So stops are
read from the graph and its checkpoints: a node that is named there and has not run since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass

from langgraph.pregel import Pregel
from langgraph.types import PregelTask, StateSnapshot

from sayso.adapters.langgraph.driver import Compiled, Driver


@dataclass(frozen=True, slots=True)
class Stops:
    """The stops of a thread, of which people have allowed some to be passed."""

    driver: Driver
    state: StateSnapshot
    passed: Container[str]

    @property
    def every(self) -> tuple[str, ...]:
        """All of them, each named by the checkpoint it is at."""
        return tuple(mark for mark, _ in _marks(self.driver, self.driver.graph, self.state))

    @property
    def ahead(self) -> tuple[str, ...]:
        """The nodes behind those that nobody has allowed yet."""
        found = _marks(self.driver, self.driver.graph, self.state)
        return tuple(path for mark, path in found if mark not in self.passed)

    @property
    def idle(self) -> tuple[str, ...]:
        """The nodes that neither ask nor are held at a stop, and have not ended."""
        return self._idle(self.driver.graph, self.state)

    @property
    def behind(self) -> tuple[str, ...]:
        """The interrupts that were answered: their subgraph is held further on.

        LangGraph shows them until the task has ended.
        """
        graphs = _graphs(self.driver.graph)
        return tuple(
            one.id
            for task in self.state.tasks
            for inner in _inner(task)
            if task.name in graphs and self._held(graphs[task.name], inner)
            for one in task.interrupts
            if one.id not in {asked.id for asked in inner.interrupts}
        )

    def _held(self, graph: Compiled, state: StateSnapshot) -> bool:
        return bool(state.next) and not self._idle(graph, state)

    def _idle(self, graph: Compiled, state: StateSnapshot) -> tuple[str, ...]:
        if any(mark not in self.passed for mark, _ in _here(self.driver, graph, state)):
            return ()
        graphs = _graphs(graph)
        quiet = Counter(
            task.name
            for task in state.tasks
            if task.interrupts
            or any(self._held(graphs[task.name], s) for s in _inner(task) if task.name in graphs)
        )
        return tuple((Counter(state.next) - quiet).elements())


def _marks(
    driver: Driver, graph: Compiled, state: StateSnapshot, path: str = ""
) -> Iterator[tuple[str, str]]:
    for mark, name in _here(driver, graph, state):
        yield mark, f"{path}{name}"
    graphs = _graphs(graph)
    for task in state.tasks:
        for inner in _inner(task):
            if task.name in graphs:
                yield from _marks(driver, graphs[task.name], inner, f"{path}{task.name}/")


def _here(driver: Driver, graph: Compiled, state: StateSnapshot) -> Iterator[tuple[str, str]]:
    """Find the stops of one graph, without those inside its nodes."""
    before, after = graph.interrupt_before_nodes, graph.interrupt_after_nodes
    names = {name for name in state.next if before == "*" or name in before}
    if after and state.parent_config is not None:
        ran = driver.state(state.parent_config).tasks
        if any(after == "*" or task.name in after for task in ran):
            names = set(state.next)
    at = state.config.get("configurable", {}).get("checkpoint_id")
    for name in sorted(names):
        yield f"{at} {name}", name


def _inner(task: PregelTask) -> list[StateSnapshot]:
    return [task.state] if isinstance(task.state, StateSnapshot) else []


def _graphs(graph: Compiled) -> dict[str, Compiled]:
    """Return the graphs that nodes are, by the names of the nodes."""
    return {name: one for name, one in graph.get_subgraphs() if isinstance(one, Pregel)}
