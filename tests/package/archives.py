"""What is handed to users: a wheel and an sdist, built from the files of this repository alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec

ROOT = Path(__file__).resolve().parents[2]
# Files that git ignores, at places where a build would find them.
RUBBISH = (
    "src/sayso/__pycache__/desk.cpython-311.pyc",
    "src/sayso/store/left.db",
    "src/sayso/.sayso/desk.db",
    "tests/__pycache__/conftest.cpython-311.pyc",
    "docs/.DS_Store",
    "build/left.txt",
    "dist/sayso-0.0.1.tar.gz",
    "site/index.html",
    ".venv/pyvenv.cfg",
)


@cache
def ignored() -> GitIgnoreSpec:
    """What git ignores here."""
    return GitIgnoreSpec.from_lines((ROOT / ".gitignore").read_text().splitlines())


@cache
def files_of_ours() -> tuple[str, ...]:
    """Every file of the repository, by its path: what git ignores is none of it."""
    return tuple(sorted(_files(PurePosixPath())))


def _files(folder: PurePosixPath) -> Iterator[str]:
    for one in (ROOT / folder).iterdir():
        path = folder / one.name
        if one.name == ".git" or ignored().match_file(f"{path}/" if one.is_dir() else path):
            continue
        if one.is_dir():
            yield from _files(path)
        else:
            yield str(path)


def copied(into: Path) -> Path:
    """Copy them, and put rubbish between them."""
    for name in files_of_ours():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, into / name)
    for name in RUBBISH:
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        (into / name).write_text("left behind")
    return into


@dataclass(frozen=True)
class Built:
    """A wheel and an sdist, and what is in them."""

    wheel: Path
    sdist: Path

    @cached_property
    def in_wheel(self) -> dict[str, bytes]:
        with zipfile.ZipFile(self.wheel) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    @cached_property
    def in_sdist(self) -> set[str]:
        """The paths of its files, from the folder that it unpacks to."""
        with tarfile.open(self.sdist) as archive:
            found = [one.name for one in archive.getmembers() if one.isfile()]
        return {name.partition("/")[2] for name in found}


def build(source: Path, into: Path) -> Built:
    """Build both, by the backend that pyproject.toml names. Nothing is fetched."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", into],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (wheel,), (sdist,) = into.glob("*.whl"), into.glob("*.tar.gz")
    return Built(wheel, sdist)
