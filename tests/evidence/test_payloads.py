"""What graphs ask in words of their own, one test for each fault of the list (E53, E56, E57)."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from sayso import Desk, Run
from sayso.adapters.langgraph import Graph
from tests.adapters.langgraph.graphs import State
from tests.runs.people import ask_of


def hosted(node: Any, **given: Any) -> Graph:
    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    return Graph("till", builder.compile(checkpointer=InMemorySaver()), **given)


def on(desk: Desk, run: Run) -> Run:
    desk.work(until="idle", only=run.id)
    return desk.get_run(run.id)


@pytest.mark.parametrize("outcome", ["reject", "withdraw"])
def test_e53_a_no_to_a_request_in_words_of_its_own_is_its_own_no(local: Desk, outcome: str):
    """LangGraph: a rejected payload of the program's own ended the run, for it knew no word for it."""
    heard: list[object] = []

    def node(state: State) -> State:
        heard.append(interrupt({"action": "wipe", "disk": "sda", "options": ["approve", "reject"]}))
        return {}

    run = local.run(hosted(node), {"log": []}, wait=False)
    ask = ask_of(run, "wipe")
    getattr(local, outcome)(ask)
    run = on(local, run)
    assert (run.status, heard) == ("done", ["reject"]), run.error


def test_e56_a_mistyped_answer_is_asked_for_again_and_the_run_can_be_cancelled(local: Desk):
    """LangGraph: one mistyped answer failed the run for good; cancel was refused."""

    def node(state: State) -> State:
        return {"log": [int(interrupt("How old?"))]}

    run = local.run(hosted(node), {"log": []}, wait=False)
    local.respond(ask_of(run), "seven")
    run = on(local, run)
    again = ask_of(run)
    assert (again.title, "invalid literal" in str(again.content.why)) == ("How old?", True)
    local.respond(again, "7")
    run = on(local, run)
    assert (run.status, run.output["log"]) == ("done", [7]), run.error


def test_e56_a_failed_run_can_be_cancelled(local: Desk):
    def node(state: State) -> State:
        raise ConnectionError("no line")

    run = local.run(hosted(node), {"log": []}, wait=False)
    assert run.status == "failed"
    assert local.cancel(run).status == "cancelled"


def test_e57_a_wording_that_differs_on_replay_is_asked_again_with_what_changed(local: Desk):
    """LangGraph: a model's wording differed when its node ran again, and no retry could help."""
    words = cycle(
        ["Shall we send the letter?", "Shall we send the mail?", "Shall we send the mail?"]
    )

    def node(state: State) -> State:
        return {"log": [interrupt(next(words))]}

    run = local.run(hosted(node), {"log": []}, wait=False)
    local.respond(ask_of(run), "yes")
    run = on(local, run)
    again = ask_of(run)
    assert again.title == "Shall we send the mail?"
    assert "Shall we send the letter?" in str(again.content.facts)
    local.respond(again, "no")
    run = on(local, run)
    assert (run.status, run.output["log"]) == ("done", ["no"]), run.error
