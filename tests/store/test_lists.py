"""What a database of before becomes: tools, times of closing, and ranks for what informs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso import Desk
from tests.places import Place
from tests.store.before import database_at

_EVENTS = "stream, seq, kind, at, actor, payload, salt, digest, hash"
_ASKS = (
    "id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version, opened_at,"
    " due_at, effect, holder, lease_until, next_at, latest, agent, likeness, assignee, repeats,"
    " paced, team"
)


@pytest.fixture(params=["sqlite", "postgres"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A database as it was before, without anything in it."""
    with database_at(request, tmp_path, 7) as place:
        yield place


def carried(made: Place, old: Place) -> None:
    """Put what is in one database into an older one, with ranks as they were."""
    for row in made.sql(f"select {_EVENTS} from events order by pos"):
        old.sql(f"insert into events ({_EVENTS}) values ({', '.join('?' * 9)})", *row)
    before = _ASKS.replace("rank", "rank % 1000 / 100 - 1")
    for row in made.sql(f"select {before} from asks"):
        old.sql(f"insert into asks ({_ASKS}) values ({', '.join('?' * 25)})", *row)


def test_what_was_asked_before_is_listed_filtered_and_found(old: Place, tmp_path: Path) -> None:
    """The rows as they were, with ranks as they were: they are put right, and verify."""
    made = Place("sqlite", f"sqlite:///{tmp_path}/made.db")
    with Desk(made.url, agent="shop", account="sam") as desk:
        notice = desk.later.notice("Done").ask
        draft = desk.put(desk.forms.draft("Dear all", optional=True).content)
        held = desk.put(desk.forms.draft("Dear all").content)
        refund = desk.open("refund", {"order": "o\x00\x00ne \\u0000 \\\x00 \U0001f389"}, risk="low")
        first = desk.reject(desk.open("pay", {"n": 1}))
        gone = desk.withdraw(desk.open("pay", {"n": 2}))
        erased = desk.reject(desk.open("pay", {"n": 3}))
        desk.erase(erased, note="Asked for")
    carried(made, old)

    with Desk(old.url, agent="shop", account="sam") as desk:
        if old.dialect == "postgres":
            assert "0008_lists" in desk.store.migrate()
        assert [ask.id for ask in desk.inbox()][:2] == [held.id, refund.id]
        assert {ask.id for ask in desk.inbox()} == {held.id, refund.id, notice.id, draft.id}
        assert [ask.id for ask in desk.inbox(tool="refund")] == [refund.id]
        assert [ask.id for ask in desk.decided()] == [erased.id, gone.id, first.id]
        assert {ask.id for ask in desk.decided(tool="pay")} == {first.id, gone.id}
        assert [ask.id for ask in desk.inbox(text="refund o ne")] == [refund.id]
        assert desk.verify()


DAMAGED = [
    *("{broken", "", "[1]", "7", "null", '"text"', "\ufeff{}", '{"content": 7}'),
    *('{"content": {"proposal": {"tool": "\\ud800"}}}', '{"content": {"optional": [true]}}'),
]


def test_a_damaged_journal_stops_no_migration(old: Place, tmp_path: Path) -> None:
    """Whatever stands in the first event of one ask, all others are listed."""
    made = Place("sqlite", f"sqlite:///{tmp_path}/made.db")
    with Desk(made.url, agent="shop", account="sam") as desk:
        drafts = [desk.put(desk.forms.draft(f"Dear {n}", optional=True).content) for n in range(2)]
        asks = [desk.open("pay", {"n": n}) for n in range(len(DAMAGED))]
        whole = desk.open("refund", {"order": 7})
        closed = desk.withdraw(desk.open("pay", {"n": -1}))
    carried(made, old)
    deep = "[" * 20_000  # too much for some readers
    old.sql("update events set payload = ? where stream = ? and seq = 1", deep, closed.id)
    for ask, text in zip(asks, DAMAGED, strict=True):
        old.sql("update events set payload = ? where stream = ? and seq = 1", text, ask.id)
    old.sql("update events set payload = ? where stream = ? and seq = 1", "{", drafts[0].id)

    with Desk(old.url, agent="shop", account="sam") as desk:
        desk.store.migrate()
        page = desk.inbox()
        assert [ask.id for ask in desk.inbox(tool="refund")] == [whole.id]
        assert {whole.id, drafts[1].id} <= {ask.id for ask in page}
        assert page.damaged
        assert old.one("select rank from asks where id = ?", drafts[1].id) >= 1000
