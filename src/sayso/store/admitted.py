"""Compare every credential with the journal.

A row that lets somebody in must have been written with its event, and hold the secret of which that
event has a fingerprint. The other way round is not asked: sessions grow old, and people who leave
take their credentials with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sayso.errors import Tampered
from sayso.model.event import Event
from sayso.store.accounts import ACCESS, LINK_DIGEST
from sayso.store.contract import Store
from sayso.store.fingerprints import Row, Told, prints_of, shown, unlike

_DOES = "lets somebody in"
_Key = tuple[str, str]  # such as "token" and its id
_All = dict[_Key, Told]
_Said = Mapping[str, Any]

# What is compared of each, and the field of its event.
_TOKEN = {
    "name": "name",
    "kind": "kind",
    "scope": "scopes",
    "expiry": "expires_at",
    "team": "team",
    "owner": "owner",
    "version": "version",
}
_SESSION = {"person": "name", "kind": "how", "beginning": "opened_at", "address": "address"}
_IDENTITY = {"person": "name"}


def strangers(store: Store) -> list[str]:
    """Return a sentence for each difference between the credentials and the journal."""
    while True:  # until no change came between the reads
        events = store.stream(ACCESS)
        rows = list(_rows(store))
        if store.head(ACCESS).seq == (events[-1].seq if events else 0):
            break
    told = _told(events)
    return sorted(line for key, row in rows for line in unlike(row, told.get(key)))


def password_recorded(store: Store, name: str, hashed: str) -> bool:
    """Return whether the journal says that this is the hash of a person's password."""
    told = _told(store.stream(ACCESS)).get(("password", name))
    return told is not None and told.knows("hash", (hashed.encode(),))


def _rows(store: Store) -> Iterator[tuple[_Key, Row]]:
    for token in store.tokens():
        if token.revoked_at is None:
            until = token.expires_at and token.expires_at.isoformat()
            known = token._asdict() | {"scopes": list(token.scopes), "expires_at": until}
            yield _row("token", token.id, token.name, _of(_TOKEN, known), token.digest)
    for session in store.sessions():
        known = {"name": session.person, "how": session.how, "address": session.address}
        known["opened_at"] = session.opened_at.isoformat()
        whose = session.person or "this machine"
        yield _row("session", session.id, whose, _of(_SESSION, known), session.digest)
    for name, hashed in store.passwords():
        secret = {"hash": (hashed.encode(),)}
        yield ("password", name), Row(f"password of {shown(name)}", _DOES, {}, secret)
    for digest, until in store.links():
        if len(digest) == LINK_DIGEST:
            title = f"link until {until:%Y-%m-%d %H:%M} UTC"
            yield ("link", until.isoformat()), Row(title, _DOES, {}, {"secret": (digest,)})
    for identity in store.identities():
        subject = _subject(identity._asdict())
        yield ("identity", subject), Row(shown(subject), _DOES, {"person": identity.person}, {})


def _row(kind: str, id_: str, whose: str, said: _Said, digest: bytes) -> tuple[_Key, Row]:
    title = f"{kind} {shown(id_)} of {shown(whose)}"
    return (kind, id_), Row(title, _DOES, said, {"secret": (digest,)})


def _of(words: Mapping[str, str], said: _Said) -> dict[str, object]:
    return {what: said.get(name) for what, name in words.items()}


def _subject(said: _Said) -> str:
    return f"{said.get('subject')} of {said.get('issuer')}"


def _told(events: Sequence[Event]) -> _All:
    told: _All = {}
    for event in events:
        step = _STEPS.get(event.kind)
        try:
            said = event.payload or {}
        except Tampered:  # named by whoever walks the chain
            continue
        if step is not None:
            step(told, said, event)
    return told


def _made(told: _All, said: _Said, event: Event) -> None:
    prints = prints_of(event, said, {"secret": "fingerprint"})
    told["token", str(said.get("id"))] = Told(_of(_TOKEN, said), prints)


def _opened(told: _All, said: _Said, event: Event) -> None:
    told.pop(("session", str(said.get("replaces"))), None)
    prints = prints_of(event, said, {"secret": "fingerprint"})
    told["session", str(said.get("id"))] = Told(_of(_SESSION, said), prints)


def _set(told: _All, said: _Said, event: Event) -> None:
    """Take a new password, which ends the sessions of its person."""
    name, kept = said.get("name"), ("session", str(said.get("kept")))
    for key, one in tuple(told.items()):
        if key[0] == "session" and key != kept and one.said["person"] == name:
            del told[key]
    _hashed(told, said, event)


def _hashed(told: _All, said: _Said, event: Event) -> None:
    prints = prints_of(event, said, {"hash": "fingerprint"})
    told["password", str(said.get("name"))] = Told({}, prints)


def _printed(told: _All, said: _Said, event: Event) -> None:
    """Take a link. It has no name but the moment at which it ends, and two may end at one."""
    link = told.setdefault(("link", str(said.get("until"))), Told({}))
    link.prints += prints_of(event, said, {"secret": "fingerprint"})


def _over(kind: str) -> Callable[[_All, _Said, Event], None]:
    def step(told: _All, said: _Said, _: Event) -> None:
        several = said.get("ids")
        for each in several if isinstance(several, list) else [said.get("id")]:
            told.pop((kind, str(each)), None)

    return step


def _linked(told: _All, said: _Said, _: Event) -> None:
    told["identity", _subject(said)] = Told(_of(_IDENTITY, said))


def _unlinked(told: _All, said: _Said, _: Event) -> None:
    told.pop(("identity", _subject(said)), None)


_STEPS: Mapping[str, Callable[[_All, _Said, Event], None]] = {
    "token.made": _made,
    "token.revoked": _over("token"),
    "password.set": _set,
    "password.rehashed": _hashed,
    "session.opened": _opened,
    "session.ended": _over("session"),
    "link.made": _printed,
    "identity.linked": _linked,
    "identity.unlinked": _unlinked,
}
