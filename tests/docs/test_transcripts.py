"""What the pages show of a terminal is what a terminal shows, and every command exists."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
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
    DOCS / "howto/teams.md",
    DOCS / "explanation/seals-and-erasure.md",
]
# Whose transcripts nobody types, and why. Their commands and options must exist all the same.
NOT_PLAYED = {
    DOCS / "howto/inbox.md": "a server goes on until Ctrl-C; tests/cli/test_serve.py starts it",
    DOCS / "howto/service.md": "servers, of other machines and of providers that are not here",
    DOCS / "howto/models.md": "installs from the network, and needs a key",
    DOCS / "howto/postgresql.md": "installs from the network, and names a server that is not here",
}
# Blocks for a shell, which are not typed: an environment of one's own, or minutes at a prompt.
SHELL = ("sh", "bash")
RUN_ELSEWHERE = {DOCS / "reference/http.md": "tests/web/test_page.py"}


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


def test_every_transcript_is_typed_or_says_why_not() -> None:
    with_one = {page for page in PAGES if any(b.language == "console" for b in blocks(page))}
    assert with_one == {*PLAYED, *NOT_PLAYED}
    assert not set(PLAYED) & set(NOT_PLAYED)


def shown_on(page: Path, languages: Sequence[str]) -> Iterator[str]:
    """Every line that a page shows to be typed, in blocks of these languages."""
    for block in blocks(page):
        if block.language not in languages:
            continue
        if block.language == "console":
            yield from (line.command for line in lines(block))
        else:
            yield from block.text.splitlines()


def parts(line: str) -> Iterator[list[str]]:
    """The commands of a line, each as its words, without comments and redirections."""
    words: list[str] = []
    for word in shlex.split(re.sub(r" [<>] *\S+", "", line), comments=True):
        if word != "&&":
            words.append(word)
            continue
        yield words
        words = []
    yield words


def commands(languages: Sequence[str], *without: Path) -> list[tuple[Path, list[str]]]:
    """Every command of such blocks, with the page that shows it."""
    return [
        (page, words)
        for page in PAGES
        if page not in without
        for line in shown_on(page, languages)
        for words in parts(line)
        if words
    ]


IN_SHELLS = commands(SHELL, *RUN_ELSEWHERE)
OURS = [one for one in (*commands(["console"]), *IN_SHELLS) if one[1][0] == "sayso"]
OTHERS = [one for one in (*commands(["console"], *PLAYED), *IN_SHELLS) if one[1][0] != "sayso"]


@pytest.mark.parametrize(("page", "words"), OURS)
def test_every_command_shown_is_one_that_exists(page: Path, words: list[str]) -> None:
    words = words[1:]
    command: click.Command = front
    context = click.Context(front)
    while isinstance(command, click.Group) and words:
        name, *words = words
        found = command.get_command(context, name)
        assert found is not None, f"{name_of(page)}: no command {name}"
        command = found
        context = click.Context(command, parent=context)

    command.parse_args(context, list(words))  # raises UsageError for an unknown option


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TARGETS = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)


def complaint(page: Path, words: list[str]) -> str | None:
    """What is wrong with a command that is not ours; None if it could be typed here."""
    match words:
        case ["make", *targets]:
            wrong = next((f"no target {one}" for one in targets if one not in TARGETS), None)
        case ["pip", "install", wanted]:
            wrong = _not_installed(wanted)
        case ["python", script, *options]:
            wrong = _not_run(page, script, options)
        case ["python3", "-m", module, _]:
            wrong = None if find_spec(module) else f"no module {module}"
        case ["export", setting]:
            name = setting.partition("=")[0]
            known = f"`{name}`" in (DOCS / "reference/settings.md").read_text()
            wrong = None if known else f"nobody reads {name}"
        case ["mkdir" | "cd", _] | [".", "~/sayso-env/bin/activate"]:
            wrong = None
        case _:
            wrong = "nobody looks whether it is true"
    return wrong


def _not_installed(wanted: str) -> str | None:
    found = re.fullmatch(r"(?:\.|sayso)(?:\[(\w+)\])?", wanted)
    if found is None:
        return f"{wanted} is not ours"
    missing = found[1] and found[1] not in PROJECT["optional-dependencies"]
    return f"no extra {found[1]}" if missing else None


def _not_run(page: Path, script: str, options: list[str]) -> str | None:
    """Scripts are files of the page, or ours; of ours the options are looked for in the source."""
    if any(block.title == script for block in blocks(page)):
        return None
    place = ROOT / script.removeprefix("../")  # from a folder that was made here
    source = place / "__main__.py" if place.is_dir() else place
    if not source.is_file():
        return f"no file {script}"
    text = source.read_text()
    return next((f"no option {one}" for one in options if f'"{one}"' not in text), None)


@pytest.mark.parametrize(("page", "words"), OTHERS)
def test_every_other_command_shown_could_be_typed_here(page: Path, words: list[str]) -> None:
    assert complaint(page, words) is None


@pytest.mark.parametrize(
    "words",
    [
        ["make", "coffee"],
        ["pip", "install", ".[coffee]"],
        ["pip", "install", "coffee"],
        ["python", "../examples/00_coffee.py"],
        ["python", "../examples/28_email_assistant", "--coffee"],
        ["python3", "-m", "coffee", "x"],
        ["export", "COFFEE=1"],
        ["coffee"],
    ],
)
def test_a_command_that_could_not_be_typed_would_be_seen(words: list[str]) -> None:
    assert complaint(ROOT / "README.md", words) is not None


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
