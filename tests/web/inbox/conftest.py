"""Pages are drawn from what the desk says, which is tested on both databases elsewhere.

Whatever server a module has: its desk, and people of it at their browsers.
"""

from __future__ import annotations

import pytest

from sayso import Desk
from tests.served import Served
from tests.web.inbox.browser import Tab, tab
from tests.web.one_place import shared_place

__all__ = ["shared_place"]


@pytest.fixture
def desk(server: Served) -> Desk:
    return server.desk


@pytest.fixture
def anna(server: Served) -> Tab:
    return tab(server, "anna")


@pytest.fixture
def ada(server: Served) -> Tab:
    return tab(server, "ada")


@pytest.fixture
def ben(server: Served) -> Tab:
    return tab(server, "ben")


@pytest.fixture
def root(server: Served) -> Tab:
    return tab(server, "root")
