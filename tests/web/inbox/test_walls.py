"""A run of no team may ask several: each of them sees what it was asked, and nothing of the others."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

import sayso
from sayso import Desk
from sayso.agent import call as called
from sayso.model.ask import Ask
from sayso.runs.handle import Run
from tests.places import Place
from tests.served import Served
from tests.web.inbox.browser import Tab

_numbers = count(1)
SECRET = "Sack the auditor"


@pytest.fixture
def mixed(desk: Desk) -> Run:
    """A run that billing has answered once, and that waits for both teams now."""

    def settle(run: Any) -> None:
        run.confirm(f"{SECRET} first", team="billing")
        run.gather(
            lambda: run.confirm(f"{SECRET} then", team="billing"),
            lambda: run.confirm("Tidy up", team="support"),
        )

    flow = desk.workflow(name=f"mixed-{next(_numbers)}")(settle)
    run = desk.run(flow, wait=False)
    desk.approve(run.state.pending[0], by="anna")
    desk.resume(run, wait=False)
    assert len(run.state.pending) == 2
    return run


def _of(asks: Any, team: str) -> Ask:
    found: Ask = next(ask for ask in asks if ask.content.team == team)
    return found


def test_the_timeline_says_nothing_of_what_another_team_was_asked(ben: Tab, mixed: Run) -> None:
    own, hidden = (
        _of(mixed.asks, "support"),
        [ask for ask in mixed.asks if ask.content.team != "support"],
    )

    ben.go(f"/inbox/{own.id}")

    assert ben.answer.status_code == 200
    assert "Tidy up" in ben.page.text
    assert ben.page.all("li", class_="tl"), "the run itself is of no team"
    assert SECRET not in ben.answer.text
    assert len(hidden) == 2
    assert not any(ask.id in ben.answer.text for ask in hidden)


@pytest.mark.parametrize("path", ["", "/memory"])
def test_a_run_over_http_says_nothing_of_what_another_team_was_asked(
    server: Served, mixed: Run, path: str
) -> None:
    own, hidden = (
        _of(mixed.asks, "support"),
        [ask for ask in mixed.asks if ask.content.team != "support"],
    )

    seen = server.person("ben").get(f"/api/v1/runs/{mixed.id}{path}")
    whole = server.person("root").get(f"/api/v1/runs/{mixed.id}{path}")

    assert SECRET in whole.text
    assert seen.status_code == 200
    assert SECRET not in seen.text
    assert not any(ask.id in seen.text for ask in hidden)
    if not path:
        said = seen.json()
        assert [ask["id"] for ask in said["pending"]] == said["waits"] == [own.id]
        assert len(said["next"]) == 1


def test_the_list_of_runs_names_no_ask_of_another_team(server: Served, mixed: Run) -> None:
    hidden = _of(mixed.state.pending, "billing")

    runs = server.person("ben").get("/api/v1/runs").json()["runs"]

    waits = next(run["waits"] for run in runs if run["id"] == mixed.id)
    assert waits == [_of(mixed.state.pending, "support").id]
    assert hidden.id not in str(runs)


@sayso.tool(team="billing", needs=["1 senior"])
def pay(to: str) -> str:
    """Pay somebody."""
    return f"paid {to}"


@sayso.tool(team="support", needs=["1 helper"])
def write(to: str) -> str:
    """Write to somebody."""
    return f"wrote to {to}"


def test_a_call_behind_a_wall_does_not_take_the_others_of_its_turn_away(
    ben: Tab, desk: Desk
) -> None:
    desk.people.add("bea", roles=["helper"], teams=["support"])
    calls = [called("pay", to="cy"), called("write", to="ada"), called("write", to="eve")]
    model = sayso.ScriptedModel([calls, "Done."])
    agent = sayso.Agent(f"mixed{next(_numbers)}", model, tools=[pay, write])
    asks = desk.run(agent, "Tell them", wait=False).state.pending
    own = [ask for ask in asks if ask.content.team == "support"]

    ben.go(f"/inbox/{own[0].id}/turn")

    assert ben.answer.status_code == 200
    assert len(ben.page.all("section", class_="call")) == 2
    assert _of(asks, "billing").id not in ben.answer.text
    others = ben.go(f"/inbox/{own[0].id}").page.one("section", aria_label="The same turn").all("a")
    assert [a.attrs["href"] for a in others] == [f"/inbox/{own[1].id}"]


def test_the_state_of_an_ask_reads_nothing_of_the_journal_of_its_run(
    shared_place: Place, ben: Tab, mixed: Run
) -> None:
    """What cannot be read is not read: the bar still offers to stop the run."""
    own, other = _of(mixed.state.pending, "support"), _of(mixed.state.pending, "billing")
    damage = "update events set kind = ? where stream = ? and seq = 1"
    shared_place.sql(damage, "ask.nonsense", other.id)
    try:
        ben.go(f"/inbox/{own.id}/state")
    finally:
        shared_place.sql(damage, "ask.opened", other.id)

    assert ben.answer.status_code == 200
    assert ben.page.all("input", name="end")
