"""What a call that people approve costs under a desk, beside the host's own way to ask.

    graph    LangGraph: a node with interrupt(), resumed by Command(resume=...), beside the very same
             graph under `Graph`
    chain    LangChain: HumanInTheLoopMiddleware beside SaysoMiddleware
    smol     smolagents: a tool call of a ToolCallingAgent, which asks nobody and writes nothing,
             beside the same one that `Smol` asks about

One unit of work is a run with one gated call: it is started, pauses, is approved, and goes on to
its end. Hosts with checkpoints keep them in a SQLite file of their own on both sides; ours adds a
desk in another file: the ask, the decision, the intent, the result, and a claim. Both files
sync every commit. Sides take turns in one run, so that noise meets both alike. The tool must
have run once, or the benchmark ends. What a host is missing for is left out.

    python -m benchmarks.adapters [--quick] [--only graph|chain|smol]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median
from typing import Any

from benchmarks import _langgraph as langgraph
from benchmarks import _langgraph_agent as chain
from benchmarks import _smolagents as smolagents
from benchmarks._hurry import IN_A_HURRY
from benchmarks.store import Result
from sayso import Ask, Desk

TASK = "Do what the script says."
numbers = count(1)


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the quick ones only show that it all runs."""

    rounds: int
    runs: int


FULL = Sizes(rounds=7, runs=12)
QUICK = Sizes(rounds=2, runs=1)

Run = Callable[[], object]
Acts = list[object]  # one for each time that a tool ran


# --- the sides --------------------------------------------------------------------------------


def governed(desk: Desk, adapter: Any, given: object, approve: Callable[[Ask], object]) -> Run:  # noqa: ANN401
    """Return a run of an adapter with one ask."""

    def run() -> None:
        run = desk.run(adapter, given, wait=False)
        [ask] = run.asks
        approve(ask)
        desk.crew.take(run.id)
        if run.status != "done":
            raise RuntimeError(f"{run.id} is {run.status}: {run.error}")

    return run


def graph_sides(folder: str, desk: Desk, acts: Acts) -> tuple[Run, Run]:
    plain = langgraph.asking(langgraph.sqlite_saver(f"{folder}/graph.db"), acts.append)
    under = langgraph.asking(langgraph.sqlite_saver(f"{folder}/graph_under.db"), acts.append)
    given = {"order": 1, "answer": ""}

    def theirs() -> None:
        thread = langgraph.thread(next(numbers))
        plain.invoke(given, thread)
        plain.invoke(langgraph.resumed("approve"), thread)

    def approve(ask: Ask) -> None:
        desk.respond(ask, "approve")

    return theirs, governed(desk, langgraph.adapted("refunds", under), given, approve)


def chain_sides(folder: str, desk: Desk, acts: Acts) -> tuple[Run, Run]:
    line, act = scripted(acts)
    plain = chain.reviewed(langgraph.sqlite_saver(f"{folder}/chain.db"), line, act)
    under = chain.governed(langgraph.sqlite_saver(f"{folder}/chain_under.db"), line, act)
    given = {"messages": [{"role": "user", "content": TASK}]}

    def theirs() -> None:
        thread = langgraph.thread(next(numbers))
        plain.invoke(given, thread)
        plain.invoke(chain.approved(), thread)

    return theirs, governed(desk, under, given, desk.approve)


def smol_sides(_: str, desk: Desk, acts: Acts) -> tuple[Run, Run]:
    line, act = scripted(acts)

    def think(shown: Sequence[str], planning: bool) -> smolagents.Line:  # noqa: FBT001
        done = any("worked on tea" in text for text in shown)
        text, subject = line(1 if done else 0)
        return text if subject is None else (subject, text)

    def build() -> smolagents.Agent:
        return smolagents.agent(think, act, max_steps=3)

    return (
        lambda: build().run(TASK),
        governed(desk, smolagents.adapted("small", build), TASK, desk.approve),
    )


def scripted(acts: Acts) -> tuple[chain.Script, Callable[[str], str]]:
    """Return a model that makes one call and then answers, and the tool."""

    def line(number: int) -> tuple[str, str | None]:
        return ("", "tea") if number == 0 else ("done", None)

    def act(subject: str) -> str:
        acts.append(subject)
        return f"worked on {subject}"

    return line, act


# --- measuring --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """One host: what is measured of it, and the most that ours may cost by theirs."""

    name: str
    what: str
    sides: Callable[[str, Desk, Acts], tuple[Run, Run]]
    installed: Callable[[], bool]
    target: float


def chain_installed() -> bool:
    return langgraph.installed() and chain.langchain_installed()


# smolagents' side asks nobody and keeps nothing: what ours costs beside it is the price of asking.
PARTS = (
    Part("graph", "a gated call, Graph by interrupt()", graph_sides, langgraph.installed, 4.0),
    Part("chain", "a gated call, ours by LangChain's", chain_sides, chain_installed, 3.0),
    Part("smol", "a gated call, Smol by a plain one", smol_sides, smolagents.installed, 6.0),
)


def timed(run: Run, acts: Acts) -> float:
    """Run it once, check that the tool ran once, and return the milliseconds that it took."""
    before = len(acts)
    start = time.perf_counter()
    run()
    spent = (time.perf_counter() - start) * 1000
    if len(acts) != before + 1:
        raise RuntimeError(f"the tool ran {len(acts) - before} times")
    return spent


def measure(part: Part, sizes: Sizes, folder: str) -> Iterator[Result]:
    acts: Acts = []
    with Desk(
        f"sqlite:///{folder}/{part.name}_desk.db", agent="benchmark", policy=IN_A_HURRY
    ) as desk:
        theirs, ours = part.sides(folder, desk, acts)
        for run in (theirs, ours):
            timed(run, acts)  # modules loaded, statements prepared
        ratios = []
        for number in range(sizes.rounds):
            pairs = [(timed(theirs, acts), timed(ours, acts)) for _ in range(sizes.runs)]
            one, other = (median(times) for times in zip(*pairs, strict=True))
            ratios.append(other / one)
            print(
                f"  {part.name}, round {number + 1}: theirs {one:.1f} ms, under a desk {other:.1f} "
                f"ms, ratio {ratios[-1]:.2f}"
            )
    yield Result(part.what, median(ratios), "", part.target)


def main() -> None:
    parser = argparse.ArgumentParser(description="What a gated call costs under a desk.")
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    parser.add_argument("--only", choices=tuple(part.name for part in PARTS))
    given = parser.parse_args()
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        for part in PARTS:
            if given.only not in (None, part.name):
                continue
            if not part.installed():
                print(f"The host of {part.name!r} is not installed here. `make bench` installs it.")
                continue
            results += measure(part, QUICK if given.quick else FULL, folder)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
