"""How people decided before on what an agent does."""

from __future__ import annotations

from typing import Any

import pytest

from sayso import Desk
from sayso.errors import BadValue
from sayso.insight.record import Record, track_record
from sayso.testing import FakeClock
from tests.places import Place


def record(desk: Desk, **wanted: Any) -> Record:
    asked: dict[str, Any] = {"agent": "shop", "tool": "pay", "kind": "action", "teams": None}
    return track_record(desk.store, **(asked | wanted))


def test_nothing_is_known_of_whom_no_person_has_judged(desk: Desk, clock: FakeClock) -> None:
    desk.open("pay")

    assert record(desk) == Record()

    desk.open("pay", within="1h")
    clock.advance("2h")
    desk.sweep()

    assert record(desk) == Record()


def test_the_last_verdicts_of_people_come_oldest_first(desk: Desk, clock: FakeClock) -> None:
    asks = [desk.open("pay", {"n": n}) for n in range(6)]
    for ask, decide in zip(
        asks,
        (
            lambda ask: desk.reject(ask),
            lambda ask: desk.approve(ask),
            lambda ask: desk.edit(ask, {"n": 40}),
            lambda ask: desk.respond(ask, "Ask again on Monday"),
            lambda ask: desk.approve(ask),
        ),
        strict=False,
    ):
        clock.advance("1s")
        decide(ask)
    desk.withdraw(asks[5])

    assert record(desk) == Record(("reject", "approve", "edit", "respond", "approve"), 2, 1, 1)
    assert record(desk, limit=2) == Record(("respond", "approve"), 1, 0, 0)


def test_a_record_is_of_one_agent_and_tool_or_kind(desk: Desk) -> None:
    desk.approve(desk.open("pay"))
    desk.reject(desk.open("mail"))
    desk.reject(desk.open("pay", agent="other"))
    desk.approve(desk.later.plan(["Look", "Leap"]).ask)
    desk.reject(desk.later.draft("Dear all").ask)

    assert record(desk).verdicts == ("approve",)
    assert record(desk, tool="mail").verdicts == ("reject",)
    assert record(desk, agent="other").verdicts == ("reject",)
    assert record(desk, tool=None, kind="plan").verdicts == ("approve",)
    assert record(desk, tool=None, kind="draft").verdicts == ("reject",)
    assert record(desk, tool=None, kind="action").verdicts == ()


def test_a_record_ends_at_the_wall(desk: Desk, clock: FakeClock) -> None:
    for team, verdict in ((None, desk.approve), ("ops", desk.reject), ("billing", desk.approve)):
        clock.advance("1s")
        verdict(desk.open("pay", {"team": team}, team=team))

    assert record(desk).verdicts == ("approve", "reject", "approve")
    assert record(desk, teams=()).verdicts == ("approve",)
    assert record(desk, teams=("ops",)).verdicts == ("approve", "reject")
    assert record(desk, teams=("billing", "ops")).verdicts == ("approve", "reject", "approve")


@pytest.mark.parametrize("limit", [0, 201, -1, "all", True])
def test_a_record_of_no_length_is_refused(desk: Desk, limit: Any) -> None:
    with pytest.raises(BadValue, match="limit"):
        record(desk, limit=limit)


def test_a_namesake_in_another_team_is_another_agent(desk: Desk) -> None:
    for team, verdict in ((None, desk.approve), ("ops", desk.reject), ("billing", desk.respond)):
        verdict(desk.open("pay", {"team": team}, team=team), *(["No"] if team == "billing" else []))

    assert record(desk, team="").verdicts == ("approve",)
    assert record(desk, team="ops").verdicts == ("reject",)
    assert record(desk, team="ops", teams=("ops", "billing")).verdicts == ("reject",)
    assert record(desk, team="ops", teams=("billing",)).verdicts == (), "behind a wall"
    assert record(desk, team="nobody").verdicts == ()


NUMBERS = {
    "sqlite": "(with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500)"
    " select i from n)",
    "postgres": "(select i from generate_series(1, 2500) i)",
}


@pytest.mark.parametrize(("tool", "kind"), [("pay", "action"), (None, "plan")])
def test_a_small_team_has_its_record_however_much_others_decided_since(
    desk: Desk, place: Place, tool: str | None, kind: str
) -> None:
    for team in ("small", "big"):
        made = desk.forms.plan(["Look"], team=team).content
        desk.reject(desk.open("pay", team=team) if tool else desk.put(made))
    assert record(desk, tool=tool, kind=kind, teams=("small",)).rejected == 1  # reads on
    columns = "kind, tool, agent, team, verdict, about, said"
    place.sql(
        f"insert into cases (id, at, {columns}) select 'a-xxxxxxx' || n.i, at + n.i, {columns}"
        f" from cases, {NUMBERS[place.dialect]} n where team = 'big'"
    )

    assert record(desk, tool=tool, kind=kind, teams=("small",)) == Record(("reject",), rejected=1)
    assert record(desk, tool=tool, kind=kind, teams=("big", "small")).rejected == 20
