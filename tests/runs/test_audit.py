"""The journal of runs under the eyes of an auditor, and under the hands of somebody else."""

from __future__ import annotations

from typing import Any

import pytest

import sayso
from sayso import Desk, Run, Running
from sayso.testing import FakeClock
from tests.places import Place
from tests.runs.people import RAN, answered, approved, ask_of, begun, carried_on, edited, pay


def look() -> str:
    return "a hundred left"


@sayso.tool(unknown=TimeoutError)
def shaky() -> str:
    raise TimeoutError


def everything(run: Running) -> Any:
    run.progress(0.1)
    run.step(look)
    later = run.later.question("Later?")
    run.workflow(lambda run: run.call(pay, amount=40))
    run.gather(lambda: run.question("Left?"), lambda: run.call(shaky))
    return [later.result(), run.draft(lambda _: "text"), run.now() is not None]


def test_the_journal_is_whole_after_all_of_it(desk: Desk, clock: FakeClock):
    desk.workflow(everything)
    run = begun(desk, everything)
    edited(desk, run, {"amount": 30}, "pay")
    answered(desk, run, "l", "Left?")
    approved(desk, run, "shaky")
    answered(desk, run, "it did", "Did shaky happen?")
    answered(desk, run, "x", "Later?")
    answered(desk, run, "again", "Draft")
    approved(desk, run, "Draft")
    cancelled = begun(desk, everything)
    desk.cancel(cancelled)

    assert run.output == ["x", "text", True], run.error
    report = desk.verify()
    assert report, report.problems
    assert report.streams == 3 + len(run.asks) + len(cancelled.asks)
    assert desk.verify(seal=desk.seal())


def waiting(desk: Desk) -> Run:
    @desk.workflow(name="flow")
    def flow(run: Running) -> Any:
        RAN.append(run.step(look))
        RAN.append(run.step(look))
        if run.confirm("Drop it?"):
            RAN.append("dropped")
        return run.question("And now?")

    run = begun(desk, flow)
    RAN.clear()
    return run


TAMPERINGS = {
    "a result was changed": (
        "update events set payload = replace(payload, 'a hundred', 'a million') "
        "where stream = ? and seq = 2"
    ),
    "a result was removed": "delete from events where stream = ? and seq = 2",
    "the input was changed": (
        "update events set payload = replace(payload, '[]', '[1]') where stream = ? and seq = 1"
    ),
    "the beginning was removed": "delete from events where stream = ? and seq = 1",
    "a step was renamed": ("update events set kind = 'step.failed' where stream = ? and seq = 2"),
    "an event was slipped in": (
        "insert into events (stream, seq, kind, at, actor, payload, salt, digest, hash) "
        "select stream, seq + 1, 'step.done', at, actor, payload, salt, digest, hash "
        "from events where stream = ? and seq = 3"
    ),
    "the end was removed": "delete from events where stream = ? and seq = 3",
    "everything was removed": "delete from events where stream = ?",
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_run_whose_journal_was_changed_by_hand_is_parked(desk: Desk, place: Place, name: str):
    run = waiting(desk)
    desk.approve(ask_of(run))
    place.sql(TAMPERINGS[name], run.id)

    report = desk.verify()
    assert not report
    assert run.id in str(report.problems)

    carried_on(desk, run)
    assert run.status == "parked"
    assert run.id in str(run.error)
    assert "sayso audit verify" in str(run.error)
    assert RAN == [], "nothing was done on the word of a changed journal"


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("ask.decided", "reject", "approve"),
        ("ask.opened", "Drop it?", "Keep it?"),
    ],
)
def test_a_run_whose_ask_was_changed_by_hand_is_parked(
    desk: Desk, place: Place, kind: str, before: str, after: str
):
    run = waiting(desk)
    ask = desk.reject(ask_of(run), "never")
    place.sql(
        "update events set payload = replace(payload, ?, ?) where stream = ? and kind = ?",
        before,
        after,
        ask.id,
        kind,
    )

    assert not desk.verify()
    carried_on(desk, run)

    assert "dropped" not in RAN
    assert run.status == "parked", (run.status, run.error)


def test_a_call_whose_arguments_were_changed_by_hand_does_not_run(desk: Desk, place: Place):
    run = begun(desk, lambda run: run.call(pay, amount=40))
    ask = desk.approve(ask_of(run))
    place.sql("update events set payload = replace(payload, '40', '4000') where stream = ?", ask.id)
    carried_on(desk, run)

    assert RAN == []
    assert run.status in ("parked", "failed")


def test_a_row_that_was_changed_by_hand_is_found(desk: Desk, place: Place):
    """The list says done, the journal does not."""
    run = waiting(desk)
    place.sql("update runs set status = 'done' where id = ?", run.id)

    assert not desk.verify()


def test_a_row_without_a_journal_is_found(desk: Desk, place: Place):
    run = waiting(desk)
    place.sql("update runs set id = 'r-stray' where id = ?", run.id)

    report = desk.verify()

    assert "r-stray" in str(report.problems)
