"""The processes of the contract: one begins, others carry on, each gone before the next one comes.

`python -m tests.adapters.contract` forks one for each order it reads, with all hosts loaded and
nothing of any run in memory (see `tests.crash.visitors`).

An adapter takes part with a stage, a module in `tests/adapters/stages`: how its agent is built, and
how the messages of its host become those of the story.
"""

from __future__ import annotations

import fcntl
import json
import os
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from sayso import Ask, Desk, Run
from tests.adapters.story import FOLDER, decide
from tests.crash.shop import note, noted
from tests.crash.visitors import Death, Door, Visit, mark, receive
from tests.places import place_at

HOSTS = (
    "langchain.agents",
    "langgraph.graph",
    "langgraph.checkpoint.sqlite.aio",
    "smolagents",
)
OURS = ("sayso.agent", "sayso.runs.running", "sayso.runs.worker", "sayso.store.sqlite")


@dataclass(frozen=True)
class Stage:
    """What one host can do. How it is told the story is in its module, `AGENT` and `GIVEN`."""

    name: str
    plans: bool = False  # people review a plan
    side_by_side: bool = True  # the calls of a turn are asked about together
    rewrites: bool = True  # after an edit a model is shown the edited call as its own


STAGES = (
    Stage("ours", plans=True),
    Stage("tiny"),
    Stage("graph"),
    Stage("graph_async"),
    Stage("chain"),
    Stage("chain_async"),
    Stage("smol_tools", plans=True),
    Stage("smol_code", plans=True, side_by_side=False, rewrites=False),
)


def module_of(stage: str) -> ModuleType:
    """Load a stage, in the process that plays on it."""
    return import_module(f"tests.adapters.stages.{stage}")


def begin(desk: Desk, name: str) -> str:
    """Start a run and carry it on until it waits."""
    stage = module_of(name)
    return desk.run(stage.AGENT, stage.GIVEN, wait=False).id


def go_on(desk: Desk, name: str, run_id: str) -> str:
    """Carry a run on until it waits or is over."""
    module_of(name)
    desk.work(until="idle", only=run_id)
    return desk.get_run(run_id).status


def go_on_together(desk: Desk, name: str, run_id: str) -> str:
    """Do the same, when whoever holds the gate opens it."""
    module_of(name)
    note(os.environ[FOLDER], "there", run_id)
    with Path(os.environ[FOLDER], "gate").open() as gate:
        fcntl.flock(gate, fcntl.LOCK_SH)
    return go_on(desk, name, run_id)


WORK: dict[str, Callable[..., str]] = {
    "begin": begin,
    "go on": go_on,
    "go on together": go_on_together,
}


def live(order: dict[str, Any], report: int) -> None:
    """Be the process that an order is for. Ends it."""
    try:
        os.environ[FOLDER] = order["folder"]
        warnings.simplefilter("ignore")  # hosts warn of their own futures
        desk = Desk(order["url"], agent="shop", account="sam@till")
        if order["dies"] is not None:
            mark(*order["dies"])
        os.write(report, json.dumps(WORK[order["do"]](desk, *order["args"])).encode())
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def load() -> None:
    """Load what takes long to load, and no stage."""
    warnings.simplefilter("ignore")
    for module in (*HOSTS, *OURS):
        import_module(module)


@dataclass(frozen=True)
class Theatre:
    """One run of the story on one stage, and what a test sees of it from outside."""

    door: Door
    desk: Desk
    url: str
    folder: Path
    stage: Stage

    def visit(self, do: str, *args: Any, dies: Death | None = None) -> Visit:
        """Let a process do something, and return how it ended when it is gone."""
        given = (self.stage.name, *args)
        return self.door.visit(self.url, self.folder, do, *given, dies=dies)

    def begin(self) -> Run:
        return self.desk.get_run(self.visit("begin").said)

    def go_on(self, run: Run, *, dies: Death | None = None) -> Visit:
        """Let a new process carry the run on, once whoever died at it is given up."""
        if run.status == "running":
            place_at(self.url).lapse(run.id)
        return self.visit("go on", run.id, dies=dies)

    def decide(self, ask: Ask) -> None:
        """Let the person say what they say to this ask. In doubt they look."""
        decide(self.desk, ask, paid=bool(self.done))

    def through(self, run: Run, deaths: Mapping[int, Death] | None = None) -> Run:
        """Decide one ask after the other, each followed by a new process, until it is over.

        Args:
            run: The run.
            deaths: Which of these processes dies, and where.
        """
        for visit in range(20):
            if run.status == "waiting":
                self.decide(pending(run)[0])
            elif run.status not in ("ready", "running"):
                return run
            self.go_on(run, dies=(deaths or {}).get(visit))
        raise AssertionError(f"It never came to an end: {run.state}")

    def about_to_pay(self) -> Run:
        """Begin, and see the plan through, if there is one: people are asked about the payment."""
        run = self.begin()
        while [ask.kind for ask in pending(run)] == ["plan"]:
            self.decide(pending(run)[0])
            self.go_on(run)
        assert pending(run)[0].tool == "pay", (run.state, run.error)
        return run

    @property
    def done(self) -> list[dict[str, Any]]:
        """What was done to the world, in order."""
        return [json.loads(line) for line in noted(self.folder, "done")]

    @property
    def prompts(self) -> list[list[dict[str, Any]]]:
        """Every prompt that the model was really shown, in order."""
        return [json.loads(line) for line in noted(self.folder, "prompts")]


def pending(run: Run) -> Sequence[Ask]:
    """Return what the run waits for, in an order that no clock decides."""
    order = ("plan", "doubt", "pay", "send")
    return sorted(
        run.state.pending,
        key=lambda ask: next(
            (number for number, what in enumerate(order) if what in (ask.kind, ask.tool)), 9
        ),
    )


def text_of(prompt: Sequence[dict[str, Any]]) -> str:
    """Return everything that a prompt shows, its calls too."""
    return "\n".join(json.dumps(message, ensure_ascii=False) for message in prompt)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        load()
        receive(live)
