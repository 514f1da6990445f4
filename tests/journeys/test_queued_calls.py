"""Queued asks, end to end (S2.8): the agent goes on with other work, and is told later.

Whoever takes part is a process that is gone before the next one comes: one that starts the agent,
people who decide in any order, workers that go on. The agent is in `tests.journeys.errands`; its
model does other work only because it is told to go on, and uses only what it is shown.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sayso import Ask, Desk, Run
from tests.crash.shop import noted
from tests.crash.visitors import Door, House
from tests.journeys.errands import TASK
from tests.journeys.library import FOLDER
from tests.places import Place
from tests.terminal import running

ROOT = Path(__file__).resolve().parents[2]
SAYSO = str(Path(sys.executable).with_name("sayso"))
MEANWHILE = ["tidy: kitchen", "tidy: hall"]
SUBJECTS = ("milk", "bread", "stamps")


@pytest.fixture
def house(door: Door, live: Desk, place: Place, tmp_path: Path) -> House:
    return House(door, live, place.url, tmp_path, "errands")


def ask_for(run: Run, subject: str) -> Ask:
    (found,) = [ask for ask in run.asks if (ask.original or ask.args)["subject"] == subject]
    return found


def settle(house: House, run: Run, subject: str, verdict: str) -> None:
    """Let somebody come by who says this to one of the errands."""
    which = [ask.id for ask in run.state.pending].index(ask_for(run, subject).id)
    house.visit("settle", run.id, which, verdict)


def verbs(run: Run) -> list[str]:
    """The journal of the run, in order: what was recorded, and of news how much."""
    said = [event.payload or {} for event in run.events if event.kind.startswith("step.")]
    return [
        f"{one['verb']} {len(one['result'])}" if one["verb"] == "news" else one["verb"]
        for one in said
        if "verb" in one
    ]


def test_s2_8_the_agent_goes_on_while_people_decide_and_every_pause_ends_a_process(
    house: House,
) -> None:
    run = house.begin(agent="errands")

    # it asked for all three, was told to go on, and did everything else there was to do
    assert (run.status, noted(house.folder, "done")) == ("waiting", MEANWHILE)
    assert {ask.args["subject"] for ask in run.state.pending} == set(SUBJECTS)
    assert (run.row.token, len(run.row.waits)) == (None, 3)
    first = ["model", "queued", "queued", "news 0", "model", "call", "news 0"]
    first += ["model", "queued", "call", "news 0", "model"]
    assert verbs(run) == first

    # the last one is decided first; a new process carries it out, and the model uses the result
    settle(house, run, "stamps", "approve")
    assert noted(house.folder, "done") == MEANWHILE, "whoever decides does not carry out"
    house.then("go on")
    done = [*MEANWHILE, "buy: stamps", "tidy: the stamps"]
    assert (run.status, noted(house.folder, "done")) == ("waiting", done)
    second = [*first, "news 1", "model", "call", "news 0", "model"]
    assert verbs(run) == second

    # edited: what runs, and what the model goes on with, is what the person made of it
    settle(house, run, "milk", "edit")
    house.then("go on")
    done += ["buy: fresh milk", "tidy: the fresh milk"]
    assert (run.status, noted(house.folder, "done")) == ("waiting", done)
    third = [*second, "news 1", "model", "call", "news 0", "model"]
    assert verbs(run) == third

    # rejected: nothing runs, and there is an answer
    settle(house, run, "bread", "reject")
    house.then("go on")
    assert (run.status, noted(house.folder, "done")) == ("done", done)
    assert run.output == "Answer: stamps, fresh milk, nothing"
    assert verbs(run) == [*third, "news 1", "model"]
    assert len(noted(house.folder, "thoughts")) == verbs(run).count("model"), "none was paid twice"
    assert noted(house.folder, "complaints") == []
    assert house.desk.verify()


def test_s2_8_from_the_command_line_in_two_terminals(sqlite: Place, tmp_path: Path) -> None:
    """One terminal stays with the agent and sees what waits; the other one decides."""
    env = {**os.environ, "SAYSO_URL": sqlite.url, FOLDER: str(tmp_path), "COLUMNS": "100"}

    def command(*words: str) -> str:
        return subprocess.run(
            [SAYSO, *words], capture_output=True, text=True, env=env, cwd=ROOT, check=True
        ).stdout

    with Desk(sqlite.url) as desk:
        desk.people.add("sam")  # somebody else is there, so nobody is asked at this terminal
        target = "tests.journeys.errands:agent"
        with running([SAYSO, "run", target, TASK], cwd=ROOT, env=env) as screen:
            screen.wait_for('tidy(subject="kitchen")')  # it goes on
            screen.wait_for("waiting for a decision")
            waits = screen.text
            (run,) = desk.runs()
            for ask in run.state.pending:
                assert f"{ask.id} waits for a person; going on" in waits
            story = command("runs", "show", run.id)
            assert "buy waits in the queue, and the model goes on" in story
            for subject in ("bread", "milk", "stamps"):
                ask = ask_for(run, subject)
                command("inbox", "approve", ask.id, "--as", "sam", "--seen", ask.digest[:12])
                screen.wait_for(f'tidy(subject="the {subject}")')
            screen.wait_for("Answer: bread, milk, stamps")
            assert screen.ended() == 0
    assert len(noted(tmp_path, "done")) == 8
    assert "told the model what came of a call that waited" in command("runs", "show", run.id)
