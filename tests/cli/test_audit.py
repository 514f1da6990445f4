"""`sayso audit` and `sayso db`."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import psycopg
import pytest

from sayso import Ask, Desk
from sayso.store.audit import NOT_COVERED
from tests.cli.conftest import AtTerminal, Sayso


def sql(statement: str) -> None:
    connection = sqlite3.connect("sayso.db", isolation_level=None)
    connection.execute(statement)
    connection.close()


def test_a_whole_journal_is_said_to_be_whole(sayso: Sayso, desk: Desk, ask: Ask) -> None:
    desk.approve(ask)

    done = sayso("audit", "verify")

    assert done.code == 0
    assert done.out.splitlines()[:2] == [
        "desk: ./sayso.db",
        "2 events in 1 streams: the journal is whole.",
    ]
    assert "No seal yet" in done.out
    assert done.out.splitlines()[-len(NOT_COVERED) - 1 :] == [
        "Not covered:",
        *(f"  {each}" for each in NOT_COVERED),
    ]
    report = sayso("audit", "verify", "--json").json
    assert report["not_covered"] == list(NOT_COVERED)
    assert (report["ok"], report["events"], report["problems"]) == (True, 2, [])


def test_each_problem_is_a_line_and_the_exit_code_is_one(
    sayso: Sayso, desk: Desk, ask: Ask
) -> None:
    desk.reject(ask, "no")
    sql("update events set payload = replace(payload, 'reject', 'approve') where seq = 2")

    done = sayso("audit", "verify")

    assert done.code == 1
    assert f"edited: {ask.id} event 2" in done.out
    problems = sayso("audit", "verify", "--json").json["problems"]
    assert (problems[0]["what"], problems[0]["stream"], problems[0]["seq"]) == ("edited", ask.id, 2)


def test_a_kept_seal_shows_what_was_removed_at_the_end(
    sayso: Sayso, desk: Desk, ask: Ask, here: Path
) -> None:
    desk.reject(ask, "no")
    line = sayso("audit", "seal", "--out", "seals.txt").out.strip()
    assert (here / "seals.txt").read_text() == f"{line}\n"
    assert sayso("audit", "verify", "--seal", line).code == 0
    assert sayso("audit", "verify", "--seal", "seals.txt").code == 0

    sql("delete from events where stream = 'seals'")
    sql("delete from events where seq = 2")

    for seal in (line, "seals.txt"):
        done = sayso("audit", "verify", "--seal", seal)
        assert done.code == 1
        assert "the seal that was kept elsewhere is not in this journal" in done.out


def test_a_file_of_seals_keeps_them_all_and_the_last_one_counts(
    sayso: Sayso, desk: Desk, ask: Ask, here: Path
) -> None:
    sayso("audit", "seal", "--out", "seals.txt")
    desk.reject(ask)
    last = sayso("audit", "seal", "--out", "seals.txt", "--json").json["seal"]

    lines = (here / "seals.txt").read_text().splitlines()

    assert len(lines) == 2
    assert lines[-1] == last
    assert sayso("audit", "verify", "--seal", "seals.txt").code == 0


@pytest.mark.parametrize(
    "seal", ["sayso-seal:1:abc", "no-such-file", "empty.txt", "sayso-seal:²:x"]
)
def test_a_seal_that_is_none_is_refused(sayso: Sayso, ask: Ask, here: Path, seal: str) -> None:
    (here / "empty.txt").write_text("\n")

    done = sayso("audit", "verify", "--seal", seal, "--json")

    assert done.code == 1
    assert done.error["error"] == "bad-value"
    assert "seal" in done.error["message"]


def test_the_journal_is_exported_line_by_line_and_goes_on_from_a_place(
    sayso: Sayso, desk: Desk, ask: Ask, here: Path
) -> None:
    first = sayso("audit", "export")
    place = first.err.split("--after ")[1].strip()
    desk.reject(ask, "no")

    rest = sayso("audit", "export", "--after", place)
    everything = sayso("audit", "export", "--out", "journal.jsonl")

    kinds = [json.loads(line)["kind"] for line in (first.out + rest.out).splitlines()]
    assert kinds == ["ask.opened", "ask.decided"]
    assert (here / "journal.jsonl").read_text() == first.out + rest.out
    assert everything.out == ""
    assert "2 events written" in everything.err
    assert [file.name for file in here.glob("*.part")] == []


@pytest.mark.parametrize(
    "args",
    [
        ("export", "--after", "nonsense"),
        ("export", "--out", "no/such/folder/x"),
        ("export", "--out", "folder"),
    ],
)
def test_an_export_that_cannot_be_is_refused(
    sayso: Sayso, ask: Ask, here: Path, args: tuple[str, ...]
) -> None:
    (here / "folder").mkdir()

    done = sayso("audit", *args)

    assert done.code == 1
    assert "Traceback" not in done.err
    assert done.err.splitlines()[-1].startswith("sayso: ")


@pytest.mark.parametrize("what", ["export", "decisions", "seal"])
def test_what_is_written_out_is_its_owners_alone(
    sayso: Sayso, desk: Desk, ask: Ask, here: Path, what: str
) -> None:
    desk.approve(ask)
    (here / "out.jsonl.part").touch(mode=0o666)  # left by an export that was broken off

    assert sayso("audit", what, "--out", "out.jsonl").code == 0

    assert (here / "out.jsonl").read_text()
    assert (here / "out.jsonl").stat().st_mode & 0o777 == 0o600


def test_on_a_terminal_there_is_progress_that_leaves_nothing_behind(
    at_terminal: AtTerminal, desk: Desk
) -> None:
    for n in range(50):
        desk.open("pay", {"n": n})

    with at_terminal("audit", "verify", ends=None) as terminal:
        assert terminal.ended() == 0

    assert "verifying" in terminal.raw
    assert "50 events in 50 streams: the journal is whole." in terminal.text


# --- the tables --------------------------------------------------------------------------------


def test_migrating_a_file_says_what_was_done(sayso: Sayso) -> None:
    first, second = sayso("db", "migrate"), sayso("db", "migrate")

    assert "./sayso.db is at schema" in first.out
    assert second.out.startswith("Nothing to do: ./sayso.db is at schema")
    assert sayso("db", "migrate", "--json").json["steps"] == []


@pytest.fixture
def bare(cluster: str):
    """An empty PostgreSQL database beside the one of the other tests."""
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("drop database if exists bare with (force)")
        connection.execute("create database bare")
    yield psycopg.conninfo.make_conninfo(cluster, dbname="bare") and cluster.replace(
        "/postgres?", "/bare?"
    )
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("drop database bare with (force)")


def test_postgresql_waits_for_the_command_and_says_so(sayso: Sayso, bare: str) -> None:
    refused = sayso("inbox", "--desk", bare, "--json")
    assert refused.code == 1
    assert refused.error["error"] == "schema-mismatch"
    assert "sayso db migrate" in refused.error["message"]
    assert sayso("doctor", "--desk", bare).code == 1

    done = sayso("db", "migrate", "--desk", bare)

    assert done.code == 0
    assert "done: " in done.out
    assert "is at schema" in done.out
    assert sayso("db", "migrate", "--desk", bare).out.startswith("Nothing to do")
    assert sayso("inbox", "--desk", bare).out.splitlines()[0].endswith(", 0 open")


def test_the_command_installs_procrastinate_too_and_says_so(sayso: Sayso, bare: str) -> None:
    first = sayso("db", "migrate", "--desk", bare)
    second = sayso("db", "migrate", "--desk", bare)
    told = sayso("db", "migrate", "--desk", bare, "--json").json

    assert "Wake-ups by Procrastinate are installed (03." in first.out
    assert second.out.endswith("Wake-ups by Procrastinate: nothing to do.\n")
    assert (told["engine"][:3], told["engine_steps"]) == ("03.", [])


def test_without_procrastinate_the_command_says_what_that_means(
    sayso: Sayso, bare: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.runs.dispatch.has_library", lambda: False)

    first = sayso("db", "migrate", "--desk", bare)
    told = sayso("db", "migrate", "--desk", bare, "--json").json

    assert "Procrastinate is not installed here, so workers look for runs themselves." in " ".join(
        first.out.split()
    )
    assert (told["engine"], told["engine_steps"]) == (None, [])


def test_the_journal_is_looked_through_by_who_tool_verdict_and_time(
    sayso: Sayso, desk: Desk, ask: Ask
) -> None:
    desk.reject(ask, "not this month")
    desk.approve(desk.open("mail", {"to": "ada"}))

    done = sayso("audit", "list", "--verdict", "reject", "--tool", ask.tool or "", "--since", "7d")

    (line,) = done.out.splitlines()
    assert " UTC  person " in line
    assert f'rejected, "not this month"  ({ask.id}, {ask.tool})' in line
    assert len(sayso("audit", "list").out.splitlines()) == 4
    found = sayso("audit", "list", "--kind", "ask.*", "--actor", "agent", "--json").json
    assert [one["kind"] for one in found["events"]] == ["ask.opened", "ask.opened"]
    assert sayso("audit", "list", "--tool", "nothing").out == "Nothing fits.\n"


def test_until_a_day_includes_that_day_and_until_a_moment_does_not(
    sayso: Sayso, desk: Desk, ask: Ask
) -> None:
    desk.reject(ask, "no")
    day = ask.opened_at.strftime("%Y-%m-%d")

    for when, found in ((day, 2), (f"{day}T00:00", 0)):
        assert len(sayso("audit", "list", "--until", when, "--json").json["events"]) == found
        assert len(sayso("audit", "export", "--until", when).out.splitlines()) == found
        assert len(sayso("audit", "decisions", "--until", when).out.splitlines()) == found // 2


def test_a_long_list_goes_on_where_it_ended(sayso: Sayso, desk: Desk) -> None:
    for number in range(5):
        desk.open("pay", {"n": number})

    first = sayso("audit", "list", "--limit", "3", "--json").json
    rest = sayso("audit", "list", "--limit", "3", "--before", first["older"], "--json").json

    both = [one["stream"] for one in first["events"] + rest["events"]]
    assert len(both) == len({*both}) == 5
    assert rest["older"] is None


def test_what_is_no_moment_or_kind_is_refused(sayso: Sayso, desk: Desk) -> None:
    for options in (("--since", "yesterday"), ("--kind", "ask.what"), ("--before", "x")):
        done = sayso("audit", "list", *options)
        assert done.code != 0
        assert "Traceback" not in done.err


def test_decisions_are_a_data_set_without_names(
    sayso: Sayso, desk: Desk, ask: Ask, here: Path
) -> None:
    desk.reject(ask, "no", kind="taste")
    desk.approve(desk.open("mail", {"to": "ada"}))

    first = sayso("audit", "decisions", "--verdict", "reject")
    (line,) = map(json.loads, first.out.splitlines())
    assert (line["verdict"], line["reason"], line["reviewer"]) == ("reject", "taste", "reviewer-1")
    place = first.err.split("--after ")[1].strip()
    rest = sayso("audit", "decisions", "--after", place, "--names", "--out", "rest.jsonl")
    (line,) = map(json.loads, (here / "rest.jsonl").read_text().splitlines())
    assert (line["tool"], line["reviewer"]) == ("mail", desk.origin.account.partition("@")[0])
    assert "1 decision written" in rest.err
    assert [file.name for file in here.glob("*.part")] == []
    assert sayso("audit", "decisions", "--since", "soon").code == 1
