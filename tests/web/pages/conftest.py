"""A desk with people behind a server, for the pages that are about them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayso import Desk
from sayso.testing import FakeClock
from tests.places import Place
from tests.served import Served
from tests.web.inbox.conftest import anna, desk, root

__all__ = ["anna", "desk", "root"]


@pytest.fixture
def office(sqlite: Place, clock: FakeClock) -> Iterator[Served]:
    """anna and ada are senior in billing, ben is in support, dora in no team, root is admin."""
    with Desk(sqlite.url, agent="shop", clock=clock) as desk:
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ada", roles=["senior", "security"], teams=["billing"])
        desk.people.add("ben", teams=["support"])
        desk.people.add("dora")
        desk.people.add("root", roles=["admin"])
        with Served(desk) as served:
            yield served
