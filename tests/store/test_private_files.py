"""What a desk writes into files is for the account that runs it, and for nobody else on the machine."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk

ENDINGS = ("", "-wal", "-shm")


def rights(file: Path) -> int:
    return file.stat().st_mode & 0o777


@pytest.fixture(params=[0o000, 0o022, 0o077], ids="umask {:03o}".format)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """What the account takes away from new files by itself: nothing, writing, or all of others."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_a_desk_and_its_backup_are_their_owners_alone(tmp_path: Path, umask: int) -> None:
    file = tmp_path / "desk.db"

    with Desk(f"sqlite:///{file}") as desk:
        desk.open("refund", {"order": 7})

        assert [rights(Path(f"{file}{ending}")) for ending in ENDINGS] == [0o600] * 3

    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk:
        desk.open("refund", {"order": 7})
        desk.store.backup(tmp_path / "copy.db")

    assert rights(tmp_path / "copy.db") == 0o600


def test_there_is_no_moment_at_which_others_may_read_it(
    tmp_path: Path, umask: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, connect = tmp_path / "desk.db", sqlite3.connect
    found: list[int] = []

    def looking(*given: Any, **named: Any) -> Any:
        found.append(rights(file))
        return connect(*given, **named)

    monkeypatch.setattr(sqlite3, "connect", looking)
    with Desk(f"sqlite:///{file}") as desk:
        desk.open("refund", {"order": 7})

    assert set(found) == {0o600}


def test_a_link_to_a_file_that_is_not_there_yet_makes_it_private(
    tmp_path: Path, umask: int
) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "disk.db")

    with Desk(f"sqlite:///{tmp_path}/link.db") as desk:
        desk.open("refund", {"order": 7})

    assert rights(tmp_path / "disk.db") == 0o600


def test_rights_that_somebody_gave_stay(tmp_path: Path, umask: int) -> None:
    """Programs of several accounts may share a desk through a group."""
    file = tmp_path / "desk.db"
    file.touch()
    file.chmod(0o660)

    with Desk(f"sqlite:///{file}") as desk:
        desk.open("refund", {"order": 7})

        assert [rights(Path(f"{file}{ending}")) for ending in ENDINGS] == [0o660] * 3


def test_a_name_with_signs_of_an_address_is_a_file_of_that_name(tmp_path: Path) -> None:
    file = tmp_path / "a%20b#c é.db"

    with Desk(f"sqlite:///{file}") as desk:
        desk.open("refund", {"order": 7})

    assert [one.name for one in tmp_path.iterdir()] == [file.name]
