"""Whether the journal is what was written, for whoever may ask."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from sayso.access.caller import Caller
from sayso.store.audit import verify
from sayso.web.callers import Door, needs
from sayso.web.documents import AuditDocument, answers
from sayso.web.service import service_of

router = APIRouter(prefix="/api/v1", tags=["audit"], route_class=Door)


@router.get(
    "/audit/verify",
    operation_id="verify_audit",
    summary="Verify the journal",
    responses={200: {"model": AuditDocument}, **answers(401, 403)},
)
async def verify_audit(request: Request, caller: Caller = needs("audit:read")) -> Response:
    """Read the whole journal and name what is not as it was written. One reads at a time.

    Problems name streams and places; what the asks of other teams say is not shown.
    """
    service = service_of(request)
    with service.verifying.taking(caller.credential):
        found = await service.work(lambda: verify(service.store))
    problems: list[dict[str, Any]] = [
        {"what": one.what, "stream": one.stream, "seq": one.seq} for one in found.problems[:1000]
    ]
    return JSONResponse(
        {
            "whole": bool(found),
            "events": found.events,
            "streams": found.streams,
            "erased": found.erased,
            "sealed": found.sealed,
            "problems": problems,
        }
    )
