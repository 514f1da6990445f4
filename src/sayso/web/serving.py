"""The service as a process: it listens, carries runs on, keeps deadlines, and stops when told to.

A stop is asked for by a signal. From then on nobody is let in; what is being answered is
answered, long-polls return, event streams end, runs are let go at their next verb. Whoever is
not done after a few seconds is cut off: the journal knows how far it came.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Protocol

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from sayso.channels.courier import Courier
from sayso.desk import Desk
from sayso.errors import SaysoError
from sayso.web.doors import Door

_log = logging.getLogger("sayso.web")
GRACE = 5  # seconds for requests in flight, and for runs
_HEADERS_WITHIN = 10.0  # seconds for a client to say what it wants
_SWEEP_EVERY = 1.0
_ONE_WISH = 0.5  # some supervisors send a signal twice and mean it once
_ENDING = b"\nEnding: nobody is let in any more. Once more ends it at once.\n"


class _Impatient(H11Protocol):
    """HTTP as uvicorn speaks it, which hangs up on whoever takes for ever to say what they want."""

    _hanging: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Give a new client its time."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read on; once the headers are there, the time no longer counts."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._hanging is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._hanging = self.loop.call_later(_HEADERS_WITHIN, self._hang_up)

    def _stop_waiting(self) -> None:
        if self._hanging is not None:
            self._hanging.cancel()
            self._hanging = None

    def _hang_up(self) -> None:
        self._hanging = None
        # What is being answered has been understood; its connection is not ours to cut.
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


class Server(uvicorn.Server):
    """The HTTP server; a first signal lets it end, a second one is the end."""

    def __init__(
        self, config: uvicorn.Config, *, ready: Callable[[], None], halt: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._halt = halt
        self._asked_at = 0.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve. Signals are heard already, so whoever is told may send one."""
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end, or end."""
        del frame
        if not self.should_exit:
            self._asked_at = time.monotonic()
            self.should_exit = True
            os.write(2, _ENDING)  # not `print`: a signal may come in the middle of one
            self._halt()
        elif time.monotonic() - self._asked_at > _ONE_WISH:
            signal.signal(sig, signal.SIG_DFL)
            os.kill(os.getpid(), sig)


class Sweeper:
    """Keeps deadlines where no worker does."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sweep, name="sayso-sweeper", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, once what it does is done."""
        self._over.set()
        self._thread.join(timeout=GRACE)

    def _sweep(self) -> None:
        while not self._over.wait(_SWEEP_EVERY):
            try:
                self._desk.sweep()
            except SaysoError as error:
                _log.warning("Sweeping failed; trying again: %s", error)


def serve(
    app: ASGIApp,
    desk: Desk,
    door: Door,
    sockets: Sequence[socket.socket],
    *,
    workers: int,
    ready: Callable[[], None],
    stopping: Callable[[], None],
) -> None:
    """Serve until a signal says to stop; then let go of everything.

    Args:
        app: What answers.
        desk: Whose runs are carried on and whose deadlines are kept.
        door: How what is said is protected.
        sockets: Where it listens; they are closed at the end.
        workers: How many runs at once.
        ready: Called once it serves.
        stopping: Called from the signal: ends long-polls and event streams.
    """
    helpers = _helpers(desk, workers)

    def halt() -> None:
        desk.crew.halt()
        stopping()

    server = Server(configured(app, door), ready=ready, halt=halt)
    for helper in helpers:
        helper.start()
    try:
        server.run(list(sockets))
    finally:
        _let_go([helper.stop for helper in helpers])
        desk.close()


class _Helper(Protocol):
    """What works beside the server, on threads of its own."""

    def start(self) -> None: ...
    def stop(self) -> None: ...


class _Workers:
    """Carry runs on, and keep deadlines while they are at it."""

    def __init__(self, desk: Desk, threads: int) -> None:
        self._desk = desk
        self._threads = threads

    def start(self) -> None:
        self._desk.crew.start(self._threads)

    def stop(self) -> None:
        self._desk.crew.stop(GRACE)


def _helpers(desk: Desk, workers: int) -> list[_Helper]:
    serves = bool(desk.flows) and workers > 0
    courier = Courier(lambda: desk.store)
    return [_Workers(desk, workers) if serves else Sweeper(desk), courier]


def _let_go(stops: Sequence[Callable[[], None]]) -> None:
    """Stop everything at the same time.

    Who takes too long ends with the process: the journal, leases and deliveries that are due
    know how far they came.
    """
    threads = [threading.Thread(target=stop, daemon=True) for stop in stops]
    for thread in threads:
        thread.start()
    until = time.monotonic() + GRACE
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))


def configured(app: ASGIApp, door: Door) -> uvicorn.Config:
    """Return how uvicorn serves us."""
    tls: dict[str, Any] = {}
    if door.certificate:
        tls = {"ssl_certfile": door.certificate, "ssl_keyfile": door.key}
    return uvicorn.Config(
        app,
        http=_Impatient,
        ws="none",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        # A stranger may write these headers too: they count only if the proxy wrote them.
        proxy_headers=bool(door.proxies),
        forwarded_allow_ips=list(door.proxies),
        timeout_keep_alive=15,
        timeout_graceful_shutdown=GRACE,
        **tls,
    )
