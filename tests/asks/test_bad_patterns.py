"""Choices, drafts and feedback put or answered badly: a clear error, and nothing is lost."""

from __future__ import annotations

import pytest

from sayso import AskClosed, Desk, Option, StillOpen
from sayso.errors import BadValue
from sayso.testing import FakeClock
from tests.places import Place

TWO_MB = "x" * 2_000_000


@pytest.mark.parametrize("number", [0, 101, 200])
@pytest.mark.parametrize("own", [None, str])
def test_a_choice_of_nothing_or_of_hundreds_is_refused_before_it_is_asked(
    desk: Desk, place: Place, number: int, own: type | None
) -> None:
    desk.inbox()
    options = [Option(f"flight {n}", n) for n in range(number)]

    with pytest.raises(BadValue, match=f"1 to 100 options, not {number}"):
        desk.later.choose("Which flight?", options, own=own)
    assert place.count() == 0


def test_a_hundred_options_are_not_too_many(desk: Desk) -> None:
    later = desk.later.choose("Which?", [Option(f"flight {n}", n) for n in range(100)])
    desk.approve(later.ask, option="flight 99")

    assert later.result(timeout=0).value == 99


def test_a_draft_of_two_megabytes_is_refused_before_it_is_asked(desk: Desk, place: Place) -> None:
    desk.inbox()
    for draft in (TWO_MB, lambda _: TWO_MB):
        with pytest.raises(BadValue, match="bytes"):
            desk.later.draft(draft)
    assert place.count() == 0


def test_a_draft_sent_back_and_grown_to_two_megabytes_loses_no_word(desk: Desk) -> None:
    texts = iter(["short", TWO_MB, "still short"])
    later = desk.later.draft(lambda _: next(texts))
    first = desk.respond(later.ask, "longer")

    with pytest.raises(BadValue, match="bytes"):
        later.result(timeout=0)
    assert desk.get(first.id).decision == first.decision, "the guidance is kept"
    with pytest.raises(StillOpen):
        later.result(timeout=0)  # the maker has thought better of it
    assert [one.guidance for one in desk.versions(later.ask)] == [None, "longer"]


def test_a_maker_that_raises_asks_nobody(desk: Desk, place: Place) -> None:
    def write(_: str | None) -> str:
        raise OSError("the model is away")

    desk.inbox()
    with pytest.raises(OSError, match="away"):
        desk.later.draft(write)
    assert place.count() == 0


def test_a_maker_that_raises_when_it_is_sent_back_can_be_asked_again(desk: Desk) -> None:
    heard: list[str | None] = []

    def write(guidance: str | None) -> str:
        heard.append(guidance)
        if len(heard) == 2:
            raise OSError("the model is away")
        return f"text {len(heard)}"

    later = desk.later.draft(write)
    desk.respond(later.ask, "shorter")
    with pytest.raises(OSError, match="away"):
        later.result(timeout=0)
    with pytest.raises(StillOpen):
        later.result(timeout=0)
    desk.approve(later.ask)

    assert later.result(timeout=0) == "text 3"
    assert heard == [None, "shorter", "shorter"], "the guidance was not lost with the error"


@pytest.mark.parametrize("swept", [True, False], ids=["swept", "not swept yet"])
def test_feedback_after_its_deadline_is_told_so_and_counts_as_nothing(
    desk: Desk, clock: FakeClock, *, swept: bool
) -> None:
    later = desk.later.feedback({"letters": 1}, within="1h")
    clock.advance("1h")
    if swept:
        desk.sweep()

    with pytest.raises(AskClosed) as late:
        desk.reject(later.ask, "Too long")
    assert "by clock" in str(late.value)
    assert later.result(timeout=0) is None, "no answer is not a bad one"
