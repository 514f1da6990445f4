"""Passwords: argon2id, and the same work whether or not there is such a person.

Only two are hashed at once in a process, because each takes 64 MiB. Wrong ones are counted in the
database, so that all processes of a service count together: under a digest of the name and the
address, and of the address alone. Nobody can lock somebody else out from elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import threading
import unicodedata
from contextlib import suppress
from datetime import timedelta
from functools import cache
from ipaddress import IPv4Address, IPv6Network, ip_address

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from sayso.access.recording import acting, check_person, recorded, tries
from sayso.errors import BadValue, StoreBusy, StoreFull, TooManyTries
from sayso.model.actor import Actor, Origin
from sayso.model.names import check_name, fold
from sayso.store.accounts import drop_sessions_of, put_password, rehash, still_here
from sayso.store.admitted import password_recorded
from sayso.store.contract import Store

SHORTEST, LONGEST = 12, 1024
TRIES, TRIES_OF_ADDRESS = 10, 100
WINDOW = timedelta(minutes=15)

_AT_ONCE = 2
_slots = threading.BoundedSemaphore(_AT_ONCE)


def _anew() -> None:
    """Give a forked child slots of its own: who holds the parent's is not here to return them."""
    global _slots
    _slots = threading.BoundedSemaphore(_AT_ONCE)


os.register_at_fork(after_in_child=_anew)


def set_password(
    store: Store,
    name: str,
    password: str,
    *,
    origin: Origin,
    by: str | None = None,
    keep: str | None = None,
) -> None:
    """Give a person a password. All their sessions end, but for the one to keep.

    Raises:
        BadValue: it is too short or too long.
        UnknownPerson: there is no such person.
    """
    if not isinstance(password, str) or len(password) < SHORTEST:
        raise BadValue(
            f"A password has at least {SHORTEST} characters. Any will do: a few words are best."
        )
    if len(password) > LONGEST:
        raise BadValue(f"A password has at most {LONGEST:,} characters.")
    check_person(store.register(), name)
    with _slots:
        hashed = PasswordHasher().hash(_bytes(password))
    for _ in tries():
        roster = store.register()
        name = check_person(roster, name)
        changes = (
            still_here(name),
            put_password(name, hashed),
            drop_sessions_of(name, but=keep or ""),
        )
        said: dict[str, object] = {"name": name, "kept": keep}
        actor = acting(roster, by, origin)
        if recorded(
            store,
            "password.set",
            said,
            *changes,
            actor=actor,
            origin=origin,
            secret=hashed.encode(),
        ):
            return


def check_password(store: Store, name: str, password: str, *, address: str | None = None) -> bool:
    """Say whether this is the password of this person. Wrong ones are counted if `address` is given.

    Raises:
        TooManyTries: too many wrong ones came from there of late; nothing was looked at.
    """
    who = _counted(store, fold(name), address)
    people = store.register()
    name = people.spelt(name)
    known = store.password(name) if _could_be(name) and name in people.people else None
    hashed = known if known is not None else _nobodys()
    right = _verified(hashed, password) and known is not None
    if right and known is not None:
        _refresh(store, name, known, password)
        for each in who[:1]:
            store.forget_tries(each)
    return right


def place_of(address: str) -> str:
    """Return what counts as one place: an IPv4 address, or the /64 network of an IPv6 address.

    Each connection has a /64 to itself: its owner would never run out of addresses.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Network((int(found) >> 64 << 64, 64)))


def _counted(store: Store, name: str, address: str | None) -> tuple[str, ...]:
    """Count a try for the name from there, and for the address."""
    if address is None:
        return ()
    place = place_of(address)
    counted = _digest(name, place), _digest(place)
    for who, most in zip(counted, (TRIES, TRIES_OF_ADDRESS), strict=True):
        count = store.count_try(who, WINDOW)
        if count.tries > most:
            raise TooManyTries(count.forgotten_in.total_seconds())
    return counted


def _digest(*texts: str) -> str:
    # A digest: people type passwords where their name belongs.
    parts = b"\0".join(hashlib.sha256(_bytes(text)).digest() for text in texts)
    return hashlib.sha256(parts).hexdigest()


def _verified(hashed: str, password: str) -> bool:
    try:
        with _slots:
            return PasswordHasher().verify(
                hashed, _bytes(password if len(password) <= LONGEST else "")
            )
    except (VerificationError, InvalidHashError):
        return False


def _refresh(store: Store, name: str, hashed: str, password: str) -> None:
    """Keep a hash of today's strength, now that the password is at hand.

    Not of a hash that somebody swapped: its event would make it good.
    """
    if not PasswordHasher().check_needs_rehash(hashed):
        return
    if not password_recorded(store, name, hashed):
        return
    with _slots:
        again = PasswordHasher().hash(_bytes(password))
    change = rehash(name, before=hashed, after=again)
    with suppress(StoreBusy, StoreFull):  # the next sign-in will do it
        recorded(
            store,
            "password.rehashed",
            {"name": name},
            change,
            actor=Actor("person", name),
            origin=Origin("web", f"{name}, password"),
            secret=again.encode(),
        )


@cache
def _nobodys() -> str:
    """Return a hash that no password fits, to do the same work for people who do not exist."""
    with _slots:
        return PasswordHasher().hash(os.urandom(32))


def _could_be(name: object) -> bool:
    try:
        return isinstance(name, str) and bool(check_name("person", name))
    except BadValue:
        return False


def _bytes(text: str) -> bytes:
    """Return a text as it is hashed: the same for all ways to type the same letters."""
    return unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")
