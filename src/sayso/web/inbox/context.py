"""What stands beside an ask: its run, the agent's record, what was decided before, and why people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import cast

from sayso.asks.books import book_of
from sayso.asks.standing import Standing
from sayso.channels.explanation import did, next_step, policy_words, said_in_a_word
from sayso.channels.facts import facts_from
from sayso.channels.headline import headline, named
from sayso.channels.precedents import majority, precedent
from sayso.channels.reputation import marks_words, reputation
from sayso.errors import SaysoError, Tampered
from sayso.insight.case import Case, proposed
from sayso.insight.nearest import cases_like
from sayso.insight.reading import asks_of as journalled
from sayso.insight.record import track_record
from sayso.model.ask import Ask
from sayso.model.event import Event
from sayso.model.span import say_span
from sayso.model.verdicts import Verdict
from sayso.runs.handle import goes_on, served, unserved
from sayso.runs.journal import asks_of
from sayso.runs.memory import (
    ActionStep,
    AnswerStep,
    DecisionStep,
    PlanStep,
    Step,
    TaskStep,
    remember,
)
from sayso.store.casebook import CaseFilter
from sayso.store.contract import RunRow
from sayso.web.inbox.card import shape_of, so_far
from sayso.web.inbox.filters import Filters
from sayso.web.look.views import (
    Context,
    KeyView,
    Outcome,
    RecordView,
    RunView,
    Sibling,
    SimilarCase,
    TimelineStep,
)
from sayso.web.visit import Visit

NUMBER = re.compile(r"[0-9]{1,9}")  # a place in a run, as its keys write it
_STEPS = 30
_STEPS_TO_COME = 10
_SIMILAR = 5
_RECORD = 20
_TITLE = 200
_OVER = ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Told:
    """A run as its journal tells somebody of it: its row, its own events, and what it asked them."""

    row: RunRow
    events: Sequence[Event]
    asks: Sequence[Ask]


def told_of(visit: Visit, ask: Ask) -> Told | None:
    """Read the run of an ask; `None` if it has none, or one that this person does not see.

    A run of no team may ask several: what it asked others is not told.
    """
    row = row_of(visit, ask)
    if row is None:
        return None
    run_id, roster = row.id, visit.people
    try:
        journals = visit.store.history(run_id)
        own = journals[0] if journals and journals[0][0].stream == run_id else []
        asks = asks_of(run_id, journals[1:] if own else journals)
    except SaysoError:  # it is not there, or cannot be read: the ask can be decided without it
        return None
    seen = [one for one in asks if visit.sees(one.content.team, one.content.agent, roster)]
    return Told(row, own, seen)


def row_of(visit: Visit, ask: Ask) -> RunRow | None:
    """Return how the run of an ask stands; `None` as `told_of` says."""
    if ask.content.run is None:
        return None
    try:
        return visit.run(ask.content.run)
    except SaysoError:
        return None


def context_of(visit: Visit, at: Standing, run: Told | None, filters: Filters) -> Context:
    """Return what stands beside an ask."""
    similar = _similar(visit, at.ask, filters)
    return Context(
        run=None if run is None else run_view(run, filters),
        record=_record(visit, at.ask),
        similar=similar,
        majority=majority([case.verdict for case in similar]) if similar else None,
        key=key_of(visit, at.ask),
        policy=tuple(_policy(at.ask)),
        siblings=tuple(_sibling(one, filters) for one in siblings(at.ask, run)),
    )


def _policy(ask: Ask) -> Iterator[str]:
    if ask.content.sentence and ask.kind != "doubt":  # there it is what is known, and read first
        yield ask.content.sentence
    words = policy_words(ask)
    if words:
        yield f"It was asked under {words}."
    seen = precedent(ask)
    if seen is not None:
        yield seen


# --- the run -----------------------------------------------------------------------------------


def run_view(run: Told, filters: Filters) -> RunView:
    """Return what a run did, what waits, and what is still to come."""
    done = list(_done(run, filters))
    waiting = [
        TimelineStep(
            state="wait",
            title=headline(ask)[:_TITLE],
            tool=ask.tool,
            at=ask.opened_at,
            href=filters.href(f"/inbox/{ask.id}"),
        )
        for ask in run.asks
        if not ask.closed and run.row.status not in _OVER
    ]
    kept = done[-_STEPS:]
    return replace(
        brief(run.row),
        steps=(*kept, *waiting, *(_still_to_come(run) if run.row.status not in _OVER else ())),
        earlier=len(done) - len(kept),
    )


def brief(row: RunRow) -> RunView:
    """Return a run without what it did, for which nothing of its journal is read."""
    return RunView(
        id=row.id,
        workflow=row.workflow,
        status=row.status,
        progress=row.progress,
        steps=(),
        thread=row.thread,
    )


def _done(run: Told, filters: Filters) -> Iterator[TimelineStep]:
    begun = run.row.started_at
    for step in remember(run.events, run.asks):
        made = _step(step, begun, filters)
        if made is not None:
            begun = step.at
            yield made


def _step(step: Step, since: datetime, filters: Filters) -> TimelineStep | None:
    """Draw one step. A plan is known by its decision, and a call that waits stands at the end."""
    href = getattr(step, "ask", None)
    link = None if href is None else filters.href(f"/inbox/{href}")
    match step:
        case TaskStep():
            return TimelineStep(state="done", title=f"Started {step.workflow}", at=step.at)
        case ActionStep(status="waiting") | PlanStep():
            return None
        case ActionStep():
            failed = step.status != "done"
            tool = step.name.rpartition("<locals>.")[2]  # of a function in a function, its own name
            title = step.error or tool if failed else named(tool)
            took = say_span(step.at - since) if step.at - since >= timedelta(seconds=1) else None
            return TimelineStep(
                state="failed" if failed else "done",
                title=title[:_TITLE],
                tool=tool,
                at=step.at,
                took=took,
                href=link,
            )
        case DecisionStep():
            word = did(step.kind, step.decision.verdict)
            by = "the clock" if step.decision.by.kind == "clock" else step.decision.by.id
            title = f"{by} {word}: {step.title}"[:_TITLE]
            return TimelineStep(state="done", title=title, at=step.at, href=link)
        case AnswerStep():
            return TimelineStep(state="done", title="Finished", at=step.at)


def _still_to_come(run: Told) -> list[TimelineStep]:
    """Return the steps of the plan in force that no call has come to yet."""
    plans = [ask for ask in run.asks if ask.kind == "plan" and ask.decision]
    if not plans:
        return []
    plan = plans[-1]
    steps = [one if isinstance(one, dict) else {"title": one} for one in plan.args.get("steps", ())]
    done = 0
    for ask in run.asks:
        carried = ask.effect is not None and ask.effect.status == "done"
        if ask.opened_at >= plan.opened_at and carried:
            done = _after(steps, done, ask.tool)
    for event in run.events:
        said = event.payload or {}
        if event.at >= plan.opened_at and (event.kind, said.get("verb")) == ("step.done", "call"):
            done = _after(steps, done, said.get("name"))
    return [
        TimelineStep(
            state="todo", title=str(one.get("title", ""))[:_TITLE], tool=_text(one, "tool")
        )
        for one in steps[done:][:_STEPS_TO_COME]
    ]


def _after(steps: Sequence[dict[str, object]], done: int, tool: object) -> int:
    """Return how many steps are done once this tool was called: as a plan counts them."""
    left = range(done, len(steps))
    return next((place + 1 for place in left if steps[place].get("tool") == tool), done)


def _text(said: dict[str, object], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) else None


# --- the turn ----------------------------------------------------------------------------------


def siblings(ask: Ask, run: Told | None) -> list[Ask]:
    """Return the other calls of the turn that an ask is from, in order.

    Their keys say so: each is a place under the place of the turn, which stands right behind a
    reply of the model (`agent/turn.py`).
    """
    turn = _turn(ask)
    if run is None or turn is None or not _replied(run, turn):
        return []
    return [one for one in run.asks if one.id != ask.id and _turn(one) == turn]


def _turn(ask: Ask) -> str | None:
    if not ask.of_run or ask.key is None or ask.kind not in ("action", "doubt"):
        return None
    place = ask.key.partition(":")[2].partition("?")[0].partition("!")[0]
    # An agent as a tool is confirmed one place further in.
    parts = place.split(".")
    return ".".join(parts[:-2] if ask.tool is None else parts[:-1]) or None


def _replied(run: Told, turn: str) -> bool:
    lane, _, number = turn.rpartition(".")
    if not NUMBER.fullmatch(number):
        return False
    before = ".".join(filter(None, (lane, str(int(number) - 1))))
    return any(
        said.get("verb") == "model" and said.get("key") == before
        for said in (event.payload or {} for event in run.events if event.kind == "step.done")
    )


def _sibling(ask: Ask, filters: Filters) -> Sibling:
    return Sibling(
        id=ask.id,
        href=filters.href(f"/inbox/{ask.id}"),
        title=headline(ask)[:_TITLE],
        shape=shape_of(ask),
        state="waits" if ask.open else so_far(ask),
    )


# --- what was decided before -------------------------------------------------------------------


def _record(visit: Visit, ask: Ask) -> RecordView | None:
    if ask.tool is None:
        return None
    found = track_record(
        visit.store,
        agent=ask.content.agent,
        tool=ask.tool,
        kind=ask.kind,
        teams=visit.teams(),
        team=ask.content.team or "",  # a namesake in another team is another agent
        limit=_RECORD,
    )
    if not found.verdicts:
        words = "Nobody has decided a call of this tool by this agent before."
        return RecordView(verdicts=(), words=words)
    parts = ((found.approved, "approved as proposed"), (found.edited, "edited"))
    said = [f"{count} {word}" for count, word in (*parts, (found.rejected, "rejected")) if count]
    answered = len(found.verdicts) - found.approved - found.edited - found.rejected
    said += [f"{answered} answered"] if answered > 0 else []
    return RecordView(
        verdicts=cast("tuple[Verdict, ...]", found.verdicts),
        words=f"Of the last {len(found.verdicts)}: {', '.join(said)}.",
    )


def key_of(visit: Visit, ask: Ask) -> KeyView | None:
    """Return the record of the key that an ask counts for, or is about; `None` if it has none."""
    if ask.stake is None:
        return None
    key = ask.stake.key
    try:
        book = book_of(visit.store, key)
    except Tampered:
        return KeyView(id=key, words="Its record is not what was written")
    alone = ask.decision is not None and ask.decision.grant is not None
    if book is None:
        return KeyView(id=key, words="None of its calls was judged yet")
    return KeyView(
        id=key,
        href=f"/trust/{key}",
        words=reputation(book),
        marks=book.marks[-_RECORD:],
        marks_words=marks_words(book.marks[-_RECORD:]),
        granted=alone,
    )


def _similar(visit: Visit, ask: Ask, filters: Filters) -> tuple[SimilarCase, ...]:
    """Return what people decided on things like it before, of what this person may see."""
    text = proposed(ask)
    if not text.strip():
        return ()
    wanted = CaseFilter(tool=ask.tool, kind=ask.kind, teams=visit.teams())
    cases = cases_like(visit.store, text[:_LONGEST], wanted, limit=_SIMILAR + 1)
    earlier = [case for case in cases if case.id != ask.id and _before(case, ask)][:_SIMILAR]
    asked = {one.id: one for one in journalled(visit.store, [case.id for case in earlier])}
    return tuple(_case(case, asked.get(case.id), filters) for case in earlier)


_LONGEST = 20_000  # characters that a search is made of


def _before(case: Case, ask: Ask) -> bool:
    return ask.closed_at is None or case.at <= ask.closed_at


def _case(case: Case, ask: Ask | None, filters: Filters) -> SimilarCase:
    return SimilarCase(
        id=case.id,
        href=filters.href(f"/inbox/{case.id}"),
        about=" ".join(case.about.split()) if ask is None or ask.tool is None else headline(ask),
        verdict=case.verdict,
        by=case.by,
        at=case.at,
        note=case.note,
        score=round(case.score * 100),
        outcome=case.outcome,
    )


# --- what came of it ---------------------------------------------------------------------------


def outcome_of(visit: Visit, at: Standing, run: Told | None) -> Outcome | None:
    """Say what came of a decision; `None` while there is none, and if nobody has to act."""
    ask, effect = at.ask, at.ask.effect
    if not ask.closed or ask.decision is None:
        return None
    if effect is None:
        words = _waits(visit, at, run)
        return None if words is None else Outcome(state="waits", text=words)
    match effect.status:
        case "intended":
            again = f", attempt {effect.attempt}" if effect.attempt > 1 else ""
            return Outcome(
                state="running",
                text=f"It was begun{again}. There is no result yet.",
                at=effect.begun_at,
            )
        case "done":
            facts = () if effect.result is None else facts_from([("result", effect.result)])
            return Outcome(state="done", text="It is done.", facts=facts, at=effect.ended_at)
        case "failed":
            facts = facts_from([("error", effect.error or "no reason given")])
            return Outcome(state="failed", text="It failed.", facts=facts, at=effect.ended_at)
        case "unknown":
            text = "Nobody knows whether it happened."
            return Outcome(state="unknown", text=text, at=effect.ended_at, doubt=effect.doubt)


def _waits(visit: Visit, at: Standing, run: Told | None) -> str | None:
    ask = at.ask
    if ask.of_run:
        if run is None:
            return None
        if run.row.status == "ready" and not served(visit.store, run.row.workflow):
            return f"{said_in_a_word(ask)}. {unserved(run.row)}"
        return goes_on(run.row)
    return next_step(ask, at.until, lapsed=at.lapsed)
