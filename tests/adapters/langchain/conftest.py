"""Agents of these tests: each in a folder of its own, on a desk with SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk
from sayso.testing import FakeClock
from tests.adapters.langchain.clerk import Clerk, Reply
from tests.places import Place

Hire = Callable[..., Clerk]


@pytest.fixture
def hire(sqlite: Place, clock: FakeClock, tmp_path: Path) -> Iterator[Hire]:
    """Makes the agent of a test from what its model replies."""

    def desks(law: Path) -> Desk:
        return Desk(sqlite.url, clock=clock, agent="shop", account="sam@till", policy=law)

    with ExitStack() as stack:

        def hired(reply: Reply, **given: Any) -> Clerk:
            return stack.enter_context(Clerk(tmp_path, reply, desks, **given))

        yield hired
