"""Real programs at real terminals: gates that ask right there, and commands that ask for a yes."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from sayso import Ask, Desk
from sayso.asks.spending import doubt
from sayso.model.actor import Origin
from tests import forked, hostile
from tests.cli.conftest import COMMAND, AtTerminal, Sayso
from tests.earlier import any_names
from tests.forked import Forked

GATED = """
import sayso

desk = sayso.Desk(agent="shop")

@desk.gate(risk="high")
def refund(order: int, amount: int) -> str:
    return f"paid {amount} for {order}"

print("before")
try:
    print("result:", refund(7, 40))
except (sayso.Rejected, sayso.Answered) as error:
    print("refused:", error)
"""


FLOW = """
import sayso

desk = sayso.Desk(agent="shop")

@desk.workflow
def flow(run) -> str:
    return run.question("Which one?")

desk.run(flow)
"""


LATER = """
import sayso

later = sayso.Desk(agent="shop").later.question("Which one?")
print("result:", later.result())
"""


@pytest.fixture
def gated(here: Path) -> str:
    (here / "gated.py").write_text(GATED)
    return "gated.py"


# --- a gate at a terminal ----------------------------------------------------------------------


def test_a_gate_asks_right_there_and_runs_what_was_approved(
    at_terminal: AtTerminal, gated: str
) -> None:
    with at_terminal(gated) as terminal:
        shown = terminal.wait_for("Your choice (1-4): ")
        terminal.type("a")
        terminal.wait_for("result: paid 40 for 7")

    assert "order   7\n          amount  40" in shown


@pytest.mark.parametrize(
    ("program", "told", "status"),
    [
        (GATED, "is withdrawn: the program that asked has been ended.", "withdrawn"),
        (FLOW, "stays open, and its run waits. Decide it later: sayso inbox respond a-", "open"),
        (LATER, "stays open. Decide it later: sayso inbox respond a-", "open"),
    ],
)
def test_ctrl_c_at_a_prompt_says_what_becomes_of_the_ask(
    at_terminal: AtTerminal, here: Path, desk: Desk, program: str, told: str, status: str
) -> None:
    (here / "left.py").write_text(program)
    with at_terminal("left.py", ends=None) as terminal:
        terminal.wait_for("Your choice (1-")
        terminal.press(b"\x03")
        assert terminal.ended() == -signal.SIGINT  # as any program that Ctrl-C ends
        terminal.drain()

    (opened,) = (event.stream for event in desk.events() if event.kind == "ask.opened")
    assert desk.get(opened).status == status
    assert f"{opened} {told}" in terminal.text
    assert "result: paid" not in terminal.text
    assert "Traceback" not in terminal.text


def test_what_was_put_for_later_is_asked_here_once_its_answer_is_needed(
    at_terminal: AtTerminal, here: Path
) -> None:
    (here / "later.py").write_text(LATER)
    with at_terminal("later.py") as terminal:
        terminal.answer("Your choice (1-", "the blue one")
        terminal.wait_for("result: the blue one")


def test_ctrl_c_at_the_prompt_of_an_async_gate_withdraws_the_ask_too(
    at_terminal: AtTerminal, here: Path, desk: Desk
) -> None:
    (here / "waits.py").write_text(
        "import asyncio, sayso\n"
        "desk = sayso.Desk()\n"
        "@desk.gate\n"
        "async def pay(amount: int) -> None:\n"
        "    print('PAID')\n"
        "asyncio.run(pay(40))\n"
    )

    with at_terminal("waits.py", ends=None) as terminal:
        terminal.wait_for("Your choice")
        (ask,) = desk.inbox()
        terminal.press(b"\x03")
        terminal.wait_for("KeyboardInterrupt")
        assert terminal.ended() != 0

    assert desk.get(ask.id).status == "withdrawn"
    assert "PAID\n" not in terminal.text


def test_the_end_of_input_leaves_the_ask_open_and_the_program_waiting(
    at_terminal: AtTerminal, gated: str, desk: Desk, sayso: Sayso
) -> None:
    with at_terminal(gated) as terminal:
        terminal.wait_for("Your choice")
        terminal.hang_up()
        terminal.wait_for("stays open")
        (ask,) = desk.inbox()
        assert ask.open

        done = sayso("inbox", "approve", ask.id, "--seen", ask.digest, "--wait")

        terminal.wait_for("result: paid 40 for 7")
    assert "It is for the program that asked" in done.out
    assert 'done: "paid 40 for 7"' in done.out


def test_without_a_terminal_one_line_says_what_waits_and_how_to_decide_it(
    gated: str, here: Path, desk: Desk
) -> None:
    program = Forked([sys.executable, gated], cwd=here, env=os.environ)
    assert program.stderr is not None
    line = program.stderr.readline()
    command = line.rstrip().split("  ->  ")[1].split()
    assert command[0] == "sayso"
    assert forked.run([COMMAND, *command[1:]], cwd=here, env=os.environ).returncode == 0
    out, err = program.communicate(timeout=30)

    assert "waits for 1 reviewer: refund(order=7, amount=40)" in line
    assert out.splitlines() == ["before", "result: paid 40 for 7"]
    assert err == ""


def test_what_a_program_prints_stays_apart_from_the_prompt(
    at_terminal: AtTerminal, here: Path
) -> None:
    (here / "shell.py").write_text(
        "import subprocess,sys\n"
        "with open('out.txt','w') as out:\n"
        "    sys.exit(subprocess.run([sys.executable,'gated.py'],stdout=out).returncode)\n"
    )
    (here / "gated.py").write_text(GATED)

    with at_terminal("shell.py") as terminal:
        terminal.answer("Your choice", "1")

    assert (here / "out.txt").read_text() == "before\nresult: paid 40 for 7\n"


# --- commands that ask for a yes ---------------------------------------------------------------


def test_an_answer_that_does_not_fit_is_told_before_a_yes_is_asked_for(
    at_terminal: AtTerminal, desk: Desk
) -> None:
    asked = desk.later.question("How much?", type=int).ask
    with at_terminal("inbox", "respond", asked.id, "thirty", ends=1) as terminal:
        shown = terminal.wait_for('must be a whole number, not the text "thirty"')

    assert "[y/N]" not in shown
    assert desk.get(asked.id).open


def test_approving_shows_the_card_and_asks_for_a_yes(
    at_terminal: AtTerminal, desk: Desk, ask: Ask
) -> None:
    with at_terminal("inbox", "approve", ask.id) as terminal:
        shown = terminal.wait_for("Approve this? [y/N] ")
        terminal.type("y")
        terminal.wait_for("approved by")

    assert "│ Charged twice" in shown
    decision = desk.get(ask.id).decision
    assert decision is not None
    assert decision.verdict == "approve"


def test_a_yes_to_a_doubt_says_that_the_call_is_made_once_more(
    at_terminal: AtTerminal, desk: Desk, ask: Ask
) -> None:
    desk.approve(ask)
    desk.begin(ask, limit="1m")
    asked = doubt(desk.store, ask.id, "nobody knows", origin=Origin("python", "sam"))
    assert asked is not None

    for verdict, words in (("approve", "Run it again?"), ("reject", "Leave it as it is?")):
        with at_terminal("inbox", verdict, asked.id, ends=1) as terminal:
            if verdict == "reject":
                terminal.answer("Why?", "")
            else:
                assert "may happen twice" in terminal.wait_for("Type again to run it again: ")
                terminal.type("again")
            shown = terminal.wait_for(f"{words} [y/N] ")
            terminal.type("n")
        assert "Approve this?" not in shown
    with at_terminal("inbox", "respond", asked.id, ends=1) as terminal:
        terminal.wait_for("What it returned (")
        terminal.press(b"\x03")
    assert desk.get(asked.id).open


@pytest.mark.parametrize("typed", ["", "n", "yep", "1"])
def test_anything_but_a_yes_decides_nothing(
    at_terminal: AtTerminal, desk: Desk, ask: Ask, typed: str
) -> None:
    with at_terminal("inbox", "approve", ask.id, ends=1) as terminal:
        terminal.answer("Approve this? [y/N] ", typed)
        terminal.wait_for("stays open")

    assert desk.get(ask.id).open


def test_the_end_of_input_and_ctrl_c_decide_nothing(
    at_terminal: AtTerminal, desk: Desk, ask: Ask
) -> None:
    for key in (b"\x04", b"\x03"):
        with at_terminal("inbox", "approve", ask.id, ends=1) as terminal:
            terminal.wait_for("Approve this? [y/N] ")
            terminal.press(key)
            terminal.wait_for(f"Nothing was decided: {ask.id} stays open.")

    assert desk.get(ask.id).open


def test_an_edit_shows_what_would_change_before_the_yes(
    at_terminal: AtTerminal, desk: Desk, ask: Ask
) -> None:
    with at_terminal("inbox", "edit", ask.id, "--set", "amount=30") as terminal:
        terminal.wait_for("amount  40 -> 30")
        terminal.answer("Approve it with these changes? [y/N] ", "yes")
        terminal.wait_for("approved with edits")

    assert desk.get(ask.id).args["amount"] == 30


def test_an_answer_and_an_option_are_asked_for(at_terminal: AtTerminal, desk: Desk) -> None:
    question = desk.later.question("How many?", int).ask
    choice = desk.later.choose("Which?", ["Red", "Blue"]).ask

    with at_terminal("inbox", "respond", question.id) as terminal:
        terminal.answer("Your answer (a whole number): ", "3", "[y/N] ", "y")
    with at_terminal("inbox", "approve", choice.id) as terminal:
        terminal.answer("Which option (1-2)? ", "2", "[y/N] ", "y")

    answered, chosen = desk.get(question.id).decision, desk.get(choice.id).decision
    assert answered is not None
    assert chosen is not None
    assert (answered.verdict, answered.answer) == ("respond", 3)
    assert (chosen.verdict, chosen.answer["option"]) == ("approve", "Blue")


def test_the_list_on_a_terminal_is_in_colour_and_hides_nothing(
    at_terminal: AtTerminal, desk: Desk
) -> None:
    evil = hostile.FAKED + hostile.ALL
    with any_names():
        desk.open(evil, {"to": evil}, risk="critical")

    with at_terminal("inbox", ends=None) as terminal:
        assert terminal.ended() == 0

    assert "▲▲ critical" in terminal.text
    assert "\x1b[1;31m" in terminal.raw
    assert "\u202e" not in terminal.raw
    assert "\x1b[2K" not in terminal.raw
    assert max(map(len, terminal.text.splitlines())) <= 80
