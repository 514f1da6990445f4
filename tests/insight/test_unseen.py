"""Calls unlike anything that was approved: the policy hears of them, and the card shows why."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import sayso
from sayso import Agent, Ask, Desk, Run, ScriptedModel
from sayso.agent import call
from sayso.asks.law import NO_LAW
from sayso.asks.lawbook import InForce
from sayso.asks.ruling import rule
from sayso.channels.card import Card
from sayso.errors import BadValue
from sayso.model.actor import Roster
from sayso.model.content import Content, Proposal
from sayso.model.digest import canonical, read
from sayso.policy.rules import Policy, Rule
from sayso.testing import FakeClock
from tests.agents import once
from tests.places import Place
from tests.policy.comparing import stricter_than
from tests.runs.people import approved, ask_of, begun, carried_on

LATE = "The parcel came three weeks late and the box was crushed"
LATER = "The parcel came two weeks late, and the box was crushed"
KEYS = "The customer lost the key of the bicycle"


@pytest.fixture
def paid() -> list[str]:
    return []


@pytest.fixture
def flow(desk: Desk, paid: list[str]) -> Any:
    """A workflow that refunds: by itself, unless nothing like it was approved before."""

    @sayso.tool(risk="low", unseen=True)
    def refund(reason: str, amount: int = 40) -> str:
        paid.append(reason)
        return "paid"

    @desk.workflow(name="refunds")
    def refunds(run, reason):
        try:
            return run.call(refund, reason)
        except sayso.Rejected:
            return "not paid"

    return refunds


def found(ask: Ask) -> Any:
    assert ask.content.unseen is not None
    return read(ask.content.unseen)


def drawn(ask: Ask) -> str:
    out = io.StringIO()
    card = Card(ask=ask, roster=Roster({}), now=datetime(2026, 1, 1, tzinfo=UTC))
    Console(file=out, width=80).print(card)
    return " ".join(out.getvalue().split())


def test_the_first_call_asks_and_one_like_it_runs_alone(
    desk: Desk, flow: Any, paid: list[str]
) -> None:
    first = approved(desk, begun(desk, flow, LATE))
    again = begun(desk, flow, LATER)

    assert (first.status, again.status) == ("done", "done")
    assert again.asks == []
    assert paid == [LATE, LATER]


def test_an_unusual_call_asks_although_there_are_cases(
    desk: Desk, flow: Any, paid: list[str]
) -> None:
    approved(desk, begun(desk, flow, LATE))

    ask = ask_of(begun(desk, flow, KEYS))

    assert ask.content.sentence == "Nothing like it was approved before."
    assert found(ask)["unseen"] is True
    assert found(ask)["of"] == 1
    assert paid == [LATE]


def test_the_card_shows_the_bound_and_the_nearest_cases(desk: Desk, flow: Any) -> None:
    assert "Nothing like it: there is no case, the bound is 0.35." in drawn(
        ask_of(begun(desk, flow, "A refund for the parcel key"))
    )
    first = begun(desk, flow, LATE)
    desk.approve(ask_of(first), note="The carrier pays")
    carried_on(desk, first)

    card = drawn(ask_of(begun(desk, flow, "The customer lost the parcel key of the bicycle")))

    assert "Nothing like it: the nearest of 1 case reaches 0.2" in card
    assert "the bound is 0.35." in card
    assert f"{first.asks[0].id}, approved by sam:" in card
    assert "three weeks late" in card
    assert "The carrier pays" in card


def test_what_was_rejected_makes_the_same_call_no_less_unusual(
    desk: Desk, flow: Any, clock: FakeClock, paid: list[str]
) -> None:
    """A rejected case must not open the door for the next one."""
    first = begun(desk, flow, LATE)
    desk.reject(ask_of(first))
    carried_on(desk, first)

    ask = ask_of(begun(desk, flow, LATE))

    assert found(ask)["nearest"][0]["score"] == 1.0
    assert "Nothing like it was approved" in drawn(ask)
    assert "people did not agree to it" in drawn(ask)
    assert paid == []


def refuse(desk: Desk, ask: Ask) -> None:
    desk.reject(ask)


def answer(desk: Desk, ask: Ask) -> None:
    desk.respond(ask, "Ask the carrier")


def rewrite(desk: Desk, ask: Ask) -> None:
    desk.edit(ask, {"reason": "A voucher"})


@pytest.mark.parametrize("decide", [refuse, answer, rewrite])
def test_one_that_nobody_agreed_to_outweighs_nearer_ones_that_were_approved(
    desk: Desk, flow: Any, paid: list[str], decide: Any
) -> None:
    """Three nearer ones fill the card; the one that counts is on it all the same."""
    against = desk.open("refund", {"reason": LATER, "amount": 40})
    decide(desk, against)
    for _ in range(3):
        desk.approve(desk.open("refund", {"reason": LATE, "amount": 40}))

    ask = ask_of(begun(desk, flow, LATE))

    assert found(ask)["nearest"][0]["verdict"] == "approve"
    assert against.id in [case["id"] for case in found(ask)["nearest"]]
    assert f"People did not agree to one like it: {against.id} reaches 0." in drawn(ask)
    assert paid == []


def test_many_that_were_approved_do_not_crowd_out_the_one_that_was_refused(
    desk: Desk, flow: Any, paid: list[str]
) -> None:
    desk.reject(desk.open("refund", {"reason": LATER, "amount": 40}))
    for _ in range(60):
        desk.approve(desk.open("refund", {"reason": LATE, "amount": 40}))

    assert found(ask_of(begun(desk, flow, LATE)))["unseen"] is True
    assert paid == []


def test_one_that_was_refused_does_not_count_below_the_bound(
    desk: Desk, flow: Any, paid: list[str]
) -> None:
    desk.reject(desk.open("refund", {"reason": f"{KEYS} parcel", "amount": 40}))
    desk.approve(desk.open("refund", {"reason": LATE, "amount": 40}))

    assert begun(desk, flow, LATE).status == "done"
    assert paid == [LATE]


def test_of_an_edited_case_what_was_approved_has_been_seen(
    desk: Desk, flow: Any, paid: list[str]
) -> None:
    desk.edit(desk.open("refund", {"reason": KEYS, "amount": 40}), {"reason": LATE})

    assert begun(desk, flow, LATE).status == "done"
    assert found(ask_of(begun(desk, flow, KEYS)))["unseen"] is True
    assert paid == [LATE]


def test_hostile_text_of_a_case_is_made_visible_once(desk: Desk, flow: Any) -> None:
    desk.reject(desk.open("refund", {"reason": f"{LATE} \u202e", "amount": 40}), "no \x1b[2J\nRisk")

    ask = ask_of(begun(desk, flow, LATE))

    assert "no \x1b[2J Risk" in found(ask)["nearest"][0]["said"]
    card = drawn(ask)
    assert "│ no [U+001B ESCAPE][2J Risk" in card
    assert "U+005B" not in card, "a label of ours was labelled again"


def test_cases_of_another_tool_do_not_count(desk: Desk, flow: Any) -> None:
    desk.approve(desk.open("apologise", {"reason": LATE, "amount": 40}))

    assert found(ask_of(begun(desk, flow, LATE)))["of"] == 0


def test_without_a_declaration_nothing_is_looked_up(desk: Desk, place: Place) -> None:
    @sayso.tool(risk="low")
    def quiet(text: str) -> str:
        return text

    @desk.workflow
    def talks(run, text):
        return run.call(quiet, text)

    desk.approve(desk.open("other", {"text": LATE}))

    assert desk.run(talks, "hello", wait=False).output == "hello"
    assert place.count("cases") == 0


def test_a_call_whose_arguments_say_nothing_is_always_unseen(desk: Desk) -> None:
    @sayso.tool(risk="low", unseen=True)
    def clean() -> str:
        return "clean"

    @desk.workflow
    def cleaning(run):
        return run.call(clean)

    for _ in range(2):
        approved(desk, begun(desk, cleaning), "clean")


def test_a_bound_of_ones_own(desk: Desk) -> None:
    ran = []

    @sayso.tool(risk="low", unseen=0.99)
    def refund(reason: str) -> str:
        ran.append(reason)
        return "paid"

    @desk.workflow
    def refunds(run, reason):
        return run.call(refund, reason)

    approved(desk, begun(desk, refunds, LATE))
    assert "the bound is 0.99" in drawn(ask_of(begun(desk, refunds, LATER)))
    assert begun(desk, refunds, LATE).status == "done"
    assert ran == [LATE, LATE]


def test_a_gate_outside_a_run_looks_too(desk: Desk, place: Place) -> None:
    @desk.gate(risk="low", unseen=True)
    def refund(reason: str) -> str:
        return "paid"

    desk.approve(desk.open("refund", {"reason": LATE}))

    assert refund(LATER) == "paid"
    allowed = place.sql("select count(*) from events where actor like ?", "policy:%")
    assert allowed == [(1,)], "the policy let it pass, and the journal says so"


@pytest.mark.parametrize("value", [7, -0.1, "high", float("nan"), [0.5]])
def test_a_bound_that_is_none_is_refused_where_it_is_given(desk: Desk, value: Any) -> None:
    with pytest.raises(BadValue, match="unseen="):
        sayso.tool(unseen=value)(lambda x: x)
    with pytest.raises(BadValue, match="unseen="):
        Agent("a", ScriptedModel(["x"]), unseen=value)


def test_a_tool_that_asks_itself_cannot_be_compared() -> None:
    with pytest.raises(BadValue, match="only a call can be compared"):
        sayso.tool(asks=True, unseen=True)(lambda x: x)


# --- agents ---


def reply(desk: Desk, agent: Agent, task: str = "Go") -> Run:
    return desk.run(agent, task, wait=False)


def test_an_agent_may_look_before_every_call(desk: Desk) -> None:
    ran = []

    def look_up(subject: str) -> str:
        """Look something up."""
        ran.append(subject)
        return "found"

    agent = Agent("clerk", ScriptedModel(once(call("look_up", subject=LATE))), [look_up], unseen=1)

    first = reply(desk, agent)
    assert ran == []
    approved(desk, first)
    again = reply(desk, agent)

    assert (first.status, again.status) == ("done", "done")
    assert ran == [LATE, LATE]
    assert "if nothing like it was approved" in agent.describe()


def test_a_replay_goes_by_what_was_seen_then(desk: Desk, flow: Any, paid: list[str]) -> None:
    """The call waits as unseen; meanwhile one like it is approved; its ask stands."""
    waiting = begun(desk, flow, LATE)
    desk.approve(desk.open("refund", {"reason": LATE, "amount": 40}))

    carried_on(desk, waiting)
    assert paid == []

    approved(desk, waiting)
    assert waiting.status == "done"
    assert paid == [LATE]


def test_the_card_says_what_most_of_the_five_nearest_came_to(desk: Desk, flow: Any) -> None:
    for number in range(5):
        run = begun(desk, flow, f"{LATE} again and again, {number} times")
        if number < 4:
            desk.reject(ask_of(run), kind="harmful")
        else:
            desk.approve(ask_of(run))
        carried_on(desk, run)

    ask = ask_of(begun(desk, flow, f"{LATE} again and again, 2 times"))

    assert len(found(ask)["nearest"]) == 5
    said = [case["verdict"] for case in found(ask)["nearest"]]
    assert said.count("reject") == 4
    assert "4 of the 5 nearest were rejected, 1 approved." in drawn(ask)


named = st.sampled_from(["unseen", "!unseen", "unseen || conflict", "!unseen && !conflict", None])
said = st.one_of(
    st.builds(lambda effect: {"effect": effect}, st.sampled_from(["allow", "ask", "deny"])),
    st.builds(lambda tier: {"tier": tier}, st.sampled_from(["low", "medium", "high", "critical"])),
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(named, said), max_size=4),
    st.booleans(),
    st.sampled_from([None, "low", "medium", "high"]),
    st.text(max_size=60),
)
def test_whatever_is_retrieved_a_ruling_gets_no_less_strict(
    rules: list[Any], unseen: bool, risk: Any, text: str
) -> None:
    """Not even what a rule says of calls that were seen, and not by any words of a case."""
    policy = Policy(
        rules=tuple(
            Rule(name=f"rule {number}", when=when, **effect)
            for number, (when, effect) in enumerate(rules)
        )
    )
    law = InForce(policy, b"", NO_LAW)
    case = {"id": "a-1", "score": 0.9, "verdict": "approve", "by": "anna", "about": text}
    near = {"bound": 0.35, "of": 1, "unseen": unseen, "nearest": [{**case, "said": text}]}
    content = Content(
        kind="action",
        title="refund",
        agent="shop",
        proposal=Proposal.of("refund", {}),
        allow=("approve",),
        risk=risk,
    )
    now = datetime(2026, 1, 1, tzinfo=UTC)

    without = rule(law, content, now)
    with_ = rule(law, content.changed(unseen=canonical(near)), now)

    assert not stricter_than(without, with_)
    if without.asks and with_.asks:
        assert without.earnable or not with_.earnable
    assert with_.sentence == with_.sentence.strip()
