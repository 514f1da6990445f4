"""What every store must do: one suite, run on both databases.

A test here speaks to the `Store` protocol only, never to a dialect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from sayso import Ask, Desk, File
from sayso.access.passwords import set_password
from sayso.asks.opening import opening
from sayso.asks.standing import grow
from sayso.errors import BadValue
from sayso.model.actor import CLOCK, Actor, Origin, Person
from sayso.model.event import GENESIS, Event, link
from sayso.model.file import note_file
from sayso.model.folding import fold
from sayso.store import Store
from sayso.store.contract import (
    Append,
    Head,
    HoldRun,
    InboxQuery,
    Lease,
    LeaveRun,
    Opening,
    Paced,
    RunQuery,
    RunRow,
    StartRun,
    SteerRun,
)
from sayso.store.fleet import Worker
from sayso.testing import FakeClock
from tests.places import Place
from tests.together import at_once, until

ORIGIN = Origin("python", "sam@till")
SAM = Actor("person", "sam")


def fresh(desk: Desk, ask_id: str = "a-0001", *, key: str | None = None, **terms: Any) -> Opening:
    lease = terms.pop("lease", None)
    content = desk.forms.action("refund", {"amount": 40}, **terms)
    return opening(ask_id, content, store=desk.store, origin=ORIGIN, key=key, lease=lease)


def opened(desk: Desk, ask_id: str = "a-0001", **terms: Any) -> Ask:
    append = fresh(desk, ask_id, **terms)
    assert desk.store.commit(append)
    return append.ask


def next_of(ask: Ask, kind: str = "ask.decided", *, at: datetime, **guards: Any) -> Append:
    payload = {"verdict": "approve", "via": "python", "account": "sam@till"}
    event, grown = grow(ask, kind, at=at, actor=SAM, payload=payload)
    return Append(event=event, ask=grown, **guards)


def note(stream: str, seq: int, *, at: datetime, previous: bytes = GENESIS) -> Event:
    return link(
        stream, seq, "noted", at=at, actor=CLOCK, payload={"n": seq}, salt=b"s", previous=previous
    )


def next_note(store: Store, stream: str) -> Append:
    """Return the next line of a stream, chained to its last one."""
    head = store.head(stream)
    return Append(event=note(stream, head.seq + 1, at=store.now(), previous=head.hash))


def read(event: Event) -> Event:
    """Return an event as it is read back: what it was chained to is in its hash alone."""
    return event._replace(previous=None)


def written(store: Store) -> list[tuple[str, int]]:
    return [(event.stream, event.seq) for batch in store.scan() for event in batch]


# --- commit ---


def test_what_was_committed_is_read_back_as_it_was_written(desk: Desk, store: Store) -> None:
    append = fresh(desk, risk="high", within="1h", needs=["1 senior"], key="k")
    assert store.commit(append)

    loaded = store.load("a-0001")

    assert loaded is not None
    assert loaded.events == (read(append.event),)
    assert fold(loaded.events) == append.ask
    assert loaded.now == store.now()
    assert loaded.roster.solo
    assert (loaded.gone, loaded.holder) == (False, None)


def test_a_place_in_a_stream_and_an_id_are_given_once(desk: Desk, store: Store) -> None:
    ask = opened(desk)
    assert not store.commit(fresh(desk, "a-0001"))
    winner = next_of(ask, at=store.now())

    assert store.commit(winner)
    assert not store.commit(next_of(ask, at=store.now() + timedelta(seconds=1)))

    assert store.stream("a-0001")[-1] == read(winner.event)
    assert store.total() == 2


def test_of_many_racers_one_commits(desk: Desk, store: Store) -> None:
    for trial in range(10):
        ask = opened(desk, f"a-{trial:04}")
        racers = [next_of(ask, at=store.now()) for _ in range(8)]

        won = at_once([partial(store.commit, one) for one in racers])

        assert won.count(True) == 1
        assert won.count(False) == 7
        assert store.stream(ask.stream)[-1] == read(racers[won.index(True)].event)


def test_several_appends_are_written_together(desk: Desk, store: Store) -> None:
    assert store.commit(fresh(desk, "a-0001"), fresh(desk, "a-0002"))

    assert written(store) == [("a-0001", 1), ("a-0002", 1)]


@pytest.mark.parametrize("order", [1, -1], ids=["the lost one last", "the lost one first"])
def test_one_lost_race_undoes_everything(desk: Desk, store: Store, order: int) -> None:
    ask = opened(desk)
    store.commit(next_of(ask, at=store.now()))
    appends = [fresh(desk, "a-0002"), next_of(ask, at=store.now())][::order]

    assert not store.commit(*appends)

    assert written(store) == [("a-0001", 1), ("a-0001", 2)]
    assert store.load("a-0002") is None


def test_two_events_of_one_stream_can_go_together(desk: Desk, store: Store) -> None:
    ask = opened(desk)
    voted = next_of(ask, "ask.voted", at=store.now())
    assert voted.ask is not None
    decided = next_of(voted.ask, at=store.now())

    assert store.commit(voted, decided)

    assert store.head("a-0001") == Head(3, decided.event.hash)


def test_an_idempotency_key_is_given_once(desk: Desk, store: Store) -> None:
    opened(desk, "a-0001", key="order-7")

    assert not store.commit(fresh(desk, "a-0002", key="order-7"))

    assert store.find_key("order-7") == "a-0001"
    assert store.find_key("order-8") is None
    assert written(store) == [("a-0001", 1)]


# --- guards ---

DUE = timedelta(hours=1)


@pytest.mark.parametrize(
    ("passed", "guarded", "lands"),
    [
        (DUE - timedelta(microseconds=1), True, True),
        (DUE, True, False),
        (DUE, False, True),
        (2 * DUE, True, False),
    ],
)
def test_a_guarded_append_is_refused_once_it_is_past_due(
    desk: Desk, clock: FakeClock, store: Store, passed: timedelta, guarded: bool, lands: bool
) -> None:
    ask = opened(desk, within=DUE)
    clock.advance(passed)

    before = ask.due_at if guarded else None

    assert store.commit(next_of(ask, at=store.now(), before=before)) is lands

    assert store.total() == (2 if lands else 1)


def test_without_a_deadline_the_guard_lets_everything_in(
    desk: Desk, clock: FakeClock, store: Store
) -> None:
    ask = opened(desk)
    clock.advance(timedelta(days=9999))

    assert store.commit(next_of(ask, at=store.now(), before=ask.due_at, held=True))


@pytest.mark.parametrize(
    ("passed", "held", "lands"),
    [
        (timedelta(seconds=29), True, True),
        (timedelta(seconds=30), True, False),
        (timedelta(seconds=30), False, True),
    ],
)
def test_a_guarded_append_is_refused_once_the_lease_lapsed(
    desk: Desk, clock: FakeClock, store: Store, passed: timedelta, held: bool, lands: bool
) -> None:
    ask = opened(desk, lease=Lease("me", timedelta(seconds=30)))
    clock.advance(passed)

    assert store.commit(next_of(ask, at=store.now(), held=held)) is lands


def test_a_guarded_append_is_refused_once_the_people_changed(desk: Desk, store: Store) -> None:
    """Whoever counted votes must have counted them by the people who are there."""
    ask = opened(desk)
    loaded = store.load(ask.id)
    assert loaded is not None
    desk.people.add("anna")

    assert not store.commit(next_of(ask, at=store.now(), people=loaded.people))
    now = store.load(ask.id)
    assert now is not None
    assert store.commit(next_of(ask, at=store.now(), people=now.people))


# --- leases ---


def leased(store: Store, ask_id: str = "a-0001") -> tuple[str | None, bool]:
    loaded = store.load(ask_id)
    assert loaded is not None
    return loaded.holder, loaded.gone


def test_a_lease_lapses_unless_it_is_renewed(desk: Desk, clock: FakeClock, store: Store) -> None:
    span = timedelta(seconds=30)
    opened(desk, lease=Lease("me", span))
    clock.advance("29s")
    store.renew("me", span)
    clock.advance("29s")
    assert leased(store) == ("me", False)

    store.renew("somebody else", span)
    clock.advance("1s")

    assert leased(store) == ("me", True)


def test_beginning_hands_the_lease_over_and_lapsed_ones_are_listed(
    desk: Desk, clock: FakeClock, store: Store
) -> None:
    ask = opened(desk)
    store.commit(next_of(ask, at=store.now()))
    call = desk.begin(ask, limit="1m")
    other = desk.begin(desk.approve(desk.open("refund", {"n": 2})), limit="2m").ask

    assert leased(store) == (call.holder, False)
    assert store.lapsed(10) == []
    assert store.lapsed(10, clock.now() + timedelta(minutes=2)) == ["a-0001", other.id]
    assert store.lapsed(1, clock.now() + timedelta(minutes=2)) == ["a-0001"]
    clock.advance("1m")
    assert store.lapsed(10) == ["a-0001"]
    desk.finish(call, "ok")
    assert store.lapsed(10) == []


# --- deadlines ---


def test_due_lists_the_earliest_that_is_open_first_and_no_more_than_asked_for(
    desk: Desk, clock: FakeClock, store: Store
) -> None:
    for ask_id, hours in (("a-0003", 3), ("a-0001", 1), ("a-0002", 2)):
        opened(desk, ask_id, within=timedelta(hours=hours))
    opened(desk, "a-0004")
    store.commit(next_of(opened(desk, "a-0005", within="1h"), at=store.now()))

    assert store.due(10) == []
    clock.advance("2h")
    assert store.due(10) == ["a-0001", "a-0002"]
    assert store.due(1) == ["a-0001"]
    assert store.due(10, clock.now() + timedelta(hours=1)) == ["a-0001", "a-0002", "a-0003"]


def test_what_a_person_may_still_take_back_is_listed_the_last_first(
    desk: Desk, clock: FakeClock, store: Store
) -> None:
    for name in ("anna", "ann"):
        desk.people.add(name, roles=["reviewer"])
    for ask_id in ("a-0001", "a-0002", "a-0003"):
        ask = opened(desk, ask_id)
        desk.reject(ask, by="ann" if ask_id == "a-0003" else "anna", hold="8s")
        clock.advance("1s")

    assert store.settling("anna", 10) == ["a-0002", "a-0001"]
    assert store.settling("anna", 1) == ["a-0002"]
    assert store.settling("ann", 10) == ["a-0003"]
    clock.advance("5s")
    assert store.settling("anna", 10) == ["a-0002"]
    assert store.settling("nobody", 10) == []


# --- streams ---


def test_a_stream_nobody_wrote_to_is_empty(store: Store) -> None:
    assert store.head("nothing") == Head(0, GENESIS)
    assert store.stream("nothing") == []
    assert store.load("a-0000") is None


@pytest.mark.parametrize("ask_id", ["", "nothing", "a-0001' or '1'='1", "x" * 100_000, "a-0001\n"])
def test_what_is_no_id_finds_nothing(desk: Desk, store: Store, ask_id: str) -> None:
    opened(desk, "a-0001")

    assert store.load(ask_id) is None


def test_a_stream_can_be_read_from_a_place_on(desk: Desk, store: Store) -> None:
    before = GENESIS
    for seq in range(1, 6):
        event = note("log", seq, at=store.now(), previous=before)
        assert store.commit(Append(event=event))
        before = event.hash

    assert [event.seq for event in store.stream("log")] == [1, 2, 3, 4, 5]
    assert [event.seq for event in store.stream("log", after=3)] == [4, 5]
    assert store.head("log") == Head(5, before)


@pytest.mark.parametrize("batch", [1, 2, 3, 7, 2000])
def test_a_scan_yields_every_event_once_stream_by_stream(
    desk: Desk, store: Store, batch: int
) -> None:
    for n in range(4):
        ask = opened(desk, f"a-000{n}")
        if n % 2:
            store.commit(next_of(ask, at=store.now()))

    seen = [(event.stream, event.seq) for events in store.scan(batch) for event in events]

    assert sorted(seen) == sorted(set(seen))
    assert len(seen) == store.total() == 6
    streams = [stream for stream, _ in seen]
    assert streams == sorted(streams, key=streams.index), "a stream stays together"
    assert [seq for stream, seq in seen if stream == "a-0001"] == [1, 2]


# --- the tail ---


def test_the_tail_goes_on_from_any_cursor_and_from_its_tip(desk: Desk, store: Store) -> None:
    begin = store.tip()
    for n in range(7):
        opened(desk, f"a-000{n}")
    everything = store.tail(begin, 100)

    assert [event.stream for event in everything] == [f"a-000{n}" for n in range(7)]
    assert store.tail(None, 100) == everything
    for place, event in enumerate(everything):
        assert store.tail(event.cursor, 100) == everything[place + 1 :]
        assert store.tail(event.cursor, 2) == everything[place + 1 : place + 3]
    tip = store.tip()
    assert store.tail(tip, 100) == []
    opened(desk, "a-0007")
    assert [event.stream for event in store.tail(tip, 100)] == ["a-0007"]


@pytest.mark.parametrize("cursor", ["x", "1;2", "-1", "1.x", "9" * 40])
def test_a_cursor_from_elsewhere_is_refused(store: Store, cursor: str) -> None:
    with pytest.raises(BadValue, match="no cursor"):
        store.tail(cursor, 10)


# --- people ---


def test_people_and_their_event_are_one_commit(desk: Desk, store: Store) -> None:
    event = note("people", 1, at=store.now())
    anna = Person("anna", frozenset({"senior", "legal"}))

    assert store.commit(Append(event=event, person=anna))
    assert store.register().people == {"anna": {"senior", "legal"}}
    assert store.roster() == store.widen(store.register())

    lost = Append(event=note("people", 1, at=store.now()), person=Person("mallory"))
    assert not store.commit(lost)
    assert set(store.roster().people) == {"anna"}


def test_somebody_inactive_is_not_on_the_roster(store: Store) -> None:
    first = note("people", 1, at=store.now())
    second = note("people", 2, at=store.now(), previous=first.hash)
    store.commit(Append(event=first, person=Person("anna")))
    store.commit(Append(event=second, person=Person("anna"), active=False))

    assert store.roster().solo


# --- the inbox ---


def test_a_page_carries_whole_asks_and_the_count(desk: Desk, store: Store) -> None:
    empty = store.inbox(InboxQuery())
    assert (empty.loaded, empty.count, empty.cursor) == ((), 0, None)
    asks = [opened(desk, f"a-000{n}", risk="high") for n in range(3)]

    page = store.inbox(InboxQuery(limit=2))

    assert page.count == 3
    assert [fold(loaded.events) for loaded in page.loaded] == asks[:2]
    assert page.cursor is not None
    rest = store.inbox(InboxQuery(limit=2, after=page.cursor))
    assert [fold(loaded.events) for loaded in rest.loaded] == asks[2:]
    assert (rest.count, rest.cursor) == (3, None)


def test_what_is_closed_is_a_page_of_its_own(desk: Desk, store: Store) -> None:
    asks = [opened(desk, f"a-000{n}") for n in range(3)]
    for ask in asks[:2]:
        desk.reject(ask)

    page = store.closed(InboxQuery(limit=1))

    assert (page.count, store.inbox(InboxQuery()).count) == (2, 1)
    assert [loaded.events[0].stream for loaded in page.loaded] == [asks[1].id]
    rest = store.closed(InboxQuery(after=page.cursor))
    assert [loaded.events[0].stream for loaded in rest.loaded] == [asks[0].id]
    assert rest.cursor is None


# --- the index ---


def test_the_index_says_what_the_journal_says(desk: Desk, store: Store) -> None:
    ask = opened(desk, risk="high", within="1h", run="r", thread="t", key="k")

    row = store.indexed([ask.id, "a-9999"])[ask.id]

    assert (row["status"], row["version"], row["risk"], row["key"]) == ("open", 1, "high", "k")
    assert set(store.indexed([ask.id, "a-9999"])) == {ask.id}
    assert store.indexed([]) == {}
    store.commit(next_of(ask, at=store.now()))
    assert store.indexed([ask.id])[ask.id]["status"] == "decided"
    assert store.strays() == []


def test_an_ask_without_a_journal_is_a_stray(desk: Desk, store: Store, place: Place) -> None:
    opened(desk, "a-0001")
    opened(desk, "a-0002")
    place.sql("delete from events where stream = 'a-0001'")

    assert store.strays() == ["a-0001"]


# --- erasing ---


def test_erasing_nulls_payload_and_salt_and_writes_why(desk: Desk, store: Store) -> None:
    ask = opened(desk)
    decided = next_of(ask, at=store.now())
    store.commit(decided)
    assert decided.ask is not None

    assert store.erase(ask.stream, [1, 2], next_of(decided.ask, "payload.erased", at=store.now()))

    events = store.stream(ask.stream)
    assert [(event.text is None, event.salt is None) for event in events] == [
        (True, True),
        (True, True),
        (False, False),
    ]
    assert [event.hash for event in events[:2]] == [ask.head, decided.event.hash]


def test_an_erasure_that_lost_a_race_erases_nothing(desk: Desk, store: Store) -> None:
    ask = opened(desk)
    stale = next_of(ask, "payload.erased", at=store.now())
    store.commit(next_of(ask, at=store.now()))

    assert not store.erase(ask.stream, [1], stale)

    assert store.stream(ask.stream)[0].text is not None


def test_bytes_are_kept_once_and_go_with_the_last_ask_that_shows_them(
    desk: Desk, store: Store, place: Place
) -> None:
    note = note_file("note.txt", b"charged twice")
    asks = [desk.open("refund", {"order": n}, files=[File("a", b"charged twice")]) for n in (1, 2)]

    assert store.file(note.digest) == b"charged twice"
    assert (place.count("files"), place.count("ask_files")) == (1, 2)

    left = []
    for ask in asks:
        assert store.erase(ask.stream, [1], next_of(ask, "payload.erased", at=store.now()))
        left.append(store.file(note.digest))
    assert left == [b"charged twice", None]
    assert place.count("ask_files") == 0


# --- the bell ---


def heard(store: Store, cause: Callable[[], object]) -> bool:
    rings: list[int] = []
    with store.bell.listening(lambda: rings.append(1)):
        cause()
        until(lambda: rings)
    return bool(rings)


def test_the_bell_rings_at_a_commit_here_or_elsewhere_and_when_the_clock_is_moved(
    desk: Desk, clock: FakeClock, store: Store, place: Place
) -> None:
    assert heard(store, lambda: opened(desk))
    with Desk(place.url) as other:
        assert heard(store, lambda: other.open("refund", {"amount": 1}))
    assert heard(store, lambda: clock.advance("1h"))


def test_nobody_is_called_after_they_stopped_listening(desk: Desk, store: Store) -> None:
    rings: list[int] = []
    with store.bell.listening(lambda: rings.append(1)):
        opened(desk, "a-0001")
        until(lambda: rings)
    count = len(rings)

    opened(desk, "a-0002")

    assert len(rings) == count


# --- the rest ---


def test_the_schema_is_up_to_date_and_migrating_again_does_nothing(store: Store) -> None:
    store.total()
    found, newest = store.schema()

    assert found == newest >= 1
    assert store.migrate() == []


def test_the_health_of_a_database_can_be_shown(store: Store) -> None:
    health = store.health()

    assert health
    assert all(isinstance(value, str) and value for value in health.values())


def test_a_closed_store_opens_again_when_it_is_used(desk: Desk, store: Store) -> None:
    opened(desk, "a-0001")
    store.close()
    store.close()

    assert store.total() == 1


# --- runs ---

SPAN = timedelta(seconds=30)


def new_run(store: Store, run_id: str = "r-0001", **given: Any) -> RunRow:
    now = store.now()
    plain: dict[str, Any] = {"workflow": "refund", "path": "app:refund", "thread": None}
    row = RunRow(
        id=run_id, **{**plain, "status": "ready", **given}, started_at=now, changed_at=now, now=now
    )
    assert store.commit(Append(event=note(run_id, 1, at=now)), run=StartRun(row))
    return row


def claimed(store: Store, token: str = "t1", only: str | None = None) -> RunRow | None:
    return store.claim(("refund",), token, "till:1", SPAN, only)


def held(run_id: str = "r-0001", token: str = "t1") -> HoldRun:
    return HoldRun(id=run_id, token=token, seq=2, span=SPAN)


def test_a_run_is_claimed_once(store: Store) -> None:
    new_run(store)
    assert store.claimable(["other", "refund"])
    assert not store.claimable(["other"])
    first = claimed(store)
    assert first is not None
    assert not store.claimable(["refund"])
    assert (first.id, first.status, first.token, first.attempt) == ("r-0001", "running", "t1", 1)
    assert claimed(store, "t2") is None
    assert store.run("r-0001") == first
    assert store.run("r-none") is None


def test_runs_that_have_been_ready_for_long_or_fell_silent_are_overdue(
    store: Store, clock: FakeClock
) -> None:
    new_run(store, "r-0001", workflow="other")
    new_run(store, "r-0002")
    assert claimed(store) is not None
    clock.advance(SPAN.total_seconds() + 1)
    new_run(store, "r-0003")
    clock.advance(2)
    new_run(store, "r-0004")
    late = timedelta(seconds=2)

    assert store.overdue(["refund"], late, 10) == ["r-0002", "r-0003"]
    assert store.overdue(["refund"], late, 1) == ["r-0002"]
    assert store.overdue(["none"], late, 10) == []


def test_only_what_is_served_is_claimed_the_oldest_first(store: Store, clock: FakeClock) -> None:
    new_run(store, "r-0001", workflow="other")
    clock.advance(1)
    new_run(store, "r-0002")
    clock.advance(1)
    new_run(store, "r-0003")
    assert store.claim((), "t0", "till:1", SPAN) is None
    found = [claimed(store, f"t{n}") for n in range(3)]
    assert [row.id if row else None for row in found] == ["r-0002", "r-0003", None]


def test_a_run_stays_with_its_version_while_somebody_who_has_it_is_alive(
    store: Store, clock: FakeClock
) -> None:
    new_run(store, code="1")
    store.put_worker(Worker("w1", "old:1", ("refund",), store.now(), codes=("refund=1",)), SPAN)
    newer = ("refund", "refund|=2")
    assert not store.claimable(newer)
    assert store.claim(newer, "t1", "new:1", SPAN) is None
    assert store.overdue(newer, timedelta(), 1) == []
    assert store.claimable(("refund", "refund|=1"))

    clock.advance("16s")

    first = store.claim(newer, "t1", "new:1", SPAN)
    assert first is not None
    assert first.code == "1"
    assert store.commit(
        next_note(store, "r-0001"),
        run=HoldRun(id="r-0001", token="t1", seq=2, span=timedelta(), code="2"),
    )
    store.put_worker(Worker("w2", "new:1", ("refund",), store.now(), codes=("refund=2",)), SPAN)
    assert store.claim(("refund", "refund|=1"), "t2", "old:1", SPAN) is None, "fallen silent, too"
    store.drop_worker("w2")
    assert store.claim(("refund", "refund|=1"), "t2", "old:1", SPAN) is not None


def test_a_run_of_unknown_code_is_anybodys(store: Store) -> None:
    new_run(store)
    store.put_worker(Worker("w1", "old:1", ("refund",), store.now(), codes=("refund=",)), SPAN)
    assert store.claim(("refund", "refund|=2"), "t1", "new:1", SPAN) is not None


def test_a_run_whose_worker_fell_silent_is_claimed_anew(store: Store, clock: FakeClock) -> None:
    new_run(store)
    claimed(store)
    clock.advance("29s")
    assert store.beat("r-0001", "t1", SPAN, "paying")
    clock.advance("29s")
    assert claimed(store, "t2") is None
    clock.advance("2s")
    again = claimed(store, "t2")
    assert again is not None
    assert (again.token, again.attempt, again.doing) == ("t2", 2, "paying")
    assert not store.beat("r-0001", "t1", SPAN, None)


def test_the_fence_lets_only_the_last_claimer_write(store: Store, clock: FakeClock) -> None:
    new_run(store)
    claimed(store)
    clock.advance("31s")
    claimed(store, "t2")
    late = next_note(store, "r-0001")
    assert not store.commit(late, run=held(token="t1"))
    assert store.head("r-0001").seq == 1
    assert store.commit(late, run=held(token="t2"))


def test_what_is_written_under_a_fence_is_written_whole_or_not_at_all(
    desk: Desk, store: Store
) -> None:
    ask = opened(desk)
    new_run(store)
    claimed(store)
    assert store.commit(next_of(ask, at=store.now()))
    second = next_note(store, "r-0001")
    assert not store.commit(second, next_of(ask, at=store.now()), run=held())
    assert store.head("r-0001").seq == 1


def test_what_comes_too_late_takes_everything_back_that_went_before_it(
    desk: Desk, store: Store, clock: FakeClock
) -> None:
    ask = opened(desk, within="1h", run="r-0001")
    new_run(store)
    clock.advance("1h")
    before = claimed(store)
    late = next_of(ask, at=store.now(), before=ask.due_at)
    assert not store.commit(late)
    assert store.run("r-0001") == before  # not woken either
    clock.advance("1s")
    noted = next_note(store, "r-0001")
    assert not store.commit(late, noted, run=held())
    row = store.run("r-0001")
    assert row is not None
    assert before is not None
    assert (row.seq, row.wake, row.lease_until) == (1, 0, before.lease_until)
    assert store.head("r-0001").seq == 1


@pytest.mark.parametrize(("waits", "status"), [("a-0001", "ready"), ("a-0002", "waiting")])
def test_a_decision_wakes_the_run_that_waits_for_it_and_no_other(
    desk: Desk, store: Store, waits: str, status: str
) -> None:
    ask = opened(desk, run="r-0001")
    new_run(store)
    claimed(store)
    paused = LeaveRun(id="r-0001", token="t1", seq=1, status="waiting", waits=(waits,), wake=0)
    assert store.commit(run=paused)
    assert store.commit(next_of(ask, at=store.now()))
    row = store.run("r-0001")
    assert row is not None
    assert (row.status, row.wake, row.token) == (status, 1, None)


def test_a_pause_misses_when_a_decision_came_first(desk: Desk, store: Store) -> None:
    ask = opened(desk, run="r-0001")
    new_run(store)
    claimed(store)
    assert store.commit(next_of(ask, at=store.now()))
    paused = LeaveRun(id="r-0001", token="t1", seq=1, status="waiting", waits=(ask.id,), wake=0)
    assert not store.commit(run=paused)
    row = store.run("r-0001")
    assert row is not None
    assert (row.status, row.token) == ("running", "t1")


def test_somebody_else_ends_a_run_and_its_worker_writes_no_more(store: Store) -> None:
    new_run(store)
    claimed(store)
    ended = SteerRun(id="r-0001", seq=2, before="running", status="cancelled")
    assert store.commit(next_note(store, "r-0001"), run=ended)
    assert not store.commit(next_note(store, "r-0001"), run=held())
    assert not store.commit(run=ended)


def test_a_thread_has_one_run_at_a_time(store: Store) -> None:
    new_run(store, thread="12")
    now = store.now()
    other = RunRow(
        id="r-0002", workflow="refund", path="app:refund", thread="12", status="ready",
        started_at=now, changed_at=now, now=now,
    )  # fmt: skip
    append = Append(event=note("r-0002", 1, at=now))
    assert not store.commit(append, run=StartRun(other))
    busy = claimed(store)
    assert store.run_of_thread("12") == busy
    assert store.commit(run=LeaveRun(id="r-0001", token="t1", seq=1, status="done"))
    assert store.run_of_thread("12") is None
    assert store.commit(append, run=StartRun(other))


def test_runs_that_are_not_over_are_listed_and_counted_at_one_moment(
    store: Store, clock: FakeClock
) -> None:
    for number in range(1, 5):
        new_run(store, f"r-000{number}")
        clock.advance(1)
    claimed(store)
    assert store.commit(run=LeaveRun(id="r-0001", token="t1", seq=1, status="done"))

    found = store.runs_now(2)
    assert [row.id for row in found.rows] == ["r-0004", "r-0003"]
    assert {status: count for status, count in found.counts.items() if count} == {"ready": 3}
    new_run(store, "r-0005", team="billing")
    assert store.runs_now(2, ("ops",)).counts["ready"] == 3
    assert store.runs_now(2, ("billing",)).counts["ready"] == 4


def test_runs_are_listed_the_newest_first_page_by_page(store: Store, clock: FakeClock) -> None:
    for number in range(1, 6):
        new_run(store, f"r-000{number}", thread="12" if number == 3 else None)
        clock.advance(1)
    first = store.runs(RunQuery(limit=2))
    assert [row.id for row in first] == ["r-0005", "r-0004"]
    rest = store.runs(RunQuery(before=(first[-1].started_at, first[-1].id)))
    assert [row.id for row in rest] == ["r-0003", "r-0002", "r-0001"]
    assert [row.id for row in store.runs(RunQuery(thread="12"))] == ["r-0003"]
    assert store.runs(RunQuery(status="done")) == []
    assert len(store.runs(RunQuery(status="ready", workflow="refund"))) == 5


def test_the_asks_of_a_run_come_in_the_order_of_opening(
    desk: Desk, store: Store, clock: FakeClock
) -> None:
    opened(desk, "a-0009", run="r-0001")
    clock.advance(1)
    second = opened(desk, "a-0001", run="r-0001")
    opened(desk, "a-0003", run="r-0002")
    assert store.commit(next_of(second, at=store.now()))
    found = store.run_asks("r-0001")
    assert [(events[0].stream, len(events)) for events in found] == [("a-0009", 1), ("a-0001", 2)]


def test_the_history_of_a_run_is_its_own_journal_and_then_its_asks(
    desk: Desk, store: Store, clock: FakeClock
) -> None:
    opened(desk, "a-0009", run="r-0001")
    assert [events[0].stream for events in store.history("r-0001")] == ["a-0009"]
    clock.advance(1)
    opened(desk, "a-0001", run="r-0001")
    clock.advance(1)
    new_run(store, "r-0001")
    assert store.history("r-0001") == [store.stream("r-0001"), *store.run_asks("r-0001")]
    assert [events[0].stream for events in store.history("r-0001")][1:] == ["a-0009", "a-0001"]
    assert store.history("r-0002") == []


def test_workers_are_known_while_they_say_so(store: Store, clock: FakeClock) -> None:
    here = Worker("w1", "till:1", ("refund", "support"), store.now())
    store.put_worker(here, SPAN)
    assert store.workers(SPAN) == [here]
    clock.advance("31s")
    assert store.workers(SPAN) == []
    store.put_worker(Worker("w2", "till:2", ("refund",), store.now()), SPAN)
    assert [worker.id for worker in store.workers(10 * SPAN)] == ["w2"]
    store.drop_worker("w2")
    assert store.workers(10 * SPAN) == []


def test_the_last_events_come_newest_first(desk: Desk, store: Store) -> None:
    for number in range(3):
        opened(desk, f"a-000{number}")
    assert [event.stream for event in store.recent(2)] == ["a-0002", "a-0001"]


def test_a_run_without_a_journal_is_a_stray(store: Store, place: Place) -> None:
    new_run(store)
    assert store.stray_runs() == []
    place.sql("delete from events where stream = 'r-0001'")
    assert store.stray_runs() == ["r-0001"]


def test_the_people_last_read_come_with_the_number_of_their_last_change(
    desk: Desk, store: Store
) -> None:
    assert store.people_seen() == (store.roster(), 0)

    desk.people.add("anna", roles=["senior"])

    assert store.people_now() == 1
    roster, number = store.people_seen()
    assert (set(roster.people), number) == ({"anna"}, 1)


@pytest.mark.parametrize("seen", [0, 1])
def test_nothing_is_opened_for_people_who_are_no_longer_there(
    desk: Desk, store: Store, seen: int
) -> None:
    desk.people.add("anna")

    assert store.commit(replace(fresh(desk), people=seen)) is (seen == 1)


def test_what_is_open_already_is_found_and_not_opened_once_more(desk: Desk, store: Store) -> None:
    first = fresh(desk)
    likeness = first.ask.likeness
    assert likeness is not None
    assert store.alike(likeness) is None

    assert store.commit(replace(first, once=True))

    assert store.alike(likeness) == ("a-0001", 1)
    assert store.alike(likeness) == ("a-0001", 2)
    assert not store.commit(replace(fresh(desk, "a-0002"), once=True))
    assert store.commit(replace(fresh(desk, "a-0003", why="other words"), once=True))
    assert store.commit(fresh(desk, "a-0004")), "unless that was asked for"


def test_how_much_an_agent_asks_of_people_is_counted(
    desk: Desk, store: Store, clock: FakeClock
) -> None:
    begun = clock.now()
    first = fresh(desk, "a-0001")
    assert store.commit(replace(first, paced=True))
    clock.advance("1h")
    assert store.commit(replace(fresh(desk, "a-0002"), paced=True))
    opened(desk, "a-0003")  # of no account
    agent = first.ask.content.agent

    assert store.paced(agent, begun - DUE) == Paced(2, begun, 2)
    assert store.paced(agent, begun) == Paced(1, clock.now(), 2)
    assert store.paced("somebody else", begun - DUE) == Paced(0, None, 0)
    desk.reject(desk.get("a-0001"))
    assert store.paced(agent, begun - DUE) == Paced(2, begun, 1)
    call = desk.begin(desk.approve(desk.get("a-0002")))
    assert store.paced(agent, begun - DUE) == Paced(2, begun, 0, begun=1)
    desk.finish(call)
    assert store.paced(agent, begun - DUE) == Paced(2, begun, 0)


def test_every_method_of_the_protocol_is_tried_in_this_file() -> None:
    names = {name for name in vars(Store) if not name.startswith("_")}
    with open(__file__, encoding="utf-8") as file:
        text = file.read()

    assert names - {name for name in names if f"store.{name}(" in text} == set()


def test_open_asks_are_counted_by_the_roles_and_the_team_they_are_for(desk: Desk) -> None:
    desk.people.add("anna", roles=["senior"], teams=["billing"])
    for number in range(2):
        desk.open("pay", {"n": number}, needs=["1 senior"], team="billing")
    desk.open("pay", {"n": 3})
    desk.approve(desk.open("pay", {"n": 4}), by="anna")
    found = {(each.roles, each.team): each.count for each in desk.store.open_needs()}

    assert found == {(("senior",), "billing"): 2, (("reviewer",), None): 1}
    assert [each.takes(frozenset({"junior"})) for each in desk.store.open_needs()].count(True) == 1


def test_whoever_has_a_password_is_listed(desk: Desk) -> None:
    desk.people.add("anna")
    desk.people.add("ben")
    set_password(desk.store, "ben", "correct horse battery", origin=desk.origin)

    assert desk.store.with_password() == ["ben"]
