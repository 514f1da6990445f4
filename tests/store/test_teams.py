"""Teams in the tables: databases from before there were any, and what a team's inbox costs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from sayso import Desk
from sayso.errors import ThreadBusy
from tests.places import Place
from tests.store.before import database_at

_KEPT = {
    "events": "stream, seq, kind, at, actor, payload, salt, digest, hash",
    "asks": (
        "id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version, opened_at,"
        " due_at, effect, holder, lease_until, next_at, latest, agent, likeness, assignee, repeats,"
        " paced"
    ),
    "people": "name, roles, active",
}


@pytest.fixture(params=["sqlite", "postgres"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A database as it was before there were teams, without anything in it."""
    with database_at(request, tmp_path, 4) as place:
        yield place


def test_what_was_asked_before_there_were_teams_is_for_everybody(
    old: Place, tmp_path: Path
) -> None:
    """The rows as they were, under the tables as they were: they keep working, and verify."""
    made = Place("sqlite", f"sqlite:///{tmp_path}/made.db")
    with Desk(made.url, agent="shop") as desk:
        desk.people.add("anna", roles=["senior"])
        desk.people.add("ben")
        ask = desk.open("refund", {"order": 7}, needs="2 reviewer")
        desk.approve(ask, by="anna")
    for table, columns in _KEPT.items():
        marks = ", ".join("?" * len(columns.split(",")))
        before = columns.replace("rank", "rank % 1000 / 100 - 1")
        for row in made.sql(f"select {before} from {table}"):
            old.sql(f"insert into {table} ({columns}) values ({marks})", *row)

    with Desk(old.url, agent="shop") as desk:
        if old.dialect == "postgres":
            assert "0005_teams" in desk.store.migrate()
        assert [one.id for one in desk.inbox(person="ben")] == [ask.id]
        assert desk.open("refund", {"order": 7}, needs="2 reviewer").id == ask.id, "the same"
        assert desk.approve(ask, by="ben").decision, "whoever saw it before may decide it after"
        assert desk.verify()


def test_the_inbox_of_a_team_costs_what_is_open_there(place: Place, desk: Desk) -> None:
    desk.people.add("anna", teams=["billing"])
    desk.people.add("ben", teams=["ops"])
    for number in range(5):
        desk.open("pay", {"n": number}, team="billing")
    _fill(place, 20_000)

    page = desk.inbox(person="anna")

    assert (page.count, len(page)) == (5, 5)
    found = _explained(place, desk)
    assert "asks_open_of_team" in found
    assert "SCAN b" not in found, "no table is read from end to end"


def _fill(place: Place, many: int) -> None:
    """Let another team have far more: rows alone, whose journals nobody reads here."""
    columns = _KEPT["asks"].replace("id, stream", "").strip(", ")
    numbers = {
        "sqlite": "(with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)"
        " select i from n)",
        "postgres": "(select i from generate_series(1, ?) i)",
    }[place.dialect]
    places = columns.replace("key", "null").replace("likeness", "null")
    place.sql(
        f"insert into asks (id, stream, team, {columns})"
        f" select 'a-xxxxxxx' || n.i, 'a-xxxxxxx' || n.i, 'ops', {places}"
        f" from {numbers} n, (select * from asks limit 1) a",
        many,
    )
    place.sql("analyze")


def _explained(place: Place, desk: Desk) -> str:
    """Return how the database goes about the inbox of billing."""
    sql, names = desk.store._sql["inbox_of_teams"]  # type: ignore[attr-defined]
    teams: object = json.dumps(["billing"]) if place.dialect == "sqlite" else ["billing"]
    given: dict[str, object] = {"teams": teams, "count_limit": 1000, "limit": 20, "now": 0}
    given |= {"place": 0, "latest": -1, "opened_at": 0, "id": "", "soon_span": 1}
    values = [given.get(name) for name in names]
    if place.dialect == "sqlite":
        with closing(sqlite3.connect(place.file)) as file:
            return "\n".join(row[3] for row in file.execute(f"explain query plan {sql}", values))
    with psycopg.connect(place.url, cursor_factory=psycopg.RawCursor) as connection:
        rows = connection.execute(f"explain {sql}", values).fetchall()
        return "\n".join(row[0] for row in rows)


# --- runs ---------------------------------------------------------------------------------------


def test_what_a_run_asks_belongs_to_its_team(desk: Desk) -> None:
    desk.people.add("anna", teams=["billing"])
    desk.people.add("ben", teams=["ops"])

    @desk.workflow
    def settle(run: object) -> bool:
        return bool(run.confirm("Settle?"))  # type: ignore[attr-defined]

    run = desk.start(settle, team="billing")
    free = desk.start(settle)
    desk.work(until="idle")

    (ask,) = run.asks
    assert (run.team, ask.content.team, free.team) == ("billing", "billing", None)
    assert [one.id for one in desk.inbox(person="ben")] == [free.asks[0].id]
    assert [one.id for one in desk.runs(teams="ops")] == [free.id]
    assert {one.id for one in desk.runs(teams=["billing"])} == {run.id, free.id}
    assert [one.id for one in desk.runs(teams=[], status="waiting")] == [free.id]
    desk.approve(ask, by="anna")
    desk.work(until="idle")
    assert run.result() is True
    assert desk.verify()


def test_a_thread_of_one_team_is_none_of_anothers(desk: Desk) -> None:
    """Its name says nothing to other teams: not that a run goes on, nor what it remembers."""

    @desk.workflow
    def talk(run: object) -> bool:
        return bool(run.confirm("Go on?"))  # type: ignore[attr-defined]

    first = desk.start(talk, thread="news", team="billing")
    other = desk.start(talk, thread="news", team="ops")
    with pytest.raises(ThreadBusy) as busy:
        desk.start(talk, thread="news", team="ops")

    assert other.id in str(busy.value)
    assert [run.id for run in desk.runs(thread="news", teams="billing")] == [first.id]
    assert not desk.thread("news").steps


def test_verify_finds_a_run_that_was_moved_to_another_team_by_hand(
    desk: Desk, place: Place
) -> None:
    @desk.workflow
    def talk(run: object) -> None:
        run.confirm("Go on?")  # type: ignore[attr-defined]

    run = desk.start(talk, team="billing")
    place.sql("update runs set team = 'ops' where id = ?", run.id)

    assert "team is not as the journal says" in str(desk.verify().problems)
