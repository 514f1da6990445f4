"""How many people a queue needs: Erlang's formula for calls that wait."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.errors import BadValue


@dataclass(frozen=True, slots=True)
class Staffing:
    """What to expect of a queue.

    Attributes:
        load: The share of their time that people are busy; from 1 on the queue only grows.
        waits: The chance that an ask has to wait for somebody to be free.
        wait: The mean seconds until somebody is; `None` if the queue only grows.
    """

    load: float
    waits: float
    wait: float | None


def staffing(per_hour: float, seconds: float, people: int) -> Staffing:
    """Return what to expect when asks come by chance and take about so long each.

    Args:
        per_hour: How many asks come.
        seconds: How long one takes, on average.
        people: How many decide at the same time.

    Raises:
        BadValue: a number is negative, or nobody is there.
    """
    if per_hour < 0 or seconds < 0 or people < 1:
        raise BadValue("Staffing needs at least one person, and numbers that are not negative.")
    work = per_hour * seconds / 3600
    load = work / people
    if load >= 1:
        return Staffing(load, 1.0, None)
    blocked = 1.0  # Erlang B, person by person
    for number in range(1, people + 1):
        blocked = work * blocked / (number + work * blocked)
    waits = blocked / (1 - load * (1 - blocked))
    return Staffing(load, waits, waits * seconds / (people - work))


def enough(per_hour: float, seconds: float, wait: float, *, most: int = 1000) -> int | None:
    """Return the fewest people with whom the mean wait is at most that; `None` if `most` are too few."""
    for people in range(1, most + 1):
        found = staffing(per_hour, seconds, people)
        if found.wait is not None and found.wait <= wait:
            return people
    return None
