"""`sayso inbox show`, and how ids may be typed."""

from __future__ import annotations

import os
import subprocess
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from sayso import Ask, Desk
from sayso.channels.explanation import GONE
from sayso.store.contract import Lease
from tests import hostile
from tests.cli.conftest import COMMAND, AtTerminal, Sayso


def test_show_prints_the_card_and_the_command_that_decides(sayso: Sayso, ask: Ask) -> None:
    done = sayso("inbox", "show", ask.id)

    assert done.code == 0
    assert "│ Charged twice" in done.out
    assert "amount  40" in done.out
    assert f"sayso inbox approve {ask.id} --seen {ask.digest[:12]}" in done.out
    assert "Or instead: edit, reject, respond" in done.out
    assert "\x1b" not in done.out


def test_a_desk_that_was_named_is_named_in_the_command_too(sayso: Sayso) -> None:
    with Desk("sqlite:///other.db") as other:
        ask = other.open("pay")

    assert "--desk other.db" in sayso("inbox", "show", ask.id, "--desk", "other.db").out


def test_a_closed_ask_says_how_it_ended_and_offers_nothing(
    sayso: Sayso, desk: Desk, ask: Ask
) -> None:
    desk.approve(ask)
    desk.finish(desk.begin(ask), "paid")

    done = sayso("inbox", "show", ask.id)

    assert "approved by" in done.out
    assert 'result  "paid"' in done.out
    assert "sayso inbox approve" not in done.out


def test_the_command_that_decides_says_where_a_name_is_needed(
    sayso: Sayso, desk: Desk, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SAYSO_PERSON", raising=False)
    assert "--as" not in sayso("inbox", "show", ask.id).out  # whoever sits here decides

    desk.people.add("anna")
    assert f"--seen {ask.digest[:12]} --as NAME" in sayso("inbox", "show", ask.id).out

    monkeypatch.setenv("SAYSO_PERSON", "anna")
    assert "--as" not in sayso("inbox", "show", ask.id).out


def test_history_tells_what_happened_in_order(sayso: Sayso, desk: Desk, ask: Ask) -> None:
    desk.edit(ask, {"amount": 30}, note=hostile.ALL)
    desk.finish(desk.begin(ask), "paid")

    out = sayso("inbox", "show", ask.id, "--history").out

    edited = "edited it: amount 40 -> 30"
    told = ["asked: action, call refund", edited, "approved as edited", "spent", '"paid"']
    history = out[out.index(told[0]) :]
    places = [history.index(word) for word in told]
    assert places == sorted(places)
    assert not hostile.raw_in(out)
    events = sayso("inbox", "show", ask.id, "--history", "--json").json["history"]
    assert [event["kind"] for event in events] == [e.kind for e in desk.history(ask)]


@pytest.mark.parametrize("form", ["{}", "A-{}", "a-{}", " a-{} "])
def test_an_id_may_be_typed_carelessly(sayso: Sayso, ask: Ask, form: str) -> None:
    symbols = ask.id.removeprefix("a-")

    for typed in (form.format(symbols), form.format(symbols.upper())):
        assert sayso("inbox", "show", typed, "--json").json["id"] == ask.id


def test_letters_that_are_read_as_digits_are_taken_as_such(sayso: Sayso, desk: Desk) -> None:
    asks = (desk.open("pay", {"order": order}) for order in count())
    ask = next(ask for ask in asks if set(ask.id) & {"0", "1"})  # as chance gives it
    misread = ask.id.removeprefix("a-").replace("0", "O").replace("1", "l")

    assert sayso("inbox", "show", misread, "--json").json["id"] == ask.id


def test_whoever_mistypes_an_id_is_told_what_is_open_under_one_like_it(
    sayso: Sayso, ask: Ask
) -> None:
    symbols = ask.id.removeprefix("a-")
    wrong = symbols[:-1] + ("2" if symbols[-1] != "2" else "3")

    for typed in (symbols[:-1], f"{symbols[:1]}{symbols[2:]}", wrong):
        assert f"Did you mean {ask.id}?" in sayso("inbox", "approve", typed).err
    assert "Did you mean" not in sayso("inbox", "show", "a-zzzzzzzz").err


def test_whoever_forgets_the_id_or_the_group_is_told_where_it_is(sayso: Sayso, desk: Desk) -> None:
    assert "`sayso inbox list` shows the ids" in sayso("inbox", "show").err
    assert "`sayso runs list` shows the ids" in sayso("runs", "show").err
    done = sayso("approve", "a-7f3k")
    assert (done.code, "Did you mean: sayso inbox approve?" in done.err) == (2, True)


@pytest.mark.parametrize("typed", ["a-zzzz", "x", "../../etc", "\x1b[31m", "\u202e", "a" * 5000])
def test_an_unknown_id_is_said_to_be_unknown(sayso: Sayso, ask: Ask, typed: str) -> None:
    done = sayso("inbox", "show", typed)

    assert done.code == 1
    assert "There is no ask" in done.err
    assert not hostile.raw_in(done.err)
    assert sayso("inbox", "show", typed, "--json").error["error"] == "unknown-ask"


def test_what_its_program_left_behind_can_only_be_closed(sayso: Sayso, desk: Desk) -> None:
    content = desk.forms.action("pay", {"amount": 40})
    ask = desk.put(content, lease=Lease("somebody", timedelta(microseconds=1)))

    out = sayso("inbox", "show", ask.id).out

    assert GONE in out
    assert f"sayso inbox reject {ask.id}" in out
    assert "(program gone)" in sayso("inbox").out
    refused = sayso("inbox", "approve", ask.id, "--seen", ask.digest)
    assert refused.code == 1
    assert "has gone" in refused.err
    assert sayso("inbox", "reject", ask.id, "--seen", ask.digest).code == 0


def test_a_screen_that_cannot_show_a_character_gets_its_code(desk: Desk, here: Path) -> None:
    ask = desk.open("pay", {"to": "Grüße"}, risk="high")

    done = subprocess.run(
        [COMMAND, "inbox", "show", ask.id],
        cwd=here,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )

    assert b"Gr\\xfc\\xdfe" in done.stdout
    assert b"high" in done.stdout


def test_on_a_terminal_there_are_colours_and_words_beside_them(
    at_terminal: AtTerminal, ask: Ask
) -> None:
    with at_terminal("inbox", "show", ask.id, ends=None) as terminal:
        assert terminal.ended() == 0

    assert "\x1b[31m" in terminal.raw
    assert "▲ high" in terminal.text


@pytest.mark.parametrize("columns", [80, 40])
def test_a_narrow_terminal_is_kept_to(at_terminal: AtTerminal, desk: Desk, columns: int) -> None:
    evil = hostile.FAKED + hostile.ALL
    ask = desk.open("pay", {"to": evil}, why=evil)

    with at_terminal("inbox", "show", ask.id, columns=columns, ends=None) as terminal:
        assert terminal.ended() == 0

    card = terminal.text[: terminal.text.index("Decide it:")]
    assert max(map(len, card.splitlines())) <= columns
    assert not hostile.raw_in(terminal.text)
