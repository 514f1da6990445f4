"""Adapters know of no database; their processes are tried on both."""

from __future__ import annotations

import pytest

from tests.places import on_sqlite_alone


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    on_sqlite_alone(metafunc, but=("test_processes",))
