"""Insights: what people decided, what got past them, whether they keep up, and what sure is worth."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import Response

from sayso.access.caller import Caller
from sayso.insight.calibrating import Calibration, calibrations
from sayso.insight.figures import Figures
from sayso.insight.forecast import Forecast, forecast
from sayso.insight.metrics import Metrics, measure
from sayso.model.worth import FEWEST
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.look.views import Chip
from sayso.web.metrics import MOST
from sayso.web.pages.board import board, person
from sayso.web.pages.figures import (
    FigureView,
    Said,
    escaped,
    figure,
    fine_share,
    number,
    share,
    took,
)
from sayso.web.pages.parts import agents_of, reviewers_of, tiers_of
from sayso.web.service import service_of
from sayso.web.visit import visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_READS = person("runs:read")
_USUAL = 30
_SPANS = {7: "7 days", 30: "30 days", 90: "90 days"}
_TABLES = 20  # agents and tools whose confidence is told


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """Figures that belong together."""

    id: str
    title: str
    figures: tuple[FigureView, ...]


@router.get("/insights")
async def insights(request: Request, who: Caller = _READS, days: str = "30") -> Response:
    """Show what the figures say."""
    visit = visit_of(request, who)
    span = int(days) if days in map(str, _SPANS) else _USUAL

    def made() -> Response:
        teams = visit.teams()
        found = measure(visit.store, days=span, teams=teams, most=MOST)
        return board(
            request,
            visit,
            "insights.html",
            "Insights",
            "insights",
            spans=[
                Chip(label=label, href=f"/insights?days={each}", current=each == span)
                for each, label in _SPANS.items()
            ],
            span=_SPANS[span],
            whole=found.whole,
            strips=strips_of(found, _SPANS[span]),
            tiers=tiers_of(visit, span),
            agents=agents_of(visit, span),
            reviewers=reviewers_of(visit, span),
            staffing=forecast(visit.store, days=span, teams=teams, most=MOST),
            keeps_up=keeps_up,
            tables=calibrations(visit.store, teams=teams, most=MOST)[:_TABLES],
            stated=stated,
            fewest=FEWEST,
        )

    return await service_of(request).work(made)


def strips_of(found: Metrics, span: str) -> list[Strip]:
    """Return the figures of the page, in strips of four."""
    now = found.now
    rate = now.unapproved_bad_rate

    def one(label: str, name: str, said: Said, more: str) -> FigureView:
        return figure(found, span, label, name, said, more)

    return [
        Strip(
            id="decided",
            title="What people decided",
            figures=(
                one("Approved", "approval_rate", share, f"{now.reviewed:,} reviewed"),
                one("Edited first", "edit_rate", share, f"{now.edited:,} edited"),
                one("Overridden", "override_rate", share, f"{now.rejected:,} rejected"),
                one("Agreement", "agreement", share, agreed(now)),
            ),
        ),
        Strip(
            id="alone",
            title="What ran alone, and what got past people",
            figures=(
                one(
                    "Ran without asking",
                    "autonomous_rate",
                    share,
                    f"{now.alone:,} of {now.proposed:,} calls; {escaped(now)}",
                ),
                one("Incidents", "incidents", number, "harm that was reported afterwards"),
                one(
                    "Estimated bad, of what ran alone",
                    "unapproved_bad_rate",
                    fine_share,
                    "" if rate is None else between(now),
                ),
                one("Human minutes", "minutes_per_1000", number, "for each 1,000 calls"),
            ),
        ),
        Strip(
            id="time",
            title="How long it took",
            figures=(
                one(
                    "Average time to decide",
                    "avg_approval_time",
                    took,
                    f"half in {took(now.p50_approval_time)}, 9 of 10 in "
                    f"{took(now.p90_approval_time)}",
                ),
                one(
                    "Waited for somebody",
                    "p50_queue_time",
                    took,
                    f"half of them; 9 of 10 in {took(now.p90_queue_time)}",
                ),
                one(
                    "Somebody looked",
                    "p50_thinking_time",
                    took,
                    f"half of them; known of {share(now.split_share)}",
                ),
                one("In time", "sla_rate", share, f"{now.expired:,} expired"),
            ),
        ),
    ]


def agreed(now: Figures) -> str:
    """Say how far people agree on what two of them decided, beyond chance."""
    words = f"of {now.double_reviewed:,} that two decided"
    return words if now.ac1 is None else f"{words}; beyond chance {now.ac1:.2f} (AC1)"


def between(now: Figures) -> str:
    """Say between which bounds the share of bad calls is, and what it was counted from."""
    low, high = fine_share(now.unapproved_bad_low), fine_share(now.unapproved_bad_high)
    return f"{low} to {high}; {now.audited_bad:,} of {now.audited:,} audits were bad"


def keeps_up(found: Forecast) -> str:
    """Say in a sentence that people keep up, or that nothing is known of it yet."""
    if found.per_hour is None:
        return "Nothing was asked in this time."
    wait = "nobody knows how long" if found.wait is None else took(found.wait)
    people = "1 person" if found.people == 1 else f"{found.people:,} people"
    return (
        f"In the busiest hour ({found.hour:02d}:00 UTC) {found.per_hour:,.3g} asks come, which keeps "
        f"{people} busy {share(found.load)} of the time. An ask waits {wait} on average."
    )


def stated(table: Calibration) -> list[tuple[str, str, str, str]]:
    """Return a table by tenths: what was stated, how often it was right, of how many, its worth."""
    worth = {round(stated, 6): (value, light) for stated, value, light in table.worth}
    lines = []
    for one in table.reliability.bins:
        value, light = worth.get(round(one.stated, 6), (None, "none"))
        lines.append(
            (f"{one.stated:.0%}", f"{one.right:.0%}", f"{one.labels:,}", _worth(value, light))
        )
    return lines


def _worth(value: float | None, light: str) -> str:
    return "no record" if value is None else f"{value:.0%}, {light}"
