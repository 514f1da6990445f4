"""What comes of a decision reaches whoever decided: two programs, two terminals."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sayso import Ask, Desk, Running
from sayso.asks.standing import standing
from sayso.asks.stuck import unused
from tests.cli.conftest import AtTerminal, Sayso
from tests.forked import Forked
from tests.places import place_at
from tests.together import until

PROGRAM = """
import pathlib, sys, time
import sayso

desk = sayso.Desk(agent="growth")

@desk.gate(unknown=TimeoutError)
def send(to: str, how: str) -> str:
    if how == "fails":
        raise ValueError("the mail server says no")
    if how == "nobody knows":
        raise TimeoutError("no answer")
    if how == "hangs":
        pathlib.Path("begun").touch()
        time.sleep(600)
    return "sent to 2,451 recipients"

send("customers", sys.argv[1])
"""


@contextmanager
def program(here: Path, how: str) -> Iterator[Forked]:
    """The program that asks, in a process of its own without a terminal."""
    (here / "mailer.py").write_text(PROGRAM)
    process = Forked([sys.executable, "mailer.py", how], cwd=here, env=os.environ)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def half_a_minute_later(here: Path) -> None:
    place_at(f"sqlite:///{here}/sayso.db").sql("update asks set lease_until = 1")


def asked(desk: Desk) -> Ask:
    return until(lambda: next(iter(desk.inbox()), None))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("how", "told", "shown"),
    [
        ("works", 'done: "sent to 2,451 recipients"', 'result  "sent to 2,451 recipients"'),
        ("fails", "failed: ValueError('the mail server says no')", "failed: ValueError("),
        ("nobody knows", "unknown: nobody knows whether it happened; see a-", "unknown: see a-"),
    ],
)
def test_whoever_approves_hears_how_it_ended(
    at_terminal: AtTerminal, sayso: Sayso, desk: Desk, here: Path, how: str, told: str, shown: str
) -> None:
    with program(here, how):
        ask = asked(desk)
        with at_terminal("inbox", "approve", ask.id) as terminal:
            terminal.answer("Approve this? [y/N] ", "y")
            terminal.wait_for("It is for the program that asked, which has not begun yet.")
            terminal.wait_for(told)

    assert shown in sayso("inbox", "show", ask.id).out


def test_e60_of_what_takes_longer_is_said_what_is_known_and_where_to_look(
    at_terminal: AtTerminal, sayso: Sayso, desk: Desk, here: Path
) -> None:
    with program(here, "hangs") as process:
        ask = asked(desk)
        with at_terminal("inbox", "approve", ask.id) as terminal:
            terminal.answer("Approve this? [y/N] ", "y")
            terminal.wait_for(
                f"{ask.id} was begun, and has no result yet. Look later: sayso inbox show {ask.id}"
            )
        process.kill()  # of which nobody knows before its lease has run out (E60)
        process.wait()
        shown = sayso("inbox", "show", ask.id).out
        assert "Effect    begun" in shown
        assert "running" not in shown


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--wait",), 1)])
def test_ctrl_c_ends_the_waiting_and_not_the_decision(
    at_terminal: AtTerminal, desk: Desk, here: Path, options: tuple[str, ...], code: int
) -> None:
    with program(here, "hangs"):
        ask = asked(desk)
        with at_terminal("inbox", "approve", ask.id, *options, ends=code) as terminal:
            terminal.answer("Approve this? [y/N] ", "y")
            terminal.wait_for("which has not begun yet.")
            terminal.press(b"\x03")
            terminal.wait_for(f"What you said is recorded. Look later: sayso inbox show {ask.id}")

    assert desk.get(ask.id).status == "decided"


def test_a_program_that_died_before_it_began_is_named_as_the_reason(
    sayso: Sayso, desk: Desk, here: Path
) -> None:
    with program(here, "works") as process:
        ask = asked(desk)
        process.send_signal(signal.SIGSTOP)  # it holds the ask and will not act on the answer
        desk.approve(ask)
        assert (
            "It is for the program that asked, which has not begun yet."
            in sayso("inbox", "show", ask.id).out
        )
        process.kill()
        process.wait()
    half_a_minute_later(here)

    out = sayso("inbox", "show", ask.id).out

    assert "Effect    not begun" in out
    assert "has gone before it began, so it was not carried out." in out


def test_an_approved_call_that_nobody_has_begun_says_who_should(
    sayso: Sayso, desk: Desk, ask: Ask
) -> None:
    desk.approve(ask)

    out = sayso("inbox", "show", ask.id).out

    assert "Effect    not begun" in out
    assert f'desk.begin("{ask.id}")' in out
    desk.begin(ask)
    assert "desk.begin" not in sayso("inbox", "show", ask.id).out


def test_a_script_is_not_kept_waiting(sayso: Sayso, desk: Desk, here: Path) -> None:
    with program(here, "hangs"):
        ask = asked(desk)

        done = sayso("inbox", "approve", ask.id, "--seen", ask.digest)

    assert done.code == 0
    said = " ".join(done.out.split())
    assert "which has not begun yet. If it is not heard of by" in said


def test_e60_nothing_is_said_of_a_killed_program_that_is_not_known(
    sayso: Sayso, desk: Desk, here: Path
) -> None:
    """Its lease still stands, so nobody knows yet; once it has run out, doctor names the approval."""
    with program(here, "works") as process:
        ask = asked(desk)
        process.kill()
        process.wait()

    said = " ".join(sayso("inbox", "approve", ask.id, "--seen", ask.digest).out.split())
    assert "goes on" not in said
    until = standing(desk.store, ask.id).until
    assert until is not None
    assert f"If it is not heard of by {until:%H:%M:%S %Z}, it has gone." in said
    half_a_minute_later(here)

    checks = {check["name"]: check for check in sayso("doctor", "--json").json["checks"]}
    assert checks["unused"]["level"] == "warn"
    assert f"{ask.id}, its program has gone" in checks["unused"]["text"]


def test_e60_doctor_names_approvals_of_runs_that_nobody_carries_on(
    sayso: Sayso, desk: Desk
) -> None:
    def pay(run: Running, amount: int) -> object:
        return run.propose("pay", {"amount": amount})

    desk.workflow(pay)
    run = desk.run(pay, 40, wait=False)
    desk.approve(run.state.pending[0])

    (found,) = unused(desk.store)
    assert found[1] == f"its run {run.id} has no worker"
    assert run.id in " ".join(sayso("doctor").out.split())


@pytest.mark.parametrize("ends", ["parked", "ready"])
def test_e60_an_approval_that_a_program_has_taken_up_is_none_that_nobody_can_use(
    sayso: Sayso, desk: Desk, ends: str
) -> None:
    """Its program carried the call out, and doctor said: never begun, let it ask anew."""
    paid = []

    def pay(run: Running) -> None:
        if run.propose("pay", {"amount": 40}):
            paid.append(40)
        run.question("Which receipt?")

    def other(run: Running) -> None:
        run.propose("pay", {"amount": 40})
        run.confirm("Send the receipt?")

    desk.workflow(name="pay")(pay)
    run = desk.run(pay, wait=False)
    ask = run.state.pending[0]
    desk.approve(ask)
    desk.work(until="idle", only=run.id)
    desk.respond(run.state.pending[0], "the last")
    if ends == "parked":  # by code that changed meanwhile
        with Desk(desk.url, account="sam@till") as later:
            later.workflow(name="pay")(other)
            later.work(until="idle", only=run.id)

    assert (paid, desk.get_run(run.id).status) == ([40], ends)
    assert unused(desk.store) == []
    assert "Effect" not in sayso("inbox", "show", ask.id).out


def test_e60_who_waits_for_a_call_that_its_program_carries_out_hears_who_does(
    sayso: Sayso, desk: Desk
) -> None:
    def pay(run: Running) -> None:
        run.propose("pay", {"amount": 40})

    desk.workflow(pay)
    ask = desk.run(pay, wait=False).state.pending[0]

    done = sayso("inbox", "approve", ask.id, "--seen", ask.digest, "--wait", "--timeout", "1s")

    said = " ".join(done.out.split())
    assert "begun" not in said
    assert "The program carries it out itself; what comes of it is not recorded here." in said
