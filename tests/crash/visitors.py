"""Processes that come, do one thing about a run of the researcher, and are gone; or die at it.

`python -m tests.crash.visitors` forks one for each order it reads: forking is a hundred times
cheaper than starting an interpreter. A visitor can be told to die (kill -9) at its n-th point,
before or after it: a statement that it sends to the database, its model about to think or having
thought, a tool about to act or having acted. Or when it comes by one of these for the n-th time.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from sayso import Ask, Desk, Run
from tests.crash.mortal import Killer, arm
from tests.crash.shop import MOMENTS, note
from tests.forked import freeze
from tests.journeys.library import FOLDER, TASK, done

ROOT = Path(__file__).resolve().parents[2]
Death = tuple[int, str]  # at which point, and before or after it; or how often it came by which
POINTS = ("thinking", "thought", "in the tool", "after the effect")

EDITED = [
    {"title": "Search for recent AI developments", "tool": "search"},
    {"title": "Search for peer-reviewed papers", "tool": "search"},
    {"title": "Analyze the top results", "tool": "read"},
    {"title": "Summarize the 2 most significant breakthroughs", "tool": "publish"},
]
GUIDANCE = "Check each source"


# --- what they do ---


def begin(desk: Desk, thread: str | None = None, more: dict[str, Any] | None = None) -> str:
    """Start a run and carry it on until it waits."""
    from tests.journeys.research import AGENTS  # in the visitor only, whose desks then serve them

    given = {"agent": "researcher", "fresh": False, **(more or {})}
    who = AGENTS[given["agent"]]
    return desk.run(who, TASK, thread=thread, fresh=given["fresh"], wait=False).id


def go_on(desk: Desk, run_id: str) -> str:
    """Carry a run on until it waits or is over."""
    desk.work(until="idle", only=run_id)
    return desk.get_run(run_id).status


def decide(desk: Desk, run_id: str) -> str:
    """Be the person: change the first plan, send the second back, and look before saying more."""
    run = desk.get_run(run_id)
    ask = run.state.pending[0]
    if ask.kind == "doubt":
        return decided_doubt(desk, ask)
    decided = sum(other.kind == "plan" and not other.open for other in run.asks)
    if ask.kind == "plan" and decided == 0:
        return desk.edit(ask, {"steps": EDITED}).status
    if ask.kind == "plan" and decided == 1:
        return desk.respond(ask, GUIDANCE).status
    return desk.approve(ask).status


def settle(desk: Desk, run_id: str, which: int, verdict: str) -> str:
    """Be a person with a list: say this to one of the errands that wait, whichever it is."""
    pending = desk.get_run(run_id).state.pending
    ask = pending[which % len(pending)]
    if ask.kind == "doubt":
        return decided_doubt(desk, ask)
    match verdict:
        case "edit":
            return desk.edit(ask, {"subject": f"fresh {ask.args['subject']}"}).status
        case "reject":
            return desk.reject(ask, "Too dear").status
        case "respond":
            return desk.respond(ask, "We have that").status
        case _:
            return desk.approve(ask).status


def decided_doubt(desk: Desk, ask: Ask) -> str:
    """Look whether it happened, and say so."""
    happened = f"{ask.tool}: {ask.args['subject']}" in done()
    found = f"{ask.args['subject']}: found"
    return (desk.respond(ask, found) if happened else desk.approve(ask)).status


def cancel(desk: Desk, run_id: str) -> str:
    """Be another person: say no to whatever the run waits for."""
    (ask,) = desk.get_run(run_id).state.pending
    return desk.reject(ask, "Not this").status


def approve(desk: Desk, run_id: str) -> str:
    """Be a third one: say yes to it."""
    (ask,) = desk.get_run(run_id).state.pending
    return desk.approve(ask).status


WORK: dict[str, Callable[..., Any]] = {
    "begin": begin,
    "go on": go_on,
    "decide": decide,
    "cancel": cancel,
    "approve": approve,
    "settle": settle,
}


class Complaints(logging.Handler):
    """Notes what the agent complains of: a replay that shows its model something else, above all."""

    def emit(self, record: logging.LogRecord) -> None:
        note(os.environ[FOLDER], "complaints", record.getMessage())


def work_of(name: str) -> Callable[..., Any]:
    """Return what a visitor is to do: something of the above, or `module:function`."""
    module, _, function = name.rpartition(":")
    return getattr(import_module(module), function) if module else WORK[name]


def mark(number: int, where: str) -> None:
    """Arrange for the death of this process."""
    if where in POINTS:
        MOMENTS[where] = Killer(number, "before").pass_by
        return
    killer = Killer(number, where)
    MOMENTS.update(dict.fromkeys(POINTS, killer.pass_by))
    arm(killer)


def live(order: dict[str, Any], report: int) -> None:
    """Be the visitor. Ends the process."""
    try:
        os.environ[FOLDER] = order["folder"]
        logging.getLogger("sayso.agent").addHandler(Complaints())
        desk = Desk(order["url"], agent="research", account="sam@till")
        if order["dies"] is not None:
            mark(*order["dies"])
        result = work_of(order["do"])(desk, *order["args"])
        os.write(report, json.dumps(result).encode())
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def warm_up() -> None:
    """Do everything once, so that no visitor has to load or prepare it anew."""
    import_module("sayso.store.postgres")
    with tempfile.TemporaryDirectory() as folder, Desk(f"sqlite:///{folder}/desk.db") as desk:
        os.environ[FOLDER] = folder
        run = begin(desk)
        while go_on(desk, run) == "waiting":
            decide(desk, run)


def receive(live: Callable[[dict[str, Any], int], None]) -> None:
    """Fork a visitor for each order, and say how each of them ended."""
    freeze()
    for line in sys.stdin:
        theirs, ours = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(theirs)
            live(json.loads(line), ours)
        os.close(ours)
        with os.fdopen(theirs, "rb") as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        came = {"killed": killed, "status": status, "said": json.loads(said) if said else None}
        print(json.dumps(came), flush=True)


# --- in the test ---


@dataclass(frozen=True)
class Visit:
    """How a visit ended."""

    killed: bool
    said: Any


class Door:
    """Lets visitors in, one after the other; a module says who they are."""

    def __init__(self, module: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def visit(
        self,
        url: str,
        folder: Path,
        do: str,
        *args: Any,
        dies: Death | None = None,
    ) -> Visit:
        """Let somebody do something, and wait until they are gone."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"url": url, "folder": str(folder), "do": do, "args": args}
        self._process.stdin.write(json.dumps({**order, "dies": dies}) + "\n")
        self._process.stdin.flush()
        came = json.loads(self._process.stdout.readline())
        assert came["killed"] or came["status"] == 0, f"{do} failed in another way"
        return Visit(came["killed"], came["said"])

    def close(self) -> None:
        self._process.communicate(timeout=30)
        assert self._process.returncode == 0


@contextmanager
def open_door(module: str = "tests.crash.visitors") -> Iterator[Door]:
    """Let visitors in for a block."""
    door = Door(module)
    try:
        yield door
    finally:
        door.close()


@dataclass
class House:
    """One run of the researcher, and whoever comes by until it is over."""

    door: Door
    desk: Desk
    url: str
    folder: Path
    thread: str

    @property
    def run(self) -> Run | None:
        """The last run that anybody began."""
        found = self.desk.runs(thread=self.thread, limit=1)
        return found[0] if found else None

    def visit(self, do: str, *args: Any, dies: Death | None = None) -> Visit:
        return self.door.visit(self.url, self.folder, do, *args, dies=dies)

    def begin(self, **more: Any) -> Run:
        """Let somebody begin; they are gone when this returns, and so are all that follow."""
        return self.desk.get_run(self.visit("begin", self.thread, more).said)

    def then(self, *what: str) -> Run:
        """Let one after the other come by, to `decide`, to `go on` and so on."""
        run = self.run
        assert run is not None
        for do in what:
            self.visit(do, run.id)
        return run

    def through(self) -> Run:
        """Let them come by until the run is over."""
        while (todo := self.next()) is not None:
            self.visit(*todo)
        run = self.run
        assert run is not None
        return run

    def next(self) -> tuple[str, ...] | None:
        """Return what is to be done now, `None` if the run is over."""
        run = self.run
        if run is None:
            return ("begin", self.thread)
        status = run.status
        if status in ("done", "failed", "cancelled", "parked"):
            return None
        return ("decide" if status == "waiting" else "go on", run.id)


def plans(run: Run) -> list[Ask]:
    """The plans that a run had reviewed, in order."""
    return [ask for ask in run.asks if ask.kind == "plan"]


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        warm_up()
        receive(live)
