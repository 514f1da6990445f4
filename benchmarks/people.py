"""How long the pages about people take on a desk with many of everything, beside desks with few.

The large desk has 2,000 people, 5,000 tokens, 5,000 sessions, as many webhooks as a desk takes (100),
and 10,000 messages to them. Of the others one has a hundred of each, and as many tokens that ended; the
other has twenty, which do not fill a page, so that a part of that ratio is what is drawn. The desks take
turns, and the ratios are the result.

    python -m benchmarks.people [--quick] [--only SQLite|PostgreSQL]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

import httpx2

from benchmarks.pages import look
from benchmarks.store import AFTER, BEFORE, Connection, Database, Result, databases
from benchmarks.web import WHO, site
from sayso import Desk
from sayso.access.sessions import open_session

PAGES = {
    "people": "/people",
    "one person": f"/people/person/{WHO}",
    "sessions": "/people/sessions",
    "tokens": "/people/tokens",
    "tokens that ended": "/people/tokens?show=ended",
    "webhooks and messages": "/people/webhooks",
    "policies": "/policies",
}


@dataclass(frozen=True)
class Many:
    """How much of everything a desk has."""

    name: str
    people: int
    tokens: int
    sessions: int
    hooks: int
    messages: int


@dataclass(frozen=True)
class Sizes:
    """The desks; the quick ones only show that it all runs."""

    desks: tuple[Many, Many, Many]
    looks: int


FULL = Sizes(
    (
        Many("of20", 20, 20, 20, 20, 20),
        Many("of100", 100, 200, 100, 100, 100),
        Many("large", 2_000, 5_000, 5_000, 100, 10_000),
    ),
    looks=20,
)
QUICK = Sizes(
    (
        Many("of20", 4, 4, 4, 2, 4),
        Many("of100", 8, 8, 8, 3, 8),
        Many("large", 12, 16, 16, 4, 20),
    ),
    looks=2,
)

NUMBERS = {
    "SQLite": "(with recursive series(n) as (select 1 union all select n + 1 from series where n < {total})"
    " select n from series) n",
    "PostgreSQL": "(select n from generate_series(1, cast({total} as bigint)) n) n",
}
# What makes a copy another one: a digest that nothing else has.
DIGEST = {
    "SQLite": "cast(n.n || '-{what}' as blob)",
    "PostgreSQL": "convert_to(n.n || '-{what}', 'UTF8')",
}


def filled(database: Database, many: Many) -> None:
    """Make one of everything, and copy it. Half of the tokens have ended, of ten messages one is dead."""
    with database.desk(many.name) as desk:
        _samples(desk)
    connection = database.connect(many.name)
    for sql in BEFORE[database.name]:
        connection.execute(sql)
    whose = f"'p-' || (n.n % {many.people} + 1)"
    digest = DIGEST[database.name]
    parts = [
        ("people", "name = 'sample'", many.people, {"name": "'p-' || n.n"}),
        (
            "tokens",
            "name = 'sample'",
            many.tokens,
            {
                "id": "'t-' || n.n",
                "digest": digest.format(what="token"),
                "name": whose,
                "made_at": "s.made_at - n.n",
                "revoked_at": "case when n.n % 2 = 0 then s.made_at end",
            },
        ),
        (
            "sessions",
            "person = 'sample'",
            many.sessions,
            {
                "id": "'s-' || n.n",
                "digest": digest.format(what="session"),
                "person": whose,
                "seen_at": "s.seen_at - n.n",
            },
        ),
        ("webhooks", "1 = 1", many.hooks - 1, {"id": "'w-' || n.n"}),
    ]
    for table, sample, total, own in parts:
        _copy(connection, database, table, sample, total, own)
    _messages(connection, database, many)
    for sql in AFTER[database.name]:
        connection.execute(sql)
    connection.close()


def _samples(desk: Desk) -> None:
    desk.people.add("sample", roles=["senior"], teams=["billing"])
    desk.tokens.make("sample", "person")
    open_session(desk.store, "sample", how="password", address="127.0.0.1", agent_string="browser")
    desk.webhooks.add("https://example.com/hook", ["ask.*"])
    for number in range(20):
        desk.open("refund", {"order": number}, risk="high", team="billing")


def _copy(
    connection: Connection,
    database: Database,
    table: str,
    sample: str,
    total: int,
    own: dict[str, str],
) -> None:
    numbers = NUMBERS[database.name].format(total=total)
    named = connection.execute(f"select * from {table} limit 0").description
    columns = [one[0] for one in named]
    values = ", ".join(own.get(column, f"s.{column}") for column in columns)
    connection.execute(
        f"insert into {table} ({', '.join(columns)}) select {values} from {numbers},"
        f" (select * from {table} where {sample} limit 1) s"
    )


def _messages(connection: Connection, database: Database, many: Many) -> None:
    numbers = NUMBERS[database.name].format(total=many.messages)
    connection.execute(
        "insert into deliveries (id, webhook, stream, seq, kind, status, attempt, next_at, made_at)"
        f" select 'd-' || n.n, 'w-' || (n.n % {many.hooks - 1} + 1), 'a-' || n.n, 1, 'ask.opened',"
        " case n.n % 10 when 0 then 'dead' when 1 then 'waiting' else 'delivered' end, 1, 1, 1"
        f" from {numbers}"
    )


def measured(database: Database, sizes: Sizes) -> Iterator[Result]:
    """Look at each page of all desks in turn."""
    for many in sizes.desks:
        filled(database, many)
    with ExitStack() as stack:
        sites = [stack.enter_context(site(database, many.name)) for many in sizes.desks]
        clients = [
            stack.enter_context(
                httpx2.Client(base_url=one.url, cookies=dict([one.cookie]), timeout=60)
            )
            for one in sites
        ]
        for many in sizes.desks:
            with database.desk(many.name) as desk:
                desk.people.add(WHO, roles=["admin"])  # whoever serves a desk puts them on it
        for what, path in PAGES.items():
            for client in clients * 3:
                look(client, path)
            turns = [tuple(look(client, path) for client in clients) for _ in range(sizes.looks)]
            each = [median(side) for side in zip(*turns, strict=True)]
            print(f"  {what}: {', '.join(f'{took:.1f}' for took in each)} ms")
            for place, many in enumerate(sizes.desks[:2]):
                ratio = median(turn[2] / turn[place] for turn in turns)
                target = 2 if place == 1 else None
                yield Result(f"{database.name}: {what}, beside {many.name}", ratio, "", target)


def main() -> None:
    """Measure on both databases."""
    parser = argparse.ArgumentParser(description="How fast the pages about people are.")
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    parser.add_argument("--only", choices=["SQLite", "PostgreSQL"])
    given = parser.parse_args()
    results: list[Result] = []
    with databases() as both:
        for database in both:
            if given.only not in (None, database.name):
                continue
            print(database.name)
            results += measured(database, QUICK if given.quick else FULL)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
