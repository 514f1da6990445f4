"""A call inside a run that needs nobody's approval: begun durably, carried out once, recorded.

The intent is written before the tool runs, as it is for an approved call. A
worker that dies in the middle therefore leaves a question and no second
execution: an idempotent tool is run again with the same key, `verify` is asked,
or a person is.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Protocol

from sayso.asks.carrying import DidNotHappen, Do, Gated, Happened, tried, verified
from sayso.asks.spending import Allowed, begun_by, known_of
from sayso.errors import BadValue, Diverged, Skipped, StepFailed
from sayso.model.ask import Ask
from sayso.model.content import LIMIT
from sayso.model.conversion import decode
from sayso.model.digest import frozen
from sayso.model.text import one_line
from sayso.model.tool import Bound
from sayso.model.verdicts import offered
from sayso.runs.calls import Caller, fate_of
from sayso.runs.failures import kind_of, message_of, text_of
from sayso.runs.journal import Begun, Entry
from sayso.runs.lanes import Lane
from sayso.runs.stops import Stop
from sayso.runs.work import Passage

VERB = "call"


class Alone(Caller, Protocol):
    """What such a call needs of its run."""

    def entry(self, key: str, verb: str, name: str, *, holds: bool = False) -> Entry | None:
        """Return what the journal has at this place."""
        ...


def alone(run: Alone, lane: Lane, key: str, gate: Gated, bound: Bound) -> Passage:
    """Carry out one call, or return what came of it.

    Raises:
        StepFailed: it failed, now or when it was recorded.
        Skipped: it is in doubt whether it happened, and a person said to leave it.
    """
    entry = run.entry(key, VERB, gate.tool.name)
    begun = run.journal.begun.get(key)
    if begun is not None and begun.args != bound.args:
        raise Diverged(key, f"{gate.tool.name} was called with other arguments.")
    if entry is not None:
        return _decoded(gate, recorded(run, key, entry))
    if begun is None:
        return (yield from _perform(run, lane, key, gate, bound, 1))
    return (yield from _recovered(run, lane, key, gate, bound, begun))


def refuse(run: Alone, key: str, name: str, failure: StepFailed) -> StepFailed:
    """Record that a call was not made at all, and why; return it to be raised."""
    if run.entry(key, VERB, name) is None:
        said = {"kind": failure.kind, "message": failure.message}
        run.journal.record(key, VERB, name, failed=True, error=said)
    return failure


def recorded(run: Alone, key: str, entry: Entry) -> Any:  # noqa: ANN401 - JSON
    """Return what came of a call, as the journal has it, even if its tool is gone.

    Raises:
        StepFailed: it failed.
    """
    run.met.update((key, *_doubts(run, key)))
    if entry.failed:
        error = entry.said["error"]
        raise StepFailed(entry.name, error["kind"], error["message"])
    return entry.said.get("result")


def _decoded(gate: Gated, kept: Any) -> Any:  # noqa: ANN401 - JSON in, a value out
    return kept if gate.tool.returns is Any else decode(gate.tool.returns, kept)


def _perform(run: Alone, lane: Lane, key: str, gate: Gated, bound: Bound, attempt: int) -> Passage:
    journal, name = run.journal, gate.tool.name
    args = gate.tool.thaw(bound.args, bound)
    journal.begin(key, name, bound.args, attempt)
    journal.flush()
    journal.check_lease()
    journal.doing = name
    began = time.monotonic()
    do = Do(gate.tool.fn, bound.receiver, args, _allowed(run, key, gate, args, attempt))
    try:
        result = yield from tried(gate.rules, do)
    except gate.rules.unknown as error:
        reason = f"it raised {one_line(bound.conceal(text_of(error)), 200)}"
        return (yield from _doubted(run, lane, key, gate, bound, attempt, reason))
    except (KeyboardInterrupt, Stop):
        raise
    except Exception as error:
        took = time.monotonic() - began
        said = {"kind": kind_of(error), "message": bound.conceal(message_of(error))}
        journal.record(key, VERB, name, failed=True, error=said, took=round(took, 3))
        raise StepFailed(name, said["kind"], said["message"]) from error
    except BaseException as error:  # noqa: BLE001 - sys.exit(), a cancelled task: people are asked
        reason = f"it was left in the middle ({kind_of(error)})."
        return (yield from _doubted(run, lane, key, gate, bound, attempt, reason))
    finally:
        journal.doing = None
    return _kept(run, key, gate, bound, result, time.monotonic() - began)


def _allowed(run: Alone, key: str, gate: Gated, args: dict[str, Any], attempt: int) -> Allowed:
    return Allowed(gate.tool.name, args, _key(run, key), attempt, gate.tool.secret)


def _key(run: Alone, key: str) -> str:
    return f"{run.journal.id}-{key}"


def _kept(run: Alone, key: str, gate: Gated, bound: Bound, result: object, took: float) -> Any:  # noqa: ANN401 - what the tool returned, as it is read back
    name = gate.tool.name
    try:
        kept = frozen(bound.conceal(gate.kept(result)), limit=LIMIT, what="result")
    except BadValue as error:
        text = f"it happened, but it returned {type(result).__name__}: {error}"
        said = {"kind": "Unrecorded", "message": text}
        run.journal.record(key, VERB, name, failed=True, error=said, took=round(took, 3))
        raise StepFailed(name, "Unrecorded", text) from error
    run.journal.record(key, VERB, name, result=kept, took=round(took, 3))
    return _decoded(gate, kept)


def _recovered(
    run: Alone, lane: Lane, key: str, gate: Gated, bound: Bound, begun: Begun
) -> Passage:
    """Settle a call that was begun and has no result: its worker died, or was interrupted."""
    attempt = begun.attempt
    if f"{key}?{attempt}" in run.journal.asks:
        return (yield from _doubted(run, lane, key, gate, bound, attempt, ""))
    if gate.rules.idempotent:
        return (yield from _perform(run, lane, key, gate, bound, attempt + 1))
    if gate.rules.verify is not None:
        args = gate.tool.thaw(bound.args, bound)
        do = Do(gate.tool.fn, bound.receiver, args, _allowed(run, key, gate, args, attempt))
        age = (run.journal.store.now() - begun.at).total_seconds()
        found = yield from verified(gate.rules, do, time.monotonic() - age)
        if isinstance(found, Happened):
            return _kept(run, key, gate, bound, found.result, 0.0)
        if isinstance(found, DidNotHappen):
            return (yield from _perform(run, lane, key, gate, bound, attempt + 1))
    reason = fate_of(begun.worker)
    return (yield from _doubted(run, lane, key, gate, bound, attempt, reason))


def _doubted(
    run: Alone, lane: Lane, key: str, gate: Gated, bound: Bound, attempt: int, reason: str
) -> Passage:
    """Ask people whether it happened, and do as they say."""
    run.met.update(_doubts(run, key))
    place = f"{key}?{attempt}"
    known = run.journal.asks.get(place)
    ask = run.closed(lane, known or _open(run, place, key, gate, bound, reason))
    decision = ask.decision
    if decision is None or decision.verdict == "reject":
        raise Skipped(ask)
    if decision.verdict == "approve":
        return (yield from _perform(run, lane, key, gate, bound, attempt + 1))
    kept = decision.answer
    run.journal.record(key, VERB, gate.tool.name, result=kept)
    return _decoded(gate, kept)


def _open(run: Alone, place: str, key: str, gate: Gated, bound: Bound, reason: str) -> Ask:
    name, begun = one_line(gate.tool.name, 40), run.journal.begun[key]
    who = begun_by(begun.worker, run.forms.agent)
    content = replace(
        gate.content(run.forms, bound),
        kind="doubt",
        title=f"Did {name} happen?",
        allow=offered("doubt"),
        sentence=known_of(f"{name} was", begun.at, who, _key(run, key), reason),
        idempotent=gate.rules.idempotent or None,
        answer=gate.tool.returned or "{}",
        due_at=None,
    )
    run.met.add(place)
    return run.journal.open(place, content)


def _doubts(run: Alone, key: str) -> list[str]:
    begun = run.journal.begun.get(key)
    last = begun.attempt if begun is not None else 0
    return [f"{key}?{number}" for number in range(1, last + 1)]
