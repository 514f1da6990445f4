"""The plan document's own code, on the framework that it is written for (S1, E8, E9).

`SEED` is what the document shows, block by block. What is changed in it is a model that needs no
key, a search that needs no network, and five lines; `examples/41_smolagents_plan.py` is the same as a
script, in which one can be killed at the pause and go on at a terminal or in a browser.
"""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk
from sayso.adapters.smolagents import Smol
from sayso.testing import FakeClock
from tests.adapters.smolagents.cast import Gives, Thinks, code, shown, steps_taken
from tests.places import Place
from tests.served import Served
from tests.terminal import running
from tests.web.inbox.browser import Tab

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples/41_smolagents_plan.py"
SAYSO = Path(sys.executable).with_name("sayso")

AGENT = """\
agent = CodeAgent(
    model=InferenceClientModel(),
    tools=[DuckDuckGoSearchTool()],
    planning_interval=5,  # Plan every 5 steps
    step_callbacks={PlanningStep: interrupt_after_plan},
    max_steps=10,
    verbosity_level=1
)
"""
RUNS = """\
# First run (may be interrupted)
agent.run(task, reset=True)

# Resume with preserved memory
agent.run(task, reset=False)
"""
MEMORY = """\
print(f"Current memory contains {len(agent.memory.steps)} steps:")
for i, step in enumerate(agent.memory.steps):
    step_type = type(step).__name__
    print(f"  {i+1}. {step_type}")
"""
SEED = (AGENT, RUNS, MEMORY)
PLAN = """\
1. Search for recent AI developments
2. Analyze the top results
3. Summarize the 3 most significant breakthroughs
4. Include sources for each breakthrough
"""
CHANGED = {  # in the blocks, as in the example
    "    step_callbacks={PlanningStep: interrupt_after_plan},\n": "",
    "    verbosity_level=1\n)\n": (
        '    verbosity_level=1\n)\nresearch = Smol("research", agent, review=["plan"])\n'
    ),
    "agent.run(task, reset=True)": "run = desk.run(research, task, wait=False)",
    "agent.run(task, reset=False)": "decide(run)\ndesk.resume(run, wait=False)",
}


def lines(text: str) -> list[str]:
    """The lines of a script without what formatting, a model and a search change in them."""
    apart = {"model=": "model=...", "tools=": "tools=..."}
    found = []
    for line in text.splitlines():
        plain = "".join(line.split()).removesuffix(",")
        named = [word for start, word in apart.items() if plain.startswith(start)]
        if plain:
            found.append(named[0] if named else plain)
    return found


def test_the_script_is_changed_by_at_most_five_lines() -> None:
    """Imports apart, and what the document leaves to the reader: a task, and a function around."""
    script = SCRIPT.read_text()
    begin, end = script.index("desk = "), script.index("\n\nif __name__")
    ours = [line for line in lines(script[begin:end]) if not line.startswith(("task=", "defmain("))]
    theirs = lines("".join(SEED))
    matching = difflib.SequenceMatcher(None, theirs, ours, autojunk=False)
    changed = [
        (theirs[a:b], ours[c:d]) for kind, a, b, c, d in matching.get_opcodes() if kind != "equal"
    ]
    assert sum(max(len(was), len(now)) for was, now in changed) <= 5, changed


class Reading:
    """Somebody who runs the document's blocks, with a person who decides at the pause."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.searched: list[str] = []
        self.model = Thinks(self.think)

    def think(self, texts: list[str]) -> Any:
        if "write your plan" in texts[-1] or "your new plan" in texts[-1]:
            return PLAN
        taken = steps_taken(texts)
        return code(f"search('{taken}')" if taken < 6 else "final_answer('Three breakthroughs')")

    def search(self, what: str) -> str:
        self.searched.append(what)
        return f"about {what}"

    def run(self, decide: Any) -> Any:
        text = "".join(SEED)
        for was, now in CHANGED.items():
            assert was in text
            text = text.replace(was, now)
        from smolagents import CodeAgent

        around = {
            "CodeAgent": CodeAgent,
            "InferenceClientModel": lambda: self.model,
            "DuckDuckGoSearchTool": lambda: Gives(self.search, "search"),
            "Smol": Smol,
            "desk": self.desk,
            "task": "Search for the 3 most significant AI breakthroughs",
            "decide": decide,
            "__name__": __name__,
        }
        exec(compile(text, "the document", "exec"), around)
        return around["run"]


@pytest.fixture
def reading(local: Desk) -> Reading:
    return Reading(local)


@pytest.fixture
def local(sqlite: Place) -> Iterator[Desk]:
    with Desk(sqlite.url, account="sam@till") as desk:
        yield desk


def test_the_document_approve(reading: Reading, capsys: pytest.CaptureFixture[str]) -> None:
    def decide(run: Any) -> None:
        (plan,) = run.state.pending
        assert plan.args["steps"] == [line[3:] for line in PLAN.splitlines()]
        assert reading.searched == []
        reading.desk.approve(plan)

    run = reading.run(decide)

    printed = capsys.readouterr().out
    assert printed.startswith("Current memory contains 7 steps:\n  1. TaskStep\n  2. PlanningStep")
    assert run.status == "waiting", "after five steps it plans again, and that is reviewed as well"
    reading.desk.approve(run.state.pending[0])
    assert reading.desk.resume(run, wait=False).output == "Three breakthroughs"
    assert reading.searched == list("012345"), "nothing was searched for twice"


def test_the_document_modify(reading: Reading, capsys: pytest.CaptureFixture[str]) -> None:
    def decide(run: Any) -> None:
        reading.desk.edit(run.state.pending[0], {"steps": ["Search for chess", "Cite sources"]})

    run = reading.run(decide)

    assert "PlanningStep" in capsys.readouterr().out
    assert "Cite sources" in shown(reading.model.seen[1])
    assert "Analyze the top results" not in shown(reading.model.seen[1])
    replan = reading.model.seen[-1]
    assert "your new plan" in replan[-1]
    assert "Cite sources" in shown(replan), "the edit survives planning again"
    assert run.state.pending[0].kind == "plan"


def test_the_document_cancel(reading: Reading, capsys: pytest.CaptureFixture[str]) -> None:
    def decide(run: Any) -> None:
        reading.desk.reject(run.state.pending[0], "No")

    run = reading.run(decide)

    assert run.status == "cancelled"
    assert (reading.searched, len(reading.model.seen)) == ([], 1), "not one step after it"


def around(**more: str) -> dict[str, str]:
    path = os.pathsep.join([str(SCRIPT.parent), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "LOGNAME": "anna", "PYTHONPATH": path, **more}


def test_the_script_goes_on_at_a_terminal_after_it_was_killed_at_the_pause(tmp_path: Path) -> None:
    with running([sys.executable, SCRIPT], cwd=tmp_path, env=around()) as program:
        shown_plan = program.wait_for("Your choice (1-4): ")
        assert "1. Search for recent AI developments" in shown_plan
        program.kill()
    with Desk(f"sqlite:///{tmp_path}/sayso.db") as desk:
        (waiting,) = desk.runs()
        command: list[str | Path] = [SAYSO, "runs", "resume", waiting.id, SCRIPT]
        with running(command, cwd=tmp_path, env=around()) as program:
            program.wait_for("Your choice (1-4): ")
            program.type("1")
            assert program.ended() == 0
        assert program.text.count("searching: recent AI developments") == 1
        assert waiting.output == "I read 3 pages."


def test_the_script_s_plan_is_changed_in_a_browser_and_a_worker_follows_it(tmp_path: Path) -> None:
    begin = (
        "from importlib import import_module; s = import_module('41_smolagents_plan'); "
        "s.desk.run(s.research, s.task, wait=False)"
    )
    subprocess.run([sys.executable, "-c", begin], cwd=tmp_path, env=around(), check=True)
    clock = FakeClock(datetime.now(UTC))  # the page gives eight seconds to think again
    with Desk(f"sqlite:///{tmp_path}/sayso.db", clock=clock) as desk:
        desk.people.add("anna")
        (run,) = desk.runs()
        (ask,) = run.state.pending
        with Served(desk) as server:
            tab = Tab(server.person("anna")).go(f"/inbox/{ask.id}")
            titles = [node.raw for node in tab.page.all("textarea", name="step")]
            assert titles == [
                "Search for recent AI developments",
                "Summarize the 3 most significant",
            ]
            tab.verdict("approve", step=["Search for tea", "Search for coffee"])
            assert tab.status == 303, tab.summary
        clock.advance(10)
        desk.sweep()
        command = [str(SAYSO), "worker", "41_smolagents_plan", "--until-idle"]
        worked = subprocess.run(
            command, cwd=tmp_path, env=around(), check=True, capture_output=True, text=True
        )
        assert "searching: tea\n  searching: coffee" in worked.stdout
        assert run.output == "I read 6 pages."
