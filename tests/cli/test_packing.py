"""What a release holds: everything that its own tests read."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = {"build", "dist", "site", "__pycache__"}


def test_the_source_release_has_every_folder_of_the_house() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packed = set(settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."}

    assert folders - MADE <= packed
