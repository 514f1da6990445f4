"""The versions of the policy: which there were, what each changed, and putting one in force again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import ADMIN, Caller
from sayso.asks.law import Published
from sayso.asks.lawbook import default_policy
from sayso.asks.publishing import Policies
from sayso.errors import BadPolicy, BadValue, SaysoError
from sayso.policy.changes import Change, changes
from sayso.policy.rules import Policy
from sayso.web.accounts import fresh_of
from sayso.web.inbox.posting import one as value_of
from sayso.web.inbox.posting import posted
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.pages.board import board, person
from sayso.web.pages.publishing import NOTE, Question, ask_for
from sayso.web.pages.sure import Refused, refused
from sayso.web.publishing import put_again
from sayso.web.service import service_of
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_READS, _ADMIN = person("runs:read"), person("admin")
_PATH = "/policies/versions"
_LISTED = 200
Number = Annotated[int, Path(ge=0, le=10**9)]
_KINDS = {"file": "text", "code": "made in code", "default": "the built-in policy"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionLine:
    """One version of the policy. Where it came from, administrators see in full."""

    number: int
    at: datetime
    by: str
    itself: bool  # the desk or a program did it, and nobody by hand
    kind: str
    digest: str | None
    source: str
    note: str | None
    restores: int | None
    in_force: bool


def lines_of(visit: Visit, most: int = _LISTED) -> tuple[tuple[VersionLine, ...], int]:
    """Return the versions of the policy, the newest first, and how many there are."""
    log = visit.desk.policies.log()
    return tuple(_line(visit, one, log[0]) for one in log[:most]), len(log)


def _line(visit: Visit, one: Published, last: Published) -> VersionLine:
    admin = ADMIN in visit.caller.scopes
    return VersionLine(
        number=one.number,
        at=one.at,
        by=one.by.id,
        itself=one.by.kind != "person",
        kind=_KINDS.get(one.kind, one.kind),
        digest=one.digest,
        source=one.source if admin else one.source.rpartition("/")[2],
        note=one.note,
        restores=one.restores,
        in_force=one.number == last.number,
    )


@router.get(_PATH)
async def versions(request: Request, who: Caller = _READS) -> Response:
    """Show every version that was put in force, the newest first."""
    visit = visit_of(request, who)

    def made() -> Response:
        lines, count = lines_of(visit)
        return board(
            request,
            visit,
            "policy_log.html",
            "Versions of the policy",
            "policies",
            lines=lines,
            count=count,
            admin=ADMIN in visit.caller.scopes,
        )

    return await service_of(request).work(made)


@router.get(_PATH + "/{number}")
async def version(request: Request, number: Number, who: Caller = _READS) -> Response:
    """Show one version: who put it in force, and to administrators its text and what it changed."""
    visit = visit_of(request, who)

    def made() -> Response:
        policies = visit.desk.policies
        found, log = policies.show(number), policies.log()
        admin = ADMIN in visit.caller.scopes
        return board(
            request,
            visit,
            "policy_version.html",
            f"Version {number} of the policy",
            "policies",
            line=_line(visit, found, log[0]),
            admin=admin,
            text=found.text if admin else None,
            changes=_changed(policies, log, found) if admin else None,
            readable=policies.readable(found) is not None,
        )

    return await service_of(request).work(made)


def _changed(
    policies: Policies, log: list[Published], found: Published
) -> tuple[Change, ...] | None:
    """Return what a version changed of the one before it; `None` if one of them cannot be read."""
    last = next((one for one in log if one.number == found.number - 1), None)
    before = default_policy() if last is None else policies.readable(last)
    after = policies.readable(found)
    return None if before is None or after is None else changes(before, after)


# --- putting one in force again ----------------------------------------------------------------


@router.get(_PATH + "/{number}/rollback")
async def sure_rollback(request: Request, number: Number, who: Caller = _ADMIN) -> Response:
    """Ask whether a version is to be in force again, and say what that changes."""
    visit = visit_of(request, who)
    return await service_of(request).work(lambda: _asked(request, visit, number))


@router.post(_PATH + "/{number}/rollback")
async def rollback_form(request: Request, number: Number, who: Caller = _ADMIN) -> Response:
    """Put a version in force again, as a new one."""
    fields = await posted(request)
    visit, note = visit_of(request, who), value_of(fields, "note").strip()[:NOTE]

    def made() -> Response:
        try:
            said = put_again(visit, fresh_of(request), str(number), note=note or None)
        except SaysoError as error:
            again = f"{_PATH}/{number}/rollback"
            return _asked(request, visit, number, note, refused(error, again))
        return RedirectResponse(f"{_PATH}/{said['version']}", 303)

    return await service_of(request).work(made)


def _asked(
    request: Request, visit: Visit, number: int, note: str = "", refusal: Refused | None = None
) -> Response:
    policy = _policy(visit, number)
    question = Question(
        title=f"Put version {number} in force again?"
        if number
        else "Go back to the built-in policy?",
        action=f"{_PATH}/{number}/rollback",
        button="Put it in force",
        back=f"{_PATH}/{number}" if number else _PATH,
        note=note,
    )
    return ask_for(request, visit, policy, question, refusal)


def _policy(visit: Visit, number: int) -> Policy:
    """Return the rules of a version; 0 is the built-in policy.

    Raises:
        BadValue: there is no such version, or this server cannot read it.
    """
    if not number:
        return default_policy()
    policies = visit.desk.policies
    found = policies.show(number)
    try:
        return policies.read(found)
    except BadPolicy as error:
        words = f"Version {number} cannot be put in force from here. {error}"
        raise BadValue(words) from error
