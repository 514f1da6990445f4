"""What changes under a decision while it is being worked out: people, rows, seals."""

from __future__ import annotations

import pytest

from sayso import AskClosed, Desk
from sayso.asks.standing import standing
from sayso.errors import Tampered, UnknownPerson
from sayso.store.contract import Append, Store
from tests.places import Place


class Slow:
    """A store in which something else happens between a reader's look and their write."""

    def __init__(self, store: Store, meanwhile: list[object]) -> None:
        self._store = store
        self._meanwhile = meanwhile

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def commit(self, *appends: Append, synced: bool = True) -> bool:
        if self._meanwhile:
            happens = self._meanwhile.pop()
            assert callable(happens)
            happens()
        return self._store.commit(*appends, synced=synced)


def slowed(desk: Desk, monkeypatch: pytest.MonkeyPatch, happens: object) -> None:
    slow = Slow(desk.store, [happens])
    monkeypatch.setattr(type(desk), "store", property(lambda _: slow))


@pytest.mark.parametrize("leaves", [True, False], ids=["whoever votes leaves", "somebody comes"])
def test_nobody_decides_who_is_not_on_the_desk_by_then(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, leaves: bool
) -> None:
    for name in ("anna", "ben") if leaves else ():
        desk.people.add(name)
    ask = desk.open("refund", {"n": 1})

    def changed() -> None:
        monkeypatch.undo()
        desk.people.remove("anna") if leaves else desk.people.add("anna")

    slowed(desk, monkeypatch, changed)
    with pytest.raises(UnknownPerson):
        desk.approve(ask, by="anna" if leaves else None)
    assert desk.get(ask.id).open


def test_a_list_that_points_to_another_journal_is_not_followed(desk: Desk, place: Place) -> None:
    approved = desk.approve(desk.open("pay", {"amount": 1}))
    other = desk.open("pay", {"amount": 1_000_000})
    place.sql(f"update asks set stream = '{approved.id}' where id = '{other.id}'")

    with pytest.raises(Tampered):
        desk.begin(other.id)
    assert not desk.verify()


def test_sealing_again_does_not_make_a_change_good(desk: Desk, place: Place) -> None:
    """The second seal sees the same number with another hash; the first still stands."""
    ask = desk.open("pay", {"amount": 1_000_000})
    desk.reject(ask)
    kept = desk.seal()
    place.sql(f"delete from events where stream = '{ask.id}' and seq = 2")
    place.sql(f"update asks set status = 'open', voters = '||' where id = '{ask.id}'")
    desk.approve(ask)
    desk.seal()

    report = desk.verify(seal=kept)

    assert [problem.what for problem in report.problems] == ["rewritten"]


def test_a_damaged_journal_does_not_stop_the_clock_for_the_others(desk: Desk, place: Place) -> None:
    damaged = desk.open("pay", {"n": 1}, within="1h")
    other = desk.open("pay", {"n": 2}, within="2h")
    place.sql(f"update events set payload = '[]' where stream = '{damaged.id}'")
    later = standing(desk.store, other.id).now.replace(year=2030)

    assert desk.sweep(later).expired == (other.id,)
    with pytest.raises(AskClosed):
        desk.approve(other)
    assert [ask.id for ask in desk.inbox()] == []
    assert desk.inbox().damaged != ()


@pytest.mark.parametrize("seq", [1, 2], ids=["the question", "what was said to it"])
def test_a_journal_that_nests_without_end_is_a_damaged_one(
    desk: Desk, place: Place, seq: int
) -> None:
    """What reads JSON gives up with an error of its own kind, which must not reach the list."""
    desk.people.add("anna")
    desk.people.add("ben")
    deep, other = (desk.open("pay", {"n": n}, needs=["2 reviewer"], within="1h") for n in (1, 2))
    desk.approve(deep, by="anna")
    nested = "[" * 200_000
    place.sql(f"update events set payload = '{nested}' where stream = '{deep.id}' and seq = {seq}")

    assert [ask.id for ask in desk.inbox()] == [other.id]
    assert [deep.id in words for words in desk.inbox().damaged] == [True]
    assert [ask.id for ask in desk.inbox(text="pay")] == [other.id]
    with pytest.raises(Tampered):
        desk.get(deep.id)
    assert not desk.verify()
    assert desk.sweep(standing(desk.store, other.id).now.replace(year=2030)).expired == (other.id,)


def test_what_is_over_is_held_by_nobody(desk: Desk, place: Place) -> None:
    """Or a program that lives long would renew its whole past, again and again."""
    with desk.heartbeat.holding() as lease:
        confirm = desk.put(desk.forms.confirm("Go on?").content, lease=lease)
        draft = desk.put(desk.forms.draft("Dear all").content, lease=lease)
        refused = desk.put(desk.forms.action("pay", {}), lease=lease)
        waits = desk.put(desk.forms.action("pay", {}), lease=lease)
        desk.approve(confirm)
        desk.approve(draft)
        desk.reject(refused)

    held = place.sql("select id from asks where holder is not null")
    assert held == [(waits.id,)]


def test_erasing_forgets_the_doubt_and_keeps_the_verdict(desk: Desk, place: Place) -> None:
    ask = desk.approve(desk.open("pay", {"to": "ada lovelace"}, key="k-1", thread="t-1"))
    desk.begin(ask, limit="1s")
    (doubt_id,) = desk.sweep(standing(desk.store, ask.id).now.replace(year=2030)).doubts
    desk.reject(desk.get(doubt_id))

    erased = desk.erase(ask, "she asked for it")

    assert erased.decision is not None
    assert erased.decision.verdict == "approve"
    rows = place.sql("select payload from events") + place.sql("select key, thread from asks")
    assert "ada lovelace" not in str(rows)
    assert "k-1" not in str(rows)
    assert "t-1" not in str(rows)
    assert desk.verify()
