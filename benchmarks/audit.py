"""How long people wait for a page of the journal: of a million events, beside a hundred and a thousand.

Asks of several people, agents and tools are copied under other ids. Somebody who is kept out of half
of them by a wall looks through them over HTTP, by everything that can be looked for. The desks take
turns, and the ratios are the result. Of a hundred events not every filter fills a page, so that a
part of the ratio is what is drawn; a thousand do. What a server reads on in the background, for
indexes that these pages do not ask, is said to have been read: it would be read beside the million alone.
Everything is written to a temporary folder.

    python -m benchmarks.audit [--quick] [--only SQLite|PostgreSQL]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median

import httpx2

from benchmarks.store import AFTER, BEFORE, Database, Result, databases
from benchmarks.web import WHO, site
from sayso import Desk
from sayso.insight.reader import catch_up
from sayso.model.verdicts import Verdict

# Two who decide much on tools that never meet, and one of whom there is a single decision.
CALLS: tuple[tuple[str, str, Verdict], ...] = (
    ("pay", "anna", "approve"),
    ("pay", "anna", "reject"),
    ("mail", "ben", "approve"),
    ("mail", "ben", "respond"),
)
FILTERS: dict[str, dict[str, str]] = {
    "everything": {},
    "an actor": {"actor": "person:anna"},
    "a kind of actor": {"actor": "agent"},
    "a name alone": {"actor": "anna"},
    "a tool": {"tool": "mail"},
    "a verdict": {"verdict": "reject"},
    "a kind of event": {"kind": "ask.opened"},
    "a family of events": {"kind": "ask.*"},
    "a time": {"since": "1d", "until": "1s"},
    "a stream": {"stream": "a-first"},
    "an actor that is rare": {"actor": "rita"},
    "rare among frequent": {"actor": "rita", "tool": "pay", "verdict": "approve"},
    "frequent that meet": {"actor": "anna", "tool": "pay", "verdict": "reject"},
    "frequent that never meet": {"actor": "anna", "tool": "mail"},
    "a name in a family": {"actor": "anna", "kind": "ask.*"},
    "kinds that never meet": {"actor": "agent", "kind": "ask.decided"},
}


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the quick ones only show that it all runs."""

    events: tuple[int, int, int]
    looks: int


FULL = Sizes((100, 1_000, 1_000_000), looks=20)
QUICK = Sizes((100, 200, 400), looks=2)

NUMBERS = {
    "SQLite": "with recursive n(n) as (select 1 union all select n + 1 from n where n < {total})"
    " select n, 'a-u' || n as id, n % {kinds} as place from n",
    "PostgreSQL": "select n, 'a-u' || n as id, n % {kinds} as place"
    " from generate_series(1, cast({total} as bigint)) n",
}


def filled(database: Database, name: str, events: int) -> float:
    """Make a desk with so many events; return the seconds that reading them for the trail took."""
    with database.desk(name) as desk:
        for person in (WHO, "anna", "ben", "rita"):
            desk.people.add(person, teams=() if person == WHO else ["away"])
        samples = [_decided(desk, *call, team) for call in CALLS for team in (None, "away")]
        _decided(desk, "pay", "rita", "approve", None)
        _copy(database, name, samples, events // 2 - len(samples) - 1)
        begun = time.perf_counter()
        catch_up(desk.store)
        return time.perf_counter() - begun


def _decided(desk: Desk, tool: str, by: str, verdict: Verdict, team: str | None) -> str:
    args = {"order": 7, "amount": 40.5, "currency": "EUR", "to": "ada@example.com", "as": verdict}
    ask = desk.open(tool, args, agent="shop", team=team, why="The customer was charged twice.")
    answer = "Please ask again." if verdict == "respond" else None
    desk.decide(ask, verdict, answer=answer, by=by)
    return ask.id


def _copy(database: Database, name: str, samples: list[str], total: int) -> None:
    """Copy asks in turns, each a moment after the one before."""
    connection = database.connect(name)
    for sql in BEFORE[database.name]:
        connection.execute(sql)
    connection.execute("create temporary table sample (place int, id text)")
    for place, ask_id in enumerate(samples):
        connection.execute(f"insert into sample values ({place}, '{ask_id}')")
    numbers = NUMBERS[database.name].format(total=total, kinds=len(samples))
    own = {"id": "n.id", "stream": "n.id", "likeness": "null", "at": "t.at + n.n"}
    own |= {when: f"t.{when} + n.n" for when in ("opened_at", "closed_at")}
    own["payload"] = "replace(t.payload, s.id, n.id)"
    for table in ("asks", "events"):
        named = connection.execute(f"select * from {table} limit 0").description
        columns = [one[0] for one in named if one[0] not in ("pos", "xid")]
        values = ", ".join(own.get(column, f"t.{column}") for column in columns)
        connection.execute(
            f"insert into {table} ({', '.join(columns)}) select {values} from ({numbers}) n"
            f" join sample s on s.place = n.place join {table} t on t.stream = s.id"
        )
    for sql in AFTER[database.name]:
        connection.execute(sql)
    connection.close()


def look(client: httpx2.Client, wanted: dict[str, str]) -> float:
    """Return how many milliseconds a page takes the server."""
    begun = time.perf_counter()
    answer = client.get("/audit", params=wanted, headers={"Accept": "text/html"})
    took = time.perf_counter() - begun
    if answer.status_code != 200 or 'id="events"' not in answer.text:
        raise RuntimeError(f"{answer.url} answered {answer.status_code} without events")
    return took * 1000


def measure(database: Database, sizes: Sizes) -> Iterator[Result]:
    """Look through all desks by everything."""
    for events in sizes.events:
        took = filled(database, f"of{events}", events)
        print(f"  {events:,} events read for the trail in {took:.1f} s")
    with ExitStack() as stack:
        clients = [stack.enter_context(_visiting(database, f"of{n}")) for n in sizes.events]
        for name, wanted in FILTERS.items():
            for client in clients:
                look(client, wanted)  # warms up
            turns = [tuple(look(one, wanted) for one in clients) for _ in range(sizes.looks)]
            each = [median(side) for side in zip(*turns, strict=True)]
            print(f"  {name}: {', '.join(f'{took:.1f}' for took in each)} ms")
            for place, few in enumerate(sizes.events[:2]):
                ratio = median(turn[2] / turn[place] for turn in turns)
                target = 2 if place == 1 else None
                yield Result(f"{database.name}: by {name}, beside {few:,}", ratio, "", target)


@contextmanager
def _visiting(database: Database, name: str) -> Iterator[httpx2.Client]:
    with (
        site(database, name) as here,
        httpx2.Client(base_url=here.url, cookies=dict([here.cookie]), timeout=60) as client,
    ):
        yield client


def main() -> None:
    """Measure on both databases."""
    parser = argparse.ArgumentParser(description="How fast a page of a long journal is.")
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    parser.add_argument("--only", choices=["SQLite", "PostgreSQL"])
    given = parser.parse_args()
    sizes = QUICK if given.quick else FULL
    results: list[Result] = []
    with databases() as both:
        for database in both:
            if given.only not in (None, database.name):
                continue
            print(database.name)
            results += measure(database, sizes)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
