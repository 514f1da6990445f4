"""The journal of a server as it grows: server-sent events, taken up again where they broke off."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx2

from sayso.model.event import Event
from sayso.model.wire import read_event
from sayso.remote.line import PAUSES, Away, Line

_log = logging.getLogger("sayso.remote")
_PLACE = "/events"
_LARGEST = 16 * 1024 * 1024  # bytes of one event


class Stream:
    """Events of one server. The cursor of the last one is all there is to remember."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._open: dict[int, tuple[int, socket.socket]] = {}

    def tip(self) -> str:
        """Return the cursor of the last event there is."""
        for tries in _tries():
            try:
                cursor = ""
                for frame in self._frames({"follow": "false"}):
                    cursor = frame.id or cursor
                return cursor
            except Away as away:
                tries.failed(away)
        raise AssertionError("unreachable: tries end with an error")

    def recorded(self, after: str | None) -> Iterator[Event]:
        """Yield what is committed now, and end: once a pass brings nothing more."""
        cursor, more = after or "", True
        for tries in _tries():
            if not more:
                return
            more = False
            try:
                for frame in self._frames({"after": cursor, "follow": "false"}):
                    tries.succeeded()
                    cursor = frame.id or cursor
                    if frame.data:
                        more = True
                        yield self._event(frame)
            except Away as away:
                more = True
                tries.failed(away)

    def follow(self, after: str | None, stop: threading.Event) -> Iterator[Event]:
        """Yield events after a cursor, then wait for more, until `stop` is set.

        Raises:
            StoreUnavailable: the server cannot be reached, and never could.
        """
        cursor = after or ""
        for tries in _tries(stop, for_ever=True):
            try:
                for frame in self._frames({"after": cursor}):
                    if stop.is_set():
                        return
                    tries.succeeded()
                    cursor = frame.id or cursor
                    if frame.data:
                        yield self._event(frame)
            except Away as away:
                tries.failed(away)

    def wake(self) -> None:
        """Break the streams of this process off: whoever follows looks whether to go on."""
        for pid, found in tuple(self._open.values()):
            if pid == os.getpid():
                with suppress(OSError):
                    found.shutdown(socket.SHUT_RDWR)

    def _frames(self, query: dict[str, str]) -> Iterator[httpx2.ServerSentEvent]:
        with self._line.streaming(_PLACE, query) as response, self._known(response):
            yield from httpx2.EventSource(response, max_event_size=_LARGEST)

    @contextmanager
    def _known(self, response: httpx2.Response) -> Iterator[None]:
        """Let `wake` find the connection of this stream."""
        stream: Any = response.extensions.get("network_stream")
        found = None if stream is None else stream.get_extra_info("socket")
        number = id(response)
        if found is not None:
            self._open[number] = os.getpid(), found
        try:
            yield
        finally:
            self._open.pop(number, None)

    def _event(self, frame: httpx2.ServerSentEvent) -> Event:
        event = self._line.read(lambda text: read_event(json.loads(text)), frame.data)
        return event if event.cursor is not None else event._replace(cursor=frame.id)


class _Tries:
    """How often it failed in a row, and how long to wait until the next time."""

    def __init__(self, stop: threading.Event, *, for_ever: bool) -> None:
        self._stop = stop
        self._for_ever = for_ever
        self._failed = 0
        self._known = False

    def succeeded(self) -> None:
        self._failed, self._known = 0, True

    def failed(self, away: Away) -> None:
        """Wait, unless it is no use."""
        if self._stop.is_set():
            return
        self._failed += 1
        lasting = self._for_ever and self._known
        if self._failed > len(PAUSES) and not lasting:
            raise away.error from away.__cause__
        if self._failed == 1:
            _log.warning("%s The events are taken up again where they broke off.", away)
        self._stop.wait(away.pause(self._failed))

    def ended(self) -> None:
        """Come back soon after a stream that ended in peace: the server is stopping."""
        if self._failed == 0:
            self._stop.wait(0.1)


def _tries(stop: threading.Event | None = None, *, for_ever: bool = False) -> Iterator[_Tries]:
    stopped = stop or threading.Event()
    tries = _Tries(stopped, for_ever=for_ever)
    while not stopped.is_set():
        yield tries
        if for_ever:
            tries.ended()
