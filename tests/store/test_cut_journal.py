"""A journal whose end is gone, as after a crash of a disk that lied: `verify` names it, and nothing else breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sayso import Desk
from sayso.testing import FakeClock
from tests.keyed import call, law
from tests.places import Place


@pytest.fixture
def desk(place: Place, clock: FakeClock) -> Iterator[Desk]:
    with Desk(place.url, policy=law(), clock=clock, agent="shop", account="sam@till") as desk:
        desk.law.coin = lambda: 0.999  # nothing is picked
        yield desk


def decided(desk: Desk) -> str:
    return desk.approve(desk.open("mail", {"to": "anna"})).id


def carried_out(desk: Desk) -> str:
    return desk.finish(desk.begin(desk.approve(desk.open("mail", {"to": "ben"}))), "sent").id


def praised(desk: Desk) -> str:
    asks = [desk.approve(call(desk)) for _ in range(3)]
    assert asks[0].stake is not None
    return asks[0].stake.key


def done(desk: Desk) -> str:
    @desk.workflow
    def greet(run: object) -> str:
        return run.step(str, "hello")  # type: ignore[attr-defined,no-any-return]

    run = desk.run(greet)
    assert run.result(0) == "hello"
    return run.id


def people(desk: Desk) -> str:
    desk.people.add("sam", roles=["senior", "reviewer"])
    desk.people.add("ben")
    return "people"


def tokens(desk: Desk) -> str:
    for name in ("shop", "till"):
        desk.tokens.make(name)
    return "access"


def webhooks(desk: Desk) -> str:
    for _ in range(2):
        desk.webhooks.add("https://example.com/hook")
    return "webhooks"


STREAMS: dict[str, Callable[[Desk], str]] = {
    each.__name__: each for each in (decided, carried_out, praised, done, people, tokens, webhooks)
}


def look_around(desk: Desk) -> None:
    """Look at every list there is."""
    assert desk.inbox().count
    for things in (desk.trust, desk.people, desk.tokens, desk.webhooks, desk.runs()):
        list(things)


@pytest.mark.parametrize("name", STREAMS)
def test_a_journal_that_was_cut_off_is_named_and_nothing_else_breaks(
    desk: Desk, place: Place, name: str
) -> None:
    stream = STREAMS[name](desk)
    whole = desk.open("mail", {"to": "cleo"})
    assert desk.verify()
    last = desk.store.head(stream).seq
    place.sql("delete from events where stream = ? and seq = ?", stream, last)

    named = {problem.stream for problem in desk.verify().problems}

    assert named == {stream}
    with Desk(place.url, policy=law(), clock=desk.store._clock, account="sam@till") as fresh:  # type: ignore[attr-defined]
        for one in (desk, fresh):
            look_around(one)
            assert one.get(whole.id).open
            one.open("mail", {"to": f"dora {id(one)}"})
        assert fresh.approve(whole, by=None if fresh.people.solo else "sam").decision
        assert {problem.stream for problem in fresh.verify().problems} == {stream}
