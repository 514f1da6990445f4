"""A process that died between the tasks of a step and the end of the step."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from sayso.adapters.langgraph.driver import Plain
from sayso.adapters.langgraph.position import Position


class State(TypedDict, total=False):
    log: str


class Dies(InMemorySaver):
    """Keeps what a task wrote, and then no checkpoint any more."""

    left = 2

    def put(self, *given: Any, **more: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise SystemExit
        return super().put(*given, **more)


def test_a_step_whose_tasks_are_done_is_not_the_end_of_the_graph():
    ran: list[str] = []

    def node(name: str) -> Any:
        def act(state: State) -> State:
            ran.append(name)
            return {"log": name}

        return act

    builder = StateGraph(State)
    builder.add_node("one", node("one"))
    builder.add_node("two", node("two"))
    builder.add_edge(START, "one")
    builder.add_edge("one", "two")
    saver = Dies()
    graph = builder.compile(checkpointer=saver)
    thread: Any = {"configurable": {"thread_id": "7"}}
    with pytest.raises(SystemExit):
        graph.invoke({"log": ""}, thread, durability="sync")
    assert ran == ["one"]
    state = graph.get_state(thread, subgraphs=True)
    assert (state.next, len(state.tasks)) == ((), 1), "LangGraph calls nothing next"

    found = Position.of(Plain(graph), state)

    assert (found.done, found.settled, found.nodes) == (False, False, ("one",))
    saver.left = 9
    graph.invoke(None, thread, durability="sync")
    assert ran == ["one", "two"], "what was done is not done again"
    assert Position.of(Plain(graph), graph.get_state(thread, subgraphs=True)).done
