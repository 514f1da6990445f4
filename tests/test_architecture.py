"""ARCHITECTURE.md is true: its drawing is the house, and what it names is where it says.

import-linter keeps imports within the layers of `pyproject.toml`. Here the drawing, the layers and the
imports are held against one another, so that a reader may trust the drawing.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "sayso"
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
DOOR = "the front door"  # `sayso/__init__.py`, which belongs to no room
BASES = (ROOT, PACKAGE, PACKAGE / "web")
ENDINGS = (".py", ".sql", ".md", ".toml", ".html", ".json", ".txt")
CODE = re.compile(r"`([^`\n]+)`")


def drawing() -> list[frozenset[str]]:
    """The rooms, from the top down: those of one line together."""
    drawn = PAGE.partition("## Rooms and doors")[2].split("```")[1]
    lines = [line.strip() for line in drawn.splitlines()]
    rooms = [re.split(r"\s{2,}", line)[0] for line in lines if line and not line.startswith("|")]
    return [frozenset(line.split(" | ")) for line in rooms]


@cache
def layers() -> list[list[str]]:
    """The same, as import-linter knows it. In brackets: rooms that are still to be built."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (doors,) = (one for one in settings["contracts"] if one["id"] == "doors")
    return [layer.split(" | ") for layer in doors["layers"]]


@cache
def rooms() -> frozenset[str]:
    """Every module and package at the top of ours."""
    found = {one.stem for one in PACKAGE.glob("*.py")} | {
        one.parent.name for one in PACKAGE.glob("*/__init__.py")
    }
    return frozenset(found - {"__init__"})


@cache
def imports() -> frozenset[tuple[str, str, str]]:
    """Every import of a room by another: from where, to where, and the file that does it."""
    return frozenset(
        (room_of(file), target, file.relative_to(PACKAGE).as_posix())
        for file in PACKAGE.rglob("*.py")
        for target in targets(ast.parse(file.read_text()))
        if target != room_of(file)
    )


def room_of(file: Path) -> str:
    top = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return DOOR if top == "__init__" else top


def targets(tree: ast.Module) -> Iterator[str]:
    """The rooms that a module imports, at its top, inside functions and for types alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (room_named(one.name) for one in node.names if _ours(one.name))
        elif isinstance(node, ast.ImportFrom) and _ours(node.module or ""):
            whole = [f"{node.module}.{one.name}" for one in node.names]
            yield from map(room_named, whole)


def _ours(module: str) -> bool:
    return module.partition(".")[0] == "sayso"


def room_named(path: str) -> str:
    """The room of a dotted path; what is in none came through the front door."""
    top = f"{path}.".split(".")[1]
    return top if top in rooms() else DOOR


def test_every_room_is_drawn_and_every_drawn_room_is_there() -> None:
    drawn = [room for line in drawing() for room in line]

    assert sorted(drawn) == sorted(rooms())


def test_the_drawing_is_what_import_linter_checks() -> None:
    built = [{room for room in layer if not room.startswith("(")} for layer in layers()]

    assert [set(line) for line in drawing()] == built


def test_what_is_in_brackets_is_not_there_yet() -> None:
    waiting = {room.strip("()") for layer in layers() for room in layer if room.startswith("(")}

    assert waiting & rooms() == set()


def test_who_comes_by_the_front_door_stands_above_all_it_opens() -> None:
    floor = {room: number for number, line in enumerate(drawing()) for room in line}
    opened = min(floor[there] for here, there, _ in imports() if here == DOOR)
    assert len(imports()) > 100

    below = [
        f"{file} imports sayso"
        for here, there, file in sorted(imports())
        if there == DOOR and floor[here] >= opened
    ]

    assert below == []


def named_paths() -> list[tuple[str, Path | None]]:
    """Every path on the page, and where it is. A bare name is beside the path before it."""
    found: list[tuple[str, Path | None]] = []
    beside = PACKAGE
    for name in CODE.findall(PAGE):
        if " " in name or not ("/" in name.strip("/") or name.endswith((*ENDINGS, "/"))):
            continue
        bases = BASES if "/" in name else (*BASES, beside)
        place = next((base / name for base in bases if (base / name).exists()), None)
        if place is not None and "/" in name:
            beside = place.parent
        found.append((name, place))
    return found


def test_every_path_that_it_names_is_there() -> None:
    paths = named_paths()
    assert len(paths) > 100

    assert [name for name, place in paths if place is None] == []


@pytest.mark.parametrize(
    "pattern",
    [
        r"`(?P<path>[\w./]+\.\w+)` \(`(?P<name>[\w.]+)`\)",
        r"`(?P<name>[\w.]+)` in `(?P<path>[\w./]+\.\w+)`",
    ],
    ids=["`file` (`name`)", "`name` in `file`"],
)
def test_a_name_that_it_gives_with_a_file_is_in_that_file(pattern: str) -> None:
    where = dict(named_paths())
    given = [(found["path"], found["name"]) for found in re.finditer(pattern, PAGE)]
    assert len(given) > 3

    missing = [
        f"{name} in {path}"
        for path, name in given
        if (file := where.get(path)) is None
        or not all(re.search(rf"\b{part}\b", file.read_text()) for part in name.split("."))
    ]

    assert missing == []
