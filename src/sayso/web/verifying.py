"""Verifying the journal while others work: one at a time, with how far it is and what it found."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from anyio import to_thread

from sayso.asks.books import unlike
from sayso.errors import SaysoError
from sayso.store.audit import Report, Seal, verify
from sayso.store.contract import Store
from sayso.web.limits import Seats

_log = logging.getLogger("sayso.web")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """One verification: who wanted it, how far it is, and in the end what it found."""

    by: str
    begun_at: datetime
    total: int
    read: int = 0
    ended_at: datetime | None = None
    report: Report | None = None
    failed: str | None = None

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.ended_at is None

    @property
    def state(self) -> str:
        """How it stands, in a word."""
        if self.running:
            return "running"
        return "failed" if self.report is None else "done"


class Verifying:
    """The one verification of this server that goes on, or the last one there was."""

    def __init__(self, stopping: Callable[[], bool]) -> None:
        self._stopping = stopping
        self._seats = Seats(1, 1, "verifications")
        self._task: asyncio.Task[None] | None = None
        self.last: Verification | None = None

    def taking(self, credential: str) -> AbstractContextManager[None]:
        """Hold the one seat, for a verification whose caller waits for it."""
        return self._seats.taking(credential)

    async def start(self, store: Store, *, by: str, credential: str, seal: Seal | None) -> None:
        """Begin to verify in the background, on the event loop; if one goes on already, that does.

        Raises:
            Problem: somebody waits for one at this moment.
        """
        if self.last is not None and self.last.running:
            return
        seat = self._seats.taking(credential)
        seat.__enter__()  # left by the task
        self.last = Verification(by=by, begun_at=store.now(), total=0)
        self._task = asyncio.create_task(self._run(store, seal, seat))

    async def _run(
        self, store: Store, seal: Seal | None, seat: AbstractContextManager[None]
    ) -> None:
        try:
            found = await to_thread.run_sync(lambda: self._verified(store, seal))
            self._end(store, report=found, read=found.events)
        except _Stopped:
            self._end(store, failed="The server was stopped before the end.")
        except SaysoError as error:
            self._end(store, failed=str(error))
        except Exception:
            _log.exception("Verifying failed.")
            self._end(store, failed="It failed for a reason that the server's log names.")
            raise
        finally:
            seat.__exit__(None, None, None)

    def _verified(self, store: Store, seal: Seal | None) -> Report:
        def told(read: int, total: int) -> None:
            if self._stopping():
                raise _Stopped
            if self.last is not None:
                self.last = replace(self.last, read=read, total=max(read, total))

        return verify(store, seal=seal, progress=told, unlike=unlike)

    def _end(self, store: Store, **said: Any) -> None:  # noqa: ANN401 - fields of a verification
        if self.last is not None:
            self.last = replace(self.last, ended_at=store.now(), **said)


class _Stopped(Exception):
    """The server stops, and nobody will read what is found."""
