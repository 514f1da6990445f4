"""Proof of what happened, for whoever may ask: looking through the journal, verifying, sealing it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from sayso.access.caller import ADMIN, Caller
from sayso.asks.books import unlike
from sayso.channels.record import kept_record
from sayso.errors import BadValue
from sayso.insight.dataset import decisions
from sayso.insight.trail import look, pass_by
from sayso.insight.trailing import teams_of
from sayso.model.event import Event
from sayso.store.audit import NOT_COVERED, Problem, Report, Seal, make_seal, verify
from sayso.web.bodies import VerificationPost
from sayso.web.callers import Door, needs, shown
from sayso.web.documents import (
    AuditDocument,
    SealDocument,
    TrailPage,
    VerificationDocument,
    answers,
)
from sayso.web.events import EventStream
from sayso.web.service import Service, service_of
from sayso.web.sight import in_sight, sees_name
from sayso.web.trail import Decided, Looked, LookedAfter, LookedPage, document_of, seen_teams
from sayso.web.verifying import Verification
from sayso.web.visit import Visit, visit_of

router = APIRouter(prefix="/api/v1", tags=["audit"], route_class=Door)

NAMED = 1000  # problems that are named at most
_WEIGHED = 10_000  # problems of which it is asked whose they are

_LINES = {
    "description": "One event a line, as `sayso audit export` writes them.",
    "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
}

_DECISIONS = {
    "description": "One decided ask a line, as `sayso audit decisions` writes them.",
    "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
}


@router.get(
    "/audit/events",
    operation_id="look_through_audit",
    summary="The journal across asks and runs, the newest first",
    responses={200: {"model": TrailPage}, **answers(401, 403, 422)},
)
async def audit_events(
    request: Request,
    wanted: Annotated[LookedPage, Query()],
    caller: Caller = needs("audit:read"),
) -> Response:
    """Find events by who, tool, verdict, kind, time and stream, in any combination.

    One sees what belongs to one's teams and to none; administrators also what happened to people,
    credentials, webhooks and seals. A page looks at a bounded part of the journal: where what is
    wanted is rare it ends early, and `older` says where to read on.
    """
    visit = visit_of(request, caller)

    def found() -> dict[str, Any]:
        page = look(
            visit.store,
            wanted.wanted(visit),
            teams=seen_teams(visit),
            before=wanted.before,
            limit=wanted.limit,
        )
        return {
            "events": [document_of(one) for one in page.found],
            "older": page.older,
            "early": page.early,
            "whole": page.whole,
        }

    return JSONResponse(await service_of(request).work(found))


@router.get(
    "/audit/export",
    operation_id="export_audit",
    summary="The journal as JSON lines",
    response_class=Response,
    responses={200: _LINES, **answers(401, 403, 422)},
)
async def export_audit(
    request: Request,
    wanted: Annotated[LookedAfter, Query()],
    caller: Caller = needs("audit:read"),
) -> Response:
    """Send everything that fits, in the order of commits, with all that is needed to check the chain.

    It is read while it is sent, so its size does not matter. Of a journal that grows, go on another
    time behind the `cursor` of the last line.
    """
    service, visit = service_of(request), visit_of(request, caller)
    batches = await service.work(lambda: _begun(visit, wanted, wanted.after))
    lines = (map(kept_record, events) for events in batches)
    return _Lines(service, _sent(service, request, lines), caller.credential, "journal")


@router.get(
    "/audit/decisions",
    operation_id="export_decisions",
    summary="What people decided, as a data set",
    response_class=Response,
    responses={200: _DECISIONS, **answers(401, 403, 422)},
)
async def export_decisions(
    request: Request,
    wanted: Annotated[Decided, Query()],
    caller: Caller = needs("audit:read"),
) -> Response:
    """Send a line for each ask that people decided: its context, arguments before and after, and verdict.

    What is hidden or was erased is not in it. Reviewers are numbered as they come, unless `names` is
    asked for; those whom the caller does not see are numbered all the same.
    """
    service, visit = service_of(request), visit_of(request, caller)
    batches = await service.work(lambda: _chosen(visit, wanted))
    return _Lines(service, _sent(service, request, batches), caller.credential, "decisions")


def _chosen(visit: Visit, wanted: Decided) -> Iterator[list[dict[str, Any]]]:
    visit.store.tail(wanted.after, 1)
    sees = sees_name(visit)
    return decisions(
        visit.store,
        **wanted.chosen(visit),
        after=wanted.after,
        teams=seen_teams(visit),
        named=lambda name: wanted.names and sees(name),
    )


def _begun(visit: Visit, wanted: Looked, after: str | None) -> Iterator[list[Event]]:
    """Say what is wrong before anything is sent."""
    visit.store.tail(after, 1)
    return pass_by(visit.store, wanted.wanted(visit), teams=seen_teams(visit), after=after)


async def _sent(
    service: Service, request: Request, batches: Iterator[Iterable[dict[str, Any]]]
) -> AsyncIterator[bytes]:
    """Yield lines, as long as the credential counts and the server serves."""

    def following() -> bytes | None:
        shown(service, request).check("audit:read")
        lines = next(batches, None)
        if lines is None:
            return None
        return "".join(f"{json.dumps(line)}\n" for line in lines).encode()

    while not service.stopping.is_set():
        lines = await service.work(following)
        if lines is None:
            return
        if lines:
            yield lines


class _Lines(EventStream):
    """JSON lines, to be kept as a file."""

    media_type = "application/x-ndjson"

    def __init__(
        self, service: Service, lines: AsyncIterator[bytes], credential: str, name: str
    ) -> None:
        super().__init__(service, lines, credential)
        self.headers["Content-Disposition"] = f'attachment; filename="{name}.jsonl"'


@router.get(
    "/audit/verify",
    operation_id="verify_audit",
    summary="Verify the journal",
    responses={200: {"model": AuditDocument}, **answers(401, 403)},
)
async def verify_audit(request: Request, caller: Caller = needs("audit:read")) -> Response:
    """Read the whole journal and name what is not as it was written. One reads at a time.

    Problems name streams and places, those of credentials and webhooks also what differs. Those in
    the streams of other teams are counted as `others`.
    """
    service, visit = service_of(request), visit_of(request, caller)
    with service.verifying.taking(caller.credential):
        found = await service.work(lambda: told(visit, verify(service.store, unlike=unlike)))
    return JSONResponse(found)


@router.post(
    "/audit/verification",
    status_code=202,
    operation_id="begin_verification",
    summary="Begin to verify in the background",
    responses={202: {"model": VerificationDocument}, **answers(401, 403, 408, 413, 415, 422)},
)
async def begin_verification(
    request: Request,
    post: VerificationPost | None = None,
    caller: Caller = needs("audit:read"),
) -> Response:
    """Begin, unless one goes on already, and say how it stands. A seal that was kept is checked too."""
    kept = None if post is None or post.seal is None else Seal.parse(post.seal)
    await begin(request, caller, kept)
    return await _standing(request, caller, 202)


@router.get(
    "/audit/verification",
    operation_id="get_verification",
    summary="How far a verification is, and what it found",
    responses={200: {"model": VerificationDocument}, **answers(401, 403)},
)
async def get_verification(request: Request, caller: Caller = needs("audit:read")) -> Response:
    """Return the verification of this server that goes on, or the last one since it was started."""
    return await _standing(request, caller)


async def _standing(request: Request, caller: Caller, status: int = 200) -> Response:
    service, visit = service_of(request), visit_of(request, caller)
    last = service.verifying.last
    return JSONResponse(await service.work(lambda: stands(visit, last)), status)


@router.post(
    "/audit/seals",
    status_code=201,
    operation_id="seal_audit",
    summary="Seal the journal",
    responses={201: {"model": SealDocument}, **answers(401, 403, 408, 413, 415, 422)},
)
async def seal_audit(request: Request, caller: Caller = needs("admin")) -> Response:
    """Seal the journal as it is, and return the line to keep elsewhere.

    With nothing new since the last seal, that one is returned again.
    """
    visit = visit_of(request, caller)
    made = await service_of(request).work(lambda: sealed(visit))
    return JSONResponse({"seal": str(made), "seq": made.seq, "hash": made.hash}, 201)


async def begin(request: Request, caller: Caller, seal: Seal | None) -> None:
    """Begin to verify for somebody."""
    service, visit = service_of(request), visit_of(request, caller)
    by, credential = visit.actor.id, caller.credential
    await service.verifying.start(service.store, by=by, credential=credential, seal=seal)


def sealed(visit: Visit) -> Seal:
    """Seal the journal in somebody's name."""
    return make_seal(visit.store, by=visit.actor, origin=visit.origin)


def seal_of(given: str) -> Seal | None:
    """Read a seal that somebody kept, if they gave one.

    Raises:
        BadValue: it is none.
    """
    if len(given) > 200:
        raise BadValue("That is no seal; it looks like sayso-seal:12:9f3c...")
    return Seal.parse(given) if given.strip() else None


class Findings(NamedTuple):
    """Problems in streams that the caller sees, and how many others there are."""

    problems: tuple[Problem, ...]
    others: int


def findings(visit: Visit, report: Report, most: int = NAMED) -> Findings:
    """Return what of a report is for the caller: a team is a wall here too; alone there is none."""
    weighed, seen = report.problems[:_WEIGHED], seen_teams(visit)
    if seen is not None and weighed and not visit.people.solo:
        teams = teams_of(visit.store, {one.stream for one in weighed})
        weighed = tuple(one for one in weighed if teams[one.stream] in seen)
    return Findings(weighed[:most], len(report.problems) - len(weighed[:most]))


def begun_by(visit: Visit, last: Verification) -> str | None:
    """Return who began a verification, if the caller sees them."""
    if last.by == visit.actor.id or ADMIN in visit.caller.scopes:
        return last.by
    roster = visit.people
    return last.by if roster.solo or last.by in in_sight(visit, roster) else None


def told(visit: Visit, report: Report) -> dict[str, Any]:
    """Return what was found as the API says it."""
    found = findings(visit, report)
    return {
        "whole": bool(report),
        "events": report.events,
        "streams": report.streams,
        "erased": report.erased,
        "sealed": report.sealed,
        "problems": [_problem(one) for one in found.problems],
        "others": found.others,
        "not_covered": list(NOT_COVERED),
    }


def _problem(one: Problem) -> dict[str, Any]:
    named = {"what": one.what, "stream": one.stream, "seq": one.seq}
    return named | ({"detail": one.detail} if one.of_credentials else {})


def stands(visit: Visit, last: Verification | None) -> dict[str, Any]:
    """Return how a verification stands as the API says it."""
    if last is None:
        nothing = dict.fromkeys(("by", "begun_at", "ended_at", "found", "failed"))
        return {"state": "none", **nothing, "read": 0, "total": 0}
    return {
        "state": last.state,
        "by": begun_by(visit, last),
        "begun_at": last.begun_at.isoformat(),
        "ended_at": None if last.ended_at is None else last.ended_at.isoformat(),
        "read": last.read,
        "total": last.total,
        "found": None if last.report is None else told(visit, last.report),
        "failed": last.failed,
    }
