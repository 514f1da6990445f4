"""A worker is cut off from the database inside a call, past its lease: no second payment, and what it knows is kept.

Once over real TCP, with a network namespace for each worker, where nothing says that the other side
is gone; and once over a wire of ours that breaks, which needs no rights.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from sayso import Ask, Desk, Run
from tests.crash.cutting import Line, cables, why_no_namespaces, wires
from tests.server import Server, serving
from tests.together import until

ROOT = Path(__file__).resolve().parents[2]
LONG = 60.0
PROGRAM = """
import time
from pathlib import Path

import sayso
from tests.crash.fleet import noted

FOLDER = {folder!r}
desk = sayso.Desk(lease=2, agent="shop", account="sam@till")


@desk.gate(risk="high")
def pay(order: int) -> str:
    noted(FOLDER, f"began {{order}}")
    while not Path(FOLDER, f"go on {{order}}").exists():
        time.sleep(0.01)
    noted(FOLDER, f"paid {{order}}")
    return f"paid {{order}}"


@desk.workflow
def settle(run, order: int) -> str:
    return run.call(pay, order)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving("*") as server:
        yield server


@pytest.fixture(params=["wires", "namespaces"])
def lines(server: Server, request: pytest.FixtureRequest) -> Iterator[list[Line]]:
    if request.param == "wires":
        with wires(server, 2) as two:
            yield two
        return
    reason = why_no_namespaces()
    if reason is not None:
        pytest.skip(reason)
    with cables(server, 2) as two:
        yield two


class Worker:
    """`sayso worker` at the end of a line."""

    def __init__(self, line: Line, folder: Path, name: str) -> None:
        self._log = folder / f"{name}.log"
        command = [*line.prefix, sys.executable, "-m", "sayso", "worker", "cut_app"]
        env = {"SAYSO_URL": line.url, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                command, cwd=folder, env={**os.environ, **env}, stdout=log, stderr=log
            )
        until(lambda: "Ctrl-C ends it" in self.said(), within=LONG)

    def said(self) -> str:
        return self._log.read_text()

    def end(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(LONG) == 0, self.said()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(LONG)


Start = Callable[[Line, str], Worker]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    (tmp_path / "cut_app.py").write_text(PROGRAM.format(folder=str(tmp_path)))
    started: list[Worker] = []

    def start(line: Line, name: str) -> Worker:
        started.append(Worker(line, tmp_path, name))
        return started[-1]

    yield start
    for worker in started:
        worker.kill()


@pytest.fixture
def desk(server: Server, tmp_path: Path, start: Start) -> Iterator[Desk]:
    """Whoever decides is not cut off. It has the code, to start runs, and carries none on."""
    with Desk(server.address(), agent="shop", account="sam@till") as desk:

        @desk.gate(risk="high")
        def pay(order: int) -> str:
            raise AssertionError("only workers pay")

        @desk.workflow
        def settle(run: object, order: int) -> str:
            raise AssertionError("only workers carry it on")

        yield desk


def approved(desk: Desk, order: int) -> Run:
    """Start a run, and approve its payment."""
    run = desk.start(desk.flows["settle"].fn, order)
    until(lambda: run.status == "waiting", within=LONG)
    desk.approve(run.state.pending[0])
    return run


def book(folder: Path) -> list[str]:
    file = folder / "book"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize("ends", ["while it is cut off", "after it is back"])
def test_a_worker_cut_off_in_a_call_pays_once_and_what_it_knows_is_evidence(
    lines: list[Line], start: Start, desk: Desk, tmp_path: Path, ends: str
) -> None:
    order = 7
    first = start(lines[0], "first")
    run = approved(desk, order)
    until(lambda: f"began {order}" in book(tmp_path), within=LONG)

    lines[0].cut()
    second = start(lines[1], "second")
    doubt = until(partial(_doubt, desk, run), within=LONG)
    assert doubt is not None
    assert "whether it still runs is not known" in doubt.content.sentence
    # What was under way when the line was cut is given up, and does not hang for a quarter of an hour.
    until(lambda: f"Renewing the lease of {run.id} failed" in first.said(), within=LONG)
    if ends == "while it is cut off":
        (tmp_path / f"go on {order}").touch()
        until(lambda: f"paid {order}" in book(tmp_path), within=LONG)
    desk.respond(doubt, "paid, says the bank")
    assert run.result(LONG) == "paid, says the bank"
    assert desk.get(doubt.id).evidence == ()

    lines[0].mend()
    (tmp_path / f"go on {order}").touch()
    until(lambda: desk.get(doubt.id).evidence, within=LONG)
    assert [said["result"] for said in desk.get(doubt.id).evidence] == [f"paid {order}"]
    assert book(tmp_path) == [f"began {order}", f"paid {order}"]
    until(lambda: f"{run.id} is carried on by somebody else" in first.said(), within=LONG)

    second.end()
    (tmp_path / "go on 9").touch()
    assert approved(desk, 9).result(LONG) == "paid 9", "the first one works on"
    first.end()
    assert "Traceback" not in first.said()
    assert desk.verify()


def _doubt(desk: Desk, run: Run) -> Ask | None:
    return next((ask for ask in run.state.pending if ask.kind == "doubt"), None)
