"""Earn, audit, strike on real asks: who runs alone, who lets them, and what ends it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from itertools import count
from random import Random
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.asks.books import BUCKETS, Pen
from sayso.asks.lawbook import default_policy
from sayso.autonomy.book import Book, read
from sayso.errors import (
    AlreadyReported,
    BadPolicy,
    BadValue,
    Forbidden,
    Misuse,
    NotApproved,
    Tampered,
    UnknownAsk,
    UnknownPerson,
)
from sayso.model.actor import Actor, Origin
from sayso.model.requirement import Requirement
from sayso.policy.reading import read as read_policy
from sayso.runs.restoring import restore
from sayso.testing import FakeClock
from tests.fine import fine, granted_before, write_fine
from tests.places import Place

LAW = """
[tools]
refund = "medium"
wire = "high"
drop = "critical"
note = "low"

[tiers.low]
needs = ["1 reviewer"]
"""
NEEDED = {"low": 98, "medium": 248, "high": 497}
PEOPLE = {"jun": ["junior"], "ann": ["senior"], "ben": ["senior"]}
SEEN = {"order: text": None}
ORDERS = count(1)
Office = Callable[..., Desk]


@pytest.fixture
def office(place: Place, clock: FakeClock) -> Iterator[Office]:
    """Desks on one database, with the policy that is given."""
    with ExitStack() as opened:

        def sit_down(text: str = LAW, **given: Any) -> Desk:
            policy = read_policy(text, source="law.toml", default=default_policy())
            named: dict[str, Any] = {"agent": "shop", "account": "sam@till", "clock": clock} | given
            desk = opened.enter_context(Desk(place.url, policy=policy, **named))
            desk.law.coin = lambda: 0.999  # nothing is picked, unless a test says so
            return desk

        yield sit_down


@pytest.fixture
def alone(office: Office) -> Desk:
    """A desk with nobody on it."""
    return office()


@pytest.fixture
def team(office: Office) -> Desk:
    """A desk with a junior and two seniors."""
    desk = office()
    for name, roles in PEOPLE.items():
        desk.people.add(name, roles=roles)
    return desk


def call(desk: Desk, tool: str = "refund", **more: Any) -> Ask:
    return desk.open(tool, {"order": f"R-{next(ORDERS)}"}, **more)


def judged(desk: Desk, tool: str = "refund", by: str | None = None) -> Ask:
    return desk.approve(call(desk, tool), by=by)


def key_of(desk: Desk, ask: Ask) -> Book:
    assert ask.stake is not None
    return desk.trust.key(ask.stake.key)


def proposal(desk: Desk, book: Book) -> Ask:
    """The question whether a key may run alone."""
    assert book.grant_ask is not None
    return desk.get(book.grant_ask)


def flag(desk: Desk, book: Book) -> Ask:
    """The question whether what somebody flagged was harm."""
    asked = desk.trust.key(book.id).flag_ask
    assert asked is not None
    return desk.get(asked)


def earn(desk: Desk, tool: str = "refund", by: str = "sam") -> Book:
    """Let a key earn a proposal: its last call by the real way, those of the days before by their book."""
    ask = call(desk, tool)
    assert ask.stake is not None
    fine(desk, ask, NEEDED[ask.stake.tier] - 1)
    desk.approve(ask, by=None if by == "sam" else by)
    return key_of(desk, ask)


def grant(desk: Desk, tool: str = "refund", by: str | None = None) -> Book:
    """Let a key earn a grant, which somebody ratifies."""
    book = earn(desk, tool, by or "sam")
    desk.approve(proposal(desk, book), by=by)
    return desk.trust.key(book.id)


# --- earning -----------------------------------------------------------------------------------


def test_every_reviewed_call_writes_a_line_into_the_book_of_its_key(alone: Desk) -> None:
    first, second = judged(alone), judged(alone)

    book = key_of(alone, first)

    assert first.stake == second.stake
    assert [event.kind for event in alone.trust.history(book.id)] == [
        "trust.begun",
        "trust.fine",
        "trust.fine",
    ]
    assert (book.fine, book.ledger.standing, book.marks) == (2, "reviewed", "++")
    assert book.missing == NEEDED["medium"] - 2


@pytest.mark.parametrize("tool", ["note", "refund", "wire"])
def test_a_grant_is_proposed_after_as_many_as_the_tier_wants(alone: Desk, tool: str) -> None:
    book = earn(alone, tool)

    assert (book.ledger.standing, book.fine) == ("proposed", NEEDED[book.key.tier])
    ask = proposal(alone, book)
    assert ask.title == f"Let shop run {tool} alone?"
    assert ask.facts["Calls found to be fine"] == book.fine
    assert ask.allow == ("approve", "reject")


@pytest.mark.parametrize(
    "said",
    [{"verdict": "reject", "kind": kind} for kind in ("taste", "not-now", None)]
    + [{"verdict": "respond", "answer": "Half of it"}, None],
)
def test_taste_and_time_say_nothing_of_a_key(
    alone: Desk, clock: FakeClock, said: dict[str, Any] | None
) -> None:
    ask = call(alone, within="1h")
    if said is None:
        clock.advance("2h")
        alone.sweep()
    else:
        alone.decide(ask, **said)

    assert alone.get(ask.id).decision is not None
    assert list(alone.trust) == []


def test_what_was_taken_back_counts_only_once_it_settles(alone: Desk, clock: FakeClock) -> None:
    ask = call(alone)
    alone.approve(ask, hold="1m")
    assert list(alone.trust) == []

    clock.advance(61)
    alone.sweep()

    assert key_of(alone, alone.get(ask.id)).fine == 1


def put(desk: Desk, gate: Any, *args: Any, **how: Any) -> Ask:
    """Ask for a call of a gate, as the gate itself does."""
    made = gate.__sayso_gate__
    return desk.put(
        made.content(desk.forms, made.tool.bind(args, {})), **({"declared": True} | how)
    )


def pay(amount: int | str, memo: str = "thanks") -> str:
    return f"{memo}: {amount}"


@pytest.mark.parametrize(
    ("changes", "harmful", "marks"),
    [
        ({"memo": "sorry"}, None, "+"),
        ({"amount": 30}, None, ""),
        ({"amount": 30}, False, "+"),
        ({"amount": 30}, True, "x"),
        ({"memo": "sorry"}, True, "x"),
    ],
)
def test_an_edit_of_what_matters_counts_only_by_the_word_of_whoever_made_it(
    office: Office, changes: dict[str, Any], harmful: bool | None, marks: str
) -> None:
    desk = office("")
    ask = put(desk, desk.gate(risk="medium", matters=["amount"])(pay), 40)

    desk.edit(ask, changes, harmful=harmful)

    assert [row.marks for row in desk.trust] == ([marks] if marks else [])


def test_harm_is_said_of_an_edit_and_a_rating_of_what_is_not_there_is_nobodys(alone: Desk) -> None:
    with pytest.raises(BadValue, match="goes with edit"):
        alone.decide(call(alone), "approve", harmful=True)

    rating = alone.later.feedback("40", of="a-0000").ask

    rated = alone.reject(rating, "No", kind="harmful")

    assert rated.closed
    assert list(alone.trust) == []


# --- what can never be earned -------------------------------------------------------------------


def test_critical_calls_have_no_key(alone: Desk) -> None:
    assert judged(alone, "drop").stake is None


@pytest.mark.parametrize(
    "terms",
    [
        {"risk": "critical"},
        {"reversible": False},
        {"needs": ["1 ann"]},
        {"args": {"order": 1, "odd": True}},
        {"args": {"order": 1, "memo": b64encode(bytes(range(256)) * 8).decode()}},
    ],
    ids=["declared critical", "irreversible", "its own people", "a rule asks", "unreadable"],
)
def test_what_can_never_be_earned_has_no_key(office: Office, terms: dict[str, Any]) -> None:
    desk = office(LAW + '\n[[rules]]\nname="odd"\nwhen="has(args.odd)"\neffect="ask"\n')
    for name, roles in PEOPLE.items():
        desk.people.add(name, roles=roles)

    assert desk.open("refund", **({"args": {"order": 1}} | terms)).stake is None
    assert desk.open("refund", {"order": 1}).stake is not None


def test_an_unsure_call_is_asked_for_although_its_key_runs_alone(alone: Desk) -> None:
    grant(alone)

    assert call(alone).decision
    assert call(alone, confidence=0.4).open


def test_a_policy_may_switch_it_off(office: Office) -> None:
    grant(office())

    ask = call(office(LAW + "\n[autonomy]\nenabled = false\n"))

    assert ask.open
    assert ask.stake is None


def test_a_policy_says_how_well_its_reviewers_look(office: Office) -> None:
    desk = office(LAW + "\n[autonomy]\ndetection = 1.0\n")

    ask = judged(desk)

    assert key_of(desk, ask).detection == 1.0
    assert key_of(desk, ask).missing == 197


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[autonomy]\nenabled = 1", "true or false"),
        ("[autonomy]\ndetection = 0", "0.1 to 1"),
        ("[autonomy]\ndetection = true", "0.1 to 1"),
        ("[autonomy]\ndetecton = 0.9", "detecton"),
    ],
)
def test_a_policy_that_makes_no_sense_of_it_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadPolicy, match=says):
        read_policy(text, source="law.toml", default=default_policy())


# --- ratifying ----------------------------------------------------------------------------------


def test_nothing_runs_alone_before_a_person_has_ratified_it(alone: Desk) -> None:
    book = earn(alone)
    assert call(alone).open

    alone.approve(proposal(alone, book))

    ran = call(alone)
    assert ran.decision
    assert ran.decision.grant == book.id
    assert str(ran.decision.by) == f"policy:grant {book.id}"
    assert alone.trust.alone(book.id)


def test_whoever_decides_its_calls_ratifies_the_grant(team: Desk) -> None:
    book = earn(team, by="jun")
    ask = proposal(team, book)
    assert str(ask.needs) == "1 junior"

    team.approve(ask, by="jun")

    assert team.trust.key(book.id).alone


def test_a_grant_of_high_risk_takes_two_people(team: Desk) -> None:
    book = earn(team, "wire", by="ann")
    ask = proposal(team, book)

    team.approve(ask, by="ann")
    assert not team.trust.key(book.id).alone
    team.approve(ask, by="ben")

    ratified = team.trust.history(book.id)[-1]
    assert ratified.kind == "trust.ratified"
    assert (ratified.payload or {})["voters"] == ["ann", "ben"]
    assert team.trust.key(book.id).alone


def test_where_nobody_could_ratify_nobody_is_asked_until_somebody_could(office: Office) -> None:
    desk = office()
    desk.people.add("ann", roles=["senior"])
    book = earn(desk, "wire", by="ann")
    assert (book.ledger.standing, book.grant_ask) == ("proposed", None)

    desk.people.add("ben", roles=["senior"])
    judged(desk, "wire", by="ann")

    assert desk.trust.key(book.id).grant_ask is not None


def test_a_policy_that_was_tightened_since_says_who_lets_a_key_run_alone(office: Office) -> None:
    desk = office()
    for name, roles in PEOPLE.items():
        desk.people.add(name, roles=[*roles, "admin"])
    ask = call(desk, "note")
    fine(desk, ask, NEEDED["low"] - 2)
    desk.approve(ask, by="jun")

    desk.policies.publish(LAW.replace('["1 reviewer"]', '["1 senior"]'), by="ann")
    book = key_of(desk, judged(desk, "note", by="ann"))

    assert book.id == key_of(desk, ask).id
    assert Requirement.parse(book.needs) == Requirement.parse(["1 reviewer"])
    with pytest.raises(Forbidden):
        desk.approve(proposal(desk, book), by="jun")
    assert desk.approve(proposal(desk, book), by="ann").decision


def test_whoever_declines_lets_it_earn_from_the_beginning(alone: Desk) -> None:
    book = earn(alone)

    alone.reject(proposal(alone, book), "Not before the audit")

    declined = alone.trust.key(book.id).ledger
    assert (declined.standing, declined.score, declined.ends) == ("reviewed", 1.0, 0)


def test_a_question_that_was_withdrawn_is_put_again_with_the_next_call(alone: Desk) -> None:
    book = earn(alone)
    alone.withdraw(proposal(alone, book))

    judged(alone)

    assert alone.trust.key(book.id).grant_ask not in (None, book.grant_ask)


def test_an_agent_cannot_ask_for_its_own_grant(alone: Desk) -> None:
    judged(alone)
    ask = alone.open("note", {"let": "me"}, agent="sayso")
    alone.approve(ask)

    assert all(row.standing == "reviewed" for row in alone.trust)


# --- the coin -----------------------------------------------------------------------------------


def test_the_coin_sends_as_many_calls_to_people_as_the_tier_wants(alone: Desk) -> None:
    book = grant(alone)
    rate = book.terms.audit
    assert rate == pytest.approx(0.1111, abs=1e-4)

    alone.law.coin = lambda: rate
    spared = call(alone)
    alone.law.coin = lambda: rate - 1e-9
    picked = call(alone)

    assert picked.open
    assert spared.decision


def test_an_audit_looks_like_any_other_wait(alone: Desk) -> None:
    before = call(alone)
    alone.approve(before)
    grant(alone)
    alone.law.coin = lambda: 0.0

    audited = call(alone)

    def seen(ask: Ask) -> set[str]:
        said = alone.history(ask)[0].payload or {}
        return {*said, *said["content"], *said["trust"]}

    assert seen(audited) == seen(before)
    assert audited.stake == before.stake
    assert audited.content.sentence == before.content.sentence


def test_the_coin_is_tossed_after_the_call_was_frozen(alone: Desk) -> None:
    grant(alone)
    args = {"order": "R-1"}

    def late() -> float:
        args["order"] = "R-1000000"
        return 0.999

    alone.law.coin = late

    assert alone.open("refund", args).args == {"order": "R-1"}


def test_a_clean_audit_carries_its_rate_for_the_estimate(alone: Desk) -> None:
    book = grant(alone)
    alone.law.coin = lambda: 0.0

    judged(alone)

    last = alone.trust.history(book.id)[-1]
    assert (last.kind, (last.payload or {})["rho"]) == ("trust.fine", book.terms.audit)
    assert alone.trust.key(book.id).audits == 1


def test_what_was_asked_before_the_grant_is_no_audit(alone: Desk, clock: FakeClock) -> None:
    waits = call(alone)
    clock.advance(1)
    book = grant(alone)

    alone.approve(waits)

    assert "rho" not in (alone.trust.history(book.id)[-1].payload or {})


def test_what_was_not_picked_forgives_nothing(alone: Desk) -> None:
    waiting = [call(alone) for _ in range(3)]
    book = grant(alone)

    for ask in waiting:
        alone.approve(ask)

    assert alone.trust.key(book.id).ledger.clean == 0


def test_nothing_runs_alone_while_somebody_looks_at_what_was_picked(alone: Desk) -> None:
    book = grant(alone)
    alone.law.coin = lambda: 0.0
    picked = call(alone)
    alone.law.coin = lambda: 0.999
    assert all(call(alone).open for _ in range(5))

    alone.approve(picked)

    assert call(alone).decision
    assert alone.trust.key(book.id).audits == 1


@pytest.mark.parametrize("ending", ["withdrawn", "not now", "late"])
def test_whoever_asks_again_tosses_no_second_coin(
    alone: Desk, clock: FakeClock, ending: str
) -> None:
    grant(alone)
    alone.law.coin = lambda: 0.0
    picked = call(alone, within="1h")
    alone.law.coin = lambda: 0.999
    if ending == "withdrawn":
        alone.withdraw(picked)
    elif ending == "not now":
        alone.reject(picked, kind="not-now")
    else:
        clock.advance("2h")
        alone.sweep()

    again = call(alone)
    assert again.open
    alone.approve(again)

    question = key_of(alone, again).flag_ask
    assert (question is None) == (ending == "not now")  # then a person has spoken to it
    if question is not None:
        assert call(alone).open
        assert picked.id in alone.get(question).title
        alone.reject(alone.get(question))
    assert call(alone).decision


@pytest.mark.parametrize("ending", ["withdrawn", "late"])
def test_an_agent_that_lets_nobody_see_what_was_picked_loses_its_grant(
    alone: Desk, clock: FakeClock, ending: str
) -> None:
    book = grant(alone)
    alone.law.coin = Random(7).random
    picked, ran = 0, 0
    while alone.trust.key(book.id).ledger.standing == "granted":
        bad = call(alone, within="1h")
        if bad.decision:
            ran += 1
            continue
        picked += 1
        if ending == "withdrawn":
            alone.withdraw(bad)
        else:
            clock.advance("2h")
            alone.sweep()
        alone.approve(call(alone))  # one that is fine, to be seen instead
        assert call(alone).open
        alone.approve(flag(alone, book))  # it would have done harm

    ended = alone.trust.key(book.id)
    assert (picked, ended.ledger.ends, ended.harms, ended.bad_audits) == (2, 1, 2, 2)
    assert ran < 100
    assert alone.verify()


def test_a_pick_whose_program_died_before_it_asked_is_put_to_people(
    alone: Desk, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = grant(alone)
    alone.law.coin = lambda: 0.0
    with monkeypatch.context() as patch:
        patch.setattr("sayso.asks.opening.opening", _killed)
        with pytest.raises(OSError, match="killed"):
            call(alone)
    alone.law.coin = lambda: 0.999

    alone.approve(call(alone))
    assert alone.trust.key(book.id).flag_ask is None  # it may be on its way
    clock.advance("5m")
    alone.approve(call(alone))
    assert "never put to anybody" in (flag(alone, book).content.why or "")
    assert call(alone).open

    alone.reject(flag(alone, book))
    assert call(alone).decision


def test_the_no_of_whoever_asked_is_no_look_at_what_chance_had_picked_e43(team: Desk) -> None:
    book = grant(team, by="ann")
    team.law.coin = lambda: 0.0
    picked = call(team, requester="jun")
    team.law.coin = lambda: 0.999

    team.reject(picked, kind="taste", by="jun")
    team.approve(call(team), by="ann")

    assert flag(team, book).open
    assert call(team).open, "somebody else looks at it first"


def _killed(*_: Any, **__: Any) -> None:
    raise OSError("killed")


def test_a_book_whose_end_was_cut_off_lets_nothing_run_alone(office: Office, place: Place) -> None:
    desk = office()
    book = grant(desk)
    ran = call(desk)
    desk.finish(desk.begin(ran))
    desk.incident(ran, "Paid twice")
    place.sql("delete from events where stream = ? and seq > ?", book.id, book.seq)

    assert call(office()).open


# --- strikes ------------------------------------------------------------------------------------


def harmful(desk: Desk, tool: str = "refund", by: str | None = None) -> Ask:
    desk.law.coin = lambda: 0.0
    rejected = desk.reject(call(desk, tool), "Wrong customer", kind="harmful", by=by)
    desk.law.coin = lambda: 0.999
    return rejected


def test_alone_a_flag_counts_at_once_and_the_second_one_ends_the_grant(alone: Desk) -> None:
    book = grant(alone)

    harmful(alone)
    assert alone.trust.key(book.id).ledger.strikes == 1
    harmful(alone)

    ended = alone.trust.key(book.id)
    assert (ended.ledger.standing, ended.ledger.ends, ended.ledger.bar) == ("reviewed", 1, 40.0)
    assert call(alone).open
    assert alone.trust.history(book.id)[-1].kind == "trust.ended"


def test_in_a_team_a_flag_suspends_until_somebody_else_has_looked(team: Desk) -> None:
    book = grant(team, by="ann")

    harmful(team, by="jun")
    assert team.trust.key(book.id).ledger.standing == "suspended"
    assert call(team).open

    with pytest.raises(Forbidden, match="somebody else decides"):
        team.approve(flag(team, book), by="jun")
    team.approve(flag(team, book), by="ann")

    confirmed = team.trust.key(book.id)
    assert (confirmed.ledger.standing, confirmed.ledger.strikes) == ("granted", 1)
    assert (confirmed.harms, confirmed.bad_audits) == (1, 1)


def test_a_flag_that_is_overturned_leaves_no_strike(team: Desk) -> None:
    book = grant(team, by="ann")
    harmful(team, by="jun")

    team.reject(flag(team, book), "That customer was right", by="ann")

    overturned = team.trust.key(book.id)
    assert (overturned.ledger.standing, overturned.ledger.strikes) == ("granted", 0)
    assert call(team).decision


def test_a_flag_takes_back_the_question_whether_the_key_may_run_alone(team: Desk) -> None:
    book = earn(team, by="ann")

    harmful(team, by="jun")

    assert proposal(team, book).status == "withdrawn"
    team.reject(flag(team, book), by="ann")
    again = team.trust.key(book.id)
    assert again.ledger.standing == "proposed"
    assert again.grant_ask not in (None, book.grant_ask)


def test_only_who_could_decide_its_calls_reopens_a_key(team: Desk) -> None:
    team.people.add("eve", roles=[])
    book = grant(team, by="ann")
    pen = Pen(team.store, book)
    for _ in range(3):
        pen.write("incident", Actor("person", "ann"), Origin("python", ""), ask="a-0000", harm="x")
        write_fine(pen, SEEN, pen.book.missing or 0)
        if pen.book.ledger.standing == "proposed":
            pen.write("ratified", Actor("person", "ann"), Origin("python", ""), ask="a-0000")
    assert team.store.commit(*pen.appends())

    with pytest.raises(Forbidden, match="1 junior"):
        team.trust.reopen(book.id, by="eve")
    with pytest.raises(UnknownPerson):
        team.trust.reopen(book.id)
    assert team.trust.key(book.id).ledger.standing == "locked"

    reopened = team.trust.reopen(book.id, "New model", by="ann")
    assert (reopened.ledger.standing, reopened.ledger.ends) == ("reviewed", 3)


def test_who_owns_the_agent_or_decides_no_such_calls_settles_no_flag(office: Office) -> None:
    desk = office()
    for name, roles in {**PEOPLE, "cat": ["senior"], "eve": []}.items():
        desk.people.add(name, roles=roles)
    flagged = desk.reject(call(desk, "wire", owner="ben"), "No", kind="harmful", by="ann")
    flag = key_of(desk, flagged).flag_ask
    assert flag is not None

    for name in ("ben", "eve", "ann"):
        with pytest.raises(Forbidden):
            desk.reject(desk.get(flag), by=name)


def test_of_several_words_the_gravest_counts_and_two_who_say_so_need_no_third(
    office: Office, team: Desk
) -> None:
    desk = office(LAW + '[tiers.medium]\nneeds = ["1 junior"]\ndeny = 2\n')
    accused = desk.reject(call(desk), "Harm", kind="harmful", by="ann")
    desk.approve(accused, by="jun")
    assert key_of(desk, desk.get(accused.id)).ledger.standing == "suspended"

    other = call(desk, agent="clerk")
    for name in ("ann", "jun"):
        desk.reject(other, "Harm", kind="harmful", by=name)
    book = key_of(desk, desk.get(other.id))
    assert (book.ledger.standing, book.harms) == ("reviewed", 1)


def test_harm_found_while_a_flag_waits_is_a_question_of_its_own(team: Desk) -> None:
    book = grant(team, by="ann")
    harmful(team, by="jun")
    harmful(team, by="ben")
    first, second = team.trust.key(book.id).questions

    team.reject(team.get(first), "It was fine", by="ben")
    assert team.trust.key(book.id).ledger.standing == "suspended"
    assert call(team).open
    with pytest.raises(Forbidden, match="somebody else decides"):
        team.approve(team.get(second), by="ben")
    team.approve(team.get(second), by="ann")

    settled = team.trust.key(book.id)
    assert (settled.ledger.standing, settled.ledger.strikes, settled.harms) == ("granted", 1, 1)
    assert call(team).decision


def test_harm_counts_at_once_though_a_decision_can_be_taken_back(team: Desk) -> None:
    book = grant(team, by="ann")
    team.law.coin = lambda: 0.0
    picked, other = call(team), call(team)
    team.law.coin = lambda: 0.999
    team.approve(picked, by="ann")
    assert call(team).decision

    team.reject(other, "Harm", kind="harmful", by="jun", hold=8)

    assert team.trust.key(book.id).ledger.standing == "suspended"
    assert call(team).open


def test_a_flag_whose_question_was_withdrawn_is_put_again_or_revoked(team: Desk) -> None:
    book = grant(team, by="ann")
    harmful(team, by="jun")
    first = team.withdraw(flag(team, book))

    harmful(team, by="jun")
    again = flag(team, book)
    assert again.id != first.id
    team.trust.revoke(book.id, by="ann")

    assert team.trust.key(book.id).ledger.standing == "reviewed"
    assert team.get(again.id).status == "withdrawn"


def test_where_only_one_person_is_their_flag_counts(office: Office) -> None:
    desk = office()
    desk.people.add("ann", roles=["senior"])

    flagged = desk.reject(call(desk), kind="harmful", by="ann")

    assert (key_of(desk, flagged).harms, key_of(desk, flagged).flag_ask) == (1, None)


def test_a_policy_that_has_changed_since_is_heard_before_a_call_runs_alone(office: Office) -> None:
    grant(office())
    let = call(office())
    assert let.decision

    for text in ('refund = "critical"', 'refund = "high"', None):
        changed = LAW if text is None else LAW.replace('refund = "medium"', text)
        law = changed if text else f"{LAW}\n[autonomy]\nenabled = false\n"
        with pytest.raises(NotApproved):
            office(law).begin(let)


def test_an_approval_of_a_grant_that_ended_is_not_good_under_the_next(alone: Desk) -> None:
    book = grant(alone)
    let = call(alone)
    alone.trust.revoke(book.id)
    again = grant(alone)
    assert again.ledger.grants == 2

    with pytest.raises(NotApproved, match="grant"):
        alone.begin(let)


# --- incidents ----------------------------------------------------------------------------------


def carried_out(desk: Desk, tool: str = "refund", **more: Any) -> Ask:
    ask = call(desk, tool, **more)
    if ask.open:
        desk.approve(ask)
    desk.finish(desk.begin(ask))
    return desk.get(ask.id)


def test_an_incident_ends_the_grant_at_once(alone: Desk) -> None:
    book = grant(alone)
    ran = carried_out(alone)

    reported = alone.incident(ran, "Refunded the wrong customer")

    assert reported.harm is not None
    assert reported.harm.what == "Refunded the wrong customer"
    assert alone.trust.key(book.id).ledger.standing == "reviewed"
    assert call(alone).open
    assert alone.verify()


def test_an_incident_of_a_reviewed_call_weighs_against_its_key(alone: Desk) -> None:
    ran = carried_out(alone)
    score = key_of(alone, ran).ledger.score

    alone.incident(ran, "It was the wrong one")

    assert key_of(alone, ran).ledger.score == pytest.approx(score / 4)


def test_harm_is_reported_once(alone: Desk) -> None:
    ran = carried_out(alone)
    alone.incident(ran, "Wrong")

    with pytest.raises(AlreadyReported, match="sam"):
        alone.incident(ran.id, "Wrong again")

    assert key_of(alone, ran).incidents == 1


def test_an_incident_is_of_a_call_that_ran_and_says_what_happened(alone: Desk) -> None:
    with pytest.raises(Misuse, match="never carried out"):
        alone.incident(judged(alone), "Wrong")
    with pytest.raises(UnknownAsk):
        alone.incident("a-0000", "Wrong")
    ran = carried_out(alone)
    for harm in ("", "  ", None, 7):
        with pytest.raises(BadValue, match="what harm was done"):
            alone.incident(ran, harm)  # type: ignore[arg-type]


def test_a_rating_is_an_incident_only_if_it_says_harmful(alone: Desk) -> None:
    ran = carried_out(alone)
    before = key_of(alone, ran)

    alone.approve(alone.later.feedback("paid", of=ran.id).ask)
    alone.reject(alone.later.feedback("paid", of=ran.id).ask, "Slow")

    assert key_of(alone, ran) == before

    book = grant(alone)
    ran = carried_out(alone)
    rating = alone.later.feedback("paid", of=ran.id)

    alone.reject(rating.ask, "Paid the wrong one", kind="harmful")

    assert alone.get(ran.id).harm is not None
    assert alone.trust.key(book.id).ledger.standing == "reviewed"


# --- who is whose -------------------------------------------------------------------------------


def versioned(desk: Desk, version: str) -> Ask:
    desk.forms.version = lambda _: version
    return put(desk, desk.gate(risk="medium", name="pay")(pay), f"R-{next(ORDERS)}")


def test_a_new_version_starts_reviewed(office: Office) -> None:
    desk = office("")
    first = versioned(desk, "1")
    desk.approve(first)

    second = versioned(desk, "2")

    assert first.stake != second.stake
    assert second.open


def test_an_agent_that_changes_its_version_sheds_no_strikes(office: Office) -> None:
    desk = office("")
    ask = versioned(desk, "1")
    desk.approve(ask)
    pen = Pen(desk.store, granted_before(desk, ask))
    pen.write("incident", Actor("person", "sam"), Origin("python", ""), ask="a-0000", harm="x")
    assert desk.store.commit(*pen.appends())

    desk.approve(renamed := versioned(desk, "2"))

    assert key_of(desk, renamed).ledger.ends == 1
    assert key_of(desk, renamed).ledger.bar == 40.0


def test_harm_of_an_old_version_ends_the_grant_of_the_new_one(office: Office) -> None:
    desk = office("")
    old = versioned(desk, "1")
    desk.approve(old)
    desk.finish(desk.begin(old))
    desk.approve(new := versioned(desk, "2"))
    granted_before(desk, new)
    assert versioned(desk, "2").decision

    desk.incident(old, "It came out today")

    assert versioned(desk, "2").open


def test_a_version_that_was_begun_before_sheds_no_strikes_either(office: Office) -> None:
    desk = office("")
    desk.approve(other := versioned(desk, "2"))
    ask = versioned(desk, "1")
    desk.approve(ask)
    granted_before(desk, ask)
    desk.law.coin = lambda: 0.999
    ran = versioned(desk, "1")
    desk.finish(desk.begin(ran))

    desk.incident(ran, "Paid twice")

    assert key_of(desk, other).ledger.ends == 1


def test_an_erased_call_still_counts_for_its_key(alone: Desk) -> None:
    book = grant(alone)
    ran = carried_out(alone)
    alone.erase(ran, "asked for")

    alone.incident(ran.id, "It came out today")

    assert alone.trust.key(book.id).ledger.standing == "reviewed"


@pytest.mark.parametrize(
    "how",
    [{"earns": False}, {"risk": "medium", "earns": False}, {"bucket": lambda **_: str(1 / 0)}],
)
def test_a_gate_that_earns_nothing_or_cannot_tell_its_bucket_is_always_reviewed(
    office: Office, how: dict[str, Any]
) -> None:
    desk = office('[tools]\npay = "medium"\n')

    assert put(desk, desk.gate(**how)(pay), 1, always="risk" not in how).stake is None


def test_a_namesake_in_another_team_is_another_agent(team: Desk) -> None:
    team.people.add("eve", roles=["junior"], teams=["north"])
    ours, theirs = call(team), call(team, team="north")

    assert ours.stake != theirs.stake


def test_an_agent_cannot_multiply_its_grants_by_splitting_buckets(office: Office) -> None:
    desk = office("")
    gate = desk.gate(risk="medium", bucket=lambda amount, **_: f"order {amount}")(pay)
    for order in range(BUCKETS + 3):
        desk.approve(put(desk, gate, order))

    assert len(list(desk.trust)) == BUCKETS


@pytest.mark.parametrize("wrong", [{"bucket": "small"}, {"matters": ["amuont"]}, {"earns": "yes"}])
def test_a_gate_that_makes_no_sense_of_it_is_refused(alone: Desk, wrong: dict[str, Any]) -> None:
    with pytest.raises(BadValue, match=next(iter(wrong))):
        alone.gate(risk="medium", **wrong)(pay)


def test_a_restore_ends_what_runs_alone(alone: Desk) -> None:
    book = grant(alone)

    restore(alone.store, actor=Actor("person", "sam"), origin=Origin("python", ""))

    assert alone.trust.key(book.id).ledger.standing == "reviewed"
    assert call(alone).open


# --- steering, walls, proof ---------------------------------------------------------------------


def test_only_a_grant_in_force_can_be_revoked(alone: Desk) -> None:
    book = earn(alone)

    with pytest.raises(Misuse, match="proposed"):
        alone.trust.revoke(book.id)


def test_a_clock_that_jumps_moves_nothing(alone: Desk, clock: FakeClock) -> None:
    book = grant(alone)
    clock._now -= timedelta(days=100)  # a clock that was put back
    assert call(alone).decision
    clock.advance(timedelta(days=1000))

    assert call(alone).decision
    assert alone.trust.key(book.id).ledger.standing == "granted"


def test_a_row_or_a_line_that_was_changed_by_hand_lets_nothing_run_alone(
    alone: Desk, place: Place
) -> None:
    book = earn(alone)
    alone.store._rows("put_trust", **_granted_row(alone, book))  # type: ignore[attr-defined]

    assert call(alone).open
    report = alone.verify()
    assert [problem.stream for problem in report.problems] == [book.id]

    book = earn(alone)
    place.sql("update trust set seq = 999")

    assert [problem.stream for problem in alone.verify().problems] == [book.id]


def _granted_row(desk: Desk, book: Book) -> dict[str, object]:
    from sayso.asks.books import row_of
    from sayso.model.event import micros

    row = row_of(book)._replace(standing="granted")
    return row._asdict() | {"changed_at": micros(row.changed_at)}


def test_the_books_can_be_made_again_from_the_journal(team: Desk) -> None:
    grant(team, by="ann")
    harmful(team, by="jun")
    judged(team, "wire", by="ann")

    for row in team.trust:
        again = read(team.store.stream(row.id))
        assert again == team.trust.key(row.id)
    assert team.verify()


def test_a_line_that_was_changed_ends_everything_that_runs_alone(alone: Desk) -> None:
    events = alone.trust.history(grant(alone).id)
    forged = events[3]._replace(text='{"ask":"a-0000","detection":1.0}')

    with pytest.raises(Tampered):
        read([*events[:3], forged, *events[4:]])


def test_a_gate_runs_alone_under_its_grant(office: Office) -> None:
    desk = office("")
    gate = desk.gate(risk="medium")(pay)
    granted_before(desk, put(desk, gate, 1))

    assert gate(1) == "thanks: 1"
