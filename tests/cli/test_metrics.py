"""`sayso metrics`."""

from __future__ import annotations

import json

from sayso import Ask, Desk
from tests.cli.conftest import Sayso


def test_a_desk_on_which_nobody_decided_shows_dashes(sayso: Sayso, desk: Desk, ask: Ask) -> None:
    out = sayso("metrics").out

    assert out.splitlines()[1].split() == ["-", "approved"]
    assert "0 reviewed" in out


def test_the_figures_are_those_of_python(sayso: Sayso, desk: Desk, ask: Ask) -> None:
    desk.edit(ask, {"amount": 30})
    desk.reject(desk.open("mail"))

    out = sayso("metrics", "--days", "7", "--by", "tool").out
    assert "50%  approved" in out
    assert "100%  edited first" in out
    assert [line.split()[-1] for line in out.splitlines()[-2:]] == ["mail", "refund"]

    said = json.loads(sayso("metrics", "--json").out)
    found = desk.metrics()
    assert {name: said[name] for name in found if name != "until"} == {
        name: value for name, value in found.items() if name != "until"
    }


def test_a_window_that_is_none_is_refused(sayso: Sayso, ask: Ask) -> None:
    failed = sayso("metrics", "--days", "0")

    assert failed.code == 1
    assert "days=0.0" in failed.err
