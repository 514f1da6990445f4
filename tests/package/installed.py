"""The wheel in an empty environment, beside the packages that it says it needs.

Those are not fetched: each of their files is linked from the environment of the tests, by the list
that pip made when it installed them. A package that the wheel does not ask for is not there, so an
import that nobody declared fails here as it would at a user's. That the index has them all is tried
by `make soak`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@dataclass(frozen=True)
class Installed:
    """An environment with sayso in it."""

    venv: Path
    with_it: frozenset[str]

    @property
    def python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def command(self) -> Path:
        return self.venv / "bin" / "sayso"

    @property
    def packages(self) -> Path:
        return packages_of(self.venv)

    def run(self, *args: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
        """Run a program there, in a folder that is its home too, with nothing of ours around it."""
        return subprocess.run(
            args, cwd=home, env=bare(home), capture_output=True, text=True, check=False
        )


def bare(home: Path) -> dict[str, str]:
    """What a program is told of a fresh account."""
    return {"HOME": str(home), "PATH": os.defpath, "TMPDIR": str(home), "LANG": "C.UTF-8"}


def packages_of(venv: Path) -> Path:
    (found,) = venv.glob("lib/python*/site-packages")
    return found


def install(wheel: Path, venv: Path) -> Installed:
    """Install the wheel into a new environment, and link what it asks for."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    pip_to(venv, "--no-deps", "--no-index", str(wheel))
    (sayso,) = distributions(name="sayso", path=[str(packages_of(venv))])
    needed = closure(sayso)
    for name in needed:
        link(distribution(name), packages_of(venv))
    return Installed(venv, needed)


def pip_to(venv: Path, *args: str) -> None:
    """Let the pip of the tests install something there."""
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, "--python", venv / "bin" / "python", "install", *args], check=True)


def closure(start: Distribution) -> frozenset[str]:
    """What it needs, and what those need in turn: by name, without itself."""
    found: set[tuple[str, str]] = set()
    waiting = [(start, "")]
    while waiting:
        one, extra = waiting.pop()
        for wanted in map(Requirement, one.requires or []):
            if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
                continue
            new = {(wanted.name, each) for each in ("", *wanted.extras)} - found
            waiting += [(distribution(name), each) for name, each in new]
            found |= new
    return frozenset(canonicalize_name(name) for name, _ in found)


def link(package: Distribution, into: Path) -> None:
    """Link the files of a package: each, for several packages may share a folder."""
    assert package.files, f"nobody wrote down what belongs to {package.name}"
    for file in package.files:
        if file.parts[0] == "..":
            continue  # commands, which belong to the environment
        place = into.joinpath(*file.parts)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(str(package.locate_file(file)))
