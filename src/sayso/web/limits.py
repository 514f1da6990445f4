"""How much the service takes on: bodies, requests a second, those who wait and those who follow.

All of it is counted in this process and in memory: a limit protects the process that has it.
Time is monotonic; the clock of the desk has nothing to do with it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from math import ceil

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sayso.web.faces import face
from sayso.web.problems import Problem, answer
from sayso.web.settings import Settings

_KEYS = 10_000  # buckets in memory; whoever has been silent for longest is forgotten
_SMALL = 16 * 1024  # the longest password fits, also if each character is written as an escape
_CLOSE = {"Connection": "close"}
_LINGER_SECONDS, _LINGER_BYTES = 2.0, 64 * 1024 * 1024


class Bodies:
    """Refuses a body that is too large, or too slow, without reading it all.

    `small` are the paths at which strangers send bodies: these have little room.
    """

    def __init__(self, app: ASGIApp, settings: Settings, small: Collection[str] = ()) -> None:
        self._app = app
        self._small = small
        self._bytes = settings.body_bytes
        self._seconds = settings.body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with a body that is counted while it is read."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = min(_SMALL, self._bytes) if scope["path"] in self._small else self._bytes
        if _declared(scope) > most:
            refusal = face(Request(scope), answer(_too_large(most)))
            await refusal(scope, receive, _lingering(receive, send))
            return
        await self._app(scope, self._counted(receive, most), _lingering(receive, send))

    def _counted(self, receive: Receive, most: int) -> Receive:
        taken, until, whole = 0, 0.0, False

        async def counted() -> Message:
            nonlocal taken, until, whole
            if whole:  # what comes now says only that the client has gone
                return await receive()
            until = until or asyncio.get_running_loop().time() + self._seconds
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                words = f"The body did not arrive within {self._seconds:g} s. Send it again."
                raise Problem(408, "slow-body", words, headers=_CLOSE) from None
            taken += len(message.get("body", b""))
            if taken > most:
                raise _too_large(most)
            whole = not message.get("more_body", False)
            return message

        return counted


def _too_large(most: int) -> Problem:
    words = f"A body may have {most:,} bytes here. Nothing was done."
    return Problem(413, "too-large", words, headers=_CLOSE)


def _lingering(receive: Receive, send: Send) -> Send:
    """Return a `send` that, after a refusal, still takes some of what is on its way.

    To close at once would cut the client off before it has read why.
    """
    refused = False

    async def lingering(message: Message) -> None:
        nonlocal refused
        refused = refused or message.get("status") == 413
        last = message["type"] == "http.response.body" and not message.get("more_body", False)
        if refused and last:
            await send({**message, "more_body": True})
            await _discarded(receive)
            message = {"type": "http.response.body", "body": b""}
        await send(message)

    return lingering


async def _discarded(receive: Receive) -> None:
    """Take what still comes, keep nothing of it, and not for ever."""
    left = _LINGER_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_SECONDS):
            while left > 0:
                message = await receive()
                if not message.get("more_body", False):  # whole, or the client has gone
                    return
                left -= len(message["body"])


def _declared(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0


class Buckets:
    """Tokens by key, refilled steadily: a burst at once, a rate in the long run."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> None:
        """Take one token.

        Raises:
            Problem: there is none left (429), and when there will be.
        """
        now = time.monotonic()
        left, at = self._left.get(key, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        if left < 1:
            wait = max(1, ceil((1 - left) / self._rate))
            words = f"Too many requests. Try again in {wait} s."
            raise Problem(429, "too-many-requests", words, headers={"Retry-After": str(wait)})
        self._left.pop(key, None)  # whoever came last stands last
        self._left[key] = (left - 1, now)
        if len(self._left) > _KEYS:
            del self._left[next(iter(self._left))]


class Seats:
    """How many may stay for long at the same time: in all, and with one credential."""

    def __init__(self, most: int, each: int, what: str) -> None:
        self._most = most
        self._each = each
        self._what = what
        self._by: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """How many there are now."""
        return self._by.total()

    def of(self, key: str) -> int:
        """Return how many there are with one credential."""
        return self._by[key]

    @contextmanager
    def taking(self, key: str) -> Iterator[None]:
        """Hold a seat while the block runs.

        Raises:
            Problem: this credential has too many (429), or all of them together do (503).
        """
        if self._by[key] >= self._each:
            words = f"This credential has {self._each} {self._what} already. End one of them."
            raise Problem(429, "too-many-requests", words, headers={"Retry-After": "5"})
        if self.taken >= self._most:
            words = f"The server has {self._most} {self._what} already. Try again later."
            raise Problem(503, "server-busy", words, headers={"Retry-After": "10"})
        self._by[key] += 1
        try:
            yield
        finally:
            self._by[key] -= 1
            if not self._by[key]:
                del self._by[key]


class Turns:
    """One at a time with each credential; some more of it stand in line."""

    def __init__(self, each: int, what: str) -> None:
        self._line = Seats(sys.maxsize, each, what)
        self._locks: dict[str, asyncio.Lock] = {}

    @property
    def taken(self) -> int:
        """How many have their turn or wait for it."""
        return self._line.taken

    @asynccontextmanager
    async def taking(self, key: str) -> AsyncIterator[None]:
        """Wait for this credential's turn, and hold it while the block runs.

        Raises:
            Problem: too many of this credential stand in line (429).
        """
        with self._line.taking(key):
            lock = self._locks.setdefault(key, asyncio.Lock())
            try:
                async with lock:
                    yield
            finally:
                if self._line.of(key) == 1:  # nobody else has or wants it
                    del self._locks[key]
