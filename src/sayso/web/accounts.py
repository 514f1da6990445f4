"""Who may look after whose people, tokens and sessions: one set of rules for the API and the pages.

Nobody gets hold of somebody else's name here: a token of a person is made by that person, signed
in. So an administrator can take somebody off the desk, and cannot decide in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from fastapi import Request

from sayso.access.caller import ADMIN, Caller, Kind
from sayso.access.sessions import Session, end_session, list_sessions, session_of
from sayso.access.tokens import Token, is_agent, list_tokens, make_token, revoke_token, token_of
from sayso.access.ways import Ways, ways_of
from sayso.asks.people import alone_with, leave, put, roles_of
from sayso.errors import BadValue, Forbidden, Misuse, SignInAgain, UnknownPerson
from sayso.model.actor import Person, Roster, teams_of
from sayso.model.names import check_name
from sayso.model.span import span
from sayso.web.problems import Problem
from sayso.web.service import service_of
from sayso.web.sight import in_sight
from sayso.web.visit import Visit


class Wanted(NamedTuple):
    """A token to make: an agent's, or one's own. Without `expires` it counts until it is revoked."""

    kind: Kind
    name: str | None = None
    scopes: Sequence[str] | None = None
    expires: str | None = None
    team: str | None = None
    owner: str | None = None
    version: str | None = None


def fresh_of(request: Request) -> timedelta:
    """Return how fresh a sign-in must be for whoever changes who may do what."""
    return timedelta(seconds=service_of(request).settings.fresh_seconds)


def is_fresh(visit: Visit, fresh: timedelta) -> bool:
    """Whether the caller has just signed in; on a desk without people there is nobody to do so."""
    if visit.people.solo:
        return True
    signed_in_at = visit.caller.signed_in_at
    return signed_in_at is not None and visit.store.now() - signed_in_at <= fresh


def check_fresh(visit: Visit, fresh: timedelta, what: str) -> None:
    """Refuse whoever has not just signed in to change who may do what, on a desk with people.

    Raises:
        SignInAgain: they have not, or came with a token.
    """
    if not is_fresh(visit, fresh):
        raise SignInAgain(what)


def check_person(who: Caller) -> None:
    """Refuse agents: they have no accounts to look after.

    Raises:
        Forbidden: it is one.
    """
    if who.kind == "agent":
        raise Forbidden("Tokens and sessions are looked after by people, not by agents.")


# --- people ------------------------------------------------------------------------------------

_PEOPLE = "Changing the people of a desk"


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


def known_people(visit: Visit, roster: Roster, names: Sequence[str]) -> tuple[PersonView, ...]:
    """Return these people; what they come in by, of those of whom the caller may know."""
    admin, me = ADMIN in visit.caller.scopes, visit.caller.name
    mine = [name for name in names if admin or name == me]
    ways, alone = ways_of(visit.store, mine), alone_with(visit.store, roster) if mine else {}
    found = []
    for name in names:
        teams = tuple(sorted(roster.teams.get(name, ())))
        view = PersonView(
            name=name, roles=tuple(sorted(roster.people[name])), teams=teams, me=name == me
        )
        found.append(_told(view, ways[name], alone.get(name, 0)) if name in ways else view)
    return tuple(found)


def _told(view: PersonView, ways: Ways, alone: int) -> PersonView:
    words = {"password": ways.password, "identity provider": ways.linked}
    return replace(
        view,
        told=True,
        ways=tuple(word for word, there in words.items() if there),
        seen_at=ways.seen_at,
        sessions=ways.sessions,
        tokens=ways.tokens,
        agents=ways.agents,
        alone=alone,
    )


def known_person(visit: Visit, name: str) -> PersonView:
    """Return somebody whom the caller sees and may know more of: oneself, or anybody for an admin.

    Raises:
        UnknownPerson: there is none, or it is not for this caller: both sound alike.
    """
    roster = visit.people
    if name in roster.people and name in in_sight(visit, roster):
        [view] = known_people(visit, roster, [name])
        if view.told:
            return view
    raise UnknownPerson(name, "")


def checked_person(
    visit: Visit, fresh: timedelta, name: str, roles: Sequence[str], teams: Sequence[str]
) -> Person:
    """Return somebody with these roles and teams, if the caller may put them on the desk.

    Raises:
        SignInAgain: the caller has not just signed in.
        Misuse: the desk has no people yet, or the name, a role or a team cannot be one.
    """
    check_fresh(visit, fresh, _PEOPLE)
    if visit.store.register().solo:
        # Whoever did this in a browser would have locked themselves out of it.
        raise Misuse(
            "This desk has no people yet. Add the first one at the machine: sayso people add NAME "
            "--admin, then: sayso people password NAME"
        )
    if is_agent(visit.store, name):
        raise BadValue(
            f"{name} is an agent with a token; a person needs a name of their own.", path="name"
        )
    return Person(check_name("person", name), roles_of(roles), teams_of(teams))


def put_person(
    visit: Visit, fresh: timedelta, name: str, roles: Sequence[str], teams: Sequence[str]
) -> Person:
    """Add somebody, or give them other roles and teams.

    Raises:
        SignInAgain, Misuse: it cannot be, as `checked_person` says.
    """
    person = checked_person(visit, fresh, name, roles, teams)
    return put(visit.store, person, by=visit.caller.name, origin=visit.origin)


def remove_person(visit: Visit, fresh: timedelta, name: str, *, sure: bool) -> None:
    """Take somebody off the desk: all that they and their agents came in by ends.

    Raises:
        WouldStop: nobody could decide something any more, and the caller is not `sure`.
        SignInAgain: the caller has not just signed in.
        UnknownPerson, Misuse: there is no such person, or it is the last one.
    """
    check_fresh(visit, fresh, _PEOPLE)
    by, law = visit.caller.name, visit.desk.law
    leave(visit.store, law, name, by=by, origin=visit.origin, sure=sure)


# --- tokens ------------------------------------------------------------------------------------


def own_tokens(visit: Visit) -> list[Token]:
    """Return the tokens the caller looks after: one's own and one's agents', or all of them."""
    every, who = list_tokens(visit.store), visit.caller
    return every if ADMIN in who.scopes else [token for token in every if token.person == who.name]


def new_token(visit: Visit, fresh: timedelta, wanted: Wanted) -> tuple[Token, str]:
    """Make a token for an agent (administrators), or for oneself (signed in, not by a token).

    Raises:
        SignInAgain: it is to administer, and the caller has not just signed in.
        Forbidden, WrongScope: it is for somebody else, or the caller is no administrator.
        BadValue: such a token cannot be.
    """
    who = visit.caller
    if ADMIN in (wanted.scopes or ()):
        check_fresh(visit, fresh, "Making a token that administers")
    name = wanted.name or who.name or ""
    if wanted.kind == "agent":
        who.check("admin")
    elif name != who.name:
        raise Forbidden(f"A token of a person is made by that person, not by {who.name}.")
    elif who.signed_in_at is None:
        raise Forbidden("A token of a person is made by whoever signed in, not by another token.")
    return make_token(
        visit.store,
        name=name,
        kind=wanted.kind,
        scopes=wanted.scopes,
        expires=None if wanted.expires is None else span(wanted.expires),
        team=wanted.team,
        owner=wanted.owner,
        version=wanted.version,
        origin=visit.origin,
        by=who.name,
    )


def find_token(visit: Visit, token_id: str) -> Token:
    """Return one of the tokens that the caller looks after.

    Raises:
        Problem: there is none of this id for them.
    """
    token, who = token_of(visit.store, token_id), visit.caller
    if token is not None and (ADMIN in who.scopes or token.person == who.name):
        return token
    words = "There is no such token here; GET /api/v1/tokens lists them."
    raise Problem(404, "unknown-token", words)


def end_token(visit: Visit, token_id: str) -> None:
    """End a token at once.

    Raises:
        Problem: there is none of this id for the caller.
        Forbidden: a token ends another one.
    """
    _check_may_end(visit.caller, token_id)
    find_token(visit, token_id)
    revoke_token(visit.store, token_id, origin=visit.origin, by=visit.caller.name)


# --- sessions ----------------------------------------------------------------------------------


def own_sessions(visit: Visit) -> list[Session]:
    """Return the sessions the caller looks after: one's own, or everybody's."""
    every, who = list_sessions(visit.store), visit.caller
    return every if ADMIN in who.scopes else [found for found in every if found.person == who.name]


def find_session(visit: Visit, session_id: str) -> Session:
    """Return one of the sessions that the caller looks after.

    Raises:
        Problem: there is none of this id for them.
    """
    session, who = session_of(visit.store, session_id), visit.caller
    if session is not None and (ADMIN in who.scopes or session.person == who.name):
        return session
    words = "There is no such session here; GET /api/v1/sessions lists them."
    raise Problem(404, "unknown-session", words)


def sign_out(visit: Visit, session_id: str) -> None:
    """End a session at once, wherever its cookie is kept.

    Raises:
        Problem: there is none of this id for the caller.
        Forbidden: a token ends it that is not an administrator's.
    """
    _check_may_end(visit.caller, session_id)
    find_session(visit, session_id)
    end_session(visit.store, session_id, origin=visit.origin, by=visit.caller.name)


def others_of(visit: Visit, person: str | None) -> list[Session]:
    """Return the sessions of a person that the caller could end together: not the one in use."""
    who = visit.caller
    if ADMIN not in who.scopes and person != who.name:
        return []
    return [
        session
        for session in list_sessions(visit.store, person)
        if session.person == person and session.id != who.credential
    ]


def sign_out_others(visit: Visit, person: str | None) -> int:
    """End the sessions of a person, but for the one that the caller uses; return how many.

    Raises:
        Forbidden: a token ends them that is not an administrator's.
    """
    _check_may_end(visit.caller, "")
    ending = others_of(visit, person)
    for session in ending:
        sign_out(visit, session.id)
    return len(ending)


def _check_may_end(who: Caller, credential: str) -> None:
    """Refuse a token that ends others: whoever found one of a single scope could shut its owner out.

    Raises:
        Forbidden: it is one, and not an administrator's.
    """
    if who.signed_in_at is None and ADMIN not in who.scopes and credential != who.credential:
        raise Forbidden("A token ends no other token and no session: sign in, and end it then.")
