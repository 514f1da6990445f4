"""Asking, looking, deciding: the same words on a database and over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import Option
from sayso.errors import (
    AskChanged,
    AskClosed,
    BadValue,
    Claimed,
    Denied,
    Forbidden,
    InvalidAnswer,
    InvalidEdit,
    KeyConflict,
    Misuse,
    Settling,
    StillOpen,
    TooManyAsks,
    UnknownAsk,
    UnknownPerson,
    UnknownRole,
    Unsatisfiable,
    VerdictNotAllowed,
)
from tests.conformance.house import House

SCHEMA = {"type": "object", "properties": {"order": {"type": "integer"}, "amount": {"maximum": 90}}}


def test_what_was_asked_is_what_people_see(house: House) -> None:
    ask = house.asker.open(
        "refund",
        {"order": 7, "amount": 40.0},
        title="Refund order 7",
        schema=SCHEMA,
        returns=int,
        facts={"z": "Müller", "a": [1, None, {"x": True}]},
        impact="Money leaves.",
        reversible=False,
        affects="customers",
        risk="high",
        why="Charged twice",
        confidence=0.5,
        within="2h",
        thread="sale",
        tags=["money"],
        conflicts=["It is closed."],
        needs=["1 senior"],
    )
    seen = house.anna.get(ask.id)

    assert seen == ask
    assert seen.content.agent == "bot"
    assert seen.args == {"order": 7, "amount": 40.0}
    assert type(seen.args["amount"]) is float
    assert list(seen.facts) == ["z", "a"]
    assert seen.proposal.schema == SCHEMA
    assert seen.content.returns == '{"type":"integer"}'
    assert seen.due_at is not None
    assert abs((seen.due_at - seen.opened_at).total_seconds() - 7200) < 1
    assert (seen.risk, seen.content.reversible, seen.content.affects) == (
        "high",
        False,
        "customers",
    )
    assert (seen.content.tags, seen.content.conflicts) == (("money",), ("It is closed.",))
    assert str(seen.needs) == "1 senior"
    assert seen.allow == ("approve", "edit", "reject", "respond")


def test_the_inbox_shows_what_waits_and_nothing_else(house: House) -> None:
    first = house.asker.open("refund", {"order": 1}, risk="low", thread="t")
    second = house.asker.open("refund", {"order": 2}, risk="critical")
    third = house.asker.open("refund", {"order": 3})
    house.anna.reject(third)

    page = house.anna.inbox()
    assert [ask.id for ask in page] == [second.id, first.id]
    assert (page.count, page.counted, page.cursor) == (2, "2", None)
    assert [ask.id for ask in house.anna.inbox(risk="critical")] == [second.id]
    assert [ask.id for ask in house.anna.inbox(thread="t")] == [first.id]
    assert [ask.id for ask in house.asker.inbox()] == [second.id, first.id]
    one = house.anna.inbox(limit=1)
    assert len(one) == 1
    assert [ask.id for ask in house.anna.inbox(limit=1, after=one.cursor)] == [first.id]
    for wrong in ({"kind": "x"}, {"risk": "x"}, {"limit": 0}, {"limit": 501}):
        with pytest.raises(BadValue):
            house.anna.inbox(**wrong)


def test_lists_are_narrowed_and_searched_and_tell_what_was_decided(house: House) -> None:
    first = house.asker.open("wire", {"to": "zzyzx"}, risk="low", within="1h")
    second = house.asker.open("mail", {"to": "quimby"}, risk="high")

    def listed(**wanted: Any) -> list[str]:
        page = house.anna.inbox(**wanted)
        assert page.count == len(page)
        return [ask.id for ask in page]

    assert listed() == [first.id, second.id], "what expires soon comes first"
    assert listed(tool="wire") == listed(text="zzy") == [first.id]
    assert listed(least="high") == listed(text="quimby", agent="bot") == [second.id]
    assert listed(agent="other") == listed(text="nobody") == []
    house.anna.reject(first)
    house.anna.reject(second)
    closed = [house.anna.get(ask.id) for ask in (first, second)]
    newest, other = sorted(closed, key=lambda ask: (ask.closed_at, ask.id), reverse=True)
    assert list(house.anna.decided()) == [newest, other]
    assert [ask.id for ask in house.asker.decided(text="zzyzx")] == [first.id]
    one = house.anna.decided(limit=1)
    assert (list(one), one.count) == ([newest], 2)
    assert list(house.anna.decided(limit=1, after=one.cursor)) == [other]
    for wrong in ({"least": "x"}, {"agent": ""}, {"text": 7}, {"limit": 0}):
        with pytest.raises(BadValue):
            house.anna.inbox(**wrong)
        with pytest.raises(BadValue):
            house.anna.decided(**wrong)


def test_a_key_finds_the_same_ask_again(house: House) -> None:
    first = house.asker.open("refund", {"order": 7}, key="refund-7")

    assert house.asker.open("refund", {"order": 7}, key="refund-7").id == first.id
    with pytest.raises(KeyConflict) as caught:
        house.asker.open("refund", {"order": 8}, key="refund-7")
    assert caught.value.ask.id == first.id
    assert caught.value.key.endswith("refund-7")


def test_the_same_question_that_nobody_waits_for_is_counted_on_one_ask(house: House) -> None:
    first = house.asker.open("refund", {"order": 7})
    again = house.asker.open("refund", {"order": 7})

    assert again.id == first.id
    assert house.anna.get(first.id).repeats == 1


def test_a_decision_says_who_when_and_on_what(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7})
    decided = house.anna.approve(ask, note="fine")
    decision = decided.decision

    assert decided.status == "decided"
    assert decision is not None
    assert (decision.verdict, str(decision.by), decision.note) == ("approve", "person:anna", "fine")
    assert decision.args == {"order": 7}
    assert decision.digest == ask.digest
    assert [str(vote.by) for vote in decision.votes] == ["person:anna"]
    assert house.asker.get(ask.id) == decided
    assert house.asker.wait(ask) == decision
    assert bool(decision)


def test_an_edit_makes_a_new_version(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7, "amount": 40}, schema=SCHEMA)
    edited = house.anna.edit(ask, {"amount": 30})

    assert (edited.version, edited.args) == (2, {"order": 7, "amount": 30})
    assert edited.original == {"order": 7, "amount": 40}
    assert edited.decision is not None
    assert edited.decision.verdict == "edit"
    assert [version.args["amount"] for version in house.asker.versions(ask)] == [40, 30]
    assert [str(version.by) for version in house.anna.versions(ask)] == ["agent:bot", "person:anna"]


def test_a_rejection_says_why(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7})
    decision = house.anna.reject(ask, "never", kind="harmful", end=True).decision

    assert decision is not None
    assert (decision.note, decision.kind, decision.end) == ("never", "harmful", True)
    assert not decision


def test_whoever_comes_second_learns_who_was_faster(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7})
    house.anna.reject(ask, "no")
    with pytest.raises(AskClosed) as caught:
        house.seat("ben").approve(ask)

    error = caught.value
    assert error.decision is not None
    assert (error.decision.by.id, error.decision.note) == ("anna", "no")
    assert (error.ask.id, error.attempted) == (ask.id, "approve")
    assert "anna" in str(error)


def test_a_decision_on_an_old_version_shows_the_new_one(house: House) -> None:
    ask = house.asker.open("refund", {"amount": 40}, needs=["2 senior"])
    house.anna.edit(ask, {"amount": 30})
    with pytest.raises(AskChanged) as caught:
        house.seat("ada").approve(ask)

    assert caught.value.seen == ask.digest
    assert isinstance(caught.value.ask, sayso.Ask)
    assert caught.value.ask.args == {"amount": 30}
    assert house.seat("ada").approve(caught.value.ask).status == "decided"


def test_several_people_must_agree(house: House) -> None:
    ask = house.asker.open("wire", {"amount": 9}, needs=["1 senior", "1 security"])
    voted = house.anna.approve(ask)

    assert voted.open
    assert [vote.by.id for vote in voted.votes] == ["anna"]
    with pytest.raises(Forbidden):
        house.seat("ben").approve(ask)
    decided = house.seat("sec").approve(ask)
    assert decided.decision is not None
    assert {vote.by.id for vote in decided.decision.votes} == {"anna", "sec"}


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda anna, ask: anna.edit(ask, {"amount": 91}), InvalidEdit),
        (lambda anna, ask: anna.edit(ask, {"amount": object()}), InvalidEdit),
        (lambda anna, ask: anna.edit(ask, {}), InvalidEdit),
        (lambda anna, ask: anna.respond(ask, "  "), InvalidAnswer),
        (lambda anna, ask: anna.respond(ask, object()), InvalidAnswer),
        (lambda anna, ask: anna.approve(ask, note=7), BadValue),
        (lambda anna, ask: anna.approve(ask, hold="2d"), BadValue),
        (lambda anna, ask: anna.reject(ask, kind="rude"), BadValue),
        (lambda anna, ask: anna.decide(ask, "shrug"), BadValue),
        (lambda anna, ask: anna.approve(ask.id), Misuse),
        (lambda anna, ask: anna.approve(ask, seen="0" * 64), AskChanged),
        (lambda anna, ask: anna.take_back(ask), Misuse),
        (lambda anna, ask: anna.assign(ask, "nobody"), UnknownPerson),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(
    house: House, act: Callable[..., object], error: type[Exception]
) -> None:
    ask = house.asker.open("refund", {"amount": 40}, schema=SCHEMA)
    with pytest.raises(error):
        act(house.anna, ask)
    assert house.anna.get(ask.id) == ask


def test_an_edit_that_does_not_fit_names_the_field(house: House) -> None:
    ask = house.asker.open("refund", {"amount": 40}, schema=SCHEMA)
    with pytest.raises(InvalidEdit) as caught:
        house.anna.edit(ask, {"amount": 91})
    assert list(caught.value.fields) == ["amount"]


def test_a_verdict_that_is_not_offered_says_which_are(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7}, allow=["approve", "reject"])
    with pytest.raises(VerdictNotAllowed) as caught:
        house.anna.respond(ask, "why?")
    assert (caught.value.attempted, caught.value.allowed) == ("respond", ("approve", "reject"))


@pytest.mark.parametrize("wrong", ["a-none", "", "..", "a/b", "a-1?x=1", "ä", "x" * 300, "a-1\n"])
def test_an_ask_that_does_not_exist_is_unknown(house: House, wrong: str) -> None:
    for act in (house.asker.get, house.asker.wait, house.asker.begin, house.asker.withdraw):
        with pytest.raises(UnknownAsk):
            act(wrong)
    with pytest.raises(UnknownAsk):
        house.anna.approve(wrong, seen="0" * 64)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"needs": ["1 pilot"]}, UnknownRole),
        ({"needs": ["9 senior"]}, Unsatisfiable),
        ({"risk": "none"}, BadValue),
        ({"within": -1}, BadValue),
        ({"args": {"x": {1, 2}}}, BadValue),
        ({"args": {"x": "y" * 2**20}}, BadValue),
        ({"schema": {"type": "nonsense"}}, BadValue),
        ({"need": ["2 senior"]}, BadValue),
        ({"key": ""}, BadValue),
    ],
)
def test_what_cannot_be_asked_is_refused(
    house: House, given: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        house.asker.open("refund", **given)  # type: ignore[arg-type]
    assert len(house.anna.inbox()) == 0


def test_a_decision_that_settles_can_be_taken_back(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7})
    settling = house.anna.approve(ask, hold=60)

    assert settling.settling
    assert settling.pending is not None
    assert settling.pending.by.id == "anna"
    assert settling.settles_at is not None
    with pytest.raises(Settling) as caught:
        house.seat("ada").reject(ask)
    assert caught.value.pending == settling.pending
    with pytest.raises(Forbidden):
        house.seat("ada").take_back(ask)
    assert house.anna.take_back(ask, "wait").open

    house.anna.approve(house.anna.get(ask.id), hold=60)
    house.clock.advance(61)
    assert house.asker.wait(ask).verdict == "approve"
    with pytest.raises(AskClosed):
        house.anna.take_back(ask)


def test_somebody_looks_into_it(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7})

    assert house.anna.claim(ask).assignee == "anna"
    with pytest.raises(Claimed) as caught:
        house.seat("ben").claim(ask)
    assert caught.value.by == "anna"
    assert house.anna.assign(ask, "ada").assignee == "ada"
    assert [found.id for found in house.anna.inbox(assignee="ada")] == [ask.id]
    assert house.anna.assign(ask, None).assignee is None


def test_what_was_withdrawn_is_not_decided(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7})

    assert house.asker.withdraw(ask, "found another way").status == "withdrawn"
    for act in (lambda: house.anna.approve(ask), lambda: house.asker.wait(ask)):
        with pytest.raises(AskClosed) as caught:
            act()
        assert caught.value.decision is None
    with pytest.raises(AskClosed):
        house.asker.withdraw(ask)


def test_waiting_ends_with_the_decision_or_the_time(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7})
    with pytest.raises(StillOpen) as caught:
        house.asker.wait(ask, timeout=0)
    assert caught.value.ask.id == ask.id
    with pytest.raises(StillOpen):
        house.asker.wait(ask, timeout=0.05)
    with pytest.raises(BadValue):
        house.asker.wait(ask, timeout=float("nan"))

    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(house.asker.wait(ask)))
    waiting.start()
    decided = house.anna.approve(ask)
    waiting.join(20)
    assert found == [decided.decision]


async def test_waiting_can_be_awaited(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7})
    with pytest.raises(StillOpen):
        await house.asker.wait_async(ask, timeout=0.05)
    house.anna.reject(ask)
    assert (await house.asker.wait_async(ask)).verdict == "reject"


def test_the_clock_closes_what_nobody_decided(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7}, within=60)
    house.clock.advance(3600)
    assert house.asker.wait(ask).by.kind == "clock"


POLICY = """
[[rules]]
name = "no-wires"
tool = "wire"
effect = "deny"
why = "Wires are never sent by agents."

[agents.bot]
waiting = 2
"""


def test_the_policy_of_the_desk_counts(make_house: Callable[..., House], tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    house = make_house(policy)
    with pytest.raises(Denied) as denied:
        house.asker.open("wire", {"amount": 1})
    assert denied.value.rules == ("no-wires",)
    assert denied.value.sentence == "Wires are never sent by agents."

    house.asker.open("refund", {"order": 1})
    house.asker.open("refund", {"order": 2})
    with pytest.raises(TooManyAsks) as paced:
        house.asker.open("refund", {"order": 3})
    assert paced.value.agent == "bot"


def test_the_journal_tells_what_happened(house: House) -> None:
    after = house.local.docket.tip()
    ask = house.asker.open("refund", {"order": 7})
    house.anna.approve(ask)
    house.asker.finish(house.asker.begin(ask), "paid")
    kinds = ["ask.opened", "ask.decided", "effect.intended", "effect.done"]

    assert [event.kind for event in house.asker.history(ask)] == kinds
    found = list(house.asker.events(after=after))
    assert [event.kind for event in found] == kinds
    assert list(house.asker.events(after=found[1].cursor)) == found[2:]
    assert [event.hash for event in found] == [event.hash for event in house.local.history(ask)]
    assert found[1].payload is not None
    assert found[1].payload["verdict"] == "approve"


def test_whoever_listens_hears_each_event_once(house: House) -> None:
    heard: list[str] = []
    done = threading.Event()

    def hear(event: sayso.Event) -> None:
        heard.append(event.kind)
        if event.kind == "effect.done":
            done.set()

    off = house.asker.on("*", hear)
    ask = house.asker.open("refund", {"order": 7})
    house.anna.approve(ask)
    house.asker.finish(house.asker.begin(ask), "paid")
    assert done.wait(20)
    off()

    assert heard == ["ask.opened", "ask.decided", "effect.intended", "effect.done"]


def test_following_goes_on_where_it_was(house: House) -> None:
    after = house.local.docket.tip()
    ask = house.asker.open("refund", {"order": 7})
    following = house.asker.events(after=after, follow=True)
    assert next(following).stream == ask.id
    house.anna.approve(ask)
    assert next(following).kind == "ask.decided"
    following.close()  # type: ignore[attr-defined]


def test_options_keep_their_values(house: House) -> None:
    later = house.asker.later.choose("Which?", [Option("A", {"x": 1}, "the first"), "b"])
    seen = house.anna.get(later.id)

    assert [(o.label, o.value, o.detail) for o in seen.content.options] == [
        ("A", {"x": 1}, "the first"),
        ("b", "b", None),
    ]
    with pytest.raises(InvalidAnswer):
        house.anna.approve(seen, option="c")
    house.anna.approve(seen, option="A")
    assert later.result() == Option("A", {"x": 1}, "the first")
