"""`make mutants` on a small program: what no test notices is told, with its diff."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import mutants

FEW = """
def few(number):
    return number < 3


def many(number):
    return number > 30
"""
FEW_TEST = """
from sayso.toy.few import few


def test_two_are_few_and_three_are_not():
    assert few(2) is True
    assert few(3) is False
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with one module, of which one function has a test."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # seconds, with every plugin
    for file, text in {"src/sayso/toy/few.py": FEW, "tests/toy/test_few.py": FEW_TEST}.items():
        path = tmp_path / file
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (tmp_path / "src/sayso/__init__.py").touch()
    return tmp_path


def test_what_no_test_notices_is_told_with_its_diff(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mutants.main(toy, [], seed=1, count=99)

    told = capsys.readouterr().out
    assert "killed    toy/few.py:3 another comparison  tests/toy/test_few.py::test_two" in told
    assert "SURVIVED  toy/few.py:7 another comparison" in told
    assert "-    return number > 30\n+    return (number >= 30)\n" in told
    assert told.endswith("toy                3         3\n3 of 6 killed (seed 1)\n")
    assert (toy / "src/sayso/toy/few.py").read_text() == FEW, "it works on a copy"


def test_a_test_that_fails_anyway_kills_nothing(toy: Path) -> None:
    (toy / "tests/toy/test_few.py").write_text(FEW_TEST + "    assert few(4)\n")

    with pytest.raises(SystemExit, match=r"test_few.* fails without any mutant"):
        mutants.main(toy, ["toy"], seed=1, count=1)


def test_statements_are_changed_and_comments_are_not() -> None:
    text = (
        "-- name: last\n-- a and b\nselect max(é) from t where a <= 3 and b = :b order by a desc\n"
    )

    changed = {one.planted(text).splitlines()[2] for one in mutants.in_sql("store/sql/x.sql", text)}

    assert {one.planted(text).splitlines()[1] for one in mutants.in_sql("x", text)} == {
        "-- a and b"
    }
    assert changed == {
        "select max(é) from t where a < 3 and b = :b order by a desc",
        "select max(é) from t where a <= 3 or b = :b order by a desc",
        "select max(é) from t where a <= 3 and 1 = 1 order by a desc",
        "select max(é) from t where a <= 3 and b = :b order by a asc",
        "select min(é) from t where a <= 3 and b = :b order by a desc",
    }


def test_every_mutant_of_this_program_is_one_that_python_can_read() -> None:
    source = mutants.HOME / "src" / "sayso"
    for one in mutants.sample(source, ["model", "policy", "asks"], seed=5, count=200):
        compile(one.planted((source / one.file).read_text()), one.file, "exec")


def test_a_module_is_near_to_the_tests_that_name_it() -> None:
    near = mutants.nearest(mutants.HOME, "runs/journal.py")
    assert "tests/runs/test_pulse.py" in near
    assert mutants.nearest(mutants.HOME, "store/sql/epochs.sql") == ["tests/runs/test_restoring.py"]
