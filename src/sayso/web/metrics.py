"""How people and agents get on, for whoever may see it: the figures of `desk.metrics`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from sayso.access.caller import Caller
from sayso.insight.forecast import WITHIN, forecast
from sayso.insight.metrics import LONGEST, By, measure, measured_by
from sayso.runs.outlook import outlook
from sayso.web.callers import Door, needs
from sayso.web.documents import MetricsDocument, OutlookDocument, StaffingDocument, answers
from sayso.web.policy import why_broken
from sayso.web.service import service_of
from sayso.web.sight import sees_name
from sayso.web.visit import Visit, visit_of

router = APIRouter(prefix="/api/v1", tags=["metrics"], route_class=Door)

MOST = 5000  # events that are counted for one request; the sweep counts all the time
_Name = Annotated[str | None, Query(min_length=1, max_length=200)]


@router.get(
    "/metrics",
    operation_id="get_metrics",
    summary="How people and agents get on",
    responses={200: {"model": MetricsDocument}, **answers(401, 403, 422)},
)
async def get_metrics(
    request: Request,
    caller: Caller = needs("runs:read"),
    days: Annotated[
        float, Query(ge=1 / 24, le=LONGEST, description="How many days to look back.")
    ] = 30,
    agent: Annotated[_Name, Query(description="Only what this agent proposed.")] = None,
    tool: Annotated[_Name, Query(description="Only calls of this tool.")] = None,
    tier: Annotated[_Name, Query(description="Only what was of this tier.")] = None,
    by: Annotated[
        By | None,
        Query(description="Besides, the figures of each agent, tool, tier or reviewer."),
    ] = None,
) -> Response:
    """Return rates, counts and times of one's teams, and of what belongs to none.

    Rates are between 0 and 1, times in seconds, and `null` where there is nothing to divide by.
    `whole` says whether everything that happened has been counted by now. Reviewers behind a wall are
    counted together, under an empty name.
    """
    visit = visit_of(request, caller)

    def found() -> dict[str, Any]:
        of: dict[str, Any] = {"days": days, "teams": visit.teams(), "most": MOST}
        of["detection"] = visit.desk.law.detection
        said = measure(visit.store, agent=agent, tool=tool, tier=tier, **of).to_json()
        if by is not None:
            said["by"] = measured_by(visit.store, by, named=sees_name(visit), **of)
        return said

    return JSONResponse(await service_of(request).work(found))


@router.get(
    "/staffing",
    operation_id="get_staffing",
    summary="Whether people keep up with what is asked",
    responses={200: {"model": StaffingDocument}, **answers(401, 403, 422)},
)
async def get_staffing(
    request: Request,
    caller: Caller = needs("runs:read"),
    days: Annotated[
        float, Query(ge=1 / 24, le=LONGEST, description="How many days to look back.")
    ] = 7,
    within: Annotated[
        float,
        Query(gt=0, le=604_800, description="Seconds for which an ask may wait on average."),
    ] = WITHIN,
    people: Annotated[
        int | None,
        Query(ge=1, le=1000, description="How many decide; unless given, who decided lately."),
    ] = None,
) -> Response:
    """Return what to expect of the busiest hour of the day, by Erlang's formula.

    Of one's teams, and of what belongs to none. `warning` is a sentence if they cannot keep up, or
    soon could not, and `enough` is how many could.
    """
    visit = visit_of(request, caller)

    def found() -> dict[str, Any]:
        of: dict[str, Any] = {"teams": visit.teams(), "most": MOST}
        return forecast(visit.store, days=days, within=within, people=people, **of).to_json()

    return JSONResponse(await service_of(request).work(found))


@router.get(
    "/outlook",
    operation_id="get_outlook",
    summary="How everything stands now",
    responses={200: {"model": OutlookDocument}, **answers(401, 403)},
)
async def get_outlook(request: Request, caller: Caller = needs("runs:read")) -> Response:
    """Return what runs, how long asks wait for people, and what gets nowhere without a person.

    Of one's teams, and of what belongs to none. Counts are exact up to 1,000; `more` says that there
    are more. What never reached webhooks, and why no policy can be used, is told to administrators.
    """
    visit = visit_of(request, caller)

    def found() -> dict[str, Any]:
        return outlook(
            visit.store,
            teams=visit.teams(),
            deliveries=sees_webhooks(visit),
            broken=why_broken(visit),
        ).to_json()

    return JSONResponse(await service_of(request).work(found))


def sees_webhooks(visit: Visit) -> bool:
    """Whether the webhooks of the whole desk concern whoever calls."""
    return "admin" in visit.caller.scopes or visit.caller.name is None
