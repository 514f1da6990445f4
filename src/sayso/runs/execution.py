"""Carrying one claimed run on: replaying it, going on from there, and letting go of it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

from sayso.asks.standing import stamped
from sayso.asks.withdrawing import give_up
from sayso.errors import BadValue, Diverged, TooManyAsks
from sayso.model.ask import Ask
from sayso.model.lifecycle import RunStatus
from sayso.model.text import one_line
from sayso.runs.failures import behind, text_of, trace_of
from sayso.runs.journal import Journal, prefixes
from sayso.runs.lanes import inside
from sayso.runs.passages import Leader, Place
from sayso.runs.running import Running
from sayso.runs.steering import end
from sayso.runs.stops import Ended, Fenced, NotStarted, Outdated, Parked, Paused, Released, Stop
from sayso.runs.work import Came
from sayso.runs.workflow import Workflow

_log = logging.getLogger("sayso.runs")


def carry_on(
    workflow: Workflow,
    journal: Journal,
    leader: Leader,
    *,
    opened: Callable[[Ask], object] = lambda _: None,
    place: Place,
) -> RunStatus | None:
    """Go on with a run until it waits for people or is over, and let go of it.

    Returns how it was left; `None` if somebody else has it now.
    """
    try:
        while True:
            run = Running(journal, leader, awaits=workflow.awaits, place=place)
            came = _called(workflow, run)
            outdated = isinstance(run.stop, Outdated)
            status = None if outdated else _judged(workflow, run, came)
            if status is not None:
                break
            journal.refresh()  # a decision came, or another law, while it was about to wait: go on
    except Fenced as stop:
        _log.warning("%s", stop)
        return None
    except NotStarted as stop:
        raise stop.cause from None
    finally:
        for ask in journal.opened:
            opened(ask)
        journal.opened.clear()
    if isinstance(came.error, KeyboardInterrupt):
        raise came.error
    return status


def _called(workflow: Workflow, run: Running) -> Came:
    """Call the function. What it returns or raises counts only if nothing has stopped the run."""
    try:
        args, kwargs = workflow.thaw(run.journal.started["input"])
        if workflow.awaits:
            value = in_a_loop(_awaited(workflow, run, args, kwargs))
        else:
            with inside(run.root):
                try:
                    value = workflow.fn(run, *args, **kwargs)
                    if run.uncollected():
                        run.join()
                finally:
                    while run.verbs_in_flight():  # a thread of its own is in the middle of one
                        time.sleep(0.005)
    except BaseException as error:  # noqa: BLE001 - judged below
        return Came(error=error)
    return Came(value)


async def _awaited(
    workflow: Workflow, run: Running, args: list[Any], kwargs: dict[str, Any]
) -> Any:  # noqa: ANN401 - whatever it returns
    import asyncio

    with inside(run.root):
        try:
            value = await workflow.fn(run, *args, **kwargs)
            if run.uncollected():
                await run.join()
        finally:
            # A task of its own may be in the middle of one.
            while run.verbs_in_flight():  # noqa: ASYNC110 - rare, and over at once
                await asyncio.sleep(0.005)
        run.check_awaited()
        return value


def in_a_loop(coroutine: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - what it returns
    """Run it in an event loop of its own; on another thread, if this one has a loop already."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    came: list[Came] = []

    def run() -> None:
        try:
            came.append(Came(asyncio.run(coroutine)))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            came.append(Came(error=error))

    thread = threading.Thread(target=run, name="sayso-loop")
    thread.start()
    thread.join()
    if came[0].error is not None:
        raise came[0].error
    return came[0].value


def _judged(workflow: Workflow, run: Running, came: Came) -> RunStatus | None:
    """Write down how the run is left. `None` if it is not: there is more to do at once."""
    journal = run.journal
    stop = run.stop or (came.error if isinstance(came.error, Stop) else None)
    if journal.lost or isinstance(stop, Fenced):
        raise journal.fenced()
    if isinstance(stop, NotStarted):
        raise stop
    if isinstance(stop, Ended):
        return _cancelled(journal, stop.ask)
    if isinstance(stop, Parked):
        return park(journal, str(stop), more=stop.more)
    if isinstance(stop, Released) or isinstance(came.error, KeyboardInterrupt):
        journal.leave("ready")
        return "ready"
    fault = run.fault or run.cut_off() or _unmet(run, came)
    if fault is not None:
        return _parked(journal, f"{fault}{_other_code(journal)}")
    if run.waits:
        waits = tuple(run.waits)
        return "waiting" if journal.leave("waiting", waits=waits, wake=journal.wake) else None
    output, error = _storable(workflow, came)
    return _ended(journal, "done", output=output) if error is None else _failed(run, error)


def _other_code(journal: Journal) -> str:
    before = journal.row.code
    if before in ("", journal.code):
        return ""
    return (
        f" It had gone on with version {before}, of which no worker is alive; this one has "
        f"{journal.code or 'code of no known version'}."
    )


def _parked(journal: Journal, reason: str) -> RunStatus:
    """Park a run that went astray, and take back what it asked on the way."""
    asked = journal.drop_openings()
    status = park(journal, reason)
    for ask in asked:
        give_up(journal.store, ask, origin=journal.origin)
    return status


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
        if key in run.met or "?" in key or not run.finished.isdisjoint(prefixes(key)):
            continue
        entry, ask = journal.entries.get(key), journal.asks.get(key)
        if ask is not None and ask.status == "withdrawn":
            continue
        answered = ask is None or ask.closed or ask.content.optional
        if answered and not run.seated.isdisjoint(prefixes(key)):
            continue
        was = (
            f"{entry.verb} {entry.name!r}" if entry else f"{ask.kind} {ask.label!r}" if ask else ""
        )
        return Diverged(key, f"it was {was}, and the workflow no longer comes by it.")
    return None


def _ended(journal: Journal, status: RunStatus, **said: Any) -> RunStatus:  # noqa: ANN401 - JSON
    journal.note(f"run.{status}", stamped(journal.origin, **said))
    if not journal.leave(status):
        raise journal.fenced()
    return status


def _failed(run: Running, error: BaseException) -> RunStatus:
    """End the run with an error, and note which step a retry has to forget."""
    if isinstance(error, TooManyAsks):  # nothing is wrong with it: it goes on where it was
        return park(run.journal, str(error))
    forgets = run.failed_at(behind(error))
    text = text_of(error)
    _log.warning("%s failed: %s", run.id, text)
    return _ended(run.journal, "failed", error=text, trace=trace_of(error), forgets=forgets)


def _cancelled(journal: Journal, ask: Ask) -> RunStatus:
    decision = ask.decision
    who = decision.by.id if decision is not None else "somebody"
    note = decision.note if decision is not None else None
    reason = f"{who} rejected {ask.id}" + (f": {note}" if note else "")
    journal.flush()
    actor = decision.by if decision is not None else journal.actor
    end(journal.store, journal.id, actor=actor, origin=journal.origin, note=reason)
    return "cancelled"


def park(journal: Journal, reason: str, *, more: str | None = None) -> RunStatus:
    """Give a run up until a person looks at it, who may grant it `more`."""
    return _ended(journal, "parked", reason=one_line(reason, 1000), more=more)
