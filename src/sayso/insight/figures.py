"""Figures from what was counted: rates, times and shares.

A rate without anything to divide by is `None`, never 0 or 1. Whatever says how much ran alone also
says what is known of the harm that escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sayso.autonomy.weighted import estimate
from sayso.insight.agreement import agreement
from sayso.insight.counting import seconds_in
from sayso.store.tallies import Sum

# Whose rejection counts against an agent; the others are questions, ratings and doubts.
REVIEWED = frozenset({"action", "plan", "draft"})
BY_PEOPLE = frozenset({"approved", "edited", "rejected", "sent_back"})
_SECOND = 1_000_000  # microseconds; and one of whatever else is kept in millionths
_MINUTE = 60 * _SECOND


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of what agents proposed, how long people took, and what is known of harm."""

    proposed: int
    alone: int
    granted: int
    reviewed: int
    approved: int
    edited: int
    rejected: int
    sent_back: int
    expired: int
    withdrawn: int
    asked: int
    approval_rate: float | None
    edit_rate: float | None
    override_rate: float | None
    edit_distance: float | None
    autonomous_rate: float | None
    incidents: int
    audited: int
    audited_bad: int
    unapproved_bad_rate: float | None
    unapproved_bad_low: float | None
    unapproved_bad_high: float | None
    avg_approval_time: float | None
    p50_approval_time: float | None
    p90_approval_time: float | None
    p99_approval_time: float | None
    avg_queue_time: float | None
    p50_queue_time: float | None
    p90_queue_time: float | None
    p99_queue_time: float | None
    avg_thinking_time: float | None
    p50_thinking_time: float | None
    p90_thinking_time: float | None
    p99_thinking_time: float | None
    split_share: float | None
    sla_rate: float | None
    help_rate: float | None
    useful_rate: float | None
    minutes_per_1000: float | None
    double_reviewed: int
    agreement: float | None
    kappa: float | None
    pabak: float | None
    ac1: float | None

    def to_json(self) -> dict[str, Any]:
        """Return them by name, as `desk.metrics` and HTTP give them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True, slots=True)
class ReviewerFigures:
    """What one person decided, and how long it took."""

    decisions: int
    approved: int
    edited: int
    rejected: int
    sent_back: int
    approval_rate: float | None
    p50_approval_time: float | None
    p50_thinking_time: float | None
    minutes: float

    def to_json(self) -> dict[str, Any]:
        """Return them by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


class Counted:
    """Sums, to be asked for by what they are of."""

    def __init__(self, sums: Iterable[Sum]) -> None:
        self._of: dict[tuple[str, str], list[Sum]] = {}
        for one in sums:
            self._of.setdefault((one.kind, one.what.partition(":")[0]), []).append(one)

    def rows(
        self, *things: str, of: Iterable[str] | None = None, without: Iterable[str] = ()
    ) -> list[Sum]:
        """Return what was counted as any of these; what is behind a colon belongs to it."""
        return [
            one
            for (kind, what), sums in self._of.items()
            if what in things and (of is None or kind in of) and kind not in without
            for one in sums
        ]

    def n(self, *things: str, of: Iterable[str] | None = None) -> int:
        """Return how often."""
        return sum(one.n for one in self.rows(*things, of=of))

    def exactly(self, what: str) -> tuple[int, int]:
        """Return how often just this was counted, and how much it came to."""
        found = [one for one in self.rows(what.partition(":")[0]) if one.what == what]
        return sum(one.n for one in found), sum(one.micros for one in found)


def figures_of(sums: Iterable[Sum]) -> Figures:
    """Return the figures that these sums come to."""
    known = Counted(sums)
    of = {
        what: known.n(what, of=REVIEWED)
        for what in ("approved", "edited", "rejected", "sent_back", "expired", "withdrawn")
    }
    reviewed = sum(of[what] for what in BY_PEOPLE)
    agreed = of["approved"] + of["edited"]
    alone, asked = known.n("alone", of=["action"]), known.n("asked")
    proposed = alone + known.n(*BY_PEOPLE, "expired", of=["action"])
    in_time = known.n("in_time")
    return Figures(
        proposed=proposed,
        alone=alone,
        granted=known.exactly("alone:granted")[0],
        reviewed=reviewed,
        **of,
        asked=asked,
        approval_rate=rate(agreed, reviewed),
        edit_rate=rate(of["edited"], agreed),
        override_rate=rate(of["rejected"] + of["edited"], reviewed),
        edit_distance=mean(known.rows("changed")),
        autonomous_rate=rate(alone, proposed),
        **_harm(known),
        **_times("approval", known.rows(*BY_PEOPLE, of=REVIEWED)),
        **_times("queue", known.rows("queued", of=REVIEWED)),
        **_times("thinking", known.rows("thought", of=REVIEWED)),
        split_share=rate(known.n("thought", of=REVIEWED), reviewed),
        sla_rate=rate(in_time, in_time + known.n("expired")),
        help_rate=rate(known.n("help"), asked),
        useful_rate=_useful(known),
        minutes_per_1000=rate(1000 * _spent(known), proposed * _MINUTE),
        **_agreed(known),
    )


def reviewer_of(sums: Iterable[Sum]) -> ReviewerFigures:
    """Return the figures of one person."""
    known = Counted(sums)
    of = {what: known.n(what, of=REVIEWED) for what in BY_PEOPLE}
    decisions = sum(of.values())
    return ReviewerFigures(
        decisions=decisions,
        **of,
        approval_rate=rate(of["approved"] + of["edited"], decisions),
        p50_approval_time=quantile(known.rows(*BY_PEOPLE, of=REVIEWED), 0.5),
        p50_thinking_time=quantile(known.rows("minded", of=REVIEWED), 0.5),
        minutes=_spent(known) / _MINUTE,
    )


def _harm(known: Counted) -> dict[str, Any]:
    """Return what audits and reports say of calls that nobody approved."""
    fine, of_fine = known.exactly("audited:fine")
    bad, of_bad = known.exactly("audited:bad")
    _, squares = known.exactly("audited:square")
    found = estimate(of_bad / _SECOND, (of_fine + of_bad) / _SECOND, squares / _SECOND)
    return {
        "incidents": known.n("incident"),
        "audited": fine + bad,
        "audited_bad": bad,
        "unapproved_bad_rate": None if found is None else found.share,
        "unapproved_bad_low": None if found is None else found.low,
        "unapproved_bad_high": None if found is None else found.high,
    }


def _times(what: str, rows: Sequence[Sum]) -> dict[str, Any]:
    return {
        f"avg_{what}_time": mean(rows),
        f"p50_{what}_time": quantile(rows, 0.5),
        f"p90_{what}_time": quantile(rows, 0.9),
        f"p99_{what}_time": quantile(rows, 0.99),
    }


def _useful(known: Counted) -> float | None:
    """Return the share of asks that told an agent something else than to go on."""
    answered = known.n("sent_back", of=["question"])
    chosen = known.n(*BY_PEOPLE, of=["choice"])
    other = known.n("edited", "rejected", "sent_back", of=REVIEWED)
    every = known.n(*BY_PEOPLE, of=[*REVIEWED, "question", "choice"])
    return rate(answered + chosen + other, every)


def _spent(known: Counted) -> int:
    """Return the microseconds that people looked, at most."""
    return sum(one.micros for one in known.rows("minded", "bounded"))


def _agreed(known: Counted) -> dict[str, Any]:
    pairs = ("yes:yes", "yes:no", "no:yes", "no:no")
    found = agreement(*(known.exactly(f"pair:{pair}")[0] for pair in pairs))
    return {
        "double_reviewed": found.pairs,
        "agreement": found.share,
        "kappa": found.kappa,
        "pabak": found.pabak,
        "ac1": found.ac1,
    }


def rate(part: int, whole: int) -> float | None:
    """Return a part of a whole; `None` without a whole."""
    return part / whole if whole else None


def mean(rows: Sequence[Sum]) -> float | None:
    """Return what one of them comes to on average: seconds, or a share."""
    return rate(sum(one.micros for one in rows), _SECOND * sum(one.n for one in rows))


def quantile(rows: Sequence[Sum], share: float) -> float | None:
    """Return the time that this share of them took at most; within half a bin, which is 4.5%."""
    left = share * sum(one.n for one in rows)
    for one in sorted(rows, key=lambda one: one.bin):
        if left <= one.n:
            return seconds_in(one.bin, left / one.n)
        left -= one.n
    return None
