"""A desk in a file, and the command line on it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sayso import Ask, Desk
from sayso.cli.front import front
from sayso.runs.ambient import AMBIENT
from sayso.runs.workflow import load
from tests.forked import Forked
from tests.terminal import Program, running

COMMAND = Path(sys.executable).with_name("sayso")


@dataclass(frozen=True)
class Came:
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)


Sayso = Callable[..., Came]
AtTerminal = Callable[..., AbstractContextManager[Program]]
Started = Callable[..., Forked]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and a terminal of 80 columns."""
    AMBIENT.clear()  # of the agents that other test files make: those of this folder only
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def desk(here: Path) -> Iterator[Desk]:
    """The desk of this folder, as a program beside the command line has it."""
    with Desk("sqlite:///sayso.db", agent="shop") as desk:
        yield desk


@pytest.fixture
def sayso(here: Path) -> Sayso:
    """Run a command and return what came of it."""

    def run(*args: str, env: Mapping[str, str] | None = None, stdin: str | None = None) -> Came:
        done = CliRunner().invoke(front, args, prog_name="sayso", env=env, input=stdin)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Came(done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def at_terminal(here: Path) -> AtTerminal:
    """Run a command, or a program in this folder, at a real terminal, and see how it ends."""

    @contextmanager
    def run(
        *args: str, columns: int = 80, env: Mapping[str, str] | None = None, ends: int | None = 0
    ) -> Iterator[Program]:
        first = sys.executable if args[0].endswith(".py") else str(COMMAND)
        around = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        command, env = (first, *args), {**around, **(env or {})}
        with running(command, cwd=here, env=env, columns=columns) as program:
            yield program
            assert ends is None or program.ended() == ends

    return run


@pytest.fixture
def started(here: Path) -> Iterator[Started]:
    """Run a command without a terminal, as a script or a supervisor does; killed at the end."""
    processes: list[Forked] = []

    def start(*args: str, **env: str) -> Forked:
        processes.append(Forked([COMMAND, *args], cwd=here, env={**os.environ, **env}))
        return processes[-1]

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def begun(app: Any, *args: Any, workflow: str = "support", **given: Any) -> Any:
    """Start a run and carry it on until it waits or is over."""
    run = app.desk.start(getattr(app, workflow), *args, **given)
    app.desk.work(until="idle", only=run.id)
    return run


@pytest.fixture
def ask(desk: Desk) -> Ask:
    """Something simple to decide."""
    return desk.open("refund", {"order": 7, "amount": 40}, risk="high", why="Charged twice")


PROGRAM = """
import time
import sayso

desk = sayso.Desk()

@desk.gate(risk="high")
def refund(order: int, amount: int) -> str:
    with open("paid.txt", "a") as file:
        file.write(f"{order} {amount}\\n")
    return f"paid {amount} for {order}"

def look_up(order: int) -> dict:
    return {"order": order, "paid": 40}

@desk.workflow
def support(run, order, amount=40):
    run.progress(0.25, "looking")
    run.step(look_up, order)
    run.progress(0.5)
    try:
        paid = run.call(refund, order, amount)
    except sayso.Rejected as no:
        return f"not paid: {no.note}"
    return f"{paid}, {run.question('Which words?')}"

WHICH = "Which words?"

@desk.workflow
def words(run):
    return run.question(WHICH)

def break_down():
    try:
        with open("mended") as file:
            return file.read()
    except OSError as error:
        raise ValueError("broken for now") from error

@desk.workflow
def fragile(run):
    return run.step(break_down)

@desk.workflow
def steps(run, count, each):
    for number in range(count):
        run.step(time.sleep, each)
        run.progress((number + 1) / count)

def hold():
    open("held", "w").close()
    time.sleep(600)

@desk.workflow
def stuck(run):
    run.step(hold)
"""


@pytest.fixture
def app(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A program with workflows in this folder, imported as a command imports it."""
    (here / "app.py").write_text(PROGRAM)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    module = load("app")
    yield module
    module.desk.close()
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(here) in str(
            sys.modules[name].__file__
        ):
            del sys.modules[name]
