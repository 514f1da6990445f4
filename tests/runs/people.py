"""What tests of runs do over and over: start one, find what it asks, let a worker go on."""

from __future__ import annotations

from inspect import isfunction
from typing import Any

from sayso import Ask, Desk, Run

RAN: list[Any] = []  # what tools and steps really did


def pay(amount: int) -> str:
    RAN.append(amount)
    return f"paid {amount}"


def note(text: str) -> str:
    RAN.append(text)
    return text


def begun(desk: Desk, flow: Any, *args: Any, **kwargs: Any) -> Run:
    """Start a run and carry it on until it waits or is over.

    A function that is no workflow of this desk yet becomes one; a lambda is called `flow`.
    """
    if isfunction(flow) and all(one.fn is not flow for one in desk.flows.values()):
        desk.workflow(name="flow" if flow.__name__ == "<lambda>" else flow.__name__)(flow)
    return desk.run(flow, *args, wait=False, **kwargs)


def ask_of(run: Run, what: str | None = None) -> Ask:
    """Return the open ask of this title or tool; the only open one, if nothing is named."""
    found = [ask for ask in run.asks if ask.open and what in (None, ask.title, ask.tool)]
    assert len(found) == 1, (what, [(ask.title, ask.status) for ask in run.asks], run.error)
    return found[0]


def asked(run: Run, what: str) -> Ask:
    """Return the ask of this title or tool, open or not."""
    (found,) = [ask for ask in run.asks if what in (ask.title, ask.tool) and ask.kind != "doubt"]
    return found


def carried_on(desk: Desk, run: Run) -> Run:
    """Let this desk do all there is to do now."""
    desk.work(until="idle")
    return run


def answered(desk: Desk, run: Run, answer: object, what: str | None = None) -> Run:
    """Respond to an open ask of the run, and let it go on."""
    desk.respond(ask_of(run, what), answer)
    return carried_on(desk, run)


def approved(desk: Desk, run: Run, what: str | None = None) -> Run:
    """Approve an open ask of the run, and let it go on."""
    desk.approve(ask_of(run, what))
    return carried_on(desk, run)


def rejected(
    desk: Desk, run: Run, note: str | None = None, what: str | None = None, **more: Any
) -> Run:
    """Reject an open ask of the run, and let it go on."""
    desk.reject(ask_of(run, what), note, **more)
    return carried_on(desk, run)


def edited(desk: Desk, run: Run, changes: Any, what: str | None = None, **more: Any) -> Run:
    """Change and approve an open ask of the run, and let it go on."""
    desk.edit(ask_of(run, what), changes, **more)
    return carried_on(desk, run)


def titles(run: Run) -> list[str]:
    """Return what the run asked. Sorted: on a clock that stands still no ask is the first."""
    return sorted(ask.title for ask in run.asks)
