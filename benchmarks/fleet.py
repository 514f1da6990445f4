"""What a fleet does: how soon a decision goes on, how many a second, and what many waiting runs cost.

    wake     from a committed decision to the next line of its run in another process, woken by
             Procrastinate and by threads that listen; beside a bare claim after a bare NOTIFY
    rate     decided runs carried on per second by 1, 2 and 4 worker processes, beside processes
             that claim, read and end the same rows by bare SQL, one run a claim and eight
    tables   decide, the first inbox page, due timers and a claim with many waiting runs, beside
             the same with few; a claim with many ready ones; bytes of a waiting run

All sides take turns in one run. Waiting runs are real ones, each with its own journal; a sample
of each table is verified and carried on. What was measured goes to build/fleet.json, from which
`benchmarks.fleet_model` reckons.

    python -m benchmarks.fleet [--quick] [--only wake|rate|tables] [--waiting N ...]
                             [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from statistics import median, quantiles

from benchmarks._waiting_runs import WORKFLOW, bytes_of, fill, number_of, places_of, served
from benchmarks.store import AFTER, Connection, Database, Result, databases, look
from sayso import Ask, Desk
from sayso.runs.dispatch import install

_ROOT = Path(__file__).resolve().parents[1]
KEPT = _ROOT / "build" / "fleet.json"


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the quick ones only show that it all runs."""

    wakes: int
    runs: int
    rounds: int
    few: int
    many: tuple[int, ...]
    looks: int
    ready: int


FULL = Sizes(
    wakes=200, runs=240, rounds=3, few=1_000, many=(100_000, 400_000), looks=60, ready=10_000
)
QUICK = Sizes(wakes=5, runs=8, rounds=1, few=60, many=(300,), looks=8, ready=100)
WORKERS = (1, 2, 4)
THREADS = 4
BATCH = 8
SAMPLE = 3  # runs of each table that are carried through
Costs = dict[str, object]


# --- worker processes -------------------------------------------------------------------------


class Process:
    """One worker process: it is there, begins, ends, and says what it took."""

    def __init__(self, *kind: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks._fleet_worker", *kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
        )

    def heard(self) -> str:
        if self._process.stdout is None:
            raise RuntimeError("a worker without a pipe")
        return self._process.stdout.readline().strip()

    def tell(self) -> None:
        if self._process.stdin is None:
            raise RuntimeError("a worker without a pipe")
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def end(self) -> float:
        """Return the seconds of processor time that it took."""
        self.tell()
        said, _ = self._process.communicate(timeout=60)
        return float(said.splitlines()[-1])


@contextmanager
def working(number: int, *kind: str) -> Iterator[list[Process]]:
    """Have so many worker processes at work."""
    processes = [Process(*kind) for _ in range(number)]
    for process in processes:
        if process.heard() != "ready":
            raise RuntimeError(f"a worker {kind} did not start")
    for process in processes:
        process.tell()
    yield processes


def server_seconds(folder: Path) -> float:
    """Return the processor time of the PostgreSQL in this folder, of all its processes."""
    try:
        server = Path(folder, "pg", "postmaster.pid").read_text().split()[0]
        stats = [stat.read_text().rpartition(")")[2].split() for stat in _stats()]
    except OSError:
        return 0.0
    ticks = os.sysconf("SC_CLK_TCK")
    # utime and stime of each child, and of those that ended in the account of the server.
    of_children = sum(int(stat[11]) + int(stat[12]) for stat in stats if stat[1] == server)
    own = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    return (of_children + sum(map(int, own[11:15]))) / ticks


def _stats() -> list[Path]:
    return [path for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]


# --- wake -------------------------------------------------------------------------------------


def woken(desk: Desk, ask: Ask) -> float:
    """Return how many milliseconds after its decision was committed a run went on."""
    desk.respond(ask, "yes")
    committed = time.time_ns()
    went_on = desk.get_run(ask.content.run or "").result(timeout=60)
    return (int(went_on) - committed) / 1e6


def floor_of(connection: Connection, process: Process, run_id: str) -> float:
    """Return the same of a bare row and a bare NOTIFY."""
    connection.execute(
        "with told as (select pg_notify('floor', ''))"
        " update runs set status = 'ready', changed_at = changed_at + 1"
        " from told where id = %s",
        [run_id],
    )
    committed = time.time_ns()
    return (int(process.heard()) - committed) / 1e6


def measure_wake(database: Database, sizes: Sizes, costs: Costs) -> Iterator[Result]:
    total = 4 * sizes.wakes + 2
    names = {"procrastinate": "wake_procrastinate", "threads": "wake_threads", "bare": "wake_bare"}
    urls = {side: fill(database, name, total) for side, name in names.items()}
    took: dict[str, list[float]] = {side: [] for side in urls}
    with ExitStack() as stack:
        desks = {side: stack.enter_context(served(url)) for side, url in urls.items()}
        install(desks["procrastinate"].store)
        connection = stack.enter_context(database.connect(names["bare"]))
        [floor] = stack.enter_context(working(1, "listening", urls["bare"]))
        [engine] = stack.enter_context(
            working(1, "ours", urls["procrastinate"], "procrastinate", str(THREADS))
        )
        [threads] = stack.enter_context(
            working(1, "ours", urls["threads"], "threads", str(THREADS))
        )
        for place in range(1, sizes.wakes + 4):
            ids = number_of(place)
            for side in ("procrastinate", "threads"):
                took[side].append(woken(desks[side], desks[side].get(f"a-{ids}")))
            took["bare"].append(floor_of(connection, floor, f"r-{ids}"))
        for process in (floor, engine, threads):
            process.end()
    for side, times in took.items():
        del times[:3]  # connections made, statements prepared
        p50, p99 = median(times), quantiles(times, n=100, method="inclusive")[98]
        print(f"  {side}: p50 {p50:.1f} ms, p99 {p99:.1f} ms, of {len(times)}")
        costs[f"wake_{side}_ms"] = {"p50": p50, "p99": p99}
        if side != "bare":
            yield Result(f"wake-up by {side}, p50", p50, "ms", 100)
            yield Result(f"wake-up by {side}, p99", p99, "ms")


# --- rate -------------------------------------------------------------------------------------


def carried(
    connection: Connection, folder: Path, runs: int, workers: int, *kind: str
) -> dict[str, float]:
    """Return how fast so many processes end what is ready, and the processor time of a run.

    The rate is that of the middle runs: while all processes are at work.
    """
    ended = "select count(*) from runs where status = 'done'"
    [before] = connection.execute(ended).fetchone()
    with working(workers, *kind) as processes:
        served_by = server_seconds(folder)
        until = time.monotonic() + 300
        while connection.execute(ended).fetchone()[0] < before + runs:
            if time.monotonic() > until:
                raise RuntimeError(f"{workers} workers {kind} do not come to an end")
            time.sleep(0.02)
        served_by = server_seconds(folder) - served_by
        seconds = sum(process.end() for process in processes)
    newest = (
        f"select changed_at from runs where status = 'done' order by changed_at desc limit {runs}"
    )
    times = sorted(row[0] for row in connection.execute(newest).fetchall())
    first, last = times[runs // 10], times[-1 - runs // 10]
    middle = runs - 2 * (runs // 10) - 1
    return {
        "rate": middle / max(1e-6, (last - first) / 1e6),
        "worker_ms": seconds * 1000 / runs,
        "server_ms": served_by * 1000 / runs,
    }


SIDES: dict[str, tuple[str, ...]] = {
    "ours": ("ours", "procrastinate", str(THREADS)),
    "bare": ("bare", "1"),
    "bare, eight a claim": ("bare", str(BATCH)),
}


def measure_rate(database: Database, sizes: Sizes, costs: Costs, folder: Path) -> Iterator[Result]:
    total = (sizes.rounds * len(WORKERS) + 1) * sizes.runs + 2
    urls = {side: fill(database, f"rate_{n}", total) for n, side in enumerate(SIDES)}
    found: dict[tuple[str, int], list[dict[str, float]]] = {}
    decided: list[float] = []
    with served(urls["ours"]) as desk, ExitStack() as stack:
        install(desk.store)
        names = {side: f"rate_{n}" for n, side in enumerate(SIDES)}
        sql = {side: stack.enter_context(database.connect(name)) for side, name in names.items()}
        places = count(1)
        for number in range(sizes.rounds):
            for workers in WORKERS:
                ids = [number_of(next(places)) for _ in range(sizes.runs)]
                decided += make_ready(desk, sql, ids)
                for side, (kind, *more) in SIDES.items():
                    came = carried(sql[side], folder, sizes.runs, workers, kind, urls[side], *more)
                    found.setdefault((side, workers), []).append(came)
            print(f"  round {number + 1}: " + ", ".join(_shown(found, w) for w in WORKERS))
        check_sample(desk, sql["ours"])
    costs["decide_ms"] = median(decided) * 1000
    costs["rates"] = {
        side: {str(w): median(each["rate"] for each in found[side, w]) for w in WORKERS}
        for side in SIDES
    }
    alone = found["ours", 1]
    costs["worker_ms"] = median(each["worker_ms"] for each in alone)
    costs["server_ms"] = median(each["server_ms"] for each in alone)
    for workers in WORKERS:
        ratio = median(
            ours["rate"] / bare["rate"]
            for ours, bare in zip(found["ours", workers], found["bare", workers], strict=True)
        )
        yield Result(f"runs/s of {workers} workers beside bare claims", ratio, "")
    ones, eights = (found[side, 1] for side in ("bare", "bare, eight a claim"))
    saved = 1000 / median(e["rate"] for e in ones) - 1000 / median(e["rate"] for e in eights)
    share = saved * median(each["rate"] for each in alone) / 1000
    yield Result("what eight a claim would save of a run of ours", share, "")


def make_ready(desk: Desk, sql: dict[str, Connection], ids: list[str]) -> list[float]:
    """Decide the same runs on all sides; return what our decisions took."""
    took = []
    for each in ids:
        ask = desk.get(f"a-{each}")
        start = time.perf_counter()
        desk.respond(ask, "yes")
        took.append(time.perf_counter() - start)
    for side, connection in sql.items():
        if side != "ours":
            ready = "update runs set status = 'ready' where id = any(%s)"
            connection.execute(ready, [[f"r-{each}" for each in ids]])
    return took


def _shown(found: dict[tuple[str, int], list[dict[str, float]]], workers: int) -> str:
    rates = [f"{found[side, workers][-1]['rate']:.0f}/s {side}" for side in SIDES]
    return f"{workers} workers {', '.join(rates)}"


def check_sample(desk: Desk, connection: Connection) -> None:
    """Raises: RuntimeError: a run was not carried through, or its journal does not verify."""
    [left] = connection.execute("select count(*) from runs where status = 'ready'").fetchone()
    problems = desk.verify().problems
    if left or problems:
        raise RuntimeError(f"{left} runs are left, and the journal says {problems[:3]}")


# --- tables -----------------------------------------------------------------------------------

Operation = Callable[[Desk, str], float]


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    if work() is None:
        raise RuntimeError("there was nothing to do")
    return (time.perf_counter() - start) * 1000


def _decide(desk: Desk, ids: str) -> float:
    ask = desk.get(f"a-{ids}")
    return _timed(lambda: desk.respond(ask, "yes"))


def _claim(desk: Desk, _ids: str) -> float:
    hour = timedelta(hours=1)
    return _timed(lambda: desk.store.claim((WORKFLOW,), os.urandom(8).hex(), "bench", hour))


def _due(desk: Desk, _ids: str) -> float:
    later = datetime.now(UTC) + timedelta(days=31)
    return _timed(lambda: desk.store.due(50, later))


def _overdue(desk: Desk, _ids: str) -> float:
    return _timed(lambda: desk.store.overdue((WORKFLOW,), timedelta(seconds=2), 4))


# In this order: a run is decided, then claimed.
OPERATIONS: dict[str, Operation] = {
    "decide": _decide,
    "claim": _claim,
    "inbox page": lambda desk, _: look(desk),
    "due timers": _due,
    "looking around": _overdue,
}


def measure_tables(database: Database, sizes: Sizes, costs: Costs) -> Iterator[Result]:
    begun = time.perf_counter()
    totals = (sizes.few, *sizes.many)
    urls = {total: fill(database, f"tables_{total}", total) for total in totals}
    print(f"  filled in {time.perf_counter() - begun:.0f} s")
    sql = {total: database.connect(f"tables_{total}") for total in totals}
    held = {total: bytes_of(database, sql[total]) for total in totals}
    a_run = (held[totals[-1]] - held[totals[0]]) / (totals[-1] - totals[0])
    print(f"  {a_run:,.0f} bytes on disk a waiting run")
    with ExitStack() as stack:
        desks = {total: stack.enter_context(served(url)) for total, url in urls.items()}
        for total, desk in desks.items():
            carry_sample(desk, total)
        took = taken(desks, sizes, OPERATIONS)
        yield from ratios(database, took, totals)
        yield from measure_ready(database, desks, sql, sizes)
    for connection in sql.values():
        connection.close()
    small = {name: median(times[sizes.few]) for name, times in took.items()}
    costs[database.name] = {"bytes_a_run": a_run, "ms": small}


def carry_sample(desk: Desk, total: int) -> None:
    """Raises: RuntimeError: a filled run cannot be decided and carried through."""
    for place in places_of(total, 0, SAMPLE):
        ask = desk.get(f"a-{number_of(place)}")
        desk.respond(ask, "yes")
        desk.crew.take(ask.content.run)
        run = desk.get_run(ask.content.run or "")
        if run.status != "done":
            raise RuntimeError(f"{run.id} is {run.status}: {run.error}")


def taken(
    desks: dict[int, Desk], sizes: Sizes, operations: dict[str, Operation]
) -> dict[str, dict[int, list[float]]]:
    """Return what each operation took on each desk; they take turns."""
    warm = max(2, sizes.looks // 4)  # PostgreSQL settles on a plan after ten times
    took: dict[str, dict[int, list[float]]] = {
        name: {total: [] for total in desks} for name in operations
    }
    walks = {total: iter(places_of(total, SAMPLE, warm + sizes.looks)) for total in desks}
    for _ in range(warm + sizes.looks):
        places = {total: next(walk) for total, walk in walks.items()}
        for name, operation in operations.items():
            for total, desk in desks.items():
                took[name][total].append(operation(desk, number_of(places[total])))
    return {name: {t: each[warm:] for t, each in times.items()} for name, times in took.items()}


def ratios(
    database: Database, took: dict[str, dict[int, list[float]]], totals: tuple[int, ...]
) -> Iterator[Result]:
    for name, times in took.items():
        few, *many = (median(times[total]) for total in totals)
        shown = ", ".join(f"{m:.2f} ms with {t:,}" for t, m in zip(totals[1:], many, strict=True))
        print(f"  {name}: {few:.2f} ms with {totals[0]:,} waiting, {shown}")
        for total, each in zip(totals[1:], many, strict=True):
            yield Result(f"{database.name}: {name}, {total:,} waiting", each / few, "", 2)


def measure_ready(
    database: Database, desks: dict[int, Desk], sql: dict[int, Connection], sizes: Sizes
) -> Iterator[Result]:
    """Compare claims of one run by its name, where many are ready, with those where few are."""
    few, many = min(desks), max(desks)
    warm = sizes.looks // 4
    for total, ready in ((few, sizes.looks * 2), (many, sizes.ready)):
        ids = ", ".join(f"'r-{number_of(p)}'" for p in places_of(total, 4 * sizes.looks, ready))
        sql[total].execute(
            f"update runs set status = 'ready' where status = 'waiting' and id in ({ids})"
        )
        for each in AFTER[database.name]:
            sql[total].execute(each)

    def claim(desk: Desk, ids: str) -> float:
        given = ((WORKFLOW,), os.urandom(8).hex(), "bench", timedelta(hours=1))
        start = time.perf_counter()
        if desk.store.claim(*given, only=f"r-{ids}") is None:
            raise RuntimeError(f"r-{ids} was not ready")
        return (time.perf_counter() - start) * 1000

    took: dict[int, list[float]] = {few: [], many: []}
    walks = {t: iter(places_of(t, 4 * sizes.looks, warm + sizes.looks)) for t in (few, many)}
    for _ in range(warm + sizes.looks):
        for total in (few, many):
            took[total].append(claim(desks[total], number_of(next(walks[total]))))
    took = {total: each[warm:] for total, each in took.items()}
    print(
        f"  claim of one by its name: {median(took[few]):.2f} ms with {sizes.looks * 2} ready,"
        f" {median(took[many]):.2f} ms with {sizes.ready:,}"
    )
    what = f"{database.name}: claim of one, {sizes.ready:,} ready"
    yield Result(what, median(took[many]) / median(took[few]), "", 2)


# ----------------------------------------------------------------------------------------------


def sync_ms(folder: Path) -> float:
    """Return how long the disk takes to sync a page."""
    took = []
    with Path(folder, "synced").open("wb") as file:
        for _ in range(60):
            start = time.perf_counter()
            file.write(b"x" * 8192)
            file.flush()
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - start)
    return median(took) * 1000


def measured(part: str, both: list[Database], sizes: Sizes, costs: Costs) -> Iterator[Result]:
    sqlite, postgres = both
    folder = Path(sqlite.address("any").removeprefix("sqlite:///")).parent
    costs["sync_ms"] = sync_ms(folder)
    if part == "wake":
        print("wake, PostgreSQL", flush=True)
        yield from measure_wake(postgres, sizes, costs)
    elif part == "rate":
        print("rate, PostgreSQL", flush=True)
        yield from measure_rate(postgres, sizes, costs, folder)
    else:
        for database in both:
            print(f"tables, {database.name}", flush=True)
            yield from measure_tables(database, sizes, costs)


def keep(costs: Costs) -> None:
    """Write down what was measured, when and where; what this run did not measure stays."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "cores": os.cpu_count(),
        "threads": THREADS,
    }
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps({**kept, **about, **costs}, indent=2) + "\n")


PARTS = ("wake", "rate", "tables")


def main() -> None:
    parser = argparse.ArgumentParser(description="What a fleet does, and many waiting runs cost.")
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--waiting", type=int, nargs="+", help="so many waiting runs")
    parser.add_argument("--rounds", type=int, help="of the rates; fewer are sooner done")
    given = parser.parse_args()
    sizes = QUICK if given.quick else FULL
    if given.waiting:
        sizes = replace(sizes, many=tuple(given.waiting))
    if given.rounds:
        sizes = replace(sizes, rounds=given.rounds)
    costs: Costs = {}
    results: list[Result] = []
    for part in PARTS if given.only is None else [given.only]:
        with databases() as both:
            results += measured(part, both, sizes, costs)
    if not given.quick:
        keep(costs)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
