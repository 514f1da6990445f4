"""The verbs: what each returns for each verdict, blocking and later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from sayso import Ask, Desk, Feedback, Later, Option, Rejected
from sayso.asks.forms import Step
from sayso.errors import AskClosed, BadValue, InvalidAnswer, StillOpen
from tests.places import Place


class Address(BaseModel):
    street: str
    number: int


Put = Callable[[Any], Any]
Say = Callable[[Desk, Ask], object]
DRAFT = "Dear Anna"
PLAN: list[Step] = ["look", {"title": "act", "tool": "pay"}]


def yes(desk: Desk, ask: Ask) -> object:
    return desk.approve(ask)


def no(desk: Desk, ask: Ask) -> object:
    return desk.reject(ask, "no")


def answers(value: object) -> Say:
    return lambda desk, ask: desk.respond(ask, value)


def edits(value: object) -> Say:
    return lambda desk, ask: desk.edit(ask, value)


def picks(label: str) -> Say:
    return lambda desk, ask: desk.approve(ask, option=label)


OPTIONS = [Option("Berlin", 49), Option("Paris", 33)]
VERBS: list[tuple[str, Put, Say, Any]] = [
    ("question answered", lambda v: v.question("Where?"), answers("Berlin"), "Berlin"),
    ("question with a type", lambda v: v.question("How many?", type=int), answers(7), 7),
    (
        "question with a model",
        lambda v: v.question("Where?", type=Address),
        answers({"street": "Elm", "number": 3}),
        Address(street="Elm", number=3),
    ),
    (
        "question with a schema",
        lambda v: v.question("Where?", type={"enum": ["a", "b"]}),
        answers("b"),
        "b",
    ),
    ("question refused", lambda v: v.question("Where?"), no, None),
    ("choice", lambda v: v.choose("Where?", ["Berlin", "Paris"]), picks("Paris"), "Paris"),
    ("choice of a number", lambda v: v.choose("How many?", [1, 2]), picks("2"), 2),
    ("choice of an option", lambda v: v.choose("Where?", OPTIONS), picks("Paris"), OPTIONS[1]),
    ("choice of an own value", lambda v: v.choose("?", ["a"], own=True), answers("b"), "b"),
    ("choice of an own number", lambda v: v.choose("?", [1], own=int), answers(5), 5),
    ("choice refused", lambda v: v.choose("Where?", ["Berlin"]), no, None),
    ("draft approved", lambda v: v.draft(DRAFT), yes, DRAFT),
    ("draft edited", lambda v: v.draft(DRAFT), edits("Dear Ben"), "Dear Ben"),
    ("draft edited by name", lambda v: v.draft(DRAFT), edits({"text": "Hi"}), "Hi"),
    ("draft dropped", lambda v: v.draft(DRAFT), no, None),
    ("plan approved", lambda v: v.plan(PLAN), yes, PLAN),
    ("plan modified", lambda v: v.plan(PLAN), edits(["look"]), ["look"]),
    ("notice ignored", lambda v: v.notice("It rains"), no, "ignore"),
    ("notice answered", lambda v: v.notice("It rains"), answers("umbrella"), "respond"),
    ("feedback good", lambda v: v.feedback({"n": 1}), yes, Feedback("good")),
    ("feedback bad", lambda v: v.feedback({"n": 1}), no, Feedback("bad", "no")),
    ("feedback in words", lambda v: v.feedback({"n": 1}), answers("hm"), Feedback(None, "hm")),
]
IDS = [name for name, *_ in VERBS]
TABLE = [case[1:] for case in VERBS]


@pytest.mark.parametrize("nothing", [None, "", "  ", "\n\t"])
def test_an_answer_of_no_words_starts_no_agent_e61(desk: Desk, nothing: str | None) -> None:
    """E61: Respond with an empty box sent an empty text, and the agent went to work on it."""
    noticed = desk.later.notice("It rains")
    asked = desk.later.question("How?", str)

    for ask in (noticed.ask, asked.ask):
        with pytest.raises(InvalidAnswer, match=r"empty|text"):
            desk.respond(ask, nothing)
        assert desk.get(ask.id).open


@pytest.mark.parametrize(("put", "say", "value"), TABLE, ids=IDS)
def test_later_returns_the_same_when_it_is_needed(
    desk: Desk, put: Put, say: Say, value: Any
) -> None:
    later: Later[Any] = put(desk.later)
    with pytest.raises(StillOpen):
        later.result(timeout=0)

    say(desk, later.ask)

    assert later.result(timeout=0) == value
    assert later.result(timeout=0) == value, "asking twice changes nothing"
    assert later.id == later.ask.id


def test_a_plan_that_was_cancelled_and_a_question_that_was_withdrawn_are_no_answers(
    desk: Desk,
) -> None:
    later = desk.later.plan(PLAN)
    desk.reject(later.ask, "too risky")

    with pytest.raises(Rejected, match="too risky") as rejected:
        later.result(timeout=0)

    assert (rejected.value.note, rejected.value.by) == ("too risky", "sam")

    later = desk.later.question("Where?")
    desk.withdraw(later.ask)

    with pytest.raises((Rejected, AskClosed), match="withdrawn"):
        later.result(timeout=0)


# --- writing again ---


def test_a_plan_is_made_again_with_the_persons_words(desk: Desk) -> None:
    later = desk.later.plan(lambda hint: ["look"] if hint is None else [f"look, then {hint}"])
    first = later.ask
    desk.respond(first, "act")
    for _ in range(3):  # asking again after a timeout must not make yet another plan
        with pytest.raises(StillOpen):
            later.result(timeout=0)
    (second,) = desk.inbox().asks

    desk.approve(second)

    assert (second.id, first.id) == (later.id, first.id)
    assert second.id != first.id
    assert later.result(timeout=0) == ["look, then act"]


@pytest.mark.parametrize("put", [lambda v: v.draft(DRAFT), lambda v: v.plan(PLAN)])
def test_without_a_maker_nobody_is_offered_another_version(desk: Desk, put: Put) -> None:
    assert "respond" not in put(desk.later).ask.allow


# --- asking badly ---

NONSENSE: list[tuple[str, Put]] = [
    ("confirm nothing", lambda v: v.confirm("")),
    ("question nothing", lambda v: v.question("  ")),
    ("choose without options", lambda v: v.choose("Where?", [])),
    ("choose with twins", lambda v: v.choose("Where?", ["a", "a"])),
    ("choose from nothing", lambda v: v.choose("Where?", None)),
    ("choose by a label too long to read", lambda v: v.choose("Where?", ["a" * 201])),
    ("a conflict that says nothing", lambda v: v.confirm("Go on?", conflicts=["a", " "])),
    ("conflicts as one text", lambda v: v.confirm("Go on?", conflicts="a")),
    ("too many conflicts", lambda v: v.confirm("Go on?", conflicts=["a"] * 21)),
    ("a plan that is no list", lambda v: v.plan(lambda _: None)),
    ("an empty draft", lambda v: v.draft("")),
    ("a draft that is no text", lambda v: v.draft(lambda _: 5)),
    ("an empty plan", lambda v: v.plan([])),
    ("a plan with an empty step", lambda v: v.plan([""])),
    ("a plan with a step without a title", lambda v: v.plan([{"tool": "pay"}])),
    ("a plan of numbers", lambda v: v.plan([1, 2])),
    ("feedback on what cannot be shown", lambda v: v.feedback(object())),
    ("facts that are no mapping", lambda v: v.confirm("Go on?", facts=["a"])),
    ("facts that cannot be shown", lambda v: v.notice("It rains", facts={"a": {1}})),
    ("an unknown risk", lambda v: v.confirm("Go on?", risk="huge")),
    ("confidence beyond certainty", lambda v: v.confirm("Go on?", confidence=1.5)),
    ("confidence as text", lambda v: v.confirm("Go on?", confidence="high")),
    ("confidence that is no number", lambda v: v.confirm("Go on?", confidence=float("nan"))),
    ("a why that is no text", lambda v: v.confirm("Go on?", why=5)),
    ("an agent that is no text", lambda v: v.confirm("Go on?", agent=5)),
    ("a thread that is no text", lambda v: v.confirm("Go on?", thread=5)),
    ("a verdict the kind does not have", lambda v: v.question("Where?", allow="approve")),
    ("verdicts that are none", lambda v: v.confirm("Go on?", allow=5)),
    ("nobody to agree", lambda v: v.confirm("Go on?", needs=[])),
    ("needs that are no list", lambda v: v.confirm("Go on?", needs=5)),
    ("no refusal counts", lambda v: v.confirm("Go on?", deny=0)),
    ("a deny that is no number", lambda v: v.confirm("Go on?", deny="2")),
    ("a type without a form", lambda v: v.question("Where?", type=Desk)),
    ("a schema that is none", lambda v: v.question("Where?", type={"type": "nonsense"})),
]


@pytest.mark.parametrize("put", [put for _, put in NONSENSE], ids=[name for name, _ in NONSENSE])
def test_what_nobody_could_answer_is_refused_before_it_is_asked(
    desk: Desk, place: Place, put: Put
) -> None:
    desk.inbox()
    with pytest.raises(BadValue):
        put(desk.later)
    assert place.count() == 0
