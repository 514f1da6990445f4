"""A run as its starter and everybody else sees it: read from the database at every look."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sayso.errors import (
    Misuse,
    RunCancelled,
    RunFailed,
    RunParked,
    StillRunning,
)
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.lifecycle import RunStatus
from sayso.runs.journal import asks_of
from sayso.runs.memory import Memory, remember
from sayso.runs.steering import known
from sayso.runs.usage import RunUsage, used
from sayso.store.bell import PATIENCE
from sayso.store.contract import RunRow, Store
from sayso.store.fleet import ALIVE

if TYPE_CHECKING:
    from sayso.runs.streams import Stream

OVER: tuple[RunStatus, ...] = ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class RunState:
    """How a run stands at one moment: what waits for people, and what comes next."""

    status: RunStatus
    pending: tuple[Ask, ...]
    next: tuple[str, ...]
    doing: str | None
    progress: float | None
    steps: int
    error: str | None = None


class Run:
    """One execution of a workflow. Everything is read afresh when it is asked for."""

    def __init__(
        self,
        store: Callable[[], Store],
        run_id: str,
        *,
        decode: Callable[[str, Any], Any],
        streaming: Callable[[Run, Mapping[str, Any]], Stream] | None = None,
    ) -> None:
        self.id = run_id
        self._find = store
        self._decode = decode
        self._streaming = streaming

    def __repr__(self) -> str:
        """Show which run it is."""
        return f"<Run {self.id}>"

    @property
    def _store(self) -> Store:
        return self._find()

    @property
    def row(self) -> RunRow:
        """Its row in the list of runs."""
        return known(self._store, self.id)

    @property
    def status(self) -> RunStatus:
        """`ready`, `running`, `waiting`, `parked`, `done`, `failed` or `cancelled`."""
        return self.row.status

    @property
    def workflow(self) -> str:
        """The name of its workflow."""
        return self.row.workflow

    @property
    def thread(self) -> str | None:
        """The thread it belongs to."""
        return self.row.thread

    @property
    def team(self) -> str | None:
        """The team it belongs to, with all that it asks."""
        return self.row.team

    @property
    def started_at(self) -> datetime:
        """When it was started."""
        return self.row.started_at

    @property
    def events(self) -> list[Event]:
        """Its own events; those of its asks are with the asks."""
        return self._store.stream(self.id)

    @property
    def asks(self) -> list[Ask]:
        """Everything it asked people, in order."""
        return asks_of(self.id, self._store.run_asks(self.id))

    @property
    def output(self) -> Any:  # noqa: ANN401 - what the workflow returned
        """What it returned; `None` before it is done."""
        said = self._last("run.done")
        return None if said is None else self._decode(self.row.workflow, said.get("output"))

    @property
    def error(self) -> str | None:
        """Why it failed, was parked or was cancelled; `None` if it was not."""
        row = self.row
        if row.status not in ("failed", "parked", "cancelled"):
            return None
        said = self._last(f"run.{row.status}") or {}
        return said.get("error") or said.get("reason")

    def _last(self, kind: str) -> dict[str, Any] | None:
        for event in reversed(self.events):
            if event.kind == kind:
                return event.payload or {}
        return None

    @property
    def memory(self) -> Memory:
        """What it did, as typed steps."""
        return remember(self.events, self.asks)

    @property
    def usage(self) -> RunUsage:
        """What its models have used up so far: calls, tokens, dollars where the price is known."""
        return used(self.events)

    @property
    def state(self) -> RunState:
        """How it stands: what waits for people, and what comes next."""
        row = self.row
        pending = (
            tuple(ask for ask in self.asks if not ask.closed) if row.status not in OVER else ()
        )
        return RunState(
            row.status,
            pending,
            to_come(row, pending, self._store),
            row.doing,
            row.progress,
            self._store.head(self.id).seq,
            self.error,
        )

    def stream(self, **options: Any) -> Stream:  # noqa: ANN401 - in the words of the host
        """Return what its host streams from now on, until it waits for people or is over.

        Iterate over it, plainly or with `async for`. A run that is ready is carried on here meanwhile.
        Nothing of it is kept.

        Args:
            **options: What the host takes, such as LangGraph's `stream_mode` and `subgraphs`.

        Raises:
            Misuse: this process does not have its code.
        """
        if self._streaming is None:
            raise Misuse(f"{self.id} is looked at here, and not carried on, so nothing streams.")
        return self._streaming(self, options)

    def result(self, timeout: float | None = None) -> Any:  # noqa: ANN401 - what it returned
        """Block until the run is over, and return its output.

        Raises:
            StillRunning: `timeout` seconds passed.
            RunFailed, RunCancelled: it ended otherwise.
            RunParked: it cannot go on without a person.
        """
        row = self._ended(timeout)
        if row.status == "done":
            return self.output
        error = self.error or "no reason is recorded."
        if row.status == "failed":
            raise RunFailed(self.id, error)
        if row.status == "cancelled":
            raise RunCancelled(self.id, error)
        raise RunParked(self.id, error)

    def _ended(self, timeout: float | None) -> RunRow:
        until = None if timeout is None else time.monotonic() + timeout
        heard = threading.Event()
        with self._store.bell.listening(heard.set):
            while True:
                heard.clear()
                row = self.row
                if row.status in (*OVER, "parked"):
                    return row
                left = PATIENCE if until is None else until - time.monotonic()
                if left <= 0:
                    raise StillRunning(self.id, row.status, self._detail())
                heard.wait(min(left, PATIENCE))

    def _detail(self) -> str:
        return ": " + "; ".join(self.state.next) + "."


def served(store: Store, workflow: str) -> bool:
    """Whether a worker that has the code of this workflow was alive just now."""
    return any(workflow in worker.serves for worker in store.workers(ALIVE))


def unserved(row: RunRow) -> str:
    """Say that nobody will carry a run on, and how to change that."""
    start = worker_for(row.path)
    how = f"; start one: {start}" if start else f": {TYPED}"
    return f"No worker serves `{row.workflow}`{how}"


TYPED = 'it was typed at a prompt. Go on there: desk.work(until="idle")'


def worker_for(path: str) -> str | None:
    """Return the command that starts a worker for this code; `None` if it is in no file."""
    module = path.partition(":")[0]
    return None if module == "__main__" else f"sayso worker {module}"


def goes_on(row: RunRow) -> str:
    """Say what becomes of a run once one of its asks is decided."""
    if row.status == "done":  # perhaps since then: a worker was faster than these words
        return f"The run {row.id} is done."
    if row.status in ("failed", "cancelled", "parked"):
        return f"The run {row.id} is {row.status}; nothing goes on."
    if row.status == "waiting":
        others = f"{len(row.waits)} other decisions" if len(row.waits) > 1 else "another decision"
        return f"The run {row.id} waits for {others}."
    if row.status == "ready":
        return f"The run {row.id} can go on. Nobody has picked it up yet."
    return f"The run {row.id} goes on."


def to_come(row: RunRow, pending: Sequence[Ask], store: Store) -> tuple[str, ...]:
    """Say what comes next, in words."""
    if row.status == "waiting":
        waited = [ask for ask in pending if ask.id in row.waits] or list(pending)
        return tuple(f'{ask.id} "{ask.label}" waits for a decision' for ask in waited)
    if row.status == "parked":
        return (f"a person looks at it: sayso runs retry {row.id}, or cancel",)
    if row.status == "ready":
        code = served(store, row.workflow)
        return ("a worker carries it on" if code else unserved(row),)
    if row.status != "running":
        return ()
    if row.lapsed:
        return (f"{row.worker} fell silent; the next worker takes it over",)
    return (f"{row.worker} carries it on{f' ({row.doing})' if row.doing else ''}",)
