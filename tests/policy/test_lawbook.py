"""The policy in force: from a file, changed, broken, gone."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from sayso.asks.own_policy import FILE, OwnPolicy, default_policy, read_policy, speaks_of_policy
from sayso.errors import BadPolicy
from sayso.policy.rules import Policy, Rule

HIGH = '[tools]\nrefund = "high"\n'
LOW = '[tools]\nrefund = "low"\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / FILE


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING, "sayso.policy")
    return caplog


def eager(given: Policy | str | Path | None = None) -> OwnPolicy:
    """What a program brings, where it does not wait for its file to stand still."""
    return OwnPolicy(given, settle=0, try_again=0)


def tier(book: OwnPolicy) -> str | None:
    return book.policy.rules[-1].tier


# --- which policy ---


def test_the_policy_is_that_of_the_folder_or_the_default(file: Path) -> None:
    assert eager().policy is default_policy()

    book = eager()
    assert book.policy is default_policy()

    file.write_text(HIGH)

    assert tier(book) == "high"

    file.write_text(HIGH)

    assert tier(eager()) == "high"
    assert str(file) in eager().policy.source


def test_a_file_that_only_says_where_the_desk_is_has_no_policy(file: Path) -> None:
    file.write_text('[desk]\nurl = "sqlite:///x.db"\n')

    assert not speaks_of_policy(file)
    assert eager().policy is default_policy()


@pytest.mark.parametrize("text", ["[rulez]\n", "[tools\n", "default = false\n"])
def test_a_file_that_says_anything_else_is_read(file: Path, text: str) -> None:
    """A misspelt section must not pass for no policy."""
    file.write_text(text)

    assert speaks_of_policy(file)


def test_a_policy_of_ones_own_is_taken_as_it_is(file: Path) -> None:
    own = Policy(name="mine", rules=(Rule(name="mine", effect="deny"),))
    file.write_text(HIGH)

    found = eager(own).policy
    assert (found.rules, found.name) == (own.rules, "mine")
    assert found.version


def test_a_program_that_goes_elsewhere_keeps_its_policy(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(HIGH)
    book, named = eager(), eager(FILE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert (tier(book), tier(named)) == ("high", "high")


# --- broken from the beginning ---


def test_what_cannot_be_read_is_an_error_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(BadPolicy, match="cannot be read: No such file") as error:
        _ = eager(tmp_path / "absent.toml").policy

    assert error.value.file == str(tmp_path / "absent.toml")

    path = tmp_path / "p.toml"
    path.write_bytes(b"# \xc3\xa9\n# na\xefve\n")

    with pytest.raises(BadPolicy, match=r"p\.toml:2:5: .*UTF-8"):
        read_policy(path)

    with pytest.raises(BadPolicy, match="cannot be read"):
        read_policy(tmp_path)


def test_a_file_that_is_broken_is_an_error_every_time(file: Path) -> None:
    file.write_text("[rulez]\n")
    book = eager()

    for _ in range(2):
        with pytest.raises(BadPolicy, match=rf"{FILE}:1:1: .* Did you mean rules"):
            _ = book.policy
    file.write_text(HIGH)
    assert tier(book) == "high"


# --- changed while it is in force ---


def test_a_change_is_taken_over_for_the_next_ruling_e54(file: Path) -> None:
    file.write_text(HIGH)
    book = OwnPolicy()
    assert tier(book) == "high"

    file.write_text(LOW)

    assert tier(book) == "low"


def test_a_file_that_was_put_in_the_place_of_another_is_in_force_at_once_e54(
    file: Path, tmp_path: Path
) -> None:
    file.write_text(HIGH)
    book = eager()
    assert tier(book) == "high"

    stat, other = file.stat(), tmp_path / "new.toml"
    other.write_text(LOW.replace('"low"', '"low" '))  # of the same size
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    other.replace(file)

    assert tier(book) == "low"


class Writer(OwnPolicy):
    """A file beside which somebody writes: each look at the file finds the next content."""

    def __init__(self, file: Path, *, writes: list[str]) -> None:
        super().__init__(file, settle=0)
        self.file, self.writes = file, writes

    def _still(self, path: Path, state: tuple[int, int, int, int] | None) -> bool:
        if self.writes:
            self.file.write_text(self.writes.pop(0))
        return super()._still(path, state)


def test_a_file_that_is_being_written_is_not_taken_over(file: Path) -> None:
    """Half a policy may be a weaker one: it is waited for until it stays as it is."""
    file.write_text(HIGH)
    book = Writer(file, writes=["# the new one\n[tools]\n", '# the new one\n[tools]\nrefund = "lo'])
    book.writes.append(LOW)
    assert tier(book) == "high"

    file.write_text("")

    assert tier(book) == "low"
    assert book.writes == []


def test_half_a_file_that_stays_changes_nothing(file: Path) -> None:
    file.write_text(HIGH)
    book = eager()
    assert tier(book) == "high"

    for text in ("", "# the new one\n", LOW[:-4]):
        file.write_text(text)
        assert [tier(book), tier(book)] == ["high", "high"]
    file.write_text(LOW)
    assert tier(book) == "low"


def test_a_file_that_never_stands_still_changes_nothing_yet(file: Path) -> None:
    file.write_text(HIGH)
    book = Writer(file, writes=[LOW + "#" * count + "\n" for count in range(30)])
    assert tier(book) == "high"
    file.write_text(LOW)

    assert tier(book) == "high"
    assert book.policy.rules[-1].tier == "low", "the writer is through by now"


def test_a_change_that_leaves_the_time_of_the_file_alone_is_seen(file: Path) -> None:
    file.write_text(HIGH)
    book, stat = eager(), file.stat()
    assert tier(book) == "high"

    file.write_text(LOW)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert [tier(book), tier(book)] == ["low", "low"]


def test_a_policy_that_breaks_changes_nothing_and_says_so_once(
    file: Path, log: pytest.LogCaptureFixture
) -> None:
    file.write_text(HIGH)
    book = eager()
    before = book.policy

    file.write_text('[tools]\nrefund = "hihg"\n')

    assert [book.policy for _ in range(5)] == [before] * 5
    (record,) = log.records
    assert record.levelno == logging.ERROR
    assert "the one before stays" in record.getMessage()
    assert f"{FILE}:2:10: There is no tier 'hihg'" in record.getMessage()
    file.write_text(LOW)
    assert [tier(book), tier(book)] == ["low", "low"]


@pytest.mark.parametrize("named", [True, False])
def test_a_policy_that_is_gone_stays_in_force_and_says_so_once(
    file: Path, log: pytest.LogCaptureFixture, named: bool
) -> None:
    file.write_text(HIGH)
    book = eager(file if named else None)
    before = book.policy

    file.unlink()

    assert [book.policy for _ in range(5)] == [before] * 5
    (record,) = log.records
    assert record.levelno == logging.ERROR
    assert "is gone" in record.getMessage()
    assert book.trouble == "The file is gone."
    file.write_text(LOW)
    assert [tier(book), tier(book)] == ["low", "low"]


# --- how it stands ---


def test_it_says_where_it_comes_from(file: Path) -> None:
    assert (eager().kind, eager().path) == ("default", file)
    assert eager(Policy()).kind == "code"
    file.write_text(HIGH)
    book = eager()
    assert (book.kind, book.trouble) == ("file", None)
    assert not book.pending
    assert book.source.endswith(f":{file}")


def test_it_says_that_its_file_is_broken_until_it_is_mended(file: Path) -> None:
    file.write_text(HIGH)
    book = eager()
    before = book.policy
    file.write_text("[[rules]]\nname = 3\n")

    def stands() -> tuple[bool, str | None]:
        return book.pending, book.trouble

    assert stands() == (True, None)
    assert book.policy is before
    pending, trouble = stands()
    assert not pending
    assert "name" in str(trouble)
    assert stands() == (pending, trouble), "it stays said"

    file.write_text(LOW)
    assert stands() == (True, None)
    assert tier(book) == "low"
    assert stands() == (False, None)


@pytest.mark.parametrize("named", [True, False])
def test_a_variable_says_where_the_file_is(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    other = tmp_path / "law" / "policy.toml"
    other.parent.mkdir()
    other.write_text(LOW)
    file.write_text(HIGH)
    monkeypatch.setenv("SAYSO_POLICY", str(other))

    assert tier(eager(FILE if named else None)) == ("high" if named else "low")
