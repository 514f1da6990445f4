"""How long people wait for a page of the journal: of a million events, beside one of a thousand.

Asks of several people, agents and tools are copied under other ids. Somebody who is kept out of half
of them by a wall looks through them over HTTP, by everything that can be looked for. Both desks take
turns, and the ratio is the result. Everything is written to a temporary folder.

    python -m benchmarks.audit [--quick] [--few 100]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median

import httpx2

from benchmarks.store import AFTER, BEFORE, Database, Result, databases
from benchmarks.web import WHO, site
from sayso import Desk
from sayso.insight.trailing import read_trail

# Two who decide much on tools that never meet, and one of whom there is a single decision.
CALLS = (
    ("pay", "anna", "approve"),
    ("pay", "anna", "reject"),
    ("mail", "ben", "approve"),
    ("mail", "ben", "respond"),
)
FILTERS = {
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
}


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the quick ones only show that it all runs."""

    few: int
    many: int
    looks: int


# With fewer, not every filter fills a page: what is drawn would be compared, not what is found.
FULL = Sizes(few=1_000, many=1_000_000, looks=20)
QUICK = Sizes(few=100, many=2_000, looks=2)

NUMBERS = {
    "SQLite": "with recursive n(n) as (select 1 union all select n + 1 from n where n < {total})"
    " select n, 'a-x' || n as id, n % {kinds} as place from n",
    "PostgreSQL": "select n, 'a-x' || n as id, n % {kinds} as place"
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
        read_trail(desk.store)
        return time.perf_counter() - begun


def _decided(desk: Desk, tool: str, by: str, verdict: str, team: str | None) -> str:
    args = {"order": 7, "amount": 40.5, "currency": "EUR", "to": "ada@example.com", "as": verdict}
    ask = desk.open(tool, args, agent="shop", team=team, why="The customer was charged twice.")
    said = {"answer": "Please ask again."} if verdict == "respond" else {}
    desk.decide(ask, verdict, by=by, **said)
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
    """Look through both desks by everything."""
    filled(database, "few", sizes.few)
    took = filled(database, "many", sizes.many)
    print(f"  {sizes.many:,} events read for the trail in {took:.0f} s")
    with site(database, "few") as small, site(database, "many") as large:
        clients = [
            httpx2.Client(base_url=one.url, cookies=dict([one.cookie]), timeout=60)
            for one in (small, large)
        ]
        for name, wanted in FILTERS.items():
            for client in clients:
                look(client, wanted)  # warms up
            pairs = [tuple(look(one, wanted) for one in clients) for _ in range(sizes.looks)]
            few, many = (median(side) for side in zip(*pairs, strict=True))
            print(f"  {name}: {few:.1f} ms of {sizes.few:,}, {many:.1f} ms of {sizes.many:,}")
            ratio = median(large / small for small, large in pairs)
            yield Result(f"{database.name}: audit by {name}", ratio, "", 2)
        for client in clients:
            client.close()


def main() -> None:
    """Measure on both databases."""
    parser = argparse.ArgumentParser(description="How fast a page of a long journal is.")
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    parser.add_argument("--few", type=int, help="events of the small desk")
    given = parser.parse_args()
    sizes = QUICK if given.quick else FULL
    sizes = replace(sizes, few=given.few or sizes.few)
    results: list[Result] = []
    with databases() as both:
        for database in both:
            print(database.name)
            results += measure(database, sizes)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
