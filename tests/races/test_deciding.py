"""Of any number of racers one decides, and every loser learns who it was."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.errors import AskChanged, AskClosed, StoreBusy
from tests.crew import Crew, Span, desk_at, overlap
from tests.places import Place
from tests.together import at_once

TRIALS = pytest.mark.parametrize(
    "trials", [pytest.param(24, id="some"), pytest.param(200, id="many", marks=pytest.mark.soak)]
)


@dataclass(frozen=True)
class Said:
    """What a racer was told: whether it won, and the decision that stands."""

    won: bool
    note: str | None
    verdict: str | None
    span: Span


def say(desk: Desk, ask_id: str, seen: str, me: str) -> Said:
    """Decide, and report; the note is the racer's own mark."""
    decision: Any
    begun = time.monotonic()
    try:
        won, decision = True, desk.decide(ask_id, "approve", seen=seen, note=me).decision
    except AskClosed as lost:
        won, decision = False, lost.decision
    span = (begun, time.monotonic())
    assert decision is not None
    return Said(won, decision.note, decision.verdict, span)


def in_a_process(url: str, ask_id: str, seen: str) -> Said:
    return say(desk_at(url), ask_id, seen, f"process {os.getpid()}")


def check(desk: Desk, ask: Ask, said: list[Said], racers: int) -> None:
    decision = desk.get(ask.id).decision
    assert decision is not None
    assert len(said) == racers
    assert [one.won for one in said].count(True) == 1
    assert {one.note for one in said} == {decision.note}, "winner and losers name one decision"
    assert [event.kind for event in desk.history(ask)] == ["ask.opened", "ask.decided"]


@TRIALS
def test_eight_threads_decide_one_ask(desk: Desk, trials: int) -> None:
    for _ in range(trials):
        ask = desk.open("refund", {"amount": 1})

        said = at_once([partial(say, desk, ask.id, ask.digest, f"thread {n}") for n in range(8)])

        check(desk, ask, said, 8)
    assert desk.verify().events == 2 * trials


@TRIALS
def test_four_processes_decide_one_ask(live: Desk, place: Place, crew: Crew, trials: int) -> None:
    collisions = 0
    for _ in range(trials):
        ask = live.open("refund", {"amount": 1})

        said = crew.together(in_a_process, place.url, ask.id, ask.digest)

        check(live, ask, said, 4)
        collisions += overlap([one.span for one in said])
    assert live.verify().events == 2 * trials
    assert collisions, "the racers never met: this proves nothing"


@pytest.fixture
def desks(place: Place) -> Iterator[list[Desk]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(Desk(place.url, agent="shop", account="sam@till")) for _ in range(4)
        ]


ENDINGS: dict[str, Callable[[Desk, Ask], Ask]] = {
    "approve": lambda desk, ask: desk.approve(ask, note="approve"),
    "reject": lambda desk, ask: desk.reject(ask, "reject"),
    "edit": lambda desk, ask: desk.edit(ask, {"amount": 2}, note="edit"),
    "respond": lambda desk, ask: desk.respond(ask, "respond", note="respond"),
    "withdraw": lambda desk, ask: desk.withdraw(ask),
}


def test_whatever_the_racers_want_one_of_them_gets_it(desks: list[Desk]) -> None:
    seen: Counter[str] = Counter()
    for _ in range(24):
        ask = desks[0].open("refund", {"amount": 1})
        endings = list(ENDINGS.items())

        outcomes = at_once([partial(end, desks[n % 4], ask) for n, (_, end) in enumerate(endings)])

        stands = desks[0].get(ask.id)
        won = [one for one in outcomes if isinstance(one, Ask)]
        lost = [one for one in outcomes if isinstance(one, AskClosed)]
        assert (len(won), len(lost)) == (1, 4), outcomes
        assert (won[0].status, won[0].decision) == (stands.status, stands.decision)
        assert all(one.decision == stands.decision for one in lost)
        seen[endings[outcomes.index(won[0])][0]] += 1
    assert desks[0].verify()
    assert len(seen) > 1


def test_a_sweep_and_reviewers_at_the_deadline_agree_on_one_ending(place: Place) -> None:
    """The deadline passes while everybody is at it; whoever wins, it is one decision."""
    for trial in range(12):
        with Desk(place.url, account="sam@till") as desk:
            ask = desk.open("refund", {"n": trial}, within=0.02)
            outcomes = at_once(
                [
                    partial(desk.approve, ask),
                    partial(desk.reject, ask),
                    desk.sweep,
                    partial(desk.wait, ask, timeout=30),
                    partial(desk.withdraw, ask),
                ]
            )
            stands = desk.get(ask.id)

        unexpected = [
            one for one in outcomes if isinstance(one, Exception) and not isinstance(one, AskClosed)
        ]
        assert unexpected == []
        assert stands.status in ("decided", "withdrawn")
        assert len(stands.votes) <= 1
        with Desk(place.url) as desk:
            assert len(desk.history(ask)) == 2


def test_racing_editors_make_one_version_at_a_time(team: Desk) -> None:
    for _ in range(12):
        ask = team.open("refund", {"amount": 0}, needs=["1 senior", "1 security"])

        outcomes = at_once(
            [
                partial(team.edit, ask, {"amount": 1}, by="anna"),
                partial(team.edit, ask, {"amount": 2}, by="sec"),
                partial(team.approve, ask, by="ada"),
            ]
        )

        won = [one for one in outcomes[:2] if isinstance(one, Ask)]
        assert len(won) == 1, outcomes
        assert isinstance(outcomes[0] if won[0] is outcomes[1] else outcomes[1], AskChanged)
        stands = team.get(ask.id)
        assert (stands.version, stands.args) == (2, won[0].args)
        assert stands.open
        assert all(vote.version == 2 for vote in stands.votes)


def test_the_last_two_votes_at_once_make_one_decision(team: Desk) -> None:
    for _ in range(12):
        ask = team.open("drop", {"t": 1}, needs=["1 senior", "1 security"])

        outcomes = at_once(
            [partial(team.approve, ask, by="anna"), partial(team.approve, ask, by="sec")]
        )

        stands = team.get(ask.id)
        assert stands.decision
        assert [event.kind for event in team.history(ask)] == [
            "ask.opened",
            "ask.voted",
            "ask.decided",
        ]
        assert not [one for one in outcomes if isinstance(one, Exception)]


def test_somebody_who_leaves_while_others_decide_counts_or_has_left(team: Desk) -> None:
    """Whichever comes first in the journal: a decision never rests on somebody who is gone."""
    for _ in range(12):
        ask = team.open("drop", {"t": 1}, needs=["1 senior", "1 security"])
        team.approve(ask, by="anna")

        at_once([partial(team.approve, ask, by="sec"), partial(team.people.remove, "anna")])

        stands = team.get(ask.id)
        if stands.open:
            assert team.approve(ask, by="ada").decision, "ada takes the empty place"
        else:
            assert [vote.by.id for vote in stands.votes] == ["anna", "sec"]
        team.people.add("anna", roles=["senior"])
    assert team.verify()


def open_some(desk: Desk, who: int, count: int) -> list[Ask]:
    return [desk.open("refund", {"n": n, "who": who}) for n in range(count)]


def test_nobody_is_turned_away_for_being_busy(desks: list[Desk]) -> None:
    """Ordinary contention is waited out, not passed on to the caller."""
    outcomes = at_once([partial(open_some, desks[n % 4], n, 10) for n in range(8)])

    assert not [one for one in outcomes if isinstance(one, StoreBusy)]
    assert desks[0].inbox().count == 80
