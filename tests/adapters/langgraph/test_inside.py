"""Who asked whom: what an agent inside a graph asks shows its own call, and through whom it came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from sayso import Ask, Desk
from sayso.adapters.langgraph import Graph
from tests.adapters.langgraph.conftest import Setting
from tests.adapters.langgraph.graphs import State, one_node
from tests.runs.people import ask_of

SENT: list[str] = []


@pytest.fixture(autouse=True)
def nothing_sent() -> None:
    SENT.clear()


class Model(GenericFakeChatModel):
    """A model that makes one call, and then says done."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def model(name: str, **args: Any) -> Model:
    call = AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"{name}-1"}])
    return Model(messages=iter([call, AIMessage("done")]))


@tool
def send(to: str) -> str:
    """Send a mail."""
    SENT.append(to)
    return f"sent to {to}"


def postman(name: str | None = "postman") -> Any:
    rules = HumanInTheLoopMiddleware(interrupt_on={"send": True})
    return create_agent(model("send", to="ben"), [send], middleware=[rules], name=name)


def by_tool(inner: Any) -> Any:
    @tool
    def delegate(what: str) -> str:
        """Have somebody else do it."""
        return str(inner.invoke({"messages": [("user", what)]})["messages"][-1].content)

    outer = model("delegate", what="tell ben")
    return create_agent(outer, [delegate], name="chief", checkpointer=InMemorySaver())


def by_node(inner: Any) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("mailroom", inner)
    builder.add_edge(START, "mailroom")
    return builder.compile(checkpointer=InMemorySaver())


def asked(desk: Desk, graph: Any) -> Ask:
    run = desk.run(Graph("office", graph), {"messages": [("user", "go")]}, wait=False)
    return ask_of(run)


@pytest.mark.parametrize(
    ("around", "name", "chain"),
    [
        (by_tool, "postman", "office > postman"),
        (by_node, "postman", "office > postman"),
        (by_tool, None, "office > delegate"),
        (by_node, None, "office > mailroom"),
        (lambda inner: by_tool(by_node(inner)), "postman", "office > delegate > mailroom"),
    ],
)
def test_an_approval_of_an_agent_inside_shows_its_call_and_who_asked_whom(
    local: Desk, around: Callable[[Any], Any], name: str | None, chain: str
):
    ask = asked(local, around(postman(name)))
    assert (ask.tool, ask.args, ask.content.chain) == ("send", {"to": "ben"}, chain)
    local.edit(ask, {"to": "cleo"})
    local.work(until="idle")
    assert SENT == ["cleo"]


def test_what_the_graph_itself_asks_names_nobody_else(local: Desk):
    graph = create_agent(
        model("send", to="ben"),
        [send],
        middleware=[HumanInTheLoopMiddleware(interrupt_on={"send": True})],
        name="postman",
        checkpointer=InMemorySaver(),
    )
    assert asked(local, graph).content.chain is None


def test_a_task_of_the_functional_api_is_nobody_else(local: Desk):
    @task
    def pay(word: str) -> str:
        return str(interrupt(f"Pay {word}?"))

    @entrypoint(checkpointer=InMemorySaver())
    def flow(given: Any) -> Any:
        return pay("a").result()

    assert asked(local, flow).content.chain is None


def test_a_question_of_a_subgraph_says_so_too(local: Desk):
    inner = one_node(lambda state: {"log": [interrupt("Fine?")]}).compile()
    builder = StateGraph(State)
    builder.add_node("part", inner)
    builder.add_edge(START, "part")
    graph = Graph("office", builder.compile(checkpointer=InMemorySaver()))
    assert ask_of(local.run(graph, {"log": []}, wait=False)).content.chain == "office > part"


def test_the_policy_takes_the_graph_for_the_one_that_asks(bench: Setting):
    """A rule for the graph counts for what is inside it: nobody gets around it by a subagent."""
    made = bench("nested")
    run = made.begin({"log": []})
    assert (made.ask(run).content.chain, made.ask(run).content.agent) == ("graph > part", "graph")


def test_another_process_knows_who_asked_whom(bench: Setting):
    made = bench("nested")
    run = made.begin({"log": []})
    made.answer(run, "yes")
    assert [ask.content.chain for ask in run.asks if ask.title == "inside?"] == ["graph > part"]
