"""A graph under a desk, a process for each turn: what it asks, and what it is told."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.types import interrupt

import sayso
from sayso import Desk, Run
from sayso.adapters.langgraph import Graph
from sayso.errors import BadValue
from tests.adapters.langgraph.conftest import Setting
from tests.adapters.langgraph.graphs import GRAPHS
from tests.runs.people import ask_of


def output(run: Run) -> list[object]:
    """Return what the nodes noted."""
    assert run.status == "done", (run.status, run.error)
    return list(run.output["log"])


def test_a_graph_waits_without_a_process_and_any_other_goes_on_with_it(everywhere: Setting):
    bench = everywhere("twice kept")
    run = bench.begin({"log": []})
    assert (run.status, bench.ask(run).title) == ("waiting", "first?")
    bench.answer(run, "one")
    assert bench.ask(run).title == "second?"
    bench.answer(run, "two")
    assert output(run) == ["one", "two"]
    assert bench.did == ["looked up", "first one", "second two"], "each of them once"


def test_what_a_node_does_outside_our_verbs_is_done_again_after_each_pause(bench: Setting):
    bench_ = bench("twice")
    run = bench_.begin({"log": []})
    bench_.answer(run, "one")
    bench_.answer(run, "two")
    assert bench_.did == [
        *("looked up", "looked up", "first one"),
        *("looked up", "first one", "second two"),
    ], "this is how LangGraph works (E4), and why nodes that act use sayso.effect and sayso.step"


def test_verbs_in_a_node_ask_and_act_once(everywhere: Setting):
    bench = everywhere("verbs", guarded=True)
    run = bench.begin({"log": []})
    bench.desk.approve(bench.ask(run, "May I?"))
    bench.go(run)
    bench.answer(run, 40, "How much?")
    assert output(run) == [40]
    assert bench.did == ["looked up", "paid 40"]


def test_a_gate_in_a_node_asks_is_edited_and_runs_once(bench: Setting):
    bench_ = bench("gated", guarded=True)
    run = bench_.begin({"log": []})
    bench_.desk.edit(bench_.ask(run, "refund"), {"amount": 30})
    bench_.go(run)
    assert (output(run), bench_.did) == (["refunded 30"], ["refunded 30"])


def test_a_gate_that_is_rejected_is_heard_by_its_node(bench: Setting):
    bench_ = bench("gated")
    run = bench_.begin({"log": []})
    bench_.desk.reject(bench_.ask(run, "refund"), "not him")
    bench_.go(run)
    assert (output(run), bench_.did) == (["not him"], [])


@pytest.mark.parametrize("order", [["a", "b", "c"], ["c", "a", "b"], ["b", "c", "a"]])
def test_parallel_interrupts_are_asked_at_once_and_decided_in_any_order(bench: Setting, order):
    bench_ = bench("side")
    run = bench_.begin({"log": [], "value": ["a", "b", "c"]})
    assert sorted(ask.title for ask in run.asks) == ["a", "b", "c"]
    for title in order:
        bench_.answer(run, title.upper(), title)
    assert output(run) == ["a A", "b B", "c C", "end"]


def test_parallel_nodes_that_ask_by_verbs_act_once_each(bench: Setting):
    bench_ = bench("side kept")
    run = bench_.begin({"log": [], "value": ["a", "b", "c"]})
    assert sorted(ask.title for ask in run.asks) == ["a", "b", "c"]
    for title in ("b", "a", "c"):
        bench_.answer(run, title.upper(), title)
    assert output(run) == ["a A", "b B", "c C", "end"]
    assert sorted(bench_.did) == ["a A", "b B", "c C"]


@pytest.mark.parametrize("order", ["abcd", "dcba", "cadb"])
def test_interrupts_and_verbs_side_by_side_wait_for_each_other(bench: Setting, order: str):
    bench_ = bench("mixed")
    run = bench_.begin({"log": [], "value": list("abcd")})
    assert sorted(ask.title for ask in run.asks) == list("abcd")
    for title in order:
        assert run.status == "waiting", run.error
        bench_.answer(run, title.upper(), title)
    assert output(run) == ["a A", "b B", "c C", "d D", "end"]
    assert sorted(bench_.did) == ["c C", "d D"]


def test_a_subgraph_asks_as_its_graph_does(bench: Setting):
    bench_ = bench("nested")
    run = bench_.begin({"log": []})
    bench_.answer(run, "yes", "inside?")
    bench_.answer(run, "down", "deeper?")
    assert output(run)[-3:] == ["yes", "down", "end"]
    assert bench_.did == ["inside"]


def test_a_loop_asks_round_after_round(bench: Setting):
    bench_ = bench("again")
    run = bench_.begin({"log": []})
    for said in ("more", "more", "enough"):
        bench_.answer(run, said)
    assert output(run) == ["more", "more", "enough"]
    assert bench_.did == ["round 0 more", "round 1 more", "round 2 enough"]
    assert [ask.title for ask in run.asks] == ["round 0?", "round 1?", "round 2?"]


def test_the_next_run_of_a_thread_goes_on_where_the_last_one_ended(everywhere: Setting):
    answer = {"type": "object", "properties": {"data": {"type": "string"}}, "required": ["data"]}
    bench = everywhere("talk", answer=answer)
    said: list[str] = []
    for number, asked in enumerate(("SSL?", "DNS?")):
        run = bench.begin({"messages": [{"role": "user", "content": asked}]})
        assert bench.ask(run).title == asked
        bench.answer(run, {"data": f"read page {number}"})
        assert run.status == "done", run.error
        said = [message["content"] for message in run.output["messages"]]
    assert said == [
        *("SSL?", "", "read page 0", "They say: read page 0"),
        *("DNS?", "", "read page 1", "They say: read page 1"),
    ]


def test_a_breakpoint_asks_before_the_node(bench: Setting):
    bench_ = bench("ask", compile={"interrupt_before": ["node"]})
    run = bench_.begin({"value": "And?", "log": []})
    assert bench_.ask(run).title == "Go on with node?"
    bench_.desk.approve(bench_.ask(run))
    bench_.go(run)
    assert output(bench_.answer(run, "so", "And?")) == ["so"]


def test_a_breakpoint_that_is_refused_goes_no_further(bench: Setting):
    bench_ = bench("ask", compile={"interrupt_before": ["node"]})
    run = bench_.begin({"value": "And?", "log": []})
    bench_.desk.reject(bench_.ask(run), "not today")
    bench_.go(run)
    assert (run.status, len(run.asks)) == ("failed", 1)
    assert "not today" in str(run.error)


def test_a_node_that_langgraph_tries_again_begins_at_its_first_place(bench: Setting):
    bench_ = bench("flaky")
    run = bench_.begin({"log": []})
    bench_.answer(run, "fine", "And now?")
    assert (output(run), bench_.did) == (["fine"], ["once"])


def test_a_node_that_swallows_the_pause_does_not_get_past_it(bench: Setting):
    bench_ = bench("swallow")
    run = bench_.begin({"log": []})
    assert (run.status, bench_.ask(run).title) == ("waiting", "May I?")
    bench_.answer(run, "no")
    assert output(run) == ["no"], "what counts is what the person said"


def test_a_node_that_fails_ends_the_run_and_a_retry_goes_on_with_the_same_answer(bench: Setting):
    bench_ = bench("failing")
    run = bench_.begin({"log": []})
    bench_.answer(run, "yes")
    assert run.status == "failed"
    assert "the node is broken" in str(run.error)
    (bench_.folder / "mended").touch()
    bench_.desk.retry(run)
    bench_.go(run)
    assert output(run) == ["mended"]
    assert len(run.asks) == 1, "nobody was asked again"


@pytest.mark.parametrize("backwards", [False, True])
def test_several_calls_of_one_message_are_decided_one_by_one_and_act_once(
    bench: Setting, backwards
):
    bench_ = bench("sends")
    run = bench_.begin({"messages": ["go"]})
    for _ in range(3):  # LangChain may not have begun the last ones when the first one pauses
        ask = sorted((one for one in run.asks if one.open), key=lambda one: one.title)[-backwards]
        verdict = bench_.desk.reject if "ben" in ask.title else bench_.desk.approve
        verdict(ask)
        bench_.go(run)
    assert run.status == "done", run.error
    assert sorted(bench_.did) == ["sent to anna", "sent to cy"]
    said = [message["content"] for message in run.output["messages"][-3:]]
    assert said == ["sent to anna", "not sent to ben", "sent to cy"]


def test_calls_that_share_an_id_are_not_taken_for_one_another(bench: Setting):
    bench_ = bench("sends namesakes")
    run = bench_.begin({"messages": ["go"]})
    for _ in range(9):
        for ask in run.asks:
            if ask.open:
                bench_.desk.approve(ask)
        bench_.go(run)
        if run.status != "waiting":
            break
    assert run.status in ("done", "parked"), run.error
    assert len(set(bench_.did)) == len(bench_.did), "whatever happened, nothing happened twice"
    assert run.status == "parked" or len(bench_.did) == 3


def test_what_langgraph_s_functional_api_makes_is_a_graph_too(local: Desk):
    ran: list[int] = []

    @task
    def double(number: int) -> int:
        ran.append(number)
        return 2 * number

    def note(number: int) -> int:
        ran.append(number)
        return number

    @entrypoint(checkpointer=InMemorySaver())
    def flow(number: int) -> list[Any]:
        doubled = double(number).result()
        return [sayso.effect(note, doubled), interrupt("And?"), sayso.question("So?")]

    run = local.run(Graph("functional", flow), 3, wait=False)
    for said in ("and", "so"):
        local.respond(ask_of(run), said)
        local.work(until="idle")
    assert (run.output, ran) == ([6, "and", "so"], [3, 6])


def test_input_that_cannot_be_stored_is_refused_before_anything_runs(local: Desk):
    graph = Graph("ask", GRAPHS["ask"]().compile(checkpointer=InMemorySaver()))
    with pytest.raises(BadValue, match="input"):
        local.run(graph, {"value": object()}, wait=False)
    assert local.runs() == []
