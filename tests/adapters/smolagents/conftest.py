"""Tools of these tests note what they did in a list of their file."""

from __future__ import annotations

import pytest

from tests.places import emptied


@pytest.fixture(autouse=True)
def nothing_ran(request: pytest.FixtureRequest) -> None:
    emptied(request, "DONE")
