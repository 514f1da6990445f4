"""Graphs with async nodes: carried on from process to process as plain ones are."""

from __future__ import annotations

import pytest

from sayso import Run
from tests.adapters.langgraph.conftest import Setting
from tests.adapters.langgraph.workshop import Bench

# --- stories, with a new process after each pause ----------------------------------------------


def test_what_goes_through_a_verb_is_done_once(awaited: Setting):
    made = awaited("async twice kept")
    run = made.begin({"log": []})
    made.answer(run, "one", "first?")
    made.answer(run, "two", "second?")
    assert (run.status, run.output["log"]) == ("done", ["one", "two"]), run.error
    assert made.did == ["looked up", "first one", "second two"]


def test_verbs_ask_in_the_middle_of_a_node(bench: Setting):
    made = bench("async verbs")
    run = made.begin({"log": []})
    made.desk.approve(made.ask(run, "May I?"))
    made.go(run)
    made.answer(run, 40, "How much?")
    assert (run.status, run.output["log"]) == ("done", [40]), run.error
    assert made.did == ["looked up", "paid 40"]


@pytest.mark.parametrize("graph", ["async side", "async side kept"])
def test_nodes_side_by_side_ask_at_once_and_are_answered_in_any_order(bench: Setting, graph: str):
    made = bench(graph)
    run = made.begin({"value": ["a", "b", "c"], "log": []})
    assert sorted(ask.title for ask in run.state.pending) == ["a", "b", "c"]
    for title in ("c", "a", "b"):
        made.desk.respond(made.ask(run, title), title.upper())
    made.go(run)
    assert (run.status, sorted(run.output["log"])) == ("done", ["a A", "b B", "c C", "end"])


def test_plain_nodes_beside_async_ones_use_their_verbs_plainly(bench: Setting):
    made = bench("async mixed")
    run = made.begin({"log": []})
    made.answer(run, "yes", "First?")
    made.answer(run, "too", "Plainly?")
    assert (run.status, run.output["log"]) == ("done", ["yes", "too"]), run.error


def test_a_subgraph_asks_by_interrupt_and_by_verb(awaited: Setting):
    made = awaited("async nested")
    run = made.begin({"log": []})
    made.answer(run, "in", "inside?")
    made.answer(run, "deep", "deeper?")
    assert (run.status, run.output["log"]) == ("done", ["in", "deep", "end"]), run.error
    assert made.did == ["inside"]


def test_a_subgraph_is_held_at_its_stop_and_asks_behind_it(bench: Setting):
    made = bench("async stop beside")
    run = made.begin({"log": []})
    made.desk.respond(made.ask(run, "First?"), "yes")
    made.desk.approve(made.ask(run, "Go on with part/pay?"))
    made.go(run)
    assert made.did == []
    made.answer(run, "savings", "Which account?")
    assert (run.status, made.did) == ("done", ["paid"]), run.error


# --- two processes, and processes that die -----------------------------------------------------


def raced(bench: Bench) -> None:
    """Let two processes carry one decided run on at the same moment."""
    run = bench.begin({"log": []})
    bench.desk.respond(bench.ask(run), "yes")
    both = [bench.order(run=run, flag="go") for _ in range(2)]
    (bench.folder / "go").touch()
    assert [bench.wait(pid) for pid in both] == [0, 0]
    if run.status == "running":  # on a busy machine one had no time before its lease was over
        bench.wait_for_lease(run)
        bench.go(run)
    assert (run.status, bench.did) == ("done", ["paid"]), run.error


@pytest.mark.parametrize("graph", ["async pay", "async pay kept"])
def test_two_processes_that_share_a_saver_carry_one_decided_run_on_once(
    awaited: Setting, graph: str
):
    raced(awaited(graph))


@pytest.mark.soak
@pytest.mark.parametrize("graph", ["async pay", "async pay kept"])
def test_they_do_in_all_of_many_races(awaited: Setting, graph: str):
    for _ in range(40):
        raced(awaited(graph))


def killed(bench: Bench) -> Run:
    """Decide a run, and kill whoever carries it on right after it has acted."""
    run = bench.begin({"log": []})
    bench.desk.respond(bench.ask(run), "yes")
    bench.dies()
    bench.go(run, dies=True)
    assert bench.did == ["paid"]
    bench.go(run)
    return run


def test_a_guarded_graph_that_is_killed_after_acting_goes_on_by_itself(awaited: Setting):
    made = awaited("async pay kept", guarded=True)
    run = killed(made)
    assert (run.status, made.did) == ("done", ["paid"]), run.error
    assert [ask.kind for ask in run.asks] == ["question"], "nobody was asked anything again"


def test_an_unguarded_one_leaves_a_doubt_and_does_not_act_again_by_itself(awaited: Setting):
    made = awaited("async pay")
    run = killed(made)
    assert (run.status, made.ask(run).kind, made.did) == ("waiting", "doubt", ["paid"])
    made.desk.respond(made.ask(run), {"log": ["paid, says sam"]})
    made.go(run)
    assert (run.status, run.output["log"], made.did) == ("done", ["paid, says sam"], ["paid"])


# --- nodes that use their verbs wrongly --------------------------------------------------------


def test_a_confirmation_that_was_not_awaited_is_no_yes(bench: Setting):
    made = bench("async hasty")
    run = made.begin({"log": []})
    assert (run.status, made.did) == ("failed", [])
    assert "confirm(...) was not awaited, so nobody was asked" in str(run.error)


def test_a_node_that_forgot_to_await_an_effect_does_not_count_as_done(bench: Setting):
    made = bench("async forgetful", guarded=True)
    run = made.begin({"log": []})
    for _ in range(2):
        assert (run.status, made.did) == ("parked", [])
        assert "node does not count as done: effect(...) was not awaited" in str(run.error)
        made.desk.retry(run)
        made.go(run)


def test_a_swallowed_pause_is_none(bench: Setting):
    made = bench("async swallow")
    run = made.begin({"log": []})
    assert (run.status, made.ask(run, "May I?").open) == ("waiting", True)
    made.desk.respond(made.ask(run), "no")
    made.go(run)
    assert (run.status, run.output["log"]) == ("done", ["no"]), run.error


def test_questions_that_a_node_gathers_are_asked_one_after_the_other(bench: Setting):
    made = bench("async impatient")
    run = made.begin({"log": []})
    made.answer(run, "1", "One?")
    made.answer(run, "2", "Other?")
    assert (run.status, run.output["log"]) == ("done", ["1", "2"]), run.error
