"""The wheel works on its own: in a folder and an account with nothing in them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.demo import served
from tests.package.archives import Built
from tests.package.installed import Installed, bare, pip_to

PROGRAM = """\
import sayso

desk = sayso.Desk("sqlite:///desk.db")


@desk.gate(risk="low")
def refund(order: int, amount: float) -> str:
    return f"{amount} for {order}"


paid: str = refund(7, 12.5)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An account that was made just now."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def test_it_is_the_wheel_that_is_imported(installed: Installed, home: Path) -> None:
    asked = "import sayso, sys; print(sayso.__file__, sayso.Desk, sys.path)"
    done = installed.run(installed.python, "-c", asked, home=home)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{installed.packages}/sayso/__init__.py ")
    assert str(Path(sys.executable).parents[1] / "lib") not in done.stdout


def test_nothing_is_there_that_was_not_asked_for(installed: Installed, home: Path) -> None:
    assert "pydantic" in installed.with_it
    asked = (
        "from importlib.util import find_spec;"
        "print([name for name in ('pytest', 'psycopg', 'langgraph') if find_spec(name)])"
    )

    assert installed.run(installed.python, "-c", asked, home=home).stdout == "[]\n"


def test_the_story_in_the_terminal_ends_well(installed: Installed, home: Path) -> None:
    done = installed.run(installed.command, "demo", "--terminal", "--auto", home=home)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert list(home.iterdir()) == [], "it leaves nothing behind"


def test_the_company_opens_and_is_decided_on(
    installed: Installed, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "COMMAND", installed.command)
    for name in os.environ.keys() - bare(home).keys():
        monkeypatch.delenv(name)
    for name, value in bare(home).items():
        monkeypatch.setenv(name, value)

    with served.demo(home, "--no-open") as running:
        ask = running.asks()[0]
        page = running.client.get(f"/inbox/{ask['id']}")
        assert page.status_code == 200, page.text
        assert ask["id"] in page.text
        running.decide(ask, verdict="reject", note="Not now")
        assert ask["id"] not in {one["id"] for one in running.asks()}
        assert running.end() == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("", ""), ""),
        (("7, 12.5", '"seven", 12.5'), 'Argument 1 to "refund"'),
        (("paid: str", "paid: int"), "Incompatible types in assignment"),
    ],
    ids=["right", "wrong argument", "wrong result"],
)
def test_programs_of_users_are_checked_against_its_types(
    installed: Installed, home: Path, wrong: tuple[str, str], said: str
) -> None:
    program = home / "program.py"
    program.write_text(PROGRAM.replace(*wrong))

    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--python-executable", installed.python),
            *("--cache-dir", installed.venv / ".mypy_cache", program),
        ],
        cwd=home,
        env=bare(home),
        capture_output=True,
        text=True,
    )

    assert (done.returncode == 0) is (not said), done.stdout + done.stderr
    assert said in done.stdout


@pytest.mark.soak
@pytest.mark.parametrize("extra", ["", "[all]"])
def test_pip_finds_all_that_the_wheel_asks_for(
    built: Built, home: Path, tmp_path: Path, extra: str
) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    pip_to(venv, f"{built.wheel}{extra}")
    there = Installed(venv, frozenset())

    done = there.run(there.command, "demo", "--terminal", "--auto", home=home)

    assert done.returncode == 0, done.stdout + done.stderr
