"""Whom an identity provider means: a subject of an issuer, never an e-mail address."""

from __future__ import annotations

from sayso.access.recording import acting, check_person, recorded, tries
from sayso.errors import BadValue, Misuse
from sayso.model.actor import Origin
from sayso.store.accounts import IdentityRow, drop_identity, put_identity, still_here
from sayso.store.contract import Store

_LONGEST = 255  # what OpenID Connect allows a subject to be


def person_of_identity(store: Store, issuer: str, subject: str) -> str | None:
    """Return the person of the desk whom a provider means; `None` if nobody said who it is."""
    if not _plain(issuer) or not _plain(subject):
        return None
    name = store.identity(issuer, subject)
    return name if name in store.register().people else None


def link_identity(
    store: Store, issuer: str, subject: str, person: str, *, origin: Origin, by: str | None = None
) -> None:
    """Let a provider sign a person in.

    Raises:
        BadValue: the issuer or the subject cannot be one.
        UnknownPerson: there is no such person.
        Misuse: the provider means somebody else by this.
    """
    for what, text in (("issuer", issuer), ("subject", subject)):
        if not _plain(text):
            raise BadValue(f"An {what} is up to {_LONGEST} printable characters, not {text!r:.80}.")
    for _ in tries():
        roster = store.register()
        person = check_person(roster, person)
        known = store.identity(issuer, subject)
        if known == person:
            return
        if known is not None:
            raise Misuse(f"{issuer} means {known} by {subject!r}. Unlink that first.")
        row = IdentityRow(issuer, subject, person)
        said: dict[str, object] = {"name": person, "issuer": issuer, "subject": subject}
        changes = still_here(person), put_identity(row)
        actor = acting(roster, by, origin)
        if recorded(store, "identity.linked", said, *changes, actor=actor, origin=origin):
            return


def unlink_identity(
    store: Store, issuer: str, subject: str, *, origin: Origin, by: str | None = None
) -> None:
    """Let a provider no longer sign a person in. Sessions that are open stay; end them as well.

    Raises:
        Misuse: nobody is meant by this.
    """
    for _ in tries():
        known = store.identity(issuer, subject) if _plain(issuer) and _plain(subject) else None
        if known is None:
            raise Misuse(f"Nobody here is meant by {subject!r:.80} of {issuer!r:.80}.")
        said: dict[str, object] = {"name": known, "issuer": issuer, "subject": subject}
        actor = acting(store.register(), by, origin)
        change = drop_identity(issuer, subject)
        if recorded(store, "identity.unlinked", said, change, actor=actor, origin=origin):
            return


def list_identities(store: Store) -> list[IdentityRow]:
    """Return everybody whom a provider can sign in."""
    return store.identities()


def _plain(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text) <= _LONGEST and text.isprintable()
