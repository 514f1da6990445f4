"""The second look of `make test`: for few, alone, and never in silence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools import again

UNSTEADY = """
from pathlib import Path
def test_it():
    seen = Path(__file__).with_suffix(".seen")
    if not seen.exists():
        seen.touch()
        assert False
"""
BROKEN = "def test_it():\n    assert False\n"
SOUND = "def test_it():\n    pass\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are none of the project's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # seconds, with every plugin


def run_part(folder: Path, part: str, *texts: str) -> None:
    """Run a part as the Makefile does."""
    files = [folder / f"test_{part}_{number}.py" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    cache = f"cache_dir={folder}/cache-{part}"
    came = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *map(str, files), "-o", cache],
        check=False,
        capture_output=True,
    )
    (folder / f"test-{part}.code").write_text(str(came.returncode))


def test_a_test_that_passes_alone_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_part(tmp_path, "one", UNSTEADY, SOUND)
    run_part(tmp_path, "two", SOUND)

    assert again.main(tmp_path, ["one", "two"]) == 0

    told = capfd.readouterr().out
    assert "1 passed" in told
    assert "UNSTEADY" in told
    assert told.rstrip().endswith("test_one_0.py::test_it")


def test_a_test_that_fails_twice_fails(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run_part(tmp_path, "one", UNSTEADY)
    run_part(tmp_path, "two", BROKEN)

    assert again.main(tmp_path, ["one", "two"]) == 1

    assert "UNSTEADY" not in capfd.readouterr().out


def test_many_failures_get_no_second_look(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_part(tmp_path, "one", *[UNSTEADY] * (again.MOST + 1))

    assert again.main(tmp_path, ["one"]) == 1

    assert f"{again.MOST + 1} tests failed" in capfd.readouterr().err


@pytest.mark.parametrize("code", ["", "2", "134"])
def test_a_part_that_broke_off_gets_no_second_look(tmp_path: Path, code: str) -> None:
    run_part(tmp_path, "one", UNSTEADY)
    (tmp_path / "test-two.code").write_text(code)

    assert again.main(tmp_path, ["one", "two"]) == 1


def test_what_failed_nowhere_is_no_success(tmp_path: Path) -> None:
    run_part(tmp_path, "one", SOUND)  # something else than a test has failed

    assert again.main(tmp_path, ["one"]) == 1
