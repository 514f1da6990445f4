"""A desk on SQLite alone, for what depends on Python and not on the database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayso import Desk
from sayso.testing import FakeClock
from tests.places import Place


@pytest.fixture
def local(sqlite: Place, clock: FakeClock) -> Iterator[Desk]:
    """A desk on a file, with a clock that stands still."""
    with Desk(sqlite.url, clock=clock, agent="shop", account="sam@till") as desk:
        yield desk
