"""The calls of one turn: what may run runs, what must be asked is asked all at once.

Each call has a lane of its own under the turn. A turn ends when all of its calls
are settled; until then those that are decided go on, unless the agent wants them
decided `together`. A call of a tool that is declared `later` is asked for and then
waits in the queue of the agent, and the turn does not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sayso.agent.history import result_text, shortened
from sayso.agent.job import Job
from sayso.agent.kit import BadCall, Held
from sayso.agent.limits import Spent
from sayso.agent.messages import Message, Reply, ToolCall
from sayso.agent.stating import parted, terms_of
from sayso.agent.way import Way
from sayso.agent.words import Came, asked_because, queued
from sayso.asks.carrying import Gated
from sayso.asks.forms import Form, Terms
from sayso.asks.refusals import told
from sayso.errors import (
    Answered,
    BadValue,
    Diverged,
    InvalidEdit,
    Misuse,
    Outcome,
    Rejected,
    StepFailed,
)
from sayso.model.ask import Ask, Decision
from sayso.model.content import pairs
from sayso.model.digest import canonical
from sayso.model.tool import Bound
from sayso.runs.alone import VERB, alone, recorded, refuse
from sayso.runs.calls import asked_for, call_passage
from sayso.runs.failures import kind_of, message_of
from sayso.runs.lanes import Lane
from sayso.runs.memory import ActionStep
from sayso.runs.stops import Paused
from sayso.runs.work import Passage

_MOST = 50  # calls in one reply: nobody can review more at a time
_WHY = 4000  # of what a model writes, that much goes on a card


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of one call, and the call itself as it was made in the end."""

    call: ToolCall
    text: str
    step: ActionStep
    steps: tuple[int, ...] = ()
    took: float = 0.0
    inside: Spent = field(default_factory=Spent)
    carried_out: bool = False
    refused: bool = False
    place: str = ""
    ask: Ask | None = None
    waits: bool = False  # for people, in the queue: nothing came of it yet

    @property
    def came(self) -> Came:
        """What came of it, in a word."""
        return "done" if self.carried_out else "refused" if self.refused else "failed"

    @property
    def message(self) -> Message:
        """What the model is told."""
        failed = self.step.error is not None or self.refused
        return Message(
            role="tool", call=self.call.id, tool=self.call.tool, text=self.text, failed=failed
        )


def turn_passage(job: Job, lane: Lane, key: str, reply: Reply) -> Passage:
    """Settle every call of a reply, and return what came of each, in order."""
    run = job.run
    run.entry(key, "turn", job.agent.name, holds=True)
    ways = _ways(job, key, reply)
    settled = {way.place: _queued(job, way) for way in ways if way.later}
    opened = [_asked(job, way) for way in ways if way.asks and not way.later]
    for ask in opened:  # whoever ends the run ends it for all calls: those approved beside it, too
        if ask is not None and ask.decision is not None and ask.decision.end:
            run.closed(lane, ask)
    waits = job.agent.together and any(ask is not None and not ask.closed for ask in opened)
    # Those that need nobody run first: whoever is asked meanwhile decides in parallel.
    for way in sorted((way for way in ways if not way.later), key=lambda way: way.asks):
        try:
            if waits and way.asks:
                _check_open(job, lane, way)
            settled[way.place] = yield from settle(job, lane, way)
            if way.new:  # now: the turn may wait for others for days
                job.agent.voice.step(job.agent.name, settled[way.place].step)
        except Paused:
            continue
    if len(settled) < len(ways):
        raise Paused(run.id)
    return [settled[way.place] for way in ways]


def _ways(job: Job, key: str, reply: Reply) -> list[Way]:
    """Decide how each call is made.

    The plan may have come further by the earlier calls of this very reply and by those in the
    queue, or not, if they are refused: a step that wants approval either way is asked for.
    """
    ways, ahead = [], None if job.plan is None else job.queue.ahead(job.plan)
    for number, call in enumerate(reply.calls, start=1):
        steps: tuple[int, ...] = ()
        if job.plan is not None and ahead is not None:
            wanted = {*job.plan.unapproved(call.tool), *ahead.unapproved(call.tool)}
            steps, ahead = tuple(sorted(wanted)), ahead.after(call.tool)
        ways.append(_way(job, f"{key}.{number}", call, steps, reply))
    return ways


def _check_open(job: Job, lane: Lane, way: Way) -> None:
    """Wait for this one, and for the others if this one is decided."""
    ask = _ask_of(job, way.place)
    if ask is not None and not ask.closed:
        job.run.closed(lane, ask)
    raise Paused(job.run.id)


def _way(job: Job, place: str, call: ToolCall, steps: tuple[int, ...], reply: Reply) -> Way:
    """Decide how a call is made. What the journal has at its place stands."""
    call, stated = parted(call) if job.agent.explain else (call, {})
    entry = job.run.journal.entries.get(place)
    if entry is not None and entry.verb == VERB:
        return Way(place, call, known=entry, new=False)
    try:
        return _possible(job, place, call, steps, reply, _terms(call, stated))
    except BadCall as error:
        return _bad(job, place, call, error.kind, str(error))


def _terms(call: ToolCall, stated: dict[str, Any]) -> Terms:
    try:
        return terms_of(stated)
    except BadValue as error:
        raise BadCall("BadArguments", f"{call.tool} was not called: {error}") from None


def _possible(
    job: Job, place: str, call: ToolCall, steps: tuple[int, ...], reply: Reply, stated: Terms
) -> Way:
    """Decide how a call is made that can be.

    Raises:
        BadCall: it cannot, or must not.
    """
    journal, held = job.run.journal, job.agent.kit.get(call.tool)
    if int(place.rpartition(".")[2]) > _MOST:
        why = f"One reply makes at most {_MOST} calls. Make the rest in the next one."
        raise BadCall("TooMany", why)
    if held is None:
        known = ", ".join(job.agent.kit) or "none"
        raise BadCall("UnknownTool", f"There is no such tool. There are: {known}.")
    bound = _as_begun(job, place, held.bind(call))
    # A call that was begun, or that another agent has worked on, stays as it was made.
    begun = place in journal.begun or place in journal.prefixes
    asked = journal.place(place) in journal.asks or f"{place}.1" in journal.asks
    if not (asked or begun) and _rejected_before(job, held, bound):
        why = "A person said no to this very call before. Go on another way."
        raise BadCall("RejectedBefore", why)
    if not (asked or begun) and job.queue.waits(held.gate.tool.name, bound.args):
        why = "This very call waits for a person already. Go on with other work."
        raise BadCall("WaitsAlready", why)
    gate = _explained(job, held, steps, reply, stated)
    free = begun or (not steps and _goes_alone(job, place, held, gate, bound))
    ended = f"{place}.2" in journal.entries or over(job, place)
    asks = asked or not free
    # What was asked for before without the mark was waited for, whatever the tool declares now.
    later = asks and (marked(place) in journal.entries or (gate.rules.later and not asked))
    return Way(place, call, gate, bound, asks, steps, new=not ended, later=later)


def _goes_alone(job: Job, place: str, held: Held, gate: Gated, bound: Bound) -> bool:
    """Whether this call needs nobody: not by its declaration, nor by the policy of the desk."""
    if gate.rules.asks:
        return not held.confirmed
    always = held.confirmed or (gate.always and gate.tool.risk is None)
    try:
        return job.run.goes_alone(place, gate, bound, always=always)
    except StepFailed as denied:
        raise BadCall(denied.kind, denied.message) from denied


def _rejected_before(job: Job, held: Held, bound: Bound) -> bool:
    """Whether a person said no to this very call in this run, and not just for now."""
    asks = tuple(job.run.journal.asks.values())
    said_no = [ask for ask in asks if ask.decision is not None and ask.decision.verdict == "reject"]
    if not said_no:
        return False
    args, facts = canonical(bound.args), pairs(bound.args, "facts")
    for ask in said_no:
        decision = ask.decision
        if decision is None or decision.by.kind != "person":
            continue
        proposed = canonical(ask.args if ask.original is None else ask.original)
        same = (ask.tool, proposed) == (held.gate.tool.name, args)
        same = same or (ask.title, ask.content.facts) == (_confirming(held.name), facts)
        if same and decision.kind != "not-now":
            return True
    return False


def _confirming(tool: str) -> str:
    return f"Call {tool}?"


def _ask_of(job: Job, place: str) -> Ask | None:
    """Return what people were asked about a call; of an agent as a tool, its confirmation."""
    journal = job.run.journal
    return journal.asks.get(journal.place(place)) or journal.asks.get(f"{place}.1")


def _as_begun(job: Job, place: str, bound: Bound) -> Bound:
    """Return the arguments as they were frozen first: a default may be another one by now."""
    ask = job.run.journal.asks.get(job.run.journal.place(place))
    begun = job.run.journal.begun.get(place)
    if ask is not None and ask.tool is not None:
        return replace(bound, args=ask.args if ask.original is None else ask.original)
    return bound if begun is None else replace(bound, args=dict(begun.args))


def marked(place: str) -> str:
    """Return where the journal says that a call waits in the queue: beside it, as doubts are."""
    return f"{place}?queued"


def over(job: Job, place: str) -> bool:
    """Whether a call came to its end before: carried out, or refused."""
    ask = _ask_of(job, place)
    if ask is None or not ask.closed:
        return False
    return not ask.decision or (ask.effect is not None and ask.effect.status in ("done", "failed"))


def _bad(job: Job, place: str, call: ToolCall, kind: str, why: str) -> Way:
    """Refuse a call; unless it was begun or asked for when the agent still had such a tool."""
    journal = job.run.journal
    if place in journal.begun or journal.place(place) in journal.asks:
        raise Diverged(place, f"{call.tool} was called here; now: {why} Bring the tool back.")
    return Way(place, call, bad=StepFailed(call.tool, kind, why))


def _explained(job: Job, held: Held, steps: Sequence[int], reply: Reply, stated: Terms) -> Gated:
    """Let the ask say why a person is asked; and why the call is made, in the agent's words."""
    declared = held.gate.rules.terms.get("why")
    said = [job.plan.named(steps)] if steps and job.plan is not None else []
    said += [text for text in (declared, stated.get("why") or reply.text) if text]
    why = ". ".join(said)[:_WHY] or None
    terms: Terms = {**held.gate.rules.terms, **stated, "why": why}
    rules = replace(held.gate.rules, terms=terms)
    return replace(held.gate, rules=rules, sentence=asked_because(steps, confirmed=held.confirmed))


def _asked(job: Job, way: Way) -> Ask | None:
    """Open the ask of a call, if it has none yet."""
    if way.gate is None or way.bound is None:
        return None
    new = _ask_of(job, way.place) is None
    if way.gate.rules.asks:  # an agent as a tool
        form = _confirmation(job, way, way.gate, way.bound)
        ask = job.run.asked(f"{way.place}.1", form.content)
    else:
        ask = asked_for(job.run, way.place, way.gate, way.bound)
    if new:
        job.agent.voice.asked(job.agent.name, ask)
    return ask


def _queued(job: Job, way: Way) -> Settled:
    """Let a call wait in the queue. The mark is written first: an ask without one is waited for."""
    mark, journal = marked(way.place), job.run.journal
    new = mark not in journal.entries
    if new:
        journal.record(mark, "queued", way.call.tool)
    ask = _asked(job, way)
    step = _step(job, way, way.call, status="waiting")
    if new:
        job.agent.voice.step(job.agent.name, step)
    # Here, not once the turn is settled: a call beside it that waits holds nothing up.
    job.queue.add(way, job.plans)
    return Settled(way.call, queued(ask), step, place=way.place, ask=ask, waits=True)


def settle(job: Job, lane: Lane, way: Way) -> Passage:
    """Make one call, and say what came of it."""
    run, call = job.run, way.call
    try:
        if way.bad is not None:
            raise refuse(run, way.place, call.tool, way.bad)
        if way.known is not None:
            result = recorded(run, way.place, way.known)
        else:
            result = yield from _made(job, lane, way)
        if _refused(job, way):
            return _failed(job, way, None, result_text(result))
    except (Outcome, StepFailed) as error:
        return _failed(job, way, error)
    except InvalidEdit as error:
        return _failed(job, way, StepFailed(call.tool, "InvalidEdit", str(error)))
    final = _final(job, way)
    plain = _plain(way, result)
    step = _step(job, way, final, result=plain)
    return Settled(
        final,
        shortened(result_text(plain)),
        step,
        way.steps,
        _took(job, way.place),
        _inside(job, way.place),
        carried_out=True,
        place=way.place,
        ask=_ask_of(job, way.place),
    )


def _made(job: Job, lane: Lane, way: Way) -> Passage:
    run = job.run
    if way.gate is None or way.bound is None:
        raise AssertionError("unreachable: a call that can be made has a gate")
    if way.gate.rules.asks:
        return (yield from _inner(job, lane, way, way.gate, way.bound))
    if way.asks:
        ask = run.journal.asks[run.journal.place(way.place)]
        if way.new and ask.decision:
            job.agent.voice.calling(job.agent.name, _final(job, way))
        return (yield from call_passage(run, lane, way.place, way.gate, way.bound))
    if way.new:
        job.agent.voice.calling(job.agent.name, way.call)
    return (yield from alone(run, lane, way.place, way.gate, way.bound))


def _inner(job: Job, lane: Lane, way: Way, gate: Gated, bound: Bound) -> Passage:
    """Run a tool that asks people itself, such as another agent; confirmed first, if it must be."""
    run = job.run
    run.entry(way.place, "inner", way.call.tool, holds=True)
    if way.asks:
        form = _confirmation(job, way, gate, bound)
        decision = yield from run.asking(lane, f"{way.place}.1", form)
        ask = run.journal.asks[f"{way.place}.1"]
        if not decision:
            raise Answered(ask) if decision.verdict == "respond" else Rejected(ask)
    args = gate.tool.thaw(bound.args, bound)
    try:
        return (yield from run.calling(lane, f"{way.place}.2", gate, (), args))
    except (Outcome, StepFailed, Diverged):
        raise
    except Misuse as error:
        if not isinstance(error, BadValue):
            raise  # the tool is not written as it should be
        raise StepFailed(way.call.tool, kind_of(error), message_of(error)) from error
    except Exception as error:
        # It runs again at every replay and fails again, so there is nothing to record.
        raise StepFailed(way.call.tool, kind_of(error), message_of(error)) from error


def _confirmation(job: Job, way: Way, gate: Gated, bound: Bound) -> Form[Decision]:
    why = gate.rules.terms.get("why")
    return job.run.forms.confirm(_confirming(way.call.tool), facts=bound.args, why=why)


def _plain(way: Way, result: object) -> object:
    """Return a result as JSON again: the model reads what the journal has."""
    return way.gate.kept(result) if way.gate is not None else result


def _final(job: Job, way: Way) -> ToolCall:
    """Return the call as it was made: edited, if a person edited it."""
    ask = job.run.journal.asks.get(job.run.journal.place(way.place))
    if ask is None or ask.original is None or not ask.decision:
        return way.call
    hidden = ask.content.hidden  # a model never hears of these
    return replace(way.call, args={n: v for n, v in ask.args.items() if n not in hidden})


def _refused(job: Job, way: Way) -> bool:
    """Whether people said no, although the tool has something to return then (`on_reject`)."""
    ask = _ask_of(job, way.place)
    return ask is not None and ask.decision is not None and not ask.decision


def _failed(
    job: Job, way: Way, error: Outcome | StepFailed | None, text: str | None = None
) -> Settled:
    final = _final(job, way)
    said = text if error is None else told(error)
    step = _step(job, way, final, error=str(error or "a person said no"), status="failed")
    return Settled(
        final,
        said or "",
        step,
        took=_took(job, way.place),
        inside=_inside(job, way.place),
        refused=not isinstance(error, StepFailed),
        place=way.place,
        ask=_ask_of(job, way.place),
    )


def _inside(job: Job, place: str) -> Spent:
    """Return what agents used up that worked on a call: the journal has all of it."""
    spent, journal = Spent(), job.run.journal
    if place not in journal.prefixes and f"{place}.2" not in journal.entries:
        return spent
    for key, entry in tuple(journal.entries.items()):
        if not key.startswith(f"{place}."):
            continue
        took = float(entry.said.get("took") or 0.0)
        if entry.verb == "model":
            spent.model(Reply.of(entry.said["result"]).usage, took)
        else:
            spent.seconds += took
    return spent


def _took(job: Job, place: str) -> float:
    """Return for how long a tool worked; how long people took does not count."""
    journal = job.run.journal
    entry, ask = journal.entries.get(place), journal.asks.get(journal.place(place))
    if entry is not None:
        return float(entry.said.get("took", 0.0))
    if ask is None or ask.effect is None or ask.effect.ended_at is None or ask.effect.doubt:
        return 0.0  # in doubt, it was people who took so long
    return (ask.effect.ended_at - ask.effect.begun_at).total_seconds()


def _step(job: Job, way: Way, final: ToolCall, **came: Any) -> ActionStep:  # noqa: ANN401
    ask = _ask_of(job, way.place)
    return ActionStep(
        at=job.run.journal.store.now(),
        name=final.tool,
        args=dict(final.args),
        ask=ask.id if ask is not None else None,
        **came,
    )
