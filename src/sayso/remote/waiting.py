"""Waiting for a decision at a server: long polls, one after the other, through its restarts.

How to go on is written once, as a generator that yields what to do next; one driver blocks,
the other awaits.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import httpx2

from sayso.asks.waiting import until_when
from sayso.errors import StillOpen
from sayso.model.ask import Ask
from sayso.model.wire import read_ask
from sayso.remote.line import PAUSES, PREFIX, Away, Line, patience

_log = logging.getLogger("sayso.remote")
_POLL = 50.0  # seconds that one request waits: less than what stands in between allows
_HASTY = 1.0


@dataclass(frozen=True, slots=True)
class _Look:
    """Ask the server, which may take so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class _Pause:
    """Do nothing for so many seconds."""

    seconds: float


_Looks = Generator[_Look | _Pause, Any, Ask]


def wait(line: Line, place: str, timeout: float | None) -> Ask:
    """Block until the ask is closed, and return it.

    Raises:
        StillOpen: `timeout` seconds passed; the ask stays open.
        StoreUnavailable: the server cannot be reached, and never could.
    """
    looks = _looks(line, timeout)
    step = next(looks)
    while True:
        try:
            try:
                value = _blocked(line, place, step)
            except Away as away:
                step = looks.throw(away)
            else:
                step = looks.send(value)
        except StopIteration as end:
            ask: Ask = end.value
            return ask


def _blocked(line: Line, place: str, step: _Look | _Pause) -> Any:  # noqa: ANN401 - JSON
    if isinstance(step, _Pause):
        return time.sleep(step.seconds)
    return line.get_once(place, wait=step.seconds)


async def wait_async(line: Line, place: str, timeout: float | None) -> Ask:  # noqa: ASYNC109 - as `wait`
    """Wait as `wait` does, without holding a thread."""
    looks = _looks(line, timeout)
    step = next(looks)
    async with httpx2.AsyncClient(**line.settings()) as client:
        while True:
            try:
                try:
                    value = await _awaited(line, client, place, step)
                except Away as away:
                    step = looks.throw(away)
                else:
                    step = looks.send(value)
            except StopIteration as end:
                ask: Ask = end.value
                return ask


async def _awaited(line: Line, client: httpx2.AsyncClient, place: str, step: _Look | _Pause) -> Any:  # noqa: ANN401
    import asyncio

    if isinstance(step, _Pause):
        return await asyncio.sleep(step.seconds)
    with line.said():
        response = await client.get(
            f"{PREFIX}{place}", params={"wait": step.seconds}, timeout=patience(step.seconds)
        )
    return line.answer(response)


def _looks(line: Line, timeout: float | None) -> _Looks:
    """Look at the ask again and again, and return it once it is closed."""
    until = until_when(timeout)
    ask: Ask | None = None
    tries = 0
    while True:
        began = time.monotonic()
        left = _POLL if until is None else min(until - began, _POLL)
        try:
            ask = line.read(read_ask, (yield _Look(max(left, 0.0))))
        except Away as away:
            tries += 1
            over = until is not None and time.monotonic() > until
            # A server that was there may come back; a wait of days outlives its restarts.
            if over or (ask is None and tries > len(PAUSES)):
                raise away.error from away.__cause__
            if tries == 1:
                _log.warning("%s Waiting on.", away)
            yield _Pause(away.pause(tries))
            continue
        tries = 0
        if ask.closed:
            return ask
        if until is not None and time.monotonic() >= until:
            raise StillOpen(ask, timeout or 0)
        if time.monotonic() - began < min(left, _HASTY):  # it did not wait: it is stopping, say
            yield _Pause(random.uniform(0.2, 0.5))  # noqa: S311 - no secret
