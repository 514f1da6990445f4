"""Sessions and one-time links: who is let in, and every way in which that ends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from sayso import Desk
from sayso.access.passwords import set_password
from sayso.access.secrets import new_secret
from sayso.access.sessions import (
    Session,
    caller_of_session,
    end_session,
    list_sessions,
    make_link,
    open_session,
    sign_out,
    use_link,
)
from sayso.errors import Misuse, NotSignedIn, UnknownPerson
from sayso.store import Store
from sayso.testing import FakeClock
from tests.access.conftest import HOSTILE, PASSWORD
from tests.places import Place
from tests.together import at_once

SignIn = Callable[..., tuple[Session, str]]


def refused(store: Store, secret: str) -> bool:
    try:
        caller_of_session(store, secret)
    except NotSignedIn:
        return True
    return False


def test_a_session_says_who_is_there_and_reaches_what_they_may_by_now(
    office: Desk, sign_in: SignIn, clock: FakeClock
) -> None:
    session, secret = sign_in("ben")

    caller = caller_of_session(office.store, secret)

    assert (caller.kind, caller.name, caller.how) == ("person", "ben", "password")
    assert caller.credential == session.id
    assert caller.signed_in_at == clock.now()
    assert "decisions:write" in caller.scopes
    assert "admin" not in caller.scopes

    _, secret = sign_in("anna")

    assert "admin" in caller_of_session(office.store, secret).scopes
    office.people.add("anna", roles=["senior"])
    assert "admin" not in caller_of_session(office.store, secret).scopes


# --- how it ends ---


def test_a_session_nobody_uses_ends_after_twelve_hours(
    office: Desk, sign_in: SignIn, clock: FakeClock
) -> None:
    _, used = sign_in()
    _, idle = sign_in()

    clock.advance(timedelta(hours=11, minutes=59))
    assert not refused(office.store, used)
    clock.advance(timedelta(minutes=1))

    assert [refused(office.store, secret) for secret in (used, idle)] == [False, True]


def test_no_session_lasts_longer_than_a_week(
    office: Desk, sign_in: SignIn, clock: FakeClock
) -> None:
    _, secret = sign_in()
    for _ in range(27):
        clock.advance(timedelta(hours=6))
        assert not refused(office.store, secret)

    clock.advance(timedelta(hours=6))

    assert refused(office.store, secret)
    assert list_sessions(office.store) == []


def test_sessions_that_are_over_are_forgotten_when_the_next_one_opens(
    office: Desk, sign_in: SignIn, clock: FakeClock, place: Place
) -> None:
    sign_in()
    clock.advance(timedelta(days=1))
    session, _ = sign_in()

    assert place.sql("select id from sessions") == [(session.id,)]
    assert office.verify()


def test_a_session_is_ended_by_its_id_also_by_an_administrator(
    office: Desk, sign_in: SignIn
) -> None:
    session, secret = sign_in()
    _, other = sign_in()

    end_session(office.store, session.id)

    assert [refused(office.store, each) for each in (secret, other)] == [True, False]
    event = office.store.stream("access")[-1]
    assert (event.kind, str(event.actor)) == ("session.ended", "person:anna")
    with pytest.raises(Misuse, match=session.id):
        end_session(office.store, session.id)

    session, secret = sign_in("ben")

    end_session(office.store, session.id, by="anna", origin=office.origin)

    assert refused(office.store, secret)
    assert str(office.store.stream("access")[-1].actor) == "person:anna"


def test_signing_somebody_out_ends_all_their_sessions_and_nobody_elses(
    office: Desk, sign_in: SignIn
) -> None:
    secrets = [sign_in("ben")[1] for _ in range(3)]
    _, other = sign_in("anna")

    assert sign_out(office.store, "ben", origin=office.origin) == 3
    assert sign_out(office.store, "ben", origin=office.origin) == 0
    assert [refused(office.store, each) for each in (*secrets, other)] == [True] * 3 + [False]
    assert office.verify()


def test_a_person_who_was_taken_out_by_hand_is_out_as_well(
    office: Desk, sign_in: SignIn, place: Place
) -> None:
    _, secret = sign_in("ben")

    place.sql("update people set active = 0 where name = 'ben'")

    assert refused(office.store, secret)
    assert list_sessions(office.store) == []


def test_whoever_is_removed_is_out_at_once_and_stays_out(office: Desk, sign_in: SignIn) -> None:
    _, secret = sign_in("ben")

    office.people.remove("ben")
    assert refused(office.store, secret)
    office.people.add("ben")
    assert refused(office.store, secret)
    assert office.verify()


def test_a_new_password_ends_all_sessions_but_the_one_it_was_set_in(
    office: Desk, sign_in: SignIn
) -> None:
    kept, here = sign_in("anna")
    _, elsewhere = sign_in("anna")
    _, others = sign_in("ben")

    set_password(office.store, "anna", PASSWORD, origin=office.origin, keep=kept.id)

    found = [refused(office.store, each) for each in (here, elsewhere, others)]
    assert found == [False, True, False]
    set_password(office.store, "anna", PASSWORD, origin=office.origin)
    assert refused(office.store, here)


def test_signing_in_again_gives_another_secret_and_ends_the_session_before(
    office: Desk, sign_in: SignIn, clock: FakeClock
) -> None:
    session, secret = sign_in()
    clock.advance("1h")

    again, other = sign_in(replaces=session.id)

    assert refused(office.store, secret)
    assert caller_of_session(office.store, other).signed_in_at == clock.now()
    assert [each.id for each in list_sessions(office.store)] == [again.id]
    assert office.verify()


# --- what is no session ---


@pytest.mark.parametrize("secret", ["", "0" * 43, None, 7, *HOSTILE])
def test_what_is_no_secret_of_ours_lets_nobody_in(office: Desk, secret: str) -> None:
    assert refused(office.store, secret)
    assert not use_link(office.store, secret)


def test_nobody_is_let_in_who_is_not_on_the_desk(office: Desk, sign_in: SignIn) -> None:
    for name in ("cleo", "", "agent:shop", *HOSTILE):
        with pytest.raises(UnknownPerson):
            sign_in(name)
    with pytest.raises(NotSignedIn):
        sign_in(None)
    assert list_sessions(office.store) == []


def test_what_a_browser_says_of_itself_is_kept_short_and_visible(
    office: Desk, sign_in: SignIn
) -> None:
    for text in HOSTILE:
        session, _ = sign_in(agent_string=text, address=text)
        assert session.agent_string.isprintable()
        assert len(session.agent_string) <= 200
    assert len(list_sessions(office.store, "anna")) == len(HOSTILE)
    assert list_sessions(office.store, "ben") == []
    assert office.verify()


# --- whoever sits at this machine ---


def test_a_link_lets_whoever_sits_here_in_once_within_five_minutes(
    desk: Desk, clock: FakeClock
) -> None:
    link = make_link(desk.store)

    assert use_link(desk.store, link)
    assert not use_link(desk.store, link)
    assert not use_link(desk.store, new_secret())

    early, late = make_link(desk.store), make_link(desk.store)

    clock.advance(timedelta(minutes=4, seconds=59))
    assert use_link(desk.store, early)
    clock.advance(timedelta(seconds=1))
    assert not use_link(desk.store, late)


def test_of_many_who_use_one_link_at_once_one_comes_in(live: Desk) -> None:
    for _ in range(10):
        link = make_link(live.store)
        came = at_once([partial(use_link, live.store, link)] * 6)
        assert sorted(came) == [False] * 5 + [True]


def test_links_that_are_over_are_forgotten(desk: Desk, clock: FakeClock, place: Place) -> None:
    make_link(desk.store)
    clock.advance("1h")
    make_link(desk.store)

    assert place.count("links") == 1


def test_whoever_sits_here_may_everything_until_the_first_person_comes(desk: Desk) -> None:
    session, secret = open_session(
        desk.store, None, how="link", address="127.0.0.1", agent_string="Firefox"
    )
    caller = caller_of_session(desk.store, secret)
    assert (caller.kind, caller.name, caller.how) == ("person", None, "link")
    assert {"admin", "decisions:write"} <= caller.scopes
    link = make_link(desk.store)

    desk.people.add("anna")

    assert refused(desk.store, secret)
    assert not use_link(desk.store, link)
    assert session.id not in [each.id for each in list_sessions(desk.store)]
    with pytest.raises(Misuse, match="people password"):
        make_link(desk.store)
