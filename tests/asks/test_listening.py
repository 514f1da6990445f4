"""The live tail: every event once, in order, from any process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from itertools import islice

import pytest

from sayso import Desk, Event
from sayso.errors import BadValue
from tests.crew import Crew, desk_at
from tests.places import Place
from tests.together import in_thread, until


def following(desk: Desk, count: int, after: str | None = None) -> Future[list[Event]]:
    """Take the next `count` events of the live tail, beside the test."""
    return in_thread(lambda: list(islice(desk.events(after=after, follow=True), count)))


def open_some(url: str, count: int) -> list[str]:
    """In another process: open asks."""
    desk = desk_at(url)
    return [desk.open("refund", {"n": n}).id for n in range(count)]


class Heard(list[Event]):
    """Collects events, and lets a test wait for the n-th."""

    def after(self, count: int) -> list[Event]:
        until(lambda: len(self) >= count)
        return list(self)


@pytest.fixture
def heard() -> Heard:
    return Heard()


def test_the_journal_can_be_read_from_the_start_and_from_a_cursor(desk: Desk) -> None:
    asks = [desk.open("refund", {"n": n}) for n in range(5)]

    events = list(desk.events())
    rest = list(desk.events(after=events[2].cursor))

    assert [event.stream for event in events] == [ask.id for ask in asks]
    assert [event.stream for event in rest] == [ask.id for ask in asks[3:]]
    assert list(desk.events(after=events[-1].cursor)) == []


def test_more_events_than_one_batch_come_once_each(desk: Desk) -> None:
    count = 1203
    for n in range(count):
        desk.open("refund", {"n": n}, agent=f"shop{n % 3}")  # each at its pace

    seen = [event.payload["content"]["proposal"]["args"]["n"] for event in desk.events()]  # type: ignore[index]

    assert seen == list(range(count))


def test_following_sees_what_was_and_what_comes(desk: Desk) -> None:
    first = desk.open("refund", {"n": 1})
    tail = following(desk, 3)

    second = desk.open("refund", {"n": 2})
    desk.approve(second)

    assert [(event.stream, event.kind) for event in tail.result(30)] == [
        (first.id, "ask.opened"),
        (second.id, "ask.opened"),
        (second.id, "ask.decided"),
    ]


def test_following_hears_of_another_process(live: Desk, place: Place, crew: Crew) -> None:
    live.inbox()
    tail = following(live, 20)

    ids = crew.tell(0, open_some, place.url, 20)

    assert [event.stream for event in tail.result(30)] == ids


@pytest.mark.parametrize("after", ["x", "-1", "1.2.3", "0x1", "²", "9" * 30, "1e3", " 1", "NaN"])
def test_what_is_no_cursor_is_refused(desk: Desk, after: str) -> None:
    desk.open("refund", {"n": 1})

    with pytest.raises(BadValue, match="cursor"):
        list(desk.events(after=after))


def test_a_handler_hears_of_every_later_event_of_its_kind(desk: Desk, heard: Heard) -> None:
    desk.open("refund", {"n": 0})
    desk.on("ask.decided", heard.append)

    ask = desk.approve(desk.open("refund", {"n": 1}))

    (event,) = heard.after(1)
    assert (event.kind, event.stream) == ("ask.decided", ask.id)


def test_a_typo_is_refused_and_not_listened_for(desk: Desk, heard: Heard) -> None:
    with pytest.raises(BadValue, match=r"Did you mean ask\.decided\?"):
        desk.on("ask.decide", heard.append)
    with pytest.raises(BadValue, match="no kind of event"):
        desk.on("ask.*", heard.append)


def test_a_star_hears_everything_in_order(desk: Desk, heard: Heard) -> None:
    desk.on("*", heard.append)

    ask = desk.finish(desk.begin(desk.approve(desk.open("refund", {"n": 1}))), "ok")

    assert [event.kind for event in heard.after(4)] == [
        "ask.opened",
        "ask.decided",
        "effect.intended",
        "effect.done",
    ]
    assert {event.stream for event in heard} == {ask.id}


def test_a_handler_hears_of_other_processes(
    live: Desk, place: Place, crew: Crew, heard: Heard
) -> None:
    live.on("ask.opened", heard.append)

    ids = crew.tell(0, open_some, place.url, 5)

    assert [event.stream for event in heard.after(5)] == ids


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


def test_a_handler_that_fails_silences_nobody(desk: Desk, heard: Heard) -> None:
    def fails(event: Event) -> None:
        raise RuntimeError("out of order")

    desk.on("*", fails)
    desk.on("*", heard.append)

    desk.open("refund", {"n": 1})
    desk.open("refund", {"n": 2})

    assert len(heard.after(2)) == 2


def test_a_handler_may_use_the_desk(desk: Desk, heard: Heard) -> None:
    desk.on("ask.opened", lambda event: desk.approve(desk.get(event.stream)))
    desk.on("ask.decided", heard.append)

    ask = desk.open("refund", {"n": 1})

    assert heard.after(1)[0].stream == ask.id


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


def test_many_writers_are_heard_completely_and_once(desk: Desk, heard: Heard) -> None:
    desk.on("ask.opened", heard.append)

    def write(n: int) -> Callable[[], list[str]]:
        return lambda: [desk.open("refund", {"n": n, "i": i}).id for i in range(25)]

    writers = [in_thread(write(n)) for n in range(8)]
    ids = [ask_id for writer in writers for ask_id in writer.result(60)]

    assert sorted(event.stream for event in heard.after(200)) == sorted(ids)
