"""Figures as pages draw them: a value, how it changed, how it went; and harm beside what ran alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from markupsafe import Markup

from sayso.insight.figures import Figures
from sayso.insight.metrics import Metrics
from sayso.model.span import say_span
from sayso.web.look.marks import spark

Said = Callable[[float | None], str]  # how a figure is written


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureView:
    """One figure of the strip: its value, how it changed, and how it went."""

    label: str
    value: str
    change: str
    more: str
    line: Markup


def ran_alone(figures: Figures) -> str:
    """Say how much ran alone, and where anything did, what is known of its harm."""
    alone = share(figures.autonomous_rate)
    return f"{alone}; {escaped(figures)}" if figures.alone else alone


def escaped(figures: Figures) -> str:
    """Say what is known of harm in what ran alone."""
    harm = f"{figures.incidents:,} incident{'' if figures.incidents == 1 else 's'}"
    if figures.unapproved_bad_high is None:
        return harm
    return f"{harm}, at most {figures.unapproved_bad_high:.1%} bad"


def figure(
    found: Metrics,
    span: str,
    label: str,
    name: str,
    said: Said,
    more: str,
) -> FigureView:
    """Return a figure with how it changed against the time before, and how it went."""
    now, before = _of(found.now, name), _of(found.before, name)
    went = [_of(slot.figures, name) for slot in found.trend]
    known = [said(value) for value in went if value is not None]
    words = f"{label}, over {span}: " + (", ".join(known) if known else "nothing to measure")
    return FigureView(
        label=label,
        value=said(now),
        change=_change(now, before, said),
        more=more if now is not None else "nothing to measure yet",
        line=spark(went, words),
    )


def _of(figures: Figures, name: str) -> float | None:
    found: float | None = getattr(figures, name)
    return found


def share(rate: float | None) -> str:
    """Write a share in whole per cent."""
    return "-" if rate is None else f"{rate:.0%}"


def fine_share(rate: float | None) -> str:
    """Write a share of which tenths of a per cent matter."""
    return "-" if rate is None else f"{rate:.1%}"


def number(count: float | None) -> str:
    """Write a number that is no share."""
    return "-" if count is None else f"{count:,.0f}"


def took(seconds: float | None) -> str:
    """Write how long something took."""
    return "-" if seconds is None else say_span(timedelta(seconds=seconds))


def _change(now: float | None, before: float | None, said: Said) -> str:
    """Say how a figure changed against the time before, if there was something then."""
    if now is None or before is None:
        return ""
    sign = "+" if now >= before else "\N{MINUS SIGN}"
    if said in (share, fine_share):
        return f"{sign}{abs(now - before) * 100:.1f} pts"
    return f"{sign}{said(abs(now - before))}"
