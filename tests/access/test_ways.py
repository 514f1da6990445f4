"""What people come in by is counted for those who are asked about, and listed by the page."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sayso import Desk
from sayso.access.passwords import set_password
from sayso.access.sessions import IDLE, list_sessions, open_session, session_of, session_page
from sayso.access.tokens import list_tokens, token_of, token_page
from sayso.access.ways import Ways, ways_of
from sayso.errors import UnknownPerson
from sayso.testing import FakeClock


def come_in(desk: Desk, person: str | None) -> str:
    return open_session(desk.store, person, how="link", address="here", agent_string="")[0].id


def test_ways_are_those_that_count_and_nobody_elses(desk: Desk, clock: FakeClock) -> None:
    for name in ("anna", "ben"):
        desk.people.add(name)
    set_password(desk.store, "ben", "correct horse battery", origin=desk.origin)
    come_in(desk, "ben")
    clock.advance(IDLE + timedelta(seconds=1))
    came = [come_in(desk, "ben"), come_in(desk, "ben"), come_in(desk, "anna")]
    desk.tokens.make("ben", "person")
    desk.tokens.make("ben", "person", expires="1h")
    desk.tokens.revoke(desk.tokens.make("ben", "person")[0].id)
    for agent in ("till", "shop", "till"):
        desk.tokens.make(agent, owner="ben")
        clock.advance("1s")
    clock.advance("2h")

    seen = session_of(desk.store, came[0])
    assert seen is not None
    assert desk.people.ways("ben") == Ways(
        password=True,
        linked=False,
        sessions=2,
        tokens=1,
        agents=("till", "shop"),
        seen_at=seen.seen_at,
    )
    assert ways_of(desk.store, ["anna"])["anna"].sessions == 1
    assert ways_of(desk.store, []) == {}
    with pytest.raises(UnknownPerson):
        desk.people.ways("zoe")


def test_tokens_come_by_the_page_the_newest_first(desk: Desk, clock: FakeClock) -> None:
    desk.people.add("ben")
    made = []
    for number in range(7):
        made.append(desk.tokens.make(f"bot-{number}", owner="ben" if number % 2 else None)[0].id)
        if number % 3:
            clock.advance("1s")  # some are of one moment
    desk.tokens.revoke(made[6])
    found, after = [], ""
    while True:
        page = token_page(desk.store, person=None, ended=False, after=after, limit=2)
        found += [token.id for token in page.tokens]
        assert page.count == 6
        if page.older is None:
            break
        after = page.older

    at = {token.id: token.made_at for token in list_tokens(desk.store)}
    assert sorted(found) == sorted(made[:6])
    assert found == sorted(found, key=lambda one: (at[one], one), reverse=True)
    ended = token_page(desk.store, person=None, ended=True)
    assert [token.id for token in ended.tokens] == [made[6]]
    own = token_page(desk.store, person="ben", ended=False)
    assert {token.id for token in own.tokens} == {made[1], made[3], made[5]}
    assert token_page(desk.store, person=None, ended=False, after="t-none", limit=2).tokens
    assert token_of(desk.store, "t-none") is None


def test_sessions_come_by_the_page_and_one_that_is_used_meanwhile_is_not_lost(
    desk: Desk, clock: FakeClock
) -> None:
    desk.people.add("ben")
    desk.people.add("anna")
    came = []
    for number in range(5):
        came.append(come_in(desk, "ben" if number else "anna"))
        clock.advance("1m")
    first = session_page(desk.store, person=None, limit=2)
    desk.store.session_seen(first.sessions[-1].id)  # the one at the end moves up
    second = session_page(desk.store, person=None, after=first.older or "", limit=9)

    assert [one.id for one in first.sessions] == came[:2:-1]
    assert [one.id for one in second.sessions] == came[2::-1]
    assert (first.count, second.older) == (len(list_sessions(desk.store)), None)
    assert session_page(desk.store, person="anna").count == 1
    assert session_page(desk.store, person=None, after="no.place").count == 5
    desk.people.remove("anna")
    assert session_page(desk.store, person=None).count == 4
    assert session_of(desk.store, came[0]) is None


def test_on_a_desk_without_people_whoever_sits_there_has_sessions(desk: Desk) -> None:
    came = come_in(desk, None)
    assert [one.id for one in session_page(desk.store, person=None).sessions] == [came]
    desk.people.add("anna")
    assert session_page(desk.store, person=None).count == 0


def test_alone_is_who_nobody_else_could_stand_in_for(desk: Desk) -> None:
    for name, roles, teams in (("anna", ["senior"], ["a"]), ("ben", [], ["b"]), ("ada", [], ["a"])):
        desk.people.add(name, roles=roles, teams=teams)
    assert desk.people.alone() == {}
    desk.open("pay", {"n": 1}, needs=["1 senior"])
    desk.open("pay", {"n": 2}, team="b")
    desk.open("pay", {"n": 3}, team="a")

    assert desk.people.alone() == {"anna": 1, "ben": 1}
