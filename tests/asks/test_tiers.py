"""S2.9 from end to end: who must say yes to what, with real people and votes, to the microsecond."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.errors import AskChanged, AskClosed, Forbidden, NotApproved, UnknownPerson
from sayso.model.actor import CLOCK
from sayso.testing import FakeClock
from tests.asks.test_law import BY_AMOUNT, LENIENT, Office, office, refund, still_needed
from tests.places import Place

__all__ = ["office"]  # the fixture

TICK = timedelta(microseconds=1)

PATIENT = """
[tiers.high]
needs = ["2 senior"]
deny = 2

[tools]
refund = "high"
"""

Word = tuple[str, str, Any]  # what is said, by whom, and what becomes of it
APPROVED, REJECTED = "approved", "rejected"


@dataclass(frozen=True)
class Case:
    """A call, what people say to it one after the other, and what came of each word."""

    words: list[Word]
    risk: str | None = None
    law: str = ""
    amount: int = 40
    terms: dict[str, Any] = field(default_factory=dict)


def yes(who: str, then: Any = "open") -> Word:
    return "approve", who, then


def no(who: str, then: Any = "open") -> Word:
    return "reject", who, then


def edit(who: str, then: Any = "open", *, to: int = 999_999) -> Word:
    return f"edit {to}", who, then


NOBODY_ELSE = [yes("ben", Forbidden), no("ben", Forbidden), edit("ben", Forbidden)]

TABLE = {
    # each tier, and who is enough for it
    "medium, a junior": Case([yes("jun", APPROVED)], "medium"),
    "medium, a senior counts as one": Case([yes("anna", APPROVED)], "medium"),
    "high, a senior": Case([yes("anna", APPROVED)], "high"),
    "high, a senior who is more": Case([yes("ada", APPROVED)], "high"),
    "critical, one of each": Case([yes("anna"), yes("sec", APPROVED)], "critical"),
    "critical, the other way round": Case([yes("sec"), yes("anna", APPROVED)], "critical"),
    "critical, who is both is the senior": Case([yes("ada"), yes("sec", APPROVED)], "critical"),
    "critical, who is both is security": Case([yes("ada"), yes("anna", APPROVED)], "critical"),
    "critical, places are changed": Case([yes("anna"), yes("ada", APPROVED)], "critical"),
    # the wrong role
    "medium, no role": Case([*NOBODY_ELSE, yes("jun", APPROVED)], "medium"),
    "medium, another role": Case([yes("sec", Forbidden), no("sec", Forbidden)], "medium"),
    "high, no role": Case([*NOBODY_ELSE, yes("anna", APPROVED)], "high"),
    "high, a junior": Case([yes("jun", Forbidden), edit("jun", Forbidden)], "high"),
    "high, security": Case([yes("sec", Forbidden), no("sec", Forbidden)], "high"),
    "critical, no role": Case([yes("anna"), *NOBODY_ELSE, yes("sec", APPROVED)], "critical"),
    "critical, a junior": Case([yes("jun", Forbidden), no("jun", Forbidden)], "critical"),
    "somebody unknown": Case([yes("eve", UnknownPerson), yes("anna", APPROVED)], "high"),
    "an agent": Case([yes("agent:shop", Forbidden), yes("anna", APPROVED)], "high"),
    # the same person twice
    "twice the same": Case([yes("ada"), yes("ada"), yes("ada"), yes("sec", APPROVED)], "critical"),
    "two seniors are no security": Case(
        [yes("anna"), yes("ann2"), yes("sec", APPROVED)], "critical"
    ),
    "a yes that becomes a no": Case([yes("anna"), no("anna", REJECTED)], "critical"),
    # whoever asked for it, or owns the agent
    "requester": Case(
        [
            yes("anna", Forbidden),
            edit("anna", Forbidden),
            yes("ada", APPROVED),
        ],
        "high",
        terms={"requester": "anna"},
    ),
    "the no of a requester, E43": Case(
        [yes("anna", Forbidden), no("anna", REJECTED)], "high", terms={"requester": "anna"}
    ),
    "owner": Case(
        [
            yes("anna", Forbidden),
            edit("anna", Forbidden),
            yes("ada", APPROVED),
        ],
        "high",
        terms={"owner": "anna"},
    ),
    "the no of an owner, E43": Case(
        [yes("anna", Forbidden), no("anna", REJECTED)], "high", terms={"owner": "anna"}
    ),
    "the no of a requester who could not review": Case(
        [no("jun", Forbidden)], "high", terms={"requester": "jun"}
    ),
    "requester and owner": Case(
        [yes("anna", Forbidden), yes("ann2", Forbidden), yes("ada", APPROVED)],
        "high",
        terms={"requester": "anna", "owner": "ann2"},
    ),
    "requester in a pair": Case(
        [yes("ada", Forbidden), yes("anna"), yes("sec", APPROVED)],
        "critical",
        terms={"requester": "ada"},
    ),
    "requester, where the tier lets them": Case(
        [yes("anna", APPROVED)], law=LENIENT, terms={"requester": "anna"}
    ),
    # refusals
    "one no is enough": Case([no("sec", REJECTED)], "critical"),
    "one no after a yes": Case([yes("anna"), no("sec", REJECTED)], "critical"),
    "twice no where two are wanted": Case([no("anna"), no("ada", REJECTED)], law=PATIENT),
    "one no, said twice": Case([no("anna"), no("anna"), no("ada", REJECTED)], law=PATIENT),
    "one no of two is no yes": Case([no("anna"), yes("ada"), yes("anna", APPROVED)], law=PATIENT),
    "one no of two, others agree": Case(
        [no("anna"), yes("ada"), yes("ann2", APPROVED)], law=PATIENT
    ),
    # an edit between two votes
    "an edit into a higher tier": Case(
        [yes("ben"), edit("jun"), yes("ben", Forbidden), yes("anna"), yes("sec", APPROVED)],
        law=BY_AMOUNT,
        amount=10,
    ),
    "an edit within a tier": Case(
        [yes("ben"), edit("jun", to=11), yes("jun"), yes("ben", APPROVED)], law=BY_AMOUNT, amount=10
    ),
    "an edit into a lower tier": Case(
        [yes("anna"), edit("sec", to=10), yes("ben", Forbidden), yes("anna", APPROVED)],
        law=BY_AMOUNT,
        amount=500,
    ),
    "up and down again": Case(
        [edit("ben"), edit("anna", to=10), yes("ben", Forbidden), yes("sec", APPROVED)],
        law=BY_AMOUNT,
        amount=10,
    ),
}


def said(desk: Desk, ask: Ask, word: str, who: str) -> Ask:
    verb, _, amount = word.partition(" ")
    if verb == "edit":
        return desk.edit(ask, {"amount": int(amount)}, by=who)
    return desk.approve(ask, by=who) if verb == "approve" else desk.reject(ask, by=who)


def outcome(ask: Ask) -> str:
    if ask.decision is None:
        return ask.status
    return APPROVED if ask.decision else REJECTED


@pytest.mark.parametrize("case", TABLE.values(), ids=TABLE)
def test_every_word_comes_to_what_the_tier_says(office: Office, place: Place, case: Case) -> None:
    desk = office(case.law)
    desk.people.add("ann2", roles=["senior"])
    ask = refund(desk, case.amount, risk=case.risk, **case.terms)

    for word, who, then in case.words:
        with pytest.raises(NotApproved):
            desk.begin(ask)
        before = place.count()
        if isinstance(then, str):
            ask = said(desk, ask, word, who)
            assert outcome(ask) == then, (word, who, still_needed(desk, ask))
            continue
        with pytest.raises(then):
            said(desk, ask, word, who)
        assert place.count() == before, "a word that does not count leaves no trace"

    ask = desk.get(ask.id)
    if outcome(ask) == APPROVED:
        assert desk.begin(ask).args == ask.args
    else:
        with pytest.raises(NotApproved):
            desk.begin(ask)
    assert desk.verify()


def test_a_word_for_an_earlier_version_is_none_for_a_later_one(office: Office) -> None:
    desk = office(BY_AMOUNT)
    seen = refund(desk, 10)
    desk.approve(seen, by="ben")

    edited = desk.edit(seen, {"amount": 999_999}, by="jun")

    assert [vote.by.id for vote in edited.votes] == ["jun"], "ben agreed to something else"
    assert still_needed(desk, edited) == ["1 security", "1 senior"]
    assert "More than 100." in edited.content.sentence
    with pytest.raises(AskChanged):
        desk.approve(seen, by="anna")


# --- to the microsecond ------------------------------------------------------------------------

TIMED = """
[tiers.high]
needs = ["1 senior"]
within = "1h"
"""
COOL = TIMED + 'cool_off = "5m"\n'
AROUND = pytest.mark.parametrize(
    "off", [-TICK, timedelta(0), TICK], ids=["just before", "at", "just after"]
)
VERBS: dict[str, Callable[[Desk, Ask], Ask]] = {
    "approve": lambda desk, ask: desk.approve(ask, by="anna"),
    "reject": lambda desk, ask: desk.reject(ask, by="anna"),
    "edit": lambda desk, ask: desk.edit(ask, {"amount": 1}, by="anna"),
}


@AROUND
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("swept", [False, True], ids=["", "swept"])
def test_a_word_counts_up_to_the_deadline_and_not_in_its_moment(
    office: Office, clock: FakeClock, off: timedelta, verb: str, swept: bool
) -> None:
    desk = office(TIMED)
    ask = refund(desk, risk="high")
    clock.advance(timedelta(hours=1) + off)
    if swept:
        assert bool(desk.sweep().expired) is (off >= timedelta(0))

    if off < timedelta(0):
        assert outcome(VERBS[verb](desk, ask)) == (REJECTED if verb == "reject" else APPROVED)
    else:
        with pytest.raises(AskClosed) as late:
            VERBS[verb](desk, ask)
        assert late.value.decision is not None
        assert late.value.decision.by == CLOCK
        with pytest.raises(NotApproved):
            desk.begin(ask)
    assert [event.kind for event in desk.history(ask)].count("ask.decided") == 1
    assert desk.verify()


@AROUND
def test_the_second_vote_has_no_more_time_than_the_first(
    office: Office, clock: FakeClock, off: timedelta
) -> None:
    desk = office('[tiers.critical]\nwithin = "1h"\n')
    ask = desk.approve(refund(desk, risk="critical"), by="anna")
    clock.advance(timedelta(hours=1) + off)

    if off < timedelta(0):
        assert desk.approve(ask, by="sec").decision
        return
    with pytest.raises(AskClosed):
        desk.approve(ask, by="sec")
    assert outcome(desk.get(ask.id)) == REJECTED


@AROUND
@pytest.mark.parametrize("swept", [False, True], ids=["", "swept"])
def test_a_word_is_taken_back_up_to_the_moment_in_which_it_counts(
    office: Office, clock: FakeClock, off: timedelta, swept: bool
) -> None:
    desk = office(COOL)
    ask = desk.approve(refund(desk, risk="high"), by="anna")
    clock.advance(timedelta(minutes=5) + off)
    if swept:
        assert bool(desk.sweep().settled) is (off >= timedelta(0))

    if off < timedelta(0):
        assert desk.take_back(ask, by="anna").votes == ()
        clock.advance("5m")
        desk.sweep()
        with pytest.raises(NotApproved, match="still open"):
            desk.begin(ask)
    else:
        with pytest.raises(AskClosed):
            desk.take_back(ask, by="anna")
        desk.begin(ask)
    assert desk.verify()


@AROUND
def test_an_approval_is_begun_up_to_its_last_moment_and_in_it(
    office: Office, clock: FakeClock, off: timedelta
) -> None:
    desk = office('[tiers.high]\nexecute_within = "1h"\n')
    ask = desk.approve(refund(desk, risk="high"), by="anna")
    clock.advance(timedelta(hours=1) + off)

    if off <= timedelta(0):
        assert desk.begin(ask).args == ask.args
        return
    with pytest.raises(NotApproved, match="was good until"):
        desk.begin(ask)
