"""Sessions of people: what a browser shows at each request after somebody has signed in.

They are kept by the desk and not in the cookie, so that they can be listed and ended. Nothing of
what a person may do is kept in them. A desk without people has sessions of whoever sits at the
machine; they end with its first person.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from sayso.access.caller import Caller, person_may
from sayso.access.recording import acting, check_person, recorded, tries
from sayso.access.secrets import digest_of, is_secret, new_secret
from sayso.errors import Misuse, NotSignedIn, StoreBusy, StoreFull
from sayso.model.actor import Actor, Origin
from sayso.model.event import micros, moment
from sayso.model.ids import short_id
from sayso.model.text import one_line
from sayso.store.accounts import (
    SessionRow,
    SessionsWanted,
    drop_old_sessions,
    drop_session,
    drop_sessions_of,
    put_link,
    put_session,
    still_here,
)
from sayso.store.contract import Store

IDLE = timedelta(hours=12)
LASTS = timedelta(days=7)
LINK_LASTS = timedelta(minutes=5)
_NOTED_EVERY = timedelta(minutes=1)
_HERE = Origin("terminal", "local")  # whoever sits at this machine
_LONGEST = 200  # of what a browser calls itself, and of an address


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it is listed: everything but its secret.

    Attributes:
        id: What it is ended by, such as `s-7f3k9m`.
        person: Whose it is; `None` is whoever sits at this machine.
        how: What they showed: `password`, `oidc` or `link`.
        address: Where they came from.
        agent_string: What their browser calls itself.
        opened_at: When they signed in.
        seen_at: When it was last used, to the minute.
    """

    id: str
    person: str | None
    how: str
    address: str
    agent_string: str
    opened_at: datetime
    seen_at: datetime

    def counts(self, now: datetime) -> bool:
        """Whether it was used of late, and is not too old."""
        return now < self.seen_at + IDLE and now < self.opened_at + LASTS


def open_session(
    store: Store,
    person: str | None,
    *,
    how: str,
    address: str,
    agent_string: str,
    origin: Origin | None = None,
    replaces: str | None = None,
    since: datetime | None = None,
) -> tuple[Session, str]:
    """Let somebody in who has shown who they are. The secret is returned here and nowhere else.

    Args:
        store: The database of the desk.
        person: Who it is; `None` is whoever sits at this machine, on a desk without people.
        how: What they showed, for the journal.
        address: Where they come from.
        agent_string: What their browser calls itself.
        origin: Through which door this comes; the web unless given.
        replaces: The id of the session they had before, which ends.
        since: When they showed it, if that was before now.

    Raises:
        UnknownPerson: there is no such person.
        NotSignedIn: nobody was named, on a desk with people.
    """
    for _ in tries():
        roster = store.register()
        if person is not None:
            person = check_person(roster, person)
        elif not roster.solo:
            raise NotSignedIn
        door = origin or Origin("web", f"{person or 'local'}, {how}")
        secret, now = new_secret(), store.now()
        row = SessionRow(
            id=short_id("s", os.urandom(8), 6),
            digest=digest_of(secret),
            person=person,
            how=how,
            address=one_line(address, _LONGEST),
            agent=one_line(agent_string, _LONGEST),
            opened_at=now if since is None else min(since, now),
            seen_at=now,
        )
        said: dict[str, object] = {
            "id": row.id,
            "name": person,
            "how": how,
            "address": row.address,
            "opened_at": row.opened_at.isoformat(),
            "replaces": replaces,
        }
        changes = [drop_old_sessions(now - LASTS, now - IDLE), put_session(row)]
        if person is not None:
            changes.insert(0, still_here(person))
        if replaces is not None:
            changes.append(drop_session(replaces, needed=False))
        actor = Actor("person", person or door.account.partition(",")[0].partition("@")[0])
        digest = row.digest
        if recorded(
            store, "session.opened", said, *changes, actor=actor, origin=door, secret=digest
        ):
            return _listed(row), secret
    raise AssertionError("unreachable: the last try returns or raises")


def caller_of_session(store: Store, secret: str) -> Caller:
    """Return whose session this is.

    Raises:
        NotSignedIn: it does not count: unknown, ended, too old, or its person left.
    """
    row = store.session(digest_of(secret)) if is_secret(secret) else None
    if row is None:
        raise NotSignedIn
    session, now, people = _listed(row), store.now(), store.register()
    may = person_may(people, session.person)
    if may is None or not session.counts(now):
        raise NotSignedIn
    if now - session.seen_at >= _NOTED_EVERY:
        with suppress(StoreBusy, StoreFull):  # nobody is kept out because it could not be noted
            store.session_seen(session.id)
    return Caller(
        kind="person",
        name=session.person,
        scopes=may,
        how=session.how,
        credential=session.id,
        signed_in_at=session.opened_at,
        people=people,
    )


def end_session(
    store: Store, session_id: str, *, origin: Origin | None = None, by: str | None = None
) -> None:
    """End a session at once.

    Raises:
        Misuse: there is no such session.
        UnknownPerson: whoever ends it is not on the desk.
    """
    for _ in tries():
        found = store.session_by_id(session_id)
        if found is None:
            raise Misuse(
                f"There is no session {session_id!r} here, or it has ended. "
                "`sayso people sessions` shows them."
            )
        whose = found.person
        door = origin or Origin("web", f"{whose or 'local'}, {found.how}")
        actor = acting(store.register(), by, door) if by or origin else _themselves(whose)
        said: dict[str, object] = {"id": session_id, "name": whose}
        change = drop_session(session_id)
        if recorded(store, "session.ended", said, change, actor=actor, origin=door):
            return


def sign_out(store: Store, person: str, *, origin: Origin, by: str | None = None) -> int:
    """End all sessions of a person, and return how many there were.

    Raises:
        UnknownPerson: the person, or whoever does it, is not on the desk.
    """
    for _ in tries():
        roster = store.register()
        person = check_person(roster, person)
        ids = [session.id for session in store.sessions(person)]
        if not ids:
            return 0
        said: dict[str, object] = {"ids": ids, "name": person}
        actor = acting(roster, by, origin)
        change = drop_sessions_of(person)
        if recorded(store, "session.ended", said, change, actor=actor, origin=origin):
            return len(ids)
    raise AssertionError("unreachable: the last try returns or raises")


def session_of(store: Store, session_id: str) -> Session | None:
    """Return the session of this id, if it counts."""
    row = store.session_by_id(session_id)
    if row is None or person_may(store.register(), row.person) is None:
        return None
    session = _listed(row)
    return session if session.counts(store.now()) else None


def list_sessions(store: Store, person: str | None = None) -> list[Session]:
    """Return the sessions that count, or those of a person, the oldest first."""
    now, roster = store.now(), store.register()
    found = [_listed(row) for row in store.sessions(person)]
    return [
        session
        for session in found
        if session.counts(now) and person_may(roster, session.person) is not None
    ]


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Some sessions, those used last first: how many there are, and the place to go on from."""

    sessions: tuple[Session, ...]
    count: int
    older: str | None


def session_page(
    store: Store, *, person: str | None, after: str = "", limit: int = 100
) -> SessionPage:
    """Return sessions that count, of a person or of everybody.

    A session moves up when it is used, so a page goes on from a moment, not from a session. An
    `after` that is none begins with those used last.
    """
    wanted = SessionsWanted(LASTS, IDLE, person)
    rows = store.sessions_page(wanted, limit + 1, _place(after))
    found = tuple(_listed(row) for row in rows[:limit])
    older = f"{micros(found[-1].seen_at)}.{found[-1].id}" if len(rows) > limit else None
    return SessionPage(found, store.sessions_number(wanted), older)


def _place(after: str) -> tuple[datetime, str] | None:
    at, _, last = after.partition(".")
    return (moment(int(at)), last) if at.isdecimal() and at.isascii() and len(at) < 17 else None


def make_link(store: Store, *, origin: Origin = _HERE) -> str:
    """Return a secret that lets whoever sits at this machine in, once, within five minutes.

    Raises:
        Misuse: the desk has people, who sign in by themselves.
    """
    for _ in tries():
        roster = store.register()
        if not roster.solo:
            raise Misuse(
                "This desk has people, so a link lets nobody in: they sign in with their passwords. "
                "Set one: sayso people password NAME"
            )
        store.drop_old_links()
        secret, until = new_secret(), store.now() + LINK_LASTS
        said: dict[str, object] = {"until": until.isoformat()}
        digest = digest_of(secret)
        actor, change = acting(roster, None, origin), put_link(digest, until)
        if recorded(store, "link.made", said, change, actor=actor, origin=origin, secret=digest):
            return secret
    raise AssertionError("unreachable: the last try returns or raises")


def use_link(store: Store, text: str) -> bool:
    """Use a link up, and say whether it lets somebody in."""
    return is_secret(text) and store.take_link(digest_of(text)) and store.register().solo


def _themselves(person: str | None) -> Actor:
    return Actor("person", person or "local")


def _listed(row: SessionRow) -> Session:
    return Session(
        id=row.id,
        person=row.person,
        how=row.how,
        address=row.address,
        agent_string=row.agent,
        opened_at=row.opened_at,
        seen_at=row.seen_at,
    )
