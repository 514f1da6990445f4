"""`verify` names everything that is not as it was written, and nothing else."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from sayso import Ask, Desk
from sayso.errors import BadValue
from sayso.model.actor import Actor
from sayso.model.event import GENESIS, link
from sayso.store.audit import Problem, Seal
from sayso.testing import FakeClock
from tests.places import Place
from tests.together import in_thread


def live_a_little(desk: Desk) -> Ask:
    """Fill a journal with one of everything, and return an ask of four events."""
    desk.people.add("sam", roles=["senior"])
    desk.people.add("ben")
    desk.people.remove("ben")
    desk.withdraw(desk.open("refund", {"amount": 1}))
    desk.reject(desk.open("refund", {"amount": 2}), "no", by="sam")
    desk.open("refund", {"amount": 3}, within="1h", key="third", run="r", thread="t", risk="high")
    ask = desk.edit(desk.open("refund", {"amount": 40}), {"amount": 30}, by="sam")
    return desk.finish(desk.begin(ask), "paid")


@pytest.fixture
def ask(desk: Desk) -> Ask:
    return live_a_little(desk)


def found(desk: Desk, **given: object) -> list[tuple[str, str, int]]:
    problems = desk.verify(**given).problems  # type: ignore[arg-type]
    return [(problem.what, problem.stream, problem.seq) for problem in problems]


def test_nothing_of_a_clean_journal_is_reported(desk: Desk, ask: Ask, place: Place) -> None:
    seal = desk.seal()
    live_a_little(desk)

    report = desk.verify(seal=seal)

    assert report
    assert report.problems == ()
    assert report.events == place.count()
    assert report.sealed > 0


def test_an_empty_journal_verifies(desk: Desk) -> None:
    assert desk.verify()
    assert desk.verify().events == 0


@dataclass(frozen=True)
class Tampering:
    """What somebody does to the database, and what must be said about it."""

    what: str
    seq: int
    statement: str


EVENT = "where stream = ? and seq ="
EDITS = {
    "the payload": Tampering(
        "edited", 1, f"update events set payload = replace(payload, '40', '41') {EVENT} 1"
    ),
    "the salt": Tampering("edited", 1, f"update events set salt = digest {EVENT} 1"),
    "the salt only blanked": Tampering("edited", 2, f"update events set salt = null {EVENT} 2"),
    "the digest": Tampering("edited", 2, f"update events set digest = hash {EVENT} 2"),
    "the hash": Tampering("edited", 5, f"update events set hash = digest {EVENT} 5"),
    "the time": Tampering("edited", 3, f"update events set at = at + 1 {EVENT} 3"),
    "the actor": Tampering("edited", 3, f"update events set actor = 'person:ceo' {EVENT} 3"),
    "the kind": Tampering("edited", 4, f"update events set kind = 'effect.late' {EVENT} 4"),
    "the last event": Tampering(
        "edited", 5, f"update events set payload = replace(payload, 'paid', 'lost') {EVENT} 5"
    ),
    "blanked": Tampering("blanked", 2, f"update events set payload = null, salt = null {EVENT} 2"),
    "the first removed": Tampering("deleted", 1, f"delete from events {EVENT} 1"),
    "one in the middle removed": Tampering("deleted", 3, f"delete from events {EVENT} 3"),
}


@pytest.mark.parametrize("change", EDITS)
def test_a_changed_row_is_named_and_located(
    desk: Desk, place: Place, ask: Ask, change: str
) -> None:
    """E32: rows of the audit table edited and deleted are noticed."""
    tampering = EDITS[change]
    place.sql(tampering.statement, ask.id)

    report = desk.verify()

    assert not report
    assert (tampering.what, ask.id, tampering.seq) in found(desk)
    assert ask.id in str(report.problems[0])


def test_one_edited_row_is_one_problem(desk: Desk, place: Place, ask: Ask) -> None:
    """Whoever reads the report should be led to the row, not to everything behind it."""
    place.sql(EDITS["the actor"].statement, ask.id)

    assert [what for what in found(desk) if what[0] != "index"] == [("edited", ask.id, 3)]


def swap(place: Place, stream: str, one: int, two: int) -> None:
    for old, new in ((one, -1), (two, one), (-1, two)):
        place.sql("update events set seq = ? where stream = ? and seq = ?", new, stream, old)


@pytest.mark.parametrize(("one", "two"), [(2, 3), (3, 4), (2, 5), (1, 2), (4, 5)])
def test_two_swapped_rows_are_named(desk: Desk, place: Place, ask: Ask, one: int, two: int) -> None:
    swap(place, ask.id, one, two)

    problems = found(desk)

    assert ("swapped", ask.id, one) in problems
    assert ("swapped", ask.id, two) in problems
    assert not [what for what, *_ in problems if what == "edited"]


def test_several_events_removed_are_named_as_a_range(desk: Desk, place: Place, ask: Ask) -> None:
    place.sql("delete from events where stream = ? and seq in (2, 3)", ask.id)

    (problem,) = [p for p in desk.verify().problems if p.what == "deleted"]

    assert (problem.stream, problem.seq) == (ask.id, 2)
    assert "2 to 3" in problem.detail


def test_an_event_put_in_by_hand_is_found(desk: Desk, place: Place, ask: Ask) -> None:
    last = desk.history(ask)[-1]
    forged = link(
        ask.id,
        6,
        "effect.late",
        at=last.at,
        actor=Actor("agent", "shop"),
        payload={},
        salt=bytes(16),
        previous=GENESIS,
    )
    place.sql(
        "insert into events (stream, seq, kind, at, actor, payload, salt, digest, hash)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *(forged.stream, forged.seq, forged.kind, forged.micros, str(forged.actor)),
        *(forged.text, forged.salt, forged.digest, forged.hash),
    )

    assert ("edited", ask.id, 6) in found(desk) or ("swapped", ask.id, 6) in found(desk)


# --- seals ---


def test_a_truncated_tail_is_found_behind_a_seal(desk: Desk, place: Place, ask: Ask) -> None:
    desk.seal()
    place.sql("delete from events where stream = ? and seq = 5", ask.id)

    assert ("truncated", ask.id, 5) in found(desk)


def test_a_whole_stream_removed_is_found_behind_a_seal(desk: Desk, place: Place, ask: Ask) -> None:
    desk.seal()
    place.sql("delete from events where stream = ?", ask.id)
    place.sql("delete from asks where id = ?", ask.id)

    assert found(desk) == [("truncated", ask.id, 1)]


def rewrite(place: Place, desk: Desk, ask: Ask) -> None:
    """Do what a patient forger would: change one event and recompute the whole chain."""
    before = GENESIS
    for event in desk.history(ask):
        payload = event.payload or {}
        if event.kind == "ask.decided":
            payload["note"] = "never said"
        forged = link(
            event.stream,
            event.seq,
            event.kind,
            at=event.at,
            actor=event.actor,
            payload=payload,
            salt=os.urandom(16),
            previous=before,
        )
        place.sql(
            "update events set payload = ?, salt = ?, digest = ?, hash = ?"
            " where stream = ? and seq = ?",
            *(forged.text, forged.salt, forged.digest, forged.hash, forged.stream, forged.seq),
        )
        before = forged.hash


def test_a_rewritten_chain_holds_by_itself_but_not_before_a_seal(
    desk: Desk, place: Place, ask: Ask
) -> None:
    desk.seal()
    rewrite(place, desk, ask)

    assert found(desk) == [("rewritten", ask.id, 5)]


def test_a_rewritten_chain_with_rewritten_seals_is_found_by_a_seal_kept_elsewhere(
    desk: Desk, place: Place, ask: Ask
) -> None:
    kept = desk.seal()
    rewrite(place, desk, ask)
    place.sql("delete from events where stream = 'seals'")
    desk.seal()
    assert desk.verify(), "whoever can rewrite everything can make it look whole"

    assert found(desk, seal=kept) == [("rewritten", "seals", kept.seq)]
    assert found(desk, seal=str(kept)) == [("rewritten", "seals", kept.seq)]


def test_seals_removed_are_found_by_a_seal_kept_elsewhere(desk: Desk, place: Place) -> None:
    desk.open("refund", {"amount": 1})
    kept = desk.seal()
    place.sql("delete from events where stream = 'seals'")

    assert found(desk, seal=kept) == [("rewritten", "seals", 1)]


def test_seals_go_on_while_the_journal_grows_and_the_same_is_sealed_once(
    desk: Desk, ask: Ask
) -> None:
    first = desk.seal()

    assert desk.seal() == first
    assert Seal.parse(str(first)) == first
    desk.open("refund", {"amount": 1})
    assert desk.seal() != first

    seals = [desk.seal()]
    for n in range(3):
        desk.approve(desk.open("refund", {"amount": n}), by="sam")
        seals.append(desk.seal())

    for seal in seals:
        assert desk.verify(seal=seal)


def test_a_change_after_the_seal_does_not_hide_one_before_it(
    desk: Desk, place: Place, ask: Ask
) -> None:
    waiting = desk.open("refund", {"amount": 9})
    desk.seal()
    desk.approve(waiting, by="sam")
    rewrite(place, desk, waiting)

    assert ("rewritten", waiting.id, 1) in found(desk)


@pytest.mark.parametrize(
    "text",
    ["", "seal", "sayso-seal:1:abc", f"sayso-seal:x:{'0' * 64}", f"sayso-seal:²:{'0' * 64}", 5],
)
def test_what_is_no_seal_is_refused(desk: Desk, text: str) -> None:
    with pytest.raises(BadValue, match="seal"):
        desk.verify(seal=text)


# --- the index and the people ---


def test_an_index_row_removed_by_hand_is_found(desk: Desk, place: Place, ask: Ask) -> None:
    place.sql("delete from asks where id = ?", ask.id)

    assert found(desk) == [("index", ask.id, 0)]


def test_an_ask_without_a_journal_is_found(desk: Desk, place: Place, ask: Ask) -> None:
    place.sql("delete from events where stream = ?", ask.id)

    assert found(desk) == [("deleted", ask.id, 1)]


HANDS_ON_PEOPLE: dict[str, str] = {
    "added": "insert into people (name, roles, active) values ('mallory', '[]', 1)",
    "promoted": """update people set roles = '["security", "senior"]' where name = 'sam'""",
    "renamed": "update people set name = 'mallory' where name = 'sam'",
    "taken off": "update people set active = 0 where name = 'sam'",
    "brought back": "update people set active = 1 where name = 'ben'",
    "deleted": "delete from people where name = 'sam'",
}


@pytest.mark.parametrize("change", HANDS_ON_PEOPLE)
def test_people_changed_by_hand_are_found(desk: Desk, place: Place, ask: Ask, change: str) -> None:
    place.sql(HANDS_ON_PEOPLE[change])

    assert {(what, stream) for what, stream, _ in found(desk)} == {("index", "people")}


def test_the_first_person_put_in_by_hand_is_found(desk: Desk, place: Place) -> None:
    """It would end solo mode and name who decides."""
    desk.open("refund", {"amount": 1})
    place.sql(HANDS_ON_PEOPLE["added"])

    assert ("index", "people", 0) in found(desk)


# --- while it is in use ---


def test_progress_is_told_up_to_the_whole(desk: Desk, ask: Ask, place: Place) -> None:
    steps: list[tuple[int, int]] = []

    desk.verify(progress=lambda done, total: steps.append((done, total)))

    assert steps == sorted(steps)
    assert steps[-1] == (place.count(), place.count())


def test_a_journal_in_use_verifies(desk: Desk, clock: FakeClock) -> None:
    """An auditor must not cry wolf because somebody decided while the journal was being read."""
    stop = threading.Event()
    amounts = itertools.count()

    def work() -> None:
        while not stop.is_set():
            ask = desk.open("refund", {"amount": next(amounts)})
            desk.approve(ask)
            desk.finish(desk.begin(ask), "ok")

    writers = [in_thread(work) for _ in range(2)]
    reports = [desk.verify(seal=desk.seal()) for _ in range(15)]
    stop.set()
    for writer in writers:
        writer.result(30)

    problems: list[Problem] = [problem for report in reports for problem in report.problems]
    assert problems == []


SCRIPTS: dict[str, Callable[[Desk], object]] = {
    "sealing": lambda desk: [desk.seal() for _ in range(5)],
    "adding people": lambda desk: [desk.people.add(f"p{n}") for n in range(5)],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_streams_of_the_desk_itself_survive_racing_writers(desk: Desk, script: str) -> None:
    workers = [in_thread(lambda: SCRIPTS[script](desk)) for _ in range(6)]
    for worker in workers:
        worker.result(60)

    assert desk.verify()
