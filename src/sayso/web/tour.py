"""The tour of a demo: a line above the inbox that says what to try here, and a page of all stops.

What it shows is read from the runs themselves, so a stop counts as seen once its run went on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import Caller
from sayso.asks.inbox import listing
from sayso.errors import SaysoError
from sayso.model.ask import Ask
from sayso.runs.handle import Run
from sayso.store.contract import InboxQuery, RunQuery, RunRow
from sayso.web.callers import Door, NeedsAPerson
from sayso.web.inbox.pages import frame_of
from sayso.web.inbox.posting import one, posted
from sayso.web.inbox.touring import COOKIE
from sayso.web.look.render import fragment, page
from sayso.web.look.views import ChapterView, StopView, TourView
from sayso.web.service import service_of
from sayso.web.sign_in import back_from
from sayso.web.stops import Stop, Tour
from sayso.web.visit import Visit, visit_of

_MOST = 500
_READS: Any = Depends(NeedsAPerson("asks:read"))


def routes(tour: Tour) -> APIRouter:
    """Return the pages of a tour."""
    router = APIRouter(route_class=Door, include_in_schema=False)

    @router.get("/tour")
    async def overview(request: Request, who: Caller = _READS) -> Response:
        """Show all stops, and how each stands."""
        visit = visit_of(request, who)

        def made() -> Response:
            return page("tour.html", frame_of(request, visit, "Tour"), tour=_view(visit, tour))

        return await service_of(request).work(made)

    @router.get("/tour/stops")
    async def stops(request: Request, who: Caller = _READS) -> Response:
        """Show the stops alone, for a page that is open."""
        visit = visit_of(request, who)
        return await service_of(request).work(
            lambda: fragment("tour_stops.html", now=visit.store.now(), tour=_view(visit, tour))
        )

    @router.get("/tour/{number}")
    async def stop(
        request: Request, number: Annotated[int, Path(ge=1, le=1000)], who: Caller = _READS
    ) -> Response:
        """Go to what waits at a stop; behind the last one to the page of all stops."""
        if number > len(tour.stops):
            return RedirectResponse("/tour", 303)
        visit = visit_of(request, who)
        here = tour.stops[number - 1]
        found = await service_of(request).work(lambda: _Company.of(visit).href(here))
        return RedirectResponse(found or "/tour", 303)

    @router.post("/tour")
    async def dismiss(request: Request, who: Caller = _READS) -> Response:
        """Put the line away, or back, and return to the page it was sent from."""
        wanted = "off" if one(await posted(request), "show") == "off" else "on"
        answer = RedirectResponse(back_from(request), 303)
        answer.set_cookie(COOKIE, wanted, path="/", httponly=True, samesite="lax")
        return answer

    return router


# --- how things stand --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Company:
    """The runs of the desk by their threads, and the first open ask of each."""

    visit: Visit
    runs: Mapping[str | None, RunRow]
    asks: Mapping[str | None, Ask]

    @classmethod
    def of(cls, visit: Visit) -> _Company:
        """Read it: one statement for the runs, one for the asks."""
        teams = visit.teams()
        newest = visit.store.runs(RunQuery(teams=teams, limit=_MOST))
        waiting = listing(visit.store, InboxQuery(teams=teams, limit=_MOST), role=None, person=None)
        return cls(
            visit,
            {row.thread: row for row in reversed(newest)},
            {ask.content.run: ask for ask in reversed(list(waiting))},
        )

    def href(self, stop: Stop) -> str | None:
        """Return where to go for a stop: what waits there, else what was decided there."""
        row = self.runs.get(stop.thread)
        if row is None:
            return None
        ask = self.asks.get(row.id)
        if ask is not None:
            return f"/inbox/{ask.id}"
        return f"/inbox?{urlencode({'view': 'decided', 'run': row.id})}"

    def stop(self, stop: Stop, number: int | None = None) -> StopView:
        """Return a stop as it stands."""
        view = StopView(number=number, title=stop.title, text=stop.text, href=self.href(stop))
        row = self.runs.get(stop.thread)
        if row is None:
            return view
        if row.id in self.asks:
            return replace(view, state="wait", status=row.status)
        if row.status in ("ready", "running", "waiting"):  # it waits for a decision to settle
            return replace(
                view, state="moving", status=row.status, progress=row.progress, doing=row.doing
            )
        return replace(view, state="over", status=row.status, output=self._output(row))

    def _output(self, row: RunRow) -> str | None:
        try:
            said = Run(lambda: self.visit.store, row.id, decode=lambda _, value: value).output
        except SaysoError:  # erased or damaged: the stop is over all the same
            return None
        return said if isinstance(said, str) else None


def _view(visit: Visit, tour: Tour) -> TourView:
    company = _Company.of(visit)
    return TourView(
        stops=tuple(company.stop(one, n) for n, one in enumerate(tour.stops, start=1)),
        chapters=tuple(
            ChapterView(title=chapter.title, stops=tuple(map(company.stop, chapter.stops)))
            for chapter in tour.chapters
        ),
        commands=tour.commands,
    )
