"""The overview: how people and agents get on, what runs, what needs somebody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from fastapi import APIRouter, Request
from starlette.responses import Response

from sayso.access.caller import ADMIN, Caller
from sayso.asks.inbox import Inbox
from sayso.insight.figures import Figures
from sayso.insight.metrics import Metrics, measure, measure_by
from sayso.insight.record import track_record
from sayso.model.span import say_span
from sayso.model.verdicts import Verdict
from sayso.runs.outlook import Attention, Need, Outlook, outlook
from sayso.store.boards import COUNTED
from sayso.web.inbox.queue import grave_for, waiting_for
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.look.views import Chip
from sayso.web.metrics import MOST, sees_webhooks
from sayso.web.pages.board import board, person
from sayso.web.pages.figures import FigureView, escaped, figure, ran_alone, share, took
from sayso.web.pages.happened import happened
from sayso.web.pages.lines import lines_of
from sayso.web.policy import why_broken
from sayso.web.service import service_of
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_READS = person("runs:read")
_USUAL = 7
_TOOLS = 12
_LAST = 20  # decisions, as ticks
_SPANS = {1: "24 h", 7: "7 days", 30: "30 days"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionLine:
    """What needs somebody, and where to go with it."""

    icon: str
    text: str
    href: str | None
    command: str | None
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLine:
    """How calls of one tool went."""

    tool: str
    calls: str
    approved: str
    edited: str
    alone: str
    verdicts: tuple[Verdict, ...]
    words: str


@router.get("/overview")
async def overview(
    request: Request, who: Caller = _READS, days: str = "7", done: str | None = None
) -> Response:
    """Show how everything stands."""
    visit, span = visit_of(request, who), _span(days)
    back = "/overview" if span == _USUAL else f"/overview?days={span}"

    def made() -> Response:
        found = measure(visit.store, days=span, teams=visit.teams(), most=MOST)
        mine = waiting_for(visit)
        stands = outlook(
            visit.store,
            teams=visit.teams(),
            deliveries=sees_webhooks(visit),
            broken=why_broken(visit),
        )
        return board(
            request,
            visit,
            "overview.html",
            "Overview",
            "overview",
            done=done,
            back=back,
            spans=[
                Chip(label=label, href=f"/overview?days={each}", current=each == span)
                for each, label in _SPANS.items()
            ],
            figures=figures_of(found, _SPANS[span]),
            whole=found.whole,
            attention=[_attention(visit, each) for each in stands.attention],
            waiting=" ".join(filter(None, (waiting_words(stands), for_you(visit, mine)))),
            mine=mine.count,
            runs=lines_of(visit, stands.runs, stands.served, back=back),
            counts=counted(stands),
            happened=happened(visit),
            tools=tools_of(visit, span),
            span=_SPANS[span],
        )

    return await service_of(request).work(made)


_ICONS: Mapping[Need, tuple[str, str | None]] = {
    "policy": ("octagon-x", "/policies"),
    "slowed": ("clock", "/inbox?view=team"),
    "doubts": ("circle-question-mark", "/inbox?view=team&kind=doubt"),
    "parked": ("pause", "/runs?status=parked"),
    "failed": ("circle-alert", "/runs?status=failed"),
    "unserved": ("hand", "/runs"),
    "undecidable": ("users", "/inbox?view=team"),
    "undelivered": ("wifi-off", "/people/webhooks?status=dead#deliveries"),
}
_HOW: Mapping[Need, str] = {"policy": "See what is wrong", "unserved": "Start one"}


def _attention(visit: Visit, each: Attention) -> AttentionLine:
    (icon, href), command = _ICONS[each.need], each.command
    if each.need == "undelivered":  # the page lists what the command lists; not everybody sees it
        href, command = (href, None) if ADMIN in visit.caller.scopes else (None, command)
    how = _HOW.get(each.need, "See them")
    return AttentionLine(icon=icon, text=each.text, href=href, command=command, how=how)


def for_you(visit: Visit, mine: Inbox) -> str:
    """Say how many asks somebody can decide, and how many of those weigh much; "" if none waits."""
    if not mine.count:
        return ""
    grave = grave_for(visit)
    high = f", {grave.counted} of them high risk or above" if grave.count else ""
    return f"You can decide {mine.counted}{high}."


def waiting_words(stands: Outlook) -> str:
    """Say how many asks wait for people, and for how long."""
    waits = stands.waiting
    if waits.oldest is None or waits.p50 is None:
        return "Nothing waits for people."
    many = f"{min(waits.count, COUNTED):,}{'+' if waits.more else ''}"
    asks = "ask waits" if waits.count == 1 else "asks wait"
    oldest = say_span(waits.oldest)
    if waits.count == 1:
        return f"{many} {asks} for people, for {oldest}."
    return f"{many} {asks} for people: half for {say_span(waits.p50)} or longer, the oldest for {oldest}."


def counted(stands: Outlook) -> list[Chip]:
    """Return how many runs there are of each status, those there are, with where they are listed."""
    words = {"running": "running", "waiting": "waiting", "parked": "parked", "ready": "ready"}
    return [
        Chip(label=f"{_many(stands.counts[status])} {word}", href=f"/runs?status={status}")
        for status, word in words.items()
        if stands.counts.get(status)
    ]


def _many(count: int) -> str:
    return f"{min(count, COUNTED):,}{'+' if count > COUNTED else ''}"


def tools_of(visit: Visit, days: int) -> list[ToolLine]:
    """Return how calls went for each tool, the most called first."""
    found = measure_by(visit.store, "tool", days=days, teams=visit.teams(), most=MOST)
    called = [(tool, one) for tool, one in found.items() if tool and one.proposed]
    most = sorted(called, key=lambda pair: (-pair[1].proposed, pair[0]))[:_TOOLS]
    return [_tool(visit, tool, figures) for tool, figures in most]


def _tool(visit: Visit, tool: str, figures: Figures) -> ToolLine:
    record = track_record(
        visit.store, agent=None, tool=tool, kind="action", teams=visit.teams(), limit=_LAST
    )
    verdicts = cast("tuple[Verdict, ...]", record.verdicts)
    words = f"Of the last {len(verdicts)}: {record.approved} approved, {record.edited} edited, "
    return ToolLine(
        tool=tool,
        calls=f"{figures.proposed:,}",
        approved=share(figures.approval_rate),
        edited=share(figures.edit_rate),
        alone=ran_alone(figures),
        verdicts=verdicts,
        words=f"{words}{record.rejected} rejected",
    )


def _span(days: str) -> int:
    """Return how many days are shown; what is no span of ours is the usual one."""
    return int(days) if days in map(str, _SPANS) else _USUAL


def figures_of(found: Metrics, span: str) -> list[FigureView]:
    """Return the four figures as they are drawn."""
    seen = f"{found.now.reviewed:,} reviewed"
    return [
        figure(found, span, "Approved", "approval_rate", share, seen),
        figure(found, span, "Edited first", "edit_rate", share, f"{found.now.edited:,} edited"),
        figure(
            found,
            span,
            "Average time to decide",
            "avg_approval_time",
            took,
            f"half in {took(found.now.p50_approval_time)}",
        ),
        figure(
            found,
            span,
            "Ran without asking",
            "autonomous_rate",
            share,
            f"{found.now.alone:,} of {found.now.proposed:,} calls; {escaped(found.now)}",
        ),
    ]
