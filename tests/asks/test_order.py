"""The one order of what waits: what expires soon, what needs people, what is for information."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sayso import Ask, Desk
from sayso.asks.inbox import group_of, listing
from sayso.store.contract import InboxQuery
from sayso.testing import FakeClock
from tests.together import at_once

GROUPS = ("soon", "needs", "info")
RISKS = ("critical", "high", "medium", "low")
KINDS = ("action", "question", "notice", "feedback", "optional draft", "draft")
_threads = count(1)

few = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

Draft = tuple[str, str | None, int | None, str | None]
drafts = st.tuples(
    st.sampled_from(KINDS),
    st.sampled_from((*RISKS, None)),
    # Minutes until it is due: past the edge of two hours, on it, and never.
    st.sampled_from((30, 119, 120, 121, 600, None)),
    st.sampled_from((None, "billing", "ops")),
)


def put(desk: Desk, made: Draft, **terms: Any) -> Ask:
    kind, risk, minutes, team = made
    terms |= {"risk": risk, "team": team}
    if minutes is not None:
        terms["within"] = timedelta(minutes=minutes)
    match kind:
        case "action":
            return desk.open("pay", {"n": next(_threads)}, **terms)
        case "question":
            return desk.later.question("Which?", **terms).ask
        case "notice":
            return desk.later.notice("Done", **terms).ask
        case "feedback":
            return desk.later.feedback("It is good.", **terms).ask
        case _:
            draft = desk.forms.draft("Dear all", optional=kind != "draft", **terms)
            return desk.put(draft.content)


def key(ask: Ask, at: datetime) -> tuple[Any, ...]:
    """The order, written down once more and plainly."""
    informs = ask.kind in ("notice", "feedback") or ask.content.optional is True
    soon = not informs and ask.due_at is not None and ask.due_at - at <= timedelta(hours=2)
    group = 0 if soon else 2 if informs else 1
    risk = RISKS.index(ask.risk or "medium")
    left = (0, ask.due_at) if ask.due_at else (1, ask.opened_at)
    return group, risk, left, ask.opened_at, ask.id


def all_pages(desk: Desk, limit: int, **wanted: Any) -> Iterator[list[Ask]]:
    """Go through the pages, one look after the other."""
    cursor = None
    while True:
        page = desk.inbox(limit=limit, after=cursor, **wanted)
        yield list(page)
        cursor = page.cursor
        if cursor is None:
            return


def listed(desk: Desk, limit: int, **wanted: Any) -> list[str]:
    return [ask.id for page in all_pages(desk, limit, **wanted) for ask in page]


def ids(asks: Any) -> list[str]:
    return [ask.id for ask in asks]


@few
@given(made=st.lists(drafts, max_size=14), gaps=st.integers(1, 3), limit=st.integers(1, 9))
def test_any_asks_come_in_the_one_order_on_pages_of_any_size(
    desk: Desk, clock: FakeClock, made: list[Draft], gaps: int, limit: int
) -> None:
    thread = f"t{next(_threads)}"
    asks = []
    for number, draft in enumerate(made):
        if number % gaps == 0:
            clock.advance("1s")
        asks.append(put(desk, draft, thread=thread))
    expected = sorted(asks, key=lambda ask: key(ask, desk.store.now()))

    page = desk.inbox(thread=thread, limit=500)
    assert (ids(page), page.count) == (ids(expected), len(asks))
    assert page.at == desk.store.now()
    groups = [GROUPS.index(group_of(ask, page.at)) for ask in page]
    assert groups == sorted(groups)
    assert listed(desk, limit, thread=thread) == ids(expected)

    mine = [ask for ask in expected if ask.content.team in (None, "ops")]
    assert listed(desk, limit, thread=thread, teams="ops") == ids(mine)
    assert desk.inbox(thread=thread, teams="ops").count == len(mine)
    high = [ask for ask in expected if ask.risk in ("critical", "high")]
    assert listed(desk, limit, thread=thread, least="high") == ids(high)


Step = tuple[str, Draft, int]
steps = st.tuples(st.sampled_from(("open", "decide", "wait")), drafts, st.integers(0, 99))


@few
@given(
    made=st.lists(drafts, min_size=4, max_size=12),
    between=st.lists(st.lists(steps, max_size=3), max_size=8),
    limit=st.integers(1, 4),
    walled=st.booleans(),
)
def test_what_stays_open_is_on_one_page_and_on_no_second_one_whatever_happens_meanwhile(
    desk: Desk,
    clock: FakeClock,
    made: list[Draft],
    between: list[list[Step]],
    limit: int,
    walled: bool,
) -> None:
    thread = f"t{next(_threads)}"
    wanted: dict[str, Any] = {"thread": thread, **({"teams": ["ops"]} if walled else {})}
    first = [put(desk, draft, thread=thread) for draft in made]
    opened, turns = list(first), iter(between)

    seen: list[str] = []
    for page in all_pages(desk, limit, **wanted):
        seen += ids(page)
        for what, draft, number in next(turns, []):
            if what == "open":
                opened.append(put(desk, draft, thread=thread))
            elif what == "decide":
                ask = desk.get(opened[number % len(opened)].id)
                if ask.open and (ask.due_at is None or ask.due_at > clock.now()):
                    desk.reject(ask) if "reject" in ask.allow else desk.approve(ask)
            else:  # what was not soon when the first page was made must not overtake
                clock.advance(timedelta(minutes=number))

    assert len(seen) == len(set(seen))
    stayed = {
        ask.id
        for ask in map(desk.get, ids(first))
        if ask.open
        and (ask.due_at is None or ask.due_at > clock.now())
        and (not walled or ask.content.team in (None, "ops"))
    }
    assert stayed <= set(seen)


@pytest.mark.parametrize(
    ("within", "kind", "group"),
    [
        ("2h", "action", "soon"),
        ("7201s", "action", "needs"),
        (None, "action", "needs"),
        (None, "draft", "needs"),
        ("30m", "notice", "info"),
        ("30m", "feedback", "info"),
        ("30m", "optional draft", "info"),
        ("30m", "draft", "soon"),
    ],
)
def test_the_group_of_an_ask_says_why_it_stands_where_it_does(
    desk: Desk, within: str | None, kind: str, group: str
) -> None:
    terms = {} if within is None else {"within": within}
    ask = put(desk, (kind, None, None, None), **terms)

    assert group_of(ask, desk.store.now()) == group


def test_a_tier_of_the_policy_counts_as_risk(desk: Desk) -> None:
    assert ids(desk.inbox(least="low")) == []
    plain, high = desk.open("pay"), desk.open("pay", {"n": 1}, risk="high")

    assert ids(desk.inbox(least="medium")) == [high.id, plain.id], "unknown is not harmless"
    assert ids(desk.inbox(least="high")) == [high.id]
    assert ids(desk.inbox(least="critical")) == []


def test_an_old_cursor_still_hides_what_is_past_due(desk: Desk, clock: FakeClock) -> None:
    for minutes in (30, 90, 150, 300):
        put(desk, ("action", "high", minutes, None))
        put(desk, ("action", "low", minutes, None))
    first = desk.inbox(limit=1)
    clock.advance("3h")

    rest = desk.inbox(after=first.cursor)

    assert {ask.due_at - ask.opened_at for ask in rest if ask.due_at} == {timedelta(minutes=300)}
    assert (len(rest), rest.count) == (2, 2)


def test_the_count_is_always_that_of_the_list(live: Desk) -> None:
    """E36: they come from one moment, whatever others do meanwhile."""
    for n in range(12):
        live.open("pay", {"n": n}, within="1h" if n % 2 else None)

    def change(number: int) -> None:
        for n in range(12):
            ask = live.open("pay", {"by": number, "n": n}, within="3h" if n % 3 else "1h")
            if n % 2:
                live.reject(ask)

    def look(number: int) -> None:
        for n in range(30):
            query = InboxQuery(limit=500, teams=() if n % 2 else None)
            page = listing(live.store, query, role=None, person=None)
            assert page.count == len(page), number

    work = [lambda: change(1), lambda: change(2), lambda: look(1), lambda: look(2)]
    assert at_once(work) == [None] * 4
    assert live.inbox(limit=500).count == 24
