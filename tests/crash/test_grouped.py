"""kill -9 in the middle of commits that many threads share: whoever was told has it.

A process lets sixteen threads start runs and answer them, one after another, on one SQLite file.
Each thread says through a pipe what it was told, and nothing else. It dies around a commit of
several units, or at any moment.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

import pytest

from sayso import Desk, Running
from sayso.store import grouping
from tests.forked import SERVER
from tests.places import Place

THREADS = 16
ENOUGH = 60  # told, and it goes on: the parent kills it


class Fatal(sqlite3.Connection):
    """Kills the process around the n-th commit of several units."""

    number = 0
    when = ""
    seen = 0
    several = False

    def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
        shared = sql == "commit" and self.several
        if shared:
            Fatal.seen += 1
        self._strike("before", shared)
        cursor = super().execute(sql, *args)
        self._strike("after", shared)
        return cursor

    def _strike(self, when: str, shared: bool) -> None:
        if shared and (Fatal.seen, when) == (Fatal.number, Fatal.when):
            os.kill(os.getpid(), signal.SIGKILL)


def crowd(url: str, told: Connection, number: int, when: str) -> None:
    """In another process: many threads, each with a run after the other, until it dies."""
    Fatal.number, Fatal.when = number, when
    plain = sqlite3.connect

    def connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        return plain(*args, factory=Fatal, **kwargs)

    sqlite3.connect = connect  # type: ignore[assignment]
    write = grouping._commit

    def commit(connection: sqlite3.Connection, units: Sequence[Any]) -> None:
        if isinstance(connection, Fatal):
            connection.several = len(units) > 1
        write(connection, units)

    grouping._commit = commit
    desk = Desk(url, agent="shop", account="sam@till")
    say = threading.Lock()

    def tell(*what: str) -> None:
        with say:
            told.send(what)

    @desk.workflow(name="asking")
    def asking(run: Running) -> object:
        return run.question("May this be refunded?")

    def live() -> None:
        while True:
            run = desk.run(asking, wait=False)
            tell("waits", run.id)
            [ask] = run.asks
            desk.respond(ask, run.id)
            tell("decided", run.id)
            desk.crew.take(run.id)
            tell("done", run.id)

    for _ in range(THREADS):
        threading.Thread(target=live, daemon=True).start()
    threading.Event().wait()


def dead(
    place: Place, number: int, when: str, *, after: float | None = None
) -> set[tuple[str, ...]]:
    """Let a crowd live and die; return what its threads were told."""
    ours, theirs = SERVER.Pipe(duplex=False)
    process = SERVER.Process(target=crowd, args=(place.url, theirs, number, when))
    process.start()
    theirs.close()
    said: set[tuple[str, ...]] = set()
    for what in _heard(ours):
        said.add(what)
        if after is not None and len(said) == ENOUGH:
            time.sleep(after)  # any moment: it is the moment that is tried, nothing is waited for
            process.kill()
    process.join(30)
    assert process.exitcode == -signal.SIGKILL
    return said


def _heard(pipe: Connection) -> Iterator[tuple[str, ...]]:
    while True:
        try:
            yield pipe.recv()
        except EOFError:
            return


STAGES = {"waits": 0, "decided": 1, "done": 2}
REACHED = {"waiting": 0, "ready": 1, "running": 1, "done": 2}


def check(place: Place, said: set[tuple[str, ...]]) -> None:
    assert said, "it died before anybody was told anything"
    with Desk(place.url) as fresh:
        for stage, run_id in said:
            run = fresh.get_run(run_id)
            assert REACHED[run.status] >= STAGES[stage], f"told and lost: {stage} {run_id}"
            if stage != "waits":
                [ask] = run.asks
                assert ask.decision is not None
                assert ask.decision.answer == run_id
        report = fresh.verify()
        assert report.problems == ()


@pytest.mark.parametrize(("number", "when"), [(5, "before"), (9, "after")])
def test_whoever_was_told_has_it(sqlite: Place, number: int, when: str) -> None:
    check(sqlite, dead(sqlite, number, when))


def test_whoever_was_told_has_it_whenever_it_dies(sqlite: Place) -> None:
    check(sqlite, dead(sqlite, 0, "never", after=0.001))


@pytest.mark.soak
@pytest.mark.parametrize("trial", range(60))
def test_whoever_was_told_has_it_sixty_times(sqlite: Place, trial: int) -> None:
    check(sqlite, dead(sqlite, 0, "never", after=trial / 1_000))
    check(sqlite, dead(sqlite, 2 + trial, "before" if trial % 2 else "after"))
