"""Agents stand on runs, and so on whatever database those stand on."""

from __future__ import annotations

import pytest

from tests.agents import RAN
from tests.places import emptied, on_sqlite_alone


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    on_sqlite_alone(metafunc, but=("test_memory",))


@pytest.fixture(autouse=True)
def nothing_ran(request: pytest.FixtureRequest) -> None:
    RAN.clear()
    emptied(request, "HEARD", "KEYS")
