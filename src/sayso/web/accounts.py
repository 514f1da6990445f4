"""Who may look after whose people, tokens and sessions: one set of rules for the API and the pages.

Nobody gets hold of somebody else's name here: a token of a person is made by that person, signed
in. So an administrator can take somebody off the desk, and cannot decide in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from fastapi import Request

from sayso.access.caller import ADMIN, Caller, Kind
from sayso.access.sessions import Session, end_session, list_sessions
from sayso.access.tokens import Token, is_agent, list_tokens, make_token, revoke_token
from sayso.asks.people import put, remove, roles_of, teams_of
from sayso.errors import BadValue, Forbidden, Misuse, SignInAgain
from sayso.model.actor import Person, plain_name
from sayso.model.span import span
from sayso.web.problems import Problem
from sayso.web.service import service_of
from sayso.web.visit import Visit


class Wanted(NamedTuple):
    """A token to make: an agent's, or one's own. Without `expires` it counts until it is revoked."""

    kind: Kind
    name: str | None = None
    scopes: Sequence[str] | None = None
    expires: str | None = None
    team: str | None = None
    owner: str | None = None


def fresh_of(request: Request) -> timedelta:
    """Return how fresh a sign-in must be for whoever changes who may do what."""
    return timedelta(seconds=service_of(request).settings.fresh_seconds)


def is_fresh(visit: Visit, fresh: timedelta) -> bool:
    """Whether the caller has just signed in; on a desk without people there is nobody to do so."""
    if visit.store.register().solo:
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


def put_person(
    visit: Visit, fresh: timedelta, name: str, roles: Sequence[str], teams: Sequence[str]
) -> Person:
    """Add somebody, or give them other roles and teams.

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
    person = Person(plain_name(name, "person"), roles_of(roles), teams_of(teams))
    return put(visit.store, person, by=visit.caller.name, origin=visit.origin)


def remove_person(visit: Visit, fresh: timedelta, name: str) -> None:
    """Take somebody off the desk: all that they and their agents came in by ends.

    Raises:
        SignInAgain: the caller has not just signed in.
        UnknownPerson, Misuse: there is no such person, or it is the last one.
    """
    check_fresh(visit, fresh, _PEOPLE)
    remove(visit.store, name, by=visit.caller.name, origin=visit.origin)


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
        origin=visit.origin,
        by=who.name,
    )


def find_token(visit: Visit, token_id: str) -> Token:
    """Return one of the tokens that the caller looks after.

    Raises:
        Problem: there is none of this id for them.
    """
    for token in own_tokens(visit):
        if token.id == token_id:
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
    for session in own_sessions(visit):
        if session.id == session_id:
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
    return [
        session
        for session in own_sessions(visit)
        if session.person == person and session.id != visit.caller.credential
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
