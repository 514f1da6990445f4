"""The page of a tour: all stops, and how each stands.

What it shows is read from the runs themselves, so a stop counts as seen once its run is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import Caller
from sayso.errors import SaysoError
from sayso.runs.handle import Run
from sayso.store.contract import RunRow
from sayso.web.callers import Door, NeedsAPerson
from sayso.web.inbox.pages import frame_of
from sayso.web.inbox.posting import one, posted
from sayso.web.inbox.touring import Company, cookie_of, put_away
from sayso.web.look.render import fragment, page
from sayso.web.look.views import ChapterView, StopView, TourView
from sayso.web.service import service_of
from sayso.web.sign_in import back_from
from sayso.web.stops import Stop, Tour
from sayso.web.visit import Visit, visit_of

_READS: Any = Depends(NeedsAPerson("asks:read"))


def routes(tour: Tour) -> APIRouter:
    """Return the pages of a tour."""
    router = APIRouter(route_class=Door, include_in_schema=False)
    guide = _Guide(tour)

    @router.get("/tour")
    async def overview(request: Request, who: Caller = _READS) -> Response:
        """Show all stops, and how each stands."""
        visit = visit_of(request, who)

        def made() -> Response:
            frame = frame_of(request, visit, "Tour", "tour")
            return page("tour.html", frame, tour=guide.view(visit), away=put_away(request))

        return await service_of(request).work(made)

    @router.get("/tour/stops")
    async def stops(request: Request, who: Caller = _READS) -> Response:
        """Show the stops alone, for a page that is open."""
        visit = visit_of(request, who)
        return await service_of(request).work(
            lambda: fragment("tour_stops.html", now=visit.store.now(), tour=guide.view(visit))
        )

    @router.get("/tour/{number}")
    async def stop(
        request: Request, number: Annotated[int, Path(ge=1, le=1000)], who: Caller = _READS
    ) -> Response:
        """Go to what waits at a stop, else to what was decided there last."""
        visit = visit_of(request, who)
        ask = await service_of(request).work(lambda: guide.ask(visit, number))
        return RedirectResponse("/tour" if ask is None else f"/inbox/{ask}", 303)

    @router.post("/tour")
    async def show(request: Request, who: Caller = _READS) -> Response:
        """Put the line away, or back, and return to the page it was sent from."""
        wanted = "off" if one(await posted(request), "show") == "off" else "on"
        answer = RedirectResponse(back_from(request), 303)
        answer.set_cookie(cookie_of(request), wanted, path="/", httponly=True, samesite="lax")
        return answer

    return router


@dataclass(frozen=True, slots=True)
class _Guide:
    """A tour, and what the runs that are over have said: that does not change any more."""

    tour: Tour
    _said: dict[str, str | None] = field(default_factory=dict)

    def ask(self, visit: Visit, number: int) -> str | None:
        """Return the ask to look at for a stop."""
        if number > len(self.tour.everything):
            return None
        stop, company = self.tour.everything[number - 1], Company.of(visit)
        waits = company.ask(stop)
        if waits is not None:
            return waits.id
        row = company.runs.get(stop.thread)
        asked = [] if row is None else _run(visit, row).asks
        return asked[-1].id if asked else None

    def view(self, visit: Visit) -> TourView:
        """Return everything there is to see."""
        company, tour = Company.of(visit), self.tour
        views = [
            self._stop(visit, company, stop, number)
            for number, stop in enumerate(tour.everything, start=1)
        ]
        behind = len(tour.stops)
        return TourView(
            title=tour.title,
            text=tour.text,
            stops=tuple(views[:behind]),
            chapters=tuple(self._chapters(views[behind:])),
            commands=tour.commands,
            again=tour.again,
        )

    def _chapters(self, views: Sequence[StopView]) -> list[ChapterView]:
        found, begin = [], 0
        for chapter in self.tour.chapters:
            end = begin + len(chapter.stops)
            found.append(ChapterView(title=chapter.title, stops=tuple(views[begin:end])))
            begin = end
        return found

    def _stop(self, visit: Visit, company: Company, stop: Stop, number: int) -> StopView:
        view = StopView(number=number, title=stop.title, text=stop.text)
        row = company.runs.get(stop.thread)
        if row is None:
            return view
        view = replace(view, status=row.status, reached=True)
        if company.ask(stop) is not None:
            return replace(view, state="wait")
        if company.over(stop):
            return replace(view, state="over", output=self._output(visit, row))
        return replace(view, state="moving", progress=row.progress, doing=row.doing)

    def _output(self, visit: Visit, row: RunRow) -> str | None:
        if row.id not in self._said:
            try:
                said = _run(visit, row).output
            except SaysoError:  # erased or damaged: the stop is over all the same
                said = None
            self._said[row.id] = said if isinstance(said, str) else None
        return self._said[row.id]


def _run(visit: Visit, row: RunRow) -> Run:
    return Run(lambda: visit.store, row.id, decode=lambda _, value: value)
