"""What time will do to an ask, and when: remind people, call others in, settle it, close it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sayso.model.ask import Ask

Deed = Literal["remind", "escalate", "expire", "settle"]


@dataclass(frozen=True, slots=True)
class Due:
    """One thing that the clock does to an ask, and the moment for it."""

    at: datetime
    deed: Deed


def next_at(ask: Ask) -> datetime | None:
    """Return when the clock has something to do, `None` if never.

    Deciding an ask does not change this: the index of what is due holds no closed asks.
    """
    if ask.settles_at is not None:
        return ask.settles_at
    if _timeless(ask):
        return None
    return min((due.at for due in _ahead(ask)), default=None)


def due(ask: Ask, now: datetime) -> Due | None:
    """Return what the clock has to do by now, the most final first."""
    if ask.closed:
        return None
    if ask.settling:
        at = ask.settles_at
        return Due(at, "settle") if at is not None and at <= now else None
    if _timeless(ask):
        return None
    return next((found for found in _ahead(ask) if found.at <= now), None)


def _timeless(ask: Ask) -> bool:
    content = ask.content
    return content.due_at is None and (content.ruling is None or not content.ruled.ladder)


def _ahead(ask: Ask) -> Iterator[Due]:
    """What is ahead of an open ask. Once it is past due, nobody needs a reminder."""
    ruled, due_at = ask.content.ruled, ask.due_at
    if due_at is not None:
        yield Due(due_at, "expire")
    for after, _ in ruled.ladder[ask.climbed : ask.climbed + 1]:
        yield Due(ask.opened_at + timedelta(seconds=after), "escalate")
    if due_at is not None and ask.reminded < len(ruled.remind):
        yield Due(reminder(ask, due_at, ask.reminded), "remind")


def reminder(ask: Ask, due_at: datetime, number: int) -> datetime:
    """Return when people are reminded for the nth time: at a share of the time they have."""
    return ask.opened_at + (due_at - ask.opened_at) * ask.content.ruled.remind[number]
