"""A deadline ends in a rejection by the clock, never in an approval."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from sayso import Ask, Desk, Rejected
from sayso.errors import AskClosed, BadValue, NotApproved
from sayso.model.actor import CLOCK
from sayso.testing import FakeClock
from tests.places import Place
from tests.together import in_thread


def clocks_no(ask: Ask) -> bool:
    decision = ask.decision
    return decision is not None and (decision.verdict, decision.by) == ("reject", CLOCK)


def test_nothing_expires_unless_told_to(desk: Desk, clock: FakeClock) -> None:
    ask = desk.open("refund", {"amount": 1})
    clock.advance(timedelta(days=3650))

    assert desk.sweep().expired == ()
    assert desk.get(ask.id).open


@pytest.mark.parametrize(
    "term", [{"within": "1h"}, {"within": 3600}, {"within": timedelta(hours=1)}], ids=str
)
def test_the_sweep_rejects_what_is_past_due(
    desk: Desk, clock: FakeClock, term: dict[str, Any]
) -> None:
    """E22: a timeout never means yes."""
    ask = desk.open("refund", {"amount": 1}, **term)
    later = desk.open("refund", {"amount": 2}, within="2h")

    clock.advance(timedelta(hours=1) - timedelta(microseconds=1))
    assert desk.sweep().expired == ()
    clock.advance(timedelta(microseconds=1))
    assert desk.sweep().expired == (ask.id,)

    assert clocks_no(desk.get(ask.id))
    assert desk.get(later.id).open
    with pytest.raises(NotApproved):
        desk.begin(ask)
    assert desk.sweep().expired == ()


def test_a_sweep_can_be_told_the_time_with_its_zone(desk: Desk, clock: FakeClock) -> None:
    due = clock.now() + timedelta(hours=1)
    ask = desk.open("refund", {"amount": 1}, deadline=due)

    assert desk.sweep(due - timedelta(seconds=1)).expired == ()
    assert desk.sweep(due).expired == (ask.id,)

    with pytest.raises(BadValue, match="time zone"):
        desk.sweep(NAIVE)


def test_a_deadline_in_another_zone_is_the_same_moment(desk: Desk, clock: FakeClock) -> None:
    east = clock.now().astimezone(timezone(timedelta(hours=5))) + timedelta(hours=1)

    ask = desk.open("refund", {"amount": 1}, deadline=east)

    assert ask.due_at == clock.now() + timedelta(hours=1)
    assert desk.get(ask.id).due_at == ask.due_at


class Sudden(FakeClock):
    """A clock that moves on by itself after it has been read a number of times."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: int | None = None

    def now(self) -> datetime:
        if self.reads is not None:
            self.reads -= 1
            if self.reads < 0:
                self.reads = None
                self.advance("2h")
        return super().now()


@pytest.fixture
def sudden(place: Place) -> Iterator[tuple[Desk, Sudden]]:
    clock = Sudden()
    with Desk(place.url, clock=clock, account="sam@till") as desk:
        yield desk, clock


GOES_ALONG: dict[str, dict[str, Any]] = {
    "edit": {"args": {"amount": 2}},
    "respond": {"answer": "no"},
}


@pytest.mark.parametrize("verdict", ["approve", "edit", "reject", "respond"])
@pytest.mark.parametrize("reads", range(5))
def test_the_deadline_is_checked_by_the_statement_that_writes(
    sudden: tuple[Desk, Sudden], reads: int, verdict: Any
) -> None:
    """E22: between reading the ask and writing the decision the deadline may pass."""
    desk, clock = sudden
    ask = desk.open("refund", {"amount": 1}, within="1h")
    more: dict[str, Any] = dict(GOES_ALONG.get(verdict, {}))
    clock.reads = reads

    with suppress(AskClosed):
        desk.decide(ask, verdict, **more)

    decided = desk.get(ask.id)
    assert decided.decision is not None
    assert decided.due_at is not None
    in_time = decided.decision.at < decided.due_at
    assert (decided.decision.by == CLOCK) is not in_time
    assert desk.verify()


def test_at_least_one_of_those_moments_falls_between_reading_and_writing(
    sudden: tuple[Desk, Sudden], place: Place
) -> None:
    """The test above would prove nothing if the clock always moved before the first look."""
    desk, clock = sudden
    ask = desk.open("refund", {"amount": 1}, within="1h")
    clock.reads = 1

    with pytest.raises(AskClosed):
        desk.approve(ask)

    assert [event.kind for event in desk.history(ask)] == ["ask.opened", "ask.decided"]
    assert place.count() == 2


def test_waiting_goes_on_until_the_deadline_has_really_passed(desk: Desk, clock: FakeClock) -> None:
    ask = desk.open("refund", {"amount": 1}, within="1h")
    waiting = in_thread(lambda: desk.wait(ask, timeout=30))

    for _ in range(6):
        clock.advance("9m")
    assert desk.get(ask.id).open
    clock.advance("6m")

    assert waiting.result(30).by == CLOCK


def test_a_deadline_by_the_real_clock_wakes_whoever_waits(live: Desk) -> None:
    ask = live.open("refund", {"amount": 1}, within=0.2)

    decision = live.wait(ask, timeout=30)

    assert decision.by == CLOCK
    assert ask.due_at is not None
    assert decision.at >= ask.due_at


def test_withdrawing_after_the_deadline_comes_too_late(desk: Desk, clock: FakeClock) -> None:
    ask = desk.open("refund", {"amount": 1}, within="1h")
    clock.advance("1h")

    with pytest.raises(AskClosed):
        desk.withdraw(ask)
    assert clocks_no(desk.get(ask.id))


# --- what the clock's rejection means to the program ---

UNANSWERED: list[tuple[str, tuple[Any, ...], Any]] = [
    ("question", ("Which?",), None),
    ("choose", ("Which?", ["a", "b"]), None),
    ("draft", ("Dear Anna",), None),
    ("notice", ("It rains",), "ignore"),
    ("feedback", ({"n": 1},), None),
]


@pytest.mark.parametrize(("verb", "args", "value"), UNANSWERED, ids=[v for v, _, _ in UNANSWERED])
def test_nobodys_answer_is_never_counted_as_one(
    desk: Desk, clock: FakeClock, verb: str, args: tuple[Any, ...], value: Any
) -> None:
    later = getattr(desk.later, verb)(*args, within="1h")
    clock.advance("1h")

    assert later.result(timeout=30) == value


def test_a_confirmation_or_a_plan_that_nobody_answered_is_no_yes(
    desk: Desk, clock: FakeClock
) -> None:
    confirmation = desk.later.confirm("Go on?", within="1h")
    plan = desk.later.plan(["one"], within="1h")
    clock.advance("1h")

    decision = confirmation.result(timeout=30)
    assert not decision
    assert decision.by == CLOCK
    with pytest.raises(Rejected) as rejected:
        plan.result(timeout=30)
    assert rejected.value.by == "clock"


def test_a_doubt_never_expires(desk: Desk, clock: FakeClock) -> None:
    """Not knowing whether it happened does not get better with time."""
    ask = desk.approve(desk.open("pay", {"amount": 1}, within="1h"))
    desk.begin(ask, limit="10m")
    clock.advance("10m")

    (doubt_id,) = desk.sweep().doubts
    clock.advance(timedelta(days=3650))

    assert desk.get(doubt_id).due_at is None
    assert desk.sweep() == desk.sweep()
    assert desk.get(doubt_id).open


# --- deadlines that make no sense ---

NAIVE = datetime(2030, 1, 1)  # noqa: DTZ001 - this is what must be refused


@pytest.mark.parametrize(
    ("term", "because"),
    [
        ({"deadline": NAIVE}, "time zone"),
        ({"deadline": "2030-01-01"}, "within"),
        ({"deadline": datetime(2020, 1, 1, tzinfo=UTC)}, "passed"),
        ({"within": "soon"}, "15m"),
        ({"within": 0}, "zero"),
        ({"within": -5}, "zero"),
        ({"within": float("nan")}, "span"),
        ({"within": True}, "span"),
        ({"within": "1h", "deadline": datetime(2030, 1, 1, tzinfo=UTC)}, "not both"),
    ],
    ids=str,
)
def test_a_deadline_that_makes_no_sense_is_refused(
    desk: Desk, place: Place, term: dict[str, Any], because: str
) -> None:
    desk.inbox()
    with pytest.raises(BadValue, match=because):
        desk.open("refund", {"amount": 1}, **term)
    assert place.count() == 0
