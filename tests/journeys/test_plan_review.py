"""The plan document, end to end (S1.1 to S1.7, S1.9, S1.10): plan, pause, review, go on.

Whoever takes part is a process that is gone before the next one comes: a program that starts the
agent, people who approve, modify or cancel, workers that go on. The agent is in
`tests.journeys.research`; its model (in `library`) follows the plan that it is shown.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sayso import (
    ActionStep,
    Agent,
    AnswerStep,
    DecisionStep,
    Desk,
    PlanStep,
    Run,
    TaskStep,
    tool,
)
from sayso.errors import InvalidEdit, Misuse, RunCancelled
from tests import forked
from tests.crash.shop import noted
from tests.crash.visitors import EDITED, GUIDANCE, Door, House
from tests.journeys.library import DRAFT, FOLDER, MODEL, TASK, TOOLS
from tests.places import Place
from tests.terminal import running

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-m", "tests.journeys.research"]
SAYSO = [str(Path(sys.executable).with_name("sayso"))]
FIRST_THREE = [
    "search: Search for recent AI developments",
    "search: Search for peer-reviewed papers",
    "read: Analyze the top results",
]
DONE = [
    *FIRST_THREE,
    "read: Check each source",
    "publish: Summarize the 2 most significant breakthroughs",
]
MEMORY = """\
Current memory contains 14 steps:
  1. TaskStep
  2. PlanStep
  3. DecisionStep
  4. ActionStep
  5. ActionStep
  6. ActionStep
  7. PlanStep
  8. DecisionStep
  9. PlanStep
  10. DecisionStep
  11. ActionStep
  12. DecisionStep
  13. ActionStep
  14. AnswerStep
"""


@pytest.fixture
def house(door: Door, live: Desk, place: Place, tmp_path: Path) -> House:
    return House(door, live, place.url, tmp_path, "tea")


@pytest.fixture
def around(sqlite: Place, tmp_path: Path) -> dict[str, str]:
    """The environment of a program and of the command line on a desk in a file."""
    return {**os.environ, "SAYSO_URL": sqlite.url, FOLDER: str(tmp_path), "COLUMNS": "80"}


def thoughts(folder: Path) -> list[str]:
    return noted(folder, "thoughts")


# --- the whole of it ---------------------------------------------------------------------------


def test_s1_the_document_with_a_new_process_after_every_pause(
    around: dict[str, str], sqlite: Place, tmp_path: Path
) -> None:
    """Everything is done as a person would: with the program, and with the command line."""

    def command(*words: str) -> str:
        done = forked.run(words, env=around, cwd=ROOT)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    desk = Desk(sqlite.url, account="sam@till")
    run = desk.get_run(command(*PROGRAM, "begin", TASK).strip())

    # S1.1: it paused right after it made a plan, before any step of it
    assert run.status == "waiting"
    assert (noted(tmp_path, "done"), thoughts(tmp_path)) == ([], ["plan"])

    # S1.2: a person sees the numbered plan, and modifies it
    (ask,) = run.state.pending
    card = command(*SAYSO, "inbox", "show", ask.id)
    for number, step in enumerate(DRAFT, start=1):
        assert f"{number}. {step['title']}" in card
    steps = f"steps={json.dumps(EDITED)}"
    command(*SAYSO, "inbox", "edit", ask.id, "--set", steps, "--seen", ask.digest[:12])
    assert noted(tmp_path, "done") == [], "whoever decides does not carry out"

    # S1.3, S1.6: a worker follows the person's version, and plans again after three steps
    command(*SAYSO, "worker", "tests.journeys.research", "--until-idle")
    assert noted(tmp_path, "done") == FIRST_THREE
    (replan,) = run.state.pending
    assert replan.args["steps"] == EDITED[3:], "the new plan is what is left of theirs"

    # "plan again, but ...", then approved; each carried on until the next pause
    go = (*SAYSO, "inbox")
    command(*go, "respond", replan.id, GUIDANCE, "--seen", replan.digest[:12], "--go")
    (again,) = run.state.pending
    assert [step["title"] for step in again.args["steps"]] == [GUIDANCE, EDITED[3]["title"]]
    command(*go, "approve", again.id, "--seen", again.digest[:12], "--go")
    (publishing,) = run.state.pending
    assert (publishing.tool, noted(tmp_path, "done")) == ("publish", DONE[:4])
    command(*go, "approve", publishing.id, "--seen", publishing.digest[:12], "--go")

    # S1.4: all of it is there, and nothing ran twice
    assert (run.status, run.output) == ("done", "Answer: 5 findings, 0 answers before")
    assert noted(tmp_path, "done") == DONE
    assert thoughts(tmp_path) == ["plan", *["act"] * 3, "plan", "plan", *["act"] * 3]
    assert run.state.progress == 1.0

    # S1.5: the document's loop over the memory prints
    assert command(*PROGRAM, "memory", run.id) == MEMORY
    assert desk.verify()
    desk.close()


def test_s1_2_at_a_terminal_the_plan_is_approved_by_typing_1_and_cancelled_by_typing_3(
    around: dict[str, str], tmp_path: Path
) -> None:
    with running([*PROGRAM, "attend", TASK], cwd=ROOT, env=around) as screen:
        shown = screen.wait_for("Choose an option:")
        for number, step in enumerate(DRAFT, start=1):
            assert f"{number}. {step['title']}" in shown
        offered = screen.wait_for(": ")
        assert "1. Approve" in offered
        assert "2. Modify" in offered
        assert "3. Cancel" in offered
        assert noted(tmp_path, "done") == []
        screen.type("1")
        screen.wait_for("Choose an option:")  # the plan for what is left
        assert len(noted(tmp_path, "done")) == 3
        screen.wait_for(": ")
        screen.type("3")
        screen.wait_for("Why?")
        screen.type("Enough")
        screen.wait_for("cancelled: None")
        assert screen.ended() == 0
    assert len(noted(tmp_path, "done")) == 3, "nothing after the cancel"
    assert thoughts(tmp_path) == ["plan", *["act"] * 3, "plan"]


# --- S1.4, S1.5: memory ------------------------------------------------------------------------


def test_s1_4_and_s1_5_every_step_is_kept_with_its_content_whichever_process_took_it(
    house: House,
) -> None:
    house.begin()
    run = house.through()

    steps = list(run.memory)
    task, first = steps[0], steps[1]
    assert isinstance(task, TaskStep)
    assert (task.workflow, task.task) == ("researcher", TASK)
    assert isinstance(first, PlanStep)
    assert first.plan == EDITED, "as the person left it"
    changed = [step.decision.verdict for step in steps if isinstance(step, DecisionStep)]
    assert changed == ["edit", "respond", "approve", "approve"]
    actions = [step for step in steps if isinstance(step, ActionStep)]
    assert [f"{step.name}: {(step.args or {})['subject']}" for step in actions] == DONE
    assert [step.result for step in actions] == [
        f"{line.partition(': ')[2]}: found" for line in DONE
    ]
    assert isinstance(steps[-1], AnswerStep)
    assert steps[-1].output == run.output
    assert [step.at for step in steps] == sorted(step.at for step in steps)
    begun = [event.payload or {} for event in run.events if event.kind == "step.begun"]
    workers = {payload["worker"] for payload in begun}
    assert len(workers) == 2, "two workers called tools without asking, and neither is there now"


class SetBack:
    """A clock that somebody sets back in the middle: by another host's time, or by hand."""

    steered = True

    def __init__(self) -> None:
        self.behind = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) - self.behind

    def watch(self, moved: Callable[[], None]) -> None:
        """Do nothing."""


def test_s1_5_steps_are_in_the_order_in_which_they_happened_whatever_the_clocks_say(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    clock = SetBack()

    def search_late(subject: str) -> str:
        """Search for something."""
        clock.behind += timedelta(seconds=10)
        return subject

    late = tool(name="search")(search_late)
    tired = Agent("tired", MODEL, [late, *TOOLS[1:]], plan_every=3)
    with Desk(place.url, clock=clock, account="sam@till") as desk:
        run = desk.run(tired, TASK, wait=False)
        while run.status == "waiting":
            clock.behind += timedelta(seconds=10)
            desk.approve(run.state.pending[0])
            desk.work(until="idle")

        review = [PlanStep, DecisionStep]
        assert [type(step) for step in run.memory] == [
            *(TaskStep, *review, ActionStep, ActionStep, ActionStep),
            *(*review, ActionStep, AnswerStep),
        ]


# --- S1.6: every N steps, a limit, verbosity ---------------------------------------------------


def test_s1_6_the_limit_on_steps_stops_it_until_a_person_grants_more(house: House) -> None:
    run = house.begin(agent="hasty")
    house.then("approve", "go on")

    assert run.status == "parked"
    assert "2 steps" in (run.error or "")
    assert "max_steps" in (run.error or "")
    assert len(noted(house.folder, "done")) == 2
    house.desk.retry(run)
    house.then("go on")
    assert len(noted(house.folder, "done")) == 4
    house.desk.retry(run)
    house.then("go on")
    assert (run.status, run.output) == ("done", "Answer: 4 findings, 0 answers before")
    assert len(thoughts(house.folder)) == 6, "no reply was asked for twice"


@pytest.mark.parametrize(
    ("verbosity", "said"), [(0, []), (1, ["search(", "found"]), (2, ["Answer:"])]
)
def test_s1_6_verbosity_says_nothing_a_line_a_step_or_what_the_model_writes_too(
    live: Desk,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verbosity: int,
    said: list[str],
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    talker = Agent(f"talker-{verbosity}", MODEL, TOOLS, plan_every=9, verbosity=verbosity)
    run = live.run(talker, TASK, wait=False)
    live.approve(run.asks[0])
    capsys.readouterr()

    live.work(until="idle")

    out, err = capsys.readouterr()
    assert run.status == "done"
    assert out == ""
    assert bool(err) is bool(said)
    assert all(word in err for word in said)
    assert ("Answer:" in err) is (verbosity == 2)


# --- S1.7: cancel, bad edits, resumes that fail ------------------------------------------------


def test_s1_7_a_cancelled_plan_is_followed_by_no_call_of_a_tool_or_of_the_model(
    house: House,
) -> None:
    run = house.begin()
    house.then("cancel", "go on")

    assert run.status == "cancelled"
    assert "Not this" in (run.error or "")
    assert (noted(house.folder, "done"), thoughts(house.folder)) == ([], ["plan"])
    assert [type(step) for step in run.memory] == [TaskStep, PlanStep, DecisionStep]
    with pytest.raises(RunCancelled, match="Not this"):
        run.result(timeout=0)


BAD = {
    "no step": ([], "steps"),
    "no title": ([{"title": ""}], "title"),
    "a tool that does not exist": ([{"title": "Hack", "tool": "hack"}], "tool"),
    "no steps at all": ("Search", "steps"),
    "too many": ([{"title": f"Step {n}"} for n in range(10_000)], "steps"),
    "something else in a step": ([{"title": "Search", "sudo": True}], "sudo"),
}


@pytest.mark.parametrize("case", BAD)
def test_s1_7_a_bad_edit_of_a_plan_names_the_fault_and_leaves_the_run_where_it_was(
    house: House, case: str
) -> None:
    steps, named = BAD[case]
    run = house.begin()
    (ask,) = run.state.pending

    with pytest.raises(InvalidEdit) as refused:
        house.desk.edit(ask, {"steps": steps})

    assert named in str(refused.value)
    assert len(str(refused.value)) < 1000
    house.then("go on")
    assert run.status == "waiting"
    assert run.state.pending == (ask,)
    assert noted(house.folder, "done") == []
    assert house.through().status == "done", "and a good one is taken afterwards"


def test_s1_7_a_process_without_the_code_cannot_resume_and_says_so(house: House) -> None:
    run = house.begin()
    house.then("decide")
    program = f"import sayso; sayso.Desk({house.url!r}).resume({run.id!r})"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.returncode == 1
    assert f"{Misuse.__name__}: {run.id} needs the workflow" in done.stderr
    assert run.status == "ready"
    assert house.through().status == "done"


# --- S1.9: threads -----------------------------------------------------------------------------


def test_s1_9_a_later_task_goes_on_with_the_memory_of_its_thread_or_starts_clean(
    house: House,
) -> None:
    house.begin()  # the document's reset=True: there is nothing before it
    first = house.through()
    house.begin()  # its reset=False
    second = house.through()
    house.begin(fresh=True)  # its reset=True, later on
    third = house.through()
    house.begin()
    fourth = house.through()

    assert first.output == "Answer: 5 findings, 0 answers before"
    assert second.output == "Answer: 10 findings, 1 answers before", "it remembers what was found"
    assert third.output == "Answer: 5 findings, 0 answers before", "clean"
    assert fourth.output == "Answer: 10 findings, 1 answers before", "from the clean start on"
    assert list(first.memory), "the old journal stays readable"
    tasks = [step for step in house.desk.thread("tea") if isinstance(step, TaskStep)]
    assert len(tasks) == 2
    assert [run.id for run in house.desk.runs(thread="tea")] == [
        run.id for run in (fourth, third, second, first)
    ]
    assert house.desk.verify()


# --- S1.10: callbacks --------------------------------------------------------------------------


def test_s1_10_a_callback_can_ask_for_a_review_of_the_step_it_is_told_of(house: House) -> None:
    run = house.begin(agent="careful")
    house.then("approve", "go on")

    (asked,) = run.state.pending
    assert asked.title == "Was this worth reading?"
    assert noted(house.folder, "told") == ["done: search", "done: read"]
    house.then("approve", "go on", "approve", "go on")
    assert run.status == "done"
    assert noted(house.folder, "told") == ["done: search", *["done: read"] * 2, "done: publish"]


def test_s1_10_a_callback_cannot_let_anything_pass(
    live: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it returns for a plan, nothing is done before a person approved that plan."""
    monkeypatch.setenv(FOLDER, str(tmp_path))

    def wave_through(step: Any) -> Any:
        return True if isinstance(step, PlanStep) else None

    eager = Agent("eager", MODEL, TOOLS, plan_every=9, on_step=wave_through)
    run = live.run(eager, TASK, wait=False)
    assert (run.status, noted(tmp_path, "done")) == ("waiting", [])

    live.approve(run.asks[0])
    live.work(until="idle")

    assert_parked(run, "return a sentence to ask for a review, or None")
    assert noted(tmp_path, "done") == []


def assert_parked(run: Run, why: str) -> None:
    assert run.status == "parked"
    assert why in (run.error or "")
