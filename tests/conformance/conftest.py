"""Everything in this folder runs on SQLite, on PostgreSQL, and over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sayso import Desk
from sayso.testing import FakeClock
from tests.conformance.house import House, Seat
from tests.places import Place
from tests.served import Served

PEOPLE = {
    "anna": ["senior"],
    "ada": ["senior", "security"],
    "sec": ["security"],
    "ben": [],
}


@pytest.fixture(params=["sqlite", "postgres", "remote"])
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def make_house(
    kind: str, request: pytest.FixtureRequest, clock: FakeClock
) -> Iterator[Callable[..., House]]:
    """Build a house, perhaps with a policy."""
    with ExitStack() as stack:

        def make(policy: Path | None = None) -> House:
            found = "postgres" if "postgres" in kind else "sqlite"
            place: Place = request.getfixturevalue(found)
            local = stack.enter_context(
                Desk(place.url, clock=clock, agent="bot", account="sam@till", policy=policy)
            )
            for name, roles in PEOPLE.items():
                local.people.add(name, roles=roles)
            if not kind.startswith("remote"):
                return House(local, clock, local, lambda name: Seat(local, name), remote=False)
            server = stack.enter_context(Served(local))

            def desk(name: str, kind: str) -> Desk:
                return stack.enter_context(Desk(server.url, token=server.token(name, kind=kind)))

            return House(
                local,
                clock,
                desk("bot", "agent"),
                lambda name: Seat(desk(name, "person"), None),
                remote=True,
            )

        yield make


@pytest.fixture
def house(make_house: Callable[..., House]) -> House:
    return make_house()
