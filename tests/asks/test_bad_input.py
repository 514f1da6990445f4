"""Whatever is put in wrongly: a typed error that helps, and nothing changed.

What belongs to one subject (deadlines, edits, answers, people, the inbox, the
database itself) is refused in that subject's tests; here is the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.errors import AskChanged, BadValue, InvalidAnswer, InvalidEdit, Misuse
from tests.places import Place

FIVE_MB = "x" * 5_000_000
LOOP: dict[str, Any] = {}
LOOP["again"] = LOOP
DEEP: list[Any] = []
for _ in range(100):
    DEEP = [DEEP]


@pytest.fixture(autouse=True)
def tables(desk: Desk) -> None:
    """So that events can be counted before anything was written."""
    desk.inbox()


ARGUMENTS: dict[str, tuple[Any, str]] = {
    "a set": ({"to": {"anna"}}, "sorted"),
    "NaN": ({"amount": float("nan")}, "amount"),
    "infinity": ({"amount": [1, float("inf")]}, r"amount\[1\]"),
    "bytes": ({"body": b"x"}, "base64"),
    "a moment": ({"at": datetime(2026, 1, 1, tzinfo=UTC)}, "isoformat"),
    "a day": ({"on": date(2026, 1, 1)}, "isoformat"),
    "a decimal": ({"amount": Decimal(1)}, "amount"),
    "an object": ({"x": object()}, "plain data"),
    "a function": ({"x": len}, "plain data"),
    "a loop": (LOOP, "again"),
    "a number as a name": ({"x": {1: "a"}}, "text"),
    "half a character": ({"x": "\ud800"}, "surrogate"),
    "too deep": ({"x": DEEP}, "deep"),
    "five megabytes": ({"text": FIVE_MB}, "reference"),
    "five megabytes in pieces": ({f"n{n}": "x" * 50_000 for n in range(100)}, "reference"),
    "a list": ([1, 2], "mapping"),
    "a text": ("amount=1", "mapping"),
    "a number": (5, "mapping"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_that_cannot_be_kept_are_refused_with_what_to_do(
    desk: Desk, place: Place, name: str
) -> None:
    args, advice = ARGUMENTS[name]

    with pytest.raises(BadValue, match=advice):
        desk.open("pay", args)

    assert place.count() == 0


@pytest.mark.parametrize("args", [None, {}, {"x": ""}, {"x": []}, {"x": {}}, {"": 0}], ids=repr)
def test_empty_arguments_are_fine(desk: Desk, args: Any) -> None:
    ask = desk.approve(desk.open("sync", args))

    assert desk.begin(ask).args == (args or {})


def test_a_megabyte_is_not_too_much(desk: Desk) -> None:
    text = "x" * 1_000_000

    assert desk.get(desk.open("store", {"text": text}).id).args == {"text": text}


TERMS: dict[str, dict[str, Any]] = {
    "no tool": {"tool": ""},
    "a tool that is no text": {"tool": 5},
    "an empty title": {"title": "  "},
    "a title that is no text": {"title": 5},
    "a title of five megabytes": {"title": FIVE_MB},
    "an impact that is no text": {"impact": 5},
    "a reason that is no text": {"why": 5},
    "a reason of five megabytes": {"why": FIVE_MB},
    "a reason with half a character": {"why": "\ud800"},
    "an unknown risk": {"risk": "huge"},
    "confidence in percent": {"confidence": 95},
    "confidence beyond certainty": {"confidence": 1.000001},
    "confidence below nothing": {"confidence": -1},
    "confidence that is no number": {"confidence": float("nan")},
    "confidence without end": {"confidence": float("inf")},
    "confidence of five thousand digits": {"confidence": 10**5000},
    "confidence as a word": {"confidence": "high"},
    "confidence as a number in quotes": {"confidence": "0.9"},
    "confidence of five megabytes": {"confidence": FIVE_MB},
    "confidence as a yes": {"confidence": True},
    "confidence as a list": {"confidence": [0.9]},
    "an agent that is no text": {"agent": 5},
    "an agent with a NUL": {"agent": "a\0b"},
    "a run with a NUL": {"run": "a\0b"},
    "a thread with a NUL": {"thread": "a\0b"},
    "a key with a NUL": {"key": "a\0b"},
    "a key with half a character": {"key": "a\ud800"},
    "a run of half a megabyte": {"run": "x" * 500_000},
    "a key of five megabytes": {"key": FIVE_MB},
    "facts that are a list": {"facts": [1]},
    "facts that cannot be shown": {"facts": {"x": {1}}},
    "facts of five megabytes": {"facts": {"x": FIVE_MB}},
    "a schema that is none": {"schema": {"type": "nonsense"}},
    "a schema that is a list": {"schema": []},
    "arguments that break their schema": {"schema": {"required": ["amount"]}},
    "a result type without a form": {"returns": Desk},
    "nobody to agree": {"needs": []},
    "needs that are a number": {"needs": 5},
    "needs that are no roles": {"needs": ["1 senior and 1 legal"]},
    "no refusal counts": {"deny": 0},
    "a deny that is text": {"deny": "2"},
    "no verdict": {"allow": []},
    "a verdict that is none": {"allow": ["accept"]},
    "verdicts that are a number": {"allow": 5},
}


@pytest.mark.parametrize("name", TERMS)
def test_terms_that_make_no_sense_are_refused(desk: Desk, place: Place, name: str) -> None:
    with pytest.raises(BadValue, match="|".join([*TERMS[name], "requirement", "JSON", "The ask"])):
        desk.open(**{"tool": "pay", **TERMS[name]})

    assert place.count() == 0


MISSPELT: dict[str, Callable[[Any], object]] = {
    "open": lambda desk: desk.open("drop", {"table": "users"}, need=["2 senior"]),
    "confirm": lambda desk: desk.later.confirm("Go on?", need=["2 senior"]),
    "question": lambda desk: desk.later.question("Which?", need=["2 senior"]),
    "choose": lambda desk: desk.later.choose("Which?", ["a"], need=["2 senior"]),
    "draft": lambda desk: desk.later.draft("Dear Anna", need=["2 senior"]),
    "plan": lambda desk: desk.later.plan(["look"], need=["2 senior"]),
    "notice": lambda desk: desk.later.notice("It rains", need=["2 senior"]),
    "feedback": lambda desk: desk.later.feedback("x", need=["2 senior"]),
    "a gate": lambda desk: desk.gate(need=["2 senior"])(lambda: None),
}


@pytest.mark.parametrize("verb", MISSPELT)
def test_an_option_that_does_not_exist_is_refused(desk: Desk, place: Place, verb: str) -> None:
    """Were it ignored, a slip of the pen would let one person decide instead of two."""
    with pytest.raises((BadValue, TypeError), match="need"):
        MISSPELT[verb](desk)

    assert place.count() == 0


@pytest.mark.parametrize("by", [5, b"sam", ["sam"], object()], ids=repr)
def test_a_name_is_text(desk: Desk, place: Place, by: Any) -> None:
    ask = desk.open("pay", {"amount": 1})

    with pytest.raises(Misuse):
        desk.approve(ask, by=by)

    assert place.count() == 1


@pytest.mark.parametrize("seen", ["", "x", "0" * 64, "\ud800", "\x1b[2J", 5], ids=repr)
def test_a_digest_that_is_none_decides_nothing_and_is_shown_safely(
    desk: Desk, place: Place, seen: Any
) -> None:
    ask = desk.open("pay", {"amount": 1})

    with pytest.raises((AskChanged, Misuse)) as refused:
        desk.decide(ask.id, "approve", seen=seen)

    assert str(refused.value).isprintable()
    assert place.count() == 1


TOO_MUCH: dict[str, tuple[type[Misuse], Callable[[Desk, Ask], object]]] = {
    "edit": (Misuse, lambda desk, ask: desk.edit(ask, {"text": FIVE_MB})),
    "note": (BadValue, lambda desk, ask: desk.approve(ask, note=FIVE_MB)),
    "answer": (InvalidAnswer, lambda desk, ask: desk.respond(ask, FIVE_MB)),
    "deep edit": (Misuse, lambda desk, ask: desk.edit(ask, {"list": DEEP})),
    "note with half a character": (BadValue, lambda desk, ask: desk.reject(ask, "\ud800")),
    "edit with half a character": (
        InvalidEdit,
        lambda desk, ask: desk.edit(ask, {"text": "\ud800"}),
    ),
    "answer with half a character": (InvalidAnswer, lambda desk, ask: desk.respond(ask, "\ud800")),
    "withdrawal with a note of the wrong type": (
        BadValue,
        lambda desk, ask: desk.withdraw(ask, 5),  # type: ignore[arg-type]
    ),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_a_person_sends_is_measured_too(desk: Desk, place: Place, name: str) -> None:
    error, say = TOO_MUCH[name]
    ask = desk.open("store", {"text": "short", "list": []})

    with pytest.raises(error):
        say(desk, ask)

    assert place.count() == 1
    assert desk.get(ask.id).open


def test_a_result_of_five_megabytes_is_noted_but_not_kept(desk: Desk) -> None:
    """It happened, whatever came of it; only the record stays small."""
    ask = desk.finish(desk.begin(desk.approve(desk.open("pay"))), FIVE_MB)

    assert ask.effect is not None
    assert (ask.effect.status, ask.effect.result) == ("done", None)
    assert len(desk.history(ask)[-1].text or "") < 10_000


@pytest.mark.parametrize("limit", ["soon", 0, -1, float("nan"), None], ids=repr)
def test_a_limit_that_is_no_span_spends_nothing(desk: Desk, place: Place, limit: Any) -> None:
    ask = desk.approve(desk.open("pay", {"amount": 1}))

    with pytest.raises(BadValue, match="span of time"):
        desk.begin(ask, limit=limit)

    assert place.count() == 2


def test_a_doubt_takes_no_deadline(desk: Desk) -> None:
    doubt = desk.forms.action("pay", {}).proposal

    with pytest.raises(BadValue, match="doubt"):
        desk.forms._content("doubt", "Did it happen?", doubt, {"within": "1h"}, sentence="")


@pytest.mark.parametrize("reason", [None, "", 5], ids=repr)
def test_erasing_needs_a_reason(desk: Desk, place: Place, reason: Any) -> None:
    ask = desk.reject(desk.open("pay", {"amount": 1}))

    with pytest.raises(BadValue, match="reason for erasing"):
        desk.erase(ask, reason)

    assert place.count() == 2


def test_a_due_time_changed_by_hand_neither_decides_nor_hangs(desk: Desk, place: Place) -> None:
    ask = desk.open("pay", {"amount": 1})
    place.sql("update asks set due_at = 1 where id = ?", ask.id)

    assert desk.sweep().expired == ()
    assert desk.get(ask.id).open
    assert desk.approve(ask).decision, "the journal knows no deadline"
