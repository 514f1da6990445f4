"""A verdict is checked against what is stored, and taken once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from sayso import Ask, Desk
from sayso.errors import (
    AskClosed,
    BadValue,
    InvalidAnswer,
    InvalidEdit,
    UnknownPerson,
    VerdictNotAllowed,
)
from sayso.model.verdicts import KINDS, VERDICTS, Kind, Verdict, offered
from tests.places import Place

SCHEMA = {
    "type": "object",
    "properties": {"order": {"type": "integer"}, "amount": {"type": "number", "maximum": 100}},
    "required": ["order", "amount"],
    "additionalProperties": False,
}


@pytest.fixture
def refund(desk: Desk) -> Ask:
    return desk.open("refund", {"order": 7, "amount": 40}, schema=SCHEMA)


CLOSING: dict[str, Callable[[Desk, Ask], Ask]] = {
    "approve": lambda desk, ask: desk.approve(ask),
    "edit": lambda desk, ask: desk.edit(ask, {"amount": 30}),
    "reject": lambda desk, ask: desk.reject(ask),
    "respond": lambda desk, ask: desk.respond(ask, "no"),
}


@pytest.mark.parametrize("second", CLOSING)
@pytest.mark.parametrize("first", CLOSING)
def test_a_closed_ask_refuses_every_decision_and_names_the_one_that_stands(
    desk: Desk, place: Place, refund: Ask, first: str, second: str
) -> None:
    CLOSING[first](desk, refund)
    before = place.count()

    with pytest.raises(AskClosed) as conflict:
        CLOSING[second](desk, refund)

    assert conflict.value.decision is not None
    assert conflict.value.decision.verdict == first
    assert conflict.value.attempted == second
    assert place.count() == before


# --- what was seen ---


# --- edits ---


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"amount": "30"}, "amount"),
        ({"amount": 101}, "amount"),
        ({"order": 7.5}, "order"),
        ({"order": None}, "order"),
        ({"amount": True}, "amount"),
        ({"total": 3}, "total"),
        ({"amount": float("nan")}, "amount"),
        ({"amount": {1, 2}}, "amount"),
    ],
    ids=str,
)
def test_an_edit_that_does_not_fit_is_refused_on_the_field(
    desk: Desk, place: Place, refund: Ask, changes: dict[str, Any], field: str
) -> None:
    """E15: the reviewer hears of it, at once; the agent never does."""
    with pytest.raises(InvalidEdit) as refused:
        desk.edit(refund, changes)

    assert field in str(refused.value)
    assert any(field in where or field in what for where, what in refused.value.fields.items())
    assert place.count() == 1
    assert desk.get(refund.id).args == {"order": 7, "amount": 40}
    assert desk.get(refund.id).open


@pytest.mark.parametrize("changes", [{}, None, [], "x", 5, [("amount", 3)]], ids=repr)
def test_an_edit_names_what_changes(desk: Desk, place: Place, refund: Ask, changes: Any) -> None:
    with pytest.raises(InvalidEdit, match="amount"):
        desk.edit(refund, changes)
    assert place.count() == 1


def test_an_edit_that_changes_nothing_is_an_approval_in_disguise(desk: Desk, refund: Ask) -> None:
    with pytest.raises(InvalidEdit, match="approve"):
        desk.edit(refund, {"amount": 40})


def test_without_a_schema_an_edit_keeps_fields_and_types(desk: Desk, place: Place) -> None:
    ask = desk.open("mail", {"to": ["anna"], "urgent": False, "size": 3})

    for changes in ({"cc": ["ben"]}, {"to": "anna"}, {"urgent": "no"}, {"size": "3"}):
        with pytest.raises(InvalidEdit):
            desk.edit(ask, changes)

    assert place.count() == 1
    assert desk.edit(ask, {"to": ["ben", "cleo"], "size": 4}).args == {
        "to": ["ben", "cleo"],
        "urgent": False,
        "size": 4,
    }


# --- answers ---


class Address(BaseModel):
    street: str
    number: int


@pytest.mark.parametrize(
    ("type_", "wrong", "right"),
    [
        (int, "7", 7),
        (int, 7.5, 7),
        (bool, 1, True),
        (str, 5, "five"),
        (str, None, "none"),
        (list[int], [1, "2"], [1, 2]),
        (Address, {"street": "Elm"}, {"street": "Elm", "number": 3}),
        ({"enum": ["red", "blue"]}, "green", "red"),
    ],
    ids=str,
)
def test_an_answer_of_the_wrong_type_is_refused(
    desk: Desk, place: Place, type_: Any, wrong: Any, right: Any
) -> None:
    """E16: what breaks the schema is not stored."""
    question = desk.later.question("Which?", type=type_)

    with pytest.raises(InvalidAnswer):
        desk.respond(question.ask, wrong)

    assert place.count() == 1
    decision = desk.respond(question.ask, right).decision
    assert decision is not None
    assert decision.answer == right


# --- verdicts ---


OPENING: dict[Kind, Callable[[Desk], Ask]] = {
    "action": lambda desk: desk.open("refund", {"amount": 1}),
    "plan": lambda desk: desk.later.plan(lambda _: ["one", "two"]).ask,
    "draft": lambda desk: desk.later.draft(lambda _: "Dear Anna").ask,
    "question": lambda desk: desk.later.question("Which?").ask,
    "choice": lambda desk: desk.later.choose("Which?", ["a"], own=True).ask,
    "notice": lambda desk: desk.later.notice("It rains").ask,
    "feedback": lambda desk: desk.later.feedback({"n": 1}).ask,
    "doubt": lambda desk: doubted(desk),
}


def doubted(desk: Desk) -> Ask:
    """Return the doubt about a call whose carrier fell silent."""
    ask = desk.approve(desk.open("refund", {"amount": 1}))
    desk.begin(ask, limit="1m")
    swept = desk.sweep(desk.store.now() + timedelta(minutes=1))
    return desk.get(swept.doubts[0])


SAYING: dict[Verdict, Callable[[Desk, Ask], Ask]] = {
    "approve": lambda desk, ask: desk.approve(ask, option="a" if ask.kind == "choice" else None),
    "edit": lambda desk, ask: desk.edit(ask, {"amount": 2}),
    "reject": lambda desk, ask: desk.reject(ask),
    "respond": lambda desk, ask: desk.respond(ask, "words"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_offers_the_verdicts_of_the_table_and_no_others(
    desk: Desk, place: Place, kind: Kind
) -> None:
    ask = OPENING[kind](desk)
    before = place.count()
    assert (ask.kind, set(ask.allow)) == (kind, set(VERDICTS[kind]))

    for verdict in set(SAYING) - set(ask.allow):
        with pytest.raises(VerdictNotAllowed) as refused:
            SAYING[verdict](desk, ask)
        assert refused.value.allowed == ask.allow
    assert place.count() == before


@pytest.mark.parametrize("verdict", ["approve", "edit", "reject", "respond"])
def test_allow_narrows_what_is_offered(desk: Desk, place: Place, verdict: Verdict) -> None:
    ask = desk.open("refund", {"amount": 1}, allow=verdict)
    assert ask.allow == (verdict,)

    for other, say in SAYING.items():
        if other != verdict:
            with pytest.raises(VerdictNotAllowed):
                say(desk, ask)
    assert place.count() == 1
    assert not SAYING[verdict](desk, ask).open


@pytest.mark.parametrize(
    ("kind", "allow"),
    [("question", "approve"), ("action", "accept"), ("notice", ["edit"]), ("action", [])],
)
def test_allow_can_only_name_what_the_kind_has(kind: Any, allow: Any) -> None:
    with pytest.raises(BadValue, match="offers"):
        offered(kind, allow)


@pytest.mark.parametrize(
    ("verdict", "more"),
    [
        ("accept", {}),
        ("approve", {"kind": "harmful"}),
        ("reject", {"kind": "ugly"}),
        ("approve", {"end": True}),
        ("approve", {"args": {"amount": 1}}),
        ("approve", {"answer": "yes"}),
        ("reject", {"answer": "no"}),
        ("reject", {"note": 5}),
    ],
    ids=str,
)
def test_what_does_not_go_with_a_verdict_is_refused(
    desk: Desk, place: Place, refund: Ask, verdict: Any, more: dict[str, Any]
) -> None:
    with pytest.raises(BadValue, match=r"verdict|takes no|rejection|goes with|text"):
        desk.decide(refund, verdict, **more)
    assert place.count() == 1


# --- who ---


def test_alone_only_whoever_sits_here_decides(desk: Desk, place: Place, refund: Ask) -> None:
    with pytest.raises(UnknownPerson, match="sayso people add anna"):
        desk.approve(refund, by="anna")
    assert place.count() == 1

    assert desk.approve(refund, by="sam").decision


@pytest.mark.parametrize("by", [None, "zoe", "", "anna "])
def test_on_a_desk_with_people_a_known_name_must_decide(team: Desk, by: str | None) -> None:
    ask = team.open("refund", {"amount": 1})

    with pytest.raises(UnknownPerson, match="anna, ben, sec"):
        team.approve(ask, by=by)

    assert team.get(ask.id).open
