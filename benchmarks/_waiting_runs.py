"""Many waiting runs at once: real rows with journals of their own, written in bulk.

One run is started by a desk; the others are like it under other ids, each with
its own chain of hashes, so that any of them can be decided, carried on and verified.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from benchmarks._hurry import IN_A_HURRY
from benchmarks.store import AFTER, EVENT, Connection, Database
from sayso import Desk, Running
from sayso.model.actor import Actor
from sayso.model.event import GENESIS, link, moment

WORKFLOW = "waiting"
_BATCH = 20_000


def served(url: str) -> Desk:
    """Return a desk with the workflow that everybody here waits in."""
    desk = Desk(url, agent="benchmark", policy=IN_A_HURRY)

    @desk.workflow(name=WORKFLOW)
    def waiting(run: Running) -> object:
        return run.question("May it go on?", why="The customer was charged twice.", within="30d")

    return desk


def number_of(place: int) -> str:
    """Return what ids of the run and of its ask end with: of its own, and in no order."""
    return f"{place * 2_654_435_761 % 2**32:08x}"


@dataclass(frozen=True)
class _Sample:
    """The rows of one waiting run, and the events of its two streams."""

    run: dict[str, Any]
    ask: dict[str, Any]
    events: list[dict[str, Any]]

    def rows(self, place: int) -> tuple[list[Any], list[Any], list[tuple[Any, ...]]]:
        """Return another such run, its ask, and their events."""
        run_id, ask_id = f"r-{number_of(place)}", f"a-{number_of(place)}"
        old_run, old_ask = self.run["id"], self.ask["id"]

        def renamed(value: Any) -> Any:  # noqa: ANN401
            if not isinstance(value, str):
                return value
            return value.replace(old_run, run_id).replace(old_ask, ask_id)

        later = {"started_at", "changed_at", "opened_at"}
        run, ask = (
            [value + place if name in later else renamed(value) for name, value in row.items()]
            for row in (self.run, self.ask)
        )
        events = [
            link(
                renamed(event["stream"]),
                event["seq"],
                event["kind"],
                at=moment(event["at"] + place),
                actor=Actor(*event["actor"].split(":", 1)),
                payload=renamed(event["payload"]),
                salt=os.urandom(16),
                previous=GENESIS,
            )[:9]
            for event in self.events
        ]
        return run, ask, events


def _rows(connection: Connection, sql: str) -> list[dict[str, Any]]:
    cursor = connection.execute(sql)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def fill(database: Database, name: str, waiting: int) -> str:
    """Return the address of a desk with so many waiting runs."""
    url = database.address(name)
    with served(url) as desk:
        desk.store.migrate()
        run = desk.run(desk.flows[WORKFLOW].fn, wait=False)
    connection = database.connect(name)
    events = f"select {EVENT} from events where stream in ('{run.id}', '{run.asks[0].id}')"
    sample = _Sample(
        _rows(connection, f"select * from runs where id = '{run.id}'")[0],
        _rows(connection, f"select * from asks where id = '{run.asks[0].id}'")[0],
        _rows(connection, f"{events} order by stream desc"),
    )
    for begin in range(1, waiting, _BATCH):
        _add(database, connection, sample, range(begin, min(begin + _BATCH, waiting)))
    for sql in AFTER[database.name]:
        connection.execute(sql)
    connection.close()
    return url


def _add(database: Database, connection: Connection, sample: _Sample, places: range) -> None:
    runs, asks, pairs = zip(*map(sample.rows, places), strict=True)
    put = _put_sqlite if database.name == "SQLite" else _put_postgres
    if database.name == "SQLite":
        connection.execute("pragma synchronous = off")
        connection.execute("begin")
    put(connection, "runs", list(sample.run), runs)
    put(connection, "asks", list(sample.ask), asks)
    put(connection, "events", EVENT.split(", "), [event for pair in pairs for event in pair])
    if database.name == "SQLite":
        connection.execute("commit")


def _put_sqlite(connection: Connection, table: str, columns: list[str], rows: Any) -> None:  # noqa: ANN401
    marks = ", ".join("?" * len(columns))
    connection.executemany(f"insert into {table} ({', '.join(columns)}) values ({marks})", rows)


def _put_postgres(connection: Connection, table: str, columns: list[str], rows: Any) -> None:  # noqa: ANN401
    with connection.cursor().copy(f"copy {table} ({', '.join(columns)}) from stdin") as copy:
        for row in rows:
            copy.write_row(row)


def bytes_of(database: Database, connection: Connection) -> int:
    """Return what runs, asks and events take, indexes included."""
    if database.name == "SQLite":
        sql = "select page_count * page_size from pragma_page_count, pragma_page_size"
    else:
        tables = ("runs", "asks", "events")
        sizes = [f"pg_total_relation_size('{table}')" for table in tables]
        sql = f"select {' + '.join(sizes)}"
    [found] = connection.execute(sql).fetchone()
    return int(found)


def places_of(total: int, first: int, many: int) -> list[int]:
    """Return places of filled runs in no order, none twice, from the n-th in that order on."""
    return [1 + number * 7_919 % (total - 1) for number in range(first, first + many)]
