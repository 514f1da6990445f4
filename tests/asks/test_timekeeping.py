"""What the clock does to an open ask before it closes it: remind, let others stand in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sayso import Desk
from sayso.asks.forms import feedback_of
from sayso.errors import Forbidden, NotApproved
from sayso.model.actor import CLOCK
from sayso.testing import FakeClock
from tests.asks.test_deadlines import clocks_no
from tests.asks.test_law import Office, approved, kinds, office, refund, still_needed
from tests.places import Place
from tests.test_gate import in_thread, opened

__all__ = ["office"]  # the fixture

TIMED = """
[tiers.high]
within = "10h"

[tiers.critical]
within = "10h"
escalate = [{ after = "2h", to = "lead" }, { after = "4h", to = "chief" }]
"""
LENIENT = """
[tiers.minor]
needs = ["1 reviewer"]
within = "1h"
on_timeout = "approve"

[[rules]]
name = "small ones"
tool = "refund"
tier = "minor"
"""
TICK = timedelta(microseconds=1)


@pytest.fixture
def watch(office: Office) -> Desk:
    desk = office()
    desk.people.add("lea", roles=["lead"])
    desk.people.add("cho", roles=["chief"])
    return office(TIMED)


# --- reminders ---------------------------------------------------------------------------------


def test_people_are_reminded_at_half_and_at_nine_tenths_of_their_time(
    watch: Desk, clock: FakeClock
) -> None:
    ask = refund(watch, risk="high")

    clock.advance(timedelta(hours=5) - TICK)
    assert watch.sweep().reminded == ()
    clock.advance(TICK)
    assert watch.sweep().reminded == (ask.id,)
    assert watch.sweep().reminded == ()
    clock.advance("4h")
    assert watch.sweep().reminded == (ask.id,)
    clock.advance(timedelta(hours=1) - TICK)
    assert watch.sweep().reminded == ()

    said = [e.payload or {} for e in watch.history(ask) if e.kind == "ask.reminded"]
    assert [(one["times"], one["share"]) for one in said] == [(1, 0.5), (2, 0.9)]
    assert watch.get(ask.id).digest == ask.digest, "nothing that is shown has changed"
    approved(watch, ask, "anna")
    assert watch.verify()


def test_whoever_slept_through_both_is_reminded_once(watch: Desk, clock: FakeClock) -> None:
    ask = refund(watch, risk="high")
    clock.advance(timedelta(hours=9, minutes=30))

    assert watch.sweep().reminded == (ask.id,)
    assert watch.sweep().reminded == ()
    assert watch.get(ask.id).reminded == 2


def test_past_the_deadline_nobody_is_reminded(watch: Desk, clock: FakeClock) -> None:
    ask = refund(watch, risk="high")
    clock.advance("11h")

    swept = watch.sweep()

    assert (swept.reminded, swept.expired) == ((), (ask.id,))
    assert kinds(watch, ask) == ["ask.opened", "ask.decided"]


def test_a_vote_and_a_reminder_do_not_disturb_each_other(watch: Desk, clock: FakeClock) -> None:
    ask = watch.approve(refund(watch, risk="critical"), by="anna")
    clock.advance("5h")
    watch.sweep()

    assert watch.approve(ask, by="sec").decision, "the digest is the one that was seen before"


# --- the ladder --------------------------------------------------------------------------------


def test_after_a_while_others_may_stand_in_for_one_place_and_no_more(
    watch: Desk, clock: FakeClock
) -> None:
    ask = refund(watch, risk="critical")
    with pytest.raises(Forbidden, match="would not count"):
        watch.approve(ask, by="lea")
    clock.advance("2h")

    assert watch.sweep().escalated == (ask.id,)
    assert [one.id for one in watch.inbox(person="lea")] == [ask.id]
    ask = watch.approve(ask, by="lea")
    assert ask.open, "as many people as before"
    with pytest.raises(NotApproved):
        watch.begin(ask)

    approved(watch, ask, "sec")
    watch.begin(ask)
    assert watch.verify()


def test_two_who_may_stand_in_are_enough_only_for_two_places_and_not_for_whom_the_program_wants(
    watch: Desk, clock: FakeClock
) -> None:
    ask = refund(watch, risk="critical")
    clock.advance("4h")

    assert watch.sweep().escalated == (ask.id, ask.id)
    assert watch.get(ask.id).stand_ins == ("lead", "chief")
    assert watch.approve(ask, by="lea").open
    assert watch.approve(ask, by="cho").decision

    ask = refund(watch, risk="critical", needs=["1 ada"])
    clock.advance("5h")
    watch.sweep()

    assert watch.get(ask.id).stand_ins == ()


def test_a_rung_is_reached_by_whoever_comes_first_not_only_by_the_sweep(
    watch: Desk, clock: FakeClock
) -> None:
    ask = refund(watch, risk="critical")
    clock.advance(timedelta(hours=2) - TICK)
    with pytest.raises(Forbidden):
        watch.approve(ask, by="lea")
    clock.advance(TICK)

    assert [vote.by.id for vote in watch.approve(ask, by="lea").votes] == ["lea"]
    assert kinds(watch, ask) == ["ask.opened", "ask.escalated", "ask.voted"]


def test_the_requester_does_not_stand_in_either(watch: Desk, clock: FakeClock) -> None:
    ask = refund(watch, risk="critical", requester="lea")
    clock.advance("2h")
    watch.sweep()

    with pytest.raises(Forbidden, match="asked for it"):
        watch.approve(ask, by="lea")


def test_a_rule_that_wants_its_own_people_is_met_by_them(office: Office, clock: FakeClock) -> None:
    desk = office()
    desk.people.add("lea", roles=["lead"])
    strict = office(
        TIMED.replace(', { after = "4h", to = "chief" }', "")
        + '[[rules]]\nname = "two"\ntool = "refund"\neffect = "ask"\nneeds = ["2 security"]\n'
    )
    ask = refund(strict, risk="critical")
    clock.advance("3h")
    strict.sweep()

    with pytest.raises(Forbidden):
        strict.approve(ask, by="lea")


def test_under_a_stricter_policy_its_own_ladder_is_climbed_from_the_foot(
    watch: Desk, office: Office, clock: FakeClock
) -> None:
    ask = refund(watch, risk="critical")
    clock.advance("2h")
    watch.sweep()
    assert watch.get(ask.id).stand_ins == ("lead",)
    now = office('[[rules]]\nname = "all"\neffect = "ask"\nneeds = ["1 senior", "2 security"]\n')

    with pytest.raises(Exception, match="Look at it again"):
        now.approve(now.get(ask.id), by="anna")

    assert now.get(ask.id).stand_ins == ()
    assert still_needed(now, ask) == ["2 security", "1 senior"]


def test_the_word_of_a_stand_in_is_worth_nothing_once_the_policy_wants_none(
    watch: Desk, office: Office, clock: FakeClock
) -> None:
    ask = refund(watch, risk="critical")
    clock.advance("2h")
    approved(watch, watch.approve(ask, by="lea"), "sec")
    now = office(TIMED.replace('{ after = "2h", to = "lead" }, ', ""))

    with pytest.raises(NotApproved, match="wants more by now"):
        now.begin(ask)

    watch.begin(ask)  # under the policy it was decided by, it is carried out


# --- the end -----------------------------------------------------------------------------------


def test_silence_is_a_yes_only_where_the_policy_says_so(office: Office, clock: FakeClock) -> None:
    desk = office(LENIENT)
    ask = refund(desk)
    clock.advance(timedelta(hours=1) - TICK)
    assert desk.sweep().expired == ()
    clock.advance(TICK)

    assert desk.sweep().expired == (ask.id,)

    decision = desk.get(ask.id).decision
    assert decision
    assert decision.by == CLOCK
    assert "Nobody objected within 1 h" in (decision.note or "")
    desk.begin(ask)


SILENT: dict[str, dict[str, Any]] = {
    "high": {"terms": {"risk": "high"}},
    "critical": {"terms": {"risk": "critical"}},
    "irreversible": {"terms": {"reversible": False}},
    "another rule": {"terms": {"needs": ["1 senior"], "affects": "all"}},
    # E23: with a deadline of its own a request would approve itself as soon as it likes
    "asked for sooner": {"terms": {"within": "1s"}},
    "asked for as soon": {"terms": {"within": "1h"}},
    "asked of a senior": {"terms": {"needs": ["1 senior"]}},
    "asked of two": {"terms": {"needs": ["2 reviewer"]}},
    "only a yes was offered": {"terms": {"allow": ["approve"]}},
    "somebody said no": {"says": lambda desk, ask: desk.reject(ask, by="ben")},
    "a yes was taken back": {
        "says": lambda desk, ask: desk.take_back(desk.approve(ask, by="ben", hold="1m"), by="ben"),
    },
    "an edit was taken back": {
        "says": lambda desk, ask: desk.take_back(
            desk.edit(ask, {"amount": 999}, by="ben", hold="1m"), by="ben"
        ),
    },
    "a no, and an edit": {
        "needs": "2 reviewer",
        "says": lambda desk, ask: desk.edit(desk.reject(ask, by="ben"), {"amount": 2}, by="anna"),
    },
}


@pytest.mark.parametrize("case", SILENT.values(), ids=SILENT)
def test_silence_is_no_yes_where_somebody_or_something_stands_against_it(
    office: Office, clock: FakeClock, case: dict[str, Any]
) -> None:
    """E22: a second rule without such a word is enough, and so is a high risk."""
    law = LENIENT.replace("1 reviewer", case.get("needs", "1 reviewer"))
    desk = office(law.replace("within", "deny = 2\nwithin"))
    ask = refund(desk, **case.get("terms", {}))
    case.get("says", lambda *_: None)(desk, ask)
    assert desk.get(ask.id).open
    clock.advance("2h")
    desk.sweep()

    assert clocks_no(desk.get(ask.id))


def test_silence_is_no_yes_where_nobody_is_left_who_could_say_no(
    office: Office, clock: FakeClock
) -> None:
    desk = office(LENIENT.replace("1 reviewer", "1 security"))
    orphaned = refund(desk)
    desk.people.remove("ada", by="anna")
    desk.people.add("sec", roles=[], by="anna")
    clock.advance("2h")
    desk.sweep()

    decision = desk.get(orphaned.id).decision
    assert decision is not None
    assert decision.verdict == "reject"


def test_silence_is_no_yes_where_a_yes_is_to_settle(office: Office, clock: FakeClock) -> None:
    desk = office(LENIENT.replace("within", 'cool_off = "2h"\nwithin'))
    ask = refund(desk)
    clock.advance("2h")
    desk.sweep()

    assert not desk.get(ask.id).decision


def test_a_longer_deadline_of_a_request_leaves_silence_what_it_is(
    office: Office, clock: FakeClock
) -> None:
    desk = office(LENIENT)
    ask = refund(desk, within="2h")
    clock.advance("1h")

    assert desk.sweep().expired == (ask.id,)
    assert desk.get(ask.id).decision


def test_a_yes_by_silence_is_worth_nothing_under_another_policy(
    office: Office, clock: FakeClock
) -> None:
    desk = office(LENIENT)
    ask = refund(desk)
    clock.advance("2h")
    desk.sweep()
    now = office(LENIENT.replace('on_timeout = "approve"\n', ""))

    with pytest.raises(NotApproved, match="wants more by now"):
        now.begin(ask)

    then, now = office(LENIENT), office()
    ask = refund(then)
    clock.advance("1h")
    then.sweep()

    with pytest.raises(NotApproved, match="wants more by now"):
        now.begin(ask)


def test_a_question_that_nobody_answers_is_never_answered_yes(
    office: Office, clock: FakeClock
) -> None:
    desk = office(LENIENT.replace('tool = "refund"\n', ""))
    later = desk.later.question("How many?", int)
    clock.advance("2h")
    desk.sweep()

    decision = desk.get(later.id).decision
    assert decision is not None
    assert decision.verdict == "reject"


def test_a_shorter_time_to_decide_begins_when_it_is_asked_for(
    office: Office, clock: FakeClock
) -> None:
    desk = office()
    ask = refund(desk)
    assert ask.due_at is None
    clock.advance("3d")
    now = office('[[rules]]\nname = "quick"\neffect = "ask"\nneeds = ["1 senior"]\nwithin = "1h"\n')

    with pytest.raises(Exception, match="Look at it again"):
        now.approve(ask, by="anna")

    raised = now.get(ask.id)
    assert raised.due_at == clock.now() + timedelta(hours=1)
    clock.advance("1h")
    assert now.sweep().expired == (ask.id,)
    assert now.verify()


def test_an_edit_into_less_time_has_less_time(office: Office, clock: FakeClock) -> None:
    desk = office(
        '[[rules]]\nname = "quick"\nwhen = "args.amount > 50"\neffect = "ask"\n'
        'needs = ["2 senior"]\nwithin = "1h"\n[[rules]]\nname = "slow"\neffect = "ask"\n'
        'needs = ["2 senior"]\n'
    )
    ask = refund(desk, 40)
    clock.advance("3d")

    edited = desk.edit(ask, {"amount": 60}, by="anna")

    assert edited.due_at == clock.now() + timedelta(hours=1)
    clock.advance("1h")
    assert desk.sweep().expired == (ask.id,)
    assert desk.verify()


# --- reviews that hold nobody (S2.6) -----------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "rating"),
    [("approve", "good"), ("edit", "bad"), ("reject", "bad"), ("respond", "bad")],
)
def test_what_people_say_to_it_within_a_day_is_feedback(
    desk: Desk, verdict: Any, rating: str
) -> None:
    desk.draft("Dear customer", optional=True)
    (ask,) = desk.inbox()
    said = {"edit": {"args": "Hello"}, "respond": {"answer": "Too stiff"}}.get(verdict, {})

    decided = desk.decide(ask, verdict, **said)  # type: ignore[arg-type]

    feedback = feedback_of(decided)
    assert feedback is not None
    assert feedback.rating == rating
    if verdict == "edit":
        assert feedback.comment == "Hello"


def test_after_a_day_it_is_over_and_nobody_has_said_no(
    desk: Desk, clock: FakeClock, place: Place
) -> None:
    desk.draft("Dear customer", optional=True)
    (ask,) = desk.inbox()
    clock.advance("1d")
    desk.sweep()

    over = desk.get(ask.id)

    assert (over.status, over.decision, feedback_of(over)) == ("withdrawn", None, None)
    assert desk.verify()


def test_what_a_rule_wants_people_for_is_not_optional(office: Office, clock: FakeClock) -> None:
    """E23: a request lowers no bar."""
    desk = office('[[rules]]\nname = "drafts"\nwhen = "kind == \'draft\'"\neffect = "ask"\n')
    waiting = in_thread(lambda: desk.draft("We promise a refund", optional=True))
    ask = opened(desk)
    assert not waiting.done()
    desk.edit(ask, "We promise nothing", by="ben")

    assert waiting.result(30) == "We promise nothing"


def test_an_optional_review_holds_nobody(desk: Desk, clock: FakeClock) -> None:
    later = desk.later.draft("Dear customer")

    assert desk.get(later.id).open
    assert feedback_of(desk.approve(later.ask)) is None

    assert desk.draft("Dear customer", optional=True) == "Dear customer"

    (ask,) = desk.inbox()
    assert ask.due_at == clock.now() + timedelta(days=1)
