"""Something to wait for: set by other threads, and by signals in the middle of a wait."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from sayso import Desk, Running
from sayso.runs.alarm import Alarm
from tests.together import in_thread, until


class Signalled:
    """Sends this thread a signal before the n-th line that it comes to, wherever that is."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __enter__(self) -> Signalled:
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _trace(self, _: FrameType, event: str, __: Any) -> Any:
        if event == "line":
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGUSR1)
        return self._trace


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    """One that a signal sets."""
    alarm = Alarm()
    before = signal.signal(signal.SIGUSR1, lambda *_: alarm.set())
    yield alarm
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("number", range(1, 12))
def test_a_signal_at_any_moment_of_a_wait_ends_it(alarm: Alarm, number: int) -> None:
    main = threading.get_ident()
    late = threading.Timer(0.05, lambda: signal.pthread_kill(main, signal.SIGUSR1))
    late.start()  # there are not always so many lines
    with Signalled(number):
        assert alarm.wait(20)
    late.join()


def test_all_who_wait_go_on(alarm: Alarm) -> None:
    waiting = [in_thread(lambda: alarm.wait(20)) for _ in range(3)]

    alarm.set()

    assert [one.result(20) for one in waiting] == [True] * 3


def test_what_was_cleared_is_waited_for_anew(alarm: Alarm) -> None:
    for _ in range(3):
        alarm.set()
    assert alarm.wait(0)
    alarm.clear()

    assert not alarm.is_set()
    assert not alarm.wait(0.01)
    waiting = in_thread(lambda: alarm.wait(20))
    alarm.set()
    assert waiting.result(20)


@pytest.mark.timeout(30)
def test_whoever_works_for_ever_is_ended_by_a_signal(local: Desk) -> None:
    """As the page on workers shows it: the handler calls `desk.crew.halt()`."""

    @local.workflow
    def flow(run: Running) -> str:
        return "done"

    run = local.start(flow)
    main = threading.get_ident()

    def end() -> None:
        until(lambda: run.status == "done")
        signal.pthread_kill(main, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, lambda *_: local.crew.halt())
    try:
        ending = in_thread(end)
        began = time.monotonic()
        local.work()
        assert time.monotonic() - began < 20
        ending.result(20)
    finally:
        signal.signal(signal.SIGUSR1, before)


class PutOff:
    """A queue into which somebody goes while a signal comes: its handler has to wait for them."""

    def __init__(self, alarm: Alarm) -> None:
        self._alarm = alarm
        self._wakes = alarm._wakes

    def get(self, timeout: float | None = None) -> None:
        try:
            self._wakes.get(timeout=timeout)
        finally:
            self._alarm.set()  # the handler, at the next line after it

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wakes, name)


def test_a_signal_whose_handler_python_puts_off_ends_a_wait_without_end() -> None:
    alarm = Alarm()
    alarm._wakes = PutOff(alarm)  # type: ignore[assignment]

    assert in_thread(alarm.wait).result(30) is True


@pytest.mark.parametrize("timeout", [0, 0.01, 0.7])
def test_a_wait_that_nobody_ends_is_over_after_its_time(timeout: float) -> None:
    began = time.monotonic()

    assert Alarm().wait(timeout) is False
    assert time.monotonic() - began >= timeout
