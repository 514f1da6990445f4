"""Every block of code in the README and the docs runs, and prints what the page says."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from sayso.testing import scripted
from tests.docs.pages import PAGES, blocks, name_of
from tests.docs.reader import Reader, where

RUNNING = [page for page in PAGES if any(block.runs or block.file for block in blocks(page))]


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
        [
            *(sys.executable, "-m", "pytest", "-q", "--rootdir=.", ".", "-p", "no:cacheprovider"),
            *("-p", "no:schemathesis", "-p", "no:langsmith_plugin"),  # which take seconds to load
        ],
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
        if block.language == "py" and not (block.title or "").startswith("examples/")
    ]

    assert len(fragments) <= 3, fragments
