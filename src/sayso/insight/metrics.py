"""How people and agents get on: rates and times over a window, from what was counted.

A rate without anything to divide by is `None`, never 0 or 1. Where figures are of everything, a
window is counted by the hour; of one agent, tool or tier by the day. Both begin with the hour or
the day in which the window does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from sayso.errors import BadValue
from sayso.insight.counting import DAY, HOUR, count_on, seconds_in
from sayso.model.event import micros, moment
from sayso.store.contract import Store
from sayso.store.tallies import Dimension, Grain, Sum, TallyFilter

# Whose rejection counts against an agent; the others are questions, ratings and doubts.
REVIEWED = frozenset({"action", "plan", "draft"})
LONGEST = 3660  # days
_SLOTS = 12  # points of a trend at most


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of what agents proposed, and how long people took."""

    proposed: int
    alone: int
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
    autonomous_rate: float | None
    avg_approval_time: float | None
    p50_approval_time: float | None
    p90_approval_time: float | None
    p99_approval_time: float | None

    def to_json(self) -> dict[str, Any]:
        """Return them by name, as `desk.metrics` and HTTP give them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True, slots=True)
class Slot:
    """One part of a window, with its figures."""

    since: datetime
    figures: Figures


@dataclass(frozen=True, slots=True)
class Metrics:
    """The figures of a window, of the window before it, and of each part of it."""

    since: datetime
    until: datetime
    now: Figures
    before: Figures
    trend: tuple[Slot, ...]
    whole: bool

    def to_json(self) -> dict[str, Any]:
        """Return all of it: the figures of the window at the top, by their names."""
        return {
            "since": self.since.isoformat(),
            "until": self.until.isoformat(),
            "whole": self.whole,
            **self.now.to_json(),
            "before": self.before.to_json(),
            "trend": [
                {"since": slot.since.isoformat(), **slot.figures.to_json()} for slot in self.trend
            ],
        }


def measure(
    store: Store,
    *,
    days: float = 30,
    agent: str | None = None,
    tool: str | None = None,
    tier: str | None = None,
    teams: tuple[str, ...] | None = None,
    most: int | None = None,
) -> Metrics:
    """Return the figures of the last days; `most` bounds how many events are counted for it first.

    Raises:
        BadValue: `days` is no number from an hour to ten years.
    """
    whole = count_on(store, most=most)
    until = store.now()
    hours = _hours(days)
    now = micros(until) // HOUR
    grain: Grain = "hour" if agent is tool is tier is None else "day"
    step = 1 if grain == "hour" else DAY
    end = now // step * step + step
    reach = (
        end - (now - hours + 1) // step * step
    )  # outward, so that no part of the window is missing
    width = max(step, -(-reach // (_SLOTS * step)) * step)
    slots = -(-reach // width)
    since = end - slots * width
    wanted = TallyFilter(grain, since - slots * width, agent, tool, tier, teams)
    sums = store.tallied(wanted, width)
    by_slot: list[list[Sum]] = [[] for _ in range(2 * slots)]
    for one in sums:
        if int(one.part) < len(by_slot):  # a clock that was put back leaves hours to come
            by_slot[int(one.part)].append(one)
    return Metrics(
        since=moment(since * HOUR),
        until=until,
        now=_figures(one for slot in by_slot[slots:] for one in slot),
        before=_figures(one for slot in by_slot[:slots] for one in slot),
        trend=tuple(
            Slot(moment((since + number * width) * HOUR), _figures(slot))
            for number, slot in enumerate(by_slot[slots:])
        ),
        whole=whole,
    )


def measure_by(
    store: Store,
    by: Dimension,
    *,
    days: float = 30,
    teams: tuple[str, ...] | None = None,
    most: int | None = None,
) -> dict[str, Figures]:
    """Return the figures of the last days for each agent, tool or tier; `""` is none of them.

    They begin with the whole day of UTC in which the window begins.
    """
    count_on(store, most=most)
    since = (micros(store.now()) // HOUR - _hours(days) + 1) // DAY * DAY
    parts: dict[str, list[Sum]] = {}
    for one in store.tallied_by(TallyFilter("day", since, teams=teams), by):
        parts.setdefault(one.part, []).append(one)
    return {part: _figures(sums) for part, sums in sorted(parts.items())}


def _hours(days: float) -> int:
    if isinstance(days, bool) or not isinstance(days, int | float) or not 1 / 24 <= days <= LONGEST:
        raise BadValue(f"days={days!r}: give a number of days, from an hour (1/24) to {LONGEST}.")
    return max(1, round(timedelta(days=days) / timedelta(hours=1)))


def _figures(sums: Iterable[Sum]) -> Figures:
    known = list(sums)
    of = {
        what: sum(one.n for one in known if one.kind in REVIEWED and _plain(one.what) == what)
        for what in ("approved", "edited", "rejected", "sent_back", "expired", "withdrawn")
    }
    calls = [one for one in known if one.kind == "action"]
    alone = sum(one.n for one in calls if one.what == "alone")
    settled = sum(one.n for one in calls if one.what not in ("alone", "asked", "withdrawn"))
    judged = [one for one in known if one.kind in REVIEWED and _plain(one.what) in _BY_PEOPLE]
    reviewed = sum(one.n for one in judged)
    agreed = of["approved"] + of["edited"]
    return Figures(
        proposed=alone + settled,
        alone=alone,
        reviewed=reviewed,
        **of,
        asked=sum(one.n for one in known if one.what == "asked"),
        approval_rate=_rate(agreed, reviewed),
        edit_rate=_rate(of["edited"], agreed),
        autonomous_rate=_rate(alone, alone + settled),
        avg_approval_time=_rate(sum(one.micros for one in judged), reviewed * 1_000_000),
        p50_approval_time=_quantile(judged, 0.5),
        p90_approval_time=_quantile(judged, 0.9),
        p99_approval_time=_quantile(judged, 0.99),
    )


_BY_PEOPLE = frozenset({"approved", "edited", "rejected", "sent_back"})


def _plain(what: str) -> str:
    return what.partition(".")[0]


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _quantile(judged: Sequence[Sum], share: float) -> float | None:
    """Return the time that this share of decisions took at most; within half a bin, which is 4.5%."""
    left = share * sum(one.n for one in judged)
    for one in sorted(judged, key=lambda one: one.bin):
        if left <= one.n:
            return seconds_in(one.bin, left / one.n)
        left -= one.n
    return None
