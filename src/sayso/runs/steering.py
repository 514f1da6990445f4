"""What people do to runs from outside: start, cancel, retry."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

from sayso.asks.identity import identify
from sayso.asks.standing import grow, stamped, standing, tries
from sayso.asks.withdrawing import check_stop
from sayso.errors import RunOver, ThreadBusy, UnknownRun
from sayso.model.actor import Actor, Origin
from sayso.model.content import check_word, check_words
from sayso.model.event import GENESIS, Event, link
from sayso.model.ids import short_id
from sayso.model.lifecycle import RunStatus
from sayso.runs.workflow import Workflow
from sayso.store.contract import Append, RunRow, StartRun, SteerRun, Store

_ID_LENGTH = 8  # whether it is free shows only once the run is written
_TO_REPORT = timedelta(seconds=30)
_FINAL = ("done", "cancelled")


def new_row(
    store: Store, workflow: Workflow, thread: str | None, team: str | None = None
) -> RunRow:
    """Return the row of a run that does not exist yet.

    Raises:
        ThreadBusy: the thread has a run that is not over.
    """
    check_word(thread, "thread")
    if thread is not None:
        check_thread(store, thread, team)
    run_id = short_id("r", os.urandom(16), _ID_LENGTH)
    now = store.now()
    return RunRow(
        id=run_id,
        workflow=workflow.name,
        path=workflow.path,
        thread=thread,
        status="ready",
        started_at=now,
        changed_at=now,
        now=now,
        team=team,
        code=workflow.version,
    )


def check_thread(store: Store, thread: str, team: str | None) -> None:
    """Refuse a second run of a team's thread: one at a time, or their memory would mix."""
    row = store.run_of_thread(thread, team)
    if row is not None:
        raise ThreadBusy(thread, row.id, row.status)


def said_at_start(
    workflow: Workflow,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    origin: Origin,
    thread: str | None,
    fresh: bool,
    team: str | None = None,
) -> dict[str, Any]:
    """Return what the first event of a run says."""
    return stamped(
        origin,
        workflow=workflow.name,
        path=workflow.path,
        version=workflow.version or None,
        input=workflow.freeze(args, kwargs),
        thread=thread,
        fresh=fresh or None,
        team=team,
    )


def start(store: Store, row: RunRow, said: dict[str, Any], *, agent: str) -> RunRow:
    """Write a new run down, for any worker to carry on.

    Raises:
        ThreadBusy: somebody started another run of the thread just now.
    """
    for _ in tries(row.id):
        event = _first(store, row, said, agent)
        if store.commit(Append(event=event), run=StartRun(row)):
            break
        if row.thread is not None:
            check_thread(store, row.thread, row.team)
        row = row._replace(id=short_id("r", os.urandom(16), _ID_LENGTH + 2))
    return row


def _first(store: Store, row: RunRow, said: dict[str, Any], agent: str) -> Event:
    return link(
        row.id,
        1,
        "run.started",
        at=store.now(),
        actor=Actor("agent", agent),
        payload=said,
        salt=os.urandom(16),
        previous=GENESIS,
    )


def known(store: Store, run_id: str) -> RunRow:
    """Return how a run stands.

    Raises:
        UnknownRun: there is none of this id.
    """
    row = store.run(run_id) if isinstance(run_id, str) else None
    if row is None:
        raise UnknownRun(run_id)
    return row


def cancel(
    store: Store,
    run_id: str,
    *,
    by: str | None,
    origin: Origin,
    note: str | None = None,
) -> RunRow:
    """End a run before its next effect, and take its open asks back. Doubts stay.

    One that failed is not tried again then.

    That takes what rejecting its open asks takes (E59). Where nothing of it is open, and nobody
    is named, it is done under the account.

    Raises:
        RunOver: it has ended already.
        Forbidden: an open ask of it is for others to decide.
        UnknownRun: it belongs to a team that this person is not of.
        UnknownPerson: there is no such person, or nobody was named though something is open.
    """
    for _ in tries(run_id):
        row = _endable(store, run_id)
        named = None if by is None else _seeing(store, row, by, origin)
        actor = check_stop(store, run_id, by=by, origin=origin) or named
        if actor is None:
            actor = Actor("person", origin.account.partition("@")[0])
        if _ended(store, row, actor, origin, note):
            return known(store, run_id)
    raise AssertionError("unreachable: trying ends with an error")


def end(store: Store, run_id: str, *, actor: Actor, origin: Origin, note: str) -> None:
    """End a run as a decision said that was made by whoever may: `check_stop` was asked then.

    Raises:
        RunOver: it has ended already.
    """
    for _ in tries(run_id):
        if _ended(store, _endable(store, run_id), actor, origin, note):
            return


def _seeing(store: Store, row: RunRow, by: str, origin: Origin) -> Actor:
    roster = store.register()
    if roster.knows(by) and not roster.sees(by, row.team):
        raise UnknownRun(row.id)
    return identify(roster, by, origin)


def _endable(store: Store, run_id: str) -> RunRow:
    row = known(store, run_id)
    if row.status in _FINAL:
        raise RunOver(run_id, row.status, "cancel")
    return row


def _ended(store: Store, row: RunRow, actor: Actor, origin: Origin, note: str | None) -> bool:
    """Write that a run was ended, with what it takes back; False on a lost race."""
    check_words(note, "note")
    withdrawn = _withdrawals(store, row.id, actor, origin)
    said = stamped(origin, reason=note or "cancelled")
    if not steered(store, row, "cancelled", "run.cancelled", said, actor, withdrawn):
        return False
    _leave_nothing(store, row.id, actor, origin)
    return True


def _leave_nothing(store: Store, run_id: str, actor: Actor, origin: Origin) -> None:
    """Take back what its worker asked at the last moment, and see to what it was carrying out.

    Nobody can write under its token any more. A call that was begun is given some time to
    report what came of it; then the sweep makes it a doubt.
    """
    for _ in tries(run_id):
        late = _withdrawals(store, run_id, actor, origin)
        if not late or store.commit(*late):
            break
    for events in store.run_asks(run_id):
        at = standing(store, events[0].stream)
        if at.ask.effect is not None and at.ask.effect.status == "intended" and at.holder:
            store.renew(at.holder, _TO_REPORT)


def _withdrawals(store: Store, run_id: str, actor: Actor, origin: Origin) -> list[Append]:
    appends = []
    for events in store.run_asks(run_id):
        at = standing(store, events[0].stream)
        if not at.ask.closed and at.ask.kind != "doubt":
            said = stamped(origin, note="The run was cancelled.")
            event, ask = grow(at.ask, "ask.withdrawn", at=at.now, actor=actor, payload=said)
            appends.append(Append(event=event, ask=ask))
    return appends


def retry(store: Store, run_id: str, *, actor: Actor, origin: Origin) -> RunRow:
    """Let a parked or failed run go on from where it stood.

    Raises:
        RunOver: it is neither parked nor failed.
        ThreadBusy: its thread has gone on with another run.
    """
    for _ in tries(run_id):
        row = known(store, run_id)
        if row.status not in ("parked", "failed"):
            raise RunOver(run_id, row.status, "retry")
        if row.thread is not None and row.status == "failed":
            check_thread(store, row.thread, row.team)
        events = store.stream(run_id)
        last = events[-1].payload or {} if events else {}
        said = stamped(origin, forgets=last.get("forgets") or None)
        if steered(store, row, "ready", "run.retried", said, actor, []):
            return known(store, run_id)
    raise AssertionError("unreachable: trying ends with an error")


def park_unread(store: Store, row: RunRow, reason: str, *, origin: Origin, agent: str) -> None:
    """Park a run whose journal cannot be read. The event goes behind whatever is there."""
    said = stamped(origin, reason=reason)
    steered(store, row, "parked", "run.parked", said, Actor("agent", agent), [])


def steered(
    store: Store,
    row: RunRow,
    status: RunStatus,
    kind: str,
    said: dict[str, Any],
    actor: Actor,
    more: list[Append],
) -> bool:
    """Write what was done to a run from outside, whatever its worker thinks; False on a lost race."""
    head = store.head(row.id)
    event = link(
        row.id,
        head.seq + 1,
        kind,
        at=store.now(),
        actor=actor,
        payload=said,
        salt=os.urandom(16),
        previous=head.hash,
    )
    change = SteerRun(id=row.id, seq=event.seq, before=row.status, status=status)
    return store.commit(Append(event=event), *more, run=change)
