"""A company that waits for people, made once, and copies of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sayso.demo.company import open_desk, open_work

Copy = Callable[[Path], Path]


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a company that has just opened."""
    path = tmp_path_factory.mktemp("company") / "demo.db"
    with open_desk(f"sqlite:///{path}") as desk:
        open_work(desk)
    return path


@pytest.fixture(scope="session")
def copied(opened: Path) -> Copy:
    """Put a copy of it into a folder, as `--keep` finds it there."""

    def copy(folder: Path) -> Path:
        folder.mkdir()
        shutil.copy(opened, folder / "demo.db")
        (folder / "demo.txt").touch()
        return folder

    return copy
