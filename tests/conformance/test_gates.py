"""Gates and verbs: a program waits, somebody decides, and what was approved runs once."""

from __future__ import annotations

import asyncio
import functools
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import Ask
from sayso.asks.forms import Feedback, Reaction
from sayso.errors import (
    AlreadySpent,
    Answered,
    BadValue,
    FinishedLate,
    NotApproved,
    Rejected,
    Skipped,
)
from tests.conformance.house import House
from tests.together import until


def pay(house: House, ran: list[Any], **given: Any) -> Callable[..., str]:
    @house.asker.gate(risk="high", **given)
    def pay(order: int, amount: int = 1) -> str:
        ran.append((order, amount, sayso.current_call().key))
        return f"paid {amount} for {order}"

    return pay


def apay(house: House, ran: list[Any], **given: Any) -> Callable[..., Any]:
    @house.asker.gate(risk="high", **given)
    async def pay(order: int, amount: int = 1) -> str:
        ran.append((order, amount, sayso.current_call().key))
        return f"paid {amount} for {order}"

    return pay


# --- begin and finish -----------------------------------------------------------------------------


def test_an_approval_is_spent_once(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7, "amount": 40})
    with pytest.raises(NotApproved) as early:
        house.asker.begin(ask)
    assert early.value.ask.id == ask.id
    house.anna.edit(ask, {"amount": 30})
    call = house.asker.begin(ask)

    assert (call.tool, call.args, call.attempt) == ("refund", {"order": 7, "amount": 30}, 1)
    assert call.ask.effect is not None
    assert (call.ask.effect.status, call.ask.effect.key) == ("intended", call.key)
    with pytest.raises(AlreadySpent) as caught:
        house.asker.begin(ask)
    assert caught.value.state == "intended"
    done = house.asker.finish(call, {"paid": [30, None, 0.5]})
    assert done.effect is not None
    assert (done.effect.status, done.effect.result) == ("done", {"paid": [30, None, 0.5]})
    with pytest.raises(AlreadySpent):
        house.asker.begin(ask)


def test_a_call_that_failed_says_with_what(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7})
    house.anna.approve(ask)
    failed = house.asker.finish(house.asker.begin(ask), error=ValueError("no money"))

    assert failed.effect is not None
    assert (failed.effect.status, failed.effect.error) == ("failed", "ValueError('no money')")


def test_a_result_that_cannot_be_kept_does_not_undo_the_call(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7})
    house.anna.approve(ask)
    done = house.asker.finish(house.asker.begin(ask), result=object())

    assert done.effect is not None
    assert (done.effect.status, done.effect.result) == ("done", None)


def test_a_result_that_comes_too_late_is_evidence(house: House) -> None:
    ask = house.asker.open("refund", {"order": 7}, returns=str)
    house.anna.approve(ask)
    call = house.asker.begin(ask, limit=60)
    house.clock.advance(120)
    (doubt,) = house.local.sweep().doubts
    with pytest.raises(FinishedLate) as caught:
        house.asker.finish(call, "paid")
    assert caught.value.state == "unknown"

    seen = house.anna.get(doubt)
    assert seen.evidence[0]["result"] == "paid"
    house.anna.respond(seen, "paid")
    effect = house.asker.get(ask.id).effect
    assert effect is not None
    assert (effect.status, effect.result, effect.doubt) == ("done", "paid", doubt)


# --- gates ----------------------------------------------------------------------------------------


def test_a_gate_runs_what_was_approved(house: House) -> None:
    ran: list[Any] = []
    with house.answering(house.anna.approve) as asked:
        assert pay(house, ran)(7, 40) == "paid 40 for 7"

    effect = house.local.get(asked[0].id).effect
    assert effect is not None
    assert (effect.status, effect.result) == ("done", "paid 40 for 7")
    assert ran == [(7, 40, effect.key)]
    assert asked[0].held
    assert asked[0].content.sentence != ""


def test_a_gate_runs_what_was_edited(house: House) -> None:
    ran: list[Any] = []
    with house.answering(lambda ask: house.anna.edit(ask, {"amount": 30})):
        assert pay(house, ran)(7, 40) == "paid 30 for 7"
    assert [call[:2] for call in ran] == [(7, 30)]


def test_a_gate_that_is_refused_runs_nothing(house: House) -> None:
    ran: list[Any] = []
    with house.answering(lambda ask: house.anna.reject(ask, "no")), pytest.raises(Rejected) as no:
        pay(house, ran)(7)
    assert (no.value.note, no.value.by) == ("no", "anna")
    respond = functools.partial(house.anna.respond, answer="ask ben")
    with house.answering(respond), pytest.raises(Answered) as answered:
        pay(house, ran)(7)
    assert (answered.value.text, answered.value.by) == ("ask ben", "anna")
    with house.answering(house.anna.reject):
        assert pay(house, ran, on_reject="skipped")(7) == "skipped"
    assert ran == []


async def test_a_gate_can_be_awaited(house: House) -> None:
    ran: list[Any] = []
    with house.answering(house.anna.approve, lambda ask: house.anna.edit(ask, {"amount": 5})):
        assert await apay(house, ran)(7) == "paid 1 for 7"
        assert await apay(house, ran)(8) == "paid 5 for 8"
    with house.answering(house.anna.reject), pytest.raises(Rejected):
        await apay(house, ran)(9)
    assert [call[:2] for call in ran] == [(7, 1), (8, 5)]


def test_a_secret_is_neither_shown_nor_stored(house: House) -> None:
    ran: list[str] = []

    @house.asker.gate(risk="high", secret=["card"])
    def charge(card: str, amount: int) -> str:
        ran.append(card)
        return f"charged {card}"

    with house.answering(house.anna.approve) as asked:
        assert charge("4111-1111", 3) == "charged 4111-1111"
    assert ran == ["4111-1111"]
    seen = house.anna.get(asked[0].id)
    assert seen.content.hidden == ("card",)
    events = house.anna.history(seen)
    assert not any("4111" in (event.text or "") for event in events)


def test_a_gate_that_fails_says_so(house: House) -> None:
    @house.asker.gate(risk="high")
    def burn() -> None:
        raise ValueError("no money")

    with house.answering(house.anna.approve) as asked, pytest.raises(ValueError, match="no money"):
        burn()
    effect = house.local.get(asked[0].id).effect
    assert effect is not None
    assert (effect.status, effect.error) == ("failed", "ValueError('no money')")


@pytest.mark.parametrize("word", ["it happened", "run it again", "leave it"])
def test_when_nobody_knows_a_person_says(house: House, word: str) -> None:
    ran: list[str] = []

    @house.asker.gate(risk="high", unknown=TimeoutError)
    def send(number: int) -> str:
        ran.append(sayso.current_call().key)
        if len(ran) == 1:
            raise TimeoutError
        return "sent the second time"

    said: dict[str, Callable[[Ask], object]] = {
        "it happened": lambda ask: house.anna.respond(ask, "sent"),
        "run it again": house.anna.approve,
        "leave it": house.anna.reject,
    }
    with house.answering(house.anna.approve, said[word]) as asked:
        if word == "leave it":
            with pytest.raises(Skipped):
                send(7)
        else:
            assert send(7) == ("sent" if word == "it happened" else "sent the second time")
    assert asked[1].kind == "doubt"
    assert asked[1].content.about == asked[0].id
    effect = house.local.get(asked[0].id).effect
    assert effect is not None
    assert (effect.status, len(ran)) == {
        "it happened": ("done", 1),
        "run it again": ("done", 2),
        "leave it": ("failed", 1),
    }[word]
    assert {*ran} == {effect.key}, "a second try has the key of the first"


def interrupt(_ask: Ask) -> None:
    until(waits)  # the question is known to others a moment before
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def waits() -> bool:
    """Whether the main thread waits for an answer."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        if (Path(frame.f_code.co_filename).stem, frame.f_code.co_name) == ("waiting", "wait"):
            return True
        frame = frame.f_back
    return False


def test_ctrl_c_while_waiting_takes_the_question_back(house: House) -> None:
    ran: list[Any] = []
    with house.answering(interrupt) as asked, pytest.raises(KeyboardInterrupt):
        pay(house, ran)(7)
    assert house.local.get(asked[0].id).status == "withdrawn"
    assert ran == []


def test_ctrl_c_in_the_middle_leaves_a_doubt(house: House) -> None:
    @house.asker.gate(risk="high")
    def hang() -> None:
        signal.raise_signal(signal.SIGINT)

    with house.answering(house.anna.approve) as asked, pytest.raises(KeyboardInterrupt):
        hang()
    effect = house.local.get(asked[0].id).effect
    assert effect is not None
    assert effect.status == "unknown"
    doubt = house.anna.get(effect.doubt)
    assert (doubt.kind, doubt.status) == ("doubt", "open")


async def test_a_cancelled_task_takes_its_question_back(house: House) -> None:
    ran: list[Any] = []
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(apay(house, ran)(7))

    def cancel(_ask: Ask) -> None:
        loop.call_soon_threadsafe(task.cancel)

    with house.answering(cancel) as asked, pytest.raises(asyncio.CancelledError):
        await task
    assert house.local.get(asked[0].id).status == "withdrawn"
    assert ran == []


# --- the verbs ------------------------------------------------------------------------------------


def test_confirm(house: House) -> None:
    with house.answering(house.anna.approve, lambda ask: house.anna.reject(ask, "no")) as asked:
        assert house.asker.confirm("Go on?", {"b": 1, "a": 2})
        decision = house.asker.confirm("Go on?")
    assert not decision
    assert decision.note == "no"
    assert (asked[0].title, list(asked[0].facts)) == ("Go on?", ["b", "a"])
    assert "edit" not in asked[0].allow


def test_question(house: House) -> None:
    with house.answering(
        lambda ask: house.anna.respond(ask, 42), lambda ask: house.anna.reject(ask)
    ) as asked:
        assert house.asker.question("How many?", int) == 42
        assert house.asker.question("Who?") is None
    assert asked[0].content.answer_schema == {"type": "integer"}


def test_choose(house: House) -> None:
    with house.answering(
        lambda ask: house.anna.approve(ask, option="b"),
        lambda ask: house.anna.respond(ask, "c"),
        lambda ask: house.anna.reject(ask),
    ) as asked:
        assert house.asker.choose("Which?", ["a", "b"]) == "b"
        assert house.asker.choose("Which?", ["a"], own=True) == "c"
        assert house.asker.choose("Which?", ["a"]) is None
    assert [ask.allow for ask in asked] == [
        ("approve", "reject"),
        ("approve", "respond", "reject"),
        ("approve", "reject"),
    ]


def test_draft(house: House) -> None:
    written: list[str | None] = []

    def write(guidance: str | None) -> str:
        written.append(guidance)
        return f"Dear all ({guidance})"

    with house.answering(
        lambda ask: house.anna.respond(ask, "shorter"),
        lambda ask: house.anna.edit(ask, "Dear nobody"),
        lambda ask: house.anna.reject(ask),
    ) as asked:
        assert house.asker.draft(write, title="Mail") == "Dear nobody"
        assert house.asker.draft("Dear you") is None
    assert written == [None, "shorter"]
    assert asked[1].content.about == asked[0].id
    versions = house.asker.versions(asked[1].id)
    assert [version.text for version in versions] == [
        "Dear all (None)",
        "Dear all (shorter)",
        "Dear nobody",
    ]
    assert versions[1].guidance == "shorter"
    assert "shorter" in versions[1].diff(versions[0])


def test_an_optional_draft_holds_nobody(house: House) -> None:
    assert house.asker.draft("Dear all", optional=True) == "Dear all"
    (ask,) = house.anna.inbox()
    assert ask.content.optional
    assert not ask.held


def test_plan(house: House) -> None:
    steps: list[Any] = ["look", {"title": "write", "tool": "send"}]
    with house.answering(
        house.anna.approve,
        lambda ask: house.anna.edit(ask, ["look"]),
        lambda ask: house.anna.reject(ask, "no"),
    ):
        assert house.asker.plan(steps) == steps
        assert house.asker.plan(steps) == ["look"]
        with pytest.raises(Rejected):
            house.asker.plan(steps)


def test_notice(house: House) -> None:
    with house.answering(
        lambda ask: house.anna.respond(ask, "on it"), lambda ask: house.anna.reject(ask)
    ):
        first = house.asker.notice("The disk is full", {"left": "1 %"})
        second = house.asker.notice("The disk is full")
    assert (first, first.text) == (Reaction("respond"), "on it")
    assert second == "ignore"


def test_feedback(house: House) -> None:
    with house.answering(
        house.anna.approve,
        lambda ask: house.anna.reject(ask, "too long"),
        lambda ask: house.anna.respond(ask, "fine"),
    ) as asked:
        assert house.asker.feedback({"sum": 3}, task="add") == Feedback("good")
        assert house.asker.feedback("x") == Feedback("bad", "too long")
        assert house.asker.feedback("x") == Feedback(None, "fine")
    assert asked[0].facts == {"task": "add", "result": {"sum": 3}}


async def test_later(house: House) -> None:
    asker = house.asker.later
    sure, many = asker.confirm("Go on?"), asker.question("How many?", int)
    text = asker.draft(lambda guidance: f"Dear {guidance}")
    house.anna.approve(sure.ask)
    house.anna.respond(many.ask, 3)
    assert sure.result()
    assert many.result() == 3
    first = text.id
    with house.answering(house.anna.approve):
        house.anna.respond(text.ask, "Ada")
        assert await text.result_async() == "Dear Ada"
    assert text.id != first


def test_a_verb_that_makes_no_sense_asks_nobody(house: House) -> None:
    for act in (
        lambda: house.asker.confirm(" "),
        lambda: house.asker.choose("Which?", []),
        lambda: house.asker.draft(""),
        lambda: house.asker.plan([]),
        lambda: house.asker.question("?", {"type": "nonsense"}),
    ):
        with pytest.raises(BadValue):
            act()
    assert len(house.anna.inbox()) == 0
