"""Recent events, read once for everybody who follows.

One thread goes along the journal and fills a ring. Whoever follows has a cursor: as long as
that is in the ring, what comes after it is there too, in the order of the journal; whoever is
further behind reads from the database until they have caught up. So nobody misses an event or
sees one twice, and nobody holds up the others.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable

from sayso.asks.listening import follow
from sayso.errors import SaysoError, Tampered
from sayso.model.event import Event
from sayso.model.wire import write_event
from sayso.store.contract import Store

_log = logging.getLogger("sayso.web")
BATCH = 200


class Line:
    """An event, and how it is sent: written once for all who follow."""

    __slots__ = ("_sent", "event")

    def __init__(self, event: Event) -> None:
        self.event = event
        self._sent: bytes | None = None

    @property
    def sent(self) -> bytes:
        """The event as a server-sent one; nothing if its payload makes no sense."""
        if self._sent is None:
            try:
                said = json.dumps(write_event(self.event), separators=(",", ":"))
                self._sent = f"id: {self.event.cursor}\ndata: {said}\n\n".encode()
            except Tampered:
                _log.warning("An event of %s cannot be read.", self.event.stream, exc_info=True)
                self._sent = b""
        return self._sent


class Hub:
    """The ring of recent events. Everything but the reading thread lives on the event loop."""

    def __init__(self, store: Callable[[], Store], keep: int) -> None:
        self._find = store
        self._keep = keep
        self._lines: dict[int, Line] = {}
        self._places: dict[str, int] = {}
        self._last = 0
        self._news = asyncio.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to read; to be called on the event loop."""
        loop = asyncio.get_running_loop()
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._read, args=(loop, self._stop), name="sayso-hub", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End the reading thread."""
        self._stop.set()
        self._find().bell.ring()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _read(self, loop: asyncio.AbstractEventLoop, stop: threading.Event) -> None:
        after: str | None = None
        while not stop.is_set():
            try:
                store = self._find()
                after = after or store.tip()
                for event in follow(store, after, stop=stop):
                    after = event.cursor
                    loop.call_soon_threadsafe(self._add, event)
            except SaysoError as error:
                _log.warning("Following the journal failed; trying again: %s", error)
                stop.wait(0.5)
            except RuntimeError:  # the loop was closed under us
                return

    def _add(self, event: Event) -> None:
        self._last += 1
        self._lines[self._last] = Line(event)
        self._places[event.cursor or ""] = self._last
        gone = self._lines.pop(self._last - self._keep, None)
        if gone is not None:
            self._places.pop(gone.event.cursor or "", None)
        self.ring()

    def ring(self) -> None:
        """Wake everybody who follows."""
        news, self._news = self._news, asyncio.Event()
        news.set()

    @property
    def news(self) -> asyncio.Event:
        """Is set at the next event; to be taken before looking whether there is one already."""
        return self._news

    def after(self, cursor: str | None) -> list[Line] | None:
        """Return what came after a cursor; `None` if the ring does not know it."""
        place = None if cursor is None else self._places.get(cursor)
        if place is None:
            return None
        until = min(self._last, place + BATCH)
        return [self._lines[number] for number in range(place + 1, until + 1)]
