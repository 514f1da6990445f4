"""The people: who is on the desk, how they come in, what waits for them alone; added and removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import RedirectResponse, Response

from sayso.access.caller import ADMIN, Caller
from sayso.access.sessions import list_sessions
from sayso.access.tokens import Token, list_tokens
from sayso.errors import SaysoError, UnknownPerson
from sayso.model.actor import Roster, plain_name
from sayso.policy.checking import problems
from sayso.store.contract import Store
from sayso.web.accounts import fresh_of, is_fresh, put_person, remove_person
from sayso.web.forms.sent import Posted
from sayso.web.inbox.posting import one as value_of
from sayso.web.inbox.posting import posted
from sayso.web.inbox.signed_out import InboxDoor
from sayso.web.pages.board import board, person
from sayso.web.pages.sure import Refused, Sure, refused, sure_page
from sayso.web.service import service_of
from sayso.web.sight import in_sight
from sayso.web.visit import Visit, visit_of

router = APIRouter(route_class=InboxDoor, include_in_schema=False)

_READS, _ADMIN = person("asks:read"), person("admin")
Name = Annotated[str, Path(max_length=64)]
TABS = (
    ("/people", "People"),
    ("/people/sessions", "Sessions"),
    ("/people/tokens", "Tokens"),
    ("/people/webhooks", "Webhooks"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonView:
    """Somebody on the desk. What they come in by is known of oneself, and to administrators."""

    name: str
    roles: tuple[str, ...]
    teams: tuple[str, ...]
    me: bool
    told: bool = False
    ways: tuple[str, ...] = ()
    seen_at: datetime | None = None
    sessions: int = 0
    tokens: int = 0
    agents: tuple[str, ...] = ()
    alone: int = 0


@dataclass(frozen=True, slots=True)
class Entries:
    """What people come in by, read once for all of them."""

    passwords: frozenset[str]
    linked: frozenset[str]
    sessions: Mapping[str, int]
    tokens: Mapping[str, int]
    agents: Mapping[str, tuple[str, ...]]
    seen: Mapping[str, datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What stands in the form of a person."""

    name: str = ""
    roles: str = ""
    teams: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    refusal: Refused | None = None


# --- looking -----------------------------------------------------------------------------------


@router.get("/people")
async def people(request: Request, who: Caller = _READS) -> Response:
    """Show who is on the desk."""
    visit = visit_of(request, who)
    return await service_of(request).work(lambda: _page(request, visit, Typed()))


def _page(request: Request, visit: Visit, typed: Typed) -> Response:
    roster = visit.store.register()
    listed = views(visit, roster)
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
        people=listed,
        hidden=len(roster.people) - len(listed),
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


def views(visit: Visit, roster: Roster) -> list[PersonView]:
    """Return the people whom the caller sees, by name."""
    admin, me = ADMIN in visit.caller.scopes, visit.caller.name
    entries, alone = entries_of(visit.store), alone_with(visit.store)
    seen = in_sight(visit, roster)
    found = []
    for name in sorted(roster.people):
        if name not in seen:
            continue
        teams = tuple(sorted(roster.teams.get(name, ())))
        view = PersonView(
            name=name, roles=tuple(sorted(roster.people[name])), teams=teams, me=name == me
        )
        found.append(_told(view, entries, alone) if admin or view.me else view)
    return found


def _told(view: PersonView, entries: Entries, alone: Mapping[str, int]) -> PersonView:
    name = view.name
    ways = [
        word
        for word, there in (
            ("password", name in entries.passwords),
            ("identity provider", name in entries.linked),
        )
        if there
    ]
    return PersonView(
        name=name,
        roles=view.roles,
        teams=view.teams,
        me=view.me,
        told=True,
        ways=tuple(ways),
        seen_at=entries.seen.get(name),
        sessions=entries.sessions.get(name, 0),
        tokens=entries.tokens.get(name, 0),
        agents=entries.agents.get(name, ()),
        alone=alone.get(name, 0),
    )


def entries_of(store: Store) -> Entries:
    """Return what everybody comes in by."""
    now, sessions = store.now(), list_sessions(store)
    tokens = [token for token in list_tokens(store) if token.counts(now)]
    own = [token for token in tokens if token.kind == "person"]
    seen: dict[str, datetime] = {}
    for name, at in [
        *((session.person, session.seen_at) for session in sessions),
        *((token.name, token.used_at) for token in own),
    ]:
        if name is not None and at is not None:
            seen[name] = max(at, seen.get(name, at))
    return Entries(
        passwords=frozenset(store.with_password()),
        linked=frozenset(row.person for row in store.identities()),
        sessions=Counter(session.person for session in sessions if session.person),
        tokens=Counter(token.name for token in own),
        agents=_agents(tokens),
        seen=seen,
    )


def _agents(tokens: Sequence[Token]) -> dict[str, tuple[str, ...]]:
    owned: dict[str, list[str]] = {}
    for token in tokens:
        if token.kind == "agent" and token.owner is not None:
            owned.setdefault(token.owner, []).append(token.name)
    return {owner: tuple(dict.fromkeys(names)) for owner, names in owned.items()}


def alone_with(store: Store) -> dict[str, int]:
    """Return how many open asks there are, by name, on which nobody else may vote.

    By roles and teams: who asked, or owns the agent that asked, is not looked at.
    """
    roster, found = store.roster(), Counter[str]()
    for each in store.open_needs():
        within = roster.within(each.team)
        may = [name for name, held in within.people.items() if each.takes(held)]
        if len(may) == 1:
            found[may[0]] += each.count
    return dict(found)


# --- adding and changing -----------------------------------------------------------------------


@router.post("/people")
async def put_form(request: Request, who: Caller = _ADMIN) -> Response:
    """Add somebody, or give them other roles and teams."""
    fields = await posted(request)
    visit = visit_of(request, who)
    return await service_of(request).work(lambda: _put(request, visit, fields))


def _put(request: Request, visit: Visit, fields: Posted) -> Response:
    typed = {name: value_of(fields, name).strip() for name in ("name", "roles", "teams")}
    changing = value_of(fields, "was")  # the page of somebody sends their name here
    name = changing or typed["name"]
    try:
        put_person(visit, fresh_of(request), name, words(typed["roles"]), words(typed["teams"]))
    except SaysoError as error:
        refusal = refused(error, f"/people/person/{changing}" if changing else "/people")
        field_ = refusal.field or _field(name, typed)
        errors = {} if refusal.sign_in or not field_ else {field_: refusal.words}
        kept = Typed(**typed, errors=errors, refusal=refusal)
        if changing:
            return _person(request, visit, changing, kept)
        return _page(request, visit, kept)
    return RedirectResponse(f"/people#person-{name}", 303)


def _field(name: str, typed: Mapping[str, str]) -> str:
    """Return the field that a name which is none stands in; the errors of names do not say it."""
    for field_, texts in (
        ("name", [name]),
        ("roles", words(typed["roles"])),
        ("teams", words(typed["teams"])),
    ):
        for text in texts:
            try:
                plain_name(text, field_)
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
    view, roster = _view(visit, name), visit.store.register()
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


def _view(visit: Visit, name: str) -> PersonView:
    """Return somebody whom the caller sees and may know more of: oneself, or anybody for an admin.

    Raises:
        UnknownPerson: there is none, or it is not for this caller: both sound alike.
    """
    for view in views(visit, visit.store.register()):
        if view.name == name and view.told:
            return view
    raise UnknownPerson(name, "")


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
            remove_person(visit, fresh_of(request), name)
        except SaysoError as error:
            return sure_page(request, visit, sure, refused(error, sure.action))
        return RedirectResponse("/people", 303)

    return await service_of(request).work(made)


def removal_of(visit: Visit, name: str) -> Sure:
    """Say what follows if somebody leaves.

    Raises:
        UnknownPerson: there is no such person.
    """
    view, roster = _view(visit, name), visit.store.register()
    last = len(roster.people) == 1
    follows = [
        f"{_many(view.sessions, 'session')} and {_many(view.tokens, 'token')} of {name} end at once."
    ]
    if view.agents:
        follows.append(f"The tokens of their agents end too: {', '.join(view.agents)}.")
    follows += [
        "Their password, and what an identity provider knows them by, are forgotten.",
        "Their votes on asks that are still open no longer count. History keeps their name.",
    ]
    if last:
        follows = ["It cannot be: without anybody the desk would be in solo mode again."]
    return Sure(
        title=f"Take {name} off the desk?",
        follows=tuple(follows),
        beware=() if last else tuple(_beware(visit, roster, view)),
        action=f"/people/person/{name}/remove",
        button=f"Remove {name}",
        back=f"/people/person/{name}",
        possible=not last,
    )


def _beware(visit: Visit, roster: Roster, view: PersonView) -> list[str]:
    """Say what nobody could do any more without this person."""
    said = []
    if view.me:
        said.append("This is you: you are signed out at once, and cannot come back by yourself.")
    admins = [name for name, roles in roster.people.items() if ADMIN in roles]
    if admins == [view.name]:
        said.append("Nobody else is an administrator. Then people are changed at the machine only.")
    if view.alone:
        said.append(f"{_many(view.alone, 'open ask')} could then be decided by nobody.")
    policy = visit.desk.policy
    left = Roster(
        {name: roles for name, roles in roster.people.items() if name != view.name},
        {name: teams for name, teams in roster.teams.items() if name != view.name},
    )
    before = set(problems(policy, roster))
    return [
        *said,
        *(
            f"The policy, {one.about}: {one.reason}"
            for one in problems(policy, left)
            if one not in before
        ),
    ]


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
