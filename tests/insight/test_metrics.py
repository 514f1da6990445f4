"""How people and agents get on: what is counted, and that it is counted once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sayso import Ask, Desk
from sayso.errors import BadValue, SaysoError
from sayso.insight.counting import bin_of, seconds_in
from sayso.insight.metrics import By, measure_by
from sayso.insight.reader import catch_up, rebuild
from sayso.runs.running import Running
from sayso.testing import FakeClock
from tests.places import TABLES, Place


def test_the_four_figures_of_the_document(desk: Desk, clock: FakeClock) -> None:
    for number in range(10):
        ask = desk.open("pay", {"amount": number})
        clock.advance("40s")
        if number < 6:
            desk.approve(ask)
        elif number < 8:
            desk.edit(ask, {"amount": 100})
        else:
            desk.reject(ask)

    found = desk.metrics(days=7)

    assert found["approval_rate"] == 0.8
    assert found["edit_rate"] == 0.25
    assert found["avg_approval_time"] == 40
    assert found["autonomous_rate"] == 0
    assert (found["proposed"], found["reviewed"], found["asked"]) == (10, 10, 10)


def test_what_a_policy_allows_ran_alone(desk: Desk) -> None:
    @desk.gate(risk="low")
    def look(at: int) -> int:
        return at

    for at in range(3):
        look(at)
    desk.approve(desk.open("pay"))

    found = desk.metrics()
    assert (found["alone"], found["proposed"], found["asked"]) == (3, 4, 1)
    assert found["autonomous_rate"] == 0.75


def test_calls_of_a_run_that_need_nobody_are_counted_once(desk: Desk) -> None:
    def fetch(page: int) -> int:
        return page

    @desk.workflow
    def read(run: Running) -> None:
        for page in range(4):
            run.effect(fetch, page)
        run.question("Go on?")

    run = desk.start(read)
    desk.work(until="idle")
    (ask,) = desk.inbox()
    desk.respond(ask, "yes")
    desk.work(until="idle")

    assert desk.get_run(run.id).status == "done"
    assert (desk.metrics()["alone"], desk.metrics(tool="fetch")["alone"]) == (4, 4)


def test_questions_and_ratings_are_no_reviews(desk: Desk) -> None:
    desk.respond(desk.later.question("Which?").ask, "This")
    desk.reject(desk.later.question("Which?").ask)
    desk.approve(desk.later.plan(["Look", "Leap"]).ask)

    found = desk.metrics()
    assert (found["reviewed"], found["approved"], found["rejected"]) == (1, 1, 0)
    assert (found["proposed"], found["asked"]) == (0, 3)


def test_nobody_is_said_to_have_decided_what_the_clock_closed(desk: Desk, clock: FakeClock) -> None:
    desk.open("pay", within="1h")
    desk.withdraw(desk.open("pay"))
    clock.advance("2h")
    desk.sweep()

    found = desk.metrics()
    assert (found["expired"], found["withdrawn"], found["reviewed"]) == (1, 1, 0)
    assert found["approval_rate"] is None


def test_a_vote_that_settles_took_until_it_was_cast(desk: Desk, clock: FakeClock) -> None:
    ask = desk.open("pay")
    clock.advance("30s")
    desk.approve(ask, hold=600)
    assert desk.metrics()["reviewed"] == 0
    clock.advance("20m")
    desk.sweep()

    assert desk.metrics()["avg_approval_time"] == 30


def test_a_window_ends_and_the_one_before_is_kept_beside_it(desk: Desk, clock: FakeClock) -> None:
    desk.reject(desk.open("pay"))
    clock.advance("7d")
    desk.approve(desk.open("pay"))

    found = desk.metrics(days=7)
    assert (found["approved"], found["rejected"]) == (1, 0)
    assert (found["before"]["approved"], found["before"]["rejected"]) == (0, 1)
    assert [slot["approved"] for slot in found["trend"]][-1] == 1
    assert sum(slot["rejected"] for slot in found["trend"]) == 0
    assert desk.metrics(days=30)["rejected"] == 1


def test_figures_end_at_the_wall(place: Place, clock: FakeClock, desk: Desk) -> None:
    for team in (None, "ops", "billing"):
        desk.approve(desk.open("pay", {"team": team}, team=team))

    with Desk(place.url, clock=clock, team="ops") as theirs:
        assert theirs.metrics()["approved"] == 2
    assert desk.metrics()["approved"] == 3


def test_figures_are_of_one_agent_tool_or_tier(desk: Desk) -> None:
    desk.approve(desk.open("pay", agent="shop", risk="high"))
    desk.reject(desk.open("pay", agent="other", risk="low"))
    desk.reject(desk.open("mail", agent="shop", risk="low"))

    assert desk.metrics(agent="shop")["approval_rate"] == 0.5
    assert desk.metrics(tool="pay")["approval_rate"] == 0.5
    assert desk.metrics(agent="shop", tool="pay")["approval_rate"] == 1
    assert desk.metrics(tier="low")["approval_rate"] == 0
    parts = measure_by(desk.store, "tool")
    assert {tool: figures.reviewed for tool, figures in parts.items()} == {"mail": 1, "pay": 2}


@pytest.mark.parametrize("days", [0, -1, 0.01, 5000, "7", True, float("nan")])
def test_a_window_that_is_none_is_refused(desk: Desk, days: Any) -> None:
    with pytest.raises(BadValue, match="days="):
        desk.metrics(days=days)


def test_two_who_count_at_once_count_everything_once(
    place: Place, clock: FakeClock, desk: Desk
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    for number in range(700):  # more than one batch
        desk.approve(desk.open("pay", {"n": number}, agent=f"shop{number % 2}"))
    desks = [Desk(place.url, clock=clock) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: catch_up(one.store), desks))
    for one in desks:
        one.close()

    assert desk.metrics()["approved"] == 700


def test_a_bounded_look_says_that_there_is_more(desk: Desk) -> None:
    from sayso.insight.metrics import measure

    for number in range(300):
        desk.approve(desk.open("pay", {"n": number}))

    first = measure(desk.store, most=500)
    assert (first.whole, 0 < first.now.approved < 300) == (False, True)
    assert measure(desk.store).now.approved == 300


def test_what_was_erased_before_it_was_counted_still_counts(desk: Desk) -> None:
    desk.approve(desk.open("pay", {"to": "Ada"}))
    ask = desk.open("pay", {"to": "Ben"})
    desk.reject(ask)
    desk.erase(ask, "They asked for it")

    assert desk.metrics()["approval_rate"] == 0.5
    assert desk.metrics(tool="pay")["approval_rate"] == 1


@pytest.mark.parametrize("took", [0, 900, 1_000, 45_000_000, 86_400_000_000])
def test_a_bin_is_a_tenth_of_its_time_wide(took: int) -> None:
    seconds = max(took, 1_000) / 1_000_000
    low, high = seconds_in(bin_of(took), 0), seconds_in(bin_of(took), 1)

    assert low <= seconds * 1.0000001
    assert seconds < high * 1.0000001
    assert high / low < 1.1


def test_figures_of_a_tool_reach_at_least_as_far_back_as_those_of_everything(
    desk: Desk, clock: FakeClock
) -> None:
    desk.approve(desk.open("pay"))
    clock.advance("20h")
    desk.approve(desk.open("pay"))

    assert desk.metrics(days=1)["approved"] == 2
    assert desk.metrics(days=1, tool="pay")["approved"] == 2
    assert measure_by(desk.store, "tool", days=1)["pay"].approved == 2


_WORDS = st.tuples(
    st.sampled_from(
        ["approve", "edit", "reject", "respond", "claim", "take back", "wait", "alone"]
    ),
    st.sampled_from(["anna", "ben", "carl"]),
    st.integers(0, 3),  # which of the last asks
    st.integers(1, 4_000),
    st.sampled_from([0, 0, 0, 60]),
)
_TERMS = st.tuples(
    st.sampled_from(["pay", "mail", "draft", "question"]),
    st.sampled_from(["shop", "desk"]),
    st.sampled_from([None, "ops"]),
    st.sampled_from([None, "1d"]),
    st.booleans(),
)


@settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(story=st.lists(st.tuples(_TERMS, st.lists(_WORDS, max_size=4), st.booleans()), max_size=6))
def test_any_journal_counted_on_the_way_and_again_tells_the_same(
    story: list[Any], place: Place
) -> None:
    for table in TABLES:
        place.sql(f"delete from {table}")
    clock = FakeClock()
    with Desk(place.url, clock=clock) as desk:
        for name in ("anna", "ben", "carl"):
            desk.people.add(name, teams=["ops"])
        asks: list[Ask] = []
        for number, (terms, words, look) in enumerate(story):
            asks.append(_asked(desk, number, *terms))
            for what, by, which, seconds, hold in words:
                clock.advance(timedelta(seconds=seconds))
                _say(desk, asks[-1 - min(which, len(asks) - 1)].id, what, by, hold)
            if look:
                catch_up(desk.store, most=3)
        clock.advance("3d")
        desk.sweep()
        found = _everything(desk)
        rebuild(desk.store)

        assert _everything(desk) == found


def _asked(
    desk: Desk, number: int, what: str, agent: str, team: str | None, within: str | None, two: bool
) -> Ask:
    terms: dict[str, Any] = {"agent": agent, "team": team, "within": within}
    if two:
        terms |= {"needs": "2 reviewer", "deny": 2}
    match what:
        case "draft":
            return desk.later.draft(f"Dear {number}", confidence=0.5, **terms).ask
        case "question":
            return desk.later.question(f"Which of {number}?", **terms).ask
        case _:
            return desk.open(what, {"n": number, "text": "We are sorry"}, **terms)


def _say(desk: Desk, ask_id: str, what: str, by: str, hold: float) -> None:
    """Say something; what does not fit is refused, and leaves nothing behind."""
    try:
        match what:
            case "claim":
                desk.claim(ask_id, by=by)
            case "take back":
                desk.take_back(ask_id, by=by)
            case "edit":
                text = {"n": -1} if desk.get(ask_id).tool else {"text": "Dear all"}
                desk.edit(ask_id, text, by=by, hold=hold)
            case "respond":
                desk.respond(ask_id, "Later", by=by, hold=hold)
            case "approve" | "reject":
                getattr(desk, what)(ask_id, by=by, hold=hold)
            case "alone":
                desk.open("look", {"by": by, "at": hold}, risk="low")
            case _:
                desk.sweep()
    except SaysoError:
        pass


def _everything(desk: Desk) -> dict[str, Any]:
    sides: tuple[By, ...] = ("agent", "tool", "tier", "reviewer")
    found = {side: desk.metrics(days=3000, by=side) for side in sides}
    return found | {"staffing": desk.staffing(days=3000)}
