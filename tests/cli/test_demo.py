"""`sayso demo --terminal`: the story plays with a person and by itself."""

from __future__ import annotations

import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sayso import Desk
from tests.cli.conftest import AtTerminal, Sayso


@pytest.mark.parametrize("args", [(), ("--auto",)])
def test_without_a_terminal_it_plays_by_itself(
    sayso: Sayso, here: Path, args: tuple[str, ...]
) -> None:
    done = sayso("demo", "--terminal", *args, env={"EDITOR": "false"})

    assert done.code == 0
    assert "approved with edits" in done.out
    assert "It ran, with exactly what was approved: 40 EUR paid back for order 1182" in done.out
    assert "Not run. The agent is told: Order 1183 was charged once" in done.out
    assert "Verified: 8 events, the chain is whole" in done.out
    assert "What left the house: 40 EUR for order 1182." in done.out
    assert max(map(len, done.out.splitlines())) <= 100
    assert list(here.iterdir()) == []


def test_at_a_terminal_the_user_decides(at_terminal: AtTerminal, here: Path) -> None:
    with at_terminal("demo", "--terminal") as terminal:
        shown = terminal.wait_for("Your choice (1-4): ")
        assert "You decide; nothing runs before that." in shown
        terminal.type("4")
        terminal.answer("Your words to the agent: ", "Only 40 were paid")
        terminal.wait_for("The agent proposes 40 EUR instead.")
        terminal.answer("Your choice (1-4): ", "1")
        terminal.wait_for("It ran, with exactly what was approved: 40 EUR")
        terminal.answer("Your choice (1-4): ", "3", "Enter for none): ", "")
        terminal.wait_for("What left the house: 40 EUR for order 1182.")

    assert max(map(len, terminal.text.splitlines())) <= 80
    assert list(here.iterdir()) == []


def test_a_port_that_is_taken_is_said_before_anything_is_done(sayso: Sayso, here: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        done = sayso("demo", "--port", port, "--keep", "company")

    assert done.code != 0
    assert f"Port {port} is taken" in done.err
    assert list((here / "company").iterdir()) == []


def test_beginning_anew_is_for_a_folder_that_is_kept(sayso: Sayso) -> None:
    done = sayso("demo", "--reset")

    assert done.code != 0
    assert "--reset goes with --keep DIR" in done.err


@pytest.mark.parametrize("reset", [(), ("--reset",)])
@pytest.mark.parametrize("made", ["a desk", "another database", "a text"])
def test_a_database_that_the_demo_did_not_make_is_left_alone(
    sayso: Sayso, here: Path, made: str, reset: tuple[str, ...]
) -> None:
    place = here / "company" / "demo.db"
    place.parent.mkdir()
    if made == "a desk":
        with Desk(f"sqlite:///{place}") as desk:
            desk.open("pay", {"amount": 40})
    elif made == "another database":
        with closing(sqlite3.connect(place)) as database:
            database.execute("create table recipes (title)")
    else:
        place.write_text("my own words, in a file of this name")
    before = place.read_bytes()

    done = sayso("demo", "--port", "0", "--no-open", "--keep", "company", *reset)

    assert done.code == 1
    assert "demo.db was not made by this demo, so it is left as it is." in done.err
    assert place.read_bytes() == before


def test_auto_is_for_the_story_in_the_terminal(sayso: Sayso) -> None:
    done = sayso("demo", "--auto")

    assert done.code != 0
    assert "--terminal" in done.err
