"""`sayso inbox` and `sayso inbox list`."""

from __future__ import annotations

import shlex
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sayso import Ask, Desk, Option
from sayso.testing import FakeClock
from tests import hostile
from tests.cli.conftest import Sayso
from tests.earlier import any_names


def test_the_list_says_which_desk_it_shows_and_how_much_is_open(sayso: Sayso, ask: Ask) -> None:
    done = sayso("inbox")

    first, blank, head, line, *_ = done.out.splitlines()
    assert done.code == 0
    assert first == "desk: ./sayso.db, 1 open"
    assert blank == ""
    assert head.split() == ["ID", "RISK", "KIND", "AGE", "WHAT"]
    assert line.split()[:4] == [ask.id, "▲", "high", "action"]
    assert line.endswith("refund(amount=40, order=7)")


def test_inbox_alone_is_inbox_list(sayso: Sayso, ask: Ask) -> None:
    assert sayso("inbox").out == sayso("inbox", "list").out
    assert sayso("inbox", "--kind", "plan").out == sayso("inbox", "list", "--kind", "plan").out


def test_an_empty_desk_is_said_to_be_empty(sayso: Sayso, desk: Desk) -> None:
    desk.sweep()  # the file is there, and nothing in it

    assert sayso("inbox").out == "desk: ./sayso.db, 0 open\n"


def test_looking_for_a_desk_that_is_not_there_creates_none(sayso: Sayso, here: Path) -> None:
    done = sayso("inbox")

    assert done.out.startswith("desk: ./sayso.db, 0 open\n")
    assert "--desk URL" in done.out
    assert sayso("inbox", "--json").json == {
        "desk": "./sayso.db",
        "person": None,
        "open": "0",
        "count": 0,
        "cursor": None,
        "asks": [],
    }
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    "args",
    [
        ("--desk", "sqlite:///other.db", "inbox", "list"),
        ("inbox", "--desk", "sqlite:///other.db", "list"),
        ("inbox", "list", "--desk", "sqlite:///other.db"),
        ("inbox", "--desk", "other.db"),
        ("inbox", "list", "--desk", "other.db"),
    ],
)
def test_the_desk_may_be_named_before_and_after_the_command(
    sayso: Sayso, args: tuple[str, ...]
) -> None:
    with Desk("sqlite:///other.db") as other:
        other.open("pay")

    assert sayso(*args).out.startswith("desk: ./other.db, 1 open\n")


def test_the_desk_is_found_as_a_program_finds_it(sayso: Sayso, here: Path) -> None:
    with Desk("sqlite:///settings.db") as desk:
        desk.open("pay")
    (here / "sayso.toml").write_text('[desk]\nurl = "sqlite:///settings.db"\n')

    assert sayso("inbox").out.startswith("desk: ./settings.db, 1 open")
    there = {"SAYSO_URL": "sqlite:///elsewhere.db"}
    assert sayso("inbox", env=there).out.startswith("desk: ./elsewhere.db, 0 open")


def test_the_riskiest_comes_first_and_time_left_has_a_column(sayso: Sayso, desk: Desk) -> None:
    low, critical = desk.open("low", risk="low"), desk.open("crit", risk="critical", within="90m")

    lines = sayso("inbox").out.splitlines()

    assert lines[2].split() == ["ID", "RISK", "KIND", "AGE", "LEFT", "WHAT"]
    assert lines[3].startswith(critical.id)
    assert "1 h" in lines[3]
    assert lines[4].startswith(low.id)


def test_filters_narrow_the_list(sayso: Sayso, desk: Desk) -> None:
    desk.people.add("anna", ["senior"])
    desk.people.add("ben")
    senior = desk.open("a", needs="1 senior", run="r-1", thread="t-1")
    plain = desk.open("b", risk="low")
    plan = desk.later.plan(["x"]).ask
    desk.approve(plan, by="anna")

    def listed(*args: str) -> set[str]:
        return {found["id"] for found in sayso("inbox", "list", "--json", *args).json["asks"]}

    assert listed() == {senior.id, plain.id}
    assert listed("--role", "senior") == {senior.id, plain.id}
    assert listed("--as", "ben") == {plain.id}
    assert listed("--kind", "plan") == set()
    assert listed("--risk", "low") == {plain.id}
    assert listed("--run", "r-1") == {senior.id}
    assert listed("--thread", "t-1") == {senior.id}
    assert "1 match" in sayso("inbox", "--risk", "low").out


def test_a_person_sees_what_they_can_decide(sayso: Sayso, desk: Desk) -> None:
    desk.people.add("anna", ["senior"])
    desk.people.add("ben", teams=["billing"])
    senior, plain = desk.open("a", needs="1 senior"), desk.open("b")
    voted = desk.open("c", needs=["1 anna", "1 ben"])
    desk.approve(voted, by="anna")
    desk.open("d", team="billing")

    for done in (
        sayso("inbox", "list", "--as", "anna"),
        sayso("inbox", "list", "--as", "ANNA"),
        sayso("inbox", env={"SAYSO_PERSON": "anna"}),
    ):
        assert done.code == 0
        first, *rows = done.out.splitlines()
        assert first == "desk: ./sayso.db, 2 open, as anna"
        assert {row.split()[0] for row in rows if row.startswith("a-")} == {senior.id, plain.id}
    found = sayso("inbox", "--json", env={"SAYSO_PERSON": "ben"}).json
    assert (found["person"], found["count"]) == ("ben", 3)
    assert sayso("inbox", "--json").json["count"] == 4


def test_the_next_page_is_of_the_same_person(sayso: Sayso, desk: Desk) -> None:
    desk.people.add("anna")
    asks = {desk.open("a", {"n": n}).id for n in range(3)}

    first = sayso("inbox", "list", "--limit", "2", "--as", "anna").out
    _, _, following = first.partition("More: sayso ")
    rest = sayso(*shlex.split(" ".join(following.split())))

    assert "--as anna" in " ".join(following.split())
    assert rest.code == 0
    assert {one for one in asks if one in first or one in rest.out} == asks


def test_asks_are_searched_and_listed_by_agent_tool_and_risk(sayso: Sayso, desk: Desk) -> None:
    wire = desk.open("wire", {"to": "zzyzx"}, agent="bank", risk="critical")
    mail = desk.open("mail", {"to": "quimby"}, risk="low")

    def listed(*args: str) -> list[str]:
        return [found["id"] for found in sayso("inbox", "list", "--json", *args).json["asks"]]

    assert listed("--agent", "bank") == listed("--tool", "wire") == [wire.id]
    assert listed("--least", "high") == listed("--search", "bank zzy") == [wire.id]
    assert listed("--search", "quimby", "--tool", "wire") == []
    assert sayso("inbox", "--search", "quim").out.startswith("desk: ./sayso.db, 1 match")
    desk.reject(mail)
    assert listed() == [wire.id]
    assert listed("--decided") == listed("--decided", "--search", "quimby") == [mail.id]


def test_what_was_decided_is_listed_with_its_outcome_newest_first(sayso: Sayso, desk: Desk) -> None:
    first, second, third = (desk.open("pay", {"n": n}) for n in range(3))
    desk.approve(first)
    desk.edit(second, {"n": 7})
    desk.withdraw(third)

    done = sayso("inbox", "list", "--decided")

    head, blank, names, *lines = done.out.splitlines()
    assert (done.code, head, blank) == (0, "desk: ./sayso.db, 3 decided", "")
    assert names.split() == ["ID", "KIND", "AGO", "OUTCOME", "WHAT"]
    assert [line.split()[0] for line in lines[:3]] == [third.id, second.id, first.id]
    assert "withdrawn" in lines[0]
    assert "approved with edits by " in lines[1]
    assert sayso("inbox", "list", "--decided", "--json").json["decided"] == "3"
    more = sayso("inbox", "list", "--decided", "--limit", "2").out.splitlines()[-1]
    assert more.startswith("More: sayso inbox list ")
    assert first.id in sayso(*shlex.split(more.removeprefix("More: "))[1:]).out
    assert sayso("inbox", "list", "--decided", "--role", "senior").code == 2


def test_a_full_page_says_how_to_see_the_next_one(sayso: Sayso, desk: Desk) -> None:
    asks = {desk.open(f"t{n}", {"n": n}, risk="high").id for n in range(5)}

    seen: list[str] = []
    command = "sayso inbox list --limit 2 --risk high"
    while True:
        out = sayso(*shlex.split(command)[1:]).out
        assert out.startswith("desk: ./sayso.db, 5 match")
        seen += [line.split()[0] for line in out.splitlines() if line.startswith("a-")]
        more = [line for line in out.splitlines() if line.startswith("More: ")]
        if not more:
            break
        command = more[0].removeprefix("More: ")

    assert sorted(seen) == sorted(asks)
    assert len(seen) == 5


def test_what_is_overdue_is_swept_before_it_is_listed(sayso: Sayso) -> None:
    past = FakeClock(datetime(2020, 1, 1, tzinfo=UTC))
    with Desk("sqlite:///sayso.db", clock=past) as desk:
        listed, shown = desk.open("pay", within="1h"), desk.open("pay", within="1h")
        sayso("inbox", "show", shown.id)
        assert "ask.decided" in [event.kind for event in desk.history(shown)]
        other = desk.open("pay", within="1h")

        assert sayso("inbox").out == "desk: ./sayso.db, 0 open\n"

        for ask in (listed, other):
            assert str(desk.history(ask)[-1].actor) == "clock:clock"


@pytest.mark.parametrize("columns", ["80", "40", "120"])
def test_the_list_keeps_to_the_width_and_hides_nothing(
    sayso: Sayso, desk: Desk, columns: str
) -> None:
    evil = hostile.FAKED + hostile.ALL
    with any_names():
        desk.open(evil, {evil: evil}, title=evil, within="1h")
    desk.later.question(evil)
    desk.later.plan([evil], title=evil)
    desk.later.draft(evil)
    desk.later.choose(evil, [Option("a", 1)])
    desk.open("pay", {"to": "日本語" * 30})

    done = sayso("inbox", env={"COLUMNS": columns})

    assert not hostile.raw_in(done.out)
    assert "\x1b" not in done.out
    lines = done.out.splitlines()
    assert all(len(line) <= int(columns) for line in lines)
    assert [line for line in lines if line != line.rstrip()] == []
    assert sum(line.startswith("a-") for line in lines) == 6


def test_json_holds_the_asks_and_hides_nothing(sayso: Sayso, desk: Desk) -> None:
    ask = desk.open("pay", {"to": hostile.ALL}, why=hostile.ALL)

    done = sayso("inbox", "--json")

    assert not hostile.raw_in(done.out)
    assert done.json["count"] == 1
    (found,) = done.json["asks"]
    assert (found["id"], found["digest"], found["args"]) == (
        ask.id,
        ask.digest,
        {"to": hostile.ALL},
    )


@pytest.mark.parametrize(
    ("args", "code", "word"),
    [
        (("--kind", "dance"), 2, "dance"),
        (("--risk", "none"), 2, "none"),
        (("--limit", "0"), 2, "0"),
        (("--limit", "many"), 2, "many"),
        (("--after", "nonsense"), 1, "no place in this list"),
        (("--after", '[1, 99999999999999999999, "x"]'), 1, "no place in this list"),
        (("--as", "nobody"), 1, "nobody"),
        (("--role", "wizard"), 1, "wizard"),
        (("--bogus",), 2, "--bogus"),
        (("--desk", "ftp://x"), 1, "ftp://x"),
    ],
)
def test_bad_filters_get_a_plain_message(
    sayso: Sayso, desk: Desk, args: tuple[str, ...], code: int, word: str
) -> None:
    desk.people.add("anna", ["senior"])

    done = sayso("inbox", "list", *args)

    assert done.code == code
    assert word in done.err
    assert "Traceback" not in done.err


def test_one_damaged_journal_does_not_hide_the_others(
    sayso: Sayso, desk: Desk, ask: Ask, here: Path
) -> None:
    damaged = desk.open("refund", {"order": 8})
    with closing(sqlite3.connect(here / "sayso.db")) as raw, raw:
        raw.execute("update events set payload = '[]' where stream = ?", (damaged.id,))

    done = sayso("inbox")

    assert done.code == 0
    assert ask.id in done.out
    assert f"The journal of {damaged.id}" in " ".join(done.out.split())
    assert "sayso audit verify" in " ".join(done.out.split())
