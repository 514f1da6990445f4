"""What every request of one service shares: the desk, the limits, the threads, the ring."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import HTTPConnection, Request

from sayso.access.passwords import place_of
from sayso.desk import Desk
from sayso.store.contract import Store
from sayso.web.gauge import Gauge
from sayso.web.hub import Hub
from sayso.web.limits import Buckets, Seats, Turns
from sayso.web.settings import Settings
from sayso.web.verifying import Verifying
from sayso.web.walls import Walls

T = TypeVar("T")
_TURN = "sayso_turn"  # in the state of a request


class Service:
    """One service in one process, on one event loop."""

    def __init__(self, desk: Desk, settings: Settings) -> None:
        self.desk = desk
        self.settings = settings
        self.hub = Hub(lambda: desk.store, settings.stream_ring)
        self.walls = Walls()
        self.requests = Buckets(settings.rate, settings.burst)
        self.strangers = Buckets(settings.strangers_rate, settings.strangers_burst)
        self.waits = Seats(settings.waits, settings.waits_each, "requests that wait")
        self.streams = Seats(settings.streams, settings.streams_each, "event streams")
        self.turns = Turns(settings.turns_each, "large requests in line")
        self.gauge = Gauge()
        self.stopping = asyncio.Event()
        self.verifying = Verifying(self.stopping.is_set)
        self._threads = CapacityLimiter(settings.threads)
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def store(self) -> Store:
        """The database behind the desk."""
        return self.desk.store

    async def work(self, unit: Callable[[], T]) -> T:
        """Do one unit of work with the database on a thread, so that nobody else waits for it."""
        return await to_thread.run_sync(unit, limiter=self._threads)

    @asynccontextmanager
    async def turn(self, request: Request, credential: str) -> AsyncIterator[None]:
        """Do what takes long for one request of a credential at a time.

        A request that has its turn already goes on.

        Raises:
            Problem: too many of this credential stand in line (429).
        """
        if getattr(request.state, _TURN, False):
            yield
            return
        async with self.turns.taking(credential):
            setattr(request.state, _TURN, True)
            yield

    def count_stranger(self, connection: HTTPConnection) -> None:
        """Count a request of somebody who has no credential that counts.

        Raises:
            Problem: there were too many from there (429).
        """
        self.strangers.take(place_of(connection.client.host if connection.client else ""))

    def start(self) -> None:
        """Begin, on the event loop that serves."""
        self._loop = asyncio.get_running_loop()
        self.stopping.clear()
        self.hub.start()

    def stop(self) -> None:
        """Let those who wait and those who follow go, from any thread. Requests are still answered."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stopped)

    def end(self) -> None:
        """Let go of what was started, when nobody is served any more."""
        self.stopping.set()
        self.hub.stop()

    def _stopped(self) -> None:
        self.stopping.set()
        self.hub.ring()


def service_of(connection: HTTPConnection) -> Service:
    """Return the service that a request came to."""
    found: Service = connection.app.state.service
    return found
