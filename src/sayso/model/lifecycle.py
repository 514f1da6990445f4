"""The lives of asks, runs and effects, as tables that code and tests both use.

Two rules, and no others: a status changes only along an arrow of its table,
and a status without arrows is final. The fold of a journal (`model.folding`)
refuses a history that breaks them, so a row edited by hand is noticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sayso.errors import Tampered

AskStatus = Literal["open", "settling", "decided", "withdrawn"]
RunStatus = Literal["ready", "running", "waiting", "parked", "done", "failed", "cancelled"]
EffectStatus = Literal["intended", "done", "failed", "unknown"]

Table = Mapping[str, frozenset[str]]


def _table(**arrows: str) -> Table:
    return {status: frozenset(targets.split()) for status, targets in arrows.items()}


ASK: Table = _table(
    open="decided settling withdrawn",
    settling="decided open withdrawn",
    decided="",
    withdrawn="",
)

RUN: Table = _table(
    ready="running parked cancelled",
    running="waiting ready parked done failed cancelled",
    waiting="ready parked cancelled",
    parked="ready cancelled",
    done="",
    failed="ready cancelled",
    cancelled="",
)

EFFECT: Table = _table(
    intended="done failed unknown",
    unknown="intended done failed",
    done="",
    failed="",
)


def may(table: Table, current: str, target: str) -> bool:
    """Whether the table has an arrow from `current` to `target`."""
    return target in table[current]


def move(table: Table, current: str, target: str, *, what: str) -> None:
    """Check one step of a recorded life.

    Raises:
        Tampered: the table has no such arrow, so nobody can have written it through sayso.
    """
    if not may(table, current, target):
        raise Tampered(
            f"The journal of {what} goes from {current!r} to {target!r}, which cannot happen. "
            "Run: sayso audit verify"
        )
