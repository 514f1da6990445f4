"""How people and agents get on: rates and times over a window, from what was counted.

A rate without anything to divide by is `None`, never 0 or 1. Where figures are of everything, a
window is counted by the hour; of one agent, tool or tier by the day. Both begin with the hour or
the day in which the window does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sayso.autonomy.terms import DETECTION
from sayso.errors import BadValue
from sayso.insight.counting import DAY, HOUR
from sayso.insight.exposure import Trusted, of_part, trusted, trusted_by
from sayso.insight.figures import Counted, Figures, ReviewerFigures, figures_of, reviewer_of
from sayso.insight.reader import catch_up
from sayso.insight.waiting import Waiting, queue_age
from sayso.model.event import micros, moment
from sayso.store.contract import Store
from sayso.store.tallies import Column, Dimension, Grain, Sum, TallyFilter

By = Literal["agent", "tool", "tier", "reviewer"]

LONGEST = 3660  # days
_SLOTS = 12  # points of a trend at most


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
    waiting: Waiting
    trusted: Trusted

    def to_json(self) -> dict[str, Any]:
        """Return all of it: the figures of the window at the top, by their names."""
        return {
            "since": self.since.isoformat(),
            "until": self.until.isoformat(),
            "whole": self.whole,
            **self.now.to_json(),
            "open": self.waiting.counted,
            "open_more": self.waiting.more,
            "oldest_open": self.waiting.oldest_seconds,
            **self.trusted.to_json(),
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
    detection: float = DETECTION,
) -> Metrics:
    """Return the figures of the last days; `most` bounds how many events are counted for it first.

    `detection` is the share of bad calls that reviewers notice, by the policy.

    Raises:
        BadValue: `days` is no number from an hour to ten years.
    """
    whole = catch_up(store, most=most)
    until = store.now()
    hours = hours_in(days)
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
        now=figures_of(one for slot in by_slot[slots:] for one in slot),
        before=figures_of(one for slot in by_slot[:slots] for one in slot),
        trend=tuple(
            Slot(moment((since + number * width) * HOUR), figures_of(slot))
            for number, slot in enumerate(by_slot[slots:])
        ),
        whole=whole,
        waiting=queue_age(store, until, teams),
        trusted=trusted(store, agent=agent, tool=tool, tier=tier, teams=teams, detection=detection),
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
    parts = _parts(store, "day", by, days, teams, most)
    return {part: figures_of(sums) for part, sums in sorted(parts.items())}


def measure_reviewers(
    store: Store,
    *,
    days: float = 30,
    teams: tuple[str, ...] | None = None,
    most: int | None = None,
    named: Callable[[str], bool] = lambda _: True,
) -> dict[str, ReviewerFigures]:
    """Return what each person decided in the last days, beginning with a whole day of UTC.

    Those who are not to be `named` are counted together, as `""`.
    """
    people: dict[str, list[Sum]] = {}
    for person, sums in _parts(store, "person", "person", days, teams, most).items():
        people.setdefault(person if named(person) else "", []).extend(sums)
    return {person: reviewer_of(sums) for person, sums in sorted(people.items())}


def measured_by(
    store: Store,
    by: By,
    *,
    named: Callable[[str], bool] = lambda _: True,
    detection: float = DETECTION,
    teams: tuple[str, ...] | None = None,
    **window: Any,  # noqa: ANN401 - as `measure_by`
) -> dict[str, dict[str, Any]]:
    """Return the figures of each agent, tool, tier or reviewer, as `desk.metrics` and HTTP give them.

    Raises:
        BadValue: figures are not told by that.
    """
    if by == "reviewer":
        people = measure_reviewers(store, named=named, teams=teams, **window)
        return {name: figures.to_json() for name, figures in people.items()}
    if by not in ("agent", "tool", "tier"):
        raise BadValue(f"by={by!r}: give agent, tool, tier or reviewer.")
    found = measure_by(store, by, teams=teams, **window)
    keys, nothing = trusted_by(store, by, teams=teams, detection=detection), figures_of(())
    return {
        part: found.get(part, nothing).to_json() | keys.get(part, of_part(by, part)).to_json()
        for part in sorted({*found, *keys})
    }


def counted_ever(store: Store, *, most: int | None = None) -> Counted:
    """Return what was counted since the desk began, on all of it."""
    catch_up(store, most=most)
    return Counted(store.tallied(TallyFilter("ever", 0), 1))


def _parts(
    store: Store,
    grain: Grain,
    by: Column,
    days: float,
    teams: tuple[str, ...] | None,
    most: int | None,
) -> dict[str, list[Sum]]:
    catch_up(store, most=most)
    since = (micros(store.now()) // HOUR - hours_in(days) + 1) // DAY * DAY
    parts: dict[str, list[Sum]] = {}
    for one in store.tallied_by(TallyFilter(grain, since, teams=teams), by):
        parts.setdefault(one.part, []).append(one)
    return parts


def hours_in(days: float) -> int:
    """Return how many hours a window has.

    Raises:
        BadValue: `days` is no number from an hour to ten years.
    """
    if isinstance(days, bool) or not isinstance(days, int | float) or not 1 / 24 <= days <= LONGEST:
        raise BadValue(f"days={days!r}: give a number of days, from an hour (1/24) to {LONGEST}.")
    return max(1, round(timedelta(days=days) / timedelta(hours=1)))
