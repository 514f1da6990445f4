"""The tools of the desk over HTTP: who declares each, how it was called, what lets it run alone."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import Field
from starlette.responses import JSONResponse, Response

from sayso.access.caller import ADMIN, Caller
from sayso.asks.tools import ToolRecord, Tools
from sayso.model.declaration import POLICY, shortened
from sayso.web.callers import Door, needs
from sayso.web.documents import Document, answers
from sayso.web.service import service_of
from sayso.web.visit import Visit, visit_of

router = APIRouter(prefix="/api/v1", tags=["policy"], route_class=Door)

Name = Annotated[str, Path(max_length=200, description="The tool.", examples=["refund"])]


class ToolCalls(Document):
    """How often a tool was called, and what was ruled."""

    called: int
    alone: int = Field(description="Ran alone by a rule.")
    granted: int = Field(description="Ran alone by a grant.")
    asked: int = Field(description="Were asked of people.")


class ToolDocument(Document):
    """A tool, and what is known of it."""

    name: str = Field(examples=["refund"])
    declared: list[dict[str, Any]] = Field(
        description="What each source declares; nothing if the tool was called and never declared. "
        "Administrators see the whole path of a file.",
        examples=[[{"source": "shop.py:refund", "risk": "high", "schemas": [{"type": "object"}]}]],
    )
    arguments: list[str] = Field(description="Those that each of its sources knows.")
    risk: str | None = Field(description="A word, or `computed` where only its code can tell.")
    reversible: bool | None
    affects: str | None
    secret: list[str]
    differs: list[str] = Field(description="Of what its sources say different things.")
    tier: str | None = Field(description="What `[tools]` of the policy gives it.")
    calls: ToolCalls
    rules: list[str] = Field(description="Rules that may let it run alone.")
    keys: list[str] = Field(description="Keys that may run it alone, by a grant.")
    changes: list[dict[str, Any]] = Field(description="Its declarations, the newest first.")


class ToolList(Document):
    """The tools of a desk."""

    tools: list[ToolDocument]


@router.get(
    "/tools",
    operation_id="list_tools",
    summary="The tools that the desk knows",
    responses={200: {"model": ToolList}, **answers(401, 403, 409)},
)
async def list_tools(request: Request, caller: Caller = needs("runs:read")) -> Response:
    """Return each tool that is declared or was called: those that nothing declares first."""
    visit = visit_of(request, caller)
    found = await service_of(request).work(lambda: [shown(visit, one) for one in tools_of(visit)])
    return JSONResponse({"tools": found})


@router.get(
    "/tools/{name}",
    operation_id="get_tool",
    summary="What the desk knows of a tool",
    responses={200: {"model": ToolDocument}, **answers(401, 403, 404, 409, 422)},
)
async def get_tool(request: Request, name: Name, caller: Caller = needs("runs:read")) -> Response:
    """Return what each source declares, how it was called, and what lets it run alone."""
    visit = visit_of(request, caller)
    found = await service_of(request).work(lambda: shown(visit, tools_of(visit).get(name)))
    return JSONResponse(found)


# --- for the API and the page alike ------------------------------------------------------------


def tools_of(visit: Visit) -> Tools:
    """Return the tools of the desk, with calls counted as the visitor sees them."""
    return Tools(lambda: visit.store, visit.origin, visit.desk.law, visit.teams())


def shown(visit: Visit, tool: ToolRecord) -> dict[str, Any]:
    """Return a tool as data. Where its code lies on the server, administrators see."""
    said = tool.to_json()
    if ADMIN not in visit.caller.scopes:
        for one in (*said["declared"], *said["changes"]):
            one["source"] = one["source"] if one["source"] == POLICY else shortened(one["source"])
    return said
