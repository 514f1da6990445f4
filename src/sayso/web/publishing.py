"""Versions of the policy over HTTP: which there were, and putting one in force.

To put one in force takes an administrator who has just signed in. Their right is their role on the
desk, which no policy takes away.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import JSONResponse, Response

from sayso.access.caller import ADMIN, Caller
from sayso.asks.law import Published
from sayso.asks.lawbook import default_policy
from sayso.asks.own_policy import MOST
from sayso.asks.publishing import Policies
from sayso.policy.changes import change_record, changes
from sayso.web.accounts import check_fresh, check_person, fresh_of
from sayso.web.bodies import Sent
from sayso.web.callers import Door, needs
from sayso.web.documents import READING, WRITING, Document, answers
from sayso.web.service import service_of
from sayso.web.visit import Visit, visit_of

router = APIRouter(prefix="/api/v1/policy/versions", tags=["policy"], route_class=Door)
_PUBLISHING = "Putting a policy in force"


class VersionDocument(Document):
    """One version of the policy."""

    version: int = Field(description="Its number, counted from 1.", examples=[3])
    kind: Literal["default", "file", "code"]
    digest: str | None = Field(description="What asks name as the version that ruled.")
    name: str | None = Field(description="Of one made in code: what it is called.")
    source: str | None = Field(description="Where it came from. Administrators see it.")
    text: str | None = Field(description="Of a file. Administrators see it.")
    note: str | None
    restores: int | None = Field(description="The version that it put in force again.")
    at: datetime
    by: str = Field(examples=["person:anna"])
    in_force: bool


class VersionsDocument(Document):
    """Every version of the policy, the newest first."""

    versions: list[VersionDocument]


class PublishedDocument(VersionDocument):
    """A version that was put in force."""

    changes: list[dict[str, str | None]] = Field(
        description="What it changes, in words.",
        examples=[
            [
                {
                    "sort": "gone",
                    "what": "the rule 'large refunds'",
                    "before": "For every call of refund: ask 1 senior.",
                    "after": None,
                    "sentence": "Gone: the rule 'large refunds'. For every call of refund: ask 1 senior.",
                }
            ]
        ],
    )


class PolicyPost(Sent):
    """A policy to put in force."""

    text: str = Field(
        max_length=MOST, description="As in sayso.toml.", examples=['[tools]\nrefund = "high"\n']
    )
    note: str | None = Field(None, max_length=2000, description="Why, for the journal.")
    over: int | None = Field(
        None, ge=0, description="The version it was compared with; refused if another is in force."
    )


class RollbackPost(Sent):
    """Why an earlier version is put in force again."""

    note: str | None = Field(None, max_length=2000)


@router.get(
    "",
    operation_id="policy_versions",
    summary="Every version of the policy that was put in force",
    responses={200: {"model": VersionsDocument}, **answers(401, 403)},
)
async def versions(request: Request, caller: Caller = needs("runs:read")) -> Response:
    """List them, the newest first."""
    visit = visit_of(request, caller)

    def found() -> dict[str, Any]:
        log = visit.desk.policies.log()
        return {"versions": [version_record(visit, one, log[0].number) for one in log]}

    return JSONResponse(await service_of(request).work(found))


@router.get(
    "/{version}",
    operation_id="policy_version",
    summary="One version of the policy",
    responses={200: {"model": VersionDocument}, **answers(*READING)},
)
async def version(request: Request, version: str, caller: Caller = needs("runs:read")) -> Response:
    """Return a version by its number, or by the beginning of its digest."""
    visit = visit_of(request, caller)

    def found() -> dict[str, Any]:
        policies = visit.desk.policies
        return version_record(visit, policies.show(version), policies.show().number)

    return JSONResponse(await service_of(request).work(found))


@router.post(
    "",
    status_code=201,
    operation_id="publish_policy",
    summary="Put a policy in force",
    responses={201: {"model": PublishedDocument}, **answers(*WRITING)},
)
async def publish(request: Request, body: PolicyPost, caller: Caller = needs("admin")) -> Response:
    """Put a policy in force for every program of the desk, from its next ruling on.

    It needs an administrator who has just signed in; a token does not suffice. Refused if the
    people of the desk could never do what it wants.
    """
    visit, fresh = visit_of(request, caller), fresh_of(request)
    found = await service_of(request).work(
        lambda: put(visit, fresh, body.text, note=body.note, over=body.over)
    )
    return JSONResponse(found, 201)


@router.post(
    "/{version}/rollback",
    status_code=201,
    operation_id="rollback_policy",
    summary="Put an earlier version of the policy in force again",
    responses={201: {"model": PublishedDocument}, **answers(*WRITING)},
)
async def rollback(
    request: Request, version: str, body: RollbackPost, caller: Caller = needs("admin")
) -> Response:
    """Put a version in force again, as a new one. Version 0 is the built-in policy."""
    visit, fresh = visit_of(request, caller), fresh_of(request)
    found = await service_of(request).work(lambda: put_again(visit, fresh, version, note=body.note))
    return JSONResponse(found, 201)


# --- for the API and the page alike ------------------------------------------------------------


def put(
    visit: Visit, fresh: timedelta, text: str, *, note: str | None, over: int | None
) -> dict[str, Any]:
    """Put a policy in force, and say what that changes.

    Raises:
        SignInAgain: the caller has not just signed in.
        BadPolicy: it makes no sense, or the people could never do what it wants.
        Conflict: another version is in force than the one it was compared with.
    """
    policies = _admitted(visit, fresh)
    before = policies.in_force
    found = policies.publish(text, note=note, by=visit.caller.name, over=over)
    return _put(visit, policies, before, found)


def put_again(visit: Visit, fresh: timedelta, version: str, *, note: str | None) -> dict[str, Any]:
    """Put an earlier version in force again, and say what that changes; raises what `put` does."""
    policies = _admitted(visit, fresh)
    before = policies.in_force
    found = policies.rollback(version, note=note, by=visit.caller.name)
    return _put(visit, policies, before, found)


def version_record(visit: Visit, found: Published, in_force: int) -> dict[str, Any]:
    """Return a version as data. Its text names people, so administrators alone see it."""
    admin = ADMIN in visit.caller.scopes
    return {
        "version": found.number,
        "kind": found.kind,
        "digest": found.digest,
        "name": found.name,
        "source": found.source or None if admin else None,
        "text": found.text if admin else None,
        "note": found.note,
        "restores": found.restores,
        "at": found.at.isoformat(),
        "by": str(found.by),
        "in_force": found.number == in_force,
    }


def _admitted(visit: Visit, fresh: timedelta) -> Policies:
    check_person(visit.caller)
    check_fresh(visit, fresh, _PUBLISHING)
    policies: Policies = visit.desk.policies
    policies.origin = visit.origin
    return policies


def _put(
    visit: Visit, policies: Policies, before: Published | None, found: Published
) -> dict[str, Any]:
    was = default_policy() if before is None else policies.readable(before)
    differing = () if was is None else changes(was, policies.read(found))
    said = [change_record(one) for one in differing]
    return {**version_record(visit, found, found.number), "changes": said}
