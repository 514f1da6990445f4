"""A thread that does not stand where it was left: what people decided is not used elsewhere."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from sayso import Desk, Run
from sayso.adapters.base import UntestedHost
from sayso.adapters.langgraph import Graph
from sayso.errors import Misuse
from tests.adapters.langgraph.conftest import Setting
from tests.adapters.langgraph.graphs import GRAPHS
from tests.adapters.langgraph.workshop import Bench, forget
from tests.runs.people import ask_of


def waiting(bench: Bench, title: str | None = None) -> Run:
    run = bench.begin({"log": []})
    bench.desk.respond(bench.ask(run, title), "yes")
    return run


def parked(bench: Bench, run: Run, because: str) -> None:
    bench.go(run)
    assert run.status == "parked", (run.status, run.error)
    assert because in str(run.error)
    assert "paid" not in bench.did


def test_a_checkpointer_that_lost_the_thread_parks_the_run(bench: Setting):
    made = bench("pay")
    run = waiting(made)
    forget(made.saver)
    parked(made, run, "lost the thread")


def test_a_thread_that_somebody_else_resumed_is_not_resumed_again(bench: Setting):
    made = bench("twice")
    run = waiting(made)
    with made.thread_here() as (graph, config):
        graph.invoke(Command(resume="stolen"), config)
    before = made.did
    parked(made, run, "Somebody else went on")
    assert made.did == before


def test_a_thread_that_somebody_else_brought_to_its_end_is_not_run_again(bench: Setting):
    made = bench("ask")
    run = made.begin({"log": [], "value": "Pay?"})
    made.desk.respond(made.ask(run), "yes")
    with made.thread_here() as (graph, config):
        graph.invoke(Command(resume="stolen"), config)
    parked(made, run, "the end")


def test_a_question_that_changed_under_its_id_is_not_answered_with_the_old_answer(bench: Setting):
    made = bench("ask")
    run = made.begin({"log": [], "value": "Wire $1?"})
    made.desk.respond(made.ask(run), "yes")
    with made.thread_here() as (graph, config):
        (old,) = graph.get_state(config).interrupts
        task = graph.get_state(config).tasks[0].id
        new = type(old)(value="Wire $1M?", id=old.id)
        saved = graph.checkpointer.get_tuple(config)
        graph.checkpointer.conn.execute("delete from writes")
        graph.checkpointer.put_writes(saved.config, [("__interrupt__", (new,))], task)
        (now,) = graph.get_state(config).interrupts
        assert (now.id, now.value) == (old.id, "Wire $1M?")
    parked(made, run, "asks something else under the same id")


def test_a_graph_that_lost_the_node_that_asks_parks_the_run(bench: Setting):
    made = bench("pay")
    run = waiting(made)
    made.graph = "nested"
    parked(made, run, "The graph changed: the thread waits in node")
    made.graph = "pay"
    made.desk.retry(run)
    made.go(run)
    assert (run.status, made.did) == ("done", ["paid"]), "brought back, it goes on"


def test_a_graph_without_a_checkpointer_is_refused_with_advice() -> None:
    for checkpointer in (None, False, True):
        with pytest.raises(Misuse, match="SqliteSaver"):
            Graph("bare", GRAPHS["pay"]().compile(checkpointer=checkpointer))


def test_what_is_no_compiled_graph_is_refused_with_advice(local: Desk) -> None:
    with pytest.raises(Misuse, match="compile"):
        Graph("made-later", lambda: GRAPHS["pay"]()).graph  # noqa: B018
    with pytest.raises(Misuse, match="compile"):
        Graph("not-compiled", GRAPHS["pay"]())


def test_a_host_that_is_too_old_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda package: "1.2.19")
    with pytest.warns(UntestedHost, match=r"langgraph 1\.2\.19"):
        Graph("ahead", GRAPHS["pay"]().compile(checkpointer=InMemorySaver()))


def test_a_saver_in_memory_works_within_its_process_and_says_so_when_it_is_gone(local: Desk):
    saver = InMemorySaver()
    made = Graph("memory", lambda: GRAPHS["ask"]().compile(checkpointer=saver))
    first, second = (local.run(made, {"log": [], "value": "And?"}, wait=False) for _ in range(2))
    local.respond(ask_of(first), "so")
    local.work(until="idle")
    assert first.output["log"] == ["so"]
    saver.delete_thread(second.id)
    local.respond(ask_of(second), "so")
    local.work(until="idle")
    assert second.status == "parked"
    assert "A saver in memory keeps threads only as long as its process" in str(second.error)
