"""Deciding by a script: `--seen`, who decides, and every way it can be refused."""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sayso import Ask, Desk, Option
from sayso.asks.spending import doubt
from sayso.model.actor import Origin
from sayso.model.ask import Decision
from tests.cli.conftest import Came, Sayso

Decide = Callable[..., Came]


@pytest.fixture
def decide(sayso: Sayso) -> Decide:
    """Decide an ask as it was shown."""

    def run(verb: str, ask: Ask, *args: str, **more: Any) -> Came:
        return sayso("inbox", verb, ask.id, *args, "--seen", ask.digest[:12], **more)

    return run


def decided(desk: Desk, ask: Ask) -> Decision:
    decision = desk.get(ask.id).decision
    assert decision is not None
    return decision


# --- the four verdicts -------------------------------------------------------------------------


def test_approve_says_what_happens_next(decide: Decide, desk: Desk, ask: Ask) -> None:
    done = decide("approve", ask, "--note", "fine")

    assert done.code == 0
    assert f"{ask.id} approved by" in done.out
    assert f'desk.begin("{ask.id}")' in done.out
    found = decided(desk, ask)
    assert (found.verdict, found.note, found.origin.via) == ("approve", "fine", "terminal")


@pytest.mark.parametrize(
    ("kind", "saved", "args"),
    [
        ("action", '{"amount": 30}', {"amount": 30}),
        ("plan", "One\nTwo\n", {"steps": ["One", "Two"]}),
        ("draft", "Dear Madam\n", {"text": "Dear Madam"}),
    ],
)
def test_edit_without_changes_opens_the_editor(
    decide: Decide, desk: Desk, here: Path, kind: str, saved: str, args: dict[str, Any]
) -> None:
    asks = {
        "action": lambda: desk.open("pay", {"amount": 40}),
        "plan": lambda: desk.later.plan(["Search"]).ask,
        "draft": lambda: desk.later.draft("Dear Sir").ask,
    }
    ask = asks[kind]()
    script = here / "ed.py"
    script.write_text(f"import pathlib,sys\npathlib.Path(sys.argv[1]).write_text({saved!r})")

    done = decide("edit", ask, env={"EDITOR": f"{sys.executable} {script}"})

    assert done.code == 0, done.err
    assert decided(desk, ask).args == args


def test_reject_takes_a_note_a_kind_and_an_end(decide: Decide, desk: Desk, ask: Ask) -> None:
    done = decide("reject", ask, "Not a double charge", "--kind", "harmful", "--end")

    assert done.out == (
        f"{ask.id} rejected as harmful by {decided(desk, ask).by.id}, and the run ends.\n"
    )
    found = decided(desk, ask)
    assert (found.verdict, found.note, found.kind, found.end) == (
        "reject",
        "Not a double charge",
        "harmful",
        True,
    )


OPENED: dict[str, Callable[[Desk], Ask]] = {
    "a call": lambda desk: desk.open("pay", {"amount": 40, "code": "7"}),
    "a number": lambda desk: desk.later.question("How many?", int).ask,
    "yes or no": lambda desk: desk.later.question("Shall we?", bool).ask,
    "a text": lambda desk: desk.later.question("How?").ask,
    "a draft": lambda desk: desk.later.draft(lambda guidance: "Dear Sir").ask,
    "options": lambda desk: desk.later.choose("Which?", [Option("Red", 1), Option("Blue", 2)]).ask,
    "numbers": lambda desk: desk.later.choose("Which?", ["2", "1"]).ask,
}


@pytest.mark.parametrize(
    ("opened", "typed", "said"),
    [
        ("a call", "edit --set amount=30 --set code=8", {"amount": 30, "code": "8"}),
        ("a call", "respond 40", "40"),
        ("a number", "respond 3", 3),
        ("yes or no", "respond yes", True),
        ("a text", "respond 3", "3"),
        ("a draft", "respond", ""),
        ("options", "approve --option 2", {"option": "Blue", "value": 2}),
        ("options", "approve --option Blue", {"option": "Blue", "value": 2}),
        ("numbers", "approve --option 1", {"option": "1", "value": "1"}),
    ],
)
def test_what_is_typed_becomes_what_the_ask_wants(
    decide: Decide, desk: Desk, opened: str, typed: str, said: object
) -> None:
    ask = OPENED[opened](desk)
    verb, *args = typed.split()

    assert decide(verb, ask, *args).code == 0

    found = decided(desk, ask)
    heard = found.args if verb == "edit" else found.answer
    assert (heard, type(heard)) == (said, type(said))


def test_json_prints_the_ask_afterwards(decide: Decide, ask: Ask) -> None:
    done = decide("approve", ask, "--json")

    assert (done.json["id"], done.json["status"]) == (ask.id, "decided")
    assert done.json["decision"]["verdict"] == "approve"


# --- what was seen -----------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["approve", "edit", "reject", "respond"])
def test_without_a_terminal_what_was_seen_must_be_named(
    sayso: Sayso, desk: Desk, ask: Ask, verb: str
) -> None:
    done = sayso("inbox", verb, ask.id)

    assert done.code == 1
    assert f"sayso inbox show {ask.id}" in done.err
    assert f"sayso inbox {verb} {ask.id} --seen CODE" in done.err
    assert desk.get(ask.id).open


@pytest.mark.parametrize(("length", "code"), [(7, 1), (8, 0), (64, 0)])
def test_eight_characters_of_the_code_are_enough_and_fewer_are_not(
    sayso: Sayso, desk: Desk, ask: Ask, length: int, code: int
) -> None:
    done = sayso("inbox", "approve", ask.id, "--seen", ask.digest[:length].upper())

    assert done.code == code
    assert ("at least 8" in done.err) is desk.get(ask.id).open is bool(code)


def test_a_code_of_something_else_decides_nothing(sayso: Sayso, desk: Desk, ask: Ask) -> None:
    other = desk.open("refund", {"order": 8, "amount": 40}, risk="high", why="Charged twice")

    done = sayso("inbox", "approve", ask.id, "--seen", other.digest[:12], "--json")

    assert done.code == 1
    assert done.error["error"] == "ask-changed"
    assert ask.digest[:12] in done.error["message"]
    assert desk.get(ask.id).open


# --- who decides -------------------------------------------------------------------------------


@pytest.fixture
def team(desk: Desk) -> Desk:
    desk.people.add("anna", ["senior"])
    desk.people.add("sec", ["security"])
    return desk


@pytest.mark.parametrize(
    ("args", "env"), [(["--as", "anna"], {}), ([], {"SAYSO_PERSON": "anna"}), ([], {})]
)
def test_in_a_team_the_person_is_named_unless_the_account_is_one(
    decide: Decide, team: Desk, ask: Ask, args: list[str], env: dict[str, str]
) -> None:
    account = team.origin.account.partition("@")[0]
    if not args and not env:
        team.people.add(account, roles=["senior"])

    assert decide("approve", ask, *args, env=env).code == 0

    assert decided(team, ask).by.id == ("anna" if args or env else account)


COMMANDS = (
    "inbox",
    "inbox list --json",
    "inbox list --decided",
    "inbox show {ask}",
    "inbox approve {ask} --seen {seen}",
    "inbox reject {ask} no --seen {seen}",
    "inbox take-back {ask}",
    "inbox claim {ask}",
    "inbox assign {ask} anna",
    "top --once",
    "top --once --json",
    "preferences remove {ask}",
    "incident {ask} lost",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_environment_that_names_nobody_is_an_error(
    sayso: Sayso, team: Desk, ask: Ask, command: str
) -> None:
    args = command.format(ask=ask.id, seen=ask.digest).split()

    done = sayso(*args, env={"SAYSO_PERSON": "Ana"})

    assert (done.code, done.out) == (1, "")
    said = "'Ana' is not a person on this desk. Did you mean anna? Set SAYSO_PERSON to one of the "
    assert f"{said}people here: anna, sec." in " ".join(done.err.split())
    assert team.get(ask.id).open
    assert team.store.total() == 3


@pytest.mark.parametrize("command", COMMANDS)
def test_on_a_desk_without_people_a_named_person_is_an_error_too(
    sayso: Sayso, desk: Desk, ask: Ask, command: str
) -> None:
    done = sayso(*command.format(ask=ask.id, seen=ask.digest).split(), env={"SAYSO_PERSON": "anna"})

    assert (done.code, done.out) == (1, "")
    assert "leave out --as and SAYSO_PERSON" in " ".join(done.err.split())
    assert desk.get(ask.id).open


def test_an_option_that_names_nobody_says_who_there_is(
    decide: Decide, team: Desk, ask: Ask
) -> None:
    done = decide("approve", ask, "--as", "ana")

    assert done.code == 1
    assert "Did you mean anna? Name one of the people here with --as: anna, sec." in " ".join(
        done.err.split()
    )


def test_who_is_nobody_here_is_told_how_to_say_who(
    decide: Decide, sayso: Sayso, team: Desk, ask: Ask
) -> None:
    assert "--as NAME" in sayso("inbox", "show", ask.id, env={"SAYSO_PERSON": ""}).out
    for env in ({}, {"SAYSO_PERSON": ""}):
        done = decide("approve", ask, env=env)

        assert done.code == 1
        assert "Say who decides" in done.err
        assert "--as NAME" in done.err
        assert "anna, sec" in done.err
    assert team.get(ask.id).open


@pytest.mark.parametrize(
    ("person", "code"),
    [("nobody", "unknown-person"), ("agent:shop", "forbidden"), ("sec", "forbidden")],
)
def test_who_may_not_decide_is_refused(decide: Decide, team: Desk, person: str, code: str) -> None:
    ask = team.open("pay", needs="1 senior")

    done = decide("approve", ask, "--as", person, "--json")

    assert done.code == 1
    assert done.error["error"] == code
    assert team.get(ask.id).open


def test_alone_at_a_desk_nobody_else_can_be_named(decide: Decide, desk: Desk, ask: Ask) -> None:
    done = decide("approve", ask, "--as", "anna")

    assert done.code == 1
    assert "sayso people add anna" in done.err
    assert desk.get(ask.id).open


def test_a_vote_that_is_not_enough_says_who_is_missing(decide: Decide, team: Desk) -> None:
    ask = team.open("pay", needs=["1 senior", "1 security"])

    done = decide("approve", ask, "--as", "anna")

    assert done.code == 0
    assert "still needs 1 security" in done.out
    second = decide("approve", ask, "--as", "sec")
    assert second.out.startswith(f"{ask.id} approved by anna and sec")


def test_a_script_runs_a_call_in_doubt_again_only_in_so_many_words(
    decide: Decide, desk: Desk, ask: Ask
) -> None:
    desk.approve(ask)
    desk.begin(ask, limit="1m")
    asked = doubt(desk.store, ask.id, "nobody knows", origin=Origin("python", "sam"))
    assert asked is not None

    refused = decide("approve", asked)
    assert refused.code == 1
    assert f"sayso inbox approve {asked.id} --seen CODE --run-again" in refused.err
    assert desk.get(asked.id).open
    assert decide("approve", asked, "--run-again").code == 0


# --- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "args", "code", "word"),
    [
        ("edit", ("--set", "amount=abc"), "invalid-edit", "whole number, not the text"),
        ("edit", ("--set", "amount=40"), "invalid-edit", "changes nothing"),
        ("edit", ("--set", "tool=delete_db"), "invalid-edit", "not a field"),
        ("edit", ("--set", "amount"), "bad-value", "name=value"),
        ("edit", (), "invalid-edit", "--set NAME=VALUE"),
        ("respond", (), "invalid-answer", "ANSWER"),
        ("respond", ("  ",), "invalid-answer", "empty"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(
    decide: Decide, desk: Desk, verb: str, args: tuple[str, ...], code: str, word: str
) -> None:
    schema = {
        "type": "object",
        "properties": {"amount": {"type": "integer"}},
        "additionalProperties": False,
    }
    ask = desk.open("pay", {"amount": 40}, schema=schema)

    done = decide(verb, ask, *args, "--json")

    assert done.code == 1
    assert done.error["error"] == code
    assert word in done.error["message"]
    assert desk.get(ask.id).open


@pytest.mark.parametrize("option", ["3", "0", "Green", None])
def test_an_option_that_is_none_is_refused(decide: Decide, desk: Desk, option: str | None) -> None:
    ask = desk.later.choose("Which?", ["Red", "Blue"]).ask

    done = decide("approve", ask, *(("--option", option) if option else ()))

    assert done.code == 1
    assert "option" in done.err
    assert desk.get(ask.id).open


def test_a_closed_ask_says_who_was_faster_in_one_plain_line(
    decide: Decide, desk: Desk, ask: Ask
) -> None:
    desk.reject(ask, "no")

    for verb in ("approve", "edit", "reject", "respond"):
        done = decide(verb, ask, "--json")

        assert done.code == 1
        assert done.error["error"] == "ask-closed"
        assert f"rejected by {desk.origin.account.partition('@')[0]}" in done.error["message"]
    done = decide("approve", ask)
    assert (done.out, done.err.count("\n")) == ("", 1)
    assert done.err.startswith("sayso: ")


def test_misuse_of_the_command_line_is_exit_code_two(sayso: Sayso, desk: Desk) -> None:
    for args in (("reject", "x", "--kind", "silly"), ("approve",), ("nothing",)):
        assert sayso("inbox", *args).code == 2
    done = sayso("inbox", "reject", "x", "--kind", "silly", "--json")
    assert (done.code, done.error["error"]) == (2, "usage")
    assert "silly" in done.error["message"]


def test_a_locked_database_is_said_to_be_locked(decide: Decide, desk: Desk, ask: Ask) -> None:
    other = sqlite3.connect("sayso.db", isolation_level=None)
    try:
        other.execute("begin immediate")
        done = decide("approve", ask, "--desk", "sqlite:///sayso.db?timeout=0.2", "--json")
    finally:
        other.close()

    assert done.code == 1
    assert done.error["error"] == "store-busy"
    assert desk.get(ask.id).open


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"not a database at all" * 100, "store-unavailable"), (None, "schema-mismatch")],
)
def test_a_file_that_is_no_desk_of_ours_is_said_so(
    sayso: Sayso, here: Path, content: bytes | None, code: str
) -> None:
    if content is not None:
        (here / "sayso.db").write_bytes(content)
    else:
        newer = sqlite3.connect("sayso.db")
        newer.execute("pragma user_version = 999")
        newer.close()

    for command in (
        ("inbox",),
        ("inbox", "show", "a-7f3k"),
        ("audit", "verify"),
        ("people", "list"),
    ):
        done = sayso(*command, "--json")
        assert done.code == 1
        assert done.error["error"] == code


def test_a_server_that_is_not_there_is_said_so_without_the_password(sayso: Sayso) -> None:
    done = sayso("inbox", "--desk", "postgresql://anna:hunter2@localhost:1/x")

    assert done.code == 1
    assert "not reachable" in done.err
    assert "hunter2" not in done.err


# --- waiting for what comes of it --------------------------------------------------------------


def carried_out(desk: Desk, ask: Ask, **ending: Any) -> threading.Thread:
    """Carry the call out as soon as it is approved."""

    def work() -> None:
        desk.wait(ask)
        desk.finish(desk.begin(ask), **ending)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("ending", "code", "told"),
    [({"result": {"id": 3}}, 0, 'done: {"id": 3}'), ({"error": "no money"}, 1, "failed: no money")],
)
def test_waiting_tells_what_came_of_it(
    decide: Decide, desk: Desk, ask: Ask, ending: dict[str, Any], code: int, told: str
) -> None:
    worker = carried_out(desk, ask, **ending)

    done = decide("approve", ask, "--wait", "--timeout", "60s")
    worker.join()

    assert done.code == code
    assert done.out.splitlines()[-1] == told


def test_waiting_as_json_prints_the_ask_with_its_effect(
    decide: Decide, desk: Desk, ask: Ask
) -> None:
    worker = carried_out(desk, ask, result="paid")

    done = decide("approve", ask, "--wait", "--json")
    worker.join()

    assert (done.code, done.json["effect"]["result"]) == (0, "paid")


def test_waiting_ends_in_time_and_leaves_everything_as_it_is(
    decide: Decide, desk: Desk, ask: Ask
) -> None:
    done = decide("approve", ask, "--wait", "--timeout", "0.1")

    assert done.code == 1
    assert "nobody has begun" in done.err
    assert desk.begin(ask).args == {"order": 7, "amount": 40}


def test_waiting_for_a_call_nobody_knows_about_leads_to_the_doubt(
    decide: Decide, desk: Desk, ask: Ask
) -> None:
    def begun() -> None:
        desk.wait(ask)
        desk.begin(ask, limit=0.01)  # and never finished

    worker = threading.Thread(target=begun)
    worker.start()

    done = decide("approve", ask, "--wait", "--timeout", "60s")
    worker.join()

    effect = desk.get(ask.id).effect
    assert done.code == 1
    assert effect is not None
    assert f"see {effect.doubt}" in done.out


def test_there_is_nothing_to_wait_for_after_a_no(decide: Decide, ask: Ask) -> None:
    done = decide("reject", ask, "--wait")

    assert done.code == 0
    assert "Nothing was to be carried out." in done.out


@pytest.mark.parametrize("timeout", ["soon", "-1", "0"])
def test_a_timeout_that_is_none_is_refused(
    decide: Decide, desk: Desk, ask: Ask, timeout: str
) -> None:
    done = decide("approve", ask, "--wait", f"--timeout={timeout}")

    assert done.code == 1
    assert "span of time" in done.err
    assert desk.get(ask.id).open
