from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.errors import BadValue
from sayso.model.span import aware, say_span, span


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("90s", timedelta(seconds=90)),
        ("15m", timedelta(minutes=15)),
        ("1h", timedelta(hours=1)),
        ("1h30m", timedelta(minutes=90)),
        (" 1H 30m ", timedelta(minutes=90)),
        ("2d", timedelta(days=2)),
        ("1w", timedelta(weeks=1)),
        ("1w2d3h4m5s", timedelta(weeks=1, days=2, hours=3, minutes=4, seconds=5)),
        (90, timedelta(seconds=90)),
        (0.5, timedelta(milliseconds=500)),
        (timedelta(days=3), timedelta(days=3)),
    ],
)
def test_a_span_is_read_from_text_numbers_and_timedeltas(written: Any, meant: timedelta) -> None:
    assert span(written) == meant


@pytest.mark.parametrize(
    "nonsense",
    [
        "", " ", "soon", "15", "-5m", "0s", "0h0m", "1.5h", "30m1h", "1h1h", "5 minutes", "٣m",
        "99999999w", "9" * 5000 + "s", 0, -1, -0.5, 1e-9, math.nan, math.inf, 1e300, 10**5000,
        True, None, [], timedelta(0), timedelta(seconds=-1),
    ],
    ids=lambda value: repr(value)[:20] if not isinstance(value, int) else f"int{value % 1000}",
)  # fmt: skip
def test_what_is_no_span_is_refused_with_the_forms_accepted(nonsense: Any) -> None:
    with pytest.raises(BadValue, match="1h30m"):
        span(nonsense)


@pytest.mark.parametrize(
    ("delta", "said"),
    [
        (timedelta(0), "under 1 s"),
        (timedelta(milliseconds=400), "under 1 s"),
        (timedelta(seconds=-5), "under 1 s"),
        (timedelta(seconds=45), "45 s"),
        (timedelta(seconds=90), "1 min 30 s"),
        (timedelta(minutes=3), "3 min"),
        (timedelta(hours=2, minutes=5, seconds=59), "2 h 5 min"),
        (timedelta(hours=2, seconds=59), "2 h"),
        (timedelta(days=1), "1 day"),
        (timedelta(days=1, hours=3, minutes=9), "1 day 3 h"),
        (timedelta(days=4), "4 days"),
        (timedelta(days=4, minutes=7), "4 days"),
    ],
)
def test_a_span_is_said_in_its_two_largest_units(delta: timedelta, said: str) -> None:
    assert say_span(delta) == said


@given(st.datetimes(timezones=st.timezones()))
def test_a_moment_is_brought_to_utc_without_moving_it(moment: datetime) -> None:
    try:
        there = aware(moment, "The deadline")
    except BadValue:  # within a day of the first or the last moment there is
        assert moment.year in {1, 9999}
        return
    assert there.tzinfo is UTC
    assert there.timestamp() == moment.timestamp()  # `==` is never true in the hour a clock skips


def test_a_moment_without_a_zone_or_outside_the_calendar_is_refused() -> None:
    with pytest.raises(BadValue, match=r"The deadline .*datetime\.now\(timezone\.utc\)"):
        aware(datetime(2026, 1, 1), "The deadline")  # noqa: DTZ001 - that is the point

    with pytest.raises(BadValue, match="out of range"):
        aware(datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))), "The deadline")

    with pytest.raises(BadValue, match="The deadline"):
        aware("tomorrow", "The deadline")  # type: ignore[arg-type]
