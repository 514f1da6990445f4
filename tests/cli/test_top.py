"""`sayso top`: a desk live at a real terminal, and deciding on the spot."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.cli.keys import keys_of
from tests import hostile
from tests.cli.conftest import COMMAND, AtTerminal, Sayso, begun
from tests.places import Place
from tests.terminal import Program
from tests.together import until

UP, DOWN, ENTER = b"\x1b[A", b"\x1b[B", b"\r"


def marked(terminal: Program, ask: Ask) -> None:
    """Wait until the mark stands on an ask."""
    until(lambda: terminal.wait_for("\n> ") and ask.id in terminal.wait_for("\n"))


# --- once --------------------------------------------------------------------------------------


def test_a_frame_has_the_runs_the_open_asks_and_what_happened_lately(
    app: Any, sayso: Sayso
) -> None:
    waiting, done = begun(app, 7), begun(app, workflow="words")
    app.desk.respond(done.state.pending[0], "kind ones")
    app.desk.work(until="idle", only=done.id)
    alone = app.desk.open("mail", {"to": "all"}, risk="critical")
    (ask,) = waiting.state.pending

    frame = sayso("top", "--once").out
    title, runs, asks, lately = frame.split("\n\n")

    assert title.splitlines()[0] == "sayso top  desk: ./sayso.db, 2 open"
    assert title.endswith("   1 waiting; 0 workers")
    assert re.search(rf"◷ waiting   {waiting.id} support ███░░░ 50% +\d+ s  {ask.id} refund", runs)
    assert re.search(rf'✓ done      {done.id} words .*  "kind ones"', runs)
    assert re.search(rf" 1 {alone.id} +▲▲ critical +action +\d+ s  mail\(to=\"all\"\)", asks)
    assert re.search(rf" 2 {ask.id} +▲  high +action +\d+ s  refund\(order=7, amount=40\)", asks)
    assert f'{done.id} done: "kind ones"' in lately.splitlines()[1]
    assert f'answered {done.asks[0].id}: "kind ones"  Which words?' in lately.splitlines()[2]
    assert max(map(len, frame.splitlines())) <= 80


def test_a_frame_is_the_same_on_both_databases(place: Place, sayso: Sayso) -> None:
    with Desk(place.url, account="sam@till") as desk:

        @desk.workflow
        def words(run: Any) -> Any:
            run.progress(0.5)
            return run.question("Which words?")

        first, second = desk.start(words), desk.start(words)
        desk.work(until="idle")
        desk.respond(first.state.pending[0], "kind ones")
        (ask,) = second.state.pending

        frame = sayso("top", "--once", "--desk", place.url, env={"COLUMNS": "160"}).out
        story = sayso("runs", "show", second.id, "--desk", place.url, env={"COLUMNS": "160"}).out

    assert ", 1 open\n" in frame
    assert "   1 ready, 1 waiting; 0 workers" in frame
    assert re.search(rf"▷ ready     {first.id} words ███░░░ 50% .*no worker serves words", frame)
    assert re.search(rf"◷ waiting   {second.id} words ███░░░ 50% .*{ask.id} Which words", frame)
    assert f'sam answered {first.asks[0].id}: "kind ones"' in frame
    assert f"asked {ask.id}, question: Which words?" in story


def test_without_a_terminal_it_prints_once_and_ends(ask: Ask, sayso: Sayso) -> None:
    assert ask.id in sayso("top").out


def test_a_script_gets_it_as_json(app: Any, sayso: Sayso) -> None:
    run = begun(app, 7)
    app.desk.approve(run.state.pending[0])

    shown = sayso("top", "--json").json

    assert shown["desk"] == "./sayso.db"
    assert [(r["id"], r["status"], r["progress"]) for r in shown["runs"]] == [
        (run.id, "ready", 0.5)
    ]
    assert shown["asks"] == []
    assert [(e["kind"], e["about"]) for e in shown["recent"]] == [("ask.decided", run.asks[0].id)]


def test_a_desk_that_is_not_there_is_not_made(here: Path, sayso: Sayso) -> None:
    assert "There is no desk at ./sayso.db" in sayso("top", "--once").err
    assert not (here / "sayso.db").exists()


# --- live --------------------------------------------------------------------------------------


def test_it_shows_what_changes_elsewhere_as_it_changes(app: Any, at_terminal: AtTerminal) -> None:
    app.desk.sweep()
    with at_terminal("top") as terminal:
        terminal.wait_for("nothing runs")
        run = begun(app, 7)
        terminal.wait_for(f"◷ waiting   {run.id} support ███░░░ 50%")
        (ask,) = run.state.pending
        app.desk.approve(ask)
        app.desk.work(until="idle", only=run.id)
        terminal.wait_for('refund done: "paid 40 for 7"')
        app.desk.start(app.steps, 2, 0.1)
        app.desk.work(until="idle")
        terminal.wait_for("✓ done")
        terminal.press(b"q")


def test_the_mark_moves_and_a_approves_what_is_marked_after_its_card(
    app: Any, desk: Desk, at_terminal: AtTerminal
) -> None:
    first, second = (begun(app, order).state.pending[0] for order in (7, 8))
    with at_terminal("top") as terminal:
        marked(terminal, first)
        terminal.press(DOWN)
        marked(terminal, second)
        terminal.press(b"k")
        marked(terminal, first)
        terminal.press(b"j")
        marked(terminal, second)
        terminal.press(b"a")
        card = terminal.wait_for("Approve this? [y/N] ")
        terminal.type("y")
        terminal.wait_for(f"{second.id} approved by ")
        terminal.wait_for("No worker serves `support`; start one:")
        marked(terminal, first)
        terminal.press(b"q")

    assert re.search(r"order   8\n +amount  40", card)
    assert second.digest[:12] in card
    decided = desk.get(second.id).decision
    assert decided is not None
    assert (decided.verdict, decided.digest, decided.origin.via) == (
        "approve",
        second.digest,
        "terminal",
    )
    assert desk.get(first.id).open


def test_r_asks_for_a_note_and_rejects_and_nothing_hostile_reaches_the_screen(
    desk: Desk, at_terminal: AtTerminal
) -> None:
    ask = desk.open("pay", {"to": hostile.ALL}, why=hostile.ALL, risk="high")
    with at_terminal("top") as terminal:
        marked(terminal, ask)
        terminal.press(b"r")
        terminal.answer("Why? Your words go to the agent", "Not a double charge")
        terminal.answer("Reject this? [y/N] ", "y")
        terminal.wait_for(f"{ask.id} rejected by ")
        terminal.wait_for("nothing waits for people")
        terminal.wait_for('"Not a double charge"')
        terminal.press(b"q")

    decision = desk.get(ask.id).decision
    assert decision is not None
    assert decision.note == "Not a double charge"
    assert "\u202e" not in terminal.raw
    assert "\x07" not in terminal.raw


def test_e_opens_the_editor_and_approves_what_was_saved(
    desk: Desk, ask: Ask, at_terminal: AtTerminal, here: Path
) -> None:
    (here / "half").write_text('#!/bin/sh\nsed -i "s/40/20/" "$1"\n')
    (here / "half").chmod(0o755)
    with at_terminal("top", env={"EDITOR": str(here / "half")}) as terminal:
        marked(terminal, ask)
        terminal.press(b"e")
        terminal.wait_for("amount  40 -> 20")
        terminal.answer("Approve it with these changes? [y/N] ", "y")
        terminal.wait_for(f"{ask.id} approved with edits by ")
        terminal.press(b"q")

    assert desk.get(ask.id).args == {"order": 7, "amount": 20}


def test_enter_shows_the_whole_card_and_enter_goes_back(
    desk: Desk, ask: Ask, at_terminal: AtTerminal
) -> None:
    with at_terminal("top") as terminal:
        marked(terminal, ask)
        terminal.press(ENTER)
        card = terminal.wait_for("Enter goes back: ")
        terminal.type("")
        marked(terminal, ask)
        terminal.press(ENTER)
        terminal.answer("Enter goes back: ", "a", "Approve this? [y/N] ", "n")
        terminal.wait_for("Nothing was decided.")
        terminal.press(b"q")

    assert "│ Charged twice" in card
    assert desk.get(ask.id).open


def test_a_question_is_answered_and_keys_that_do_not_fit_say_which_do(
    app: Any, at_terminal: AtTerminal
) -> None:
    run = begun(app, workflow="words")
    with at_terminal("top") as terminal:
        marked(terminal, run.asks[0])
        terminal.press(b"a")
        terminal.wait_for(f"{run.asks[0].id} takes: r no answer  c answer")
        terminal.press(b"c")
        terminal.answer("Your answer (text): ", "kind ones", "Send this answer? [y/N] ", "y")
        terminal.wait_for(f"{run.asks[0].id} answered by ")
        terminal.press(b"q")

    app.desk.work(until="idle")
    assert run.output == "kind ones"


def test_somebody_faster_ends_the_prompt(desk: Desk, ask: Ask, at_terminal: AtTerminal) -> None:
    with at_terminal("top") as terminal:
        marked(terminal, ask)
        terminal.press(b"a")
        terminal.wait_for("Approve this? [y/N] ")
        desk.reject(ask, "Not this one")
        terminal.wait_for(f"{ask.id} was rejected by ")
        terminal.press(b"q")


def test_what_changed_since_the_card_was_shown_is_not_decided(
    desk: Desk, at_terminal: AtTerminal
) -> None:
    desk.people.add("anna", roles=["senior"])
    desk.people.add("ben", roles=["security"])
    ask = desk.open("refund", {"order": 7, "amount": 40}, needs=["senior", "security"])
    with at_terminal("top", "--as", "anna") as terminal:
        marked(terminal, ask)
        terminal.press(b"a")
        terminal.wait_for("Approve this? [y/N] ")
        desk.edit(ask, {"amount": 4000}, by="ben")
        terminal.type("y")
        terminal.wait_for("is not what was shown to you")
        terminal.press(b"q")

    assert [vote.by.id for vote in desk.get(ask.id).votes] == ["ben"]


def test_on_a_desk_with_people_somebody_has_to_say_who_they_are(
    desk: Desk, ask: Ask, at_terminal: AtTerminal
) -> None:
    desk.people.add("anna")
    with at_terminal("top") as terminal:
        marked(terminal, ask)
        terminal.press(b"a")
        terminal.wait_for("Say who decides: --as NAME")
        terminal.press(b"q")

    assert desk.get(ask.id).open


@pytest.mark.parametrize("end", [b"q", b"\x03", b"\x04", "terminate"])
def test_however_it_ends_the_terminal_is_as_it_was(
    ask: Ask, here: Path, at_terminal: AtTerminal, end: bytes | str
) -> None:
    (here / "around.py").write_text(
        "import subprocess, sys, termios\n"
        "before = termios.tcgetattr(0)\n"
        f"top = subprocess.Popen([{str(COMMAND)!r}, 'top'])\n"
        "print('PID', top.pid, flush=True)\n"
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "code = top.wait()\n"
        "print('CODE', code, 'SAME', termios.tcgetattr(0) == before, flush=True)\n"
    )
    with at_terminal("around.py") as terminal:
        terminal.wait_for("PID ")
        pid = int(terminal.wait_for("\n"))
        marked(terminal, ask)
        if isinstance(end, bytes):
            terminal.press(end)
        else:
            os.kill(pid, signal.SIGTERM)
        terminal.wait_for("CODE 0 SAME True")

    assert terminal.raw.count("\x1b[?1049h") == terminal.raw.count("\x1b[?1049l") == 1


def test_a_small_screen_shows_what_fits_with_the_mark_on_it(
    desk: Desk, at_terminal: AtTerminal
) -> None:
    asks = [desk.open("pay", {"number": number}) for number in range(40)]
    with at_terminal("top", columns=60) as terminal:
        terminal.wait_for("of 40 shown")
        terminal.press(UP)
        marked(terminal, asks[0])
        terminal.press(b"j" * 30)
        marked(terminal, asks[30])
        terminal.press(b"q")


def test_keys_are_told_apart_however_they_arrive() -> None:
    assert keys_of("j\x1b[A\x1bOBq") == ["j", "up", "down", "q"]
    assert keys_of("\x1b[1;5Ax\r\n") == ["\x1b[1;5A", "x", "enter", "enter"]
    assert keys_of("\x1bq") == ["\x1b", "q"]
