"""What the database and the journal keep of all this, and what they never do."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from sayso import Desk
from sayso.access.identities import (
    link_identity,
    list_identities,
    person_of_identity,
    unlink_identity,
)
from sayso.access.passwords import check_password, set_password
from sayso.access.sessions import (
    Session,
    caller_of_session,
    end_session,
    make_link,
    open_session,
    sign_out,
)
from sayso.access.tokens import caller_of_token, make_token
from sayso.channels.sentences import sentence
from sayso.errors import BadValue, Misuse, UnknownPerson
from sayso.model.actor import Origin
from sayso.store import Store
from sayso.store.contract import Head
from tests.access.conftest import HOSTILE, PASSWORD
from tests.places import TABLES, Place

SignIn = Callable[..., tuple[Session, str]]
ISSUER = "https://id.example.com"


def live_a_little(desk: Desk) -> list[str]:
    """Use everything there is to come in by, and return the secrets."""
    link = make_link(desk.store)
    _, local = open_session(
        desk.store, None, how="link", address="127.0.0.1", agent_string="Firefox"
    )
    caller_of_session(desk.store, local)
    desk.people.add("anna", roles=["admin"])
    desk.people.add("ben")
    set_password(desk.store, "anna", PASSWORD, origin=desk.origin)
    assert check_password(desk.store, "anna", PASSWORD, address="192.0.2.7")
    assert not check_password(desk.store, PASSWORD, "in the wrong field", address="192.0.2.7")
    sign_in = partial(
        open_session, desk.store, how="password", address="192.0.2.7", agent_string="Firefox"
    )
    session, first = sign_in("anna")
    other, second = sign_in("ben", replaces=session.id)
    end_session(desk.store, other.id)
    sign_in("ben")
    sign_in("ben")
    sign_out(desk.store, "ben", origin=desk.origin, by="anna")
    token, text = desk.tokens.make("shop", owner="ben", team="billing")
    _, own = desk.tokens.make("anna", "person", expires=None)
    caller_of_token(desk.store, text)
    desk.tokens.revoke(token.id)
    link_identity(desk.store, ISSUER, "248289", "anna", origin=desk.origin)
    unlink_identity(desk.store, ISSUER, "248289", origin=desk.origin, by="anna")
    link_identity(desk.store, ISSUER, "248289", "ben", origin=desk.origin)
    return [link, local, PASSWORD, first, second, text, text[6:49], own, own[6:49]]


def test_no_secret_is_anywhere_in_the_file(sqlite: Place) -> None:
    with Desk(sqlite.url, account="sam@till") as desk:
        secrets = live_a_little(desk)
        files = [file for file in sqlite.file.parent.iterdir() if file.is_file()]
        content = b"".join(file.read_bytes() for file in files)

    assert b"token.made" in content
    for secret in secrets:
        assert secret.encode() not in content


def test_no_secret_and_no_hash_is_in_any_table_of_either_database(desk: Desk, place: Place) -> None:
    secrets = live_a_little(desk)

    rows = [row for table in TABLES for row in place.sql(f"select * from {table}")]
    told = repr(rows)
    assert "token.made" in told
    assert [secret for secret in secrets if secret in told] == []
    journal = repr(place.sql("select payload from events"))
    hashed = [row[0] for row in place.sql("select hash from passwords")]
    assert len(hashed) == 1
    assert hashed[0] not in journal
    assert "argon2" not in journal
    digests = place.sql("select digest from tokens union all select digest from sessions")
    assert [row for row in digests if bytes(row[0]).hex() in journal] == []


def test_the_journal_tells_what_happened_in_words_and_verifies(desk: Desk) -> None:
    live_a_little(desk)

    events = desk.store.stream("access")
    told = [sentence(event) for event in events]

    assert {event.kind for event in events} == {
        "token.made",
        "token.revoked",
        "password.set",
        "link.made",
        "session.opened",
        "session.ended",
        "identity.linked",
        "identity.unlinked",
    }
    assert [line for line, event in zip(told, events, strict=True) if line == event.kind] == []
    assert f"linked ben as 248289 of {ISSUER}" in told
    assert all({"via", "account"} <= set(event.payload or {}) for event in events)
    assert desk.verify()
    assert desk.verify(seal=desk.seal())


def test_what_is_told_of_a_hostile_browser_is_harmless(office: Desk, sign_in: SignIn) -> None:
    for text in HOSTILE:
        sign_in(address=text, agent_string=text)

    assert all(sentence(event).isprintable() for event in office.store.stream("access"))


# --- what happens in between ---


class Meanwhile:
    """The database, and something that happens between looking and writing, once."""

    def __init__(self, store: Store, deed: Callable[[], object]) -> None:
        self._store = store
        self._deeds = [deed]

    def head(self, stream: str) -> Head:
        found = self._store.head(stream)
        while self._deeds:
            self._deeds.pop()()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


FOR_BEN: dict[str, Callable[[Any, Origin], object]] = {
    "token": lambda store, origin: make_token(
        store, name="ben", kind="person", expires=None, origin=origin
    ),
    "agent": lambda store, origin: make_token(
        store, name="shop", kind="agent", expires=None, owner="ben", origin=origin
    ),
    "session": lambda store, _: open_session(
        store, "ben", how="password", address="192.0.2.7", agent_string="Firefox"
    ),
    "password": lambda store, origin: set_password(store, "ben", PASSWORD, origin=origin),
    "identity": lambda store, origin: link_identity(store, ISSUER, "7", "ben", origin=origin),
}


@pytest.mark.parametrize("what", FOR_BEN)
def test_whoever_is_removed_in_between_gets_nothing_more(
    office: Desk, place: Place, what: str
) -> None:
    meanwhile = Meanwhile(office.store, lambda: office.people.remove("ben"))

    with pytest.raises(UnknownPerson):
        FOR_BEN[what](meanwhile, office.origin)

    tables = ("tokens", "sessions", "passwords", "identities")
    assert [place.count(table) for table in tables] == [0, 0, 0, 0]
    assert office.store.stream("access") == []
    assert office.verify()


@pytest.mark.parametrize("what", FOR_BEN)
def test_whoever_loses_the_race_for_the_next_line_tries_again(office: Desk, what: str) -> None:
    meanwhile = Meanwhile(office.store, lambda: office.tokens.make("till"))

    FOR_BEN[what](meanwhile, office.origin)

    assert len(office.store.stream("access")) == 2
    assert office.verify()


# --- what somebody wrote around our back ---


def problems(desk: Desk) -> list[tuple[str, str]]:
    return [(problem.what, problem.stream) for problem in desk.verify().problems]


def test_a_token_that_came_back_and_a_line_that_was_blanked_are_named(
    office: Desk, place: Place
) -> None:
    token, _ = office.tokens.make("shop")
    office.tokens.revoke(token.id)
    place.sql("update tokens set revoked_at = null")

    assert problems(office) == [("index", "access")]

    office.tokens.make("shop")
    office.tokens.make("till")
    place.sql("update events set payload = null, salt = null where stream = 'access' and seq = 1")

    assert ("blanked", "access") in problems(office)


# --- identities ---


def test_an_identity_is_a_subject_of_an_issuer_and_nobody_elses(office: Desk) -> None:
    link_identity(office.store, ISSUER, "7", "anna", origin=office.origin)

    with pytest.raises(Misuse, match="anna"):
        link_identity(office.store, ISSUER, "7", "ben", origin=office.origin)
    with pytest.raises(UnknownPerson):
        link_identity(office.store, ISSUER, "8", "cleo", origin=office.origin)
    with pytest.raises(Misuse):
        unlink_identity(office.store, ISSUER, "8", origin=office.origin)

    link_identity(office.store, ISSUER, "7", "anna", origin=office.origin)
    link_identity(office.store, ISSUER, "7", "anna", origin=office.origin)

    assert person_of_identity(office.store, ISSUER, "7") == "anna"
    assert person_of_identity(office.store, "https://other.example.com", "7") is None
    assert person_of_identity(office.store, ISSUER, "8") is None
    assert len(list_identities(office.store)) == 1
    assert len(office.store.stream("access")) == 1


def test_an_identity_leaves_with_its_person(office: Desk) -> None:
    link_identity(office.store, ISSUER, "7", "ben", origin=office.origin)

    office.people.remove("ben")
    office.people.add("ben")

    assert person_of_identity(office.store, ISSUER, "7") is None
    assert office.verify()


@pytest.mark.parametrize("text", ["", *(text for text in HOSTILE if not text.isprintable())])
def test_hostile_identities_are_nobody(office: Desk, text: str) -> None:
    with pytest.raises(BadValue, match="printable characters"):
        link_identity(office.store, ISSUER, text, "anna", origin=office.origin)
    assert person_of_identity(office.store, text, "7") is None
    with pytest.raises(Misuse):
        unlink_identity(office.store, ISSUER, text, origin=office.origin)


def test_the_events_are_json_that_others_can_read(desk: Desk) -> None:
    live_a_little(desk)

    made = next(event for event in desk.store.stream("access") if event.kind == "token.made")
    shop = next(token for token in desk.tokens if token.name == "shop")
    assert shop.expires_at is not None

    said = json.loads(made.text or "")
    assert len(bytes.fromhex(said.pop("fingerprint"))) == 32
    assert said == {
        "account": "sam@till",
        "expires_at": shop.expires_at.isoformat(),
        "id": shop.id,
        "kind": "agent",
        "name": "shop",
        "owner": "ben",
        "scopes": ["asks:create", "asks:read", "asks:run"],
        "team": "billing",
        "via": "python",
    }
