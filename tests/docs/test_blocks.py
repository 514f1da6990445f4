"""Every block of code in the README and the docs runs, and prints what the page says."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sayso.testing import ScriptedReviewer, scripted
from tests.docs.pages import PAGES, Block, blocks, name_of, steady

RUNNING = [page for page in PAGES if any(block.runs or block.file for block in blocks(page))]


class Reader:
    """Somebody who types in a page from the top, in a folder of their own."""

    def __init__(self, folder: Path, module: ModuleType, reviewer: ScriptedReviewer) -> None:
        self.folder = folder
        self.module = module
        self.reviewer = reviewer
        self.printed = ""

    def read(self, block: Block) -> None:
        if block.language == "reviewer":
            exec(block.text, {"reviewer": self.reviewer})
        elif block.file:
            (self.folder / str(block.title)).write_text(block.text)
        elif block.runs:
            self.printed = self.run(block)
        elif block.prints:
            assert steady(self.printed) == steady(block.text), where(block)

    def run(self, block: Block) -> str:
        # Blank lines in front, so that a traceback names the line of the page.
        source = "\n" * block.line + block.text
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(source, str(block.page), "exec"), self.module.__dict__)
        return out.getvalue()


def where(block: Block) -> str:
    return f"{name_of(block.page)}:{block.line}"


@pytest.fixture
def reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Reader:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SAYSO_URL", raising=False)
    monkeypatch.setenv("LOGNAME", "anna")  # who sits at the machine, and so decides
    monkeypatch.setattr(sys, "argv", ["docs.py"])
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # where dataclasses look for their types
    return Reader(tmp_path, module, ScriptedReviewer())


@pytest.mark.parametrize("page", RUNNING, ids=name_of)
def test_every_block_of_a_page_runs_and_prints_what_the_page_says(
    page: Path, reader: Reader
) -> None:
    listed = list(blocks(page))
    asked = any(block.language == "reviewer" for block in listed)

    with scripted(reader.reviewer) if asked else contextlib.nullcontext():
        for block in listed:
            reader.read(block)


@pytest.mark.parametrize(
    "page",
    [page for page in RUNNING if any((b.title or "").startswith("test_") for b in blocks(page))],
    ids=name_of,
)
def test_every_test_file_shown_on_a_page_passes(page: Path, reader: Reader) -> None:
    for block in blocks(page):
        if block.file:
            reader.read(block)

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "."],
        cwd=reader.folder,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_what_a_page_prints_follows_a_block_that_runs() -> None:
    """A `prints` block that is compared with nothing would promise nothing."""
    lonely = []
    for page in RUNNING:
        before = None
        for block in blocks(page):
            if block.prints and (before is None or not before.runs):
                lonely.append(where(block))
            before = block

    assert lonely == []


def test_fragments_are_few() -> None:
    fragments = [
        where(block)
        for page in PAGES
        for block in blocks(page)
        if block.language == "py" and "--8<--" not in block.text
    ]

    assert len(fragments) <= 3, fragments
