"""`sayso doctor`."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk
from sayso.store.contract import Lease
from sayso.testing import FakeClock
from tests.cli.conftest import Sayso
from tests.places import Place


def checks(sayso: Sayso, *args: str) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in sayso("doctor", "--json", *args).json["checks"]}


def test_a_well_desk_has_nothing_but_oks(sayso: Sayso, desk: Desk) -> None:
    desk.open("pay")

    done = sayso("doctor")

    assert done.code == 0
    assert "./sayso.db (address from: default)" in done.out
    assert "warn" not in done.out
    assert "fail" not in done.out
    found = checks(sayso)
    assert (found["journal_mode"]["text"], found["synchronous"]["text"]) == ("wal", "full")
    assert found["open asks"]["text"] == "1"
    assert "solo mode" in found["people"]["text"]
    assert "Python" in found["versions"]["text"]
    assert found["writable"]["text"] == "yes"


@pytest.mark.parametrize(
    ("mode", "level", "said"),
    [
        (0o640, "warn", "may read sayso.db (mode 640)"),
        (0o604, "warn", "may read sayso.db (mode 604)"),
        (0o660, "fail", "may write to sayso.db (mode 660)"),
        (0o602, "fail", "may write to sayso.db (mode 602)"),
    ],
)
def test_a_file_that_others_may_open_is_said_with_the_command_that_mends_it(
    sayso: Sayso, desk: Desk, here: Path, mode: int, level: str, said: str
) -> None:
    desk.open("pay")
    assert checks(sayso)["permissions"]["text"] == "only its owner may open it"
    (here / "sayso.db").chmod(mode)

    found = checks(sayso)["permissions"]

    assert found["level"] == level
    assert f"other accounts {said}. Run: chmod go= ./sayso.db*" in found["text"]


def test_the_files_beside_a_desk_are_looked_at_too(sayso: Sayso, desk: Desk, here: Path) -> None:
    desk.open("pay")
    (here / "sayso.db-wal").chmod(0o644)

    found = checks(sayso)["permissions"]

    assert (found["level"], "sayso.db-wal (mode 644)" in found["text"]) == ("warn", True)
    assert "sayso.db (" not in found["text"]


def test_where_the_address_came_from_is_said(sayso: Sayso, here: Path) -> None:
    (here / "sayso.toml").write_text('[desk]\nurl = "sqlite:///settings.db"\n')

    assert checks(sayso)["desk"]["text"] == "./settings.db (address from: sayso.toml)"
    named = checks(sayso, "--desk", "other.db")
    assert named["desk"]["text"] == "./other.db (address from: --desk)"
    assert named["file"]["level"] == "warn"
    assert sorted(file.name for file in here.iterdir()) == ["sayso.toml"]


def test_what_is_stuck_is_named_and_nothing_is_swept(sayso: Sayso) -> None:
    past = FakeClock(datetime(2020, 1, 1, tzinfo=UTC))
    with Desk("sqlite:///sayso.db", clock=past) as desk:
        overdue = desk.open("pay", within="1h")
        silent = desk.open("pay")
        desk.approve(silent)
        desk.begin(silent, limit="1m")
        undecidable = desk.open("pay", needs=["1 senior", "1 security"])
        lapsed = Lease("somebody", timedelta(seconds=30))
        gone = desk.put(desk.forms.action("pay", {}), lease=lapsed)
        desk.people.add("anna", ["senior"])

        found = checks(sayso)

        for name, level, ask in (
            ("overdue", "warn", overdue),
            ("silent", "warn", silent),
            ("undecidable", "fail", undecidable),
            ("gone", "warn", gone),
        ):
            assert found[name]["level"] == level
            assert found[name]["asks"] == [ask.id]
        assert "anna (senior)" in found["people"]["text"]
        assert sayso("doctor").code == 1
        assert desk.get(overdue.id).open


def test_a_policy_that_cannot_be_used_fails_and_says_what_follows(
    sayso: Sayso, desk: Desk, here: Path
) -> None:
    desk.open("pay")
    assert checks(sayso)["policy"] == {
        "level": "ok",
        "name": "policy",
        "text": "default.toml",
        "asks": [],
    }
    (here / "sayso.toml").write_text("[[rules]]\nname = 3\n")

    found = checks(sayso)["policy"]

    assert found["level"] == "fail"
    assert found["text"].startswith("none can be used, so every ask is refused until it is mended.")
    assert "sayso.toml:2" in found["text"]
    assert sayso("doctor").code == 1


def test_a_desk_that_cannot_be_written_fails(sayso: Sayso, desk: Desk) -> None:
    desk.open("pay")
    other = sqlite3.connect("sayso.db", isolation_level=None)
    try:
        other.execute("begin immediate")
        done = sayso("doctor", "--desk", "sqlite:///sayso.db?timeout=0.1")
    finally:
        other.close()

    assert done.code == 1
    assert "locked" in done.out


@pytest.mark.parametrize(
    ("desk", "word"),
    [
        ("ftp://nowhere", "Unrecognised database URL"),
        ("postgres//host", "Unrecognised database URL"),
        ("postgresql://anna:hunter2@localhost:1/x", "not reachable"),
    ],
)
def test_a_desk_that_cannot_be_reached_fails(sayso: Sayso, desk: str, word: str) -> None:
    done = sayso("doctor", "--desk", desk)

    assert done.code == 1
    assert word in " ".join(done.out.split())
    assert "hunter2" not in done.out


def test_a_file_that_is_no_database_fails(sayso: Sayso, here: Path) -> None:
    (here / "sayso.db").write_bytes(b"nonsense" * 1000)

    done = sayso("doctor")

    assert done.code == 1
    assert "not a SQLite database" in " ".join(done.out.split())


def test_a_server_that_does_not_sync_is_not_trusted_with_decisions(
    sayso: Sayso, postgres: Place
) -> None:
    found = checks(sayso, "--desk", postgres.url)

    assert found["fsync"]["level"] == "fail"  # the cluster of these tests is set so
    assert found["synchronous_commit"]["level"] == "ok"
    assert "server_version" in found
