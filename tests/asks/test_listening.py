"""The live tail: every event once, in order, from any process."""

from __future__ import annotations

import threading

import pytest

from sayso import Desk, Event
from sayso.errors import BadValue
from tests.together import until


class Heard(list[Event]):
    """Collects events, and lets a test wait for the n-th."""

    def after(self, count: int) -> list[Event]:
        until(lambda: len(self) >= count)
        return list(self)


@pytest.fixture
def heard() -> Heard:
    return Heard()


def test_more_events_than_one_batch_come_once_each(desk: Desk) -> None:
    count = 1203
    for n in range(count):
        desk.open("refund", {"n": n}, agent=f"shop{n % 3}")  # each at its pace

    seen = [event.payload["content"]["proposal"]["args"]["n"] for event in desk.events()]  # type: ignore[index]

    assert seen == list(range(count))


def test_a_handler_hears_of_every_later_event_of_its_kind_and_of_no_typo(
    desk: Desk, heard: Heard
) -> None:
    with pytest.raises(BadValue, match=r"Did you mean ask\.decided\?"):
        desk.on("ask.decide", heard.append)
    with pytest.raises(BadValue, match="no kind of event"):
        desk.on("ask.*", heard.append)

    desk.open("refund", {"n": 0})
    desk.on("ask.decided", heard.append)

    ask = desk.approve(desk.open("refund", {"n": 1}))

    (event,) = heard.after(1)
    assert (event.kind, event.stream) == ("ask.decided", ask.id)


def test_a_handler_can_be_taken_off(desk: Desk, heard: Heard) -> None:
    kept = Heard()
    off = desk.on("ask.opened", heard.append)
    desk.on("ask.opened", kept.append)
    desk.open("refund", {"n": 1})
    heard.after(1)
    kept.after(1)

    off()
    off()
    desk.open("refund", {"n": 2})

    assert len(kept.after(2)) == 2
    assert len(heard) == 1


def test_a_handler_may_use_the_desk(desk: Desk, heard: Heard) -> None:
    desk.on("ask.opened", lambda event: desk.approve(desk.get(event.stream)))
    desk.on("ask.decided", heard.append)

    ask = desk.open("refund", {"n": 1})

    assert heard.after(1)[0].stream == ask.id


def test_a_handler_that_fails_silences_nobody(desk: Desk, heard: Heard) -> None:
    def fails(event: Event) -> None:
        raise RuntimeError("out of order")

    desk.on("*", fails)
    desk.on("*", heard.append)

    desk.open("refund", {"n": 1})
    desk.open("refund", {"n": 2})

    assert len(heard.after(2)) == 2


def test_closing_the_desk_ends_its_handlers(desk: Desk, heard: Heard) -> None:
    desk.on("*", heard.append)
    desk.open("refund", {"n": 1})
    heard.after(1)

    desk.close()
    assert not [t for t in threading.enumerate() if t.name == "sayso-on"]

    again = Heard()
    desk.on("*", again.append)
    desk.open("refund", {"n": 2})
    assert len(again.after(1)) == 1
    assert len(heard) == 1
