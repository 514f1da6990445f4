"""The pulse: leases are renewed and workers stay alive, whatever a single run is busy with."""

from __future__ import annotations

import threading
import time
from copy import copy
from datetime import timedelta

import pytest

from sayso import Desk
from sayso.runs import journal as journals
from sayso.runs import worker
from sayso.runs.journal import Journal
from sayso.runs.running import Running
from tests.together import until


def test_a_worker_whose_every_hand_is_busy_is_still_alive(
    live: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive = timedelta(seconds=0.9)
    monkeypatch.setattr(worker, "ALIVE", alive)
    begun, go = threading.Event(), threading.Event()

    def think() -> None:
        begun.set()
        go.wait(60)

    @live.workflow
    def slow(run: Running) -> None:
        run.step(think)

    run = live.start(slow)
    live.crew.start(1)
    try:
        assert begun.wait(60)
        busy_since = live.store.now()
        until(lambda: live.store.now() - busy_since > 3 * alive)
        assert [one.busy for one in live.store.workers(alive)] == [1]
    finally:
        go.set()
        run.result(60)
        live.crew.stop()


def test_the_pulse_does_not_wait_for_a_run_that_writes(live: Desk) -> None:
    @live.workflow
    def flow(run: Running) -> str:
        held, looked = threading.Event(), threading.Event()
        journal = run.journal

        def hold() -> None:
            with journal._lock:
                held.set()
                looked.wait(60)

        thread = threading.Thread(target=hold, daemon=True)
        thread.start()
        held.wait(60)
        journal._since = time.monotonic() - 1
        began = time.monotonic()
        journal.flush_if_due()
        took = time.monotonic() - began
        looked.set()
        thread.join()
        return "at once" if took < 5 else "waited"

    assert live.run(flow).output == "at once"


def looked() -> str:
    return "a hundred left"


def results(desk: Desk, run: Running) -> int:
    """Return how many results of a run stand in the database."""
    return sum(event.kind == "step.done" for event in desk.store.stream(run.id))


def test_a_result_is_written_while_the_code_behind_it_still_runs(live: Desk) -> None:
    @live.workflow
    def flow(run: Running) -> int:
        run.step(looked)
        return until(lambda: results(live, run))

    assert live.run(flow).output == 1


def test_the_pulse_leaves_results_to_be_gathered_until_they_are_due(
    live: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    @live.workflow
    def flow(run: Running) -> list[int]:
        monkeypatch.setattr(journals, "FLUSH_AFTER", 3600)
        run.step(looked)
        run.journal.flush_if_due()
        before = results(live, run)
        monkeypatch.setattr(journals, "FLUSH_AFTER", 0)
        run.step(looked)
        run.journal.flush_if_due()
        return [before, results(live, run)]

    assert live.run(flow).output == [0, 2]


class Forgotten(Journal):
    """A journal whose run writes what was gathered between two looks of the pulse."""

    looks = 0

    @property
    def _since(self) -> float | None:
        self.looks += 1
        return time.monotonic() if self.looks == 1 else None

    @_since.setter
    def _since(self, since: float | None) -> None:
        self.looks = 0


def test_a_run_that_writes_while_the_pulse_looks_at_it_is_left_alone(live: Desk) -> None:
    @live.workflow
    def flow(run: Running) -> str:
        journal = copy(run.journal)
        journal.__class__ = Forgotten
        journal.looks = 0  # type: ignore[attr-defined]
        journal.flush_if_due()
        return "went on"

    assert live.run(flow).output == "went on"


def test_a_run_that_breaks_under_the_pulse_does_not_cost_its_siblings_their_lease(
    live: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    live.crew._pulse._every = 0.05
    broken, go, renewed = threading.Event(), threading.Event(), list[str]()
    beat = Journal.beat

    def breaking(journal: Journal) -> None:
        broken.set()
        raise TypeError("a fault of ours")

    def noting(journal: Journal) -> None:
        if broken.is_set():
            renewed.append(journal.id)
        beat(journal)

    monkeypatch.setattr(Journal, "flush_if_due", breaking)
    monkeypatch.setattr(Journal, "beat", noting)

    @live.workflow
    def slow(run: Running) -> None:
        run.step(go.wait, 60)

    run = live.start(slow)
    live.crew.start(1)
    try:
        assert broken.wait(60)
        until(lambda: len(renewed) > 1)
    finally:
        go.set()
        run.result(60)
        live.crew.stop()
    assert set(renewed) == {run.id}
    assert "a fault of ours" in caplog.text
