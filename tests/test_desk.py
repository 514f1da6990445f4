"""The front door: how a desk is found, and how it shows itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sayso import Desk
from sayso.desk import find_url
from sayso.errors import BadValue


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_word_the_desk_is_a_file_in_this_folder(folder: Path) -> None:
    with Desk() as desk:
        assert desk.url == "sqlite:///sayso.db"
        assert list(folder.iterdir()) == []
        desk.open("refund", {"amount": 1})

    assert (folder / "sayso.db").exists()


@pytest.mark.parametrize("form", ["sqlite:///{}", "{}", "./{}"])
def test_the_environment_comes_before_the_settings_file_and_both_before_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    (folder / "sayso.toml").write_text("[other]\nx = 1\n")
    assert find_url() == "sqlite:///sayso.db"

    (folder / "sayso.toml").write_text(f'[desk]\nurl = "{form.format("other.db")}"\n')
    assert Desk().url == "sqlite:///other.db"

    monkeypatch.setenv("SAYSO_URL", form.format("third.db"))
    assert Desk().url == "sqlite:///third.db"
    assert Desk("sqlite:///fourth.db").url == "sqlite:///fourth.db"


@pytest.mark.parametrize(
    "given", ["x.db", "./x.db", Path("x.db"), Path("./x.db"), "y.sqlite", "y.SQLite3", "-x.db"]
)
def test_a_plain_path_is_the_desk_in_that_file(folder: Path, given: str | Path) -> None:
    name = Path(given).name
    with Desk(given) as desk:
        assert desk.url == f"sqlite:///{name}"
        desk.open("refund", {"amount": 1})

    assert (folder / name).exists()
    with Desk(f"sqlite:///{name}") as same, Desk(folder / name) as absolute:
        assert same.inbox().count == absolute.inbox().count == 1
        assert absolute.url == f"sqlite:///{folder / name}"


@pytest.mark.parametrize(
    "given",
    [
        *(
            "mysql://x",
            "mysql://x/y.db",
            "postgres//host",
            "postgres//host/x.db",
            "postgresql:x.db",
        ),
        *("sqlite:x.db", "sqlite:/x.db", "localhost", "desk", "x.db?timeout=1", "x.txt", ".db", ""),
        *("sqlite://x.db", "x\0.db", "sqlite:///x\0.db", Path("desk"), Path("postgresql://h/x.db")),
    ],
)
def test_an_address_that_is_mistyped_makes_no_file(folder: Path, given: str | Path) -> None:
    with pytest.raises(BadValue) as refused:
        Desk(given)

    assert str(refused.value).endswith(
        "Use sqlite:///sayso.db or postgresql://user@host/name. "
        "A plain path ends in .db, .sqlite or .sqlite3."
    )
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "given",
    ["postgres//anna:hunter2@host/x", "anna:hunter2@host/x", "postgres:/anna:hunter2@host/x.db"],
)
def test_a_mistyped_address_keeps_its_password_out_of_the_message(folder: Path, given: str) -> None:
    with pytest.raises(BadValue, match="Unrecognised database URL") as refused:
        Desk(given)

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("given", [5, b"x.db", ["x.db"], object()])
def test_an_address_that_is_no_text_is_refused(folder: Path, given: object) -> None:
    with pytest.raises(BadValue, match="a text or a path"):
        Desk(given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["[desk\n", "[desk]\nurl = 5\n", 'desk = "x"\n', "[desk]\nurl = []\n"]
)
def test_a_settings_file_that_cannot_be_read_is_named(folder: Path, text: str) -> None:
    (folder / "sayso.toml").write_text(text)

    with pytest.raises(BadValue, match=r"sayso\.toml"):
        Desk()


def test_a_desk_prints_nothing(folder: Path) -> None:
    program = (
        "import sayso\n"
        "with sayso.Desk(account='sam@till') as desk:\n"
        "    ask = desk.approve(desk.open('refund', {'amount': 1}))\n"
        "    desk.finish(desk.begin(ask), 'ok')\n"
        "    desk.on('*', lambda event: None)\n"
        "    desk.wait(ask)\n"
        "    assert desk.verify(seal=desk.seal())\n"
    )

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_program_that_forgets_to_close_ends_all_the_same(folder: Path) -> None:
    program = (
        "import sayso, threading\n"
        "desk = sayso.Desk(account='sam@till')\n"
        "desk.on('*', lambda event: None)\n"
        "ask = desk.open('refund', {'amount': 1})\n"
        "threading.Thread(target=desk.wait, args=(ask,), daemon=True).start()\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_a_desk_says_which_it_is(tmp_path: Path) -> None:
    assert repr(Desk(f"sqlite:///{tmp_path}/desk.db")) == f"Desk('sqlite:///{tmp_path}/desk.db')"
