"""A desk for what depends on Python and not on the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sayso import Desk
from sayso.testing import FakeClock
from tests.places import Place


@pytest.fixture
def local(sqlite: Place, clock: FakeClock, closing: Callable[[Desk], None]) -> Iterator[Desk]:
    """A desk on SQLite alone; sam sits at it."""
    desk = Desk(sqlite.url, clock=clock, agent="shop", account="sam@till")
    yield desk
    closing(desk)
