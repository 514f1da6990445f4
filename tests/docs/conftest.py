"""A reader of the pages: anna, alone at her machine, in an empty folder."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.reader import Reader


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.chdir(tmp_path)
    for variable in ("SAYSO_URL", "SAYSO_PERSON", "CI", "VISUAL", "EDITOR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LOGNAME", "anna")  # who sits at the machine, and so decides
    monkeypatch.setattr(sys, "argv", ["docs.py"])
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # where dataclasses look for their types
    return Reader(tmp_path, module)
