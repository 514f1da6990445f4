"""What came of calls that waited in the queue, and when the model is told.

Carrying out and telling are two things. A call is carried out as soon as its
run is at work and somebody has decided it; the model is told at the next look,
and what each look found is in the journal. So a replay tells the model the same, in
the same order, whatever has been decided since.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sayso.agent.job import Job
from sayso.agent.messages import Message
from sayso.agent.turn import Settled, over, settle
from sayso.agent.way import Way
from sayso.agent.words import came_later
from sayso.runs.lanes import Lane
from sayso.runs.stops import Paused
from sayso.runs.work import Passage

VERB = "news"


def news(job: Job, lane: Lane, key: str, *, wait: bool = False) -> Passage:
    """Return what came of calls in the queue since the last look, in the order they were decided.

    Raises:
        Paused: with `wait`, nothing came yet.
    """
    run = job.run
    entry = run.entry(key, VERB, job.agent.name)
    if entry is not None:
        came: list[Settled] = []
        for place in entry.said["result"]:
            way = replace(job.queue[place], new=False)
            came.append((yield from settle(job, lane, way)))
        return came
    came = yield from _carried_out(job, lane)
    if wait and not came:
        _wait(job)
        raise Paused(run.id)
    places = [one.place for one in came]
    run.journal.record(key, VERB, job.agent.name, result=places)
    return came


def beside(job: Job, passage: Callable[[Lane, str], Passage]) -> Callable[[Lane, str], Passage]:
    """Return a passage that, where it has to wait, does not let what is decided in the queue wait.

    The run is called again for whatever is decided first, here or there.
    """

    def through(lane: Lane, key: str) -> Passage:
        try:
            return (yield from passage(lane, key))
        except Paused:
            if job.queue:
                yield from _carried_out(job, lane)
                _wait(job)
            raise

    return through


def message(job: Job, settled: Settled) -> Message:
    """Return what the model is told of a call that waited; it names the call."""
    made, asked = settled.call, job.queue[settled.place].call
    decision = None if settled.ask is None else settled.ask.decision
    text = came_later(
        made,
        settled.text,
        settled.came,
        by="" if decision is None else decision.by.id,
        edited=made.args != asked.args,
    )
    failed = settled.message.failed
    return Message(role="user", call=made.id, tool=made.tool, text=text, failed=failed)


def _carried_out(job: Job, lane: Lane) -> Passage:
    """Carry out whatever is decided, the earliest decision first; returns what came of each."""
    run = job.run
    run.journal.flush()  # what is only gathered yet would be missing from what is read
    ready = [way for way in job.queue if _decided(job, way)]
    came: list[Settled] = []
    for way in sorted(ready, key=lambda way: _moment(job, way)):
        new = not over(job, way.place)
        try:
            settled: Settled = yield from settle(job, lane, replace(way, new=new))
        except Paused:  # nobody knows whether it happened: people are asked about that first
            continue
        if new:
            job.agent.voice.step(job.agent.name, settled.step)
        came.append(settled)
    return came


def _decided(job: Job, way: Way) -> bool:
    """Look whether a call is decided by now; and what people said to a doubt about it."""
    journal = job.run.journal
    for key in _keys(job, way):
        ask = journal.asks[key]
        if not ask.closed or (ask.effect is not None and ask.effect.status == "unknown"):
            journal.reread(key)
    return journal.asks[journal.place(way.place)].closed


def _moment(job: Job, way: Way) -> tuple[bool, float]:
    """When it was decided; what was taken back comes first."""
    decision = job.run.journal.asks[job.run.journal.place(way.place)].decision
    return (decision is not None, 0.0 if decision is None else decision.at.timestamp())


def _wait(job: Job) -> None:
    """Let the run go on with whatever is decided next in the queue."""
    asks = job.run.journal.asks
    for key in [key for way in job.queue for key in _keys(job, way)]:
        if not asks[key].closed:
            job.run.waits[asks[key].id] = None


def _keys(job: Job, way: Way) -> list[str]:
    """Return where people were asked about a call: for its approval, and whether it happened."""
    place = job.run.journal.place(way.place)
    asks = tuple(job.run.journal.asks)
    return [key for key in asks if key == place or key.startswith(f"{place}?")]
