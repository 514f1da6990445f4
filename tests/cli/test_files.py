"""`sayso inbox files`: listed with their sizes, and written out without harm."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk, File
from sayso.cli.files import safe_name
from tests.asks.test_files import PNG, SVG
from tests.cli.conftest import Sayso


def test_the_card_and_the_list_name_each_file_with_its_size(sayso: Sayso, desk: Desk) -> None:
    ask = desk.open("look", files=[File("Chart.png", PNG), File("Cover.png", SVG)])

    for done in (sayso("inbox", "show", ask.id), sayso("inbox", "files", ask.id)):
        assert f"1. Chart.png  image/png, {len(PNG)} bytes\n" in done.out
        assert f"2. Cover.png  application/octet-stream, {len(SVG)} bytes" in done.out
        assert "said to be image/png" in " ".join(done.out.split())


def test_files_are_written_out_and_nothing_is_overwritten(
    sayso: Sayso, desk: Desk, tmp_path: Path
) -> None:
    ask = desk.open("look", files=[File("a.png", PNG), File(".bashrc", b"rm -rf")])
    folder = tmp_path / "evidence"

    assert sayso("inbox", "files", ask.id, "--save", str(folder)).code == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "a.png": PNG,
        "_.bashrc": b"rm -rf",
    }
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600, 0o600]
    (folder / "a.png").write_bytes(b"mine")
    (folder / "_.bashrc").unlink()
    again = sayso("inbox", "files", ask.id, "--save", str(folder))
    assert again.code != 0
    assert "nothing was written" in again.err
    assert [path.read_bytes() for path in folder.iterdir()] == [b"mine"]


def test_two_files_that_would_have_one_name_are_both_written(
    sayso: Sayso, desk: Desk, tmp_path: Path
) -> None:
    names = (".a", "_.a", "2-_.a", "b")
    ask = desk.open("look", files=[File(name, name.encode()) for name in names])
    folder = tmp_path / "evidence"

    assert sayso("inbox", "files", ask.id, "--save", str(folder)).code == 0
    assert sorted(path.read_text() for path in folder.iterdir()) == sorted(names)
    assert (folder / "2-_.a").read_text() == "_.a"


def test_a_folder_that_takes_one_file_and_not_the_next_is_left_as_it_was(
    sayso: Sayso, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = desk.open("look", files=[File("a", b"a"), File("b", b"b")])
    folder = tmp_path / "evidence"
    really = os.open

    def full(path: Any, *given: Any, **named: Any) -> Any:
        if str(path).endswith("/evidence/b"):
            raise OSError(28, "No space left on device")
        return really(path, *given, **named)

    monkeypatch.setattr(os, "open", full)
    done = sayso("inbox", "files", ask.id, "--save", str(folder))

    assert done.code != 0
    assert "No space left" in done.err
    assert list(folder.iterdir()) == []


def test_a_link_that_waits_in_the_folder_is_not_followed(
    sayso: Sayso, desk: Desk, tmp_path: Path
) -> None:
    ask = desk.open("look", files=[File("a", b"x")])
    folder = tmp_path / "trap"
    folder.mkdir()
    (folder / "a").symlink_to(tmp_path / "elsewhere")

    assert sayso("inbox", "files", ask.id, "--save", str(folder)).code != 0
    assert not (tmp_path / "elsewhere").exists()


def test_scripts_get_json(sayso: Sayso, desk: Desk) -> None:
    ask = desk.open("look", files=[File("a.png", PNG)])

    said = json.loads(sayso("inbox", "files", ask.id, "--json").out)
    assert (said["files"][0]["name"], said["files"][0]["image"]) == ("a.png", True)
    shown = json.loads(sayso("inbox", "show", ask.id, "--json").out)
    assert shown["files"] == said["files"]


def test_an_ask_without_files_says_so(sayso: Sayso, desk: Desk) -> None:
    ask = desk.open("look")

    assert "no files" in sayso("inbox", "files", ask.id, "--save", "x").out
    assert not Path("x").exists()


@pytest.mark.parametrize("name", ["-rf", "~root", "...", "ü" * 200, "a." + "☂" * 198, "x" * 200])
def test_a_saved_name_fits_and_is_taken_for_nothing_else(name: str) -> None:
    safe = safe_name(name)

    assert 0 < len(safe.encode()) <= 200
    assert safe[0] not in ".-~"
    assert "/" not in safe
