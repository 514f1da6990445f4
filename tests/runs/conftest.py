"""Runs are tried on both databases where they read or write in ways of their own."""

from __future__ import annotations

import pytest

from tests.places import emptied, on_sqlite_alone
from tests.runs.people import RAN


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    on_sqlite_alone(metafunc, but=("test_restoring", "test_steering", "test_verbs", "test_workers"))


@pytest.fixture(autouse=True)
def nothing_ran(request: pytest.FixtureRequest) -> None:
    RAN.clear()
    emptied(request, "PAID")
