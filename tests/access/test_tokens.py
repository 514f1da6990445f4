"""Tokens: what they reach, and every way in which they stop counting."""

from __future__ import annotations

from datetime import timedelta
from typing import get_args

import pytest

from sayso import Desk
from sayso.access.caller import AGENT_SCOPES, AGENTS_MAY, PERSON_SCOPES, Scope
from sayso.access.secrets import is_token, new_token
from sayso.access.tokens import caller_of_token
from sayso.errors import BadValue, Misuse, NotSignedIn, UnknownPerson, WrongScope
from sayso.store import Store
from sayso.testing import FakeClock
from tests.access.conftest import HOSTILE
from tests.places import Place
from tests.together import at_once


def refused(store: Store, text: str) -> bool:
    try:
        caller_of_token(store, text)
    except NotSignedIn:
        return True
    return False


# --- what a token says ---


def test_an_agents_token_says_for_whom_and_a_persons_reaches_all_but_administration(
    office: Desk,
) -> None:
    token, text = office.tokens.make("shop", team="billing", owner="anna")

    caller = caller_of_token(office.store, text)

    assert (caller.kind, caller.name, caller.team, caller.owner) == (
        "agent",
        "shop",
        "billing",
        "anna",
    )
    assert (caller.how, caller.credential) == (f"token {token.id}", token.id)
    assert caller.scopes == set(AGENT_SCOPES)
    assert caller.signed_in_at is None

    _, text = office.tokens.make("anna", "person")

    caller = caller_of_token(office.store, text)

    assert (caller.kind, caller.name) == ("person", "anna")
    assert caller.scopes == set(PERSON_SCOPES)
    with pytest.raises(WrongScope, match="admin"):
        caller.check("admin")
    caller.check("decisions:write")


@pytest.mark.parametrize("scope", sorted(set(get_args(Scope)) - set(AGENTS_MAY)))
def test_no_agents_token_can_hold_more_than_agents_may(office: Desk, scope: str) -> None:
    with pytest.raises(BadValue, match=scope):
        office.tokens.make("shop", scopes=["asks:read", scope])

    assert list(office.tokens) == []


def test_a_row_that_was_given_more_by_hand_reaches_no_further(office: Desk, place: Place) -> None:
    _, agents = office.tokens.make("shop")
    _, bens = office.tokens.make("ben", "person")
    place.sql("update tokens set scopes = ?", "asks:read decisions:write admin")

    assert caller_of_token(office.store, agents).scopes == {"asks:read"}
    assert caller_of_token(office.store, bens).scopes == {"asks:read", "decisions:write"}
    assert {problem.what for problem in office.verify().problems} == {"index"}


def test_a_token_administers_while_its_person_does(office: Desk) -> None:
    _, text = office.tokens.make("anna", "person", scopes=["admin"])

    assert caller_of_token(office.store, text).scopes == {"admin"}
    with pytest.raises(BadValue, match="--admin"):
        office.tokens.make("ben", "person", scopes=["admin"])

    _, text = office.tokens.make("anna", "person", scopes=["admin", "asks:read"])

    office.people.add("anna", roles=["senior"])
    assert caller_of_token(office.store, text).scopes == {"asks:read"}
    office.people.add("anna", roles=["admin"])
    assert "admin" in caller_of_token(office.store, text).scopes


def test_in_solo_mode_only_agents_have_tokens(desk: Desk) -> None:
    _, text = desk.tokens.make("shop")

    assert caller_of_token(desk.store, text).name == "shop"
    with pytest.raises(UnknownPerson):
        desk.tokens.make("sam", "person")
    with pytest.raises(UnknownPerson):
        desk.tokens.make("shop", owner="sam")


@pytest.mark.parametrize(
    "given",
    [
        {"name": "anna"},
        {"name": "ANNA"},
        {"name": "shop "},
        {"name": "/shop"},
        {"name": ""},
        {"name": "person:ben", "kind": "person"},
        {"name": "shop", "kind": "policy"},
        {"name": "shop", "scopes": []},
        {"name": "shop", "scopes": "asks:read"},
        {"name": "shop", "scopes": ["asks:destroy"]},
        {"name": "shop", "team": "no good"},
        {"name": "shop", "expires": timedelta(0)},
        {"name": "ben", "kind": "person", "team": "billing"},
        {"name": "ben", "kind": "person", "owner": "anna"},
        *({"name": text} for text in HOSTILE),
    ],
)
def test_what_cannot_be_a_token_is_refused_and_nothing_is_written(
    office: Desk, given: dict[str, object], place: Place
) -> None:
    before = place.count()

    with pytest.raises(BadValue, match=r"name|token|[Ss]cope|span of time"):
        office.tokens.make(**given)  # type: ignore[arg-type]

    assert list(office.tokens) == []
    assert place.count() == before


def test_the_owner_and_whoever_makes_it_are_people_of_the_desk(office: Desk) -> None:
    with pytest.raises(UnknownPerson, match="cleo"):
        office.tokens.make("shop", owner="cleo")
    with pytest.raises(UnknownPerson, match="cleo"):
        office.tokens.make("shop", by="cleo")

    office.tokens.make("shop", owner="ben", by="anna")
    assert str(office.store.stream("access")[-1].actor) == "person:anna"


# --- how it stops counting ---


def test_a_token_expires_at_its_moment_or_counts_until_it_is_revoked_once(
    office: Desk, clock: FakeClock
) -> None:
    _, text = office.tokens.make("shop", expires="1h")

    clock.advance(timedelta(minutes=59, seconds=59))
    assert not refused(office.store, text)
    clock.advance(timedelta(seconds=1))
    assert refused(office.store, text)

    token, text = office.tokens.make("shop", expires=None)

    clock.advance(timedelta(days=3650))
    assert not refused(office.store, text)
    assert office.tokens.revoke(token.id).revoked_at == clock.now()
    assert refused(office.store, text)


def test_revoking_twice_is_one_event(office: Desk) -> None:
    token, _ = office.tokens.make("shop")
    first = office.tokens.revoke(token.id)

    assert office.tokens.revoke(token.id) == first
    kinds = [event.kind for event in office.store.stream("access")]
    assert kinds == ["token.made", "token.revoked"]
    with pytest.raises(Misuse, match="t-none"):
        office.tokens.revoke("t-none")


def test_whoever_is_removed_takes_their_tokens_and_those_of_their_agents_along(
    office: Desk,
) -> None:
    _, own = office.tokens.make("ben", "person")
    _, agents = office.tokens.make("shop", owner="ben")
    _, others = office.tokens.make("till", owner="anna")

    office.people.remove("ben")

    found = [refused(office.store, text) for text in (own, agents, others)]
    assert found == [True, True, False]
    office.people.add("ben")
    assert [refused(office.store, text) for text in (own, agents)] == [True, True], "nor ever again"
    assert office.verify()


def test_a_person_who_was_taken_out_by_hand_is_nobody_either(office: Desk, place: Place) -> None:
    _, own = office.tokens.make("ben", "person")
    _, agents = office.tokens.make("shop", owner="ben")

    place.sql("update people set active = 0 where name = 'ben'")

    assert refused(office.store, own)
    assert refused(office.store, agents)


def test_a_token_made_while_its_person_is_removed_does_not_outlive_them(live: Desk) -> None:
    """Whichever comes first: nothing is left that would count again with a person of this name."""
    live.people.add("anna")
    for number in range(6):
        live.people.add("ben")
        made: list[str] = []

        def make(made: list[str] = made) -> None:
            try:
                made.append(live.tokens.make("ben", "person")[1])
            except UnknownPerson:
                return

        at_once([make, lambda: live.people.remove("ben"), make])
        live.people.add("ben")
        assert [refused(live.store, text) for text in made] == [True] * len(made), number
    assert live.verify()


def test_many_tokens_made_at_once_are_all_made(live: Desk) -> None:
    texts = at_once([lambda: live.tokens.make("shop")[1] for _ in range(8)])

    assert len({caller_of_token(live.store, text).credential for text in texts}) == 8
    assert len(live.store.stream("access")) == 8


# --- its text ---


class Deaf:
    """A database that must not be asked."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"somebody asked the database for {name}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sayso_",
        "sayso_" + "0" * 49,
        "Bearer x",
        "sayso_" + "é" * 49,
        "sayso_\x00",
        "\udc80",
        "x" * 100_000,
        None,
        7,
        *HOSTILE,
    ],
)
def test_what_is_no_token_is_refused_without_asking_the_database(text: object) -> None:
    with pytest.raises(NotSignedIn):
        caller_of_token(Deaf(), text)  # type: ignore[arg-type]


def test_a_well_formed_token_of_somewhere_else_is_refused_in_the_same_words(office: Desk) -> None:
    token, text = office.tokens.make("shop")
    office.tokens.revoke(token.id)
    said = set()
    for wrong in (text, new_token(), "nonsense"):
        with pytest.raises(NotSignedIn) as raised:
            caller_of_token(office.store, wrong)
        said.add(str(raised.value))

    assert len(said) == 1


def test_tokens_have_256_bits_and_every_typo_is_noticed_without_the_database() -> None:
    made = [new_token() for _ in range(200)]

    assert len(set(made)) == 200
    assert {len(text) for text in made} == {len("sayso_") + 43 + 6}
    letters = {letter for text in made for letter in text[6:49]}
    assert len(letters) == 62

    text = new_token()
    assert is_token(text)
    for place in range(len("sayso_"), len(text)):
        other = "x" if text[place] != "x" else "y"
        typo = text[:place] + other + text[place + 1 :]
        with pytest.raises(NotSignedIn):
            caller_of_token(Deaf(), typo)  # type: ignore[arg-type]
    for place in range(len("sayso_"), len(text) - 1):
        swapped = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
        assert swapped == text or not is_token(swapped)


# --- when it was used ---


def test_use_is_noted_once_a_minute(office: Desk, clock: FakeClock, place: Place) -> None:
    _, text = office.tokens.make("shop")
    seen = []
    for _ in range(4):
        caller_of_token(office.store, text)
        seen.append(next(iter(office.tokens)).used_at)
        clock.advance(timedelta(seconds=30))

    start = seen[0]
    assert start is not None
    assert seen == [start, start, start + timedelta(minutes=1), start + timedelta(minutes=1)]
    assert len(office.store.stream("access")) == 1
