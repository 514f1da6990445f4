"""The desks of these tests are those of the tests of runs: an agent is a workflow."""

from __future__ import annotations

from tests.runs.conftest import local

__all__ = ["local"]
