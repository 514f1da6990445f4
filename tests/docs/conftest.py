"""A reader of the pages: anna, alone at her machine, in an empty folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.reader import Reader


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOGNAME", "anna")  # who sits at the machine, and so decides
    monkeypatch.setattr(sys, "argv", ["docs.py"])
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # where dataclasses look for their types
    monkeypatch.syspath_prepend(tmp_path)  # where blocks find the files of their page
    before = set(sys.modules)
    yield Reader(tmp_path, module)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]  # the next page has its own shop.py
