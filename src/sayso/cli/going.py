"""Carrying a run on right here, in the process of a command."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click

from sayso.cli.printing import say
from sayso.desk import Desk
from sayso.runs.handle import Run

_LOOK_EVERY = 1.0


def carried_on(desk: Desk, run_id: str) -> Run:
    """Carry a run on until it waits for people or is over; or wait while another worker does."""
    heard = threading.Event()
    run = desk.get_run(run_id)
    with desk.store.bell.listening(heard.set):
        while True:
            heard.clear()  # before looking, or what comes in between would be missed
            desk.sweep()
            if run.status not in ("ready", "running"):
                return run
            if desk.crew.take(run_id) is None:
                heard.wait(_LOOK_EVERY)


@contextmanager
def leaving(desk: Desk, run_id: str) -> Iterator[None]:
    """Let Ctrl-C leave a run, and say that it is only left."""
    try:
        yield
    except KeyboardInterrupt:
        status = desk.get_run(run_id).status
        say(f"\nLeft: {run_id} is {status}, and any worker goes on with it.", "yellow", err=True)
        click.get_current_context().exit(130)
