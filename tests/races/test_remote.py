"""Two behind HTTP and one at the database want the same: one gets it, the others learn who.

The server is `sayso serve`; the racers are processes of their own. What a death of the server
between commit and answer does is tried in `tests/remote`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from sayso import Desk
from sayso.errors import AlreadySpent, AskClosed
from tests.crew import Crew, Span, overlap
from tests.places import Place
from tests.service import Service, token

TRIALS = pytest.mark.parametrize(
    "trials", [pytest.param(12, id="some"), pytest.param(200, id="many", marks=pytest.mark.soak)]
)
REMOTE = ("anna", "ben")
LOCAL = "cleo"


@dataclass(frozen=True)
class Way:
    """How a racer reaches the desk: with a token behind HTTP, or at the database."""

    name: str
    url: str
    token: str | None


@dataclass(frozen=True)
class Told:
    """What a racer was told: whether it won, and what stands."""

    name: str
    won: bool
    stands: tuple[str | None, ...]
    span: Span


@pytest.fixture
def local(place: Place) -> Iterator[Desk]:
    with Desk(place.url, agent="shop", account="sam@till") as desk:
        for name in (*REMOTE, LOCAL):
            desk.people.add(name)
        yield desk


@pytest.fixture
def ways(local: Desk, place: Place) -> Iterator[list[Way]]:
    with Service(place.url) as service:
        remote = [Way(name, service.url, token(local, name, "person")) for name in REMOTE]
        yield [*remote, Way(LOCAL, place.url, None)]


# --- the racers, in processes of their own ---

_desks: dict[Way, Desk] = {}


def desk_by(way: Way) -> Desk:
    """Return this process's desk, with connections that earlier trials have made."""
    if way not in _desks:
        for desk in _desks.values():
            desk.close()
        _desks.clear()
        if way.token is None:
            _desks[way] = Desk(way.url, agent="shop", account="sam@till")
        else:
            _desks[way] = Desk(way.url, token=way.token)
    return _desks[way]


def read(desk: Desk, ask_id: str, times: int) -> None:
    """Look at it so many times: whoever sits at the database would win every race otherwise."""
    for _ in range(times):
        desk.get(ask_id)


def decide(way: Way, reads: int, ask_id: str, seen: str) -> Told:
    desk, by = desk_by(way), None if way.token else way.name
    decision: Any
    begun = time.monotonic()
    read(desk, ask_id, reads)
    try:
        won, decision = True, desk.decide(ask_id, "approve", seen=seen, by=by).decision
    except AskClosed as lost:
        won, decision = False, lost.decision
    span = (begun, time.monotonic())
    assert decision is not None
    return Told(way.name, won, (decision.by.id, decision.origin.via, decision.origin.request), span)


def spend(way: Way, reads: int, ask_id: str) -> Told:
    """Begin, and carry it out if allowed to."""
    desk = desk_by(way)
    begun = time.monotonic()
    read(desk, ask_id, reads)
    try:
        call = desk.begin(ask_id)
    except AlreadySpent as lost:
        span = (begun, time.monotonic())
        return Told(way.name, False, note_on(lost.ask.decision), span)
    span = (begun, time.monotonic())
    desk.finish(call, way.name)
    return Told(way.name, True, note_on(call.ask.decision), span)


def note_on(decision: Any) -> tuple[str | None]:
    assert decision is not None
    return (decision.note,)


def race(crew: Crew, ways: list[Way], trial: int, job: Callable[..., Told], *about: str) -> Race:
    """Let everybody try at the same moment; returns what they were told."""
    reads = 8 * (trial % 4)
    given = [(way, 0 if way.token else reads, *about) for way in ways]
    return Race(crew.each(job, given))


@dataclass(frozen=True)
class Race:
    """A race that is over."""

    told: list[Told]

    @property
    def winner(self) -> Told:
        """The only one who won."""
        won = [one for one in self.told if one.won]
        assert len(won) == 1, self.told
        assert {one.stands for one in self.told} == {won[0].stands}, "all were told of one decision"
        return won[0]

    @property
    def close(self) -> bool:
        """Whether they were at it at the same time."""
        return overlap([one.span for one in self.told])


@TRIALS
def test_two_behind_http_and_one_at_the_database_decide_one_ask(
    local: Desk, ways: list[Way], crew: Crew, trials: int
) -> None:
    before, winners, close = local.verify().events, Counter[str](), 0
    for trial in range(trials):
        ask = local.open("refund", {"order": trial})

        over = race(crew, ways, trial, decide, ask.id, ask.digest)

        decision = local.get(ask.id).decision
        assert decision is not None
        origin = decision.origin
        assert over.winner.stands == (decision.by.id, origin.via, origin.request)
        assert over.winner.name == decision.by.id
        assert [event.kind for event in local.history(ask)] == ["ask.opened", "ask.decided"]
        winners[over.winner.name] += 1
        close += over.close
    assert local.verify().events == before + 2 * trials
    assert close, "the racers never met: this proves nothing"
    assert len(winners) > 1 or trials < 100, "one of them always wins: this proves little"


@TRIALS
def test_two_behind_http_and_one_at_the_database_spend_one_approval(
    local: Desk, ways: list[Way], crew: Crew, trials: int
) -> None:
    before, winners, close = local.verify().events, Counter[str](), 0
    for trial in range(trials):
        ask = local.open("pay", {"order": trial})
        local.approve(ask, by=LOCAL, note=f"yes {trial}")

        over = race(crew, ways, trial, spend, ask.id)

        assert over.winner.stands == (f"yes {trial}",)
        effect = local.get(ask.id).effect
        assert effect is not None
        assert (effect.status, effect.result, effect.attempt) == ("done", over.winner.name, 1)
        winners[over.winner.name] += 1
        close += over.close
    assert local.verify().events == before + 4 * trials
    assert close, "the racers never met: this proves nothing"
    assert len(winners) > 1 or trials < 100, "one of them always wins: this proves little"
