"""Whether what is kept of a long journal is what the journal says: figures and books of a million events, twice.

Asks of every kind are copied under other ids, spread over thirty days. They are counted on the way, some
at a time, then everything is forgotten and counted from the beginning. Both must tell the same figures,
to the last digit. Then figures are asked for beside a desk with a twentieth of the events, and the ratio
is the result. Everything is written to a temporary folder.

    python -m benchmarks.rebuild [--quick] [--only SQLite|PostgreSQL]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.audit import NUMBERS
from benchmarks.store import AFTER, BEFORE, Database, Result, databases
from sayso import Ask, Desk
from sayso.asks.books import ORIGIN, Pen, list_again, read_books
from sayso.autonomy.ledger import Key
from sayso.insight.metrics import By
from sayso.insight.reader import catch_up, rebuild
from sayso.model.actor import Actor
from sayso.model.requirement import ONE_REVIEWER
from sayso.store.contract import Store

DAYS = 30
PIECE = 20_000  # events that are counted at once, on the way


@dataclass(frozen=True)
class Sizes:
    """How much of everything; the quick ones only show that it all runs."""

    few: int
    many: int
    looks: int


FULL = Sizes(few=50_000, many=1_000_000, looks=20)
QUICK = Sizes(few=200, many=1_200, looks=2)


@dataclass(frozen=True)
class Kept:
    """Something that is made from the journal: how it is read on, made again, and what it tells."""

    name: str
    on: Callable[[Store], bool]
    again: Callable[[Store], None]
    tells: Callable[[Desk], dict[str, Any]]


def told(desk: Desk) -> dict[str, Any]:
    """Return every figure there is, of everything, of each part and of each person."""
    sides: tuple[By, ...] = ("agent", "tool", "tier", "reviewer")
    found = {side: desk.metrics(days=2 * DAYS, by=side) for side in sides}
    for one in found.values():
        one.pop("until"), one.pop("oldest_open")
    return found | {"staffing": desk.staffing(days=DAYS)}


# Everything that is rebuilt: whatever else is kept of the journal has its line here.
KEPT = (
    Kept("figures", lambda store: catch_up(store, most=PIECE), rebuild, told),
    Kept("books", lambda _: True, list_again, lambda desk: standings(desk)),
)
LINES = 600  # of a book
ROUND = 10  # of these lines, one is a harm that was confirmed


def standings(desk: Desk) -> dict[str, Any]:
    """Return how every key stands by the list, which must be what its own journal says."""
    listed = {row.id: row for row in desk.trust.keys(limit=1_000_000)}
    told = {book.id: (book.ledger, book.fine, book.harms) for book in read_books(desk.store)}
    assert listed.keys() == told.keys()
    return {"listed": listed, "told": told}


def trusted(desk: Desk, keys: int) -> None:
    """Write books, each of an agent that did well for a while, and now and then did not."""
    person = Actor("person", "anna")
    for number in range(keys):
        pen = Pen.begun(desk.store, Key(f"agent {number}", "1", "pay", "", "medium"), ONE_REVIEWER)
        assert pen is not None
        for line in range(LINES):
            harmful = line % (ROUND * (number + 1)) == ROUND - 1
            said = {"ask": "a-0000", "detection": 0.8} | ({"solo": True} if harmful else {})
            pen.write("flagged" if harmful else "fine", person, ORIGIN, **said)
        desk.store.commit(*pen.appends())


def samples(desk: Desk) -> list[str]:
    """Return asks of every way to be decided, each with its journal."""
    for person in ("anna", "ben"):
        desk.people.add(person, roles=["junior", "senior"])

    def opened(tool: str, **terms: Any) -> Ask:  # noqa: ANN401 - as `desk.open`
        call = {"order": 7, "amount": 40.5, "to": "ada@example.com", "text": "We are very sorry."}
        return desk.open(tool, call | {"of": len(asks)}, agent="shop", **terms)

    asks: list[Ask] = []
    asks.append(opened("look", risk="low"))  # the policy allows it
    asks.append(opened("pay", risk="medium"))
    desk.claim(asks[-1], by="anna")
    desk.approve(asks[-1], by="anna")
    asks.append(opened("mail", risk="medium", within="1d"))
    desk.edit(asks[-1], {"text": "We are so sorry."}, by="ben")
    asks.append(opened("pay", risk="high", needs="2 reviewer"))
    desk.approve(asks[-1], by="anna")
    desk.approve(asks[-1], by="ben")
    asks.append(opened("pay", risk="high", confidence=0.4))
    desk.reject(asks[-1], "Not a double charge", kind="harmful", by="anna")
    asks.append(opened("mail", risk="medium"))
    desk.respond(asks[-1], "Please ask again.", by="ben")
    asks.append(desk.later.question("Which of them?").ask)
    desk.respond(asks[-1], "The first", by="anna")
    return [ask.id for ask in asks]


def filled(database: Database, name: str, events: int) -> Desk:
    """Return a desk with about so many events."""
    desk = database.desk(name)
    made = samples(desk)
    connection = database.connect(name)
    for sql in BEFORE[database.name]:
        connection.execute(sql)
    connection.execute("create temporary table sample (place int, id text)")
    for place, ask_id in enumerate(made):
        connection.execute(f"insert into sample values ({place}, '{ask_id}')")
    of_samples = sum(len(desk.store.stream(ask_id)) for ask_id in made)
    total = events * len(made) // of_samples
    numbers = NUMBERS[database.name].format(total=total, kinds=len(made))
    earlier = f"- n.n * {DAYS * 86_400_000_000 // total}"
    own = {"id": "n.id", "stream": "n.id", "likeness": "null", "at": f"t.at {earlier}"}
    own |= {when: f"t.{when} {earlier}" for when in ("opened_at", "closed_at")}
    own["payload"] = "replace(t.payload, s.id, n.id)"
    for table in ("asks", "events"):
        named = connection.execute(f"select * from {table} limit 0").description
        columns = [one[0] for one in named if one[0] not in ("pos", "xid")]
        values = ", ".join(own.get(column, f"t.{column}") for column in columns)
        connection.execute(
            f"insert into {table} ({', '.join(columns)}) select {values} from ({numbers}) n"
            f" join sample s on s.place = n.place join {table} t on t.stream = s.id"
            f" order by n.n{', t.seq' if table == 'events' else ''}"
        )
    for sql in AFTER[database.name]:
        connection.execute(sql)
    connection.close()
    return desk


def rebuilt(desk: Desk, kept: Kept) -> None:
    """Read the journal on, then again from the beginning; say whether both come to the same.

    Raises:
        RuntimeError: they do not.
    """
    begun = time.perf_counter()
    while not kept.on(desk.store):
        pass
    on_the_way = time.perf_counter() - begun
    before = kept.tells(desk)
    begun = time.perf_counter()
    kept.again(desk.store)
    from_scratch = time.perf_counter() - begun
    if kept.tells(desk) != before:
        raise RuntimeError(f"{kept.name}: what was counted on the way is not what is counted again")
    events = desk.store.total()
    print(
        f"  {kept.name} of {events:,} events are equal: {on_the_way:.1f} s on the way, "
        f"{from_scratch:.1f} s from scratch ({events / from_scratch:,.0f} events/s)"
    )


def measure(database: Database, sizes: Sizes) -> Iterator[Result]:
    """Rebuild both desks, and ask both for figures in turn."""
    desks = [filled(database, name, getattr(sizes, name)) for name in ("few", "many")]
    for desk, name in zip(desks, ("few", "many"), strict=True):
        trusted(desk, max(1, getattr(sizes, name) // (10 * LINES)))
        for kept in KEPT:
            rebuilt(desk, kept)
    for what, ask in LOOKS.items():
        for desk in desks:
            ask(desk)  # warms up
        turns = [tuple(_took(ask, desk) for desk in desks) for _ in range(sizes.looks)]
        few, many = (median(side) for side in zip(*turns, strict=True))
        print(f"  {what}: {few:.1f} ms, large {many:.1f} ms")
        ratio = median(large / small for small, large in turns)
        yield Result(f"{database.name}: {what}, many by few", ratio, "", 2)
    for desk in desks:
        desk.close()


LOOKS: dict[str, Callable[[Desk], object]] = {
    "metrics": lambda desk: desk.metrics(days=DAYS),
    "metrics by reviewer": lambda desk: desk.metrics(days=DAYS, by="reviewer"),
    "staffing": lambda desk: desk.staffing(),
}


def _took(ask: Callable[[Desk], object], desk: Desk) -> float:
    begun = time.perf_counter()
    ask(desk)
    return 1000 * (time.perf_counter() - begun)


def main() -> None:
    """Rebuild on both databases."""
    parser = argparse.ArgumentParser(description="Whether figures are what the journal says.")
    parser.add_argument("--quick", action="store_true", help="small sizes: only shows that it runs")
    parser.add_argument("--only", choices=["SQLite", "PostgreSQL"])
    given = parser.parse_args()
    sizes = QUICK if given.quick else FULL
    results: list[Result] = []
    with databases() as both:
        for database in both:
            if given.only in (None, database.name):
                print(f"rebuild, {database.name}")
                results += measure(database, sizes)
    print()
    for result in results:
        print(result)


if __name__ == "__main__":
    main()
