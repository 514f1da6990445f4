"""Carrying a run on right here, in the process of a command."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from sayso.asks.attending import attend
from sayso.cli.desks import desk_argument
from sayso.cli.pausing import pausing
from sayso.cli.printing import say
from sayso.cli.telling import Telling
from sayso.desk import Desk
from sayso.errors import UnknownRun
from sayso.model.text import one_line
from sayso.runs.handle import OVER, Run
from sayso.runs.journal import Journal
from sayso.runs.steering import new_row, said_at_start
from sayso.runs.worker import Shift
from sayso.runs.workflow import Workflow
from sayso.store.contract import RunRow

_LOOK_EVERY = 1.0
_SETTLED = (*OVER, "parked")


@dataclass(frozen=True, slots=True)
class New:
    """A run that is about to begin here. Nothing of it is written down yet."""

    flow: Workflow
    journal: Journal

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.journal.id


def new_run(
    desk: Desk, flow: Workflow, args: tuple[Any, ...], *, thread: str | None, fresh: bool
) -> New:
    """Return a run that nobody but this process can carry on until it lets go of it.

    Raises:
        BadValue: an argument cannot be stored.
        ThreadBusy: another run of the thread is not over.
    """
    team = desk.forms.team
    said = said_at_start(flow, args, {}, origin=desk.origin, thread=thread, fresh=fresh, team=team)
    row = new_row(desk.store, flow, thread, team)
    token = os.urandom(8).hex()
    here = row._replace(status="running", token=token, worker=desk.crew.name)
    return New(flow, desk.crew.journal(here, said))


def begun(desk: Desk, new: New, telling: Telling) -> Run:
    """Carry a new run on, until it waits for people or is over."""
    with pausing(telling) as shift, telling.working("starting"):
        desk.crew.carry_on(new.flow, new.journal, shift)
    run = desk.get_run(new.id)
    _check_left(run, shift)
    return run


def _check_left(run: Run, shift: Shift) -> None:
    """Go on with leaving, if Ctrl-C was pressed and there is something left.

    Raises:
        KeyboardInterrupt: so it is.
    """
    if shift.stopping() and run.status not in _SETTLED:
        raise KeyboardInterrupt


def carried_on(desk: Desk, run_id: str, telling: Telling) -> Run:
    """Carry a run on until it waits for people or is over; or wait while another worker does."""
    heard = threading.Event()
    run = desk.get_run(run_id)
    with desk.store.bell.listening(heard.set):
        while True:
            heard.clear()  # before looking, or what comes in between would be missed
            desk.sweep()
            row = run.row
            if row.status not in ("ready", "running"):
                return run
            free = row.status == "ready" or row.lapsed
            if not free or not _taken(desk, run, telling):
                with telling.working(_elsewhere(row)):
                    heard.wait(_LOOK_EVERY)


def _taken(desk: Desk, run: Run, telling: Telling) -> bool:
    telling.follow(run)
    with pausing(telling) as shift, telling.working():
        taken = desk.crew.take(run.id, shift) is not None
    _check_left(run, shift)
    return taken


def _elsewhere(row: RunRow) -> str:
    doing = f" ({one_line(row.doing, 60)})" if row.doing else ""
    return f"{one_line(row.worker or 'a worker', 60)} carries it on{doing}"


def attended(desk: Desk, run: Run, telling: Telling) -> Run:
    """Carry a run on until it is over, and ask for whatever it waits for.

    At this terminal, if there is one and nobody else is on the desk; otherwise a line says what
    waits, and whoever decides it does so elsewhere.
    """
    heard = threading.Event()
    told: set[str] = set()
    with desk.store.bell.listening(heard.set):
        while True:
            heard.clear()
            run = carried_on(desk, run.id, telling)
            if run.status in _SETTLED:
                return run
            if not _asked_here(desk, run, told):
                with telling.working("waiting for a decision"):
                    heard.wait(_LOOK_EVERY)


def _asked_here(desk: Desk, run: Run, told: set[str]) -> bool:
    """Put the first question at this terminal; without one, say once what waits."""
    roster = desk.store.roster()
    for ask in run.state.pending:
        if roster.solo and desk.console.interactive():
            attend(desk.store, ask, console=desk.console, origin=desk.origin, law=desk.law)
            return True
        if ask.id not in told:
            told.add(ask.id)
            desk.console.announce(ask, roster)
    return False


@contextmanager
def leaving(desk: Desk, run_id: str) -> Iterator[None]:
    """Let Ctrl-C leave a run, and say that it is only left."""
    try:
        yield
    except KeyboardInterrupt:
        for line in _left(desk, run_id):
            say(line, "yellow", err=True)
        click.get_current_context().exit(130)


def _left(desk: Desk, run_id: str) -> Iterator[str]:
    where = f" --desk {desk_argument()}" if desk_argument() else ""
    try:
        status = desk.get_run(run_id).status
    except UnknownRun:
        yield f"\nLeft before {run_id} was begun; nothing is written down."
        return
    yield f"\nLeft: {run_id} is {status}, and any worker goes on with it."
    yield f"Go on with it here: sayso runs resume {run_id}{where}"
