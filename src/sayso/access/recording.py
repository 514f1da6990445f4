"""How a change of an account gets into the journal: the stream `access`, never with a secret.

Of a secret the event has a fingerprint, by which `verify` finds out if somebody swaps it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from sayso.errors import StoreBusy, UnknownPerson
from sayso.model.actor import Actor, Origin, Roster
from sayso.model.event import fingerprint, link
from sayso.store.accounts import ACCESS
from sayso.store.contract import Append, Store
from sayso.store.named import RowChange

_TRIES = 200


def tries() -> Iterator[None]:
    """Go round as often as honest racers could make it necessary, and no further.

    Raises:
        StoreBusy: somebody else was faster every time.
    """
    for _ in range(_TRIES):
        yield
    raise StoreBusy(
        f"Nothing was changed: somebody else was faster {_TRIES} times. Try again; if it stays so, "
        "run: sayso audit verify"
    )


def recorded(
    store: Store,
    kind: str,
    said: dict[str, object],
    *changes: RowChange,
    actor: Actor,
    origin: Origin,
    secret: bytes | None = None,
) -> bool:
    """Write an event and what it changes; nothing, and False, if somebody was faster.

    `secret` is what a changed row recognises somebody by.
    """
    head, salt = store.head(ACCESS), os.urandom(16)
    given = {name: value for name, value in said.items() if value is not None}
    if secret is not None:
        given["fingerprint"] = fingerprint(salt, secret)
    event = link(
        ACCESS,
        head.seq + 1,
        kind,
        at=store.now(),
        actor=actor,
        payload={**given, "via": origin.via, "account": origin.account},
        salt=salt,
        previous=head.hash,
    )
    return store.commit(Append(event=event, beside=changes))


def acting(roster: Roster, by: str | None, origin: Origin) -> Actor:
    """Return whoever changes an account: a person of the desk, or who holds the database.

    Raises:
        UnknownPerson: there is no such person.
    """
    if by is None:
        return Actor("person", origin.account.partition("@")[0])
    return Actor("person", check_person(roster, by))


def check_person(roster: Roster, name: str) -> str:
    """Return the name of a person as it is spelt on the desk.

    Raises:
        UnknownPerson: there is no such person.
    """
    name = roster.spelt(name)
    if name not in roster.people:
        known = ", ".join(sorted(roster.people)) or "nobody yet"
        raise UnknownPerson(name, f"People here: {known}. Add one: sayso people add NAME")
    return name
