"""Every example runs by itself, without a terminal, and prints what its page says."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, blocks, steady

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def shown() -> dict[str, str]:
    """What the page of examples says each of them prints."""
    said = {}
    listed = list(blocks(DOCS / "examples.md"))
    for block, following in pairwise(listed):
        if block.title and block.title.startswith("examples/"):
            assert following.prints, block.title
            said[Path(block.title).name] = following.text
    return said


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_prints_what_its_page_says(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", example],
        cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if k != "SAYSO_URL"} | {"LOGNAME": "anna"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert steady(done.stdout) == steady(shown()[example.name])
    assert list(tmp_path.iterdir()) == [], "an example leaves nothing behind"


def test_every_example_has_its_place_on_the_page() -> None:
    assert sorted(shown()) == [example.name for example in EXAMPLES]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_is_short_enough_to_read(example: Path) -> None:
    assert len(example.read_text().splitlines()) < 60
