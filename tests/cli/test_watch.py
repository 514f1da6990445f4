"""`sayso inbox watch`: live, from another process."""

from __future__ import annotations

import json
import signal
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.testing import FakeClock
from tests import hostile
from tests.cli.conftest import AtTerminal, Started
from tests.forked import Forked


@pytest.fixture
def lines(started: Started) -> Forked:
    """The command as a script runs it."""
    return started("inbox", "watch", "--json")


def following(watching: Forked) -> Any:
    assert watching.stdout is not None
    return json.loads(watching.stdout.readline())


def test_a_script_gets_one_object_a_line_as_things_happen(
    desk: Desk, ask: Ask, lines: Forked
) -> None:
    waiting = following(lines)
    assert (waiting["event"], waiting["ask"]["id"]) == ("waiting", ask.id)

    desk.edit(ask, {"amount": 30})
    call = desk.begin(ask)
    desk.finish(call, "paid")

    kinds = [following(lines)["event"] for _ in range(4)]
    assert kinds == ["ask.edited", "ask.decided", "effect.intended", "effect.done"]
    opened = desk.open("pay", {"to": hostile.ALL})
    last = following(lines)
    assert (last["event"], last["ask"]["id"]) == ("ask.opened", opened.id)
    assert last["ask"]["args"] == {"to": hostile.ALL}


def test_ctrl_c_ends_it_cleanly(ask: Ask, lines: Forked) -> None:
    following(lines)

    lines.send_signal(signal.SIGINT)

    _, err = lines.communicate(timeout=30)
    assert (lines.wait(), err) == (0, "")


def test_a_person_sees_what_opens_how_to_decide_it_and_how_it_ends(
    at_terminal: AtTerminal, desk: Desk
) -> None:
    desk.sweep()
    with at_terminal("inbox", "watch") as terminal:
        terminal.wait_for("desk: ./sayso.db, 0 open; Ctrl-C ends")

        ask = desk.open("pay", {"to": hostile.FAKED + hostile.ALL}, risk="high")
        terminal.wait_for(f"{ask.id}  opened   ▲ high  pay(to=")
        terminal.wait_for(f"-> sayso inbox approve {ask.id} --seen {ask.digest[:12]}")
        desk.approve(ask, hold="1h")
        terminal.wait_for("counts at")
        desk.take_back(ask)
        terminal.wait_for("took that back")
        desk.reject(ask, hostile.ALL)
        terminal.wait_for(f"{ask.id}  rejected by ")
        terminal.wait_for("[U+202E")
        failed = desk.open("pay")
        desk.approve(failed)
        desk.finish(desk.begin(failed), error="no money")
        terminal.wait_for("failed: no money")

        terminal.press(b"\x03")

    assert "\u202e" not in terminal.raw


def test_cards_may_be_shown_as_asks_open(at_terminal: AtTerminal, ask: Ask) -> None:
    with at_terminal("inbox", "watch", "--cards") as terminal:
        shown = terminal.wait_for(ask.digest[:12])
        terminal.press(b"\x03")

    assert "│ Charged twice" in shown


def test_deadlines_pass_while_somebody_watches(at_terminal: AtTerminal) -> None:
    with at_terminal("inbox", "watch") as terminal:
        terminal.wait_for("0 open; Ctrl-C ends")
        nearly = FakeClock(datetime.now(UTC))  # for this desk no time passes
        with Desk("sqlite:///sayso.db", clock=nearly) as desk:
            ask = desk.open("pay", within=timedelta(seconds=1))
            terminal.wait_for(f"{ask.id}  opened")
            terminal.wait_for(f"{ask.id}  rejected by the clock")
        terminal.press(b"\x03")
