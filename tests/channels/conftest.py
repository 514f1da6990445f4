"""Desks and receivers: cards and prompts on SQLite, webhooks on both databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sayso import Desk
from sayso.testing import FakeClock
from tests.channels.receivers import Receiver, receiving
from tests.conftest import Close
from tests.places import Place


@pytest.fixture
def desk(local: Desk) -> Desk:
    """What a card or a prompt shows depends on Python, and not on the database."""
    return local


@pytest.fixture
def everywhere(place: Place, clock: FakeClock, closing: Close) -> Iterator[Desk]:
    """The same on each database, for what is sent and kept."""
    desk = Desk(place.url, clock=clock, agent="shop", account="sam@till")
    yield desk
    closing(desk)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def other() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver
