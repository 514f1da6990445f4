"""The benchmarks run, and print what they measured. How fast it was is no test."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIGURES = [
    "import sayso by import pydantic",
    "SQLite: open + decide beside bare SQL",
    "PostgreSQL: open + decide beside bare SQL",
    "SQLite: first inbox page, large desk by small",
    "SQLite: first inbox page, large desk",
    "PostgreSQL: first inbox page, large desk by small",
    "PostgreSQL: first inbox page, large desk",
]


def run(*arguments: str) -> str:
    command = [sys.executable, str(ROOT / "benchmarks" / "store.py"), "--quick", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def printed() -> str:
    return run()


def figures(output: str) -> list[str]:
    """Return what the lines with a figure, its target and a word about it are about."""
    line = re.compile(r"(.+?) +\d+\.\d\d( ms)? +at (?:least|most) [\d.]+(?: ms)? +(?:met|missed)")
    return [found[1] for found in map(line.fullmatch, output.splitlines()) if found]


def test_every_figure_is_printed_beside_its_target(printed: str) -> None:
    assert figures(printed) == FIGURES


def test_the_store_shows_every_round_and_the_bytes_of_an_ask(printed: str) -> None:
    rounds = re.findall(r"round (\d): +\d+ asks/s, bare +\d+/s, ratio \d\.\d\d", printed)

    assert rounds == ["1", "2", "1", "2"]
    assert len(re.findall(r"[\d,]+ bytes on disk an ask", printed)) == 2


def test_the_large_inbox_counts_to_a_thousand_and_no_further(printed: str) -> None:
    assert printed.count("says 1,000+") == 2


def test_one_part_can_be_run_alone() -> None:
    assert figures(run("--only", "import")) == FIGURES[:1]
