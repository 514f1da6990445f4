"""How long overview and runs take on a desk with many runs, beside a desk with few.

Both desks hold the same few runs that were really carried on, and copies of them: of ten six are done,
one each failed, is parked, is ready, and waits for a person. Each has a hundred events. The server of
each desk is a process of its own; both take turns, page by page, and the ratio is the result.

    python -m benchmarks.pages [--quick] [--only SQLite|PostgreSQL]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

import httpx2

from benchmarks.store import AFTER, BEFORE, Connection, Database, Result, databases
from benchmarks.web import site, spread
from sayso.insight.reader import catch_up
from sayso.runs.running import Running as Run

EVENTS = 100  # of each run


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the quick ones only show that it all runs."""

    few: int
    many: int
    looks: int


FULL = Sizes(few=100, many=10_000, looks=40)
QUICK = Sizes(few=10, many=30, looks=3)

NUMBERS = {
    "SQLite": "(with recursive series(n) as (select 1 union all select n + 1 from series where n < {total})"
    " select n, printf('%07x', n * 2654435761 % 268435456) as id from series)",
    "PostgreSQL": "(select n, lpad(to_hex(n * 2654435761 % 268435456), 7, '0') as id"
    " from generate_series(1, cast({total} as bigint)) n)",
}
EVENT = "stream, seq, kind, at, actor, payload, salt, digest, hash"
# Which sample a copy is made of, by its number.
DONE, FAILED, PARKED, READY, WAITS = (
    "n % 10 > 3",
    "n % 10 = 0",
    "n % 10 = 1",
    "n % 10 = 2",
    "n % 10 = 3",
)


def notes(run: Run, steps: int) -> int:
    """Take as many steps, and no more."""
    for number in range(steps):
        run.step(abs, number)
    return steps


def pays(run: Run, order: int) -> str:
    """Take some steps, and ask for a refund."""
    for number in range(EVENTS - 1):
        run.step(abs, number)
    call = {"order": order, "amount": 40.5, "currency": "EUR", "to": "ada@example.com"}
    return str(run.propose("refund", call, risk="low", why="The customer was charged twice."))


def filled(database: Database, name: str, runs: int) -> str:
    """Make a desk with so many runs; return one that was really carried on."""
    with database.desk(name) as desk:
        for flow in (notes, pays):
            desk.workflow(flow)
        done = desk.run(notes, EVENTS - 2, wait=False)
        waits = desk.run(pays, 7, wait=False)
        [ask] = waits.state.pending
        copied(database, name, runs, done.id, waits.id, ask.id)
        # Indexes and counts read the journal in the background; that is not what is measured.
        catch_up(desk.store)
        print(f"  {name}: {runs + 2:,} runs, {desk.store.total():,} events")
        return done.id


def copied(database: Database, name: str, runs: int, done: str, waits: str, ask: str) -> None:
    """Copy the samples under numbered ids, each a second older than the one before."""
    numbers = NUMBERS[database.name].format(total=runs)
    connection = database.connect(name)
    status = f"case when {FAILED} then 'failed' when {PARKED} then 'parked' when {READY} then 'ready' else 'done' end"
    older = {"started_at": "started_at - n.n * 1000000", "changed_at": "changed_at - n.n * 1000000"}
    parts = [
        _rows(
            connection,
            "runs",
            numbers,
            done,
            f"not ({WAITS})",
            {"id": "'r-' || n.id", "status": status, **older},
        ),
        _rows(
            connection,
            "runs",
            numbers,
            waits,
            WAITS,
            {"id": "'r-' || n.id", "waits": "'|a-' || n.id || '|'", **older},
        ),
        _rows(
            connection,
            "asks",
            numbers,
            ask,
            WAITS,
            {
                "id": "'a-' || n.id",
                "stream": "'a-' || n.id",
                "run": "'r-' || n.id",
                "key": "null",
                "likeness": "null",
            },
        ),
        _events(numbers, done, f"not ({WAITS})", "r"),
        _events(numbers, waits, WAITS, "r"),
        _events(numbers, ask, WAITS, "a", waits),
    ]
    for sql in (*BEFORE[database.name], *parts, *AFTER[database.name]):
        connection.execute(sql)
    connection.close()


def _rows(
    connection: Connection,
    table: str,
    numbers: str,
    sample: str,
    which: str,
    changed: Mapping[str, str],
) -> str:
    found = connection.execute(f"select * from {table} where false")
    columns = [column[0] for column in found.description]
    values = ", ".join(changed.get(column, f"s.{column}") for column in columns)
    return (
        f"insert into {table} ({', '.join(columns)}) select {values} from {numbers} n,"
        f" (select * from {table} where id = '{sample}') s where {which}"
    )


def _events(numbers: str, sample: str, which: str, letter: str, run: str = "-") -> str:
    payload = f"replace(replace(e.payload, '{sample}', '{letter}-' || n.id), '{run}', 'r-' || n.id)"
    return (
        f"insert into events ({EVENT}) select '{letter}-' || n.id, e.seq, e.kind, e.at, e.actor,"
        f" {payload}, e.salt, e.digest, e.hash from {numbers} n,"
        f" (select {EVENT} from events where stream = '{sample}') e where {which}"
    )


def measured(database: Database, sizes: Sizes) -> Iterator[Result]:
    """Look at each page of both desks in turn."""
    small_run = filled(database, "few", sizes.few)
    large_run = filled(database, "many", sizes.many)
    pages = {
        "overview": ("/overview", "/overview"),
        "runs": ("/runs", "/runs"),
        "runs of a workflow": ("/runs?workflow=notes", "/runs?workflow=notes"),
        "one run": (f"/runs/{small_run}", f"/runs/{large_run}"),
    }
    with site(database, "few") as small, site(database, "many") as large:
        clients = [
            httpx2.Client(base_url=one.url, cookies=dict([one.cookie]), timeout=60)
            for one in (small, large)
        ]
        for what, paths in pages.items():
            sides = list(zip(clients, paths, strict=True))
            for _ in range(3):
                for client, path in sides:
                    look(client, path)
            pairs = [
                tuple(look(client, path) for client, path in sides) for _ in range(sizes.looks)
            ]
            few, many = ([*side] for side in zip(*pairs, strict=True))
            print(f"  {what}, ms: {spread(few)}; large: {spread(many)}")
            ratio = median(large_took / small_took for small_took, large_took in pairs)
            yield Result(f"{database.name}: {what}, many by few", ratio, "", 2)
        for client in clients:
            client.close()


def look(client: httpx2.Client, path: str) -> float:
    """Return how many milliseconds a page takes the server."""
    start = time.perf_counter()
    answer = client.get(path, headers={"Accept": "text/html"})
    took = time.perf_counter() - start
    if answer.status_code != 200 or 'class="board"' not in answer.text:
        raise RuntimeError(f"{answer.url} answered {answer.status_code}")
    return took * 1000


def main() -> None:
    parser = argparse.ArgumentParser(
        description="How long pages take, with many runs and with few."
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    parser.add_argument("--only", choices=["SQLite", "PostgreSQL"])
    given = parser.parse_args()
    sizes = QUICK if given.quick else FULL
    results: list[Result] = []
    with databases() as both:
        for database in both:
            if given.only not in (None, database.name):
                continue
            print(f"pages, {database.name}")
            results += measured(database, sizes)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
