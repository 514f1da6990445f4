"""`sayso worker`: runs are carried on by a process that only imports the program."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk
from tests import forked
from tests.cli.conftest import PROGRAM, Sayso, Started
from tests.forked import Forked
from tests.places import Place
from tests.together import until


@pytest.fixture
def worker(started: Started) -> Started:
    """Start a worker as a supervisor does."""
    return partial(started, "worker")


def serving(process: Forked) -> None:
    """Wait until the worker has said all it says at its start."""
    assert process.stdout is not None
    while "Ctrl-C ends it" not in (line := process.stdout.readline()):
        assert line, process.communicate()


def moving(run: Any) -> bool:
    return bool(run.row.progress)


# --- carrying on -------------------------------------------------------------------------------


def test_a_run_that_nobody_served_ends_once_a_worker_comes(
    place: Place, here: Path, worker: Started, sayso: Sayso
) -> None:
    (here / "app.py").write_text(PROGRAM)
    env = {"SAYSO_URL": place.url}
    (here / "start.py").write_text("import app; print(app.desk.start(app.support, 7).id)")
    started = forked.run([sys.executable, "start.py"], cwd=here, env={**os.environ, **env})
    run_id = started.stdout.strip()
    assert worker("app", "--until-idle", **env).wait(60) == 0
    with Desk(place.url) as desk:
        (ask,) = desk.inbox()

        said = sayso("inbox", "approve", ask.id, "--seen", ask.digest[:12], env=env)
        assert "Approved. No worker serves `support`; start one: sayso worker app" in said.out
        assert said.code == 0

        assert worker("app:desk", "--until-idle", **env).wait(60) == 0
        (ask,) = desk.inbox()
        desk.respond(ask, "kind ones")
        assert worker("app.py", "--until-idle", **env).wait(60) == 0
        assert desk.get_run(run_id).output == "paid 40 for 7, kind ones"
    assert (here / "paid.txt").read_text() == "7 40\n"


def test_a_worker_hears_a_decision_at_once_and_whoever_decided_is_told_that_it_goes_on(
    app: Any, worker: Started, sayso: Sayso
) -> None:
    run = app.desk.start(app.words)
    serving(worker("app"))
    until(lambda: run.status == "waiting")
    (ask,) = run.state.pending

    said = sayso("inbox", "respond", ask.id, "short ones", "--seen", ask.digest)

    # A worker may be faster than these words, or not have come yet.
    assert re.search(rf"The run {run.id} (can go on|goes on|is done)\.", said.out)
    assert run.result(20) == "short ones"


def test_it_says_which_desk_it_is_and_what_it_serves(app: Any, sayso: Sayso) -> None:
    app.desk.start(app.words)

    done = sayso("worker", "app", "--until-idle", "--threads", "2")

    assert done.code == 0
    assert done.out.splitlines()[:2] == [
        "desk: ./sayso.db, 1 ready",
        "app:desk serves fragile, steps, stuck, support, words",
    ]
    assert "2 threads; Ctrl-C ends it" in done.out
    assert done.out.endswith("Nothing more to do now; 1 run waits for a decision: sayso inbox\n")


def test_a_script_gets_it_as_json(app: Any, sayso: Sayso) -> None:
    done = sayso("worker", "app", "--until-idle", "--json")

    assert done.json["desk"] == "./sayso.db"
    assert done.json["app"] == "app:desk"
    assert done.json["serves"]["support"] == "app:support"
    assert done.json["threads"] == 4


def test_asks_are_the_program_s_own_not_the_command_s(app: Any, worker: Started) -> None:
    run = app.desk.start(app.words)

    assert worker("app", "--until-idle").wait(60) == 0

    assert run.asks[0].content.agent == "app"


# --- what brings it to runs ---


def test_it_is_woken_by_procrastinate_where_that_is_installed_and_says_so(
    engined: Place, here: Path, worker: Started
) -> None:
    (here / "app.py").write_text(PROGRAM)
    process = worker("app", SAYSO_URL=engined.url, PYTHONUNBUFFERED="1")
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(4)]

    assert said[1].startswith("app:desk serves fragile")
    assert said[2] == "wake-ups by Procrastinate\n"
    assert "4 threads; Ctrl-C ends it" in said[3]
    process.terminate()
    out, _ = process.communicate()
    assert (out, process.returncode) == ("Ended; every run is let go.\n", 0)


@pytest.mark.parametrize(
    ("options", "variable", "engine"),
    [
        ([], "", "procrastinate"),
        (["--engine", "threads"], "", "threads"),
        ([], "threads", "threads"),
        (["--engine", "procrastinate"], "threads", "procrastinate"),
        (["--until-idle"], "procrastinate", "threads"),
    ],
)
def test_the_engine_can_be_chosen(
    engined: Place,
    here: Path,
    worker: Started,
    options: list[str],
    variable: str,
    engine: str,
) -> None:
    (here / "app.py").write_text(PROGRAM)
    env = {"SAYSO_URL": engined.url, "SAYSO_ENGINE": variable, "PYTHONUNBUFFERED": "1"}
    process = worker("app", "--json", *options, **env)
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())

    assert told["engine"] == engine
    process.terminate()
    assert process.wait() == 0


def test_an_engine_that_is_not_there_is_refused_with_what_to_do(app: Any, sayso: Sayso) -> None:
    done = sayso("worker", "app", "--engine", "procrastinate")

    assert done.code == 1
    assert "There are no wake-ups by Procrastinate here" in done.err
    assert "is no PostgreSQL database" in done.err


def test_queues_name_workflows_of_the_program(app: Any, sayso: Sayso) -> None:
    words, steps = app.desk.start(app.words), app.desk.start(app.steps, 1, 0)

    wrong = sayso("worker", "app", "--queues", "words,refunds", "--until-idle")
    done = sayso("worker", "app", "--queues", "steps", "--until-idle")

    assert wrong.code == 1
    assert "app:desk has no workflow refunds. It has: fragile, steps" in wrong.err
    assert done.out.splitlines()[1] == "app:desk serves steps"
    assert (words.status, steps.status) == ("ready", "done")


# --- naming the program ------------------------------------------------------------------------


def test_a_program_may_be_in_another_folder(here: Path, worker: Started) -> None:
    (here / "shop").mkdir()
    (here / "shop" / "app.py").write_text(PROGRAM)
    by_file = worker("shop/app.py:desk", "--until-idle").communicate(timeout=60)
    by_name = worker("shop.app", "--until-idle").communicate(timeout=60)

    assert "shop/app.py:desk serves fragile" in by_file[0]
    assert "shop.app:desk serves fragile" in by_name[0]


ONE = "import sayso\ndesk = sayso.Desk()\n"
WRONG = {
    "missing:desk": (None, "missing cannot be imported here (ModuleNotFoundError:"),
    "missing.py": (None, "There is no file "),
    "wrong_a": ("import nowhere_at_all", "wrong_a cannot be imported here (ModuleNotFoundError"),
    "wrong_b": (
        "import sayso",
        "wrong_b has no desk. It needs a line such as: desk = sayso.Desk()",
    ),
    "wrong_c": (
        f"{ONE}other = sayso.Desk('sqlite:///b.db')\nagain = desk\n",
        "wrong_c has several desks; say which one: wrong_c:desk, wrong_c:other.",
    ),
    "wrong_d": (ONE, "wrong_d:desk has no workflows, so there is nothing to carry on."),
    "wrong_e:office": (
        ONE,
        "wrong_e:office is no desk: there is nothing of that name in wrong_e. ",
    ),
    "wrong_f:sayso": (ONE, "wrong_f:sayso is no desk: it is a module in wrong_f. It has: wrong_f:"),
    "wrong_g": (
        "raise SystemExit(3)",
        "wrong_g ends the program when it is imported (exit code 3)",
    ),
    "wrong_h": ("def (", "wrong_h cannot be imported here (SyntaxError"),
    ":desk": (None, "':desk' names no program"),
}


@pytest.mark.parametrize("target", WRONG)
def test_a_program_that_cannot_be_served_is_told_why(
    here: Path, sayso: Sayso, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, message = WRONG[target]
    monkeypatch.setattr(sys, "path", list(sys.path))
    if source is not None:
        (here / f"{target.partition(':')[0]}.py").write_text(source)

    done = sayso("worker", target, "--until-idle")

    assert done.code == 1
    assert done.out == ""
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_the_desk_of_the_command_line_is_where_the_program_works(
    app: Any, here: Path, worker: Started
) -> None:
    out, err = worker("app", "--desk", "other.db", "--until-idle").communicate(timeout=60)

    assert (out.splitlines()[0], err) == ("desk: ./other.db, 0 ready", "")
    assert (here / "other.db").exists()


def test_a_program_with_an_address_of_its_own_is_not_moved(here: Path, worker: Started) -> None:
    (here / "app.py").write_text(PROGRAM.replace("sayso.Desk()", "sayso.Desk('sqlite:///own.db')"))

    out, err = worker("app", "--desk", "other.db", "--until-idle").communicate(timeout=60)

    assert out == ""
    assert "app:desk works on ./own.db, not on other.db" in err


# --- ending ------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_every_run_go_at_its_next_verb(
    app: Any, worker: Started, number: signal.Signals
) -> None:
    runs = [app.desk.start(app.steps, 1000, 0.05) for _ in range(3)]
    process = worker("app")
    serving(process)
    for run in runs:
        until(partial(moving, run))

    process.send_signal(number)
    out, err = process.communicate(timeout=20)

    assert process.returncode == 0
    assert "Ending: runs are let go at their next verb. Once more ends it at once." in err
    assert out.endswith("Ended; every run is let go.\n")
    assert [run.status for run in runs] == ["ready"] * 3
    assert app.desk.store.workers(app.desk.crew.lease) == []


def test_a_second_signal_ends_it_at_once(app: Any, worker: Started, here: Path) -> None:
    run = app.desk.start(app.stuck)
    process = worker("app")
    serving(process)
    until(lambda: (here / "held").exists())

    process.terminate()
    assert process.stderr is not None
    assert process.stderr.readline() == "\n"
    assert "Ending" in process.stderr.readline()
    process.terminate()  # sent twice, meant once: some supervisors do that
    time.sleep(0.6)
    assert process.poll() is None
    process.terminate()

    assert process.wait(10) == -signal.SIGTERM
    assert run.status == "running"


def test_errors_are_json_too(sayso: Sayso) -> None:
    done = sayso("worker", "missing", "--json")

    assert json.loads(done.err)["error"] == "misuse"
