"""Every command explains itself, and loading the library pays for none of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import sayso as package
from sayso.cli.front import front
from tests import forked
from tests.cli.conftest import COMMAND, Sayso


def commands(group: click.Group, *path: str) -> Iterator[tuple[str, ...]]:
    yield path
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield (*path, name)


@pytest.mark.parametrize("path", list(commands(front)), ids=" ".join)
def test_every_command_has_help_with_an_example_of_itself(
    sayso: Sayso, path: tuple[str, ...]
) -> None:
    done = sayso(*path, "--help")

    assert done.code == 0
    examples = done.out[done.out.index("Example") :]
    assert f"  {' '.join(('sayso', *path))}" in examples
    assert max(map(len, done.out.splitlines())) <= 80


def test_the_installed_command_starts(sayso: Sayso, here: Path) -> None:
    alone = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True)
    module = forked.run([sys.executable, "-m", "sayso", "--version"], cwd=here, env=os.environ)

    assert package.__version__ in alone.stdout
    assert alone.stdout == module.stdout == sayso("--version").out
    assert sayso("inbox", "show", "-h").out == sayso("inbox", "show", "--help").out


@pytest.mark.parametrize(
    "command",
    ["inbox", "people list", "tokens list", "runs list", "audit verify", "db migrate", "doctor"],
)
def test_a_command_for_the_database_says_so_of_a_server(sayso: Sayso, command: str) -> None:
    done = sayso(*command.split(), "--desk", "https://desk.example.org")

    assert done.code != 0
    said = " ".join(f"{done.out} {done.err}".split())
    assert "https://desk.example.org is a server" in said
    assert "name the database: --desk URL" in said
