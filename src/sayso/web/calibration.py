"""How far the confidence of agents can be relied upon: the tables of `desk.calibration`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from sayso.access.caller import Caller
from sayso.insight.calibrating import calibrations
from sayso.web.callers import Door, needs
from sayso.web.documents import CalibrationsDocument, answers
from sayso.web.metrics import MOST
from sayso.web.service import service_of
from sayso.web.visit import visit_of

router = APIRouter(prefix="/api/v1", tags=["metrics"], route_class=Door)

_Name = Annotated[str | None, Query(min_length=1, max_length=200)]


@router.get(
    "/calibration",
    operation_id="get_calibration",
    summary="How far stated confidences can be relied upon",
    responses={200: {"model": CalibrationsDocument}, **answers(401, 403, 422)},
)
async def get_calibration(
    request: Request,
    caller: Caller = needs("runs:read"),
    agent: Annotated[_Name, Query(description="Only this agent.")] = None,
    tool: Annotated[_Name, Query(description="Only calls of this tool.")] = None,
) -> Response:
    """Return a table for each agent and tool of one's teams, and of what belongs to none."""
    visit = visit_of(request, caller)

    def found() -> dict[str, Any]:
        tables = calibrations(visit.store, agent=agent, tool=tool, teams=visit.teams(), most=MOST)
        return {"calibrations": [one.to_json() for one in tables]}

    return JSONResponse(await service_of(request).work(found))
