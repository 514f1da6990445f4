"""Carrying one claimed run on: replaying it, going on from there, and letting go of it."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable
from typing import Any

from sayso.asks.standing import stamped
from sayso.errors import BadValue, Diverged
from sayso.model.ask import Ask
from sayso.model.lifecycle import RunStatus
from sayso.model.text import one_line
from sayso.runs.journal import Journal
from sayso.runs.lanes import inside
from sayso.runs.running import Leader, Running, join_laters
from sayso.runs.stops import Ended, Fenced, Paused, Released, Stop
from sayso.runs.work import Came
from sayso.runs.workflow import Workflow

_log = logging.getLogger("sayso.runs")


def carry_on(
    workflow: Workflow,
    journal: Journal,
    leader: Leader,
    *,
    opened: Callable[[Ask], object] = lambda _: None,
) -> RunStatus | None:
    """Go on with a run until it waits for people or is over, and let go of it.

    Returns how it was left; `None` if somebody else has it now.
    """
    try:
        while True:
            run = Running(journal, leader, awaits=workflow.awaits)
            came = _called(workflow, run)
            status = _judged(workflow, run, came)
            if status is not None:
                break
            journal.refresh()  # a decision came while it was about to wait: go on with it
    except Fenced as stop:
        _log.warning("%s", stop)
        return None
    finally:
        for ask in journal.opened:
            opened(ask)
        journal.opened.clear()
    if isinstance(came.error, KeyboardInterrupt | SystemExit):
        raise came.error
    return status


def _called(workflow: Workflow, run: Running) -> Came:
    """Call the function. What it returns or raises counts only if nothing has stopped the run."""
    try:
        args, kwargs = workflow.thaw(run.journal.started["input"])
        if workflow.awaits:
            value = asyncio.run(_awaited(workflow, run, args, kwargs))
        else:
            with inside(run.root):
                value = workflow.fn(run, *args, **kwargs)
        if run.stop is None and run.fault is None and not run.waits:
            join_laters(run)
    except BaseException as error:  # noqa: BLE001 - judged below
        return Came(error=error)
    return Came(value)


async def _awaited(
    workflow: Workflow, run: Running, args: list[Any], kwargs: dict[str, Any]
) -> Any:  # noqa: ANN401 - whatever it returns
    with inside(run.root):
        return await workflow.fn(run, *args, **kwargs)


def _judged(workflow: Workflow, run: Running, came: Came) -> RunStatus | None:
    """Write down how the run is left. `None` if it is not: there is more to do at once."""
    journal = run.journal
    stop = run.stop or (came.error if isinstance(came.error, Stop) else None)
    if journal.lost or isinstance(stop, Fenced):
        raise journal.fenced()
    if isinstance(stop, Ended):
        return _cancelled(journal, stop.ask)
    if isinstance(stop, Released) or isinstance(came.error, KeyboardInterrupt | SystemExit):
        journal.leave("ready")
        return "ready"
    fault = run.fault or _unmet(run, came)
    if fault is not None:
        return _ended(journal, "parked", reason=one_line(str(fault), 1000))
    if run.waits or isinstance(stop, Paused):
        waits = tuple(run.waits)
        return "waiting" if journal.leave("waiting", waits=waits, wake=journal.wake) else None
    output, error = _storable(workflow, came)
    return _ended(journal, "done", output=output) if error is None else _failed(run, error)


def _storable(workflow: Workflow, came: Came) -> tuple[Any, BaseException | None]:
    if came.error is not None:
        return None, came.error
    try:
        return workflow.kept(came.value), None
    except BadValue as error:
        return None, error


def _unmet(run: Running, came: Came) -> Exception | None:
    """Return what the journal has and the workflow no longer came by."""
    if came.error is not None and not isinstance(came.error, Paused):
        return None
    journal = run.journal
    for key in (*journal.entries, *journal.asks):
        if key in run.met or "?" in key:
            continue
        entry, ask = journal.entries.get(key), journal.asks.get(key)
        was = (
            f"{entry.verb} {entry.name!r}" if entry else f"{ask.kind} {ask.label!r}" if ask else ""
        )
        return Diverged(key, f"it was {was}, and the workflow no longer comes by it.")
    return None


def _ended(journal: Journal, status: RunStatus, **said: Any) -> RunStatus:  # noqa: ANN401 - JSON
    journal.note(f"run.{status}", stamped(journal.origin, **said))
    journal.leave(status)
    return status


def _failed(run: Running, error: BaseException) -> RunStatus:
    """End the run with an error, and note which step a retry has to forget."""
    known = run.last_failure
    forgets = [known[0]] if known is not None and known[1] is error else []
    trace = "".join(traceback.format_exception(error))[-4000:]
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    _log.warning("%s failed: %s", run.id, text)
    return _ended(run.journal, "failed", error=one_line(text, 1000), trace=trace, forgets=forgets)


def _cancelled(journal: Journal, ask: Ask) -> RunStatus:
    decision = ask.decision
    who = decision.by.id if decision is not None else "somebody"
    note = decision.note if decision is not None else None
    reason = f"{who} rejected {ask.id}" + (f": {note}" if note else "")
    return _ended(journal, "cancelled", reason=one_line(reason, 1000), ask=ask.id)


def park(journal: Journal, reason: str) -> RunStatus:
    """Give a run up until a person looks at it."""
    return _ended(journal, "parked", reason=one_line(reason, 1000))
