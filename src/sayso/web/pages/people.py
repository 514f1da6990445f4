"""The people: who is on the desk, how they come in, what waits for them alone; added and removed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import ADMIN, Caller
from sayso.errors import SaysoError
from sayso.model.actor import Roster
from sayso.model.names import check_name
from sayso.web.accounts import (
    PersonView,
    checked_person,
    fresh_of,
    is_fresh,
    known_people,
    known_person,
    put_person,
    remove_person,
)
from sayso.web.forms.sent import Posted
from sayso.web.inbox.posting import one as value_of
from sayso.web.inbox.posting import posted
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.pages.board import board, person
from sayso.web.pages.losing import change_of, removal_of
from sayso.web.pages.sure import Refused, refused, sure_page
from sayso.web.service import service_of
from sayso.web.sight import in_sight
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_READS, _ADMIN = person("asks:read"), person("admin")
Name = Annotated[str, Path(max_length=64)]
PAGE = 100  # people on a page
TABS = (
    ("/people", "People"),
    ("/people/sessions", "Sessions"),
    ("/people/tokens", "Tokens"),
    ("/people/webhooks", "Webhooks"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What stands in the form of a person."""

    name: str = ""
    roles: str = ""
    teams: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    refusal: Refused | None = None


# --- looking -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Some of the people whom the caller sees, by name; how many there are, and which come next."""

    people: tuple[PersonView, ...]
    count: int
    after: str | None
    first: bool


@router.get("/people")
async def people(
    request: Request, who: Caller = _READS, after: Annotated[str, Query(max_length=64)] = ""
) -> Response:
    """Show who is on the desk."""
    visit = visit_of(request, who)
    return await service_of(request).work(lambda: _page(request, visit, Typed(), after))


def _page(request: Request, visit: Visit, typed: Typed, after: str = "") -> Response:
    roster = visit.people
    shown = shown_of(visit, roster, after)
    status = 200 if typed.refusal is None else typed.refusal.status
    return board(
        request,
        visit,
        "people.html",
        "People",
        "people",
        status=status,
        **around(visit, "/people"),
        solo=roster.solo,
        shown=shown,
        hidden=len(roster.people) - shown.count,
        typed=typed,
        fresh=is_fresh(visit, fresh_of(request)),
        known=known(roster),
    )


def around(visit: Visit, path: str) -> dict[str, Any]:
    """Return what stands on every page about people: the tabs that the caller has."""
    admin = ADMIN in visit.caller.scopes
    tabs = [(href, label, href == path) for href, label in TABS if admin or label != "Webhooks"]
    return {"tabs": tabs, "admin": admin}


def known(roster: Roster) -> dict[str, list[str]]:
    """Return the roles and teams there are, to be suggested."""
    return {
        "roles": sorted({*roster.roles, "junior", "senior", "security", ADMIN}),
        "teams": sorted({team for teams in roster.teams.values() for team in teams}),
    }


def shown_of(visit: Visit, roster: Roster, after: str = "") -> Shown:
    """Return a page of the people whom the caller sees, by name; what is known of them is read for it."""
    seen = in_sight(visit, roster)
    every = sorted(name for name in roster.people if name in seen)
    start = bisect_right(every, after) if after else 0
    names = every[start : start + PAGE]
    return Shown(
        people=known_people(visit, roster, names),
        count=len(every),
        after=names[-1] if names and start + PAGE < len(every) else None,
        first=start == 0,
    )


# --- adding and changing -----------------------------------------------------------------------


@router.post("/people")
async def put_form(request: Request, who: Caller = _ADMIN) -> Response:
    """Add somebody, or give them other roles and teams; whoever takes something is asked first."""
    fields = await posted(request)
    visit = visit_of(request, who)
    return await service_of(request).work(lambda: _put(request, visit, fields))


def _put(request: Request, visit: Visit, fields: Posted) -> Response:
    typed = {name: value_of(fields, name).strip() for name in ("name", "roles", "teams")}
    changing = value_of(fields, "was")  # the page of somebody sends their name here
    name = changing or typed["name"]
    given = name, words(typed["roles"]), words(typed["teams"])
    try:
        wanted = checked_person(visit, fresh_of(request), *given)
        question = None if value_of(fields, "sure") else change_of(visit, wanted)
        if question is not None:
            return sure_page(request, visit, question)
        put_person(visit, fresh_of(request), *given)
    except SaysoError as error:
        refusal = refused(error, f"/people/person/{changing}" if changing else "/people")
        field_ = refusal.field or _field(name, typed)
        errors = {} if refusal.sign_in or not field_ else {field_: refusal.words}
        kept = Typed(**typed, errors=errors, refusal=refusal)
        if changing:
            return _person(request, visit, changing, kept)
        return _page(request, visit, kept)
    return RedirectResponse(f"{page_with(visit, name)}#person-{name}", 303)


def page_with(visit: Visit, name: str) -> str:
    """Return the address of the page that shows somebody who was just put on the desk."""
    roster = visit.store.register()
    seen = in_sight(visit, roster)
    every = sorted(one for one in roster.people if one in seen)
    start = every.index(name) // PAGE * PAGE if name in every else 0
    return f"/people?after={quote(every[start - 1])}" if start else "/people"


def _field(name: str, typed: Mapping[str, str]) -> str:
    """Return the field that a name which is none stands in; the errors of names do not say it."""
    for field_, texts in (
        ("name", [name]),
        ("roles", words(typed["roles"])),
        ("teams", words(typed["teams"])),
    ):
        for text in texts:
            try:
                check_name(field_, text)
            except SaysoError:
                return field_
    return ""


def words(text: str) -> list[str]:
    """Return what stands between commas and spaces, each once."""
    return list(dict.fromkeys(text.replace(",", " ").split()))


@router.get("/people/person/{name}")
async def person_page(request: Request, name: Name, who: Caller = _READS) -> Response:
    """Show somebody: roles and teams, what they come in by, and what removing them means."""
    visit = visit_of(request, who)
    return await service_of(request).work(lambda: _person(request, visit, name, None))


def _person(request: Request, visit: Visit, name: str, typed: Typed | None) -> Response:
    view, roster = known_person(visit, name), visit.people
    kept = typed or Typed(name=name, roles=", ".join(view.roles), teams=", ".join(view.teams))
    status = 200 if kept.refusal is None else kept.refusal.status
    return board(
        request,
        visit,
        "one_person.html",
        name,
        "people",
        status=status,
        **around(visit, "/people"),
        one=view,
        typed=kept,
        fresh=is_fresh(visit, fresh_of(request)),
        known=known(roster),
    )


# --- removing ----------------------------------------------------------------------------------


@router.get("/people/person/{name}/remove")
async def sure_remove(request: Request, name: Name, who: Caller = _ADMIN) -> Response:
    """Ask whether somebody is to leave, and say what follows."""
    visit = visit_of(request, who)
    return await service_of(request).work(
        lambda: sure_page(request, visit, removal_of(visit, name))
    )


@router.post("/people/person/{name}/remove")
async def remove_form(request: Request, name: Name, who: Caller = _ADMIN) -> Response:
    """Take somebody off the desk."""
    visit = visit_of(request, who)

    def made() -> Response:
        sure = removal_of(visit, name)
        try:
            remove_person(visit, fresh_of(request), name, sure=True)
        except SaysoError as error:
            return sure_page(request, visit, sure, refused(error, sure.action))
        return RedirectResponse("/people", 303)

    return await service_of(request).work(made)
