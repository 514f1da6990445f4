"""Runs at a server: started by name, looked at, cancelled, retried. Its workers carry them on."""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import Any

from sayso.asks.waiting import until_when
from sayso.errors import (
    BadValue,
    RunCancelled,
    RunFailed,
    RunParked,
    StillRunning,
    UnknownRun,
)
from sayso.model.digest import frozen
from sayso.model.event import Event
from sayso.model.lifecycle import RunStatus
from sayso.model.wire import Wire, read_ask, read_event
from sayso.remote.line import Line
from sayso.runs.handle import OVER, RunState

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_LOOK = 1.0  # seconds between two looks at a run that goes on


class RemoteRun:
    """One run at a server. Everything is read afresh when it is asked for."""

    def __init__(self, line: Line, run_id: str) -> None:
        if not isinstance(run_id, str) or not _ID.fullmatch(run_id):
            raise UnknownRun(run_id)
        self.id = run_id
        self._line = line

    def __repr__(self) -> str:
        """Show which run it is."""
        return f"<Run {self.id}>"

    def _look(self) -> Wire:
        found: Wire = self._line.get(f"/runs/{self.id}")
        return found

    @property
    def status(self) -> RunStatus:
        """`ready`, `running`, `waiting`, `parked`, `done`, `failed` or `cancelled`."""
        found: RunStatus = self._look()["status"]
        return found

    @property
    def workflow(self) -> str:
        """The name of its workflow."""
        return str(self._look()["workflow"])

    @property
    def thread(self) -> str | None:
        """The thread it belongs to."""
        found: str | None = self._look()["thread"]
        return found

    @property
    def team(self) -> str | None:
        """The team it belongs to, with all that it asks."""
        found: str | None = self._look()["team"]
        return found

    @property
    def started_at(self) -> datetime:
        """When it was started."""
        return datetime.fromisoformat(self._look()["started_at"])

    @property
    def state(self) -> RunState:
        """How it stands: what waits for people, and what comes next."""
        return self._line.read(_state, self._look())

    @property
    def output(self) -> Any:  # noqa: ANN401 - what the workflow returned
        """What it returned, as JSON has it; `None` before it is done."""
        return self._look()["output"]

    @property
    def error(self) -> str | None:
        """Why it failed, was parked or was cancelled; `None` if it was not."""
        return self.state.error

    @property
    def events(self) -> list[Event]:
        """Its own events; those of its asks are with the asks."""
        data = self._line.get(f"/runs/{self.id}/events")
        return self._line.read(lambda said: [read_event(one) for one in said["events"]], data)

    def result(self, timeout: float | None = None) -> Any:  # noqa: ANN401 - what it returned
        """Block until the run is over, and return its output as JSON has it.

        Raises:
            StillRunning: `timeout` seconds passed.
            RunFailed, RunCancelled: it ended otherwise.
            RunParked: it cannot go on without a person.
        """
        until = until_when(timeout)
        while True:
            found = self._look()
            state = self._line.read(_state, found)
            if state.status in (*OVER, "parked"):
                return self._ended(state, found)
            left = _LOOK if until is None else until - time.monotonic()
            if left <= 0:
                raise StillRunning(self.id, state.status, ": " + "; ".join(state.next) + ".")
            time.sleep(min(left, _LOOK))

    def _ended(self, state: RunState, found: Wire) -> Any:  # noqa: ANN401
        error = state.error or "no reason is recorded."
        if state.status == "done":
            return found["output"]
        if state.status == "failed":
            raise RunFailed(self.id, error)
        if state.status == "cancelled":
            raise RunCancelled(self.id, error)
        raise RunParked(self.id, error)


class RemoteRuns:
    """The part of a desk behind HTTP that has to do with runs."""

    _line: Line

    def start(
        self,
        workflow: str,
        *args: Any,  # noqa: ANN401 - as the workflow takes them
        thread: str | None = None,
        fresh: bool = False,
        team: str | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> RemoteRun:
        """Start a run of a workflow that the server has, by its name.

        If the connection breaks, it is not sent again, because it may have been started:
        look at `runs()`.

        Raises:
            BadValue: the server has no such workflow, or an argument cannot be stored.
            ThreadBusy: another run of the thread is not over.
        """
        if not isinstance(workflow, str):
            raise BadValue("Behind HTTP a workflow is started by its name, such as 'settle'.")
        if args and kwargs:
            raise BadValue("Give a workflow its input by name or in order, not both.")
        given = {"thread": thread, "team": team}
        body = {name: value for name, value in given.items() if value is not None}
        what = frozen(list(args) if args else kwargs, what="input")
        sent = {"workflow": workflow, "input": what, "fresh": fresh, **body}
        return RemoteRun(self._line, self._line.post_once("/runs", sent)["id"])

    def get_run(self, run_id: str) -> RemoteRun:
        """Return a run.

        Raises:
            UnknownRun: there is none of this id.
        """
        run = RemoteRun(self._line, run_id)
        _ = run.status
        return run

    def runs(
        self,
        *,
        status: RunStatus | None = None,
        workflow: str | None = None,
        thread: str | None = None,
        limit: int = 50,
        before: RemoteRun | None = None,
    ) -> list[RemoteRun]:
        """Return runs, the newest first; `before` the last one of the page before."""
        data = self._line.get(
            "/runs",
            status=status,
            workflow=workflow,
            thread=thread,
            limit=limit,
            after=None if before is None else before.id,
        )
        return [RemoteRun(self._line, row["id"]) for row in data["runs"]]

    def cancel(self, run: RemoteRun | str, note: str | None = None) -> RemoteRun:
        """End a run before its next effect, and take its open asks back.

        Raises:
            RunOver: it has ended already.
        """
        return self._steered(run, "cancel", {} if note is None else {"note": note})

    def retry(self, run: RemoteRun | str) -> RemoteRun:
        """Let a parked or failed run go on from where it stood.

        Raises:
            RunOver: it is neither.
        """
        return self._steered(run, "retry", {})

    def _steered(self, run: RemoteRun | str, what: str, body: Wire) -> RemoteRun:
        found = run if isinstance(run, RemoteRun) else RemoteRun(self._line, run)
        self._line.post_once(f"/runs/{found.id}/{what}", body)
        return found


def _state(data: Wire) -> RunState:
    return RunState(
        data["status"],
        tuple(read_ask(ask) for ask in data["pending"]),
        tuple(data["next"]),
        data["doing"],
        data["progress"],
        data["steps"],
        data["error"],
    )
