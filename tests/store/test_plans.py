"""How the databases find what they are asked for: what was ever stored must not matter."""

from __future__ import annotations

from typing import Any

import pytest

from sayso import Desk
from tests.places import Place

# Small tables are read whole, whatever indexes there are; so the planner is told not to.
ONLY_INDEXES = ("set enable_seqscan = off", "set enable_bitmapscan = off", "set enable_sort = off")


def plan(desk: Desk, place: Place, name: str, **parameters: Any) -> str:
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


def inbox_parameters(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what the store asks its database for when somebody looks at the inbox."""
    store: Any = desk.store
    asked: list[dict[str, Any]] = []
    really = store._rows

    def noted(name: str, **parameters: Any) -> Any:
        asked.append(parameters)
        return really(name, **parameters)

    monkeypatch.setattr(store, "_rows", noted)
    desk.inbox()
    return asked[-1]


def test_page_and_count_walk_the_index_of_open_asks_until_they_have_enough(
    live: Desk, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.open("refund")
    steps = plan(live, place, "inbox", **inbox_parameters(live, monkeypatch))

    assert steps.count("asks_open") == 2
    assert "MATERIALIZE wanted" not in steps  # SQLite: every open ask gathered first
    assert "CTE wanted" not in steps  # PostgreSQL: the same


@pytest.mark.parametrize(("name", "index"), [("due", "asks_next"), ("lapsed", "asks_lapsing")])
def test_what_is_due_is_looked_up_by_its_time(
    live: Desk, place: Place, name: str, index: str
) -> None:
    live.open("refund")
    steps = plan(live, place, name, limit=200)

    found = "SEARCH asks USING INDEX" if place.dialect == "sqlite" else "Index Cond: ("
    assert index in steps
    assert found in steps
