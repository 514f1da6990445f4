"""The journal across asks and runs: what is looked for is found, and at what cost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sayso import Desk
from sayso.errors import BadValue
from sayso.insight import trail
from sayso.insight.reader import catch_up, rebuild
from sayso.insight.trail import Page, Wanted, end_of, look, moment_of, pass_by
from sayso.insight.trailing import row_of, teams_of
from sayso.model.event import Event
from sayso.runs.running import Running
from sayso.store.readers import Entries
from sayso.testing import FakeClock
from tests.places import Place


def seen(page: Page) -> list[tuple[str, str]]:
    return [(one.row.kind, one.row.actor) for one in page.found]


def all_of(desk: Desk, wanted: Wanted, limit: int = 7, **given: Any) -> list[tuple[str, int]]:
    """Read page after page to the end."""
    found: list[tuple[str, int]] = []
    before = None
    while True:
        page = look(desk.store, wanted, before=before, limit=limit, **given)
        found += [(one.event.stream, one.event.seq) for one in page.found]
        before = page.older
        if before is None:
            return found


def crowd(desk: Desk, clock: FakeClock) -> None:
    """Three people decide calls of two tools in four ways."""
    for name in ("anna", "ben", "cleo"):
        desk.people.add(name)
    for number in range(24):
        ask = desk.open(("pay", "mail")[number % 2], {"n": number}, agent=f"bot{number % 3}")
        clock.advance("1h")
        by = ("anna", "ben", "cleo")[number % 3]
        if number % 4 == 0:
            desk.reject(ask, by=by)
        elif number % 4 == 1:
            desk.edit(ask, {"n": 100}, by=by)
        elif number % 4 == 2:
            desk.approve(ask, by=by)


def test_what_happened_comes_the_newest_first(desk: Desk, clock: FakeClock) -> None:
    ask = desk.open("pay", {"n": 1}, agent="shop")
    clock.advance("1m")
    desk.reject(ask, "not now", by=None)

    page = look(desk.store, Wanted())

    assert [one.row.kind for one in page.found] == ["ask.decided", "ask.opened"]
    assert page.found[0].event.payload is not None
    assert page.found[0].row.verdict == "reject"
    assert (page.older, page.early, page.whole) == (None, False, True)


@pytest.mark.parametrize(
    "wanted",
    [Wanted(), Wanted(kind="ask.*", actor="anna"), Wanted(tool="mail", verdict="edit")],
    ids=str,
)
def test_an_export_has_what_the_pages_have(desk: Desk, clock: FakeClock, wanted: Wanted) -> None:
    crowd(desk, clock)

    exported = [(e.stream, e.seq) for part in pass_by(desk.store, wanted) for e in part]

    assert sorted(exported) == sorted(all_of(desk, wanted))
    assert exported


def test_a_time_is_from_a_moment_on_and_before_another(desk: Desk, clock: FakeClock) -> None:
    first = desk.store.now()
    for number in range(5):
        desk.open("pay", {"n": number})
        clock.advance("1h")

    hour = timedelta(hours=1)
    assert len(all_of(desk, Wanted(since=first + hour))) == 4
    assert len(all_of(desk, Wanted(until=first + hour))) == 1
    assert len(all_of(desk, Wanted(since=first + hour, until=first + 3 * hour, tool="pay"))) == 2


def test_pages_fit_together_while_others_write(desk: Desk, clock: FakeClock) -> None:
    crowd(desk, clock)
    whole = all_of(desk, Wanted(tool="pay"), limit=100)

    page = look(desk.store, Wanted(tool="pay"), limit=5)
    desk.open("pay", {"n": 999})
    rest = look(desk.store, Wanted(tool="pay"), limit=100, before=page.older)

    both = [(one.event.stream, one.event.seq) for one in (*page.found, *rest.found)]
    assert both == whole


def test_a_team_is_a_wall_and_the_desk_is_for_those_who_look_after_it(desk: Desk) -> None:
    desk.people.add("anna", teams=["billing"])
    desk.people.add("ben", teams=["growth"])
    mine = desk.open("pay", {"n": 1}, team="billing")
    theirs = desk.open("mail", {"n": 2}, team="growth")
    free = desk.open("look", {"n": 3})

    def streams(teams: list[str] | None) -> set[str]:
        return {one.row.stream for one in look(desk.store, Wanted(), teams=teams).found}

    assert streams(["", "billing"]) == {mine.id, free.id}
    assert streams(["", "growth", "#"]) == {theirs.id, free.id, "people"}
    assert streams(None) == {mine.id, theirs.id, free.id, "people"}
    exported = pass_by(desk.store, Wanted(), teams=["", "billing"])
    assert {event.stream for part in exported for event in part} == {mine.id, free.id}


def test_calls_of_a_run_that_need_nobody_are_found_by_their_tool(desk: Desk) -> None:
    def fetch(page: int) -> int:
        return page

    @desk.workflow
    def reading(run: Running) -> None:
        run.effect(fetch, 1)

    run = desk.start(reading)
    desk.work(until="idle")

    found = look(desk.store, Wanted(tool="fetch")).found
    assert {one.row.stream for one in found} == {run.id}
    assert [one.row.kind for one in found] == ["step.done", "step.begun"]
    assert "run.done" in [kind for kind, _ in seen(look(desk.store, Wanted(stream=run.id)))]


def test_a_decision_that_settled_is_the_persons(desk: Desk, clock: FakeClock) -> None:
    desk.people.add("anna")
    ask = desk.open("pay", {"n": 1})
    desk.approve(ask, by="anna", hold="10s")
    clock.advance("11s")
    desk.sweep()

    kinds = [kind for kind, _ in seen(look(desk.store, Wanted(actor="anna", verdict="approve")))]
    assert kinds == ["ask.decided", "ask.settling"]


def test_what_was_erased_leaves_the_trail_but_for_the_verdict(desk: Desk) -> None:
    ask = desk.open("secret_tool", {"n": 1}, agent="shop")
    desk.reject(ask)
    assert len(look(desk.store, Wanted(tool="secret_tool")).found) == 2

    desk.erase(ask, "as the law wants it")

    assert look(desk.store, Wanted(tool="secret_tool")).found == ()
    (left,) = look(desk.store, Wanted(verdict="reject")).found
    assert (left.row.kind, left.event.text) == ("ask.decided", None)


def test_made_anew_the_trail_says_the_same(desk: Desk, place: Place, clock: FakeClock) -> None:
    crowd(desk, clock)
    gone = desk.open("gone", {"n": 1})
    desk.reject(gone, by="anna")
    catch_up(desk.store)
    desk.erase(gone, "as the law wants it")
    catch_up(desk.store)
    columns = "team, at, stream, seq, kind, sort, actor, tool, verdict"
    ours = f"select {columns} from trail order by at, stream, seq"
    before = place.sql(ours)

    rebuild(desk.store)

    after = place.sql(ours)
    known = [row for row in before if row[2] != gone.id]
    assert [row for row in after if row[2] != gone.id] == known
    assert len(after) == place.count()


def test_of_two_who_read_on_at_once_each_event_is_noted_once(place: Place) -> None:
    with Desk(place.url) as desk, Desk(place.url) as other:
        for number in range(60):
            desk.open("pay", {"n": number})
        with ThreadPoolExecutor() as pool:
            list(pool.map(catch_up, [desk.store, other.store] * 4))

    assert place.one("select count(*) from trail") == 60
    assert place.one("select count(*) from (select distinct stream, seq from trail) t") == 60


def test_two_frequent_things_that_never_meet_end_a_page_early(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.people.add("anna")
    desk.people.add("ben")
    for number in range(12):
        tool, by = (("pay", "anna"), ("mail", "ben"))[number % 2]
        desk.approve(desk.open(tool, {"n": number}), by=by)
    monkeypatch.setattr(trail, "STEPS", 5)

    page = look(desk.store, Wanted(actor="anna", tool="mail"))
    assert (page.found, page.early) == ((), True)
    assert page.older is not None
    assert all_of(desk, Wanted(actor="anna", tool="mail")) == []
    met = all_of(desk, Wanted(actor="anna", tool="pay"))
    assert len(met) == 6


def test_a_rare_thing_among_frequent_ones_is_found_at_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.people.add("anna")
    desk.people.add("rita")
    desk.approve(desk.open("pay", {"n": "first"}), by="rita")
    for number in range(40):
        desk.approve(desk.open("pay", {"n": number}), by="anna")
    monkeypatch.setattr(trail, "STEPS", 5)

    page = look(desk.store, Wanted(actor="rita", tool="pay", verdict="approve", kind="ask.decided"))
    assert (len(page.found), page.early) == (1, False)


def test_what_makes_no_sense_is_refused(desk: Desk) -> None:
    for wanted in (
        Wanted(verdict="maybe"),
        Wanted(kind="ask.unheard"),
        Wanted(since=datetime(2026, 3, 1)),  # noqa: DTZ001 - that is what is wrong
    ):
        with pytest.raises(BadValue, match=r"verdict|kind of event|time zone"):
            look(desk.store, wanted)
    for before in ("", "1", "x.y", "1.2.3"):
        with pytest.raises(BadValue, match="no place"):
            look(desk.store, Wanted(), before=before)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01 09:30", datetime(2026, 3, 1, 9, 30, tzinfo=UTC)),
        ("2026-03-01T09:30+02:00", datetime(2026, 3, 1, 7, 30, tzinfo=UTC)),
        ("7d", datetime(2026, 4, 3, tzinfo=UTC)),
    ],
)
def test_a_moment_is_written_in_some_ways(text: str, moment: datetime) -> None:
    assert moment_of(text, datetime(2026, 4, 10, tzinfo=UTC)) == moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01", datetime(2026, 3, 2, tzinfo=UTC)),
        (" 20260301 ", datetime(2026, 3, 2, tzinfo=UTC)),
        ("2026-03-01T00:00", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01 09:30", datetime(2026, 3, 1, 9, 30, tzinfo=UTC)),
        ("7d", datetime(2026, 4, 3, tzinfo=UTC)),
        ("9999-12-31", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_a_day_without_a_time_is_wanted_to_its_end(text: str, moment: datetime) -> None:
    assert end_of(text, datetime(2026, 4, 10, tzinfo=UTC)) == moment


@given(text=st.text(max_size=30))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_is_a_crash(desk: Desk, text: str) -> None:
    for wanted in (Wanted(actor=text), Wanted(tool=text), Wanted(stream=text)):
        try:
            look(desk.store, wanted)
        except BadValue:
            continue


def test_a_name_that_no_database_takes_stops_no_reader(desk: Desk) -> None:
    wild = "tool\0\ud800" + "x" * 500
    rows = [row_of(event, "", wild) for event in _opened(desk)]

    assert desk.store.take_in(Entries(trail=rows), before=desk.store.reached(), after="1")
    assert rows[0].tool.startswith("tool\ufffd?x")
    assert len(rows[0].tool) == 200
    for wanted in (Wanted(tool=wild), Wanted(actor=wild), Wanted(stream=wild)):
        look(desk.store, wanted, most=0)


def _opened(desk: Desk) -> list[Event]:
    return list(desk.history(desk.open("pay", {"n": 1})))


def test_the_teams_of_many_runs_cost_one_query(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def count(run: Any) -> int:
        return 1

    desk.workflow(count)
    runs = {desk.start(count, team=team).id: team or "" for team in ("red", "blue", None)}
    monkeypatch.setattr(type(desk.store), "run", None)

    assert teams_of(desk.store, runs) == runs
