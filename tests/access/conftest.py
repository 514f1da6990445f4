"""People who come in, and everything they come in by."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import argon2
import pytest

from sayso import Desk
from sayso.access import passwords
from sayso.access.passwords import set_password
from sayso.access.sessions import Session, open_session
from tests.hostile import ANSI, BIDI, FAKED, MARKUP, ZERO_WIDTH

HOSTILE = (BIDI, ANSI, ZERO_WIDTH, MARKUP, FAKED, "a\x00b", "\udc80", "' or 1=1 --", "x" * 10_000)
PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real hasher, with little to do: these tests count and compare."""
    little = partial(argon2.PasswordHasher, time_cost=1, memory_cost=64, parallelism=1)
    monkeypatch.setattr(passwords, "PasswordHasher", little)
    monkeypatch.setattr(passwords, "_nobodys", cache(passwords._nobodys.__wrapped__))


@pytest.fixture
def office(desk: Desk) -> Desk:
    """A desk with people: anna is its admin, ben is not."""
    desk.people.add("anna", roles=["admin"])
    desk.people.add("ben")
    return desk


@pytest.fixture
def sign_in(office: Desk) -> Callable[..., tuple[Session, str]]:
    """Open a session, as whoever has checked a password does."""

    def opened(name: str | None = "anna", **given: str) -> tuple[Session, str]:
        around = {"how": "password", "address": "192.0.2.7", "agent_string": "Firefox"}
        return open_session(office.store, name, **(around | given))  # type: ignore[arg-type]

    return opened


@pytest.fixture
def known(office: Desk) -> Desk:
    """The same desk, and anna has a password."""
    set_password(office.store, "anna", PASSWORD, origin=office.origin)
    return office
