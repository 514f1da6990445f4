"""The live tail: every event once, in order, as it is committed anywhere."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from typing import Protocol

from sayso.errors import SaysoError
from sayso.model.event import Event
from sayso.store.bell import PATIENCE
from sayso.store.contract import Store

_BATCH = 500
_log = logging.getLogger("sayso.asks")

Handler = Callable[[Event], object]


def follow(
    store: Store, after: str | None, *, stop: threading.Event | None = None
) -> Iterator[Event]:
    """Yield events after a cursor, then wait for more, until `stop` is set."""
    heard = threading.Event()
    ended = stop or threading.Event()
    with store.bell.listening(heard.set):
        while not ended.is_set():
            events = store.tail(after, _BATCH)
            for event in events:
                after = event.cursor
                yield event
            if not events:
                heard.wait(PATIENCE)
                heard.clear()


def recorded(store: Store, after: str | None) -> Iterator[Event]:
    """Yield what is committed now, and end."""
    while events := store.tail(after, _BATCH):
        yield from events
        after = events[-1].cursor


class Journal(Protocol):
    """Where events come from: a database, or a server that has one."""

    def tip(self) -> str:
        """Return the cursor of the last event there is."""
        ...

    def follow(self, after: str | None, stop: threading.Event) -> Iterator[Event]:
        """Yield events after a cursor, then wait for more, until `stop` is set."""
        ...

    def wake(self) -> None:
        """Let whoever follows look whether to stop."""
        ...


class Ears:
    """Calls handlers for events, on one thread, in order, from the moment of the first `on`."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._handlers: list[tuple[str, Handler]] = []
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None

    def on(self, kind: str, handler: Handler) -> Callable[[], None]:
        """Call `handler` for every later event of this kind (`*` for all); returns how to stop."""
        if self._pid != os.getpid():  # a forked child has none of the parent's threads
            self._reset()
        entry = (kind, handler)
        with self._lock:
            self._handlers.append(entry)
            if self._stop is None:
                after = self._journal.tip()
                self._stop = threading.Event()
                self._thread = threading.Thread(
                    target=self._listen, args=(after, self._stop), name="sayso-on", daemon=True
                )
                self._thread.start()

        def off() -> None:
            with self._lock:
                if entry in self._handlers:
                    self._handlers.remove(entry)
                idle = not self._handlers
            if idle:
                self.close()

        return off

    def _listen(self, after: str, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                for event in self._journal.follow(after, stop):
                    after = event.cursor or after
                    self._call(event)
            except SaysoError as error:
                _log.warning("Following the journal failed; trying again: %s", error)
                stop.wait(0.5)

    def _call(self, event: Event) -> None:
        for kind, handler in tuple(self._handlers):
            if kind not in ("*", event.kind):
                continue
            try:
                handler(event)
            except Exception:  # noqa: BLE001 - a handler's fault must not silence the others
                _log.exception("A handler for %s failed on %s", kind, event.stream)

    def close(self) -> None:
        """Stop calling anybody."""
        if self._pid != os.getpid():
            self._reset()
        with self._lock:
            stop, thread, self._stop, self._thread = self._stop, self._thread, None, None
            self._handlers.clear()
        if stop is None or thread is None:
            return
        stop.set()
        self._journal.wake()
        if thread is not threading.current_thread():
            thread.join(timeout=5)
