"""Every column of every table is compared with the journal by `verify`, or in the list of what it does not cover."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayso import Desk, File
from sayso.access.identities import link_identity
from sayso.access.passwords import set_password
from sayso.access.sessions import make_link, open_session
from sayso.store.audit import NOT_COVERED
from sayso.testing import FakeClock
from tests.keyed import call, law
from tests.places import Place

ORDER = {"events.pos", "events.xid"}  # given by the database, and moved by nobody but its owner
# By a few words of the line that says so: columns, and whole tables.
LISTED = {
    "The order of events of different streams": ORDER,
    "When a token or a session was last used": {"tokens.used_at", "sessions.seen_at", "tries"},
    "When a token or a webhook was made": {
        *("tokens.made_at", "tokens.prefix", "sessions.agent", "webhooks.made_at"),
    },
    "A credential that is gone": {"tokens.revoked_at"},
    "who holds a run or an ask": {
        *("asks.holder", "asks.lease_until", "runs.token", "runs.worker", "runs.lease_until"),
        *("webhooks.cursor", "webhooks.served_at", "webhooks.failures", "webhooks.holder"),
        *("webhooks.lease_until", "deliveries", "workers"),
    },
    "What a run waits for": {
        *("runs.wake", "runs.waits", "runs.attempt", "runs.doing", "runs.progress", "runs.code"),
        *("runs.started_at", "runs.changed_at", "asks.likeness", "asks.repeats", "asks.paced"),
    },
    "Indexes made from the journal": {
        *("cases", "texts", "tallies", "trail", "labels", "readers", "ask_files", "files.size"),
    },
    "Whether the database is a backup": {"desk"},
}
OTHERS = {
    **dict.fromkeys(("people.roles", "people.teams"), '["other"]'),
    "events.seq": 1_000_000,
    "people.active": 0,
    "webhooks.active": 0,
}


@pytest.fixture
def desk(place: Place, clock: FakeClock) -> Iterator[Desk]:
    """A desk with a row in every table that is compared."""
    with Desk(place.url, policy=law(), clock=clock, agent="shop", account="sam@till") as desk:
        desk.law.coin = lambda: 0.999  # nothing is picked
        make_link(desk.store)
        desk.approve(call(desk))
        desk.open("mail", {"to": "anna"}, files=[File("a.txt", b"hello")])

        @desk.workflow
        def greet(run: object) -> str:
            return run.step(str, "hello")  # type: ignore[attr-defined,no-any-return]

        assert desk.run(greet).result(0) == "hello"
        desk.people.add("sam", roles=["senior", "reviewer"])
        set_password(desk.store, "sam", "a few words are best", origin=desk.origin)
        link_identity(desk.store, "https://idp.example.org", "7", "sam", origin=desk.origin)
        open_session(desk.store, "sam", how="password", address="192.0.2.7", agent_string="Firefox")
        desk.tokens.make("shop")
        desk.webhooks.add("https://example.com/hook")
        assert desk.verify()
        yield desk


def columns(place: Place) -> list[tuple[str, str, str]]:
    """Return table, column and type of everything that is stored but the schema's own number."""
    if place.dialect == "postgres":
        return [
            (table, column, kind)
            for table, column, kind in place.sql(
                "select table_name, column_name, data_type from information_schema.columns"
                " where table_schema = 'public' order by table_name, ordinal_position"
            )
            if table != "sayso_schema"
        ]
    tables = place.sql(
        "select name from pragma_table_list where type = 'table' and name not like 'sqlite%'"
    )
    return [
        (table, row[1], row[2].lower())
        for (table,) in sorted(tables)
        for row in place.sql(f"pragma table_info({table})")
    ]


def other(value: object, kind: str) -> object:
    """Return another value than this one, of the same type."""
    if value is None:
        return 1 if "int" in kind else 0.5 if kind in ("real", "double precision") else "x"
    if isinstance(value, bytes | memoryview):
        return bytes(value)[:-1] + bytes([bytes(value)[-1] ^ 1])
    return value + 1 if isinstance(value, int | float) else f"{value}x"


def test_every_column_is_compared_or_in_the_list_of_what_is_not_e44(
    desk: Desk, place: Place
) -> None:
    listed = {name for names in LISTED.values() for name in names}
    unnoticed, tried = set(), set()
    keys: dict[str, str] = {"events": "hash"}
    for table, column, kind in columns(place):
        key, name = keys.setdefault(table, column), f"{table}.{column}"
        tried.add(table if table in listed else name)
        if table in listed or name in ORDER:
            continue
        value, row = place.sql(f"select {column}, {key} from {table} limit 1")[0]
        changed = OTHERS[name] if name in OTHERS else other(value, kind)
        moved = changed if column == key else row
        change = f"update {table} set {column} = ? where {key} = ?"

        place.sql(change, changed, row)
        if desk.verify():
            unnoticed.add(name)
        place.sql(change, value, moved)
        assert desk.verify(), name

    named = {name for name in listed & tried if "." in name}
    assert unnoticed == named - ORDER
    assert listed - tried <= ORDER, "SQLite has no xid"
    assert all(any(words in line for line in NOT_COVERED) for words in LISTED)
