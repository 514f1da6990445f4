"""Two processes at once, and processes that die: what was approved happens once (E1, E2)."""

from __future__ import annotations

import signal

import pytest

from sayso import Run
from tests.adapters.langgraph.conftest import Setting
from tests.adapters.langgraph.workshop import Bench


def raced(bench: Bench) -> None:
    """Let two processes carry one decided run on at the same moment."""
    run = bench.begin({"log": []})
    bench.desk.respond(bench.ask(run), "yes")
    both = [bench.order(run=run, flag="go") for _ in range(2)]
    (bench.folder / "go").touch()
    assert [bench.wait(pid) for pid in both] == [0, 0]
    assert bench.did in ([], ["paid"])
    if run.status == "running":  # on a busy machine one had no time before its lease was over
        bench.wait_for_lease(run)
        bench.go(run)
    assert (run.status, bench.did) == ("done", ["paid"]), run.error


@pytest.mark.parametrize("graph", ["pay", "pay kept"])
def test_two_processes_that_carry_on_one_decided_run_pay_once(everywhere: Setting, graph: str):
    for _ in range(3):
        raced(everywhere(graph))


@pytest.mark.soak
@pytest.mark.parametrize("graph", ["pay", "pay kept"])
def test_they_do_in_all_of_many_races(everywhere: Setting, graph: str):
    for _ in range(60):
        raced(everywhere(graph))


def killed(bench: Bench) -> Run:
    """Decide a run, and kill whoever carries it on right after it has acted."""
    run = bench.begin({"log": []})
    bench.desk.respond(bench.ask(run), "yes")
    bench.dies()
    bench.go(run, dies=True)
    assert bench.did == ["paid"]
    bench.go(run)
    return run


def kept(bench: Bench) -> None:
    run = killed(bench)
    assert (run.status, bench.did) == ("done", ["paid"]), run.error
    assert [ask.kind for ask in run.asks] == ["question"], "nobody was asked anything again"


def doubted(bench: Bench) -> Run:
    run = killed(bench)
    doubt = bench.ask(run)
    assert (run.status, doubt.kind, bench.did) == ("waiting", "doubt", ["paid"])
    assert list(doubt.args["answers"].values()) == ["yes"]
    return run


def test_a_guarded_graph_that_is_killed_after_acting_goes_on_by_itself(bench: Setting):
    for _ in range(3):
        kept(bench("pay kept", guarded=True))


def test_an_unguarded_one_leaves_a_doubt_and_does_not_act_again_by_itself(bench: Setting):
    doubted(bench("pay"))


def test_a_doubt_names_the_node_that_was_to_run_next(bench: Setting):
    made = bench("ask then pay")
    run = made.begin({"log": []})
    made.desk.respond(made.ask(run, "First?"), "yes")
    made.dies()
    made.go(run, dies=True)
    made.go(run)
    doubt = made.ask(run)
    assert (doubt.kind, made.did) == ("doubt", ["paid"])
    assert '["runs next","pay"]' in str(doubt.content.preview or doubt.content.facts)


@pytest.mark.soak
def test_they_do_whenever_they_are_killed(everywhere: Setting):
    for _ in range(8):
        kept(everywhere("pay kept", guarded=True))
        doubted(everywhere("pay"))


def test_whoever_says_again_gets_it_again(bench: Setting):
    bench_ = bench("pay")
    run = doubted(bench_)
    bench_.desk.approve(bench_.ask(run))
    bench_.go(run)
    assert (run.status, bench_.did) == ("done", ["paid", "paid"]), run.error


def test_whoever_says_that_it_happened_lets_the_graph_go_on_after_the_node(bench: Setting):
    bench_ = bench("pay")
    run = doubted(bench_)
    bench_.desk.respond(bench_.ask(run), {"log": ["paid, says sam"]})
    bench_.go(run)
    assert (run.status, bench_.did) == ("done", ["paid"]), run.error
    assert run.output["log"] == ["paid, says sam"], "the update of the node is the person's"


def test_what_a_person_said_of_a_node_is_applied_once_whoever_dies(bench: Setting):
    bench_ = bench("pay then ask")
    run = doubted(bench_)
    bench_.desk.respond(bench_.ask(run), {"log": ["says sam"]})
    bench_.dies("dies by hand")
    bench_.go(run, dies=True)
    bench_.go(run)
    bench_.answer(run, "so", "After?")
    assert (run.status, bench_.did) == ("done", ["paid"]), run.error
    assert run.output["log"] == ["says sam", "so"]


def test_whoever_leaves_it_ends_the_run(bench: Setting):
    bench_ = bench("pay")
    run = doubted(bench_)
    bench_.desk.reject(bench_.ask(run))
    bench_.go(run)
    assert (run.status, bench_.did) == ("failed", ["paid"])


def test_a_turn_that_came_to_its_end_before_the_process_died_is_not_in_doubt(bench: Setting):
    bench_ = bench("twice", compile={})
    run = bench_.begin({"log": []})
    bench_.desk.respond(bench_.ask(run), "one")
    bench_.dies("dies before noting graph:turn-2")
    bench_.go(run, dies=True)
    bench_.go(run)
    assert bench_.ask(run).title == "second?", "the checkpointer says where the turn ended"
    assert bench_.did == ["looked up", "looked up", "first one"]
    assert bench_.answer(run, "two").status == "done"


def test_a_first_turn_that_died_goes_on_where_its_checkpoints_end(bench: Setting):
    bench_ = bench("verbs", guarded=True)
    bench_.dies()
    run = bench_.begin({"log": []}, dies=True)
    bench_.wait_for_lease(run)
    bench_.go(run)
    assert bench_.did == ["looked up", "looked up"], "a step may be repeated if its process dies"
    bench_.desk.approve(bench_.ask(run, "May I?"))
    bench_.go(run)
    assert bench_.answer(run, 7).output["log"] == [7]


def test_killed_means_killed(bench: Setting):
    bench_ = bench("pay")
    run = bench_.begin({"log": []})
    bench_.desk.respond(bench_.ask(run), "yes")
    bench_.dies()
    assert bench_.wait(bench_.order(run=run)) == signal.SIGKILL
