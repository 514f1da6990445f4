"""An approval is spent by one racer, whoever else tries."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from sayso import Ask, Call, Desk
from sayso.errors import AlreadySpent, AskChanged, FinishedLate
from sayso.model.verdicts import Verdict
from sayso.testing import FakeClock
from tests.crew import Crew, Span, desk_at, overlap
from tests.places import Place
from tests.together import at_once

TRIALS = pytest.mark.parametrize(
    "trials", [pytest.param(24, id="some"), pytest.param(200, id="many", marks=pytest.mark.soak)]
)


@dataclass(frozen=True)
class Spent:
    """What a racer was told."""

    won: bool
    key: str | None
    note: str | None
    pid: int
    span: Span


def spend(url: str, ask_id: str) -> Spent:
    """In a process: begin, and carry it out if allowed to."""
    desk = desk_at(url)
    begun = time.monotonic()
    try:
        call = desk.begin(ask_id)
    except AlreadySpent as lost:
        span = (begun, time.monotonic())
        return Spent(False, None, note_on(lost.ask.decision), os.getpid(), span)
    span = (begun, time.monotonic())
    desk.finish(call, os.getpid())
    return Spent(True, call.key, note_on(call.ask.decision), os.getpid(), span)


def note_on(decision: Any) -> str | None:
    """Return the note of the decision that a racer was told about."""
    assert decision is not None
    note: str | None = decision.note
    return note


@TRIALS
@pytest.mark.parametrize("members", [2, 4])
def test_processes_spend_one_approval_once(
    live: Desk, place: Place, crew: Crew, members: int, trials: int
) -> None:
    collisions = 0
    for trial in range(trials):
        ask = live.approve(live.open("pay", {"amount": trial}), note=f"yes {trial}")

        outcomes = crew.together(spend, place.url, ask.id, members=members)

        won = [one for one in outcomes if one.won]
        assert len(won) == 1, outcomes
        assert {one.note for one in outcomes} == {f"yes {trial}"}
        effect = live.get(ask.id).effect
        assert effect is not None
        assert (effect.status, effect.result, effect.attempt) == ("done", won[0].pid, 1)
        collisions += overlap([one.span for one in outcomes])
    assert live.verify().events == 4 * trials
    assert collisions, "the racers never met: this proves nothing"


@TRIALS
def test_eight_threads_spend_one_approval_once(desk: Desk, trials: int) -> None:
    for trial in range(trials):
        ask = desk.approve(desk.open("pay", {"amount": trial}))

        outcomes = at_once([partial(desk.begin, ask)] * 8)

        assert sum(isinstance(one, Call) for one in outcomes) == 1
        assert sum(isinstance(one, AlreadySpent) for one in outcomes) == 7


def test_sweeps_at_once_open_one_doubt_whose_second_try_is_given_to_one(
    desk: Desk, clock: FakeClock
) -> None:
    for trial in range(12):
        ask = desk.approve(desk.open("pay", {"amount": trial}))
        desk.begin(ask, limit="1m")
        clock.advance("1m")

        doubts = [doubt for swept in at_once([desk.sweep] * 4) for doubt in swept.doubts]

        assert len(doubts) == 1
        effect = desk.get(ask.id).effect
        assert effect is not None
        assert effect.doubt == doubts[0]

    for trial in range(12):
        ask = desk.approve(desk.open("pay", {"amount": trial}))
        desk.begin(ask, limit="1m")
        clock.advance("1m")
        (doubt,) = desk.sweep().doubts
        desk.approve(desk.get(doubt))

        outcomes = at_once([partial(desk.begin, ask)] * 6)

        (call,) = [one for one in outcomes if isinstance(one, Call)]
        assert call.attempt == 2
        desk.finish(call, "paid")


def test_a_result_and_a_sweep_at_once_leave_one_truth(desk: Desk, clock: FakeClock) -> None:
    """Either the result was in time, or it is evidence on the doubt; never both, never neither."""
    for trial in range(24):
        ask = desk.approve(desk.open("pay", {"amount": trial}))
        call = desk.begin(ask, limit="1m")
        clock.advance("1m")

        finished, swept = at_once([partial(desk.finish, call, "paid"), desk.sweep])

        effect = desk.get(ask.id).effect
        assert effect is not None
        if isinstance(finished, Ask):
            assert (effect.status, effect.result, swept.doubts) == ("done", "paid", ())
        else:
            assert isinstance(finished, FinishedLate), finished
            assert effect.status == "unknown"
            assert [said["result"] for said in desk.get(swept.doubts[0]).evidence] == ["paid"]
    assert desk.verify()


def deadlocks(place: Place) -> int:
    """Return how often the server had to break a tie by force."""
    if place.dialect == "sqlite":  # one writer at a time
        return 0
    place.sql("select pg_stat_force_next_flush()")
    return int(
        place.one("select deadlocks from pg_stat_database where datname = current_database()")
    )


@pytest.mark.parametrize("verdict", ["respond", "reject", "approve"])
def test_a_late_result_and_the_answer_to_its_doubt_do_not_block_each_other(
    desk: Desk, place: Place, clock: FakeClock, verdict: Verdict
) -> None:
    """Both write to two asks at once; taken in opposite order they would meet in a deadlock."""
    before = deadlocks(place)
    for trial in range(24):
        ask = desk.approve(desk.open("pay", {"amount": trial}))
        call = desk.begin(ask, limit="1m")
        clock.advance("1m")
        doubt = desk.get(desk.sweep().doubts[0])
        answer = "paid" if verdict == "respond" else None

        finished, decided = at_once(
            [
                partial(desk.finish, call, "paid"),
                partial(desk.decide, doubt, verdict, answer=answer),
            ]
        )

        # Whoever came second was told so: the late result, or whoever had not seen it yet.
        assert isinstance(finished, FinishedLate | Ask), finished
        assert isinstance(decided, Ask | AskChanged), decided
        assert not (isinstance(finished, Ask) and verdict != "approve")
    assert desk.verify()
    assert deadlocks(place) == before
