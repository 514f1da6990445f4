"""What is imported is declared, where it is needed; what is declared is imported."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution
from pathlib import PurePosixPath

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.package.archives import ROOT

PACKAGE = ROOT / "src" / "sayso"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]

# Who may import what an extra brings. Nobody else imports these modules before they are needed.
ROOMS = {
    "store/postgres.py": "postgres",
    "store/wakeups.py": "postgres",
    "runs/engine.py": "postgres",
    "web/oidc.py": "oidc",
    "agent/bridge": "models",
    "adapters/langchain": "langchain",
    "adapters/langgraph": "langgraph",
    "adapters/smolagents": "smolagents",
}
# Imported where somebody else has them already, and done without where not.
IF_THERE = {("testing.py", "pytest"), ("adapters/smolagents/values.py", "numpy")}


def names(wanted: list[str]) -> set[str]:
    """The packages that a list of requirements names."""
    return {canonicalize_name(Requirement(one).name) for one in wanted}


DECLARED = names(PROJECT["dependencies"]).union(*map(names, EXTRAS.values()))


@cache
def imports() -> frozenset[tuple[str, str]]:
    """Every import of somebody else's: the file, and the top-level name."""
    return frozenset(
        (file.relative_to(PACKAGE).as_posix(), name)
        for file in PACKAGE.rglob("*.py")
        for name in imported_by(ast.parse(file.read_text()))
        if name not in sys.stdlib_module_names and name != "sayso"
    )


def imported_by(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module.partition(".")[0]  # ruff forbids relative ones


def packages(name: str) -> set[str]:
    """The packages, of those that are declared, that bring what is imported under this name."""
    return {package for package in DECLARED if name in modules(package)}


@cache
def modules(package: str) -> frozenset[str]:
    """The top-level names that a package brings, by the list of its files."""
    lines = (distribution(package).read_text("RECORD") or "").splitlines()
    return frozenset(line.partition("/")[0].partition(".")[0] for line in lines)


def extra_of(file: str) -> str | None:
    """The extra of the room that a file is in."""
    above = {file, *map(str, PurePosixPath(file).parents)}
    return next((extra for room, extra in ROOMS.items() if room in above), None)


def test_every_import_is_declared_where_it_is_needed() -> None:
    always = names(PROJECT["dependencies"])
    undeclared = [
        f"{file} imports {name}"
        for file, name in sorted(imports() - IF_THERE)
        if not packages(name) & (always | names(EXTRAS.get(extra_of(file) or "", [])))
    ]

    assert undeclared == []


def test_nothing_is_declared_that_nobody_imports() -> None:
    used = {package for _, name in imports() for package in packages(name)}

    assert DECLARED - used == {"sayso"}  # `all` names the others through it


def test_each_room_of_an_extra_needs_it() -> None:
    always = names(PROJECT["dependencies"])
    for room, extra in ROOMS.items():
        inside = [name for file, name in imports() if extra_of(file) == extra]
        assert any(packages(name) & (names(EXTRAS[extra]) - always) for name in inside), room
    assert imports() >= IF_THERE


def test_all_is_every_extra() -> None:
    (whole,) = map(Requirement, EXTRAS["all"])

    assert whole.name == "sayso"
    assert whole.extras == EXTRAS.keys() - {"all"}
    assert set(ROOMS.values()) == whole.extras


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - {"all"}))
def test_the_tests_have_what_an_extra_brings(extra: str) -> None:
    assert set(EXTRAS[extra]) <= set(PYPROJECT["dependency-groups"]["dev"])


def test_every_extra_that_a_page_names_exists() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *PACKAGE.rglob("*.py")]
    named = {
        extra.strip()
        for page in pages
        for found in re.findall(r"(?:sayso|'\.|\"\.)\[([a-z, ]+)\]", page.read_text())
        for extra in found.split(",")
    }

    assert {"postgres", "models"} <= named
    assert named <= EXTRAS.keys()
