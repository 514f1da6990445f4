"""What a durable run costs: beside LangGraph, and beside the least that any program could do.

    question   start + pause, decide, resume + end: three synced commits and a claim
    effect     the same with a guarded tool call: four, because its intent is durable before it
               and its result after it. LangGraph's side of it protects neither
    together   16 runs at once in one process, beside one at a time; with an instant tool and
               with one that takes 5 ms
    disk       what a run with a long history takes, by the size of that history
    replay     what it takes to resume a run of so many steps
    import     `import sayso`, beside `import pydantic`

Bare SQL writes rows like ours with the same commits, checks nothing and hashes nothing.
LangGraph is set up as its documentation says, with fully synced commits; without it (it is
in requirements/bench.txt) only the floor is measured. All sides of a comparison take turns
in one run, everybody's answers and calls are checked, and the ratio is the result.

    python -m benchmarks.cycle [--quick] [--only question|effect|together|disk|replay|import]
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from statistics import median

import sayso
from benchmarks import _langgraph as langgraph
from benchmarks import store
from benchmarks._bare import BARE, Sample
from benchmarks.store import Database, Result, databases, importing
from sayso import Desk, Running


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the quick ones only show that it all runs."""

    rounds: int
    cycles: int
    at_once: int
    messages: int
    turns: int
    steps: tuple[int, ...]
    imports: int


FULL = Sizes(
    rounds=7,
    cycles=150,
    at_once=640,
    messages=1_000,
    turns=400,
    steps=(1_000, 5_000, 10_000, 20_000),
    imports=15,
)
QUICK = Sizes(
    rounds=2,
    cycles=5,
    at_once=32,
    messages=20,
    turns=6,
    steps=(20, 40),
    imports=2,
)

KB = 1024
Cycle = Callable[[int], object]  # one whole run; it is given a number of its own
numbers = count(1)


# --- three sides of one cycle -----------------------------------------------------------------


class World:
    """What runs do to the world: how often each order was refunded, what each was told."""

    def __init__(self, *, takes: float = 0.0) -> None:
        self.refunds: Counter[int] = Counter()
        self.told: dict[int, str] = {}
        self._takes = takes

    def refund(self, order: int) -> None:
        if self._takes:
            time.sleep(self._takes)
        self.refunds[order] += 1

    def check(self, order: int, *, effect: bool) -> None:
        """Raises: RuntimeError: a run did not do what it is measured by."""
        done = self.refunds[order] == 1 if effect else self.told.get(order) == "42"
        if not done:
            raise RuntimeError(
                f"run {order} was refunded {self.refunds[order]} times, was told "
                f"{self.told.get(order)!r}"
            )


class Ours:
    """Runs of sayso: paused by one call, decided by another, carried on by a worker."""

    def __init__(self, desk: Desk, world: World) -> None:
        self.desk = desk
        self._world = world

        @sayso.tool(name="refund", risk="high")
        def refund(order: int) -> str:
            world.refund(order)
            return "refunded"

        @desk.workflow(name="asking")
        def asking(run: Running, order: int) -> object:
            world.told[order] = run.question("May this be refunded?")
            return world.told[order]

        @desk.workflow(name="acting")
        def acting(run: Running, order: int) -> object:
            return run.call(refund, order)

        self._flows = {False: asking, True: acting}

    def start(self, number: int, *, effect: bool) -> str:
        return self.desk.run(self._flows[effect], number, wait=False).id

    def cycle(self, number: int, *, effect: bool) -> None:
        run = self.desk.run(self._flows[effect], number, wait=False)
        [ask] = run.asks
        if effect:
            self.desk.approve(ask)
        else:
            self.desk.respond(ask, "42")
        self.desk.crew.take(run.id)
        self._world.check(number, effect=effect)


class Theirs:
    """The same by LangGraph, whose `invoke` both starts and resumes."""

    def __init__(self, saver: langgraph.Saver, world: World) -> None:
        self._world = world
        self._graphs = {
            False: langgraph.asking(saver),
            True: langgraph.asking(saver, world.refund),
        }

    def cycle(self, number: int, *, effect: bool) -> None:
        graph, thread = self._graphs[effect], langgraph.thread(number)
        paused = graph.invoke({"order": number, "answer": ""}, thread)
        if "__interrupt__" not in paused:
            raise RuntimeError(f"LangGraph did not pause: {paused}")
        ended = graph.invoke(langgraph.resumed("approve" if effect else "42"), thread)
        self._world.told[number] = ended["answer"]
        self._world.check(number, effect=effect)


def rates(sides: Mapping[str, Cycle], cycles: int) -> dict[str, float]:
    """Return runs per second of every side.

    They take turns with every run, so that noise meets all alike, and the median counts.
    """
    spent: dict[str, list[float]] = {name: [] for name in sides}
    order = list(sides)
    for _ in range(cycles):
        order.append(order.pop(0))
        for name in order:
            number = next(numbers)
            start = time.perf_counter()
            sides[name](number)
            spent[name].append(time.perf_counter() - start)
    return {name: 1 / median(times) for name, times in spent.items()}


@dataclass(frozen=True)
class Goal:
    name: str
    what: str
    effect: bool
    times: dict[str, float]  # as fast as LangGraph, by database


GOALS = {
    "question": Goal("question", "question", effect=False, times={"SQLite": 5, "PostgreSQL": 3}),
    "effect": Goal("effect", "guarded call", effect=True, times={"SQLite": 4, "PostgreSQL": 3}),
}


@contextmanager
def sides(database: Database, goal: Goal, folder: str) -> Iterator[dict[str, Cycle]]:
    """Give every side of the comparison a database of its own."""
    effect, world = goal.effect, World()
    with database.desk(f"{goal.name}_ours") as desk, database.desk(f"{goal.name}_bare") as other:
        ours = Ours(desk, world)
        connection = database.connect(f"{goal.name}_bare")
        sampled = Ours(other, World())
        sample = Sample.take(other, connection, lambda: sampled.start(0, effect=effect))
        bare = BARE[database.name](connection, sample, world.refund if effect else None)
        found: dict[str, Cycle] = {
            "ours": lambda number: ours.cycle(number, effect=effect),
            "bare": lambda number: bare.cycle(number),
            "unclaimed": lambda number: bare.cycle(number, claims=False),
        }
        if langgraph.installed():
            on_sqlite, name = database.name == "SQLite", f"{goal.name}_peer"
            place = f"{folder}/{name}.db" if on_sqlite else database.address(name)
            theirs = Theirs(langgraph.saver_of(database.name, place), world)
            found["LangGraph"] = lambda number: theirs.cycle(number, effect=effect)
        yield found
        bare.check()
        connection.close()


def measure_cycle(goal: Goal, database: Database, sizes: Sizes, folder: str) -> Iterator[Result]:
    floor, peer = [], []
    with sides(database, goal, folder) as found:
        rates(found, 10 if sizes is FULL else 1)  # statements prepared, files grown
        for number in range(sizes.rounds):
            rate = rates(found, sizes.cycles)
            floor.append(rate["ours"] / rate["bare"])
            line = (
                f"  round {number + 1}: {rate['ours']:6.0f} runs/s, bare {rate['bare']:6.0f}/s,"
                f" ratio {floor[-1]:.2f} ({rate['ours'] / rate['unclaimed']:.2f} beside a floor"
                " that claims nothing)"
            )
            if "LangGraph" in rate:
                peer.append(rate["ours"] / rate["LangGraph"])
                line += f"; LangGraph {rate['LangGraph']:4.0f}/s, times {peer[-1]:.1f}"
            print(line)
    what = f"{database.name}: {goal.what}"
    yield Result(f"{what}, beside bare SQL", median(floor), "", 0.6, "at least")
    if peer:
        yield Result(
            f"{what}, by LangGraph", median(peer), "", goal.times[database.name], "at least"
        )


# --- together ---------------------------------------------------------------------------------

AT_ONCE = 16


def rate_of(cycle: Cycle, threads: int, total: int) -> float:
    """Return runs per second with so many at once."""
    with ThreadPoolExecutor(threads) as pool:
        given = [next(numbers) for _ in range(total)]
        start = time.perf_counter()
        for _ in pool.map(cycle, given):
            pass
        return total / (time.perf_counter() - start)


def measure_together(database: Database, sizes: Sizes) -> Iterator[Result]:
    kinds = (
        ("question", False, 0.0, 1.5),
        ("instant tool", True, 0.0, 1.5),
        ("tool of 5 ms", True, 0.005, 5.0),
    )
    for place, (what, effect, takes, target) in enumerate(kinds):
        ratios = []
        with database.desk(f"together_{place}") as desk:
            ours = Ours(desk, World(takes=takes))

            def cycle(number: int, ours: Ours = ours, effect: bool = effect) -> None:  # noqa: FBT001
                ours.cycle(number, effect=effect)

            rate_of(cycle, AT_ONCE, AT_ONCE)
            for number in range(sizes.rounds):
                alone = rate_of(cycle, 1, max(1, sizes.at_once // 4))
                many = rate_of(cycle, AT_ONCE, sizes.at_once)
                ratios.append(many / alone)
                print(
                    f"  {what}, round {number + 1}: alone {alone:5.0f} runs/s,"
                    f" {AT_ONCE} at once {many:5.0f}/s, times {ratios[-1]:.2f}"
                )
        yield Result(
            f"SQLite: {AT_ONCE} at once by alone, {what}", median(ratios), "", target, "at least"
        )


# --- disk -------------------------------------------------------------------------------------

_RANDOM = random.Random(1)
_WORDS = ["".join(_RANDOM.choices("abcdefghijklmnopqrstuvwxyz", k=1 + n % 9)) for n in range(3_000)]


def message(number: int) -> str:
    """Return a text of 1 KB, another one for every number, of words like those of a language."""
    chosen = random.Random(number).choices(_WORDS, k=400)
    return " ".join(chosen)[:KB]


def bytes_of(path: str) -> int:
    """Return the size of a SQLite file with nothing left in its log."""
    connection = sqlite3.connect(path)
    connection.execute("pragma wal_checkpoint(truncate)")
    connection.close()
    return Path(path).stat().st_size


def paused_with(database: Database, folder: str, name: str, messages: int) -> int:
    """Return the bytes of a run that made so many messages and waits for a person."""
    with database.desk(name) as desk:

        @desk.workflow(name="long")
        def long(run: Running, messages: int) -> object:
            for number in range(messages):
                run.step(message, number)
            return run.question("Go on?")

        _check_waits(desk.run(long, messages, wait=False))
    return bytes_of(f"{folder}/{name}.db")


def chatted(database: Database, folder: str, name: str, turns: int) -> int:
    """Return the bytes of a run in which a person said 1 KB to every 1 KB."""
    with database.desk(name) as desk:

        @desk.workflow(name="chat")
        def chat(run: Running) -> object:
            for number in range(10**9):
                run.step(message, number)
                run.question("What next?")
            return ""

        run = desk.run(chat, wait=False)
        for number in range(turns):
            [ask] = desk.inbox(run=run.id).asks
            desk.respond(ask, message(-1 - number))
            desk.crew.take(run.id)
        _check_waits(run)
        if len(run.asks) != turns + 1:
            raise RuntimeError(f"{turns} turns left {len(run.asks)} asks")
    return bytes_of(f"{folder}/{name}.db")


def _check_waits(run: sayso.Run) -> None:
    if run.status != "waiting":
        raise RuntimeError(f"{run.id} is {run.status}, not waiting: {run.error}")


def their_bytes(folder: str, name: str, sizes: Sizes, *, turns: bool) -> int:
    """Return the bytes of the same in LangGraph: paused with a history, or so many turns."""
    path = f"{folder}/{name}.db"
    saver, thread = langgraph.sqlite_saver(path), langgraph.thread(name)
    if turns:
        graph = langgraph.remembering(saver, reply=message)
        for number in range(sizes.turns):
            graph.invoke({"messages": [message(-1 - number)]}, thread)
        held = len(graph.get_state(thread).values["messages"])
        if held != 2 * sizes.turns:
            raise RuntimeError(f"LangGraph remembers {held} messages")
    else:
        graph = langgraph.remembering(saver)
        paused = graph.invoke({"messages": [message(n) for n in range(sizes.messages)]}, thread)
        if "__interrupt__" not in paused:
            raise RuntimeError("LangGraph did not pause")
    saver.conn.close()
    return bytes_of(path)


def measure_disk(database: Database, sizes: Sizes, folder: str) -> Iterator[Result]:
    history, talk = sizes.messages * KB, 2 * sizes.turns * KB
    paused = paused_with(database, folder, "paused", sizes.messages)
    steps = paused_with(database, folder, "steps", 2 * sizes.turns)
    half = chatted(database, folder, "half", sizes.turns // 2)
    whole = chatted(database, folder, "whole", sizes.turns)
    empty = paused_with(database, folder, "empty", 0)
    print(f"  a paused run with nothing: {empty:,} bytes, nearly all of it empty tables")
    print(f"  {sizes.messages:,} messages of 1 KB: {paused:,} bytes")
    print(f"  {sizes.turns} turns of two steps of 1 KB: {steps:,} bytes")
    print(
        f"  {sizes.turns} turns, 1 KB by a person in each: {whole:,} bytes, half as many {half:,}"
    )
    if langgraph.installed():
        mine = their_bytes(folder, "their_paused", sizes, turns=False)
        print(
            f"  LangGraph, paused with {sizes.messages:,} messages: {mine:,} bytes, times its history"
            f" {mine / history:.2f}"
        )
        grown = their_bytes(folder, "their_turns", sizes, turns=True)
        print(
            f"  LangGraph, {sizes.turns} turns: {grown:,} bytes, times its history"
            f" {grown / talk:.0f}"
        )
    yield Result("paused run by its messages of 1 KB", paused / history, "", 1.35)
    yield Result("turns of two steps by their history", steps / talk, "", 1.6)
    yield Result("turns with a person by their history", whole / talk, "", 1.6)
    second, first = whole - half, half - empty
    yield Result("growth of the second half by the first", second / max(1, first), "", 1.2)


# --- replay -----------------------------------------------------------------------------------


def one(number: int) -> int:
    return number


def resume_of(desk: Desk, steps: int) -> float:
    """Return how many milliseconds a run of so many steps takes to resume and end."""
    ran: list[int] = []

    @desk.workflow(name=f"replay {steps}")
    def replay(run: Running) -> object:
        for number in range(steps):
            run.step(one, number)
        answer = run.question("Go on?")
        ran.append(steps)
        return answer

    run = desk.run(replay, wait=False)
    [ask] = desk.inbox(run=run.id).asks
    desk.respond(ask, "yes")
    start = time.perf_counter()
    desk.crew.take(run.id)
    took = time.perf_counter() - start
    if ran != [steps] or run.status != "done":
        raise RuntimeError(f"{run.id} is {run.status} after {ran}")
    return took * 1000


def measure_replay(database: Database, sizes: Sizes) -> Iterator[Result]:
    with database.desk("replay") as desk:
        resume_of(desk, 2)
        took = {steps: resume_of(desk, steps) for steps in sizes.steps}
    for steps, milliseconds in took.items():
        print(
            f"  {steps:6,} steps: {milliseconds:6.0f} ms,"
            f" {milliseconds * 1000 / steps:4.0f} microseconds a step"
        )
    least, most = sizes.steps[0], sizes.steps[-1]
    target = 10_000 if 10_000 in took else most
    yield Result(f"resume of {target:,} steps", took[target], "ms", 1_000)
    a_step = {steps: milliseconds / steps for steps, milliseconds in took.items()}
    yield Result(
        "a step of the longest run by one of the shortest", a_step[most] / a_step[least], "", 1.5
    )


# --- import -----------------------------------------------------------------------------------


def measure_import(sizes: Sizes) -> Iterator[Result]:
    if langgraph.installed():
        importing("langgraph.graph")
        theirs = median(importing("langgraph.graph") for _ in range(max(1, sizes.imports // 3)))
        print(f"  import langgraph.graph {theirs:.0f} ms")
    yield from store.measure_import(replace(store.QUICK, imports=sizes.imports))


# ----------------------------------------------------------------------------------------------

PARTS = ("import", "question", "effect", "together", "disk", "replay")


def measured(part: str, both: list[Database], sizes: Sizes, folder: str) -> Iterator[Result]:
    sqlite = both[0]
    for database in both if part in GOALS else [sqlite]:
        print(f"{part}, {database.name}", flush=True)
        if part in GOALS:
            yield from measure_cycle(GOALS[part], database, sizes, folder)
        elif part == "together":
            yield from measure_together(sqlite, sizes)
        elif part == "disk":
            yield from measure_disk(sqlite, sizes, folder)
        else:
            yield from measure_replay(sqlite, sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description="What a durable run costs.")
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    parser.add_argument("--only", choices=PARTS)
    given = parser.parse_args()
    sizes = QUICK if given.quick else FULL
    if not langgraph.installed():
        print(langgraph.MISSING)
    parts = PARTS if given.only is None else [given.only]
    results: list[Result] = []
    if "import" in parts:
        print("import")
        results += measure_import(sizes)
    with databases() as both:
        folder = str(Path(both[0].address("any").removeprefix("sqlite:///")).parent)
        for part in parts:
            if part != "import":
                results += measured(part, both, sizes, folder)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
