"""Adapters know of no database; their processes are tried on both."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.places import on_sqlite_alone

# Hosts that are large: `tools.hosts` installs them, one at a time, and tries these.
FAMILY = ("deepagents", "langgraph_supervisor", "langgraph_swarm")
collect_ignore = [] if any(map(find_spec, FAMILY)) else ["langgraph/test_family.py"]


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    on_sqlite_alone(metafunc, but=("test_processes",))
