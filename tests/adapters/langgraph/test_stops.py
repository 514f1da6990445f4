"""Where a graph was compiled to stop, it goes on only when people say so, whoever dies when."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapters.langgraph.conftest import Setting

BEFORE: dict[str, Any] = {"interrupt_before": ["pay"]}
AFTER: dict[str, Any] = {"interrupt_after": ["look"]}
GUARDS = pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "unguarded"])


@GUARDS
@pytest.mark.parametrize("compile_", [BEFORE, AFTER], ids=["before", "after"])
def test_a_stop_is_asked_about_even_if_the_process_died_before_noting_it(
    bench: Setting, compile_: dict[str, Any], guarded: bool
):
    made = bench("stop", compile=compile_, guarded=guarded)
    made.dies("dies before noting graph:turn-1")
    run = made.begin({"log": []}, dies=True)
    made.wait_for_lease(run)
    made.go(run)
    assert (made.ask(run).title, made.did) == ("Go on with pay?", ["looked"])
    made.desk.approve(made.ask(run))
    made.go(run)
    assert (run.status, made.did) == ("done", ["looked", "paid"]), run.error


def test_every_stop_of_many_is_asked_about(bench: Setting):
    made = bench("stop", compile={"interrupt_before": "*"}, guarded=True)
    run = made.begin({"log": []})
    made.desk.approve(made.ask(run, "Go on with look?"))
    made.dies("dies before noting graph:turn-2")
    made.go(run, dies=True)
    made.go(run)
    assert (made.ask(run).title, made.did) == ("Go on with pay?", ["looked"])


@pytest.mark.parametrize("graph", ["stop beside", "stop beside verb"])
def test_a_subgraph_that_stops_is_asked_about_beside_a_node_that_asks(bench: Setting, graph: str):
    made = bench(graph)
    run = made.begin({"log": []})
    made.answer(run, "yes", "First?")
    assert (run.status, made.ask(run).title, made.did) == ("waiting", "Go on with part/pay?", [])
    made.desk.approve(made.ask(run))
    made.go(run)
    assert (run.status, made.did, len(run.asks)) == ("done", ["paid"], 2), run.error


@pytest.mark.parametrize("graph", ["stop beside", "stop beside verb"])
def test_a_subgraph_whose_stop_is_refused_does_not_pay(bench: Setting, graph: str):
    made = bench(graph)
    run = made.begin({"log": []})
    made.desk.reject(made.ask(run, "Go on with part/pay?"), "not today")
    made.answer(run, "yes", "First?")
    assert (run.status, made.did) == ("failed", [])
    assert "not today" in str(run.error)


def test_a_stop_that_langgraph_does_not_show_is_asked_about_by_its_node(bench: Setting):
    made = bench("stop beside hidden")
    run = made.begin({"log": []})
    assert sorted(ask.title for ask in run.asks) == ["First?", "Go on with part?"]
    made.desk.reject(made.ask(run, "Go on with part?"))
    made.answer(run, "yes", "First?")
    assert (run.status, made.did) == ("failed", [])


def test_a_stop_that_was_passed_is_not_asked_about_again(bench: Setting):
    made = bench("stop and verb")
    run = made.begin({"log": []})
    made.desk.approve(made.ask(run, "Go on with part/pay?"))
    made.answer(run, "yes", "First?")
    made.answer(run, "mine", "Which account?")
    assert (run.status, made.did, len(run.asks)) == ("done", ["paid"], 3), run.error


@GUARDS
@pytest.mark.parametrize("dies", [True, False], ids=["dies", "lives"])
def test_an_answer_does_not_carry_a_subgraph_past_its_stop(bench: Setting, guarded, dies):
    made = bench("stop below", guarded=guarded)
    run = made.begin({"log": []})
    made.desk.respond(made.ask(run, "First?"), "yes")
    if dies:
        made.dies("dies before noting graph:turn-2")
        made.go(run, dies=True)
    made.go(run)
    assert (made.ask(run).title, made.did) == ("Go on with part/pay?", [])
    made.desk.approve(made.ask(run))
    made.go(run)
    assert (run.status, made.did, len(run.asks)) == ("done", ["paid"], 2), run.error
    assert run.output["log"] == ["yes", "paid"]
