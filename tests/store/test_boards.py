"""What pages show of everything at once: counts and lists of one moment, behind the walls of teams."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sayso import Desk, Run
from sayso.store.contract import RunQuery
from sayso.testing import FakeClock


def pay(run: Any, amount: int) -> bool:
    return bool(run.confirm(f"Pay {amount}?"))


def fail(run: Any) -> None:
    raise RuntimeError("the till is empty")


def steps(run: Any, number: int) -> None:
    for one in range(number):
        run.step(abs, one)


@pytest.fixture(autouse=True)
def flows(desk: Desk) -> None:
    for flow in (pay, fail, steps, looks_alike):
        desk.workflow(flow)


def failed(desk: Desk, **given: Any) -> Run:
    run = desk.start(fail, **given)
    desk.work(until="idle", only=run.id)
    return run


def test_what_failed_since_then_comes_with_the_last_one_first(desk: Desk, clock: FakeClock) -> None:
    old = failed(desk)
    clock.advance("2h")
    new = failed(desk, team="billing")
    now = desk.store.now()

    assert desk.store.failed_since(now - timedelta(hours=3), 9) == [new.id, old.id]
    assert desk.store.failed_since(now - timedelta(hours=1), 9) == [new.id]
    assert desk.store.failed_since(now - timedelta(hours=3), 9, ("ops",)) == [old.id]


def test_since_when_asks_wait_is_told_of_what_is_open_and_in_time(
    desk: Desk, clock: FakeClock
) -> None:
    desk.open("pay", {"n": 1}, within="1h")
    opened = desk.store.now()
    desk.approve(desk.open("pay", {"n": 2}))
    assert desk.store.open_since(9) == [opened]
    clock.advance("2h")

    assert desk.store.open_since(9) == []


def test_the_last_event_of_each_run_and_any_part_of_one_can_be_read(desk: Desk) -> None:
    long, short = desk.run(steps, 7, wait=False), failed(desk)
    last = desk.store.endings([long.id, short.id])
    journal = desk.store.stream(long.id)

    assert {run: event.kind for run, event in last.items()} == {
        long.id: "run.done",
        short.id: "run.failed",
    }
    assert desk.store.endings([]) == {}
    parts = [*desk.store.passage(long.id, 0, 4), *desk.store.passage(long.id, 4, 99)]
    assert [event.seq for event in parts] == [event.seq for event in journal]


def test_asks_of_a_run_are_found_by_when_they_were_opened(desk: Desk) -> None:
    run = desk.run(pay, 3, wait=False)
    [ask] = run.state.pending
    later = ask.opened_at + timedelta(seconds=1)

    assert desk.store.run_open(run.id) == [ask.id]
    assert [one[0].stream for one in desk.store.run_asks_between(run.id, None, None)] == [ask.id]
    assert desk.store.run_asks_between(run.id, later, None) == []
    assert desk.store.run_asks_between(run.id, None, ask.opened_at) == []
    desk.approve(ask)
    assert desk.store.run_open(run.id) == []


def test_runs_are_found_by_how_their_id_begins(desk: Desk) -> None:
    runs = [desk.start(pay, n).id for n in range(4)]
    for run in runs:
        assert [row.id for row in desk.store.runs(RunQuery(begins=run))] == [run]
    assert {row.id for row in desk.store.runs(RunQuery(begins="r-", workflow="pay"))} == set(runs)
    assert desk.store.runs(RunQuery(begins="%")) == []


def test_steps_of_one_verb_are_found_in_a_part_of_a_run(desk: Desk) -> None:
    run = desk.run(looks_alike, wait=False)
    found = desk.store.run_steps(run.id, "step", 0, 99)

    assert [(event.payload or {})["result"] for event in found] == [{"verb": "model"}, 2, 3]
    assert desk.store.run_steps(run.id, "model", 0, 99) == []
    assert desk.store.run_steps(run.id, "step", 2, 3) == found[1:2]


def looks_alike(run: Any) -> None:
    run.step(dict, verb="model")
    run.step(abs, 2)
    run.step(abs, 3)
