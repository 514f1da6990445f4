"""What is written in one commit, query by query: events, and the rows that they change.

Everything in a row follows from the value it is written from, so both databases write the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta

from sayso.model.actor import Person
from sayso.model.agenda import next_at
from sayso.model.ask import Ask
from sayso.model.event import micros
from sayso.store.contract import (
    Append,
    HoldRun,
    LeaveRun,
    Opening,
    RunChange,
    StartRun,
    SteerRun,
    rank_of,
)
from sayso.store.named import RowChange

MOST = 8  # parts of one statement: every combination of parts is a statement to be prepared
NEVER = 2**62  # later than any time

Place = tuple[str, int]  # of an event: its stream, and its number there


def parts_of(
    appends: Sequence[Append], run: RunChange | None, erase: Sequence[Place] = ()
) -> list[RowChange]:
    """Return what is to be written, query by query.

    Runs before asks, and both in one order: two who want the same must not wait for each other.
    """
    parts = [] if run is None else [_steering(run)]
    wakes = [(run_id, append.event.stream) for append in appends if (run_id := _woken_by(append))]
    for run_id, ask_id in sorted(wakes):
        parts.append(
            RowChange("run_wake", {"run_id": run_id, "woken": f"|{ask_id}|"}, needed=False)
        )
    for append in sorted(appends, key=lambda append: append.event.stream):
        if append.ask is not None:
            parts.append(_asking(append, append.ask))
        parts.append(RowChange("note", append.event._asdict()))
    for append in appends:
        if append.person is not None:
            parts.append(RowChange("put_person", _row_of(append.person, active=append.active)))
        parts += append.beside
    return parts + _erasing(erase) if erase else parts


def plain(appends: Sequence[Append]) -> bool:
    """Whether they change no ask twice, and nothing beside asks.

    What is beside them may put a row in place whatever came of the parts before it.
    """
    asks = [append.event.stream for append in appends if append.ask is not None]
    alone = all(append.person is None and not append.beside for append in appends)
    return alone and len(set(asks)) == len(asks)


def _erasing(erase: Sequence[Place]) -> list[RowChange]:
    """Return what goes with payloads, and with the files of their ask."""
    parts = [
        RowChange(name, {"stream": stream, "seq": seq, "id": stream}, needed=False)
        for stream, seq in erase
        for name in ("erase", "forget", "drop_case", "drop_text")
    ]
    files = ("hold_files", "drop_files", "hide_files")  # in this order
    return parts + [RowChange(name, {"stream": erase[0][0]}, needed=False) for name in files]


def _bars(names: Sequence[str]) -> str:
    return f"|{'|'.join(names)}|" if names else ""


def _steering(change: RunChange) -> RowChange:
    """Return the query that changes a run's row."""
    match change:
        case StartRun(row, span):
            return RowChange(
                "run_start",
                {
                    "id": row.id,
                    "workflow": row.workflow,
                    "path": row.path,
                    "thread": row.thread,
                    "status": row.status,
                    "run_seq": row.seq,
                    "token": row.token,
                    "worker": row.worker,
                    "span": None if span is None else span_of(span),
                    "attempt": row.attempt,
                    "waits": _bars(row.waits),
                    "progress": row.progress,
                    "team": row.team or "",
                    "code": row.code,
                    "started_at": micros(row.started_at),
                },
            )
        case HoldRun():
            return RowChange(
                "run_hold",
                {
                    "id": change.id,
                    "token": change.token,
                    "run_seq": change.seq,
                    "span": span_of(change.span),
                    "doing": change.doing,
                    "progress": change.progress,
                    "code": change.code,
                },
            )
        case LeaveRun():
            return RowChange(
                "run_leave",
                {
                    "id": change.id,
                    "token": change.token,
                    "run_seq": change.seq,
                    "status": change.status,
                    "waits": _bars(change.waits),
                    "wake": change.wake,
                    "doing": change.doing,
                    "progress": change.progress,
                    "code": change.code,
                },
            )
        case SteerRun():
            return RowChange(
                "run_steer",
                {
                    "id": change.id,
                    "before": change.before,
                    "run_seq": change.seq,
                    "status": change.status,
                },
            )


# What a run that waits for an ask goes on after.
_WAKING = frozenset({"ask.decided", "ask.withdrawn"})


def _woken_by(append: Append) -> str | None:
    """Return the run to be woken by this, if it closes an ask of one."""
    if append.ask is None or append.event.kind not in _WAKING:
        return None
    return append.ask.content.run


# What changes where an ask stands in the queue, or when the clock looks at it next.
_MOVING = frozenset(
    f"ask.{word}"
    for word in (
        *("edited", "raised", "settling", "taken_back"),
        *("reminded", "escalated", "assigned"),
    )
)


def _asking(append: Append, ask: Ask) -> RowChange:
    """Return the query that changes an ask's row."""
    lease, opens = append.lease, isinstance(append, Opening)
    parameters = index_row(ask) if opens else _changes_of(append, ask)
    parameters["holder"] = lease.holder if lease else None
    parameters["span"] = span_of(lease.span) if lease and lease.span else None
    parameters["people"] = append.people
    if isinstance(append, Opening):
        parameters["likeness"] = ask.likeness if append.once else None
        parameters["paced"] = int(append.paced)
        return RowChange("open", parameters)
    if append.event.kind in _MOVING:
        # What was edited asks something else than it did.
        edited = {"edited": append.event.kind == "ask.edited"}
        return RowChange("move", parameters | _place_of(ask) | edited)
    if ask.effect is None and lease is None and not ask.held:
        return RowChange("judge", parameters)
    parameters |= {"effect": ask.effect.status if ask.effect else None, "over": ask.over}
    return RowChange("grow", parameters)


def _changes_of(append: Append, ask: Ask) -> dict[str, object]:
    return {
        "id": ask.id,
        "status": ask.status,
        "version": ask.version,
        "voters": _voters(ask),
        "roles": _roles(ask),
        "before": micros(append.before) if append.before else None,
        "held": append.held,
        "closed_at": micros(ask.closed_at) if ask.closed_at else None,
    }


def _roles(ask: Ask) -> str:
    """Return the roles an ask is for, as the index keeps them."""
    return f"|{'|'.join(ask.needs.roles)}|"


def _voters(ask: Ask) -> str:
    """Return who voted on the version shown now, as the index keeps it."""
    return f"|{'|'.join([vote.by.id for vote in ask.votes])}|"


INDEXED = (
    *("id", "ask_stream", "ask_kind", "status", "rank", "risk", "run", "thread", "key"),
    *("roles", "voters", "version", "opened_at", "due_at", "next_at", "latest", "agent"),
    *("assignee", "effect", "team", "tool", "closed_at"),
)


def index_row(ask: Ask) -> dict[str, object]:
    """Return what the index must say of an ask: all of it follows from the journal."""
    content = ask.content
    return {
        "id": ask.id,
        "ask_stream": ask.stream,
        "ask_kind": content.kind,
        "status": ask.status,
        "risk": content.risk,
        "run": content.run,
        "thread": content.thread,
        "key": ask.key,
        "roles": _roles(ask),
        "voters": _voters(ask),
        "version": ask.version,
        "opened_at": micros(ask.opened_at),
        "agent": None if _by_policy(ask) else content.agent,
        "effect": ask.effect.status if ask.effect else None,
        "team": content.team or "",
        "tool": ask.tool,
        "closed_at": micros(ask.closed_at) if ask.closed_at else None,
        **_place_of(ask),
    }


def _place_of(ask: Ask) -> dict[str, object]:
    """Return where an ask stands in the queue, and when the clock looks at it next."""
    due_at = micros(ask.due_at) if ask.due_at else None
    next_ = next_at(ask)
    return {
        "rank": rank_of(ask.content),
        "due_at": due_at,
        "latest": NEVER if due_at is None else due_at,
        "next_at": micros(next_) if next_ else None,
        "assignee": ask.assignee,
    }


def _by_policy(ask: Ask) -> bool:
    return ask.decision is not None and ask.decision.by.kind == "policy"


def _row_of(person: Person, *, active: bool) -> dict[str, object]:
    """Return a person's row as query parameters."""
    return {
        "name": person.name,
        "roles": json.dumps(sorted(person.roles)),
        "teams": json.dumps(sorted(person.teams)),
        "active": int(active),
    }


def span_of(delta: timedelta) -> int:
    """Return a span in the unit of all times here."""
    return delta // timedelta(microseconds=1)
