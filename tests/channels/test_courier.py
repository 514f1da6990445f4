"""Every message arrives at least once, whoever is down, slow, silent or killed meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import standardwebhooks

from sayso import Desk
from sayso.channels.courier import JITTER, SCHEDULE, Courier
from sayso.channels.webhooks import Webhook
from sayso.errors import BadValue, Misuse
from sayso.store.outbox import KEPT
from sayso.testing import FakeClock
from tests.channels.receivers import Received, Receiver, receiving
from tests.crew import Crew, desk_at
from tests.places import Place
from tests.together import until


@pytest.fixture
def desk(everywhere: Desk) -> Desk:
    return everywhere


def hooked(desk: Desk, receiver: Receiver, *kinds: str) -> Webhook:
    return desk.webhooks.add(receiver.url, kinds or ("ask.opened",), allow_private=True)


@contextmanager
def carrying(desk: Desk, **given: Any) -> Iterator[Courier]:
    courier = Courier(lambda: desk.store, **given)
    courier.start()
    try:
        yield courier
    finally:
        courier.stop()


# --- down, up, slow ---


def test_a_receiver_that_is_down_then_up_then_slow_gets_everything(live: Desk) -> None:
    """And another implementation of the standard believes every message."""
    with receiving() as receiver:
        hook = hooked(live, receiver)
    with carrying(live):
        missed = [live.open("refund", {"order": n}) for n in range(3)]  # nobody listens
        until(lambda: len([d for d in live.webhooks.deliveries("waiting") if d.attempts]) == 3)

        with receiving(receiver.port, Receiver()) as back:
            for delivery in live.webhooks.deliveries("waiting"):
                live.webhooks.redeliver(delivery)  # rather than waiting five seconds
            back.after(3)

            pause = threading.Event()
            slowly = iter([0.3, 0.2, 0.1])
            back.answer = lambda _: pause.wait(next(slowly, 0)) or 200
            late = [live.open("refund", {"order": n}) for n in range(3, 6)]
            back.after(6)
            until(lambda: len(live.webhooks.deliveries("delivered")) == 6)

    assert set(back.about()) == {ask.id for ask in (*missed, *late)}
    assert back.about()[3:] == [ask.id for ask in late]
    theirs = standardwebhooks.Webhook(hook.secret or "")
    for one in back.got:
        assert theirs.verify(one.body, dict(one.headers))["type"] == "ask.opened"


def test_it_is_tried_again_by_the_schedule_and_then_is_a_dead_letter(
    desk: Desk, clock: FakeClock, receiver: Receiver
) -> None:
    receiver.answer = lambda _: 500
    hooked(desk, receiver)
    desk.open("refund", {"order": 7})

    desk.deliver()
    for attempt, wait in enumerate(SCHEDULE[1:], start=1):
        clock.advance(wait - timedelta(seconds=1))
        desk.deliver()
        assert len(receiver.got) == attempt  # not before its time
        clock.advance(timedelta(seconds=1) + JITTER * wait)
        desk.deliver()
        assert len(receiver.got) == attempt + 1

    [dead] = desk.webhooks.deliveries("dead")
    assert (dead.attempts, dead.code) == (len(SCHEDULE), 500)
    assert dead.error == "The receiver answered 500."
    clock.advance("30d")
    assert desk.deliver() == 0
    assert len({one.id for one in receiver.got}) == 1  # one message, ten attempts
    assert len({one.body for one in receiver.got}) == 1


def test_a_dead_letter_is_sent_again_under_the_same_id(
    desk: Desk, clock: FakeClock, receiver: Receiver
) -> None:
    receiver.answer = lambda _: 500
    hook = hooked(desk, receiver)
    desk.open("refund", {"order": 7})
    for _ in SCHEDULE:
        desk.deliver()
        clock.advance("2d")
    receiver.answer = lambda _: 204
    [dead] = desk.webhooks.deliveries("dead")

    again = desk.webhooks.redeliver(dead)
    assert (again.status, again.attempts) == ("waiting", 0)
    assert desk.deliver() == 1

    assert receiver.got[-1].id == dead.id == receiver.got[0].id
    assert receiver.got[-1].signed_with(hook.secret)
    assert desk.webhooks.deliveries("dead") == []
    assert [d.code for d in desk.webhooks.deliveries("delivered")] == [204]


def test_one_that_failed_holds_up_none_behind_it(
    desk: Desk, clock: FakeClock, receiver: Receiver
) -> None:
    hooked(desk, receiver)
    asks = [desk.open("refund", {"order": n}) for n in range(3)]
    receiver.answer = lambda one: 500 if one.json["data"]["id"] == asks[0].id else 200

    assert desk.deliver() == 2
    receiver.answer = lambda _: 200
    clock.advance("6s")
    assert desk.deliver() == 1

    assert receiver.about() == [asks[n].id for n in (0, 1, 2, 0)]


@pytest.mark.parametrize("status", [100, 199, 300, 302, 400, 401, 404, 429, 500, 503])
def test_only_a_2xx_is_a_delivery(desk: Desk, receiver: Receiver, status: int) -> None:
    receiver.answer = lambda _: status
    hooked(desk, receiver)
    desk.open("refund", {"order": 7})
    courier = Courier(lambda: desk.store, timeout=0.5)

    assert courier.deliver() == 0
    assert [d.attempts for d in desk.webhooks.deliveries("waiting")] == [1]


# --- 410, Retry-After ---


def test_410_disables_the_webhook_and_says_so(desk: Desk, receiver: Receiver) -> None:
    hook = hooked(desk, receiver)
    for n in range(3):
        desk.open("refund", {"order": n})
    receiver.answer = lambda _: 410

    desk.deliver()
    desk.open("refund", {"order": 9})
    desk.deliver()

    assert len(receiver.got) == 1
    assert not desk.webhooks.get(hook.id).active
    last = desk.store.stream("webhooks")[-1]
    assert (last.kind, str(last.actor)) == ("webhook.disabled", "clock:clock")
    dead = desk.webhooks.deliveries("dead")
    assert [d.code for d in dead] == [None, None, 410]
    with pytest.raises(Misuse, match="410"):
        desk.webhooks.redeliver(dead[0])
    assert desk.verify()


@pytest.mark.parametrize("status", [429, 503])
def test_a_receiver_that_asks_for_a_rest_gets_it(
    desk: Desk, clock: FakeClock, receiver: Receiver, status: int
) -> None:
    hooked(desk, receiver)
    receiver.answer = lambda _: (status, {"Retry-After": "600"})
    for n in range(2):
        desk.open("refund", {"order": n})

    desk.deliver()
    receiver.answer = lambda _: 200
    clock.advance("9m59s")
    desk.open("refund", {"order": 3})
    assert desk.deliver() == 0
    assert len(receiver.got) == 1

    clock.advance("1s")
    assert desk.deliver() == 3


def test_a_rest_is_a_day_at_most_and_only_where_it_belongs(
    desk: Desk, clock: FakeClock, receiver: Receiver
) -> None:
    hooked(desk, receiver)
    desk.open("refund", {"order": 7})
    for status, wait in ((500, "6s"), (503, "24h")):
        receiver.answer = lambda _, status=status: (status, {"Retry-After": "99999999"})  # type: ignore[misc]
        desk.deliver()
        clock.advance(wait)
    receiver.answer = lambda _: 200

    assert desk.deliver() == 1


# --- silence ---


def test_receivers_that_never_answer_delay_nobody_else(live: Desk, receiver: Receiver) -> None:
    """However many they are: half of the threads do not meet them twice."""
    with ExitStack() as stack:
        silent = [stack.enter_context(receiving()) for _ in range(6)]
        for one in silent:
            one.answer = one.silent
            hooked(live, one)
        live.open("refund", {"order": 1})
        Courier(lambda: live.store, timeout=0.1).deliver()  # all have failed once now
        hooked(live, receiver)

        with carrying(live, senders=4, timeout=60):
            for delivery in live.webhooks.deliveries("waiting"):
                live.webhooks.redeliver(delivery)
            until(lambda: sum(len(one.got) for one in silent) >= 8)  # two of four threads hang
            asks = [live.open("refund", {"order": n}) for n in range(2, 7)]
            receiver.after(5)
            for one in silent:
                one.ended.set()

    assert receiver.about() == [ask.id for ask in asks]


# --- several couriers, and death ---


def carried(url: str) -> int:
    """In another process: send what is due."""
    return desk_at(url).deliver()


def test_couriers_in_several_processes_send_each_message_once(
    live: Desk, place: Place, receiver: Receiver, other: Receiver, crew: Crew
) -> None:
    hooked(live, receiver)
    hooked(live, other)
    for round_ in range(5):
        asks = [live.open("refund", {"order": n, "round": round_}) for n in range(8)]
        while len(receiver.got) + len(other.got) < 16:
            crew.together(carried, place.url)
        for one in (receiver, other):
            assert Counter(one.about()) == Counter(ask.id for ask in asks)
            one.got.clear()


def test_two_couriers_with_threads_send_each_message_once_and_in_order(
    live: Desk, place: Place, receiver: Receiver
) -> None:
    hooked(live, receiver)
    with Desk(place.url) as second, carrying(live), carrying(second):
        asks = [live.open("refund", {"order": n}) for n in range(80)]
        receiver.after(80)

    assert receiver.about() == [ask.id for ask in asks]
    assert len({one.id for one in receiver.got}) == 80


def test_a_courier_killed_between_sending_and_recording_leaves_it_to_the_next(
    place: Place, receiver: Receiver
) -> None:
    with Desk(place.url, agent="shop", account="sam@till") as desk:
        hook = hooked(desk, receiver)
        ask = desk.open("refund", {"order": 7})
    code = "import sys, sayso; sayso.Desk(sys.argv[1]).deliver()"
    child = subprocess.Popen([sys.executable, "-c", code, place.url])

    def kill(_: Received) -> None:
        os.kill(child.pid, signal.SIGKILL)

    receiver.answer = kill
    assert child.wait(30) == -signal.SIGKILL
    receiver.answer = lambda _: 200

    early = FakeClock(datetime.now(UTC))
    with Desk(place.url, clock=early) as desk:
        assert desk.deliver() == 0  # the dead one might still be at it
        early.advance("70s")
        assert desk.deliver() == 1
        assert desk.deliver() == 0

    first, again = receiver.got
    assert first.id == again.id
    assert again.json["data"]["id"] == ask.id
    assert again.signed_with(hook.secret)


def test_a_courier_that_dies_while_it_reads_on_loses_nothing(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cursor and deliveries are one commit: dying in it is as if it had not begun."""
    hooked(desk, receiver)
    ask = desk.open("refund", {"order": 7})

    run = type(desk.store)._run  # type: ignore[attr-defined]

    def dies(store: Any, connection: Any, name: str, parameters: Any) -> Any:
        if name == "put_delivery":
            raise KeyboardInterrupt
        return run(store, connection, name, parameters)

    with monkeypatch.context() as dying:
        dying.setattr(type(desk.store), "_run", dies)
        with pytest.raises(KeyboardInterrupt):
            desk.deliver()

    assert desk.deliver() == 1
    assert receiver.about() == [ask.id]


def test_of_two_who_read_on_from_one_place_one_writes_the_deliveries(
    desk: Desk, place: Place, receiver: Receiver
) -> None:
    hook = hooked(desk, receiver)
    desk.open("refund", {"order": 7})
    [row] = desk.store.webhooks()
    stale = Courier(lambda: desk.store)
    desk.deliver()

    assert not desk.store.put_deliveries(hook.id, [], before=row.cursor, after="9.9")
    assert stale.deliver() == 0
    assert place.count("deliveries") == len(receiver.got) == 1


def test_a_courier_that_was_given_up_does_not_undo_what_another_recorded(
    desk: Desk, receiver: Receiver
) -> None:
    hooked(desk, receiver)
    desk.open("refund", {"order": 7})
    desk.deliver()
    [done] = desk.store.deliveries(status="delivered", webhook_id=None, limit=5)

    desk.store.failed(done._replace(status="dead", error="late"))

    assert [d.status for d in desk.webhooks.deliveries()] == ["delivered"]


# --- what is kept ---


def test_what_arrived_is_forgotten_after_a_week_and_dead_letters_are_not(
    desk: Desk, clock: FakeClock, receiver: Receiver, other: Receiver
) -> None:
    hooked(desk, receiver)
    hooked(desk, other)
    other.answer = lambda _: 410
    desk.open("refund", {"order": 7})
    desk.deliver()
    clock.advance(KEPT - timedelta(seconds=1))
    desk.deliver()
    assert len(desk.webhooks.deliveries()) == 2

    clock.advance("2s")
    desk.deliver()

    assert [d.status for d in desk.webhooks.deliveries()] == ["dead"]


def test_events_that_concern_nobody_cost_no_writing(
    desk: Desk, place: Place, receiver: Receiver
) -> None:
    hooked(desk, receiver, "run.failed")
    before = place.one("select cursor from webhooks")
    courier = Courier(lambda: desk.store)
    for n in range(5):
        desk.open("refund", {"order": n})
        courier.deliver()
    assert place.one("select cursor from webhooks") == before

    for n in range(500):
        desk.open("refund", {"more": n})
    courier.deliver()
    assert place.one("select cursor from webhooks") != before
    assert receiver.got == []


def test_a_courier_started_twice_and_stopped_twice_is_one(live: Desk, receiver: Receiver) -> None:
    hooked(live, receiver)
    with carrying(live) as courier:
        courier.start()
        live.open("refund", {"order": 7})
        receiver.after(1)
        courier.stop()
    courier.stop()
    live.open("refund", {"order": 8})

    assert len(receiver.got) == 1
    courier.start()
    receiver.after(2)
    courier.stop()


def test_a_stop_does_not_wait_for_a_receiver_that_never_answers(
    live: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.channels.courier._PARTING", 0.1)
    receiver.answer = receiver.silent
    hooked(live, receiver)
    courier = Courier(lambda: live.store, timeout=60)
    courier.start()
    live.open("refund", {"order": 7})
    receiver.after(1)

    courier.stop()  # a minute, otherwise, which is longer than a test may take
    receiver.ended.set()

    until(lambda: not any(t.name == "sayso-sender" for t in threading.enumerate()))


@pytest.mark.parametrize("senders", [0, -1, 65, True, "4"])
def test_the_number_of_senders_is_bounded(desk: Desk, senders: Any) -> None:
    with pytest.raises(BadValue):
        Courier(lambda: desk.store, senders=senders)
