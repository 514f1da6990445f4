"""The overview: how people and agents get on, what runs, what needs somebody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import Response

from sayso.access.caller import Caller
from sayso.insight.metrics import Figures, Metrics, measure
from sayso.model.span import say_span
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.look.marks import spark
from sayso.web.look.views import Chip
from sayso.web.metrics import MOST
from sayso.web.pages.board import board, person
from sayso.web.service import service_of
from sayso.web.visit import visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_READS = person("runs:read")
_SPANS = {1: "24 h", 7: "7 days", 30: "30 days"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureView:
    """One figure of the strip: its value, how it changed, and how it went."""

    label: str
    value: str
    change: str
    more: str
    line: Markup


@router.get("/overview")
async def overview(request: Request, who: Caller = _READS, days: str = "7") -> Response:
    """Show how everything stands."""
    visit, span = visit_of(request, who), _span(days)

    def made() -> Response:
        found = measure(visit.store, days=span, teams=visit.teams(), most=MOST)
        return board(
            request,
            visit,
            "overview.html",
            "Overview",
            "overview",
            spans=[
                Chip(label=label, href=f"/overview?days={each}", current=each == span)
                for each, label in _SPANS.items()
            ],
            figures=figures_of(found, _SPANS[span]),
            whole=found.whole,
        )

    return await service_of(request).work(made)


def _span(days: str) -> int:
    """Return how many days are shown; what is no span of ours is the usual one."""
    return int(days) if days in map(str, _SPANS) else 7


def figures_of(found: Metrics, span: str) -> list[FigureView]:
    """Return the four figures as they are drawn."""
    seen = f"{found.now.reviewed:,} reviewed"
    return [
        _figure(found, span, "Approved", "approval_rate", _share, seen),
        _figure(found, span, "Edited first", "edit_rate", _share, f"{found.now.edited:,} edited"),
        _figure(
            found,
            span,
            "Average time to decide",
            "avg_approval_time",
            _time,
            f"half within {_time(found.now.p50_approval_time)}",
        ),
        _figure(
            found,
            span,
            "Ran without asking",
            "autonomous_rate",
            _share,
            f"{found.now.alone:,} of {found.now.proposed:,} calls",
        ),
    ]


def _figure(
    found: Metrics,
    span: str,
    label: str,
    name: str,
    said: Callable[[float | None], str],
    more: str,
) -> FigureView:
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


def _share(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.0%}"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else say_span(timedelta(seconds=seconds))


def _change(now: float | None, before: float | None, said: Callable[[float | None], str]) -> str:
    """Say how a figure changed against the time before, if there was something then."""
    if now is None or before is None:
        return ""
    sign = "+" if now >= before else "\N{MINUS SIGN}"
    if said is _share:
        return f"{sign}{abs(now - before) * 100:.1f} pts"
    return f"{sign}{_time(abs(now - before))}"
