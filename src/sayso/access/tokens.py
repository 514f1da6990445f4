"""Tokens: what programs show at the door, of agents and of people.

The text of a token is shown once, when it is made; the database knows it by its digest. An agent's
token cannot reach a decision, whatever was asked for. A person's never reaches further than the
person does at that moment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from sayso.access.caller import (
    AGENT_SCOPES,
    AGENTS_MAY,
    PERSON_SCOPES,
    Caller,
    Kind,
    Scope,
    known_scopes,
    person_may,
)
from sayso.access.recording import acting, check_person, recorded, tries
from sayso.access.secrets import MARK, digest_of, is_token, new_token
from sayso.errors import BadValue, Misuse, NotSignedIn, StoreBusy, StoreFull
from sayso.model.actor import Origin, Roster
from sayso.model.content import check_word
from sayso.model.ids import short_id
from sayso.model.names import check_name, fold
from sayso.model.span import Span, span
from sayso.model.stake import ASKER
from sayso.store.accounts import TokenRow, TokensWanted, put_token, still_here
from sayso.store.accounts import revoke_token as revoked
from sayso.store.contract import Store

LASTS = timedelta(days=90)  # unless somebody says otherwise
_SHOWN = len(MARK) + 4
_NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is listed: everything but its text.

    Attributes:
        id: What it is revoked by, such as `t-7f3k`.
        prefix: How its text begins.
        kind: Whether an agent or a person shows it.
        name: Whose it is.
        scopes: What it may do.
        team: Of an agent: the team its asks belong to.
        owner: Of an agent: the person whose agent it is.
        version: Of an agent: the version that it is, for the trust that it earns.
        made_at: When it was made.
        expires_at: When it stops counting; `None` is never.
        used_at: When it was last used, to the minute.
        revoked_at: When it was revoked, or its person left.
    """

    id: str
    prefix: str
    kind: Kind
    name: str
    scopes: tuple[Scope, ...]
    team: str | None
    owner: str | None
    version: str | None
    made_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None

    @property
    def person(self) -> str | None:
        """The person it stands and falls with."""
        return self.name if self.kind == "person" else self.owner

    def counts(self, now: datetime) -> bool:
        """Whether it was neither revoked nor has expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def make_token(
    store: Store,
    *,
    name: str,
    kind: Kind,
    scopes: Iterable[str] | None = None,
    expires: timedelta | None,
    team: str | None = None,
    owner: str | None = None,
    version: str | None = None,
    origin: Origin,
    by: str | None = None,
) -> tuple[Token, str]:
    """Make a token. Its text is returned here and nowhere else.

    Args:
        store: The database of the desk.
        name: The agent, or the person.
        kind: Which of the two.
        scopes: What it may do; everything but `admin` unless given.
        expires: How long it counts; `None` is until it is revoked.
        team: Of an agent: the team its asks belong to.
        owner: Of an agent: the person whose agent it is, who may not approve its asks.
        version: Of an agent: the version that it is. Without one it earns no trust.
        origin: Through which door this comes.
        by: The person who makes it; whoever holds the database unless given.

    Raises:
        BadValue: the name, a scope or the span cannot be that of such a token.
        UnknownPerson: the person, the owner or whoever makes it is not on the desk.
    """
    lasting = None if expires is None else span(expires)
    for _ in tries():
        roster = store.register()
        name, wanted = _reach(roster, name, kind, scopes)
        team, owner = _agents(roster, name, kind, team, owner)
        version = _version(kind, version)
        text, now = new_token(), store.now()
        row = TokenRow(
            id=short_id("t", os.urandom(8), 4),
            digest=digest_of(text),
            prefix=text[:_SHOWN],
            kind=kind,
            name=name,
            scopes=wanted,
            team=team,
            owner=owner,
            version=version,
            made_at=now,
            expires_at=None if lasting is None else now + lasting,
        )
        token = _listed(row)
        person = () if token.person is None else (still_here(token.person),)
        if recorded(
            store,
            "token.made",
            _told(token),
            *person,
            put_token(row),
            actor=acting(roster, by, origin),
            origin=origin,
            secret=row.digest,
        ):
            return token, text
    raise AssertionError("unreachable: the last try returns or raises")


def revoke_token(store: Store, token_id: str, *, origin: Origin, by: str | None = None) -> Token:
    """End a token at once. One that was revoked before stays as it is.

    Raises:
        Misuse: there is no such token.
        UnknownPerson: whoever revokes it is not on the desk.
    """
    for _ in tries():
        found = token_of(store, token_id)
        if found is None:
            raise Misuse(f"There is no token {token_id!r} here. `sayso tokens list` shows them.")
        if found.revoked_at is not None:
            return found
        actor = acting(store.register(), by, origin)
        said: dict[str, object] = {"id": token_id, "name": found.name, "kind": found.kind}
        change = revoked(token_id, store.now())
        recorded(store, "token.revoked", said, change, actor=actor, origin=origin)
    raise AssertionError("unreachable: the last try returns or raises")


def token_of(store: Store, token_id: str) -> Token | None:
    """Return the token of this id; also one that no longer counts."""
    row = store.token_by_id(token_id)
    return None if row is None else _listed(row)


def list_tokens(store: Store) -> list[Token]:
    """Return every token, the oldest first; also those that no longer count."""
    return [_listed(row) for row in store.tokens()]


@dataclass(frozen=True, slots=True)
class TokenPage:
    """Some tokens, the newest first: how many there are of them, and the id to go on behind."""

    tokens: tuple[Token, ...]
    count: int
    older: str | None


def token_page(
    store: Store, *, person: str | None, ended: bool, after: str = "", limit: int = 100
) -> TokenPage:
    """Return tokens of a person and their agents, or of everybody: those in use, or that ended.

    An `after` that is no token begins with the newest.
    """
    wanted = TokensWanted(person, ended)
    last = store.token_by_id(after) if after else None
    before = None if last is None else (last.made_at, last.id)
    rows = store.tokens_page(wanted, limit + 1, before)
    found = tuple(_listed(row) for row in rows[:limit])
    older = found[-1].id if len(rows) > limit else None
    return TokenPage(found, store.tokens_number(wanted), older)


def is_agent(store: Store, name: str) -> bool:
    """Whether an agent goes by this name: it has a token that nobody revoked."""
    return any(
        token.kind == "agent" and token.revoked_at is None
        for token in list_tokens(store)
        if fold(token.name) == fold(name)
    )


def caller_of_token(store: Store, text: str) -> Caller:
    """Return who shows this token.

    Raises:
        NotSignedIn: it does not count: mistyped, unknown, revoked, expired, or its person left.
    """
    row = store.token(digest_of(text)) if is_token(text) else None
    if row is None:
        raise NotSignedIn
    token, now, roster = _listed(row), store.now(), store.register()
    gone = token.person is not None and token.person not in roster.people
    if gone or not token.counts(now):
        raise NotSignedIn
    if token.used_at is None or now - token.used_at >= _NOTED_EVERY:
        with suppress(StoreBusy, StoreFull):  # nobody is kept out because it could not be noted
            store.token_used(token.id)
    # Of an agent it is the name that its asks have, also where the token is older than that.
    name = fold(token.name) if token.kind == "agent" else roster.spelt(token.name)
    return Caller(
        kind=token.kind,
        name=name,
        scopes=frozenset(token.scopes) & _most(roster, name, token.kind),
        how=f"token {token.id}",
        credential=token.id,
        team=token.team,
        owner=token.owner,
        version=token.version,
        people=roster,
    )


def _most(roster: Roster, name: str, kind: Kind) -> frozenset[Scope]:
    """Return what a token of theirs may do at most, now."""
    return frozenset(AGENTS_MAY) if kind == "agent" else person_may(roster, name) or frozenset()


def _reach(
    roster: Roster, name: str, kind: Kind, scopes: Iterable[str] | None
) -> tuple[str, tuple[Scope, ...]]:
    """Return whose token it is, as the desk writes the name, and what it may do."""
    if kind not in ("agent", "person"):
        raise BadValue(f"A token is an agent's or a person's, not {kind!r}.")
    name = check_name(kind, name)
    if kind == "person":
        name = check_person(roster, name)
    usual = AGENT_SCOPES if kind == "agent" else PERSON_SCOPES
    wanted = usual if scopes is None else known_scopes(scopes)
    beyond = [scope for scope in wanted if scope not in _most(roster, name, kind)]
    if not beyond:
        return name, wanted
    if kind == "agent":
        raise BadValue(
            f"The token of an agent cannot hold {beyond[0]}: agents ask and carry out, people "
            f"decide. It can hold: {', '.join(AGENTS_MAY)}."
        )
    raise BadValue(
        f"{name} may not do {beyond[0]}, so no token of theirs may. It needs the role admin: "
        f"sayso people add {name} --admin"
    )


def _agents(
    roster: Roster, name: str, kind: Kind, team: str | None, owner: str | None
) -> tuple[str | None, str | None]:
    """Return the team and the owner of an agent's token; a person's has neither.

    Raises:
        BadValue: a person's is to have one, or the name belongs to somebody else.
    """
    if kind == "person":
        if team is not None or owner is not None:
            raise BadValue("A team and an owner belong to an agent's token, not to a person's.")
        return None, None
    if name == ASKER:
        raise BadValue(f"{name} asks about the trust in agents; an agent needs a name of its own.")
    if roster.spelt(name) in roster.people:
        raise BadValue(
            f"{name} is a person on this desk; an agent needs a name of its own. "
            f"For a program of theirs: sayso tokens create {name} --person"
        )
    return (
        None if team is None else check_name("team", team),
        None if owner is None else check_person(roster, owner),
    )


def _version(kind: Kind, version: str | None) -> str | None:
    """Return the version of an agent.

    Raises:
        BadValue: it is a person's, or no word.
    """
    if version is None:
        return None
    if kind == "person":
        raise BadValue("A version belongs to an agent's token, not to a person's.", path="version")
    return check_word(version, "version")


def _told(token: Token) -> dict[str, object]:
    return {
        "id": token.id,
        "name": token.name,
        "kind": token.kind,
        "scopes": list(token.scopes),
        "expires_at": None if token.expires_at is None else token.expires_at.isoformat(),
        "team": token.team,
        "owner": token.owner,
        "version": token.version,
    }


def _listed(row: TokenRow) -> Token:
    return Token(
        id=row.id,
        prefix=row.prefix,
        kind=cast("Kind", row.kind),
        name=row.name,
        scopes=cast("tuple[Scope, ...]", row.scopes),
        team=row.team,
        owner=row.owner,
        version=row.version,
        made_at=row.made_at,
        expires_at=row.expires_at,
        used_at=row.used_at,
        revoked_at=row.revoked_at,
    )


class Tokens:
    """The tokens of a desk: what programs come in by over the network."""

    def __init__(self, store: Callable[[], Store], origin: Origin) -> None:
        self._store = store
        self._origin = origin

    def make(
        self,
        name: str,
        kind: Kind = "agent",
        *,
        scopes: Iterable[str] | None = None,
        expires: Span | None = LASTS,
        team: str | None = None,
        owner: str | None = None,
        version: str | None = None,
        by: str | None = None,
    ) -> tuple[Token, str]:
        """Make a token; its text is returned here and nowhere else. See `make_token`."""
        return make_token(
            self._store(),
            name=name,
            kind=kind,
            scopes=scopes,
            expires=None if expires is None else span(expires),
            team=team,
            owner=owner,
            version=version,
            origin=self._origin,
            by=by,
        )

    def revoke(self, token_id: str, *, by: str | None = None) -> Token:
        """End a token at once."""
        return revoke_token(self._store(), token_id, origin=self._origin, by=by)

    def __iter__(self) -> Iterator[Token]:
        """Go through the tokens, the oldest first; also those that no longer count."""
        return iter(list_tokens(self._store()))
