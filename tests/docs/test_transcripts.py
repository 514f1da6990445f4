"""What the pages show of a terminal is what a terminal shows, and every command is in the reference."""

from __future__ import annotations

import os
import re
import socket
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import click
import psycopg
import pytest

from sayso.cli.front import front
from tests.certificates import certified
from tests.docs.pages import DOCS, PAGES, ROOT, Block, blocks, name_of
from tests.docs.reader import Reader
from tests.docs.typist import TYPED, Typist, lines
from tests.providers import Call, Chat, Said, serving

PLAYED = [page for page in PAGES if any(block.language in TYPED for block in blocks(page))]
# What nobody types here, and why.
_COPIED = "tests/runs/test_restoring.py does so with the tools of the server that is tested on"
NOT_TYPED = {
    "make test": "it is what reads these pages, and would read them for ever",
    'pg_dump --format=custom --file=monday.dump "$SAYSO_URL"': _COPIED,
    "createdb oversight_restored": _COPIED,
    "pg_restore --dbname=postgresql://sayso@db.internal/oversight_restored monday.dump": _COPIED,
    "sayso db restored --desk postgresql://sayso@db.internal/oversight_restored": _COPIED,
}
ELSEWHERE = {DOCS / "reference/http.md": ROOT / "tests/web/test_page.py"}  # with tokens of a server
# What a reader has in a checkout.
CHECKOUT = ("Makefile", "pyproject.toml", "README.md", "LICENSE", "requirements", "src", "examples")


@pytest.fixture
def typist(reader: Reader) -> Iterator[Typist]:
    """The reader again, at a terminal in the same folder: a checkout, in which all is installed.

    Nothing is fetched: pip finds what it is asked for beside itself, or says that it does not.
    """
    for name in CHECKOUT:
        (reader.folder / name).symlink_to(ROOT / name)
    (reader.folder / ".venv").mkdir()
    (reader.folder / ".venv/bin").symlink_to(Path(sys.prefix) / "bin")
    for made in (".made", ".run-installed", ".dev-installed"):
        (reader.folder / ".venv" / made).touch()
    installing = {"NO_INDEX": "1", "NO_BUILD_ISOLATION": "0", "QUIET": "1", "DRY_RUN": "1"}
    env = {
        **os.environ,
        **{f"PIP_{name}": value for name, value in installing.items()},
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "VIRTUAL_ENV_DISABLE_PROMPT": "1",
        "HOME": str(reader.folder / "home"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "SAYSO_PORT": str(free_port()),
        "DEMO": "--port 0",
    }
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DISPLAY", "WAYLAND_DISPLAY"):
        env.pop(name, None)
    (reader.folder / "home").mkdir()
    typist = Typist(reader.folder, env)
    yield typist
    typist.close()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture
def oversight(cluster: str) -> str:
    """A database with nothing in it."""
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("create database oversight")
    return cluster.replace("/postgres?", "/oversight?").replace(":@", "@")


@pytest.fixture
def around(request: pytest.FixtureRequest, page: Path, typist: Typist) -> Iterator[None]:
    """What stands in for what a page names and this machine has not."""
    with ExitStack() as stack:
        match page.stem:
            case "quickstart":  # makes an environment of its own: what ours has is seen there too
                del typist.env["PIP_DRY_RUN"]
                typist.env["PYTHONPATH"] = sysconfig.get_path("purelib")
            case "models":
                provider = stack.enter_context(serving(Chat()))
                provider.will(Said(calls=(Call("c1", "look_up", {"order": 7}),)), "It is paid.")
                typist.env["OPENAI_BASE_URL"] = provider.url
            case "postgresql":
                url = request.getfixturevalue("oversight")
                typist.standing["postgresql://sayso@db.internal/oversight"] = url
            case "remote":
                named = "http://127.0.0.1:8700"
                typist.standing[named] = f"http://127.0.0.1:{typist.env['SAYSO_PORT']}"
            case "service":
                certified(typist.folder)
                typist.standing["10.0.0.7"] = "127.0.0.2"
            case _:
                pass
        yield


@pytest.mark.parametrize("page", [one for one in PLAYED if one not in ELSEWHERE], ids=name_of)
@pytest.mark.usefixtures("around")
def test_a_page_is_what_a_terminal_shows(page: Path, reader: Reader, typist: Typist) -> None:
    for block in blocks(page):
        if block.language not in TYPED:
            reader.read(block)
            continue
        for line in lines(block):
            if without_comment(line.command) not in NOT_TYPED:
                typist.follow(line)
    typist.leave()


def without_comment(command: str) -> str:
    return command.partition(" #")[0].strip()


def test_what_nobody_types_is_still_on_a_page() -> None:
    shown = {
        without_comment(line.command)
        for page in PLAYED
        for block in blocks(page)
        if block.language in TYPED
        for line in lines(block)
    }
    assert set(NOT_TYPED) <= shown
    for page, test in ELSEWHERE.items():
        assert page in PLAYED
        assert f'"{page.relative_to(DOCS)}"' in test.read_text()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("console", "$ echo tea\ncoffee\n"),
        ("console", "$ echo tea\n...\ncoffee\n"),
        ("console", "$ sayso make coffee\n"),
        ("sh", "make coffee\n"),
        ("sh", "pip install '.[coffee]'\n"),
        ("sh", "pip install coffee\n"),
        ("sh", "python examples/00_coffee.py\n"),
    ],
)
def test_what_is_not_so_would_be_seen(typist: Typist, language: str, text: str) -> None:
    (line,) = lines(Block(ROOT / "README.md", 1, language, None, text))
    with pytest.raises(AssertionError):
        typist.follow(line)


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
