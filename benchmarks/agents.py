"""What the loop of an agent costs without its model, beside LangGraph's and smolagents' loops.

    step     a reply of the model and one plain tool call: microseconds, in memory and on a SQLite
             file. Ours writes the intent of the call durably before it and the reply with it;
             LangGraph writes a checkpoint after each; smolagents keeps nothing but its memory
    growth   400 turns of 1 KB by the model and 1 KB by the tool: time of a turn early and late,
             bytes on disk by the size of the messages, and what it takes to resume the run

All sides follow the same script and take turns in one run, so that noise meets all alike;
what their tools were called with is checked. A desk is always a file, because others must see
it: "in memory" ours is a file on /dev/shm, which pays for every system call and no disk.
LangGraph and smolagents are in requirements/bench.txt; without them ours is measured alone.

    python -m benchmarks.agents [--quick] [--only step|growth]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from statistics import median

import sayso
from benchmarks import _langgraph as langgraph
from benchmarks import _langgraph_agent as graph_agent
from benchmarks import _smolagents as smolagents
from benchmarks._hurry import IN_A_HURRY
from benchmarks.cycle import KB, bytes_of, message
from benchmarks.store import Result
from sayso import Desk
from sayso.agent import Message, Prompt, Reply, ToolCall
from sayso.model.digest import canonical

SHM = Path("/dev/shm")  # a file system in memory, where there is one
TASK = "Do what the script says."
numbers = count(1)


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the quick ones only show that it all runs."""

    rounds: int
    runs: int
    steps: int
    turns: int
    window: int


FULL = Sizes(rounds=7, runs=6, steps=20, turns=400, window=50)
QUICK = Sizes(rounds=2, runs=1, steps=3, turns=8, window=2)


# --- one script for everybody -----------------------------------------------------------------


class Script:
    """So many turns, each with a text by the model and a text by the tool, then an answer."""

    def __init__(self, turns: int, *, size: int = 20) -> None:
        self.turns = turns
        texts = [message(number)[:size] for number in range(2 * turns)]
        self._said, self._found = texts[:turns], texts[turns:]
        self.at: list[float] = []  # when the tool was called

    def line(self, number: int) -> tuple[str, str | None]:
        """Return what the model says in a turn, and the subject of its call, if it makes one."""
        if number >= self.turns:
            return "done", None
        return self._said[number], f"subject {number}"

    def act(self, subject: str) -> str:
        self.at.append(time.perf_counter())
        number = len(self.at) - 1
        if subject != f"subject {number}":
            raise RuntimeError(f"call {number} was about {subject}")
        return self._found[number]

    @property
    def history(self) -> int:
        """The bytes of its messages as JSON: what the model is shown in the end."""
        shown: list[Message] = []
        for number in range(self.turns):
            call = ToolCall(f"call-{number}", "work", {"subject": f"subject {number}"})
            shown += [
                Message(role="assistant", text=self._said[number], calls=(call,)),
                Message(role="tool", text=self._found[number], call=call.id, tool="work"),
            ]
        return sum(len(canonical(message.json)) for message in shown)

    def took(self, run: Callable[[], object]) -> float:
        """Run it once, check that it did all of it, and return the seconds that it took."""
        self.at.clear()
        start = time.perf_counter()
        answer = run()
        spent = time.perf_counter() - start
        if answer != "done" or len(self.at) != self.turns:
            raise RuntimeError(f"{len(self.at)} calls of {self.turns}, and the answer {answer!r}")
        return spent


# --- the sides --------------------------------------------------------------------------------


class Ours:
    """An agent of sayso; `asks` makes it ask a person before the last call of its script."""

    def __init__(self, desk: Desk, script: Script, *, asks: bool = False) -> None:
        self.desk, self._script = desk, script

        def work(subject: str) -> str:
            """Work on something."""
            return script.act(subject)

        @sayso.tool(risk="high")
        def publish(subject: str) -> str:
            """Put it where everybody reads it."""
            return script.act(subject)

        self._last = "publish" if asks else "work"
        self.agent = sayso.Agent(
            f"looper-{next(numbers)}", self, [work, publish], max_steps=script.turns + 1
        )

    def reply(self, prompt: Prompt) -> Reply:
        number = prompt.number - 1
        text, subject = self._script.line(number)
        if subject is None:
            return Reply(text=text)
        tool = self._last if number == self._script.turns - 1 else "work"
        return Reply(text=text, calls=(ToolCall("", tool, {"subject": subject}),))

    def run(self) -> object:
        return self.desk.run(self.agent, TASK, wait=False).output


def graphed(saver: langgraph.Saver, script: Script) -> Callable[[], object]:
    """Return LangGraph's agent, ready to run; every run is a thread of its own."""
    graph = graph_agent.agent(saver, script.line, script.act)

    def run() -> object:
        config = {**langgraph.thread(next(numbers)), "recursion_limit": 10 * script.turns + 25}
        ended = graph.invoke({"messages": [("user", TASK)]}, config)
        return ended["messages"][-1].content

    return run


def small(script: Script) -> Callable[[], object]:
    """Return smolagents' agent, ready to run."""

    def line(shown: Sequence[str], planning: bool) -> smolagents.Line:  # noqa: FBT001
        text, subject = script.line(len(script.at))
        return text if subject is None else (subject, text)

    agent = smolagents.agent(line, script.act, max_steps=script.turns + 1)
    return lambda: agent.run(TASK)


# --- step -------------------------------------------------------------------------------------

Run = Callable[[], object]


def step_sides(script: Script, folder: str, shm: str | None, desks: list[Desk]) -> dict[str, Run]:
    """Return every side by its name."""

    def ours(place: str) -> Run:
        desks.append(Desk(f"sqlite:///{place}/ours.db", agent="benchmark", policy=IN_A_HURRY))
        return Ours(desks[-1], script).run

    sides: dict[str, Run] = {"ours, SQLite": ours(folder)}
    if shm is not None:
        sides["ours, in memory"] = ours(shm)
    if langgraph.installed():
        saver = langgraph.sqlite_saver(f"{folder}/theirs.db")
        sides["LangGraph, SQLite"] = graphed(saver, script)
        sides["LangGraph, in memory"] = graphed(graph_agent.memory_saver(), script)
    if smolagents.installed():
        sides["smolagents, in memory"] = small(script)
    return sides


def measure_step(sizes: Sizes, folder: str, shm: str | None) -> Iterator[Result]:
    script, desks = Script(sizes.steps), list[Desk]()
    sides = step_sides(script, folder, shm, desks)
    for run in sides.values():
        script.took(run)  # statements prepared, schemas made
    found: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(sizes.rounds):
        spent: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(sizes.runs):
            for name, run in sides.items():
                spent[name].append(script.took(run) / sizes.steps * 1e6)
        for name, times in spent.items():
            found[name].append(median(times))
        said = ", ".join(f"{name}: {times[-1]:,.0f}" for name, times in found.items())
        print(f"  round {number + 1}, microseconds a step: {said}")
    for desk in desks:
        desk.close()
    yield from _ratios(found)


# How a step of theirs compares with one of ours. smolagents writes nothing down: what ours may cost
# beside it is the price of a journal.
RATIOS = (
    ("LangGraph, SQLite", "ours, SQLite", 4.0),
    ("LangGraph, in memory", "ours, in memory", 8.0),
    ("smolagents, in memory", "ours, in memory", 0.33),
)


def _ratios(found: dict[str, list[float]]) -> Iterator[Result]:
    for theirs, ours, target in RATIOS:
        if theirs in found and ours in found:
            times = [one / other for one, other in zip(found[theirs], found[ours], strict=True)]
            what = f"a step of {theirs}, by one of ours"
            yield Result(what, median(times), "", target, "at least")


# --- growth -----------------------------------------------------------------------------------


def windows(at: Sequence[float], size: int) -> list[float]:
    """Return the microseconds of a turn, from one point of the run to the next."""
    marks = [*range(0, len(at) - 1, size), len(at) - 1]
    return [(at[end] - at[begin]) / (end - begin) * 1e6 for begin, end in pairwise(marks)]


def told(name: str, took: Sequence[float], bytes_: int | None, history: int) -> None:
    """Print how a run grew."""
    times = " ".join(f"{one:,.0f}" for one in took)
    disk = (
        "" if bytes_ is None else f"; {bytes_:,} bytes, times its messages {bytes_ / history:.2f}"
    )
    print(f"  {name}: microseconds a turn {times}{disk}")


def resumed(desk: Desk, turns: int) -> float:
    """Return the milliseconds it takes to resume a run of so many turns for one more call."""
    script = Script(turns, size=KB)
    ours = Ours(desk, script, asks=True)
    run = desk.run(ours.agent, TASK, wait=False)
    [ask] = run.asks
    desk.approve(ask)
    start = time.perf_counter()
    desk.crew.take(run.id)
    spent = time.perf_counter() - start
    if run.output != "done" or len(script.at) != turns:
        raise RuntimeError(f"{run.id} is {run.status}: {run.error}")
    return spent * 1000


def grown(folder: str, script: Script) -> int:
    """Run the script once on a desk of its own; returns the bytes of its file."""
    path = f"{folder}/growth_{next(numbers)}.db"
    with Desk(f"sqlite:///{path}", agent="benchmark", policy=IN_A_HURRY) as desk:
        script.took(Ours(desk, script).run)
    return bytes_of(path)


def measure_growth(sizes: Sizes, folder: str) -> Iterator[Result]:
    script = Script(sizes.turns, size=KB)
    history, empty, bytes_ = script.history, grown(folder, Script(0)), 0
    found: list[list[float]] = []
    for _ in range(sizes.rounds):
        bytes_ = grown(folder, script)
        found.append(windows(script.at, sizes.window))
    took = [median(times) for times in zip(*found, strict=True)]
    told("ours, SQLite", took, bytes_, history)
    print(f"  ours without a turn: {empty:,} bytes, nearly all of it empty tables")
    _their_growth(sizes, script, folder, history)
    yield Result("a late turn of ours by an early one", took[-1] / took[0], "", 1.5)
    yield Result("bytes that turns add by their messages", (bytes_ - empty) / history, "", 1.6)
    yield from _resuming(sizes, folder)


def _resuming(sizes: Sizes, folder: str) -> Iterator[Result]:
    few, many = sizes.turns // 4, sizes.turns
    took: dict[int, list[float]] = {few: [], many: []}
    with Desk(f"sqlite:///{folder}/resumed.db", agent="benchmark", policy=IN_A_HURRY) as desk:
        resumed(desk, 1)
        for _ in range(sizes.rounds):
            for turns, times in took.items():
                times.append(resumed(desk, turns))
    for turns, times in took.items():
        print(f"  ours, resumed after {turns} turns: {median(times):.0f} ms")
    a_turn = {turns: median(times) / turns for turns, times in took.items()}
    yield Result("a turn replayed, of many by of few", a_turn[many] / a_turn[few], "", 1.5)


def _their_growth(sizes: Sizes, script: Script, folder: str, history: int) -> None:
    if langgraph.installed():
        saver = langgraph.sqlite_saver(f"{folder}/their_growth.db")
        script.took(graphed(saver, script))
        saver.conn.close()
        bytes_ = bytes_of(f"{folder}/their_growth.db")
        told("LangGraph, SQLite", windows(script.at, sizes.window), bytes_, history)
        script.took(graphed(graph_agent.memory_saver(), script))
        told("LangGraph, in memory", windows(script.at, sizes.window), None, history)
    if smolagents.installed():
        script.took(small(script))
        told("smolagents, in memory", windows(script.at, sizes.window), None, history)


# ----------------------------------------------------------------------------------------------

PARTS = ("step", "growth")


def main() -> None:
    parser = argparse.ArgumentParser(description="What the loop of an agent costs.")
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    parser.add_argument("--only", choices=PARTS)
    given = parser.parse_args()
    for peer in (langgraph, smolagents):
        if not peer.installed():
            print(peer.MISSING)
    sizes = QUICK if given.quick else FULL
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        if given.only in (None, "step"):
            print("step")
            if SHM.is_dir():
                with tempfile.TemporaryDirectory(prefix="sayso-", dir=SHM) as shm:
                    results += measure_step(sizes, folder, shm)
            else:
                results += measure_step(sizes, folder, None)
        if given.only in (None, "growth"):
            print("growth")
            results += measure_growth(sizes, folder)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
