"""Waiting is woken by the store, and giving up changes nothing."""

from __future__ import annotations

import asyncio
import time

import pytest

from sayso import Desk
from sayso.errors import StillOpen
from tests.crew import Crew, desk_at
from tests.places import Place
from tests.together import in_thread, until

SOON = 5.0  # seconds; a wake-up takes milliseconds, a busy machine may take longer


def listens(desk: Desk) -> bool:
    """Whether somebody waits on this desk, so that a decision from now on must wake them."""
    return bool(desk.store.bell._listeners)


def approve_by_id(url: str, ask_id: str) -> float:
    """In another process: approve, and say when."""
    desk = desk_at(url)
    ask = desk.get(ask_id)
    desk.approve(ask)
    return time.time()


def test_a_decision_in_another_process_wakes_whoever_waits(
    live: Desk, place: Place, crew: Crew
) -> None:
    crew.tell(0, approve_by_id, place.url, live.open("warm", {"up": 1}).id)
    ask = live.open("refund", {"amount": 1})
    waiting = in_thread(lambda: (live.wait(ask, timeout=60), time.time()))
    until(lambda: listens(live))

    decided = crew.tell(0, approve_by_id, place.url, ask.id)
    decision, woken = waiting.result(60)

    assert decision
    assert woken - decided < SOON


def test_giving_up_leaves_the_ask_open(desk: Desk, place: Place) -> None:
    ask = desk.open("refund", {"amount": 1})

    with pytest.raises(StillOpen) as gave_up:
        desk.wait(ask, timeout=0.05)

    assert gave_up.value.ask.id == ask.id
    assert place.count() == 1
    assert desk.approve(ask).decision
    assert desk.wait(ask, timeout=0)


def test_many_may_wait_for_one_ask(desk: Desk) -> None:
    ask = desk.open("refund", {"amount": 1})
    waiting = [in_thread(lambda: desk.wait(ask, timeout=60)) for _ in range(8)]
    until(lambda: len(desk.store.bell._listeners) == 8)

    decided = desk.approve(ask)

    assert [one.result(60) for one in waiting] == [decided.decision] * 8
    until(lambda: not listens(desk))


def test_a_vote_that_does_not_decide_wakes_nobody_for_good(team: Desk) -> None:
    ask = team.open("drop", {"t": 1}, needs=["2 reviewer"])
    waiting = in_thread(lambda: team.wait(ask, timeout=60))
    until(lambda: listens(team))

    team.approve(ask, by="anna")
    assert not waiting.done()
    team.approve(ask, by="ben")

    assert waiting.result(60)


# --- without blocking ---


async def test_awaiting_lets_the_loop_go_on_and_ends_with_it(desk: Desk) -> None:
    ask = desk.open("refund", {"amount": 1})
    waiting = asyncio.create_task(desk.wait_async(ask, timeout=60))
    await asyncio.to_thread(until, lambda: listens(desk))

    await asyncio.to_thread(desk.approve, ask)

    assert await waiting

    ask = desk.open("refund", {"amount": 1})
    waiting = asyncio.create_task(desk.wait_async(ask))
    await asyncio.to_thread(until, lambda: listens(desk))

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert desk.get(ask.id).open
    assert not listens(desk)


async def test_a_cancellation_is_heard_at_whatever_moment_it_comes(desk: Desk) -> None:
    """Also in the very turn of the loop in which the store says "look again"."""
    ask = desk.open("refund", {"amount": 1})
    for turns in [turns for turns in range(6) for _ in range(8)]:
        waiting = asyncio.create_task(desk.wait_async(ask))
        await asyncio.to_thread(until, lambda: listens(desk))
        await asyncio.to_thread(desk.get, ask.id)  # by then its own first look is over
        desk.store.bell.ring()
        for _ in range(turns):
            await asyncio.sleep(0)
        waiting.cancel()

        done, _ = await asyncio.wait({waiting}, timeout=10)

        assert done, f"cancelled {turns} turns after a ring, it waits on"
        assert waiting.cancelled()
