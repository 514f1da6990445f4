"""`/metrics`, where Prometheus looks first.

The service speaks for the whole fleet: all of it is in the database, and workers have no door of
their own.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from sayso.access.caller import Caller
from sayso.web.callers import Door, Needs
from sayso.web.documents import answers
from sayso.web.service import service_of

TYPE = "text/plain; version=0.0.4; charset=utf-8"
_FORWARDED = (
    *("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"),
    "x-real-ip",
)
_NEAR = ("127.0.0.1", "::1")
_ANYBODY_HERE = Caller(
    "agent", "metrics", frozenset(("metrics:read",)), how="loopback", credential="loopback"
)


class NeedsToRead(Needs):
    """A credential with the scope `metrics:read`; or nothing, on this machine, if that was said."""

    async def admitted(self, request: Request) -> Caller:
        """Return who reads."""
        if service_of(request).settings.open_metrics and _from_here(request):
            return _ANYBODY_HERE
        return await super().admitted(request)


def _from_here(request: Request) -> bool:
    """Whether it comes from a program on this machine, and for nobody else."""
    near = request.client is not None and request.client.host in _NEAR
    return near and not any(name in request.headers for name in _FORWARDED)


router = APIRouter(tags=["service"], route_class=Door)


@router.get(
    "/metrics",
    operation_id="scrape",
    summary="How the fleet stands, for Prometheus",
    response_class=Response,
    responses={
        200: {
            "description": "The text format of Prometheus, 0.0.4.",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
        **answers(401, 403),
    },
)
async def scrape(
    request: Request,
    _caller: Caller = Depends(NeedsToRead("metrics:read")),
) -> Response:
    """Count what is open, ready, alive or given up on the whole desk, whoever's it is.

    One look serves everybody for a second, or longer where it takes long.
    """
    service = service_of(request)
    text = await service.work(lambda: service.gauge.read(service.store, service.desk.law.detection))
    return Response(text, media_type=TYPE)
