"""A fleet reckoned from what was measured: events in time, no queueing formulas.

A run that is carried on needs its worker's interpreter and a core for some time, a core of the
database for some time, and one sync of its disk, which serves all who wait for it. `benchmarks.fleet`
measures the three and writes build/fleet.json. First the model says what 1, 2 and 4 workers should
have done where that was measured, beside what they did; then what a larger fleet would do.

    python -m benchmarks.fleet_model [--costs FILE] [--decisions 1000] [--server-cores 8]
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.fleet import KEPT

TRIPS = 4  # to the database a run: the wake-up, the claim, the journal, the end
BUSY = 0.7  # of what a core can do, planned for


@dataclass(frozen=True)
class Costs:
    """What one run takes, in seconds."""

    worker: float
    server: float
    sync: float

    @classmethod
    def read(cls, measured: dict[str, Any]) -> Costs:
        return cls(*(measured[name] / 1000 for name in ("worker_ms", "server_ms", "sync_ms")))


# --- events in time ---------------------------------------------------------------------------

Step = Callable[[Callable[[], None]], None]  # is given what comes next, and calls it when it may
Life = Generator[Step, None, None]


class World:
    """A clock and what is to happen."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    def at(self, delay: float, then: Callable[[], None]) -> None:
        heapq.heappush(self._due, (self.now + delay, next(self._order), then))

    def wait(self, delay: float) -> Step:
        return lambda then: self.at(delay, then)

    def live(self, life: Life) -> None:
        step = next(life, None)
        if step is not None:
            step(lambda: self.live(life))

    def run(self, until: float) -> None:
        while self._due and self._due[0][0] <= until:
            self.now, _, then = heapq.heappop(self._due)
            then()


class Places:
    """So many at a time; the others queue."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._queue: deque[Callable[[], None]] = deque()

    def take(self, then: Callable[[], None]) -> None:
        if self._free:
            self._free -= 1
            then()
        else:
            self._queue.append(then)

    def leave(self) -> None:
        if self._queue:
            self._queue.popleft()()
        else:
            self._free += 1


class Disk:
    """Syncs one after the other; each serves all who came before it began."""

    def __init__(self, world: World, takes: float) -> None:
        self._world = world
        self._takes = takes
        self._waiting: list[Callable[[], None]] = []
        self._busy = False

    def sync(self, then: Callable[[], None]) -> None:
        self._waiting.append(then)
        if not self._busy:
            self._begin()

    def _begin(self) -> None:
        served, self._waiting = self._waiting, []
        self._busy = bool(served)
        if served:
            self._world.at(self._takes, lambda: self._end(served))

    def _end(self, served: list[Callable[[], None]]) -> None:
        for then in served:
            then()
        self._begin()


class Fleet:
    """Worker processes, the cores they have, and the database."""

    def __init__(
        self, costs: Costs, workers: int, *, cores: Places, server: Places, threads: int
    ) -> None:
        self.world = World()
        self.costs = costs
        self.cores, self.server = cores, server
        self.interpreters = [Places(1) for _ in range(workers)]
        self.hands = [Places(threads) for _ in range(workers)]
        self.disk = Disk(self.world, costs.sync)
        self.done: list[float] = []  # how long each run took, from its decision on

    def carry_on(self, worker: int) -> Life:
        """Go through one run: turns of the interpreter and of the database, then the disk."""
        decided = self.world.now
        yield self.hands[worker].take
        for trip in range(TRIPS):
            yield self.interpreters[worker].take
            yield self.cores.take
            yield self.world.wait(self.costs.worker / TRIPS)
            self.cores.leave()
            self.interpreters[worker].leave()
            yield self.server.take
            yield self.world.wait(self.costs.server / TRIPS)
            self.server.leave()
            if trip == TRIPS - 1:
                yield self.disk.sync
        self.hands[worker].leave()
        self.done.append(self.world.now - decided)


def rate_with_backlog(costs: Costs, workers: int, *, cores: int, threads: int) -> float:
    """Return runs per second where all share one machine and there is always more to do."""
    shared = Places(cores)
    fleet = Fleet(costs, workers, cores=shared, server=shared, threads=threads)

    def hand(worker: int) -> Life:
        while True:
            yield from fleet.carry_on(worker)

    for worker in range(workers):
        for _ in range(threads):
            fleet.world.live(hand(worker))
    fleet.world.run(20.0)
    return len(fleet.done) / 20.0


def latencies(
    costs: Costs, workers: int, *, decisions: float, server_cores: int, threads: int
) -> list[float]:
    """Return what runs took that became ready at random, each worker with a core of its own."""
    fleet = Fleet(
        costs, workers, cores=Places(workers), server=Places(server_cores), threads=threads
    )
    chance = random.Random(1)

    def arrivals() -> Life:
        for number in count():
            yield fleet.world.wait(chance.expovariate(decisions))
            fleet.world.live(fleet.carry_on(number % workers))

    fleet.world.live(arrivals())
    fleet.world.run(10.0)
    return fleet.done


# --- what it comes to -------------------------------------------------------------------------


def validated(measured: dict[str, Any], costs: Costs) -> None:
    """Print what the model says of the machine that was measured, beside what it did."""
    print(f"  measured {measured['date']} on {measured['machine']}")
    for workers, rate in measured["rates"]["ours"].items():
        said = rate_with_backlog(
            costs, int(workers), cores=measured["cores"], threads=measured["threads"]
        )
        print(
            f"  {workers} workers: model {said:.0f}/s, measured {rate:.0f}/s, ratio {said / rate:.2f}"
        )


def planned(costs: Costs, decisions: float, server_cores: int, threads: int) -> None:
    """Print what a larger fleet needs, and what it would do."""
    # A decision is taken to cost the database as much as carrying the run on: it costs less.
    needed = decisions * 2 * costs.server / BUSY
    print(f"  cores of the database: {needed:.0f}, of which {server_cores} are given")
    workers = max(1, round(decisions * costs.worker / BUSY + 0.5))
    print(f"  worker processes: {workers}, a core each")
    connections = workers * (threads + 5)
    print(f"  connections: {connections}, {threads} threads and 5 of the engine a worker")
    doubled = Costs(costs.worker, 2 * costs.server, costs.sync)
    took = latencies(
        doubled, workers, decisions=decisions, server_cores=server_cores, threads=threads
    )
    kept = len(took) / 10.0
    if len(took) < 2:
        print("  nothing came to an end")
        return
    p99 = quantiles(took, n=100)[98]
    print(f"  {kept:.0f} runs/s come to an end of {decisions:.0f} decided")
    print(f"  from decision to end: p50 {median(took) * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms")


def stored(measured: dict[str, Any], waiting: int) -> None:
    """Print what so many waiting runs take on disk."""
    for name in ("PostgreSQL", "SQLite"):
        if name in measured:
            each = measured[name]["bytes_a_run"]
            print(
                f"  {waiting:,} waiting on {name}: {each * waiting / 1e9:.0f} GB, {each:,.0f} bytes each"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="A fleet reckoned from what was measured.")
    parser.add_argument("--costs", type=Path, default=KEPT)
    parser.add_argument("--decisions", type=float, default=1_000)
    parser.add_argument("--server-cores", type=int, default=8)
    parser.add_argument("--waiting", type=int, default=10_000_000)
    given = parser.parse_args()
    if not given.costs.exists():
        print(f"{given.costs} is not there: run python -m benchmarks.fleet first")
        return
    measured = json.loads(given.costs.read_text())
    costs = Costs.read(measured)
    print("model beside measurement")
    validated(measured, costs)
    print(f"{given.decisions:.0f} decisions a second")
    planned(costs, given.decisions, given.server_cores, measured["threads"])
    print("storage")
    stored(measured, given.waiting)


if __name__ == "__main__":
    main()
