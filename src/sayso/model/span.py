"""Spans of time as people write and read them, and moments that name their zone.

Deadlines and cool-offs come as `"15m"` from settings, as numbers from code and
as `timedelta` from both. They are brought into one form here, once. The clock
itself does not belong here: time comes in as an argument.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta

from sayso.errors import BadValue
from sayso.model.text import one_line

Span = str | int | float | timedelta
_UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_SPAN = re.compile(
    r"\s*".join(f"(?:(?P<{name}>[0-9]{{1,9}}){unit})?" for unit, name in _UNITS.items())
)
_LONGEST = timedelta(days=36_525)  # a century; added to a date, much more leaves the calendar
_FORMS = 'Write it like "90s", "15m", "1h30m", "2d" or "1w", as seconds, or as a timedelta.'


def span(value: str | int | float | timedelta) -> timedelta:
    """Read a span of time; numbers are seconds.

    Raises:
        BadValue: it is no span, not longer than zero, or longer than a century.
    """
    try:
        delta = _read(value)
    except OverflowError:
        delta = timedelta.max
    if delta is None:
        raise BadValue(f"{one_line(repr(value), 60)} is not a span of time. {_FORMS}")
    if delta <= timedelta(0):
        raise BadValue(f"A span of time must be longer than zero, not {value!r}. {_FORMS}")
    if delta > _LONGEST:
        raise BadValue(f"A span of time cannot be longer than a century. {_FORMS}")
    return delta


def aware(moment: datetime, what: str) -> datetime:
    """Return the moment in UTC.

    Raises:
        BadValue: it does not say in which time zone it is; `what` names it in the message.
    """
    if not isinstance(moment, datetime):
        raise BadValue(f"{what} must be a datetime with a time zone, not {moment!r}.")
    if moment.utcoffset() is None:
        raise BadValue(
            f"{what} has no time zone: {moment.isoformat()} happens at another moment on every "
            "continent. Use datetime.now(timezone.utc), or give it a tzinfo."
        )
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise BadValue(f"{what} is out of range: {moment.isoformat()} has no UTC time.") from None


def say_span(delta: timedelta) -> str:
    """Say a span in its two largest units, such as `2 h 5 min` or `4 days`."""
    seconds = int(delta.total_seconds())
    if seconds < 1:
        return "under 1 s"
    days, seconds = divmod(seconds, 86_400)
    hours, seconds = divmod(seconds, 3_600)
    minutes, seconds = divmod(seconds, 60)
    counts = [
        (days, "day" if days == 1 else "days"),
        (hours, "h"),
        (minutes, "min"),
        (seconds, "s"),
    ]
    largest = next(place for place, (count, _) in enumerate(counts) if count)
    return " ".join(f"{count} {unit}" for count, unit in counts[largest : largest + 2] if count)


def _read(value: object) -> timedelta | None:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str):
        return _parse(value)
    # True is an int, and surely a mistake.
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return timedelta(seconds=value)


def _parse(text: str) -> timedelta | None:
    found = _SPAN.fullmatch(text.strip().lower())
    if not found:
        return None
    counts = {name: int(count) for name, count in found.groupdict().items() if count}
    return timedelta(**counts) if counts else None
