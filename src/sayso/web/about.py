"""What a service says about itself to anybody: its version, and whether it can work."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from sayso.errors import SaysoError
from sayso.web.documents import About, Health, answers
from sayso.web.service import Service, service_of

API = 1
VERSION = version("sayso")

router = APIRouter(tags=["service"])


@router.head("/api/v1/about", include_in_schema=False)
@router.get(
    "/api/v1/about",
    operation_id="about",
    summary="What answers here",
    responses={200: {"model": About}, **answers(429)},
)
async def about(request: Request) -> Response:
    """Say which version of sayso answers, and whether it has accounts. Needs no credential."""
    service = service_of(request)
    return JSONResponse(
        {"name": "sayso", "version": VERSION, "api": API, "mode": service.settings.mode}
    )


@router.head("/health", include_in_schema=False)
@router.get(
    "/health",
    operation_id="health",
    summary="Whether the process lives",
    responses={200: {"model": Health}},
)
async def health() -> Response:
    """Answer as long as the process does. It does not ask the database."""
    return JSONResponse({"status": "ok"})


@router.head("/ready", include_in_schema=False)
@router.get(
    "/ready",
    operation_id="ready",
    summary="Whether it can work",
    responses={200: {"model": Health}, **answers(503)},
)
async def ready(request: Request) -> Response:
    """Answer 200 if the database answers and has the tables of this version, else 503.

    With `?link=`, the SHA-256 of a one-time link in hexadecimal, also say whether it has this link.
    """
    service = service_of(request)
    said = await service.work(lambda: _readiness(service, request.query_params.get("link")))
    return JSONResponse(said, 200 if said["status"] == "ok" else 503)


def _readiness(service: Service, link: str | None) -> dict[str, Any]:
    if service.stopping.is_set():
        return {"status": "stopping"}
    try:
        found, known = service.store.schema()
        if link is not None and not _has_link(service, link):
            return {"status": "unknown-link"}
    except SaysoError as error:
        return {"status": error.code}
    return {"status": "ok" if found == known else "schema-mismatch"}


def _has_link(service: Service, digest: str) -> bool:
    try:
        return service.store.has_link(bytes.fromhex(digest))
    except ValueError:
        return False
