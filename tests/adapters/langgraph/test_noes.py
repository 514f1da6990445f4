"""In which word a graph hears a no, for every request that it can make (E53)."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from sayso import Desk, Run
from sayso.adapters.langgraph import Graph
from sayso.adapters.langgraph.calls import Calls
from sayso.adapters.langgraph.raised import Known, Raised
from sayso.adapters.langgraph.shapes import shape_of

WORDS = ("accept", "edit", "respond", "ignore")
# What a request allows, and in which word its graph hears a person's no, that of a person who ends
# the run as well, and that of nobody (the policy, the clock, a withdrawal). None: the run ends.
TABLE = {
    "accept": (None, None, None),
    "edit": (None, None, None),
    "respond": (None, None, None),
    "ignore": ("ignore", "ignore", "ignore"),
    "accept edit": (None, None, None),
    "accept respond": ("response", None, None),
    "accept ignore": ("ignore", "ignore", "ignore"),
    "edit respond": (None, None, None),
    "edit ignore": ("ignore", "ignore", "ignore"),
    "respond ignore": ("ignore", "ignore", "ignore"),
    "accept edit respond": ("response", None, None),
    "accept edit ignore": ("ignore", "ignore", "ignore"),
    "accept respond ignore": ("response", "ignore", "ignore"),
    "edit respond ignore": ("ignore", "ignore", "ignore"),
    "accept edit respond ignore": ("response", "ignore", "ignore"),
}
DECISIONS = ("approve", "edit", "reject", "respond")


def calls(value: object) -> Calls:
    shape = shape_of(Raised("i", "node", value, None, ""), Known())
    assert isinstance(shape, Calls)
    return shape


def heard(shape: Calls) -> tuple[str | None, ...]:
    return tuple(shape.calls[0].no(who) for who in ("person", "person who ends it", "nobody"))


def inbox(allowed: str) -> dict[str, Any]:
    request = {"action": "act", "args": {"n": 1}}
    config = {f"allow_{word}": word in allowed.split() for word in WORDS}
    return {"action_request": request, "config": config}


def test_every_request_is_in_the_table():
    every = {
        " ".join(word for word, allow in zip(WORDS, flags, strict=True) if allow)
        for flags in product((True, False), repeat=4)
    }
    assert set(TABLE) == every - {""}


@pytest.mark.parametrize("allowed", TABLE)
def test_e53_the_word_for_a_no(allowed: str):
    assert heard(calls([inbox(allowed)])) == TABLE[allowed]
    listed = {"action": "act", "config": allowed.split(), "args": {"n": 1}}
    assert heard(calls(listed)) == TABLE[allowed]


@pytest.mark.parametrize("allowed", TABLE)
def test_people_may_say_no_to_every_request(allowed: str):
    assert "reject" in calls([inbox(allowed)]).calls[0].allow


@pytest.mark.parametrize("number", range(1, 16))
def test_e53_a_decision_of_the_middleware(number: int):
    allowed = [word for place, word in enumerate(DECISIONS) if number & 1 << place]
    request = {"name": "act", "args": {}}
    config = {"action_name": "act", "allowed_decisions": allowed}
    found = calls({"action_requests": [request], "review_configs": [config]})
    word = "reject" if "reject" in allowed else None
    assert heard(found) == (word, None, word)
    assert "reject" in found.calls[0].allow


# --- with real hosts ---------------------------------------------------------------------------


class State(TypedDict, total=False):
    request: Any
    heard: Any


def graph() -> Graph:
    """A program that takes whatever it hears for a yes."""
    builder = StateGraph(State)
    builder.add_node("ask", lambda state: {"heard": interrupt(state["request"])})
    builder.add_edge(START, "ask")
    return Graph("trusting", builder.compile(checkpointer=InMemorySaver()))


def ended(desk: Desk, run: Run, how: str) -> Run:
    (ask,) = run.asks
    if how == "reject":
        desk.reject(ask, "not this")
    elif how == "withdraw":
        desk.withdraw(ask)
    desk.work(until="idle", only=run.id)
    return run


@pytest.mark.parametrize(
    ("allowed", "how"),
    [("accept", "reject"), ("respond", "reject"), ("accept respond", "withdraw")],
)
def test_e53_a_run_ends_where_its_graph_has_no_word_for_a_no(local: Desk, allowed: str, how: str):
    run = local.run(graph(), {"request": inbox(allowed)}, wait=False)
    said = "a rejection ends the run" in run.asks[0].content.sentence
    run = ended(local, run, how)
    assert (run.status, said) == ("failed", how == "reject")
    assert run.error is not None
    assert run.error.startswith("Rejected: ")


def test_e53_one_no_without_a_word_waits_for_what_is_asked_beside_it(local: Desk):
    """The run ends once everything is decided: nothing of it is left open in the inbox."""
    run = local.run(graph(), {"request": [inbox("accept"), inbox("accept ignore")]}, wait=False)
    first, second = sorted(run.asks, key=lambda ask: ask.content.sentence, reverse=True)
    local.reject(first)
    local.work(until="idle", only=run.id)
    assert (run.status, second.open) == ("waiting", True)
    local.approve(second)
    local.work(until="idle", only=run.id)
    assert run.status == "failed"


DID: list[str] = []


@tool
def send(to: str) -> str:
    """Send a message."""
    DID.append(to)
    return f"sent to {to}"


class Model(GenericFakeChatModel):
    """A model that makes one call, and then is done."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def clerk(allowed: list[str]) -> Graph:
    call = {"name": "send", "args": {"to": "anna"}, "id": "c1"}
    model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("ok")]))
    asks = HumanInTheLoopMiddleware({"send": {"allowed_decisions": allowed}})  # type: ignore[dict-item]
    agent = create_agent(model, [send], middleware=[asks], checkpointer=InMemorySaver())
    return Graph("clerk", agent)


@pytest.mark.parametrize("how", ["reject", "withdraw"])
def test_e53_the_middleware_hears_a_no_as_its_own(local: Desk, how: str):
    DID.clear()
    run = local.run(clerk(["approve", "reject", "respond"]), {"messages": ["go"]}, wait=False)
    run = ended(local, run, how)
    (said,) = [m for m in run.output["messages"] if m["type"] == "tool"]
    why = "not this" if how == "reject" else "Not carried out: the question was taken back"
    assert f"User rejected the tool call for `send` with reason: {why}" in said["content"]
    assert (run.status, said["status"], DID) == ("done", "error", [])


@pytest.mark.parametrize("how", ["reject", "withdraw"])
def test_e53_the_middleware_without_a_no_ends_the_run(local: Desk, how: str):
    DID.clear()
    run = local.run(clerk(["approve", "respond"]), {"messages": ["go"]}, wait=False)
    run = ended(local, run, how)
    assert (run.status, DID) == ("failed", [])
