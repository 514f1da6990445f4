"""The desks of these tests: hundreds of them, so nobody waits for one to close.

A listener on PostgreSQL takes a fifth of a second to notice that it is not wanted any more. Desks
are closed beside the next test, and all of them are closed when the last one has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from sayso import Desk
from sayso.testing import FakeClock
from tests.places import Place

Close = Callable[[Desk], None]


@pytest.fixture(scope="session")
def closing() -> Iterator[Close]:
    """Closes desks in the background; whatever goes wrong there is raised at the end."""
    closed: list[Future[None]] = []
    with ThreadPoolExecutor(4, "closing") as pool:
        yield lambda desk: closed.append(pool.submit(desk.close))
    for one in closed:
        one.result()


@pytest.fixture
def desk(place: Place, clock: FakeClock, closing: Close) -> Iterator[Desk]:
    """A desk with a clock that stands still; sam sits at it."""
    desk = Desk(place.url, clock=clock, agent="shop", account="sam@till")
    yield desk
    closing(desk)


@pytest.fixture
def local(sqlite: Place, clock: FakeClock, closing: Close) -> Iterator[Desk]:
    """A desk on SQLite alone, for what depends on Python and not on the database."""
    desk = Desk(sqlite.url, clock=clock, agent="shop", account="sam@till")
    yield desk
    closing(desk)
