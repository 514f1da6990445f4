"""Whether people can keep up with what is asked of them: the busiest hour, by Erlang's formula.

It takes asks to come by chance, and people to do nothing else in that hour. So it is the best case: with
other work beside it, more people are needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any

from sayso.autonomy.staffing import enough, staffing
from sayso.errors import BadValue
from sayso.insight.counting import DAY, HOUR
from sayso.insight.figures import BY_PEOPLE, Counted, rate
from sayso.insight.metrics import LONGEST, hours_in
from sayso.insight.reader import catch_up
from sayso.model.event import micros
from sayso.model.span import say_span
from sayso.model.verdicts import REJECT_KINDS
from sayso.store.contract import Store
from sayso.store.tallies import Sum, TallyFilter

BUSY = 0.8  # of their time: from here on waits grow fast
WITHIN = 60.0  # seconds for which an ask may wait on average
_LONGEST_WAIT = 7 * 86_400.0
_SAID = (*sorted(BY_PEOPLE), *(f"rejected:{kind}" for kind in REJECT_KINDS))
_IDLE = frozenset({"notice"})  # nobody has to answer them


@dataclass(frozen=True, slots=True)
class Forecast:
    """What to expect of the queue in the busiest hour of the day.

    Attributes:
        hour: Which it is, in UTC; `None` if nothing was asked.
        per_hour: How many asks come in it, on days on which any come.
        service_time: The mean seconds that people look at an ask, all who must agree together.
        known_share: How many of these looks were timed; the others are bounded.
        people: How many decided lately.
        load: The share of their time that they are busy; from 1 on the queue only grows.
        waits: The chance that an ask waits for somebody to be free.
        wait: The mean seconds until somebody is; `None` if the queue only grows.
        enough: The fewest people with whom the mean wait is as short as is wanted.
        warning: What to say before it is too late; `None` if there is nothing to say.
    """

    hour: int | None = None
    per_hour: float | None = None
    service_time: float | None = None
    known_share: float | None = None
    people: int = 0
    load: float | None = None
    waits: float | None = None
    wait: float | None = None
    enough: int | None = None
    warning: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it by name, as `desk.staffing` and HTTP give it."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def forecast(
    store: Store,
    *,
    days: float = 7,
    within: float = WITHIN,
    people: int | None = None,
    teams: tuple[str, ...] | None = None,
    most: int | None = None,
) -> Forecast:
    """Say whether people keep up, from the last days; `most` bounds how many events are counted first.

    Args:
        store: The database.
        days: How many to look back.
        within: The seconds for which an ask may wait for somebody on average.
        people: How many decide at the same time; unless given, as many as decided in these days.
        teams: Whose asks are seen.
        most: How many events to count first.

    Raises:
        BadValue: a number makes no sense.
    """
    _check(within, people)
    catch_up(store, most=most)
    since = micros(store.now()) // HOUR - hours_in(days) + 1
    spent = TallyFilter("hour", since, teams=teams, things=(*_SAID, "minded", "bounded"))
    looks = store.tallied(spent, hours_in(LONGEST))  # all of it is one slot
    arrivals = store.tallied(TallyFilter("hour", since, teams=teams, things=("asked",)), 1)
    if people is None:
        words = TallyFilter("person", since // DAY * DAY, teams=teams, things=_SAID)
        people = len({one.part for one in store.tallied_by(words, "person")})
    seen = replace(_busiest(arrivals, since), people=people)
    return expected(_timed(seen, looks), within)


def _check(within: float, people: int | None) -> None:
    plain = isinstance(within, int | float) and not isinstance(within, bool)
    if not plain or not 0 < within <= _LONGEST_WAIT:
        raise BadValue(f"within={within!r}: give seconds, more than 0 and up to a week.")
    if people is not None and (type(people) is not int or not 1 <= people <= 1000):
        raise BadValue(f"people={people!r}: give a number from 1 to 1000.")


def _busiest(arrivals: Sequence[Sum], since: int) -> Forecast:
    """Return the hour of the day in which most comes, and how much, on a day on which any does."""
    by_hour: Counter[int] = Counter()
    days: set[int] = set()
    for one in arrivals:
        if one.kind not in _IDLE:
            at = since + int(one.part)
            by_hour[at % DAY] += one.n
            days.add(at // DAY)
    if not by_hour:
        return Forecast()
    hour = max(sorted(by_hour), key=lambda each: by_hour[each])
    return Forecast(hour=hour, per_hour=by_hour[hour] / len(days))


def _timed(seen: Forecast, looks: Sequence[Sum]) -> Forecast:
    """Add how long an ask takes people, and how many of their looks were timed."""
    known = Counted(looks)
    timed, bounded = (known.rows(what, without=_IDLE) for what in ("minded", "bounded"))
    asks = sum(one.n for one in known.rows(*BY_PEOPLE, without=_IDLE))
    spent = sum(one.micros for one in (*timed, *bounded))
    of = sum(one.n for one in timed)
    return replace(
        seen,
        service_time=rate(spent, asks * 1_000_000),
        known_share=rate(of, of + sum(one.n for one in bounded)),
    )


def expected(seen: Forecast, within: float) -> Forecast:
    """Add what to expect of that hour; what nobody can know yet stays `None`."""
    if seen.per_hour is None:
        return seen
    if seen.service_time is None or not seen.people:
        return replace(seen, warning=f"{_come(seen)}, and nobody decided lately.")
    found = staffing(seen.per_hour, seen.service_time, seen.people)
    told = replace(
        seen,
        load=found.load,
        waits=found.waits,
        wait=found.wait,
        enough=enough(seen.per_hour, seen.service_time, within),
    )
    if found.load < BUSY and found.wait is not None and found.wait <= within:
        return told
    return replace(told, warning=_warning(told, found.load, within))


def _warning(told: Forecast, load: float, within: float) -> str:
    crew = "1 person" if told.people == 1 else f"{told.people:,} people"
    if told.wait is None:
        can = told.people * 3600 / (told.service_time or 1)
        stands = f"and {crew} can decide {can:,.3g}: the queue grows"
    else:
        stands = f"which keeps {crew} busy {load:.0%} of the time: an ask waits {_span(told.wait)}"
    more = "More than 1,000" if told.enough is None else f"{told.enough:,}"
    return f"{_come(told)}, {stands}. {more} would be enough for a wait of {_span(within)}."


def _come(told: Forecast) -> str:
    asks = "1 ask comes" if told.per_hour == 1 else f"{told.per_hour:,.3g} asks come"
    return f"In the busiest hour ({told.hour:02d}:00 UTC) {asks}"


def _span(seconds: float) -> str:
    return say_span(timedelta(seconds=seconds))
