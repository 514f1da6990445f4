"""`sayso calibration`."""

from __future__ import annotations

import json

from sayso import Desk
from tests.cli.conftest import Sayso
from tests.earlier import any_names
from tests.hostile import ALL, raw_in


def test_where_nobody_stated_anything_it_says_so(sayso: Sayso, desk: Desk) -> None:
    desk.approve(desk.open("pay"))

    assert "Nobody has decided on anything that came with a confidence." in sayso("calibration").out


def test_the_table_is_that_of_python(sayso: Sayso, desk: Desk) -> None:
    for number in range(60):
        ask = desk.open("pay", {"amount": number}, confidence=0.95 if number % 3 else 0.55)
        desk.approve(ask) if number % 4 else desk.reject(ask)

    out = sayso("calibration", "--tool", "pay").out
    said = json.loads(sayso("calibration", "--json").out)["calibrations"]

    assert said == desk.calibration()
    lines = [line.split() for line in out.splitlines()]
    assert lines[2] == ["shop,", "pay"]
    assert "45 of 60 approved unchanged, ece" in out
    assert [line[:3] for line in lines[-2:]] == [["55%", "75%", "20"], ["95%", "75%", "40"]]
    assert {line[-1] for line in lines[-2:]} == {"amber"}


def test_below_fifty_decisions_nothing_has_a_worth(sayso: Sayso, desk: Desk) -> None:
    desk.approve(desk.open("pay", confidence=0.95))

    out = sayso("calibration").out

    assert "1 of 1 approved unchanged; no record: it takes 50" in out
    assert out.splitlines()[-1].split() == ["95%", "100%", "1", "-", "red"]


def test_names_of_agents_and_tools_cannot_hide(sayso: Sayso, desk: Desk) -> None:
    with any_names():
        desk.approve(desk.open(ALL[:100], confidence=0.95))

    assert not raw_in(sayso("calibration").out)
