"""Who calls, and how far what they showed at the door reaches.

An agent's credential never reaches a decision: no scope that an agent may hold leads there.
A person's roles and teams are not part of it: they are read from the desk at each request.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from sayso.errors import BadValue, WrongScope
from sayso.model.actor import Roster

Kind = Literal["person", "agent"]
Scope = Literal[
    "asks:create",
    "asks:read",
    "asks:run",
    "decisions:write",
    "runs:read",
    "runs:write",
    "audit:read",
    "metrics:read",
    "admin",
]

AGENT_SCOPES: tuple[Scope, ...] = ("asks:create", "asks:read", "asks:run")
AGENTS_MAY: tuple[Scope, ...] = (*AGENT_SCOPES, "metrics:read")  # if somebody names it
PERSON_SCOPES: tuple[Scope, ...] = (
    *AGENT_SCOPES,
    "decisions:write",
    "runs:read",
    "runs:write",
    "audit:read",
)
# Metrics count what all teams have, so they are for admins, and for tokens that admins make.
ADMIN_SCOPES: tuple[Scope, ...] = (*PERSON_SCOPES, "metrics:read", "admin")
ADMIN = "admin"  # the role and the scope: people, tokens, sessions


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody at the door whose credential counts.

    Attributes:
        kind: A person or an agent.
        name: Their name; `None` is whoever sits at this machine, on a desk without people.
        scopes: What they may do.
        how: What they showed, for the journal: `password`, `oidc`, `link`, `token t-7f3k`.
        credential: The id of the session or token.
        team: Of an agent: the team its asks belong to.
        owner: Of an agent: the person whose agent it is, who may not approve its asks.
        version: Of an agent: the version that its token was made for.
        signed_in_at: Of a session: when a password, a link or a provider was last shown.
        people: Those of the desk, as they were when the credential was looked at.
    """

    kind: Kind
    name: str | None
    scopes: frozenset[Scope]
    how: str
    credential: str
    team: str | None = None
    owner: str | None = None
    version: str | None = None
    signed_in_at: datetime | None = None
    people: Roster | None = field(default=None, compare=False, repr=False)

    def check(self, scope: Scope) -> None:
        """Refuse what this credential does not reach.

        Raises:
            WrongScope: it does not have the scope.
        """
        if scope not in self.scopes:
            raise WrongScope(scope, f"this {'token' if self.signed_in_at is None else 'session'}")


def person_may(roster: Roster, name: str | None) -> frozenset[Scope] | None:
    """Return what a person may do at most; `None` if they are nobody here.

    Nobody by name is whoever sits at the machine, and only a desk without people has one.
    """
    if name is None:
        return frozenset(ADMIN_SCOPES) if roster.solo else None
    if name not in roster.people:
        return None
    if ADMIN in roster.people[name]:
        return frozenset(ADMIN_SCOPES)
    return frozenset(PERSON_SCOPES)


def known_scopes(scopes: Iterable[str]) -> tuple[Scope, ...]:
    """Return the scopes, each once and in their usual order.

    Raises:
        BadValue: there is none, or one that does not exist.
    """
    if isinstance(scopes, str):
        raise BadValue(f"Scopes are a list of names, not the text {scopes!r}.")
    given, known = set(scopes), get_args(Scope)
    strange = sorted(str(scope) for scope in given if scope not in known)
    if strange:
        raise BadValue(f"There is no scope {strange[0]!r}. There are: {', '.join(known)}.")
    if not given:
        raise BadValue("A token without any scope could do nothing. Name one, or leave them out.")
    return tuple(scope for scope in known if scope in given)
