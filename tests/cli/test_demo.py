"""`sayso demo`: the story plays with a person and by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import AtTerminal, Sayso


@pytest.mark.parametrize("args", [(), ("--auto",)])
def test_without_a_terminal_it_plays_by_itself(
    sayso: Sayso, here: Path, args: tuple[str, ...]
) -> None:
    done = sayso("demo", *args, env={"EDITOR": "false"})

    assert done.code == 0
    assert "approved with edits" in done.out
    assert "It ran, with exactly what was approved: 40 EUR paid back for order 1182" in done.out
    assert "Not run. The agent is told: Order 1183 was charged once" in done.out
    assert "Verified: 7 events, the chain is whole" in done.out
    assert "What left the house: 40 EUR for order 1182." in done.out
    assert max(map(len, done.out.splitlines())) <= 100
    assert list(here.iterdir()) == []


def test_at_a_terminal_the_user_decides(at_terminal: AtTerminal, here: Path) -> None:
    with at_terminal("demo") as terminal:
        shown = terminal.wait_for("Your choice (1-4): ")
        assert "You decide; nothing runs before that." in shown
        terminal.type("4")
        terminal.wait_for("Your words to the agent: ")
        terminal.type("Only 40 were paid")
        terminal.wait_for("The agent proposes 40 EUR instead.")
        terminal.wait_for("Your choice (1-4): ")
        terminal.type("1")
        terminal.wait_for("It ran, with exactly what was approved: 40 EUR")
        terminal.wait_for("Your choice (1-4): ")
        terminal.type("3")
        terminal.wait_for("Enter for none): ")
        terminal.type("")
        terminal.wait_for("What left the house: 40 EUR for order 1182.")
        assert terminal.ended() == 0

    assert max(map(len, terminal.text.splitlines())) <= 80
    assert list(here.iterdir()) == []


def test_a_terminal_may_also_only_watch(at_terminal: AtTerminal) -> None:
    with at_terminal("demo", "--auto") as terminal:
        assert terminal.ended() == 0

    assert "A scripted reviewer decides" in terminal.text
