"""`sayso metrics`."""

from __future__ import annotations

import json

from sayso import Ask, Desk
from tests.cli.conftest import Sayso
from tests.trusted import written


def test_a_desk_on_which_nobody_decided_shows_dashes(sayso: Sayso, ask: Ask) -> None:
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


def test_what_ran_alone_is_never_said_without_its_harm(sayso: Sayso, ask: Ask) -> None:
    lines = sayso("metrics").out.splitlines()
    alone = next(number for number, line in enumerate(lines) if "ran without asking" in line)

    assert lines[alone + 1].strip() == "0 incidents reported; no audits to estimate from"
    head = next(
        line for line in sayso("metrics", "--by", "tool").out.splitlines() if "calls" in line
    )
    assert head.split()[:4] == ["calls", "alone", "bad", "harm"]


def test_reviewers_have_a_line_each(sayso: Sayso, desk: Desk, ask: Ask) -> None:
    desk.people.add("anna", roles=["senior"])
    desk.approve(ask, by="anna")

    out = sayso("metrics", "--by", "reviewer").out.splitlines()
    assert out[-1].split()[0] == "1"
    assert out[-1].split()[-1] == "anna"


def test_whether_people_keep_up_is_said(sayso: Sayso, desk: Desk, ask: Ask) -> None:
    assert "1 ask comes, and nobody decided lately." in " ".join(
        sayso("metrics", "--staffing").out.split()
    )
    desk.approve(ask)
    out = " ".join(sayso("metrics", "--staffing").out.split())
    assert "1 would be enough for a wait of 1 min." in out
    said = json.loads(sayso("metrics", "--staffing", "--json").out)["staffing"]
    assert said["people"] == 1


def test_what_grants_may_still_let_through_stands_beside_what_ran_alone(
    sayso: Sayso, desk: Desk, ask: Ask
) -> None:
    assert "let through" not in sayso("metrics").out
    book = written(desk, "granted")
    assert book.exposure is not None

    left = desk.metrics()["exposure_left"]
    out = sayso("metrics").out
    assert f"{left:,.1f}  bad calls that the grant in force may still let through, at most" in out

    written(desk, "granted")
    out = sayso("metrics").out
    assert f"{2 * left:,.1f}  bad calls that 2 grants may still let through, at most; one" in out
