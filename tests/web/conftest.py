"""One server for each module and database, with people and agents that its tests share."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from sayso import Desk
from tests.places import Place
from tests.quick import quick
from tests.served import Served

__all__ = ["quick"]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def shared_place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """An empty database for all tests of a module: once of each kind."""
    if request.param == "sqlite":
        return Place("sqlite", f"sqlite:///{tmp_path_factory.mktemp('served')}/desk.db")
    place = Place("postgres", request.getfixturevalue("cluster"))
    place.clear()
    return place


@pytest.fixture(scope="module")
def server(shared_place: Place) -> Iterator[Served]:
    """A running server. anna and ada are senior in billing, ben is in support, root is admin."""
    with Desk(shared_place.url, agent="shop", account="sam@till") as desk:
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ada", roles=["senior", "security"], teams=["billing"])
        desk.people.add("ben", teams=["support"])
        desk.people.add("root", roles=["admin"], teams=["billing", "support"])
        with Served(desk) as server:
            yield server


@pytest.fixture(scope="module")
def bot(server: Served) -> httpx2.Client:
    """An agent of billing."""
    return server.agent("bot", team="billing")


@pytest.fixture(scope="module")
def rival(server: Served) -> httpx2.Client:
    """Another agent of billing."""
    return server.agent("rival", team="billing")


@pytest.fixture(scope="module")
def anna(server: Served) -> httpx2.Client:
    return server.person("anna")


@pytest.fixture(scope="module")
def ada(server: Served) -> httpx2.Client:
    return server.person("ada")


@pytest.fixture(scope="module")
def ben(server: Served) -> httpx2.Client:
    """Somebody of another team."""
    return server.person("ben")


@pytest.fixture(scope="module")
def stranger(server: Served) -> httpx2.Client:
    return server.client()
