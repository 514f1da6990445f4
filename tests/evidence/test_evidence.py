"""Faults that were measured in other products, one test each: sayso must not have them.

The ids are those of the project's list of evidence. Each test is small enough
to read as the story of the fault, and fails if the fault comes back.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from sayso import Desk
from sayso.errors import (
    AlreadySpent,
    AskChanged,
    AskClosed,
    Forbidden,
    InvalidAnswer,
    InvalidEdit,
    KeyConflict,
    NotApproved,
    Tampered,
    UnknownAsk,
    UnknownPerson,
    Unsatisfiable,
)
from sayso.model.actor import CLOCK
from sayso.model.text import visible
from sayso.testing import FakeClock
from tests.places import Place
from tests.together import at_once


def test_e1_two_who_resume_at_once_run_the_action_once(desk: Desk) -> None:
    """LangGraph: the guarded action ran twice in 240 of 240 trials, both callers told OK."""
    ran: list[str] = []

    def resume() -> object:
        call = desk.begin(ask)
        ran.append(call.key)
        return desk.finish(call, "paid")

    for _ in range(10):
        ask = desk.approve(desk.open("pay", {"amount": 40}))
        outcomes = at_once([resume, resume])
        assert sum(isinstance(one, AlreadySpent) for one in outcomes) == 1
    assert len(ran) == len(set(ran)) == 10


def test_e3_a_late_second_click_on_question_1_cannot_approve_question_2(desk: Desk) -> None:
    """LangGraph dev server: it approved "wire $1M?" 8 times of 8."""
    first = desk.open("mail", {"to": "anna"}, thread="t")
    desk.approve(first)
    second = desk.open("wire", {"amount": 1_000_000}, thread="t")

    with pytest.raises(AskClosed):
        desk.approve(first)
    with pytest.raises(AskChanged):
        desk.decide(second.id, "approve", seen=first.digest)

    assert desk.get(second.id).open
    with pytest.raises(NotApproved):
        desk.begin(second)


def test_e5_an_answer_to_an_unknown_id_is_an_error(desk: Desk, place: Place) -> None:
    """LangGraph: silently OK, or a new run."""
    desk.inbox()
    for call in (
        lambda: desk.decide("a-0000", "approve", seen="0" * 64),
        lambda: desk.get("a-0000"),
        lambda: desk.begin("a-0000"),
        lambda: desk.withdraw("a-0000"),
        lambda: desk.wait("a-0000", timeout=0),
        lambda: desk.history("a-0000"),
    ):
        with pytest.raises(UnknownAsk, match="SAYSO_URL"):
            call()
    assert place.count() == 0


def test_e5_an_answer_to_a_finished_ask_is_an_error_that_says_what_stands(desk: Desk) -> None:
    ask = desk.reject(desk.open("pay", {"amount": 40}), "no")

    with pytest.raises(AskClosed, match="rejected by sam") as conflict:
        desk.approve(ask)

    assert conflict.value.decision == ask.decision


def test_e6_an_approval_belongs_to_one_ask_and_one_execution(desk: Desk) -> None:
    """awaithumans: an identical later call was approved with no person."""
    first = desk.approve(desk.open("pay", {"amount": 40}))
    desk.finish(desk.begin(first), "paid")

    second = desk.open("pay", {"amount": 40})

    assert second.id != first.id
    assert second.digest != first.digest
    with pytest.raises(NotApproved):
        desk.begin(second)
    with pytest.raises(AlreadySpent):
        desk.begin(first)


def test_e7_one_key_for_1_and_then_1_000_000_is_a_conflict(desk: Desk) -> None:
    """awaithumans: the first ask was returned."""
    first = desk.open("pay", {"amount": 1}, key="order-7")

    with pytest.raises(KeyConflict) as conflict:
        desk.open("pay", {"amount": 1_000_000}, key="order-7")

    assert conflict.value.ask.id == first.id


def test_e11_arguments_changed_while_pending_are_not_what_runs(desk: Desk) -> None:
    """approvekit: the caller's object was executed as it was by then."""
    args = {"amount": 40}
    ask = desk.open("pay", args)
    args["amount"] = 1_000_000
    desk.approve(ask)

    assert desk.begin(ask).args == {"amount": 40}


def test_e11_a_row_changed_while_pending_is_not_what_runs(desk: Desk, place: Place) -> None:
    """holdpoint: the row was executed as it was by then."""
    ask = desk.approve(desk.open("pay", {"amount": 40}))
    place.sql("update events set payload = replace(payload, '40', '1000000') where seq = 1")

    with pytest.raises(Tampered):
        desk.begin(ask)


@pytest.mark.parametrize("by", ["agent:shop", "policy:all", "clock:clock", "person:ceo@corp.com"])
def test_e14_an_agent_cannot_decide(team: Desk, by: str) -> None:
    """awaithumans: the agent's own token approved its ask, and the audit said human."""
    ask = team.open("pay", {"amount": 40})

    with pytest.raises(Forbidden):
        team.approve(ask, by=by)

    assert team.get(ask.id).open


def test_e14_nobody_decides_under_a_name_that_is_not_on_the_desk(team: Desk) -> None:
    ask = team.open("pay", {"amount": 40})

    with pytest.raises(UnknownPerson):
        team.approve(ask, by="ceo@corp.com")

    decided = team.approve(ask, by="anna")
    assert decided.decision
    assert decided.decision.origin.account == "sam@till", "the journal says who was signed in"


def test_e15_a_bad_edit_is_refused_when_it_is_submitted(desk: Desk, place: Place) -> None:
    """LangChain, Pydantic AI: it went to the model, and the reviewer never heard of it."""
    ask = desk.open("pay", {"amount": 40, "to": "anna"})

    with pytest.raises(InvalidEdit) as refused:
        desk.edit(ask, {"amount": "forty"})

    assert set(refused.value.fields) == {"amount"}
    assert place.count() == 1
    assert desk.get(ask.id).open


def test_e16_an_answer_that_breaks_its_schema_is_not_stored(desk: Desk, place: Place) -> None:
    """awaithumans: it was stored as completed."""
    question = desk.later.question("How many?", type=int)

    with pytest.raises(InvalidAnswer):
        desk.respond(question.ask, "many")

    assert place.count() == 1
    assert desk.get(question.id).open


def test_e20_one_person_never_counts_twice_in_a_quorum(team: Desk) -> None:
    """Preloop, agent-os-kernel: they did."""
    ask = team.open("drop", {"table": "users"}, needs=["1 senior", "1 security"])

    team.approve(ask, by="ada")
    team.approve(ask, by="ada", note="and again")

    assert team.get(ask.id).open
    assert team.approve(ask, by="sec").decision


@pytest.mark.parametrize("by", [None, "anonymous", ""])
def test_e20_nobody_unnamed_counts_in_a_quorum(team: Desk, by: str | None) -> None:
    ask = team.open("drop", {"table": "users"}, needs=["2 reviewer"])
    team.approve(ask, by="anna")

    with pytest.raises(UnknownPerson):
        team.approve(ask, by=by)

    assert team.get(ask.id).open


def test_e21_a_requirement_of_3_out_of_2_is_refused_when_it_is_asked(team: Desk) -> None:
    """All but NetApp: accepted, and then it blocks for ever."""
    with pytest.raises(Unsatisfiable, match="3 senior"):
        team.open("drop", {"table": "users"}, needs=["3 senior"])


def test_e22_a_timeout_is_a_no(desk: Desk, clock: FakeClock) -> None:
    """Airflow's default option: approve."""
    ask = desk.open("pay", {"amount": 40}, within="1h", risk="critical")
    clock.advance("1h")

    decision = desk.wait(ask, timeout=0)

    assert (decision.verdict, decision.by) == ("reject", CLOCK)
    with pytest.raises(NotApproved):
        desk.begin(ask)


def test_e22_a_click_after_the_deadline_does_not_count(desk: Desk, clock: FakeClock) -> None:
    ask = desk.open("pay", {"amount": 40}, within="1h")
    clock.advance(timedelta(hours=1))

    with pytest.raises(AskClosed) as conflict:
        desk.approve(ask)

    assert conflict.value.decision is not None
    assert conflict.value.decision.by == CLOCK


HOSTILE = "pay \u202eeht lla\u202c\u200b\x1b[2Kanna\x07\r\U000e0041"


def test_e28_hidden_characters_in_a_title_are_visible_wherever_it_is_shown(desk: Desk) -> None:
    """tollgate and others: bidi, zero-width and ANSI hid what was approved."""
    ask = desk.open("pay", {"to": HOSTILE}, title=HOSTILE)

    with pytest.raises(UnknownPerson):
        desk.approve(ask, by="ghost")
    desk.reject(ask)
    with pytest.raises(AskClosed) as conflict:
        desk.approve(ask)

    for shown in (ask.label, str(conflict.value), visible(ask.args["to"])):
        assert not [char for char in shown if not char.isprintable() and char != "\n"]
        assert "202E" in shown.upper()
    assert ask.args == {"to": HOSTILE}, "what runs is not rewritten"


def test_e32_an_edited_and_a_deleted_row_are_noticed(desk: Desk, place: Place) -> None:
    """awaithumans, holdpoint: rows of the audit table changed unnoticed."""
    first = desk.reject(desk.open("pay", {"amount": 40}), "no")
    second = desk.finish(desk.begin(desk.approve(desk.open("pay", {"amount": 41}))), "paid")
    desk.seal()
    assert desk.verify()

    place.sql("update events set actor = 'person:ceo' where stream = ? and seq = 2", first.id)
    place.sql("delete from events where stream = ? and seq = 4", second.id)

    named = {(problem.what, problem.stream, problem.seq) for problem in desk.verify().problems}
    assert ("edited", first.id, 2) in named
    assert ("truncated", second.id, 4) in named


TYPED: dict[str, Any] = {
    "whole": 40,
    "fraction": 40.0,
    "zero": 0,
    "yes": True,
    "no": False,
    "nothing": None,
    "text": "40",
    "list": [1, 1.5, "1", True, None],
    "nested": {"n": 1},
    "huge": 2**80,
    "tiny": 1e-300,
}


def test_e38_values_keep_their_types_through_an_edit(desk: Desk) -> None:
    """Agent Inbox: edited values became strings."""
    ask = desk.edit(desk.open("pay", {**TYPED, "amount": 1}), {"amount": 2})

    args = desk.begin(ask).args

    assert json.dumps(args, sort_keys=True) == json.dumps({**TYPED, "amount": 2}, sort_keys=True)
    assert {name: type(value) for name, value in args.items()} == {
        name: type(value) for name, value in {**TYPED, "amount": 2}.items()
    }


def test_e38_an_edited_number_must_stay_a_number(desk: Desk) -> None:
    ask = desk.open("pay", {"amount": 40})

    with pytest.raises(InvalidEdit, match="amount"):
        desk.edit(ask, {"amount": "30"})

    edited = desk.edit(ask, {"amount": 30})
    assert type(edited.args["amount"]) is int


def test_e33_who_is_not_of_a_team_neither_sees_nor_decides_what_belongs_to_it(desk: Desk) -> None:
    """Review queues without walls: whoever knew an id could read it, and say yes to it."""
    desk.people.add("anna", teams=["billing"])
    desk.people.add("bea", teams=["ops"])
    ask = desk.open("refund", {"order": 7}, team="billing")

    assert desk.inbox(person="bea").count == 0
    for verb in (desk.approve, desk.reject, desk.claim, desk.take_back):
        with pytest.raises(UnknownAsk):
            verb(ask, by="bea")
    with pytest.raises(Unsatisfiable):
        desk.open("refund", {"order": 8}, team="billing", needs="2 reviewer")

    assert desk.approve(ask, by="anna").decision
