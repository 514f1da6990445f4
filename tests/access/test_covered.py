"""The journal covers whatever lets somebody in, and `verify` names what was changed around its back (E44)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from argon2 import PasswordHasher

from sayso import Desk
from sayso.access import passwords
from sayso.access.passwords import check_password, set_password
from sayso.access.secrets import digest_of, new_secret, new_token
from sayso.access.sessions import (
    Session,
    caller_of_session,
    make_link,
    open_session,
    use_link,
)
from sayso.access.tokens import caller_of_token
from sayso.channels.sentences import sentence
from sayso.errors import NotSignedIn
from tests.access.conftest import PASSWORD
from tests.places import Place

DIFFERS = "differs from what the journal recorded"


weak = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)


def opened(desk: Desk, name: str = "anna") -> tuple[Session, str]:
    return open_session(
        desk.store, name, how="password", address="192.0.2.7", agent_string="Firefox"
    )


def found(desk: Desk) -> list[str]:
    problems = desk.verify().problems
    assert {problem.what for problem in problems} <= {"index"}
    return [problem.detail for problem in problems]


def swapped_token(desk: Desk, place: Place) -> str:
    token, _ = desk.tokens.make("anna", "person")
    mine = new_token()
    place.sql("update tokens set digest = ?", digest_of(mine))
    assert caller_of_token(desk.store, mine).name == "anna"
    return f"token {token.id} of anna: its secret {DIFFERS}"


def swapped_session(desk: Desk, place: Place) -> str:
    session, _ = opened(desk)
    mine = new_secret()
    place.sql("update sessions set digest = ?", digest_of(mine))
    assert caller_of_session(desk.store, mine).name == "anna"
    return f"session {session.id} of anna: its secret {DIFFERS}"


def younger_session(desk: Desk, place: Place) -> str:
    session, _ = opened(desk)
    place.sql("update sessions set opened_at = opened_at + 1")
    return f"session {session.id} of anna: its beginning {DIFFERS}"


def swapped_password(desk: Desk, place: Place) -> str:
    for name in ("anna", "ben"):
        set_password(desk.store, name, PASSWORD, origin=desk.origin)
    place.sql("update passwords set hash = ? where name = 'anna'", PasswordHasher().hash("mine"))
    assert check_password(desk.store, "anna", "mine")
    return f"password of anna: its hash {DIFFERS}"


@pytest.mark.parametrize(
    "thief", [swapped_token, swapped_session, younger_session, swapped_password]
)
def test_what_lets_somebody_in_and_was_swapped_is_named_e44(
    office: Desk, place: Place, thief: Callable[[Desk, Place], str]
) -> None:
    """The thief is let in, and named."""
    said = thief(office, place)

    assert found(office) == [said]


def test_a_link_that_was_swapped_or_that_nobody_printed_is_named_e44(
    desk: Desk, place: Place
) -> None:
    make_link(desk.store)
    assert desk.verify()
    place.sql("update links set digest = ?", digest_of(new_secret()))
    assert found(desk) == [f"link until 2026-01-01 09:05 UTC: its secret {DIFFERS}"]

    place.sql("delete from links")
    mine = new_secret()
    place.sql("insert into links values (?, 4000000000000000)", digest_of(mine))
    assert found(desk) == [
        "link until 2096-10-02 07:06 UTC lets somebody in, and the journal has no record of it"
    ]
    assert use_link(desk.store, mine), "the thief is let in"


def test_two_tokens_that_changed_places_are_named_e44(office: Desk, place: Place) -> None:
    first, _ = office.tokens.make("shop")
    second, _ = office.tokens.make("till")
    for before, after in ((first.id, "-"), (second.id, first.id), ("-", second.id)):
        place.sql("update tokens set id = ? where id = ?", after, before)

    said = found(office)
    assert f"token {first.id} of till: its secret {DIFFERS}" in said
    assert f"token {second.id} of shop: its name {DIFFERS}" in said


def test_a_password_moved_to_another_person_is_named_e44(office: Desk, place: Place) -> None:
    set_password(office.store, "ben", PASSWORD, origin=office.origin)
    place.sql("update passwords set name = 'anna'")

    assert found(office) == [
        "password of anna lets somebody in, and the journal has no record of it"
    ]


def test_a_session_that_a_new_password_has_ended_is_named_when_it_is_back_e44(
    office: Desk, place: Place
) -> None:
    kept, _ = opened(office)
    ended, secret = opened(office)
    rows = place.sql("select * from sessions where id = ?", ended.id)
    set_password(office.store, "anna", PASSWORD, origin=office.origin, keep=kept.id)
    assert office.verify()
    place.sql(f"insert into sessions values ({', '.join('?' * len(rows[0]))})", *rows[0])

    assert caller_of_session(office.store, secret).name == "anna", "the thief is let in"
    assert found(office) == [
        f"session {ended.id} of anna lets somebody in, and the journal has no record of it"
    ]


def test_a_sign_in_at_a_provider_that_is_under_way_is_no_link_e44(desk: Desk) -> None:
    """What it leaves in the table lets nobody in, and is no digest that a link could have."""
    desk.store.put_state(hashlib.sha256(b"x").digest(), desk.store.now() + timedelta(minutes=5))

    assert desk.verify()


def test_a_password_that_is_hashed_anew_has_its_event_e44(
    office: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(passwords, "PasswordHasher", weak)
        set_password(office.store, "anna", PASSWORD, origin=office.origin)
    before = office.store.password("anna")

    assert check_password(office.store, "anna", PASSWORD)

    assert office.store.password("anna") != before
    last = office.store.stream("access")[-1]
    assert (last.kind, str(last.actor)) == ("password.rehashed", "person:anna")
    assert sentence(last) == "hashed their password anew"
    assert office.verify()


def test_a_hash_that_was_swapped_is_not_made_good_by_hashing_it_anew_e44(
    known: Desk, place: Place
) -> None:
    place.sql("update passwords set hash = ?", weak().hash("mine"))

    assert check_password(known.store, "anna", "mine"), "the thief is let in"
    assert found(known) == [f"password of anna: its hash {DIFFERS}"]


WAYS: dict[str, tuple[str, Callable[[Desk], object]]] = {
    "token.made": ("token", lambda desk: desk.tokens.make("shop")),
    "password.set": (
        "password of ben",
        lambda desk: set_password(desk.store, "ben", PASSWORD, origin=desk.origin),
    ),
    "session.opened": (
        "session",
        lambda desk: opened(desk, "ben"),
    ),
}


@pytest.mark.parametrize("kind", WAYS)
def test_a_credential_without_its_event_is_named_and_nothing_else_breaks(
    office: Desk, place: Place, kind: str
) -> None:
    what, make = WAYS[kind]
    make(office)
    place.sql("delete from events where stream = 'access'")

    (said,) = found(office)

    assert said.startswith(what)
    assert said.endswith(" lets somebody in, and the journal has no record of it")
    make(office)
    assert office.store.stream("access")[0].kind == kind


@pytest.mark.parametrize("kind", WAYS)
def test_a_credential_made_before_there_were_fingerprints_is_named_with_what_to_do(
    office: Desk, place: Place, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    what, make = WAYS[kind]
    with monkeypatch.context() as patch:
        patch.setattr("sayso.access.recording.fingerprint", lambda *_: None)
        make(office)

    (said,) = found(office)

    assert said.startswith(what)
    assert said.endswith("the journal has no fingerprint of it. Make it anew")
    place.sql(f"delete from {what.split()[0]}s")  # ended, and another one made
    make(office)
    assert office.verify()


def test_a_fingerprint_says_nothing_of_the_secret_and_is_another_each_time(office: Desk) -> None:
    _, text = office.tokens.make("shop")
    set_password(office.store, "anna", PASSWORD, origin=office.origin)
    set_password(office.store, "anna", PASSWORD, origin=office.origin)

    events = office.store.stream("access")

    prints = [(event.payload or {})["fingerprint"] for event in events]
    assert len(set(prints)) == 3
    assert all(len(each) == 64 for each in prints)
    assert digest_of(text).hex() not in prints


@pytest.mark.parametrize("table", ["tokens set expires_at", "sessions set opened_at"])
def test_a_time_that_is_none_is_said(office: Desk, place: Place, table: str) -> None:
    office.tokens.make("shop")
    opened(office)
    place.sql(f"update {table} = {2**62}")

    assert found(office) == ["a row has a time that is none, so no row could be compared"]


def test_a_credential_that_does_not_count_is_not_looked_for(office: Desk, place: Place) -> None:
    token, text = office.tokens.make("shop")
    office.tokens.revoke(token.id)
    place.sql("update tokens set digest = ?", digest_of(new_token()))

    with pytest.raises(NotSignedIn):
        caller_of_token(office.store, text)
    assert office.verify()
