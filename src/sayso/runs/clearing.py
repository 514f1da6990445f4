"""Calls of a host: asked about all at once, carried out one by one, later, by somebody else.

A host hands over the calls of a turn before it makes the first of them, and makes each in
its own time, maybe in another process. Both moments stand at one place of the run, which
the call is named by: what was approved there is spent there, once, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from sayso.asks.carrying import Gated, gated, gated_of
from sayso.asks.ruling import UNKNOWN
from sayso.errors import Answered, BadValue, Denied, Outcome, Rejected, StepFailed, TooManyAsks
from sayso.model.ask import Ask
from sayso.model.digest import frozen
from sayso.model.tool import Bound
from sayso.runs.alone import Alone, alone, recorded
from sayso.runs.calls import asked_for, call_passage
from sayso.runs.lanes import Lane
from sayso.runs.seats import Seats
from sayso.runs.stops import Paused
from sayso.runs.work import Passage

Refusal = Outcome | StepFailed | BadValue | Denied | TooManyAsks
_CONFIRMED = "The agent must ask before each call of this tool."
_UNASKED = (
    "By now this call needs a person's word, and nobody was asked. It was not made: make it again."
)


@dataclass(frozen=True, slots=True)
class Errand:
    """One call of a host, at the place that is named by it."""

    place: str
    gate: Gated
    args: Mapping[str, Any] = field(repr=False)
    confirmed: bool = False  # people are asked whatever the policy allows


def errand(
    place: str, tool: Callable[..., Any], args: Mapping[str, Any], *, confirmed: bool = False
) -> Errand:
    """Return a call of a tool as a run takes it, with why people may be asked about it.

    Args:
        place: The name of the call: the same when it is asked about and when it is made.
        tool: A function that is declared to be a tool, such as one of a host.
        args: What it is called with, as JSON.
        confirmed: Ask people whatever the policy allows.
    """
    gate = gated_of(tool) or gated(tool)
    known = gate.tool.risk is not None or gate.rules.asks
    sentence = _CONFIRMED if confirmed else None if known else UNKNOWN
    return Errand(place, replace(gate, sentence=sentence), args, confirmed)


class Clearing(Alone, Protocol):
    """What errands need of their run."""

    def verb(self, passage: Any) -> Any:  # noqa: ANN401 - what the passage returns
        """Go through a verb."""
        ...

    def goes_alone(
        self, key: str, gate: Gated, bound: Bound, *, always: bool, stated: bool = False
    ) -> bool:
        """Whether a call needs nobody's approval."""
        ...


def cleared(seats: Seats, part: str, errands: Sequence[Errand]) -> list[Ask | Refusal | None]:
    """Ask about all calls that people must see, and return what was said to each.

    That is the ask, if it was approved; `None`, if the call needs nobody; or why it must not be
    made. Nothing is returned before everything is decided.

    Args:
        seats: The places of the run.
        part: The part of the host that asks, such as the task of a graph: it is what pauses.
        errands: The calls.

    Raises:
        Paused: people have to answer first.
        Ended: somebody ended the run.
    """
    run, said = cast("Clearing", seats.run), list[Ask | Refusal | None]()
    for one in errands:
        with suppress(Paused), seats.at(f"{part} {one.place}"):
            key = seats.key(one.place)
            said.append(run.verb(lambda lane, _, key=key, one=one: _clearing(run, lane, key, one)))
    if len(said) < len(errands):
        raise Paused(seats.run.id)
    return said


def carried_out(seats: Seats, part: str, errand: Errand) -> Any:  # noqa: ANN401 - JSON
    """Carry out a call that was cleared, once, and return what its tool returned, as JSON.

    An approved call is made with the arguments that were approved, whatever those of the errand.

    Args:
        seats: The places of the run.
        part: The part of the host that makes the call.
        errand: The call.

    Raises:
        Rejected, Answered, StepFailed, Skipped: as of `run.call`.
        StepFailed: nobody was asked, and by now somebody must be.
    """
    run, key = cast("Clearing", seats.run), seats.key(errand.place)
    with seats.at(f"{part} {errand.place}"):
        return run.verb(lambda lane, _: _carrying(run, lane, key, errand))


async def carried_out_async(seats: Seats, part: str, errand: Errand) -> Any:  # noqa: ANN401 - JSON
    """Do the same on the event loop of the host, for a tool that is awaited."""
    run, key = cast("Clearing", seats.run), seats.key(errand.place)
    with seats.at(f"{part} {errand.place}", awaits=True):
        return await run.verb(lambda lane, _: _carrying(run, lane, key, errand))


def _clearing(run: Clearing, lane: Lane, key: str, errand: Errand) -> Passage:
    yield from ()
    try:
        entry = run.journal.entries.get(key)
        if entry is not None and entry.failed:
            recorded(run, key, entry)
        bound = _bound(run, key, errand)
        if _alone(run, key, errand, bound):
            return None
        ask = run.closed(lane, asked_for(run, key, errand.gate, bound))
    except (Outcome, StepFailed, BadValue, Denied, TooManyAsks) as error:
        return error
    if ask.decision:
        return ask
    answered = ask.decision is not None and ask.decision.verdict == "respond"
    return Answered(ask) if answered else Rejected(ask)


def _carrying(run: Clearing, lane: Lane, key: str, errand: Errand) -> Passage:
    """Make a call. What came of it is written before the host hears of it, and goes on from it."""
    try:
        came = yield from _made(run, lane, key, errand)
    except StepFailed:
        run.journal.flush()
        raise
    run.journal.flush()
    return came


def _made(run: Clearing, lane: Lane, key: str, errand: Errand) -> Passage:
    gate, bound = errand.gate, _bound(run, key, errand)
    if _alone(run, key, errand, bound):
        return (yield from alone(run, lane, key, gate, bound))
    if run.journal.place(key) not in run.journal.asks:
        raise StepFailed(gate.tool.name, "NotApproved", _UNASKED)
    return (yield from call_passage(run, lane, key, gate, bound))


def _alone(run: Clearing, key: str, errand: Errand, bound: Bound) -> bool:
    """Whether it needs nobody. Of a tool that nothing is known of, a rule must say so."""
    stated = not errand.gate.rules.asks
    return run.goes_alone(key, errand.gate, bound, always=errand.confirmed, stated=stated)


def _bound(run: Clearing, key: str, errand: Errand) -> Bound:
    """Freeze the call; one that a person edited, as it was before, by which its ask is known."""
    bound = errand.gate.tool.bind((), dict(errand.args))
    ask = run.journal.asks.get(run.journal.place(key))
    if ask is None or ask.original is None or frozen(bound.args) != ask.args:
        return bound
    return replace(bound, args=ask.original)
