"""How the runs of a tour stand, and the line above the inbox that leads from stop to stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request

from sayso.asks.inbox import listing
from sayso.model.ask import Ask
from sayso.store.contract import InboxQuery, RunQuery, RunRow
from sayso.web.look.views import TourLine
from sayso.web.service import service_of
from sayso.web.stops import Stop, Tour
from sayso.web.visit import Visit

_MOST = 500
_GOING_ON = ("ready", "running", "waiting")


@dataclass(frozen=True, slots=True)
class Company:
    """The newest run of each thread, and the first open ask of each run."""

    runs: Mapping[str | None, RunRow]
    asks: Mapping[str | None, Ask]

    @classmethod
    def of(cls, visit: Visit) -> Company:
        """Read it: one statement for the runs, one for the asks."""
        teams = visit.teams()
        newest = visit.store.runs(RunQuery(teams=teams, limit=_MOST))
        waiting = listing(visit.store, InboxQuery(teams=teams, limit=_MOST), role=None, person=None)
        return cls(
            {row.thread: row for row in reversed(newest)},
            {ask.content.run: ask for ask in reversed(list(waiting))},
        )

    def ask(self, stop: Stop) -> Ask | None:
        """Return what waits for people at a stop."""
        row = self.runs.get(stop.thread)
        return None if row is None else self.asks.get(row.id)

    def over(self, stop: Stop) -> bool:
        """Whether the run of a stop has come to its end."""
        row = self.runs.get(stop.thread)
        return row is not None and row.status not in _GOING_ON


def cookie_of(request: Request) -> str:
    """Return the name under which a browser keeps that somebody has put the line away: no secret."""
    return f"{service_of(request).settings.cookie}_tour"  # cookies do not know ports; ours does


def on_tour(request: Request) -> bool:
    """Whether this service has a tour."""
    return service_of(request).settings.tour is not None


def put_away(request: Request) -> bool:
    """Whether somebody does not want the line above the inbox."""
    return request.cookies.get(cookie_of(request)) == "off"


def line_of(request: Request, visit: Visit, thread: str | None) -> TourLine | None:
    """Return the line for an ask of this thread; `None` without a tour, or if it was put away."""
    tour = service_of(request).settings.tour
    if tour is None or put_away(request):
        return None
    company = Company.of(visit)
    threads = [stop.thread for stop in tour.stops]
    here = threads.index(thread) + 1 if thread in threads else None
    following = _waiting_after(tour, company, here or 0)
    line = TourLine(total=len(tour.stops), number=here, following=following)
    if here is not None:
        return line.at(tour.stops[here - 1])
    begun = any(stop.thread in company.runs and not company.ask(stop) for stop in tour.stops)
    return line.at(tour.stops[following - 1]) if following and begun else line


def _waiting_after(tour: Tour, company: Company, place: int) -> int | None:
    """Return the number of the next stop at which something waits; behind the last comes the first."""
    numbers = [*range(place + 1, len(tour.stops) + 1), *range(1, place)]
    return next((n for n in numbers if company.ask(tour.stops[n - 1]) is not None), None)
