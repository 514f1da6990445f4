"""`sayso policy publish`, `diff`, `log`, `show`, `rollback`."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso import Desk
from tests.cli.conftest import Sayso

HIGH = '[tools]\nrefund = "high"\n'
LOW = '[tools]\nrefund = "low"\n'
NEW = "Version {} of the policy is in force for every program of this desk."


@pytest.fixture
def file(sayso: Sayso, tmp_path: Path) -> Path:
    file = tmp_path / "sayso.toml"
    file.write_text(HIGH)
    return file


def test_a_policy_is_put_in_force_after_what_it_changes_was_shown(
    sayso: Sayso, desk: Desk, file: Path
) -> None:
    desk.people.add("anna", roles=["senior"])

    done = sayso("policy", "publish", "--note", "first", "--yes")

    assert done.code == 0, done.err
    assert NEW.format(1) in done.out
    assert "+ the rule 'tools.refund'" in done.out
    assert "high  1 senior: anna" in done.out
    assert "1 security: nobody" in done.out
    assert desk.policies.show().note == "first"


def test_without_anybody_to_ask_nothing_is_put_in_force(
    sayso: Sayso, desk: Desk, file: Path
) -> None:
    done = sayso("policy", "publish")

    assert done.code == 1
    assert "Add --yes." in done.err
    assert desk.policies.log() == []


def test_an_administrator_does_it_where_there_is_one(sayso: Sayso, desk: Desk, file: Path) -> None:
    desk.people.add("anna", roles=["admin"])
    desk.people.add("ben")

    refused = sayso("policy", "publish", "--yes", "--as", "ben")
    assert (refused.code, refused.out) == (1, "")
    assert "ben is no administrator" in refused.err
    assert sayso("policy", "publish", "--yes", "--as", "anna").code == 0
    assert sayso("policy", "rollback", "0", "--yes", "--as", "ben").code == 1


def test_a_file_is_compared_with_what_is_in_force(sayso: Sayso, desk: Desk, file: Path) -> None:
    sayso("policy", "publish", "--yes")
    same = sayso("policy", "diff")
    file.write_text(LOW)
    other = sayso("policy", "diff", "--json")

    assert (same.code, "They say the same." in same.out) == (0, True)
    assert other.code == 1
    (change,) = other.json["changes"]
    assert change["sentence"].startswith("Changed: the rule 'tools.refund'. Before: For every call")


def test_versions_are_listed_printed_and_put_in_force_again(
    sayso: Sayso, desk: Desk, file: Path
) -> None:
    sayso("policy", "publish", "--yes")
    file.write_text(LOW)
    sayso("policy", "publish", "--yes", "--note", "milder")

    assert sayso("policy", "show").out == LOW
    assert sayso("policy", "show", "1").out == HIGH
    assert sayso("policy", "diff", "1", "2").code == 1
    assert NEW.format(3) in sayso("policy", "rollback", "1", "--yes").out
    listed = sayso("policy", "log", "--json").json
    assert [(one["version"], one["note"], one["restores"]) for one in listed] == [
        (3, None, 1),
        (2, "milder", None),
        (1, None, None),
    ]
    told = sayso("policy", "log", env={"COLUMNS": "160"}).out
    assert "version 3 of the policy is in force" in told
    first, second, third = told.splitlines()[-3:]
    assert ["version 1 again" in line for line in (first, second, third)] == [True, False, False]
    assert "milder" in second
    assert sayso("policy", "rollback", "9", "--yes").code == 1


def test_a_named_file_counts_for_a_command(
    sayso: Sayso, desk: Desk, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = file.with_name("other.toml")
    other.write_text(LOW)
    monkeypatch.setenv("SAYSO_POLICY", str(other))

    assert sayso("policy", "publish", "--yes").code == 0
    assert desk.policies.show().text == LOW


def test_the_doctor_says_that_a_file_is_not_in_force(sayso: Sayso, desk: Desk, file: Path) -> None:
    sayso("policy", "publish", "--yes")
    fine = [line for line in sayso("doctor").out.splitlines() if line.startswith("policy")]
    file.write_text(LOW)
    warned = sayso("doctor").out

    assert "version 1" in fine[0]
    assert "is not the policy in force" in warned
    assert "sayso policy publish" in " ".join(warned.split())
