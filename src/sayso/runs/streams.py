"""The stream of a host while a run is carried on here: heard by one program, and kept nowhere.

The journal has what was decided and done. What streams is for those who watch: a turn that is gone
through again streams again.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from sayso.asks.waiting import check_may_block
from sayso.errors import Misuse, SaysoError
from sayso.model.lifecycle import RunStatus
from sayso.store.bell import PATIENCE

if TYPE_CHECKING:
    from sayso.store.bell import Bell
    from sayso.store.contract import RunRow

_ON: tuple[RunStatus, ...] = ("ready", "running")


@dataclass(frozen=True, slots=True)
class Listener:
    """A listener to a run: its options in the words of the host, and its queue."""

    options: Mapping[str, Any]
    put: Callable[[Any], object]

    def refuse(self, error: SaysoError) -> None:
        """Tell whoever listens why nothing comes. The run goes on: they must not stop it."""
        self.put(_Refused(error))


@dataclass(frozen=True, slots=True)
class _Refused:
    error: SaysoError


class Carrier(Protocol):
    """What carries runs on in this process."""

    @property
    def listeners(self) -> Listeners:
        """The listeners to runs."""
        ...

    @property
    def bell(self) -> Bell:
        """What rings when something changes."""
        ...

    def take(self, only: str | None = None) -> RunStatus | None:
        """Claim a run and carry it on; `None` if it cannot be claimed."""
        ...


@dataclass(slots=True)
class Listeners:
    """The listeners of this process, by run."""

    _found: dict[str, Listener] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, run_id: str) -> Listener | None:
        """Return who hears a run, if anybody does."""
        return self._found.get(run_id)

    def add(self, run_id: str, listener: Listener) -> None:
        """Let somebody hear a run.

        Raises:
            Misuse: somebody hears it already.
        """
        with self._lock:
            if run_id in self._found:
                raise Misuse(
                    f"{run_id} is streamed already in this process, and what it streams goes to one "
                    "place. Hand it on from there."
                )
            self._found[run_id] = listener

    def drop(self, run_id: str) -> None:
        """Let nobody hear it any more."""
        with self._lock:
            self._found.pop(run_id, None)


class Stream:
    """The stream of a run from now on, until it waits for people or is over.

    Iterate over it, plainly or with `async for`. A run that is ready is carried on here meanwhile.
    A listener that stops to iterate hears no more of it, and the run goes on.
    """

    def __init__(
        self, crew: Carrier, row: Callable[[], RunRow], options: Mapping[str, Any]
    ) -> None:
        self._crew = crew
        self._row = row
        self._options = options

    def __iter__(self) -> Iterator[Any]:
        """Yield what comes, and block until it does.

        Raises:
            Misuse: this thread runs an event loop; or the run is streamed already.
            BadValue: its host does not stream what was asked for.
        """
        check_may_block("Going through run.stream()", "Write: async for part in run.stream().")
        parts: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        run_id = self._begin(lambda part: parts.put((part,)), lambda: parts.put(()))
        try:
            while part := parts.get():
                yield _heard(*part)
        finally:
            self._crew.listeners.drop(run_id)

    async def __aiter__(self) -> AsyncIterator[Any]:
        """Yield what comes, and leave the event loop free meanwhile."""
        loop = asyncio.get_running_loop()
        parts: asyncio.Queue[tuple[Any, ...]] = asyncio.Queue()

        def put(*part: Any) -> None:  # noqa: ANN401 - of any host
            with suppress(RuntimeError):  # the loop of whoever listened may be closed
                loop.call_soon_threadsafe(parts.put_nowait, part)

        run_id = self._begin(put, put)
        try:
            while part := await parts.get():
                yield _heard(*part)
        finally:
            self._crew.listeners.drop(run_id)

    def _begin(self, put: Callable[[Any], object], end: Callable[[], object]) -> str:
        run_id = self._row().id
        self._crew.listeners.add(run_id, Listener(self._options, put))

        def carry() -> None:
            try:
                self._carry(run_id)
            finally:
                end()

        threading.Thread(target=carry, name=f"sayso-stream-{run_id}", daemon=True).start()
        return run_id

    def _carry(self, run_id: str) -> None:
        """Carry the run on, or wait while somebody else in this process does."""
        heard = threading.Event()
        with self._crew.bell.listening(heard.set):
            while True:
                heard.clear()
                if self._row().status not in _ON:
                    return
                if self._crew.take(run_id) is None:
                    heard.wait(PATIENCE / 5)


def _heard(part: Any) -> Any:  # noqa: ANN401 - of any host
    if isinstance(part, _Refused):
        raise part.error
    return part
