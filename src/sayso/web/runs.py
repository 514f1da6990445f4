"""Runs over HTTP: for people, who start, look at, cancel and retry them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import JSONResponse, Response

from sayso.access.caller import Caller
from sayso.errors import BadValue
from sayso.model.ask import Ask, Decision
from sayso.model.content import check_word
from sayso.model.event import Event
from sayso.model.lifecycle import RunStatus
from sayso.model.wire import write_ask, write_decision, write_event
from sayso.runs.following import Following
from sayso.runs.handle import served
from sayso.runs.memory import Step, remember
from sayso.runs.steering import cancel, new_row, retry, said_at_start, start
from sayso.runs.usage import used
from sayso.runs.workflow import Workflow
from sayso.store.contract import RunQuery, RunRow
from sayso.web.bodies import NotePost, RunPost
from sayso.web.callers import Door, needs
from sayso.web.documents import (
    READING,
    WRITING,
    EventList,
    MemoryDocument,
    RunDocument,
    RunList,
    WholeRunDocument,
    answers,
)
from sayso.web.opening import team_for
from sayso.web.service import service_of
from sayso.web.visit import Visit, visit_of
from sayso.web.walls import Walls

router = APIRouter(prefix="/api/v1/runs", tags=["runs"], route_class=Door)

RunId = Annotated[str, Path(max_length=200, description="The id of the run.", examples=["r-7f3k"])]


@router.get(
    "",
    operation_id="list_runs",
    summary="Runs, the newest first",
    responses={200: {"model": RunList}, **answers(*READING)},
)
async def list_runs(
    request: Request,
    caller: Caller = needs("runs:read"),
    status: Annotated[RunStatus | None, Query(description="Only those that stand so.")] = None,
    workflow: Annotated[str | None, Query(max_length=200, description="Only of this one.")] = None,
    thread: Annotated[str | None, Query(max_length=200, description="Only of this thread.")] = None,
    begins: Annotated[
        str | None, Query(max_length=200, description="Only those whose id begins like this.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=500, description="How many on a page.")] = 50,
    after: Annotated[
        str | None, Query(max_length=200, description="`next` of the page before.")
    ] = None,
) -> Response:
    """Return the runs of one's teams, and those of none."""
    visit = visit_of(request, caller)

    def page() -> list[RunRow]:
        check_word(thread, "thread")
        last = None if after is None else visit.run(after)
        query = RunQuery(
            status=status,
            workflow=workflow,
            thread=thread,
            begins=begins,
            teams=visit.teams(),
            limit=limit,
            before=None if last is None else (last.started_at, last.id),
        )
        return visit.store.runs(query)

    rows = await service_of(request).work(lambda: _rows(visit, page()))
    following = rows[-1]["id"] if len(rows) == limit else None
    return JSONResponse({"runs": rows, "next": following})


@router.post(
    "",
    operation_id="start_run",
    summary="Start a run",
    status_code=201,
    responses={201: {"model": RunDocument}, **answers(*WRITING)},
)
async def start_run(
    request: Request, body: RunPost, caller: Caller = needs("runs:write")
) -> Response:
    """Start a workflow that this server has registered; a worker carries it on.

    With a `thread` it goes on with that conversation, of which one run goes on at a time.
    """
    visit = visit_of(request, caller)
    row = await service_of(request).work(lambda: _row(visit, _started(visit, body)))
    return JSONResponse(row, 201)


def _started(visit: Visit, body: RunPost) -> RunRow:
    desk = visit.desk
    flow = desk.flows.get(body.workflow)
    if flow is None:
        known = ", ".join(sorted(desk.flows)) or "none"
        raise BadValue(
            f"This server has no workflow {body.workflow!r}. It has: {known}.", path="workflow"
        )
    team = team_for(visit, body.team)
    said = _said(visit, flow, body, team)
    row = new_row(visit.store, flow, body.thread, team)
    started = start(visit.store, row, said, agent=flow.agent or desk.forms.agent)
    desk.crew.bind(started, flow)
    return started


def _said(visit: Visit, flow: Workflow, body: RunPost, team: str | None) -> dict[str, Any]:
    listed = isinstance(body.input, list)
    args: tuple[Any, ...] = tuple(body.input) if listed else ()
    named: dict[str, Any] = {} if isinstance(body.input, list) else body.input
    try:
        return said_at_start(
            flow,
            args,
            named,
            origin=visit.origin,
            thread=body.thread,
            fresh=body.fresh,
            team=team,
        )
    except TypeError as error:
        raise BadValue(f"The input does not fit {flow.name}: {error}.", path="input") from error


@router.get(
    "/{id}",
    operation_id="get_run",
    summary="How a run stands",
    responses={200: {"model": WholeRunDocument}, **answers(*READING)},
)
async def get_run(
    request: Request,
    id: RunId,  # noqa: A002 - as the address says
    caller: Caller = needs("runs:read"),
) -> Response:
    """Return a run: what waits for people, what comes next, and what it returned."""
    visit = visit_of(request, caller)
    return JSONResponse(await service_of(request).work(lambda: _whole(visit, id)))


def _whole(visit: Visit, run_id: str) -> dict[str, Any]:
    row = visit.run(run_id)
    run = visit.desk.get_run(run_id)
    state, events = run.state, run.events
    pending = _seen(visit, state.pending)
    hidden = {ask.id for ask in state.pending} - {ask.id for ask in pending}
    return _row(visit, row) | {
        "pending": [write_ask(ask) for ask in pending],
        # What comes next is said of each ask by its id.
        "next": [words for words in state.next if words.partition(" ")[0] not in hidden],
        "steps": state.steps,
        "error": state.error,
        "output": _output(events),
        "worker": row.worker,
        "attempt": row.attempt,
        "served": served(visit.store, row.workflow),
        "usage": used(events).to_json(),
        "plan": _plan(Following.read(events, _seen(visit, run.asks), row.progress)),
    }


def _plan(plan: Following | None) -> list[dict[str, Any]] | None:
    return None if plan is None else [{"mark": mark, "step": step} for mark, step in plan.marked()]


def _output(events: Sequence[Event]) -> Any:  # noqa: ANN401 - JSON
    for event in reversed(events):
        if event.kind == "run.done":
            return (event.payload or {}).get("output")
    return None


def _seen(visit: Visit, asks: Iterable[Ask]) -> list[Ask]:
    """Return what the caller sees of what a run asked: one of no team may ask several."""
    roster = visit.people
    return [ask for ask in asks if visit.sees(ask.content.team, ask.content.agent, roster)]


def _rows(visit: Visit, rows: Sequence[RunRow]) -> list[dict[str, Any]]:
    waited = [ask_id for row in rows for ask_id in row.waits]
    walls, roster = Walls().look_up(visit.store, waited), visit.people
    seen = {ask_id for ask_id, wall in walls.items() if visit.sees(*wall, roster)}
    return [_written(row, seen) for row in rows]


def _row(visit: Visit, row: RunRow) -> dict[str, Any]:
    (written,) = _rows(visit, [row])
    return written


def _written(row: RunRow, seen: Collection[str]) -> dict[str, Any]:
    return {
        "id": row.id,
        "workflow": row.workflow,
        "thread": row.thread,
        "team": row.team,
        "status": row.status,
        "started_at": row.started_at.isoformat(),
        "changed_at": row.changed_at.isoformat(),
        "doing": row.doing,
        "progress": row.progress,
        "waits": [ask_id for ask_id in row.waits if ask_id in seen],
    }


@router.post(
    "/{id}/cancel",
    operation_id="cancel_run",
    summary="End a run",
    responses={200: {"model": RunDocument}, **answers(*WRITING)},
)
async def cancel_run(
    request: Request,
    id: RunId,  # noqa: A002
    body: NotePost | None = None,
    caller: Caller = needs("runs:write"),
) -> Response:
    """End a run before its next effect, and take its open asks back. Doubts stay.

    It takes what rejecting its open asks takes: 403 if one of them is for others to decide.
    """
    visit = visit_of(request, caller)
    note = None if body is None else body.note

    def act() -> dict[str, Any]:
        visit.run(id)
        row = cancel(visit.store, id, by=visit.caller.name, origin=visit.origin, note=note)
        return _row(visit, row)

    return JSONResponse(await service_of(request).work(act))


@router.post(
    "/{id}/retry",
    operation_id="retry_run",
    summary="Let a run go on",
    responses={200: {"model": RunDocument}, **answers(*WRITING)},
)
async def retry_run(
    request: Request,
    id: RunId,  # noqa: A002
    caller: Caller = needs("runs:write"),
) -> Response:
    """Let a parked or failed run go on from where it stood."""
    visit = visit_of(request, caller)

    def act() -> dict[str, Any]:
        visit.run(id)
        return _row(visit, retry(visit.store, id, actor=visit.actor, origin=visit.origin))

    return JSONResponse(await service_of(request).work(act))


@router.get(
    "/{id}/memory",
    operation_id="get_run_memory",
    summary="What a run did",
    responses={200: {"model": MemoryDocument}, **answers(*READING)},
)
async def get_run_memory(
    request: Request,
    id: RunId,  # noqa: A002
    caller: Caller = needs("runs:read"),
) -> Response:
    """Return what a run did and what people said to it, as typed steps in order."""
    visit = visit_of(request, caller)

    def remembered() -> list[dict[str, Any]]:
        visit.run(id)
        run = visit.desk.get_run(id)
        return [_step(step) for step in remember(run.events, _seen(visit, run.asks))]

    return JSONResponse({"steps": await service_of(request).work(remembered)})


def _step(step: Step) -> dict[str, Any]:
    kind = type(step).__name__.removesuffix("Step").lower()
    return {"step": kind} | {one.name: _said_of(getattr(step, one.name)) for one in fields(step)}


def _said_of(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, datetime):
        return value.isoformat()
    return write_decision(value) if isinstance(value, Decision) else value


@router.get(
    "/{id}/events",
    operation_id="list_run_events",
    summary="Everything that happened in a run",
    responses={200: {"model": EventList}, **answers(*READING)},
)
async def list_run_events(
    request: Request,
    id: RunId,  # noqa: A002
    caller: Caller = needs("runs:read"),
    after: Annotated[int, Query(ge=0, le=2**31, description="Only those after this `seq`.")] = 0,
) -> Response:
    """Return the journal of a run; those of its asks are with the asks."""
    visit = visit_of(request, caller)

    def found() -> list[dict[str, Any]]:
        visit.run(id)
        return [write_event(event) for event in visit.store.stream(id, after)]

    return JSONResponse({"events": await service_of(request).work(found)})
