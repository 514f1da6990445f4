"""What the pages show of a terminal is what a terminal shows, and every command exists."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from sayso.cli.front import front
from tests.docs.pages import DOCS, PAGES, ROOT, blocks, name_of
from tests.docs.reader import Reader
from tests.docs.typist import Typist, lines

PLAYED = [
    ROOT / "README.md",
    DOCS / "quickstart.md",
    DOCS / "tutorial.md",
    DOCS / "howto/deciding.md",
    DOCS / "howto/langgraph.md",
    DOCS / "howto/policy.md",
    DOCS / "howto/tokens.md",
    DOCS / "howto/two-terminals.md",
    DOCS / "howto/workers.md",
    DOCS / "howto/run-an-agent-in-the-terminal.md",
]


@pytest.fixture
def typist(reader: Reader) -> Iterator[Typist]:
    """The reader again, at a terminal in the same folder."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    typist = Typist(reader.folder, {**os.environ, "PATH": path, "TERM": "dumb", "NO_COLOR": "1"})
    yield typist
    typist.close()


@pytest.mark.parametrize("page", PLAYED, ids=name_of)
def test_a_transcript_is_what_a_terminal_shows(page: Path, reader: Reader, typist: Typist) -> None:
    for block in blocks(page):
        if block.language != "console":
            reader.read(block)
            continue
        for line in lines(block):
            typist.follow(line)


def commands() -> list[tuple[str, str]]:
    """Every `sayso` command shown anywhere, with the page that shows it."""
    return [
        (name_of(page), line.command)
        for page in PAGES
        for block in blocks(page)
        if block.language == "console"
        for line in lines(block)
        if line.command.startswith("sayso ")
    ]


@pytest.mark.parametrize(("page", "shown"), commands())
def test_every_command_shown_is_one_that_exists(page: str, shown: str) -> None:
    words = shlex.split(shown, comments=True)[1:]
    command: click.Command = front
    context = click.Context(front)
    while isinstance(command, click.Group) and words:
        name, *words = words
        found = command.get_command(context, name)
        assert found is not None, f"{page}: no command {name}"
        command = found
        context = click.Context(command, parent=context)

    command.parse_args(context, list(words))  # raises UsageError for an unknown option


def tree(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            child = command.get_command(click.Context(command), name)
            assert child is not None
            yield from tree(child, f"{path} {name}")


@pytest.mark.parametrize(
    ("path", "command"), [pytest.param(*found, id=found[0]) for found in tree(front, "sayso")]
)
def test_every_command_and_option_is_in_the_reference(path: str, command: click.Command) -> None:
    text = (DOCS / "reference/command-line.md").read_text()
    found = re.search(rf"^##+ `{path}`$(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no heading for {path}"
    if isinstance(command, click.Group):
        return
    everywhere = {"--desk", "--json", "--help"}
    options = {max(p.opts, key=len) for p in command.params if isinstance(p, click.Option)}
    section = found[1]
    if "`deciding options`" in section:
        options -= {"--seen", "--as", "--hold", "--go", "--wait", "--timeout"}

    assert {option for option in options - everywhere if f"`{option}" not in section} == set()
