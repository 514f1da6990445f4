"""Workers killed under load, and every decision sent twice: each run ends once, nothing is paid twice."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from sayso import Desk
from tests.crash.fleet import Decided, Workers, answer_doubts, book, decide_all, fleet, working
from tests.crew import hired
from tests.places import Place


@pytest.mark.parametrize(
    ("runs", "kills"),
    [pytest.param(30, 2, id="few"), pytest.param(600, 9, id="many", marks=pytest.mark.soak)],
)
def test_every_run_ends_once_whoever_is_killed_and_however_often_it_is_decided(
    engined: Place, tmp_path: Path, runs: int, kills: int
) -> None:
    began, within = time.monotonic(), 60.0 + 3 * runs
    with (
        Desk(engined.url, agent="shop", account="sam@till") as desk,
        hired(2) as deciders,
        working(engined.url, tmp_path) as workers,
    ):
        settle = fleet(desk, str(tmp_path)).flows["settle"].fn
        given = (engined.url, desk.store.tip(), runs, within)
        deciding = [
            deciders.start(0, decide_all, *given, False),
            deciders.start(1, decide_all, *given, True),
        ]
        started = [desk.start(settle, number) for number in range(runs)]

        doubts = attended(desk, engined, workers, tmp_path, runs, kills, within)

        came: list[Decided] = [decided() for decided in deciding]
        workers.end()
        assert workers.kills == kills
        assert [run.result(0) for run in started] == [f"paid {number}" for number in range(runs)]
        assert book(tmp_path) == Counter(f"paid {number}" for number in range(runs))
        ends = engined.sql("select stream from events where kind = 'run.done'")
        assert sorted(row[0] for row in ends) == sorted(run.id for run in started)
        check_decisions(desk, came, runs)
        assert desk.verify()
    print(
        f"{runs} runs, {kills} kills: {time.monotonic() - began:.0f} s, {doubts} doubts, decisions won "
        f"{[len(one.won) for one in came]}, conflicts {[len(one.lost) for one in came]}"
    )


def attended(
    desk: Desk, place: Place, workers: Workers, folder: Path, runs: int, kills: int, within: float
) -> int:
    """Kill a worker each time another part of the runs is done, and answer what is in doubt."""
    ends, doubts = time.monotonic() + within, 0
    while True:
        done = place.one("select count(*) from runs where status = 'done'")
        if done == runs:
            return doubts
        if workers.kills < kills and done >= (workers.kills + 1) * runs // (kills + 1):
            workers.kill_one()
        doubts += answer_doubts(desk, folder)
        left = place.sql("select status, count(*) from runs group by status")
        assert time.monotonic() < ends, f"it never came to an end: {left}"
        time.sleep(0.05)


def check_decisions(desk: Desk, came: list[Decided], runs: int) -> None:
    """Each was sent twice; one counted, and whoever sent the other was told which."""
    first, second = came
    assert len(first.won) + len(second.won) == runs
    assert set(first.won) == set(second.lost)
    assert set(second.won) == set(first.lost)
    for ask_id, winner in [*first.lost.items(), *second.lost.items()]:
        decision = desk.get(ask_id).decision
        assert decision is not None
        assert decision.note == winner
