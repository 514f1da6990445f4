"""An inbox of paper for each test, and a window that looks at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.browser.script.paper import Paper, PaperServer, Sheet
from tests.browser.window import Window

Look = Callable[..., Window]


@pytest.fixture
def paper() -> Paper:
    """Three asks of low risk."""
    return Paper([Sheet("a-1", "First"), Sheet("a-2", "Second"), Sheet("a-3", "Third")])


@pytest.fixture(scope="session")
def paper_server() -> Iterator[PaperServer]:
    with PaperServer() as server:
        yield server


@pytest.fixture
def look(paper: Paper, paper_server: PaperServer, window: Callable[..., Window]) -> Iterator[Look]:
    """Open a window at an ask; the first, unless another is named."""

    def looking(path: str = "/inbox", **given: object) -> Window:
        return window(paper_server.url, **given).visit(path)

    with paper_server.showing(paper):
        yield looking
