"""Passwords: the right one, wrong ones, and how often somebody may try."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta
from functools import partial

import argon2
import pytest
from argon2.exceptions import VerifyMismatchError

from sayso import Desk
from sayso.access import passwords
from sayso.access.passwords import TRIES, check_password, place_of, set_password
from sayso.access.recording import recorded
from sayso.errors import BadValue, TooManyTries, UnknownPerson
from sayso.model.actor import Actor
from sayso.store.accounts import rehash
from sayso.testing import FakeClock
from tests.access.conftest import HOSTILE, PASSWORD
from tests.places import Place
from tests.together import at_once


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How hard the real hasher has worked: the parameters of each hash it compared to its end."""
    done: list[str] = []
    real = argon2.PasswordHasher.verify

    def noted(self: argon2.PasswordHasher, hashed: str, password: bytes) -> bool:
        try:
            right = real(self, hashed, password)
        except VerifyMismatchError:
            done.append(hashed.rsplit("$", 2)[0])
            raise
        done.append(hashed.rsplit("$", 2)[0])
        return right

    monkeypatch.setattr(argon2.PasswordHasher, "verify", noted)
    return done


def test_the_right_password_of_that_person_is_right_and_no_other(known: Desk) -> None:
    assert check_password(known.store, "anna", PASSWORD)
    for wrong in ("", PASSWORD + " ", PASSWORD.upper(), PASSWORD[:-1], *HOSTILE):
        assert not check_password(known.store, "anna", wrong)

    set_password(known.store, "ben", "another one of his", origin=known.origin)

    assert not check_password(known.store, "ben", PASSWORD)
    assert check_password(known.store, "ben", "another one of his")

    set_password(known.store, "anna", "Mu\u0308nchen im Regen", origin=known.origin)

    assert check_password(known.store, "anna", "M\u00fcnchen im Regen")


def test_unknown_names_cost_the_same_work_as_known_ones(known: Desk, work: list[str]) -> None:
    assert check_password(known.store, "anna", PASSWORD)
    usual = work.copy()
    assert usual == ["$argon2id$v=19$m=64,t=1,p=1"]
    for name in ("anna", "ben", "nobody", "ANNA", "", *HOSTILE):  # ben has no password
        work.clear()
        assert not check_password(known.store, name, "wrong one of them")
        assert work == usual, name


@pytest.mark.parametrize("password", ["", "eleven char", "x" * 1025, None])
def test_a_password_is_long_enough_and_not_endless(known: Desk, password: str) -> None:
    with pytest.raises(BadValue, match="characters"):
        set_password(known.store, "anna", password, origin=known.origin)

    assert check_password(known.store, "anna", PASSWORD)


@pytest.mark.parametrize(
    "password", ["            ", "twelve chars", "p" * 1024, "\U0001d160" * 1024, "\U0001f511" * 12]
)
def test_any_characters_make_a_password(known: Desk, password: str) -> None:
    set_password(known.store, "anna", password, origin=known.origin)

    assert check_password(known.store, "anna", password)


def test_only_people_of_the_desk_have_passwords_while_they_are_on_it(known: Desk) -> None:
    for name in ("cleo", *HOSTILE):
        with pytest.raises(UnknownPerson):
            set_password(known.store, name, PASSWORD, origin=known.origin)

    known.people.remove("anna")
    assert not check_password(known.store, "anna", PASSWORD)
    known.people.add("anna")
    assert not check_password(known.store, "anna", PASSWORD)


def yesterday(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give anna a password as it was hashed yesterday."""
    with monkeypatch.context() as patch:
        little = partial(argon2.PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
        patch.setattr(passwords, "PasswordHasher", little)
        set_password(desk.store, "anna", PASSWORD, origin=desk.origin)
    return desk.store.password("anna") or ""


def test_a_hash_of_yesterdays_strength_is_renewed_at_the_next_sign_in(
    known: Desk, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    weak = yesterday(known, monkeypatch)

    assert not check_password(known.store, "anna", "wrong one of them")
    assert place.one("select hash from passwords") == weak
    assert check_password(known.store, "anna", PASSWORD)

    renewed = place.one("select hash from passwords")
    assert renewed.startswith("$argon2id$v=19$m=64,t=1,p=1$")
    assert check_password(known.store, "anna", PASSWORD)


def test_a_renewed_hash_never_replaces_a_newer_password(known: Desk) -> None:
    before = known.store.password("anna")
    assert before is not None
    set_password(known.store, "anna", "something else", origin=known.origin)

    late = rehash("anna", before=before, after="whatever")
    actor = Actor("person", "anna")
    assert not recorded(
        known.store, "password.rehashed", {"name": "anna"}, late, actor=actor, origin=known.origin
    )
    assert check_password(known.store, "anna", "something else")


def test_what_is_no_hash_fits_no_password(known: Desk, place: Place) -> None:
    for nonsense in ("", "x", "$argon2id$v=19$m=65536,t=3,p=4$", PASSWORD):
        place.sql("update passwords set hash = ?", nonsense)
        assert not check_password(known.store, "anna", PASSWORD)


# --- how often ---


def exhaust(desk: Desk, name: str, address: str) -> None:
    for _ in range(TRIES):
        assert not check_password(desk.store, name, "wrong", address=address)
    with pytest.raises(TooManyTries):
        check_password(desk.store, name, "wrong", address=address)


def test_after_too_many_wrong_ones_even_the_right_one_has_to_wait(
    known: Desk, clock: FakeClock, work: list[str]
) -> None:
    exhaust(known, "anna", "192.0.2.7")

    clock.advance("10m")
    work.clear()
    with pytest.raises(TooManyTries) as raised:
        check_password(known.store, "anna", PASSWORD, address="192.0.2.7")
    assert raised.value.after == timedelta(minutes=5).total_seconds()
    assert not work

    clock.advance("5m")
    assert check_password(known.store, "anna", PASSWORD, address="192.0.2.7")


def test_nobody_is_locked_out_by_somebody_elsewhere_or_after_the_right_one(known: Desk) -> None:
    for _ in range(3):
        for _ in range(TRIES - 1):
            assert not check_password(known.store, "anna", "wrong", address="192.0.2.7")
        assert check_password(known.store, "anna", PASSWORD, address="192.0.2.7")

    exhaust(known, "anna", "192.0.2.7")

    assert check_password(known.store, "anna", PASSWORD, address="192.0.2.8")
    assert check_password(known.store, "anna", PASSWORD)  # of a place that does not count


@pytest.mark.parametrize("name", ["nobody", *HOSTILE])
def test_names_that_do_not_exist_are_counted_as_well(known: Desk, name: str) -> None:
    exhaust(known, name, "192.0.2.7")


def test_one_address_that_tries_everybody_is_stopped(
    known: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "TRIES_OF_ADDRESS", 5)
    for number in range(5):
        assert not check_password(known.store, f"p{number}", "wrong", address="192.0.2.7")

    with pytest.raises(TooManyTries):
        check_password(known.store, "anna", PASSWORD, address="192.0.2.7")


def test_whoever_tries_many_at_once_gets_no_more_tries(live: Desk) -> None:
    live.people.add("anna")

    def guess() -> str:
        try:
            right = check_password(live.store, "anna", "wrong", address="192.0.2.7")
        except TooManyTries:
            return "stopped"
        return "right" if right else "wrong"

    came = Counter(at_once([guess] * (TRIES + 6)))

    assert came == {"wrong": TRIES, "stopped": 6}


def test_tries_of_long_ago_are_forgotten(known: Desk, clock: FakeClock, place: Place) -> None:
    check_password(known.store, "anna", "wrong", address="192.0.2.7")
    clock.advance("15m")
    check_password(known.store, "ben", "wrong", address="192.0.2.8")

    assert place.count("tries") == 2


# --- how strong ---


def test_only_two_passwords_are_hashed_at_once(
    live: Desk, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes 64 MiB: whoever sends many at once must not take all the memory."""
    live.people.add("anna")
    set_password(live.store, "anna", PASSWORD, origin=live.origin)
    slower = argon2.PasswordHasher(time_cost=3, memory_cost=8192, parallelism=1)
    place.sql("update passwords set hash = ?", slower.hash(PASSWORD))
    real = argon2.PasswordHasher.verify
    here: set[int] = set()
    met: list[int] = []

    def counted(self: argon2.PasswordHasher, hashed: str, password: bytes) -> bool:
        here.add(threading.get_ident())
        try:
            right = real(self, hashed, password)
            met.append(len(here))
            return right
        finally:
            here.discard(threading.get_ident())

    monkeypatch.setattr(argon2.PasswordHasher, "verify", counted)

    assert at_once([lambda: check_password(live.store, "anna", PASSWORD)] * 8) == [True] * 8
    assert len(met) == 8
    assert max(met) <= 2


def test_passwords_are_hashed_with_argon2id_at_full_strength(
    office: Desk, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "PasswordHasher", argon2.PasswordHasher)

    set_password(office.store, "anna", PASSWORD, origin=office.origin)

    assert place.one("select hash from passwords").startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert check_password(office.store, "anna", PASSWORD)


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_an_ipv6_address_counts_as_the_network_it_is_of(address: str, place: str) -> None:
    assert place_of(address) == place


def test_whoever_has_a_64_of_addresses_has_no_more_tries(known: Desk) -> None:
    for n in range(TRIES):
        address = f"2001:db8:1:2::{n:x}"
        assert not check_password(known.store, "anna", "wrong", address=address)

    with pytest.raises(TooManyTries):
        check_password(known.store, "anna", PASSWORD, address="2001:db8:1:2:ffff::1")
    assert check_password(known.store, "anna", PASSWORD, address="2001:db8:1:3::1")
