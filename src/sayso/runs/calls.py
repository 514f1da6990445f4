"""A guarded call inside a run: asked for, approved, carried out once.

What is known of the effect decides what happens next. A worker that died in
the middle leaves an intent without a result: then an idempotent tool is run again
with the same key, `verify` is asked, or a person is.
"""

from __future__ import annotations

import os
import platform
import time
from typing import Any, Protocol

from sayso.asks.carrying import DidNotHappen, Do, Gated, Happened, refused, tried, verified
from sayso.asks.spending import begin, doubt
from sayso.errors import AlreadySpent, BadValue, Diverged, NotApproved, Skipped, StepFailed
from sayso.model.ask import Ask
from sayso.model.call import Call
from sayso.model.content import LIMIT, Content, Risk
from sayso.model.conversion import decode
from sayso.model.digest import frozen
from sayso.model.text import one_line
from sayso.model.tool import Bound
from sayso.runs.differing import call_difference
from sayso.runs.failures import text_of
from sayso.runs.journal import Finished, Journal
from sayso.runs.lanes import Lane
from sayso.runs.work import Passage
from sayso.store.contract import Lease

_INTERRUPTED = "the program was interrupted in the middle."


class Caller(Protocol):
    """What a call needs of its run."""

    journal: Journal
    met: set[str]
    forms: Any

    def asked(self, key: str, content: Content) -> Ask:
        """Return the ask at this place."""
        ...

    def closed(self, lane: Lane, ask: Ask) -> Ask:
        """Return an ask that is decided, or pause."""
        ...


def call_passage(run: Caller, lane: Lane, key: str, gate: Gated, bound: Bound) -> Passage:
    """Ask for one call, and carry it out once it is approved."""
    ask = run.closed(lane, asked_for(run, key, gate, bound))
    key = run.journal.place(key)
    _check_lapsed(run, key, gate)
    if not ask.decision:
        return refused(ask, gate.rules)
    while True:
        effect = run.journal.asks[key].effect
        match effect.status if effect is not None else None:
            case "done" | "failed":
                return _outcome(run, key, gate)
            case "intended":
                yield from _recover(run, lane, key, gate, bound)
            case "unknown":
                _resolved(run, lane, key)
                yield from _carry_out(run, lane, key, gate, bound)
            case _:
                yield from _carry_out(run, lane, key, gate, bound)


def _lapsed(key: str) -> str:
    return f"{key}?lapsed"  # beside the call, as doubts are: nothing happened inside it


def _check_lapsed(run: Caller, key: str, gate: Gated) -> None:
    """Say again that an approval no longer held when it was to be used."""
    entry = run.journal.entries.get(_lapsed(key))
    if entry is not None:
        error = entry.said["error"]
        raise StepFailed(gate.tool.name, error["kind"], error["message"])


def asked_for(run: Caller, key: str, gate: Gated, bound: Bound) -> Ask:
    """Return the ask for a call, opening it if there is none.

    Raises:
        Diverged: the journal has another call here.
    """
    run.met.update(run.journal.places(key))
    prepared = run.journal.prepared.pop(key, None)
    key = run.journal.place(key)
    known = run.journal.asks.get(key)
    if known is None:
        if prepared is not None and prepared[0] is bound:
            return run.asked(key, prepared[1])
        return run.asked(key, gate.content(run.forms, bound))
    differs = call_difference(known, gate.tool.name, frozen(bound.args))
    if differs is not None:
        raise Diverged(key, differs)
    return known


def _outcome(run: Caller, key: str, gate: Gated) -> Any:  # noqa: ANN401 - what the tool returns
    """Return the recorded result, or raise the recorded failure: the same at every replay."""
    ask = run.journal.asks[key]
    effect = ask.effect
    if effect is None:
        raise AssertionError("unreachable: an outcome has an effect")
    if effect.status == "done" and effect.error is None:
        result = effect.result
        return result if gate.tool.returns is Any else decode(gate.tool.returns, result)
    answered = _doubt_of(run, ask)
    said_no = answered is not None and answered.decision is not None and not answered.decision
    if effect.status == "failed" and answered is not None and said_no:
        raise Skipped(answered)
    text = effect.error or "nobody knows why"
    kind, _, message = text.partition(": ")
    raise StepFailed(gate.tool.name, kind, message)


def _carry_out(run: Caller, lane: Lane, key: str, gate: Gated, bound: Bound) -> Passage:
    """Spend the approval and run the tool. The intent is durable before it starts."""
    yield from _perform(run, lane, key, gate, bound, None)


def _begin(run: Caller, key: str, gate: Gated, again: str | None, risk: Risk | None) -> Call | None:
    """Spend the approval; `None` if the effect has ended meanwhile, as a late result can do."""
    journal = run.journal
    try:
        call = begin(
            journal.store,
            journal.asks[key].id,
            origin=journal.origin,
            lease=Lease(journal.token, None),
            commit=journal.commit,
            again=again,
            worker=journal.row.worker,
            known=journal.standing(key),
            law=journal.law,
            risk=risk,
            idempotent=gate.rules.idempotent,
        )
    except AlreadySpent:
        journal.reread(key)
        return None
    except NotApproved as error:
        if again is not None:
            raise  # it was begun before and may have happened: people are asked about that
        said = {"kind": "NotApproved", "message": str(error)}
        journal.record(
            _lapsed(key), "lapsed", journal.asks[key].tool or "", failed=True, error=said
        )
        raise StepFailed(journal.asks[key].tool or "", "NotApproved", str(error)) from error
    journal.asks[key] = call.ask
    return call


def _perform(
    run: Caller, lane: Lane, key: str, gate: Gated, bound: Bound, again: str | None
) -> Passage:
    journal = run.journal
    args = gate.fitting(bound, journal.asks[key])  # refused before anything is spent
    call = _begin(run, key, gate, again, gate.risk_as_edited(bound, journal.asks[key]))
    if call is None:
        return
    journal.doing = gate.tool.name
    journal.check_lease()
    try:
        do = Do(gate.tool.fn, bound.receiver, args, call)
        result = yield from tried(gate.rules, do)
    except gate.rules.unknown as error:
        reason = f"it raised {one_line(bound.conceal(text_of(error)), 200)}"
        _open_doubt(run, lane, key, reason)
    except Exception as error:  # noqa: BLE001 - recorded, and raised as the record has it
        text = one_line(bound.conceal(text_of(error)), 500)
        journal.finish(key, Finished(call, "failed", None, text))
        try:
            _outcome(run, key, gate)
        except StepFailed as failure:
            raise failure from error
    except KeyboardInterrupt:
        doubt(journal.store, call.ask.id, _INTERRUPTED, **_doubting(run, key))
        raise
    except BaseException as error:  # noqa: BLE001 - sys.exit(), a cancelled task: waits for people
        _open_doubt(run, lane, key, f"it was left in the middle ({type(error).__name__}).")
    else:
        _finish(run, key, gate, bound, call, result)
    finally:
        journal.doing = None


def _finish(run: Caller, key: str, gate: Gated, bound: Bound, call: Call, result: object) -> None:
    """Note the result. One that cannot be stored does not undo what happened."""
    try:
        kept = frozen(bound.conceal(gate.kept(result)), limit=LIMIT, what="result")
    except BadValue as error:
        text = f"Unrecorded: it happened, but it returned {type(result).__name__}: {error}"
        run.journal.finish(key, Finished(call, "done", None, text))
        return
    run.journal.finish(key, Finished(call, "done", kept, None))


def _recover(run: Caller, lane: Lane, key: str, gate: Gated, bound: Bound) -> Passage:
    """Settle an intent without a result, which a worker before us left behind."""
    ask = run.journal.asks[key]
    effect = ask.effect
    if effect is None:
        raise AssertionError("unreachable: an intent is an effect")
    fate = _fate(run, ask)
    if gate.rules.idempotent:
        again = f"{fate} It may be run again with the same key."
        yield from _repeat(run, lane, key, gate, bound, again)
        return
    if gate.rules.verify is not None:
        args = gate.fitting(bound, ask)
        call = Call(ask, gate.tool.name, args, effect.key, effect.attempt, run.journal.token)
        age = (run.journal.store.now() - effect.begun_at).total_seconds()
        do = Do(gate.tool.fn, bound.receiver, args, call)
        found = yield from verified(gate.rules, do, time.monotonic() - age)
        if isinstance(found, Happened):
            _finish(run, key, gate, bound, call, found.result)
            return
        if isinstance(found, DidNotHappen):
            yield from _repeat(run, lane, key, gate, bound, f"{fate} It left no trace.")
            return
    _open_doubt(run, lane, key, fate)


def _repeat(run: Caller, lane: Lane, key: str, gate: Gated, bound: Bound, again: str) -> Passage:
    """Run it again; if the policy of now is against that, ask people whether it happened."""
    try:
        yield from _perform(run, lane, key, gate, bound, again)
    except NotApproved as error:
        _open_doubt(run, lane, key, str(error))


def _open_doubt(run: Caller, lane: Lane, key: str, reason: str) -> None:
    """Ask people whether it happened, and wait for them; unless it has ended meanwhile."""
    journal = run.journal
    asked = doubt(journal.store, journal.asks[key].id, reason, **_doubting(run, key))
    journal.reread(key)
    if asked is None:
        return
    place = (asked.key or "").removeprefix(f"{journal.id}:")
    journal.asks[place] = asked
    run.met.add(place)
    journal.opened.append(asked)
    run.closed(lane, asked)


def _doubting(run: Caller, key: str) -> dict[str, Any]:
    journal = run.journal
    count = 1
    while f"{key}?{count}" in journal.asks:
        count += 1
    name = f"{journal.id}:{key}?{count}"
    return {"origin": journal.origin, "key": name, "commit": journal.commit}


def _doubt_of(run: Caller, ask: Ask) -> Ask | None:
    if ask.effect is None or ask.effect.doubt is None:
        return None
    return next(
        (other for other in tuple(run.journal.asks.values()) if other.id == ask.effect.doubt), None
    )


def _resolved(run: Caller, lane: Lane, key: str) -> None:
    """Wait until the doubt about this call is decided. Only "run it again" leads back here."""
    answered = _doubt_of(run, run.journal.asks[key])
    if answered is not None:
        run.closed(lane, answered)


def _fate(run: Caller, ask: Ask) -> str:
    begun = [e for e in run.journal.store.stream(ask.stream) if e.kind == "effect.intended"]
    return fate_of(str(((begun[-1].payload or {}) if begun else {}).get("worker") or ""))


def fate_of(worker: str) -> str:
    """Say what is known of the worker that began a call."""
    name = worker or "somebody"
    host, _, pid = worker.rpartition(":")
    if host == platform.node() and pid.isdigit() and not _alive(int(pid)):
        return f"the worker that carried it out ({name}) is dead."
    return (
        f"the worker that carried it out ({name}) has fallen silent; whether it still runs is not "
        "known."
    )


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
