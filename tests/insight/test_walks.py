"""Walks along the trail: what the databases pick out on the way is what a plain look at all of it finds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sayso import Desk
from sayso.insight import trail
from sayso.insight.reader import catch_up
from sayso.insight.trail import Page, Wanted, look
from sayso.model.event import micros, moment
from sayso.store.trail import Met, Spot, TrailRow
from sayso.testing import FakeClock
from tests.earlier import any_names
from tests.places import Place

HOUR = timedelta(hours=1)


def crowd(desk: Desk, clock: FakeClock) -> None:
    """Three people of two teams decide calls of three tools, several within one moment."""
    for name in ("anna", "ben", "shop"):  # one is called like the agent
        desk.people.add(name, teams=["red", "blue"])
    for number in range(42):
        team = (None, "red", "blue")[number % 3]
        tool = "rare" if number == 11 else ("pay", "mail")[number // 2 % 2]
        ask = desk.open(tool, {"n": number}, team=team, agent=("shop", "bot")[number % 2])
        if number % 4 == 0:
            clock.advance("1h")
        verdict = (desk.approve, desk.reject, desk.approve, None)[number % 4]
        if verdict is not None:
            verdict(ask, by=("shop" if number % 14 == 0 else "anna" if tool == "pay" else "ben"))
    catch_up(desk.store)


def everything(place: Place) -> list[Met]:
    """Return all of the trail, the newest first."""
    rows = place.sql("select n, team, at, stream, seq, kind, sort, actor, tool, verdict from trail")
    return sorted(
        (Met(Spot(row[2], row[0]), TrailRow._make(row[1:])) for row in rows), reverse=True
    )


def things(wanted: Wanted, row: TrailRow) -> list[bool]:
    """Say of each thing that is wanted whether an event is of it."""
    said: list[bool] = []
    if wanted.stream is not None:
        said.append(row.stream == wanted.stream)
    if wanted.actor is not None:
        sort, _, name = row.actor.partition(":")
        said.append(wanted.actor in (sort, name, row.actor))
    if wanted.tool is not None:
        said.append(row.tool == wanted.tool)
    if wanted.verdict is not None:
        said.append(row.verdict == wanted.verdict)
    if wanted.kind is not None:
        family = wanted.kind.removesuffix("*")
        said.append(row.kind.startswith(family) if family != wanted.kind else row.kind == family)
    return said or [True]


class Plainly:
    """A look at all events, one after the other: what each page has to be."""

    def __init__(self, events: Sequence[Met], wanted: Wanted, teams: Sequence[str] | None) -> None:
        since = 0 if wanted.since is None else micros(wanted.since)
        until = 2**62 if wanted.until is None else micros(wanted.until)
        self.wanted = wanted
        self.left = [
            one
            for one in events
            if (teams is None or one.row.team in teams) and since <= one.spot.at < until
        ]

    def page(self, limit: int, steps: int) -> tuple[list[tuple[str, int]], Spot | None, bool]:
        """Return what the next page shows, where it ends and whether early; go on behind it."""
        end = self._end(steps)
        walked = [one for one in self.left if end is None or one.spot >= end]
        fits = [one for one in walked if all(things(self.wanted, one.row))]
        if len(fits) > limit:
            end = fits[limit - 1].spot
        shown = fits[:limit]
        self.left = [one for one in self.left if end is not None and one.spot < end]
        return [one.row[2:4] for one in shown], end, end is not None and len(shown) < limit

    def _end(self, steps: int) -> Spot | None:
        """Return where so many steps along the rarest thing end, if there are more."""
        ends: list[Spot] = []
        for thing in range(len(things(self.wanted, self.left[0].row)) if self.left else 0):
            of_it = [one.spot for one in self.left if things(self.wanted, one.row)[thing]]
            if len(of_it) <= steps:
                return None
            ends.append(of_it[steps - 1])
        return min(ends, default=None)


def shown(page: Page) -> list[tuple[str, int]]:
    return [(one.event.stream, one.event.seq) for one in page.found]


HOURS = st.none() | st.integers(0, 12)
LOOKS = st.fixed_dictionaries(
    {
        "actor": st.sampled_from([None, "anna", "shop", "person:ben", "agent", "person", "nobody"]),
        "tool": st.sampled_from([None, None, "pay", "mail", "rare", "unheard"]),
        "verdict": st.sampled_from([None, None, "approve", "reject", "edit"]),
        "kind": st.sampled_from([None, None, "ask.*", "ask.opened", "ask.decided", "person.*"]),
        "stream": st.sampled_from([None, None, None, "people"]),
    }
)


@given(
    said=LOOKS,
    since=HOURS,
    until=HOURS,
    teams=st.sampled_from([None, [], [""], ["", "red"], ["blue", "#"], ["green"]]),
    limit=st.integers(1, 9),
    steps=st.sampled_from([1, 2, 5, 17, 2000]),
    at_once=st.sampled_from([1, 3, 100]),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_page_by_page_the_databases_pick_out_what_a_plain_look_finds(
    desk: Desk,
    clock: FakeClock,
    place: Place,
    said: dict[str, str | None],
    since: int | None,
    until: int | None,
    teams: list[str] | None,
    limit: int,
    steps: int,
    at_once: int,
) -> None:
    if not place.one("select count(*) from trail"):
        crowd(desk, clock)
    events = everything(place)
    begun = moment(events[-1].spot.at)
    wanted = Wanted(
        **said,
        since=None if since is None else begun + since * HOUR,
        until=None if until is None else begun + until * HOUR,
    )
    plainly = Plainly(events, wanted, teams)
    before: str | None = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trail, "STEPS", steps)
        patch.setattr(trail, "MOST_WALKS", at_once)
        while True:
            page = look(desk.store, wanted, teams=teams, before=before, limit=limit)
            found, end, early = plainly.page(limit, steps)
            assert shown(page) == found
            assert page.older == (None if end is None else f"{end.at}.{end.n}")
            assert page.early is early
            if page.older is None:
                return
            before = page.older


def test_what_comes_while_somebody_looks_hides_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.people.add("anna")
    asks = [desk.open("pay", {"n": number}) for number in range(9)]
    for ask in asks:
        desk.approve(ask, by="anna")
    monkeypatch.setattr(trail, "STEPS", 5)
    really, wanted = desk.store.trail, Wanted(actor="anna", tool="pay")

    def later(*given: object) -> list[Met]:
        for number in range(3):
            desk.approve(desk.open("pay", {"late": number}), by="anna")
        catch_up(desk.store)
        return really(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(desk.store, "trail", later)
        page = look(desk.store, wanted)
    found = {one.event.stream for one in page.found}
    while page.older is not None:
        page = look(desk.store, wanted, before=page.older)
        found |= {one.event.stream for one in page.found}

    assert found >= {ask.id for ask in asks}


def test_a_name_that_would_be_a_list_is_a_name(desk: Desk) -> None:
    for wild in ('["pay"]', "{pay}", "pay','mail", 'p"ay', "p\\ay", "%", "_ay", "NULL", ":value0"):
        with any_names():
            ask = desk.open(wild, {"n": 1}, agent=wild)
        desk.reject(ask)
        for wanted in (Wanted(tool=wild, kind="ask.*"), Wanted(tool=wild, actor=wild)):
            page = look(desk.store, wanted)
            assert {one.event.stream for one in page.found} == {ask.id}
