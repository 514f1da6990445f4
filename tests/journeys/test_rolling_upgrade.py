"""A program is rolled out while its runs wait: old and new code alive at once, in real workers.

Runs stay with workers that have the code they went on with. When the last of those is gone, others
try: what replays the same goes on, and what does not is parked with a word, until somebody decides.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from sayso import Ask, Desk, Run
from sayso.runs.dispatch import Engine
from tests import forked
from tests.forked import SAYSO, Forked
from tests.places import Place
from tests.together import until

LONG = 60.0

OLD = """
import os

import sayso

desk = sayso.Desk(lease=1.5, agent="shop", account="sam@till")
desk.crew.look_every = 0.2


@desk.gate
def pay(order: int, amount: int) -> str:
    return f"old {os.getpid()}"


@desk.workflow
def settle(run, order: int) -> str:
    return run.call(pay, order, 40)


@desk.workflow
def greet(run, order: int) -> str:
    return f"{run.question('Which name?')}, by the old"
"""

# A question more in front of the call of `settle`, and other words behind the question of `greet`.
NEW = OLD.replace("old", "new").replace(
    "run.call(pay, order, 40)", "run.call(pay, order, run.question('How much?', type=int))"
)

START = """
import sys

import shop

print(shop.desk.start(getattr(shop, sys.argv[1]), int(sys.argv[2])).id)
"""


class Release:
    """One version of the program, in a folder of its own."""

    def __init__(self, place: Place, engine: Engine, folder: Path, program: str) -> None:
        self._engine = engine
        self._folder = folder
        folder.mkdir()
        (folder / "shop.py").write_text(program)
        (folder / "start.py").write_text(START)
        self._env = {**os.environ, "SAYSO_URL": place.url, "PYTHONUNBUFFERED": "1"}
        self.workers: list[Forked] = []

    def worker(self) -> Forked:
        """Start a worker, and wait until it serves."""
        command: list[str | Path] = [SAYSO, "worker", "shop", "--engine", self._engine]
        process = Forked(command, cwd=self._folder, env=self._env)
        self.workers.append(process)
        assert process.stdout is not None
        while "Ctrl-C ends it" not in (line := process.stdout.readline()):
            assert line, process.communicate()
        return process

    def start(self, desk: Desk, workflow: str, number: int) -> Run:
        """Start a run as this version's web server would."""
        command = [sys.executable, str(self._folder / "start.py"), workflow, str(number)]
        done = forked.run(command, cwd=self._folder, env=self._env)
        assert done.returncode == 0, done.stderr
        return desk.get_run(done.stdout.strip())


@pytest.fixture(params=["threads", "procrastinate"])
def engine(request: pytest.FixtureRequest) -> Engine:
    found: Engine = request.param
    return found


@pytest.fixture
def place(engine: Engine, request: pytest.FixtureRequest) -> Place:
    found: Place = request.getfixturevalue("sqlite" if engine == "threads" else "engined")
    return found


@pytest.fixture
def releases(place: Place, engine: Engine, tmp_path: Path) -> Iterator[tuple[Release, Release]]:
    both = (
        Release(place, engine, tmp_path / "old", OLD),
        Release(place, engine, tmp_path / "new", NEW),
    )
    yield both
    for process in [process for release in both for process in release.workers]:
        process.kill()
        process.communicate()


@pytest.fixture
def desk(place: Place) -> Iterator[Desk]:
    """Whoever decides has none of the code."""
    with Desk(place.url, account="sam@till") as desk:
        yield desk


def asked(run: Run) -> Ask:
    """Wait until the run waits for somebody, and return for what."""
    until(lambda: run.status == "waiting" and run.state.pending, within=LONG)
    (ask,) = run.state.pending
    return ask


def _asks_for_the_call(run: Run) -> bool:
    return asked(run).kind == "action"


def _parked(run: Run) -> bool:
    return run.status == "parked"


def all_of(start: Callable[[int], Run], numbers: range) -> list[Run]:
    runs = [start(number) for number in numbers]
    for run in runs:
        asked(run)
    return runs


def test_runs_stay_with_the_version_they_went_on_with_while_somebody_has_it(
    desk: Desk, releases: tuple[Release, Release]
) -> None:
    old, new = releases
    before = old.worker()
    first = all_of(partial(old.start, desk, "settle"), range(3))
    after = new.worker()
    second = all_of(partial(new.start, desk, "settle"), range(3))

    for run in second:
        desk.respond(asked(run), 30)
    for run in second:
        until(partial(_asks_for_the_call, run), within=LONG)
    for run in [*second, *first]:
        desk.approve(asked(run))

    assert [run.result(LONG) for run in first] == [f"old {before.pid}"] * 3
    assert [run.result(LONG) for run in second] == [f"new {after.pid}"] * 3
    assert desk.verify()


def test_when_the_old_code_is_gone_runs_go_on_with_the_new_or_say_why_not(
    desk: Desk, releases: tuple[Release, Release]
) -> None:
    old, new = releases
    before = old.worker()
    changed = all_of(partial(old.start, desk, "settle"), range(2))
    alike = all_of(partial(old.start, desk, "greet"), range(2))
    new.worker()
    before.terminate()
    assert before.wait() == 0

    for run in alike:
        desk.respond(asked(run), "Ada")
    for run in changed:
        desk.approve(asked(run))

    assert [run.result(LONG) for run in alike] == ["Ada, by the new"] * 2
    for run in changed:
        until(partial(_parked, run), within=LONG)
        assert "it was action 'pay" in (run.error or "")
        assert "It had gone on with version ~" in (run.error or "")
        assert "no worker is alive" in (run.error or "")

    again = old.worker()
    for run in changed:
        desk.retry(run)
    assert [run.result(LONG) for run in changed] == [f"old {again.pid}"] * 2
    assert desk.verify()


def test_an_old_worker_that_was_killed_keeps_its_runs_from_nobody(
    desk: Desk, place: Place, releases: tuple[Release, Release]
) -> None:
    old, new = releases
    before = old.worker()
    (run,) = all_of(partial(old.start, desk, "greet"), range(1))
    before.kill()
    before.wait()
    place.sql("update workers set seen_at = 0")  # 15 seconds later
    new.worker()

    desk.respond(asked(run), "Ada")

    assert run.result(LONG) == "Ada, by the new"
