"""Asks and events as plain data, for scripts: what `--json` prints.

Texts are as they were given, not made visible: JSON written in ASCII escapes
whatever could hide, and a script wants the value itself.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sayso.channels.explanation import explained
from sayso.errors import Tampered
from sayso.model.actor import Origin, Roster
from sayso.model.ask import Ask, Decision, Effect, Vote
from sayso.model.event import Event
from sayso.model.tally import missing


def ask_record(ask: Ask, roster: Roster | None = None) -> dict[str, Any]:
    """Return an ask as data: what is shown, how it stands, what came of it."""
    content = ask.content
    shown = content.to_json()
    proposal = shown.pop("proposal")
    options = [{"label": o.label, "value": o.value, "detail": o.detail} for o in content.options]
    return {
        "id": ask.id,
        "kind": ask.kind,
        "status": ask.status,
        "title": ask.title,
        "version": ask.version,
        "digest": ask.digest,
        "tool": proposal["tool"],
        "args": proposal["args"],
        "schema": ask.proposal.schema,
        "original": ask.original,
        **{name: shown.get(name) for name in _STATED},
        **explained(ask),
        "tags": list(content.tags),
        "conflicts": list(content.conflicts),
        "files": [note.to_json() | {"image": note.image} for note in content.files],
        "stated_by": "agent" if content.posted else "tool",
        "preview": _named(shown.get("preview")),
        "facts": _named(shown.get("facts")),
        "hidden": list(content.hidden),
        "options": options,
        "allow": list(ask.allow),
        "missing": [str(factor) for factor in missing(ask, roster)] if roster and ask.open else [],
        "votes": [_vote(vote) for vote in ask.votes],
        "decision": _decision(ask.decision),
        "pending": _decision(ask.pending),
        "settles_at": _moment(ask.settles_at),
        "stand_ins": list(ask.stand_ins),
        "assignee": ask.assignee,
        "repeats": ask.repeats,
        "effect": _effect(ask.effect),
        "evidence": list(ask.evidence),
        "held": ask.held,
        "gone": ask.gone,
        "trust": None if ask.stake is None else ask.stake.to_json(),
        "harm": None if ask.harm is None else {"what": ask.harm.what, "by": ask.harm.by.id},
        "solo": ask.solo,
        "opened_at": _moment(ask.opened_at),
        "closed_at": _moment(ask.closed_at),
        "due_at": _moment(ask.due_at),
    }


_STATED = (
    "agent",
    "why",
    "confidence",
    "risk",
    "sentence",
    "needs",
    "deny",
    "reversible",
    "affects",
    "impact",
    "answer",
    "about",
    "run",
    "thread",
    "chain",
    "requester",
    "owner",
    "team",
    "unseen",
)


def event_record(event: Event) -> dict[str, Any]:
    """Return one line of the journal as data, with all that is needed to check the chain."""
    return {
        "stream": event.stream,
        "seq": event.seq,
        "kind": event.kind,
        "at": _moment(event.at),
        "actor": str(event.actor),
        "payload": event.payload,
        "salt": event.salt.hex() if event.salt is not None else None,
        "digest": event.digest.hex(),
        "hash": event.hash.hex(),
        "cursor": event.cursor,
    }


def kept_record(event: Event) -> dict[str, Any]:
    """Return the same for an export: what makes no sense is kept as it stands, and said to be so."""
    try:
        return event_record(event)
    except Tampered:
        return {
            "stream": event.stream,
            "seq": event.seq,
            "kind": event.kind,
            "at": None,
            "actor": event.who,
            "payload": None,
            "salt": event.salt.hex() if event.salt is not None else None,
            "digest": event.digest.hex(),
            "hash": event.hash.hex(),
            "cursor": event.cursor,
            "unreadable": {"micros": event.micros, "text": event.text},
        }


def _vote(vote: Vote) -> dict[str, Any]:
    return {
        "by": vote.by.id,
        "verdict": vote.verdict,
        "version": vote.version,
        "seen": vote.seen,
        "at": _moment(vote.at),
        "answer": vote.answer,
        "note": vote.note,
        "kind": vote.kind,
        "end": vote.end,
        "harmful": vote.harmful,
        **_origin(vote.origin),
    }


def _decision(decision: Decision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {
        "verdict": decision.verdict,
        "by": decision.by.id,
        "by_kind": decision.by.kind,
        "at": _moment(decision.at),
        "digest": decision.digest,
        "version": decision.version,
        "args": decision.args,
        "answer": decision.answer,
        "note": decision.note,
        "kind": decision.kind,
        "end": decision.end,
        "harmful": decision.harmful,
        "grant": decision.grant,
        **_origin(decision.origin),
    }


def _effect(effect: Effect | None) -> dict[str, Any] | None:
    if effect is None:
        return None
    return {
        "status": effect.status,
        "key": effect.key,
        "attempt": effect.attempt,
        "begun_at": _moment(effect.begun_at),
        "ended_at": _moment(effect.ended_at),
        "result": effect.result,
        "error": effect.error,
        "doubt": effect.doubt,
        "late": list(effect.late),
    }


def _named(pairs: list[tuple[str, Any]] | None) -> dict[str, Any] | None:
    return None if pairs is None else dict(pairs)


def _origin(origin: Origin) -> dict[str, Any]:
    return {"via": origin.via, "account": origin.account}


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None
