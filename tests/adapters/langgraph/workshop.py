"""Processes that run graphs: one for each turn, gone before the next one comes.

`python -m tests.adapters.langgraph.workshop` forks one for each order it reads: LangGraph takes a
second to load, and a fork a few milliseconds.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from sayso import Ask, Desk, Run
from sayso.adapters.langgraph import Graph
from sayso.runs.journal import Journal
from tests.adapters.langgraph.async_graphs import ASYNC_GRAPHS
from tests.adapters.langgraph.graphs import FOLDER, struck
from tests.adapters.langgraph.graphs import GRAPHS as PLAIN_GRAPHS
from tests.crash.shop import noted
from tests.places import place_at

ROOT = Path(__file__).resolve().parents[3]
NAME = "graph"
GRAPHS = PLAIN_GRAPHS | ASYNC_GRAPHS


@contextmanager
def saver_at(address: str) -> Iterator[Any]:
    """Open the checkpointer at an address."""
    if address.startswith("postgresql"):
        with PostgresSaver.from_conn_string(address) as saver:
            saver.setup()
            yield saver
    else:
        with SqliteSaver.from_conn_string(address) as saver:
            yield saver


@asynccontextmanager
async def awaited_saver_at(address: str) -> AsyncIterator[Any]:
    """Open the same checkpointer on the event loop that runs here."""
    if address.startswith("postgresql"):
        async with AsyncPostgresSaver.from_conn_string(address) as saver:
            await saver.setup()
            yield saver
    else:
        async with AsyncSqliteSaver.from_conn_string(address) as saver:
            yield saver


@contextmanager
def made_for(order: dict[str, Any]) -> Iterator[Any]:
    """Return what `Graph` is given: the graph, or how it is made on an event loop."""
    builder = GRAPHS[order["graph"]]()
    kind, _, address = order["saver"].partition("aio:")

    @asynccontextmanager
    async def made() -> AsyncIterator[Any]:
        async with awaited_saver_at(address) as saver:
            yield builder.compile(checkpointer=saver, **order["compile"])

    if address:
        yield made
        return
    with saver_at(kind) as saver:
        yield builder.compile(checkpointer=saver, **order["compile"])


def watch() -> None:
    """Let the moment come by at which a turn has ended and is not noted yet."""
    record = Journal.record

    def recorded(self: Any, key: str, verb: str, name: str, **said: Any) -> Any:
        if ":turn-" in name:
            struck(f"dies before noting {name}")
        if name.endswith("by_hand"):
            struck("dies by hand")
        return record(self, key, verb, name, **said)

    Journal.record = recorded  # type: ignore[method-assign]


def live(order: dict[str, Any]) -> None:
    """Be one of the processes. Ends it."""
    try:
        watch()
        FOLDER["at"] = order["folder"]
        with (
            made_for(order) as made,
            Desk(order["url"], agent="shop", account="sam@till", policy=order["policy"]) as desk,
        ):
            graph = Graph(NAME, made, **order["options"])
            while order["flag"] and not Path(order["folder"], order["flag"]).exists():
                time.sleep(0.0005)
            if order["run"] is None:
                desk.run(graph, order["input"], thread=order["thread"], wait=False)
            else:
                desk.work(until="idle", only=order["run"])
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        answer = os.waitpid(order["pid"], 0)[1] if "pid" in order else os.fork()
        if answer == 0 and "pid" not in order:
            live(order)
        print(answer, flush=True)


class Workshop:
    """Starts them."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.adapters.langgraph.workshop"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def say(self, order: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def dismiss(self) -> None:
        self._process.communicate(timeout=30)
        assert self._process.returncode == 0


@dataclass
class Bench:
    """One graph at one desk, as a test sees it from outside."""

    workshop: Workshop
    desk: Desk
    url: str
    saver: str
    folder: Path
    graph: str
    thread: str
    options: dict[str, Any]
    compile: dict[str, Any]
    policy: str | None = None

    def order(self, given: Any = None, *, run: Run | None = None, flag: str = "") -> int:
        """Start a process; returns its number."""
        return self.workshop.say(
            {
                "url": self.url,
                "saver": self.saver,
                "folder": str(self.folder),
                "graph": self.graph,
                "options": self.options,
                "compile": self.compile,
                "policy": self.policy,
                "input": given,
                "thread": self.thread,
                "run": None if run is None else run.id,
                "flag": flag,
            }
        )

    def wait(self, pid: int) -> int:
        """Wait until a process has ended; returns the signal that killed it, or 0."""
        status = self.workshop.say({"pid": pid})
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "it failed in another way"
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0

    def begin(self, given: Any, *, dies: bool = False) -> Run:
        """Start a run in a process that ends when the run waits."""
        assert bool(self.wait(self.order(given))) is dies
        return self.desk.runs(thread=self.thread, limit=1)[0]

    def go(self, run: Run, *, dies: bool = False) -> Run:
        """Carry it on in a new process."""
        assert bool(self.wait(self.order(run=run))) is dies
        if dies:
            self.wait_for_lease(run)
        return run

    def wait_for_lease(self, run: Run) -> None:
        """Be later than whoever died may hold the run."""
        place_at(self.desk.store.url).lapse(run.id)

    def dies(self, moment: str = "dies after acting") -> None:
        """Arrange that the next process to come by dies."""
        (self.folder / moment).touch()

    def answer(self, run: Run, answer: object, title: str | None = None) -> Run:
        """Answer what is asked, and carry the run on."""
        self.desk.respond(self.ask(run, title), answer)
        return self.go(run)

    def ask(self, run: Run, title: str | None = None) -> Ask:
        """Return the open ask of this title; the only open one, if none is named."""
        found = [ask for ask in run.asks if ask.open and title in (None, ask.title)]
        assert len(found) == 1, (title, [(a.title, a.status) for a in run.asks], run.error)
        return found[0]

    @property
    def did(self) -> list[str]:
        """What was done to the world, in order."""
        return noted(self.folder, "did")

    @contextmanager
    def thread_here(self) -> Iterator[tuple[Any, Any]]:
        """The compiled graph and its thread, for somebody who goes around us."""
        FOLDER["at"] = str(self.folder)
        with saver_at(self.saver.removeprefix("aio:")) as saver:
            compiled = GRAPHS[self.graph]().compile(checkpointer=saver, **self.compile)
            yield compiled, {"configurable": {"thread_id": self.thread}}


def forget(saver: str) -> None:
    """Empty a SQLite checkpointer, as somebody would who restores an old backup."""
    with sqlite3.connect(saver) as file:
        file.executescript("delete from checkpoints; delete from writes")


if __name__ == "__main__":
    main()
