"""An ask is what its journal says, step by step."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from sayso.errors import Tampered
from sayso.model.actor import CLOCK, Actor, Origin
from sayso.model.event import Event
from sayso.model.folding import after, as_met, fold
from tests.journals import SHOP, START, Journal, person


def erased(event: Event) -> Event:
    return event._replace(text=None, salt=None)


def test_an_opened_ask_is_open_and_shows_what_was_proposed() -> None:
    journal = Journal()

    ask = fold(journal.events)

    assert (ask.status, ask.version, ask.seq) == ("open", 1, 1)
    assert (ask.tool, ask.args, ask.opened_at) == ("refund", {"amount": 40}, START)
    assert ask.head == journal.events[-1].hash
    assert ask.allow == ("approve", "edit", "reject", "respond")


def test_a_decision_says_who_when_how_and_on_what() -> None:
    before = fold(Journal().events)
    ask = fold(Journal().decide("anna", "reject", note="no", kind="taste", end=True).events)

    decision = ask.decision
    assert decision is not None
    assert (ask.status, ask.closed_at) == ("decided", START + timedelta(minutes=1))
    assert (decision.verdict, decision.by, decision.note) == ("reject", person("anna"), "no")
    assert (decision.kind, decision.end, decision.digest) == ("taste", True, before.digest)
    assert decision.origin == Origin("python", "sam@till")
    assert [vote.by.id for vote in decision.votes] == ["anna"]
    assert decision.args is None
    assert ask.allow == ()


def test_an_approval_carries_its_arguments_and_the_clocks_rejection_is_nobodys_vote() -> None:
    decision = fold(Journal().decide("anna").events).decision

    assert decision
    assert decision.args == {"amount": 40}

    ask = fold(Journal().vote("anna").say("ask.decided", CLOCK, verdict="reject").events)

    assert ask.decision is not None
    assert ask.decision.by == CLOCK
    assert [vote.by.id for vote in ask.votes] == ["anna"]


def test_an_edit_makes_a_version_and_keeps_the_very_first_proposal() -> None:
    first = fold(Journal().vote("anna").events)
    ask = fold(Journal().vote("anna").edit("ben", amount=30).events)

    assert (ask.version, ask.args, ask.original) == (2, {"amount": 30}, {"amount": 40})
    assert ask.digest != first.digest
    assert [(vote.by.id, vote.version) for vote in ask.votes] == [("ben", 2)]

    ask = fold(Journal().edit("ben", amount=30).edit("anna", amount=20).events)

    assert (ask.version, ask.args, ask.original) == (3, {"amount": 20}, {"amount": 40})


def test_each_event_met_the_arguments_that_it_is_about() -> None:
    journal = Journal().vote("anna").edit("ben", amount=30).edit("anna", amount=20).decide("ben")

    met = as_met(fold(journal.events), journal.events)

    amounts = {seq: ask.args["amount"] for seq, ask in met.items()}
    assert amounts == {1: 40, 2: 40, 3: 40, 4: 30, 5: 20}
    assert [met[seq].version for seq in sorted(met)] == [1, 1, 1, 2, 3]


def test_of_an_ask_that_lost_an_edit_no_event_met_anything() -> None:
    journal = Journal().edit("ben", amount=30).decide("ben")
    events = [journal.events[0], erased(journal.events[1]), journal.events[2]]

    met = as_met(fold(events), events)

    assert not any(ask.digest or ask.args for ask in met.values())


def test_deciding_an_edited_version_is_recorded_as_an_edit_or_a_rejection() -> None:
    decision = fold(Journal().edit("ben", amount=30).decide("anna").events).decision

    assert decision is not None
    assert (decision.verdict, decision.by.id) == ("edit", "anna")
    assert decision.args == {"amount": 30}

    decision = fold(Journal().edit("ben", amount=30).decide("anna", "reject").events).decision

    assert decision is not None
    assert decision.verdict == "reject"


def test_a_newer_vote_replaces_the_older_one_of_the_same_person() -> None:
    ask = fold(Journal().vote("anna").vote("ben").vote("anna", "reject").events)

    assert [(vote.by.id, vote.verdict) for vote in ask.votes] == [
        ("ben", "approve"),
        ("anna", "reject"),
    ]


def test_an_event_of_no_concern_only_moves_the_head() -> None:
    journal = Journal()
    before = fold(journal.events)
    journal.say("something.new", SHOP)

    ask = after(before, journal.events[-1])

    last = journal.events[-1]
    assert ask == replace(before, seq=2, head=last.hash, changed_at=last.at)


def test_the_effect_goes_from_intent_to_result() -> None:
    journal = Journal().decide("anna").say("effect.intended", SHOP, key="k", attempt=1)
    intended = fold(journal.events).effect
    done = fold(journal.say("effect.done", SHOP, result={"paid": 40}).events).effect

    assert intended is not None
    assert done is not None
    assert (intended.status, intended.key, intended.attempt) == ("intended", "k", 1)
    assert (done.status, done.result) == ("done", {"paid": 40})
    assert done.ended_at == START + timedelta(minutes=3)


def test_a_second_try_after_a_doubt_counts_as_the_second() -> None:
    journal = Journal().decide("anna").say("effect.intended", SHOP, key="k", attempt=1)
    journal.say("effect.unknown", SHOP, doubt="a-0000").say("effect.late", SHOP, result=1)
    journal.say("effect.intended", SHOP, key="k", attempt=2)

    effect = fold(journal.events).effect

    assert effect is not None
    assert (effect.status, effect.attempt, effect.doubt) == ("intended", 2, None)
    assert [late["result"] for late in effect.late] == [1]


IMPOSSIBLE = {
    "nothing at all": [],
    "no opening": Journal().decide("anna").events[1:],
    "two decisions": Journal().decide("anna").decide("ben").events,
    "a vote after the decision": Journal().decide("anna").vote("ben").events,
    "an edit after the decision": Journal().decide("anna").edit("ben", amount=1).events,
    "withdrawn after the decision": Journal().decide("anna").say("ask.withdrawn", SHOP).events,
    "decided after withdrawing": Journal().say("ask.withdrawn", SHOP).decide("anna").events,
    "an effect without a decision": Journal().say("effect.intended", SHOP, key="k").events,
    "an effect of a rejection": Journal()
    .decide("anna", "reject")
    .say("effect.intended", SHOP, key="k")
    .events,
    "an effect of an answer": Journal()
    .decide("anna", "respond", answer="no")
    .say("effect.intended", SHOP, key="k")
    .events,
    "an end without a beginning": Journal().decide("anna").say("effect.done", SHOP).events,
    "spent twice": Journal()
    .decide("anna")
    .say("effect.intended", SHOP, key="k")
    .say("effect.intended", SHOP, key="k")
    .events,
    "spent again after it was done": Journal()
    .decide("anna")
    .say("effect.intended", SHOP, key="k")
    .say("effect.done", SHOP)
    .say("effect.intended", SHOP, key="k")
    .events,
}


@pytest.mark.parametrize("events", IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
def test_a_history_that_cannot_be_is_refused(events: list[Event]) -> None:
    with pytest.raises(Tampered):
        fold(events)


def test_an_erased_ask_keeps_its_course_and_loses_its_words() -> None:
    journal = Journal().edit("ben", amount=30).decide("anna")
    journal.say("effect.intended", SHOP, key="k").say("effect.done", SHOP, result="secret")

    ask = fold([erased(event) for event in journal.events])

    assert (ask.id, ask.status, ask.version, ask.seq) == ("a-7f3k", "decided", 2, 5)
    assert ask.effect is not None
    assert ask.effect.status == "done"
    assert ask.decision is not None
    assert ask.decision.by == Actor("person", "anna")
    for word in ("secret", "Refund", "40", "refund"):
        assert word not in repr((ask.content, ask.decision, ask.effect))


def test_an_ask_that_lost_an_edit_no_longer_proposes_anything() -> None:
    """Were the first version shown instead, a person's correction could be undone by blanking it."""
    journal = Journal().edit("ben", amount=30).decide("ben")

    ask = fold([journal.events[0], erased(journal.events[1]), journal.events[2]])

    assert ask.args != {"amount": 40}
