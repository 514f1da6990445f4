"""What waiting costs: a process that serves 100,000 waiting runs, beside one that serves 100.

    memory      the most that the serving process ever held
    start-up    from starting the interpreter until its worker has found and ended the one run
                that somebody had decided meanwhile
    waking      from a decision in another process to the end of the run that waited for it

Both sides take turns in one run. The file is a temporary one.

    python -m benchmarks.waiting [--quick]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks._serving import served
from benchmarks.store import EVENT, Database, Result, _sqlite
from sayso import Ask, Desk


@dataclass(frozen=True)
class Sizes:
    few: int
    many: int
    starts: int


FULL = Sizes(few=100, many=100_000, starts=15)
QUICK = Sizes(few=5, many=500, starts=2)


def start(desk: Desk) -> Ask:
    """Start a run that waits, and return what it waits for."""
    [ask] = desk.run(desk.flows["waiting"].fn, wait=False).asks
    return ask


# --- the serving process ----------------------------------------------------------------------


@dataclass(frozen=True)
class Served:
    started: float  # seconds
    megabytes: float
    woken: float  # milliseconds


def serving(url: str, desk: Desk) -> Served:
    """Start a serving process, let it carry on two runs, and return what that took."""
    decided = start(desk)
    desk.respond(decided, "yes")  # before there is anybody to go on with it
    waits = start(desk)
    begun = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks._serving", url]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT
    ) as process:
        ended(desk, decided)
        started = time.perf_counter() - begun
        begun = time.perf_counter()
        desk.respond(waits, "yes")
        ended(desk, waits)
        woken = time.perf_counter() - begun
        said, _ = process.communicate("\n", timeout=60)
    return Served(started, float(said), woken * 1000)


def ended(desk: Desk, ask: Ask) -> None:
    """Wait for the end of the run that asked, and check what it was told."""
    answer = desk.get_run(ask.content.run or "").result(timeout=60)
    if answer != "yes":
        raise RuntimeError(f"{ask.content.run} returned {answer!r}")


_ROOT = Path(__file__).resolve().parents[1]


# --- many runs --------------------------------------------------------------------------------

_NUMBERS = """
with recursive series(n) as (select 1 union all select n + 1 from series where n < {total})
select n, printf('r-%07x', n * 2654435761 % 268435456) as run,
       printf('a-%07x', n * 2654435761 % 268435456) as ask from series
"""


def filled(database: Database, name: str, waiting: int) -> str:
    """Return the address of a desk with so many waiting runs: copies of one, by SQL."""
    url = database.address(name)
    with served(url) as desk:
        ask = start(desk)
    run_id = ask.content.run
    connection = database.connect(name)
    numbers = _NUMBERS.format(total=waiting - 1)
    changed = {
        "runs": {"id": "n.run", "waits": "'|' || n.ask || '|'", "started_at": "s.started_at + n.n"},
        "asks": {
            "id": "n.ask",
            "stream": "n.ask",
            "run": "n.run",
            "key": "n.run || ':1'",
            "opened_at": "s.opened_at + n.n",
        },
    }
    connection.execute("pragma synchronous = off")
    connection.execute("begin")
    for table, given in changed.items():
        named = connection.execute(f"select * from {table} limit 0").description
        columns = [column[0] for column in named]
        values = ", ".join(given.get(column, f"s.{column}") for column in columns)
        connection.execute(
            f"insert into {table} ({', '.join(columns)}) select {values}"
            f" from ({numbers}) n join {table} s"
        )
    for stream, column in ((run_id, "run"), (ask.id, "ask")):
        connection.execute(
            f"insert into events ({EVENT}) select n.{column}, e.seq, e.kind, e.at + n.n, e.actor,"
            " replace(replace(e.payload, :run, n.run), :ask, n.ask), e.salt, e.digest, e.hash"
            f" from ({numbers}) n join events e on e.stream = :stream",
            {"run": run_id, "ask": ask.id, "stream": stream},
        )
    connection.execute("commit")
    connection.execute("pragma wal_checkpoint(truncate)")
    [found] = connection.execute("select count(*) from runs where status = 'waiting'").fetchone()
    connection.close()
    if found != waiting:
        raise RuntimeError(f"{found} runs wait, not {waiting}")
    return url


def measure(sizes: Sizes, folder: str) -> list[Result]:
    database = _sqlite(folder)
    urls = {
        waiting: filled(database, f"waiting_{waiting}", waiting)
        for waiting in (sizes.few, sizes.many)
    }
    found: dict[int, list[Served]] = {waiting: [] for waiting in urls}
    desks = {waiting: served(url) for waiting, url in urls.items()}
    for _ in range(sizes.starts):
        for waiting, url in urls.items():
            found[waiting].append(serving(url, desks[waiting]))
    for desk in desks.values():
        desk.close()
    sides = {waiting: [median(each) for each in _columns(took)] for waiting, took in found.items()}
    for waiting, (started, megabytes, woken) in sides.items():
        size = Path(urls[waiting].removeprefix("sqlite:///")).stat().st_size
        print(
            f"  {waiting:7,} waiting, {size / 1e6:6.1f} MB on disk: {megabytes:.1f} MB of memory,"
            f" started in {started * 1000:.0f} ms, woken in {woken:.0f} ms"
        )
    few, many = sides[sizes.few], sides[sizes.many]
    return [
        Result("memory of serving, many waiting by few", many[1] / few[1], "", 1.1),
        Result("start-up of serving, many waiting by few", many[0] / few[0], "", 1.2),
        Result("waking one of many waiting runs", many[2], "ms", 250),
    ]


def _columns(took: list[Served]) -> list[tuple[float, ...]]:
    rows = [(each.started, each.megabytes, each.woken) for each in took]
    return list(zip(*rows, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description="What waiting runs cost the process that serves.")
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        results = measure(QUICK if given.quick else FULL, folder)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
