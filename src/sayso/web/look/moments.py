"""Moments as people read them: how long ago, how long still; the exact one is a hover away."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import ceil

from markupsafe import Markup

from sayso.store.contract import SOON

_IN_SECONDS = timedelta(seconds=90)


def span(length: timedelta) -> str:
    """Say how long something is: `14 min`, `1 h 54 min`, `3 d`."""
    minutes = int(length.total_seconds() // 60)
    hours, days = minutes // 60, minutes // 1440
    if minutes < 1:
        return "under a minute"
    if minutes < 60:
        return f"{minutes} min"
    if hours < 10:
        return f"{hours} h {minutes % 60} min" if minutes % 60 else f"{hours} h"
    if hours < 48:
        return f"{hours} h"
    return f"{days} d"


def when(at: datetime, now: datetime | None, *, ago: bool = False) -> Markup:
    """Draw a moment that has been: `2 min`, or with `ago` `2 min ago`."""
    words = exact(at) if now is None else _past(at, now, ago=ago)
    return _time(at, words, "ago" if ago else "when")


def left(at: datetime, now: datetime | None) -> Markup:
    """Draw how long there still is: `14 min left`."""
    if now is None:
        return _time(at, f"until {exact(at)}", "left")
    return _time(at, f"{span(at - now)} left" if at > now else "time is up", "left")


def within(at: datetime, now: datetime | None) -> Markup:
    """Draw how long there still is, inside a sentence: `14 min`."""
    return _time(at, exact(at) if now is None else span(max(at - now, timedelta(0))), "within")


def seconds(at: datetime, now: datetime | None) -> str:
    """Say how long something can still be undone: `8 s`, or `14 min` for more than a minute and a half."""
    left = timedelta(0) if now is None else max(at - now, timedelta(0))
    return f"{ceil(left.total_seconds())} s" if left <= _IN_SECONDS else span(left)


def clock(at: datetime) -> Markup:
    """Draw the time of day, for a list of things that follow each other."""
    return _time(at, at.astimezone(UTC).strftime("%H:%M"), "clock")


def soon(at: datetime | None, now: datetime | None) -> bool:
    """Say whether the time is nearly up."""
    return at is not None and now is not None and at - now <= SOON


def exact(at: datetime) -> str:
    """Write a moment in full."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _past(at: datetime, now: datetime, *, ago: bool) -> str:
    if now - at < timedelta(minutes=1):
        return "just now"
    return f"{span(now - at)} ago" if ago else span(now - at)


def _time(at: datetime, words: str, form: str) -> Markup:
    """Draw a moment. Scripts keep it true while the page stands (`data-form`)."""
    utc = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    drawn = Markup('<time datetime="%s" title="%s" data-form="%s">%s</time>')
    return drawn % (utc, exact(at), form, words)
