"""Callbacks by type of step: called once, after the step is recorded.

A callback can ask for a review by returning a sentence; it cannot let anything
pass. One that fails stops the run until a person looks: it may have been a control.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from sayso.agent.job import Job
from sayso.errors import BadValue
from sayso.model.digest import canonical
from sayso.model.text import one_line
from sayso.runs.failures import text_of
from sayso.runs.lanes import Lane
from sayso.runs.memory import ActionStep, AnswerStep, PlanStep, Step, TaskStep
from sayso.runs.stops import Ended, Parked
from sayso.runs.work import Passage
from sayso.runs.work import Step as Work

Callback = Callable[[Any], str | None]
TOLD = (TaskStep, PlanStep, ActionStep, AnswerStep)


def callbacks_of(on_step: object) -> Mapping[type, Callback]:
    """Return the callbacks by type of step; one function hears of all of them.

    Raises:
        BadValue: it is neither a function nor a mapping from types of steps to functions.
    """
    if on_step is None:
        return {}
    if callable(on_step):
        return dict.fromkeys(TOLD, on_step)
    names = ", ".join(kind.__name__ for kind in TOLD)
    if not isinstance(on_step, Mapping):
        raise BadValue(f"on_step= is a function or a mapping from types of steps ({names}) to one.")
    for kind, callback in on_step.items():
        if kind not in TOLD or not callable(callback):
            raise BadValue(f"on_step={{{kind!r}: ...}}: give one of {names}, and a function.")
    return dict(on_step)


def told(job: Job, callback: Callback, step: Step, lane: Lane, key: str) -> Passage:
    """Call back once; if a review is wanted, wait for it. Returns what the person said, if a text."""
    run = job.run
    name = str(getattr(callback, "__qualname__", type(callback).__name__))
    entry = run.entry(key, "told", name, holds=True)
    if entry is None:
        run.journal.flush()
        try:
            wanted = yield Work(name, callback, (step,))
        except Exception as error:
            raise Parked(f"on_step {name} raised {one_line(text_of(error), 500)}") from error
        if wanted is not None and (
            not isinstance(wanted, str) or not wanted.strip() or not _storable(wanted)
        ):
            raise Parked(
                f"on_step {name} returned {type(wanted).__name__}: return a sentence to ask for a "
                "review, or None."
            )
        run.journal.record(key, "told", name, result=wanted)
        entry = run.journal.entries[key]
    wanted = entry.said.get("result")
    if wanted is None:
        return None
    return (yield from _reviewed(job, lane, key, wanted, step))


def _reviewed(job: Job, lane: Lane, key: str, wanted: str, step: Step) -> Passage:
    yield from ()
    run, place = job.run, f"{key}.1"
    known = run.journal.asks.get(place)
    if known is None:
        form = run.forms.confirm(wanted, facts={type(step).__name__: _plain(step)})
        known = run.asked(place, form.content)
        job.agent.voice.asked(job.agent.name, known)
    run.met.add(place)
    ask = run.closed(lane, known)
    decision = ask.decision
    if decision is None or decision.verdict == "reject":
        raise Ended(ask)
    return decision.text if decision.verdict == "respond" else None


def _plain(step: Step) -> dict[str, Any]:
    said = {name: value for name, value in asdict(step).items() if name != "at"}
    return {name: value if _storable(value) else str(value) for name, value in said.items()}


def _storable(value: object) -> bool:
    try:
        canonical(value)
    except BadValue:
        return False
    return True
