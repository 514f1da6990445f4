"""How the databases find what they are asked for: what was ever stored must not matter."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from sayso import Desk
from sayso.insight.reader import catch_up
from sayso.insight.record import track_record
from sayso.store.trail import By, Walk
from tests.places import Place

# Small tables are read whole, whatever indexes there are; so the planner is told not to.
ONLY_INDEXES = ("set enable_seqscan = off", "set enable_bitmapscan = off", "set enable_sort = off")


def plan(desk: Desk, place: Place, name: str, /, **parameters: Any) -> str:
    """Return how a named query of the store is carried out, in the database's own words."""
    store: Any = desk.store
    given = {"now": store._now(), **parameters}
    with store._lent() as connection:
        sql, names = store._sql[name]
        values = [given[name] for name in names]
        if place.dialect == "sqlite":
            rows = connection.execute(f"explain query plan {sql}", values).fetchall()
            return "\n".join(row[3] for row in rows)
        for setting in ONLY_INDEXES:
            connection.execute(setting)
        rows = connection.execute(f"explain {sql}", values).fetchall()
        connection.execute("reset all")
        return "\n".join(row[0] for row in rows)


NUMBERS = {
    "sqlite": "(with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)"
    " select i from n)",
    "postgres": "(select i from generate_series(1, 5000) i)",
}
COPIED = {
    "asks": (
        "kind, status, rank, roles, voters, version, opened_at, latest, agent, team, closed_at",
        "kind, status, rank, roles, voters, version, opened_at, latest, agent, 'x' || (n.i - n.i / 50 * 50),"
        " closed_at + n.i",
    ),
    "cases": (
        "kind, tool, agent, verdict, at, about, said",
        "kind, case when (n.i - n.i / 50 * 50) > 0 then 'x' || (n.i - n.i / 50 * 50) end, 'shop', verdict, at + n.i, about, said",
    ),
}


def crowd(place: Place) -> None:
    """Let there be far more than what is looked for: rows alone, whose journals nobody reads.

    No id of ours has a `u`, so none of theirs is taken.
    """
    for table, (columns, values) in COPIED.items():
        stream = ", stream" if table == "asks" else ""
        place.sql(
            f"insert into {table} (id{stream}, {columns})"
            f" select 'a-u' || n.i{stream}, {values}"
            f" from {NUMBERS[place.dialect]} n, (select * from {table} limit 1) a"
        )
    place.sql("analyze")


def asked_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, look: Callable[[], object]
) -> tuple[str, dict[str, Any]]:
    """Return what the store asks its database for when somebody looks."""
    store: Any = desk.store
    asked: list[tuple[str, dict[str, Any]]] = []
    really = store._rows

    def noted(name: str, /, **parameters: Any) -> Any:
        asked.append((name, parameters))
        return really(name, **parameters)

    with monkeypatch.context() as patch:
        patch.setattr(store, "_rows", noted)
        look()
    return asked[-1]


@pytest.mark.parametrize(
    ("teams", "index"), [(None, "asks_open"), (["billing", "ops"], "asks_open_of_team")]
)
def test_page_and_count_walk_the_index_of_open_asks_until_they_have_enough(
    live: Desk,
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    teams: list[str] | None,
    index: str,
) -> None:
    live.open("refund")
    crowd(place)
    name, given = asked_for(live, monkeypatch, lambda: live.inbox(teams=teams))
    steps = plan(live, place, name, **given)

    assert steps.count(index) >= 2, "and one look for each rank there is"
    span = (
        r"rank=\? AND (latest|\(latest)" if place.dialect == "sqlite" else r"\(rank = s\w*\.rank\)"
    )
    assert len(re.findall(span, steps)) == 2, "each span is looked up, not passed through"
    assert "MATERIALIZE wanted" not in steps  # SQLite: every open ask gathered first
    assert "CTE wanted" not in steps  # PostgreSQL: the same


@pytest.mark.parametrize(
    ("teams", "index"), [(None, "asks_closed"), (["billing", "ops"], "asks_closed_of_team")]
)
def test_what_was_decided_is_read_from_its_newest_end(
    live: Desk,
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    teams: list[str] | None,
    index: str,
) -> None:
    live.reject(live.open("refund"))
    live.cases("refund")  # reads on
    crowd(place)
    name, given = asked_for(live, monkeypatch, lambda: live.decided(teams=teams))
    steps = plan(live, place, name, **given)

    assert len(re.findall(rf"{index}\b", steps)) == 2
    assert "MATERIALIZE wanted" not in steps
    assert "CTE wanted" not in steps


@pytest.mark.soak  # of tables this small PostgreSQL may think otherwise
@pytest.mark.parametrize("teams", [None, ()])
@pytest.mark.parametrize(("tool", "index"), [("refund", "cases_of_call"), (None, "cases_of_kind")])
def test_a_track_record_is_read_from_its_newest_end(
    live: Desk,
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    tool: str | None,
    index: str,
    teams: tuple[str, ...] | None,
) -> None:
    live.reject(live.open("refund") if tool else live.later.plan(["Look"]).ask)

    def look() -> None:
        track_record(live.store, agent="shop", tool=tool, kind="plan", teams=teams)

    look()  # reads on
    crowd(place)
    name, given = asked_for(live, monkeypatch, look)
    steps = plan(live, place, name, **given)

    assert re.search(rf"{index}{'' if teams is None else '_in_team'}\b", steps)
    assert "SCAN cases" not in steps
    assert "TEMP B-TREE" not in steps


@pytest.mark.parametrize(("name", "index"), [("due", "asks_next"), ("lapsed", "asks_lapsing")])
def test_what_is_due_is_looked_up_by_its_time(
    live: Desk, place: Place, name: str, index: str
) -> None:
    live.open("refund")
    steps = plan(live, place, name, limit=200)

    found = "SEARCH asks USING INDEX" if place.dialect == "sqlite" else "Index Cond: ("
    assert index in steps
    assert found in steps


def test_a_run_that_somebody_named_is_found_by_its_name_however_many_are_ready(
    live: Desk, place: Place
) -> None:
    store: Any = live.store
    given: dict[str, Any] = {"only": "r-1", "token": "t", "worker": "w", "span": 1}
    given["serves"] = store._names(("waiting",))
    steps = plan(live, place, "claim_this", **given)

    assert "runs_ready" not in steps
    assert re.search(r"Index Cond: \(id = 'r-1'|INDEX sqlite_autoindex_runs_1 \(id=\?\)", steps)


@pytest.mark.parametrize(
    ("name", "indexes"),
    [
        ("open_counts", {"asks_open"}),
        ("open_needs", {"asks_open", "asks_open_of_team"}),
        ("run_counts", {"runs_ready", "runs_by_status", "runs_lapsing"}),
        ("backlog", {"runs_ready", "runs_by_status", "runs_lapsing"}),
        ("delivery_counts", {"deliveries_due", "deliveries_ended"}),
    ],
)
def test_how_a_fleet_stands_is_counted_in_indexes_of_what_is_not_over(
    live: Desk, place: Place, name: str, indexes: set[str]
) -> None:
    live.open("refund")
    crowd(place)
    steps = plan(live, place, name, limit=200, teams=None)

    used = set(re.findall(r"(?:USING (?:COVERING )?INDEX|Scan using) (\w+)", steps))
    assert used <= indexes, steps
    assert used, steps
    assert "Seq Scan" not in steps
    assert not re.search(r"SCAN (asks|runs|deliveries)$", steps, re.MULTILINE)


@pytest.mark.parametrize(
    ("by", "index"),
    [
        ("all", "trail_all"),
        ("stream", "trail_of_stream"),
        ("kind", "trail_of_kind"),
        ("sort", "trail_of_sort"),
        ("actor", "trail_of_actor"),
        ("tool", "trail_of_tool"),
        ("verdict", "trail_of_verdict"),
    ],
)
def test_the_trail_is_walked_along_one_index_in_its_order(
    live: Desk, place: Place, by: By, index: str
) -> None:
    some = "'x' || (i - i / 40 * 40)"
    place.sql(
        "insert into trail (team, at, stream, seq, kind, sort, actor, tool, verdict)"
        f" select case when i > 4000 then '' else 'red' end, i, {', '.join([some, 'i', *[some] * 5])}"
        f" from {NUMBERS[place.dialect]} n"
    )
    place.sql("analyze")
    store: Any = live.store
    stretch = {"at": 2**62, "n": 2**62, "to_at": 0, "to_n": 0}
    others = store._picked({"tool": ["x"], "verdict": ["x"], "actor": ["x", "y"], "kind": ["x"]})
    given = stretch | others | {"steps": 2**62, "limit": 51, "passed": 0}

    for name, teams in product(("trail_met", "trail_spots"), (("",), ("", "red", "blue"))):
        walks = [Walk(team, by, "x") for team in teams]
        own = {f"team{n}": team for n, team in enumerate(teams)} | dict.fromkeys(
            (f"value{n}" for n in range(3)), "x"
        )
        steps = plan(live, place, store._merged(name, walks), **given, **own)
        used = re.findall(r"(?:USING (?:COVERING )?INDEX|Scan(?: Backward)? using) (\w+)", steps)
        assert used == [index] * len(teams), steps
        assert "TEMP B-TREE" not in steps
        assert "Sort  (" not in steps
        assert "SCAN trail" not in steps


def test_the_teams_of_the_trail_are_found_one_by_one(live: Desk, place: Place) -> None:
    live.open("refund")
    catch_up(live.store)
    place.sql("analyze")

    steps = plan(live, place, "trail_teams")

    assert re.search(r"trail_\w+", steps), steps
    assert "Seq Scan on trail" not in steps


def pay(run: Any) -> None:
    """Do nothing."""


@pytest.mark.parametrize("teams", [None, ["billing", "ops"]])
@pytest.mark.parametrize(
    ("name", "indexes"),
    [
        ("runs_now", {"runs_ready", "runs_by_status", "runs_lapsing"}),
        ("failed_since", {"runs_failed"}),
        ("open_since", {"asks_open", "asks_open_of_team"}),
        ("run_open", {"asks_run"}),
        ("runs_of_workflow", {"runs_of_workflow"}),
        ("record_of_everybody", {"cases_of_tool", "cases_of_tool_in_team"}),
        ("record_of_everybody_in_team", {"cases_of_tool_in_team"}),
    ],
)
def test_what_pages_show_of_everything_is_looked_up(
    live: Desk, place: Place, name: str, indexes: set[str], teams: list[str] | None
) -> None:
    live.reject(live.open("refund"))
    live.cases("refund")  # reads on
    live.start(live.workflow(pay))
    place.sql(
        "insert into runs (id, workflow, path, status, seq, wake, waits, attempt, started_at, changed_at)"
        " select 'r-x' || n.i, 'x' || (n.i - n.i / 50 * 50), path, 'done', seq, wake, waits, attempt, started_at + n.i, changed_at + n.i"
        f" from {NUMBERS[place.dialect]} n, (select * from runs limit 1) r"
    )
    crowd(place)
    store: Any = live.store
    given = {
        **dict.fromkeys(("status", "thread", "begins", "before", "before_id")),
        "limit": 5,
        "count_limit": 1000,
        "since": 0,
        "id": "r-1",
        "tool": "refund",
        "team": "",
        "workflow": "pay",
        "teams": store._teams(teams),
    }
    steps = plan(live, place, name, **given)

    used = set(re.findall(r"(?:USING (?:COVERING )?INDEX|Scan(?: Backward)? using) (\w+)", steps))
    assert used <= indexes, steps
    assert used, steps
    assert "Seq Scan" not in steps
    assert not re.search(r"SCAN (asks|runs|cases)$", steps, re.MULTILINE)


def test_what_a_person_may_still_take_back_is_found_by_when_it_counts(
    live: Desk, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.people.add("anna")
    ask = live.approve(live.open("refund"), by="anna", hold=8)
    crowd(place)

    name, given = asked_for(live, monkeypatch, lambda: live.store.settling("anna", 10))

    assert live.store.settling("anna", 10) == [ask.id]
    assert live.store.settling("ann", 10) == []
    assert "asks_next" in plan(live, place, name, **given)
