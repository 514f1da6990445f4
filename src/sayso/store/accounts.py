"""Who may come in: tokens, sessions, passwords and what else people show at the door.

No secret is kept, only what a secret can be recognised by. A change of an account is written with
its event (`Append.accounts`); the functions here say which query that is. What only counts or
looks is a method of the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol

from sayso.model.event import micros, moment
from sayso.store.named import RowChange, SqlQueries

ACCESS = "access"  # the stream that says who was let in, and by what
LINK_DIGEST = 32  # bytes of the digest of a link; the mark of a sign-in at a provider is longer
_STATE = b"state "  # before that digest, so that no link can pass for it

_MICROSECOND = timedelta(microseconds=1)


class TokenRow(NamedTuple):
    """A token, without its text."""

    id: str
    digest: bytes
    prefix: str
    kind: str
    name: str
    scopes: tuple[str, ...]
    team: str | None
    owner: str | None
    version: str | None
    made_at: datetime
    expires_at: datetime | None
    used_at: datetime | None = None
    revoked_at: datetime | None = None


class SessionRow(NamedTuple):
    """A session, without its secret. `person` is `None` for whoever sits at this machine."""

    id: str
    digest: bytes
    person: str | None
    how: str
    address: str
    agent: str
    opened_at: datetime
    seen_at: datetime


class IdentityRow(NamedTuple):
    """Whom an identity provider means by a subject."""

    issuer: str
    subject: str
    person: str


class TokensWanted(NamedTuple):
    """Which tokens: of a person and their agents or of everybody; in use, or ended."""

    person: str | None = None
    ended: bool = False


class SessionsWanted(NamedTuple):
    """Which sessions: of a person or of everybody, that are not too old and were used of late."""

    lasts: timedelta
    idle: timedelta
    person: str | None = None

    @property
    def values(self) -> dict[str, object]:
        """It as queries take it."""
        spans = {"lasts": self.lasts // _MICROSECOND, "idle": self.idle // _MICROSECOND}
        return {"person": self.person, **spans}


class Used(NamedTuple):
    """How many of something a person has, and when one of them was last used."""

    number: int
    at: datetime | None


class Counted(NamedTuple):
    """How many tries there were, this one with them, and how long they will be remembered."""

    tries: int
    forgotten_in: timedelta


def still_here(person: str) -> RowChange:
    """Be written only while this person is on the desk."""
    return RowChange("hold_person", {"person": person})


def put_token(row: TokenRow) -> RowChange:
    """Keep a new token."""
    values = row._asdict() | {
        "scopes": " ".join(row.scopes),
        "made_at": micros(row.made_at),
        "expires_at": None if row.expires_at is None else micros(row.expires_at),
    }
    return RowChange("put_token", values)


def revoke_token(token_id: str, at: datetime) -> RowChange:
    """End a token, if it was not before."""
    return RowChange("revoke_token", {"id": token_id, "at": micros(at)})


def put_session(row: SessionRow) -> RowChange:
    """Keep a new session."""
    times = {"opened_at": micros(row.opened_at), "seen_at": micros(row.seen_at)}
    return RowChange("put_session", row._asdict() | times)


def drop_session(session_id: str, *, needed: bool = True) -> RowChange:
    """End a session."""
    return RowChange("drop_session", {"id": session_id}, needed)


def drop_sessions_of(person: str, *, but: str = "") -> RowChange:
    """End all sessions of a person, perhaps but one."""
    return RowChange("drop_sessions_of", {"person": person, "but": but}, needed=False)


def drop_old_sessions(opened: datetime, seen: datetime) -> RowChange:
    """Forget sessions opened, or last seen, by then."""
    values: dict[str, object] = {"opened": micros(opened), "seen": micros(seen)}
    return RowChange("drop_old_sessions", values, needed=False)


def put_link(digest: bytes, until: datetime) -> RowChange:
    """Keep a link that can be used once until then."""
    return RowChange("put_link", {"digest": digest, "expires_at": micros(until)})


def put_password(name: str, hashed: str) -> RowChange:
    """Keep the hash of a new password."""
    return RowChange("put_password", {"person": name, "hash": hashed})


def rehash(name: str, *, before: str, after: str) -> RowChange:
    """Keep another hash of the same password, unless it was changed meanwhile."""
    return RowChange("rehash", {"person": name, "before": before, "hash": after})


def put_identity(row: IdentityRow) -> RowChange:
    """Keep whom a provider means."""
    return RowChange("put_identity", row._asdict())


def drop_identity(issuer: str, subject: str) -> RowChange:
    """Forget whom a provider meant."""
    return RowChange("drop_identity", {"issuer": issuer, "subject": subject})


def shut_out(person: str, at: datetime) -> tuple[RowChange, ...]:
    """End everything a person comes in by, and the tokens of the agents they own."""
    whose: dict[str, object] = {"person": person}
    return (
        RowChange("revoke_tokens_of", whose | {"at": micros(at)}, needed=False),
        drop_sessions_of(person),
        RowChange("drop_password", whose, needed=False),
        RowChange("drop_identities_of", whose, needed=False),
    )


class Accounts(Protocol):
    """What a store knows of accounts. Every method is one short transaction."""

    def token(self, digest: bytes) -> TokenRow | None:
        """The token whose text has this digest."""
        ...

    def tokens(self) -> list[TokenRow]:
        """All tokens, the oldest first; also those that no longer count."""
        ...

    def token_by_id(self, token_id: str) -> TokenRow | None:
        """The token of this id."""
        ...

    def tokens_page(
        self, wanted: TokensWanted, limit: int, before: tuple[datetime, str] | None = None
    ) -> list[TokenRow]:
        """Some tokens, the newest first; `before` is when one was made, and its id."""
        ...

    def tokens_number(self, wanted: TokensWanted) -> int:
        """How many there are of them."""
        ...

    def tokens_of(self, people: Sequence[str]) -> dict[str, Used]:
        """How many tokens of these people count."""
        ...

    def agents_of(self, people: Sequence[str]) -> list[tuple[str, str]]:
        """The agents of these people that have a token: owner and agent, one for each token."""
        ...

    def token_used(self, token_id: str) -> None:
        """Note that a token was used just now. Not synced to the disk."""
        ...

    def session(self, digest: bytes) -> SessionRow | None:
        """The session whose secret has this digest."""
        ...

    def sessions(self, person: str | None = None) -> list[SessionRow]:
        """All sessions, or those of a person, the oldest first."""
        ...

    def session_by_id(self, session_id: str) -> SessionRow | None:
        """The session of this id."""
        ...

    def sessions_page(
        self, wanted: SessionsWanted, limit: int, before: tuple[datetime, str] | None = None
    ) -> list[SessionRow]:
        """Some sessions, those used last first; `before` is when one was used, and its id."""
        ...

    def sessions_number(self, wanted: SessionsWanted) -> int:
        """How many there are of them."""
        ...

    def sessions_of(self, people: Sequence[str], wanted: SessionsWanted) -> dict[str, Used]:
        """How many sessions these people have."""
        ...

    def session_seen(self, session_id: str) -> None:
        """Note that a session was used just now. Not synced to the disk."""
        ...

    def password(self, name: str) -> str | None:
        """The hash of a person's password."""
        ...

    def with_password(self) -> list[str]:
        """Everybody who has a password."""
        ...

    def passwords_of(self, people: Sequence[str]) -> list[str]:
        """Those of these people who have a password."""
        ...

    def linked_of(self, people: Sequence[str]) -> list[str]:
        """Those of these people whom a provider can sign in."""
        ...

    def passwords(self) -> list[tuple[str, str]]:
        """Everybody who has a password, with its hash."""
        ...

    def count_try(self, who: str, span: timedelta) -> Counted:
        """Count one more try within this span. Not synced to the disk."""
        ...

    def forget_tries(self, who: str) -> None:
        """Begin to count anew."""
        ...

    def links(self) -> list[tuple[bytes, datetime]]:
        """The digests of all links and states, and until when they can be used."""
        ...

    def has_link(self, digest: bytes) -> bool:
        """Whether a link can be used."""
        ...

    def take_link(self, digest: bytes) -> bool:
        """Use a link up; False if there is none, or somebody was faster."""
        ...

    def put_state(self, digest: bytes, until: datetime) -> None:
        """Keep the state of a sign-in at a provider. It lets nobody in by itself."""
        ...

    def take_state(self, digest: bytes) -> bool:
        """Use a state up; False if there is none, or somebody was faster."""
        ...

    def drop_old_links(self) -> None:
        """Forget links and states that can no longer be used."""
        ...

    def identity(self, issuer: str, subject: str) -> str | None:
        """Whom a provider means by a subject."""
        ...

    def identities(self) -> list[IdentityRow]:
        """Everybody whom a provider can sign in."""
        ...


class SqlAccounts(SqlQueries):
    """The accounts in a SQL database."""

    def token(self, digest: bytes) -> TokenRow | None:
        """Return the token whose text has this digest."""
        rows = self._rows("token", digest=digest)
        return _token(rows[0]) if rows else None

    def tokens(self) -> list[TokenRow]:
        """Return all tokens, the oldest first."""
        return [_token(row) for row in self._rows("tokens")]

    def token_by_id(self, token_id: str) -> TokenRow | None:
        """Return the token of this id."""
        rows = self._rows("token_by_id", id=token_id)
        return _token(rows[0]) if rows else None

    def tokens_page(
        self, wanted: TokensWanted, limit: int, before: tuple[datetime, str] | None = None
    ) -> list[TokenRow]:
        """Return some tokens, the newest first."""
        at, last = _behind(before)
        rows = self._rows("tokens_page", **_tokens(wanted), made_at=at, id=last, limit=limit)
        return [_token(row) for row in rows]

    def tokens_number(self, wanted: TokensWanted) -> int:
        """Return how many there are of them."""
        return int(self._rows("tokens_number", **_tokens(wanted))[0][0])

    def tokens_of(self, people: Sequence[str]) -> dict[str, Used]:
        """Return how many tokens of these people count."""
        return _used(self._rows("tokens_of", ids=self._names(people)))

    def agents_of(self, people: Sequence[str]) -> list[tuple[str, str]]:
        """Return the agents of these people that have a token."""
        return [(row[0], row[1]) for row in self._rows("agents_of", ids=self._names(people))]

    def token_used(self, token_id: str) -> None:
        """Note that a token was used just now."""
        self._unsynced("token_used", id=token_id)

    def session(self, digest: bytes) -> SessionRow | None:
        """Return the session whose secret has this digest."""
        rows = self._rows("session", digest=digest)
        return _session(rows[0]) if rows else None

    def sessions(self, person: str | None = None) -> list[SessionRow]:
        """Return all sessions, or those of a person."""
        return [_session(row) for row in self._rows("sessions", person=person)]

    def session_by_id(self, session_id: str) -> SessionRow | None:
        """Return the session of this id."""
        rows = self._rows("session_by_id", id=session_id)
        return _session(rows[0]) if rows else None

    def sessions_page(
        self, wanted: SessionsWanted, limit: int, before: tuple[datetime, str] | None = None
    ) -> list[SessionRow]:
        """Return some sessions, those used last first."""
        at, last = _behind(before)
        rows = self._rows("sessions_page", **wanted.values, seen_at=at, id=last, limit=limit)
        return [_session(row) for row in rows]

    def sessions_number(self, wanted: SessionsWanted) -> int:
        """Return how many there are of them."""
        return int(self._rows("sessions_number", **wanted.values)[0][0])

    def sessions_of(self, people: Sequence[str], wanted: SessionsWanted) -> dict[str, Used]:
        """Return how many sessions these people have."""
        spans = {name: value for name, value in wanted.values.items() if name != "person"}
        return _used(self._rows("sessions_of", ids=self._names(people), **spans))

    def session_seen(self, session_id: str) -> None:
        """Note that a session was used just now."""
        self._unsynced("session_seen", id=session_id)

    def password(self, name: str) -> str | None:
        """Return the hash of a person's password."""
        rows = self._rows("password", person=name)
        return str(rows[0][0]) if rows else None

    def with_password(self) -> list[str]:
        """Return everybody who has a password."""
        return [row[0] for row in self._rows("with_password")]

    def passwords_of(self, people: Sequence[str]) -> list[str]:
        """Return those of these people who have a password."""
        return [row[0] for row in self._rows("passwords_of", ids=self._names(people))]

    def linked_of(self, people: Sequence[str]) -> list[str]:
        """Return those of these people whom a provider can sign in."""
        return [row[0] for row in self._rows("linked_of", ids=self._names(people))]

    def passwords(self) -> list[tuple[str, str]]:
        """Return everybody who has a password, with its hash."""
        return [(row[0], row[1]) for row in self._rows("passwords")]

    def count_try(self, who: str, span: timedelta) -> Counted:
        """Count one more try within this span."""
        count, left = self._unsynced("count_try", who=who, span=span // _MICROSECOND)[0]
        if count == 1:
            self._unsynced("forget_old_tries", span=span // _MICROSECOND)
        return Counted(int(count), int(left) * _MICROSECOND)

    def forget_tries(self, who: str) -> None:
        """Begin to count anew."""
        self._unsynced("forget_tries", who=who)

    def links(self) -> list[tuple[bytes, datetime]]:
        """Return the digests of all links and states, and until when they can be used."""
        return [(bytes(digest), moment(until)) for digest, until in self._rows("links")]

    def has_link(self, digest: bytes) -> bool:
        """Whether a link can be used."""
        return bool(self._rows("has_link", digest=digest))

    def take_link(self, digest: bytes) -> bool:
        """Use a link up."""
        return bool(self._rows("take_link", digest=digest))

    def put_state(self, digest: bytes, until: datetime) -> None:
        """Keep the state of a sign-in at a provider."""
        self.drop_old_links()
        self._rows("put_link", digest=_STATE + digest, expires_at=micros(until))

    def take_state(self, digest: bytes) -> bool:
        """Use a state up."""
        return self.take_link(_STATE + digest)

    def drop_old_links(self) -> None:
        """Forget links and states that can no longer be used."""
        self._rows("drop_old_links")

    def identity(self, issuer: str, subject: str) -> str | None:
        """Return whom a provider means by a subject."""
        rows = self._rows("identity", issuer=issuer, subject=subject)
        return str(rows[0][0]) if rows else None

    def identities(self) -> list[IdentityRow]:
        """Return everybody whom a provider can sign in."""
        return [IdentityRow._make(row) for row in self._rows("identities")]


def _tokens(wanted: TokensWanted) -> dict[str, object]:
    return {"person": wanted.person, "ended": int(wanted.ended)}


def _behind(before: tuple[datetime, str] | None) -> tuple[int, str]:
    """Return where a page begins; without a place, behind everything there could be."""
    return (2**62, "") if before is None else (micros(before[0]), before[1])


def _used(rows: Sequence[Sequence[Any]]) -> dict[str, Used]:
    return {name: Used(int(count), _when(at)) for name, count, at in rows}


def _token(row: Sequence[Any]) -> TokenRow:
    found = TokenRow._make(row)
    return found._replace(
        digest=bytes(found.digest),
        scopes=tuple(str(row[5]).split()),
        made_at=moment(row[9]),
        expires_at=_when(row[10]),
        used_at=_when(row[11]),
        revoked_at=_when(row[12]),
    )


def _session(row: Sequence[Any]) -> SessionRow:
    id_, digest, person, how, address, agent, opened_at, seen_at = row
    opened, seen = moment(opened_at), moment(seen_at)
    return SessionRow(id_, bytes(digest), person, how, address, agent, opened, seen)


def _when(stored: int | None) -> datetime | None:
    return None if stored is None else moment(stored)
