"""An approval is spent once, with the intent written first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from sayso import Ask, Call, Desk
from sayso.asks.spending import begin
from sayso.errors import (
    AlreadySpent,
    AskChanged,
    FinishedLate,
    InvalidAnswer,
    NotApproved,
    SaysoError,
    StoreBusy,
    Tampered,
)
from sayso.store.contract import Lease
from sayso.testing import FakeClock
from tests.places import Place


@pytest.fixture
def approved(desk: Desk) -> Ask:
    return desk.approve(desk.open("pay", {"amount": 40}, returns=int))


def kinds(desk: Desk, ask: Ask | str) -> list[str]:
    return [event.kind for event in desk.history(ask)]


def begun_and_silent(desk: Desk, clock: FakeClock, ask: Ask) -> tuple[Call, Ask]:
    """Begin, say nothing until the limit is over, and return the call and its doubt."""
    call = desk.begin(ask, limit="10m")
    clock.advance("10m")
    (doubt_id,) = desk.sweep().doubts
    return call, desk.get(doubt_id)


def test_the_key_is_another_one_for_every_ask(desk: Desk, approved: Ask) -> None:
    twin = desk.approve(desk.open("pay", {"amount": 40}, returns=int))

    assert desk.begin(approved).key != desk.begin(twin).key


UNAPPROVED: dict[str, Callable[[Desk], Ask]] = {
    "open": lambda desk: desk.open("pay", {"amount": 1}),
    "rejected": lambda desk: desk.reject(desk.open("pay", {"amount": 1})),
    "answered": lambda desk: desk.respond(desk.open("pay", {"amount": 1}), "no"),
    "withdrawn": lambda desk: desk.withdraw(desk.open("pay", {"amount": 1})),
    "a confirmation": lambda desk: desk.approve(desk.later.confirm("Pay?").ask),
    "a draft": lambda desk: desk.approve(desk.later.draft("Dear Anna").ask),
    "a plan": lambda desk: desk.approve(desk.later.plan(["pay"]).ask),
    "a feedback": lambda desk: desk.approve(desk.later.feedback("paid").ask),
}


@pytest.mark.parametrize("state", UNAPPROVED)
def test_without_an_approval_there_is_nothing_to_spend(
    desk: Desk, place: Place, state: str
) -> None:
    ask = UNAPPROVED[state](desk)
    before = place.count()

    with pytest.raises(NotApproved, match=ask.id):
        desk.begin(ask)

    assert place.count() == before


def test_finishing_twice_changes_nothing(desk: Desk, approved: Ask) -> None:
    call = desk.begin(approved)
    desk.finish(call, 40)

    with pytest.raises(FinishedLate) as late:
        desk.finish(call, 50)

    effect = desk.get(approved.id).effect
    assert effect is not None
    assert (late.value.state, effect.result) == ("done", 40)
    assert [note["result"] for note in effect.late] == [50]


# --- doubts ---


def test_a_silent_carrier_leaves_a_doubt_under_the_calls_own_requirement(
    team: Desk, clock: FakeClock
) -> None:
    ask = team.open("pay", {"amount": 40}, needs=["1 senior", "1 security"], risk="high")
    team.approve(ask, by="anna")
    team.approve(ask, by="sec")

    _, doubt = begun_and_silent(team, clock, ask)

    assert (doubt.kind, doubt.content.about, doubt.args) == ("doubt", ask.id, {"amount": 40})
    assert (str(doubt.content.needs), doubt.risk) == ("1 senior and 1 security", "high")
    effect = team.get(ask.id).effect
    assert effect is not None
    assert (effect.status, effect.doubt) == ("unknown", doubt.id)
    assert team.verify()


def test_a_carrier_within_its_limit_is_left_alone(
    desk: Desk, clock: FakeClock, approved: Ask
) -> None:
    call = desk.begin(approved, limit="10m")
    clock.advance(timedelta(minutes=10) - timedelta(microseconds=1))

    assert desk.sweep().doubts == ()
    assert desk.finish(call, 40).effect


def test_in_doubt_nothing_runs_until_a_person_says_so(
    desk: Desk, clock: FakeClock, approved: Ask
) -> None:
    _, doubt = begun_and_silent(desk, clock, approved)

    with pytest.raises(AlreadySpent) as refused:
        desk.begin(approved)
    assert refused.value.state == "unknown"

    desk.approve(doubt)
    again = desk.begin(approved)
    assert again.attempt == 2
    with pytest.raises(AlreadySpent):
        desk.begin(approved)


def test_it_happened_records_the_result_a_person_gave(
    desk: Desk, clock: FakeClock, approved: Ask
) -> None:
    _, doubt = begun_and_silent(desk, clock, approved)
    with pytest.raises(InvalidAnswer):
        desk.respond(doubt, "forty")

    desk.respond(doubt, 40)

    effect = desk.get(approved.id).effect
    assert effect is not None
    assert (effect.status, effect.result) == ("done", 40)
    assert kinds(desk, approved)[-1] == "effect.done"
    assert desk.verify()


def test_of_many_late_results_a_few_are_kept(desk: Desk, clock: FakeClock, approved: Ask) -> None:
    call, doubt = begun_and_silent(desk, clock, approved)

    for number in range(5):
        with pytest.raises(FinishedLate, match="was recorded as evidence"):
            desk.finish(call, number)
    for number in range(2):
        with pytest.raises(FinishedLate, match="one too many to be recorded"):
            desk.finish(call, number)

    assert [said["result"] for said in desk.get(doubt.id).evidence] == [0, 1, 2, 3, 4]


def test_a_late_result_settles_what_nobody_has_begun_again(
    desk: Desk, clock: FakeClock, approved: Ask
) -> None:
    """A person said to run it again, but there is nothing left to run."""
    call, doubt = begun_and_silent(desk, clock, approved)
    desk.approve(doubt)

    desk.finish(call, 40)

    effect = desk.get(approved.id).effect
    assert effect is not None
    assert (effect.status, effect.result) == ("done", 40)
    with pytest.raises(AlreadySpent):
        desk.begin(approved)


def test_a_program_that_runs_it_again_itself_is_not_fooled_by_its_own_late_result(
    desk: Desk, clock: FakeClock, approved: Ask
) -> None:
    """A gate begins both tries under one lease, so the number of the try must tell them apart."""
    me = Lease("me", timedelta(minutes=10))
    first = begin(desk.store, approved.id, origin=desk.origin, lease=me)
    clock.advance("10m")
    desk.approve(desk.get(desk.sweep().doubts[0]))
    second = begin(desk.store, approved.id, origin=desk.origin, lease=me)

    with pytest.raises(FinishedLate):
        desk.finish(first, 1)

    desk.finish(second, 2)
    effect = desk.get(approved.id).effect
    assert effect is not None
    assert (effect.status, effect.result, effect.attempt) == ("done", 2, 2)


def test_a_doubt_cannot_be_withdrawn(desk: Desk, clock: FakeClock, approved: Ask) -> None:
    """Then nobody could ever say whether it happened."""
    _, doubt = begun_and_silent(desk, clock, approved)

    with pytest.raises(SaysoError):
        desk.withdraw(doubt)

    assert desk.get(doubt.id).open


def test_whoever_decides_a_doubt_has_seen_the_evidence(
    desk: Desk, clock: FakeClock, approved: Ask
) -> None:
    call, doubt = begun_and_silent(desk, clock, approved)
    with pytest.raises(FinishedLate):
        desk.finish(call, 40)

    with pytest.raises(AskChanged) as refused:
        desk.approve(doubt)

    assert desk.respond(refused.value.ask, 40).decision is not None  # type: ignore[arg-type]


# --- what was tampered with is not carried out (E11) ---

TAMPERING = {
    "the proposal": (
        "update events set payload = replace(payload, '\"amount\":40', '\"amount\":99')"
        " where stream = ? and kind = 'ask.opened'"
    ),
    "the proposal blanked": (
        "update events set payload = null, salt = null where stream = ? and kind = 'ask.opened'"
    ),
    "the edit": (
        "update events set payload = replace(payload, '\"amount\":30', '\"amount\":99')"
        " where stream = ? and kind = 'ask.edited'"
    ),
    "the edit blanked": (
        "update events set payload = null, salt = null where stream = ? and kind = 'ask.edited'"
    ),
    "the edit removed": "delete from events where stream = ? and kind = 'ask.edited'",
    "who decided": (
        "update events set actor = 'person:ceo' where stream = ? and kind = 'ask.decided'"
    ),
    "when it was decided": "update events set at = 1 where stream = ? and kind = 'ask.decided'",
}


@pytest.mark.parametrize("what", TAMPERING)
def test_a_tampered_proposal_is_not_carried_out(desk: Desk, place: Place, what: str) -> None:
    """E11: what runs is what was shown, also if somebody reached the database in between."""
    ask = desk.edit(desk.open("pay", {"amount": 40}), {"amount": 30})
    place.sql(TAMPERING[what], ask.id)
    before = place.count()

    with pytest.raises((Tampered, NotApproved)):
        desk.begin(ask)

    assert place.count() == before
    assert not desk.verify()


@pytest.mark.parametrize("removed", [("effect.done",), ("effect.intended", "effect.done")])
def test_an_approval_whose_spending_was_removed_is_not_spent_again(
    desk: Desk, place: Place, removed: tuple[str, ...]
) -> None:
    ask = desk.approve(desk.open("pay", {"amount": 40}))
    desk.finish(desk.begin(ask), "paid")
    for kind in removed:
        place.sql("delete from events where stream = ? and kind = ?", ask.id, kind)
    before = place.count()

    with pytest.raises((AlreadySpent, StoreBusy)):
        desk.begin(ask)

    assert place.count() == before
    assert not desk.verify()


def test_what_somebody_wrote_around_the_desk_authorises_nothing(desk: Desk, place: Place) -> None:
    ask = desk.reject(desk.open("pay", {"amount": 40}))
    place.sql(
        'update events set payload = replace(payload, \'"verdict":"reject"\','
        " '\"verdict\":\"approve\"') where stream = ? and kind = 'ask.decided'",
        ask.id,
    )

    with pytest.raises(Tampered, match="audit verify"):
        desk.begin(ask)

    ask = desk.open("pay", {"amount": 40})
    place.sql("update asks set status = 'decided' where id = ?", ask.id)

    with pytest.raises(NotApproved):
        desk.begin(ask)
