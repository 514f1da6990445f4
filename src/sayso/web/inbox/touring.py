"""The line of a tour above the inbox: what to try with the ask on the screen, and what comes next."""

from __future__ import annotations

from fastapi import Request

from sayso.web.look.views import TourLine
from sayso.web.service import service_of

COOKIE = "sayso_tour"  # whether somebody has put the line away: no secret


def on_tour(request: Request) -> bool:
    """Whether this service has a tour."""
    return service_of(request).settings.tour is not None


def line_of(request: Request, thread: str | None) -> TourLine | None:
    """Return the line for an ask of this thread; `None` without a tour, or if it was put away."""
    tour = service_of(request).settings.tour
    if tour is None or request.cookies.get(COOKIE) == "off":
        return None
    place, total = tour.place(thread), len(tour.stops)
    if place is None:
        return TourLine(total=total)
    stop = tour.stops[place - 1]
    return TourLine(number=place, total=total, title=stop.title, text=stop.text)
