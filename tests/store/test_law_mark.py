"""What rests on a ruling is written only while the law has the mark that it was ruled by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sayso import Desk
from sayso.asks.law import NO_LAW, add_to_law, law_of, mark_of
from sayso.asks.opening import opening
from sayso.asks.standing import grow, standing
from sayso.errors import Tampered
from sayso.model.actor import Actor, Origin
from sayso.model.event import GENESIS, link
from sayso.model.ids import short_id
from sayso.store.contract import LAW, Append, InboxQuery
from tests.places import Place

ANNA = Actor("person", "anna")
HERE = Origin("python", "anna@till")


def publish(desk: Desk, **said: Any) -> bytes:
    """Write one more version of the policy, and return the mark of the law after it."""
    law = law_of(desk.store)
    given = {"kind": "default", **said}
    assert add_to_law(desk.store, law, "policy.published", actor=ANNA, origin=HERE, **given)
    return mark_of(desk.store)


def test_an_ask_is_read_with_the_mark_of_the_law_if_there_is_one(desk: Desk) -> None:
    ask = desk.open("refund", {"amount": 1})

    assert standing(desk.store, ask.id).law == b""
    assert mark_of(desk.store) == b""
    assert law_of(desk.store) == NO_LAW

    ask = desk.open("refund", {"amount": 1})
    first = publish(desk)
    second = publish(desk)

    assert first != second
    assert standing(desk.store, ask.id).law == second
    assert [one.law for one in desk.store.inbox(InboxQuery()).loaded] == [second]
    law = law_of(desk.store)
    assert (law.mark, law.versions, law.policy and law.policy.number) == (second, 2, 2)


@pytest.mark.parametrize("kind", ["ask.voted", "ask.decided", "ask.edited", "effect.intended"])
def test_the_next_event_of_an_ask_is_refused_once_the_law_is_another_one(
    desk: Desk, kind: str
) -> None:
    ask = desk.open("refund", {"amount": 1})
    mark = publish(desk)
    said: dict[str, Any] = {"verdict": "approve", "seen": ask.digest}
    said |= {"via": "python", "account": "x"}
    if kind == "ask.edited":
        said |= {"verdict": "edit", "args": {"amount": 2}}
    if kind == "effect.intended":
        desk.approve(ask)
        ask, said = desk.get(ask.id), said | {"key": "k", "attempt": 1, "digest": ask.digest}
    event, grown = grow(ask, kind, at=desk.store.now(), actor=ANNA, payload=said)

    assert not desk.store.commit(Append(event=event, ask=grown, law=b""))
    assert not desk.store.commit(Append(event=event, ask=grown, law=bytes(32)))
    assert desk.store.commit(Append(event=event, ask=grown, law=mark))


def test_an_opening_is_refused_once_the_law_is_another_one(desk: Desk) -> None:
    content = desk.open("refund", {"amount": 1}).content
    line = opening(short_id("a", b"x" * 16, 6), content, store=desk.store, origin=HERE, law=b"")
    mark = publish(desk)

    assert not desk.store.commit(line)
    assert desk.store.commit(replace(line, law=mark))


@pytest.mark.parametrize("number", [1, 2])
def test_an_event_of_no_ask_is_refused_once_the_law_is_another_one(desk: Desk, number: int) -> None:
    """Such as a call of a run that needs nobody; also behind one of the same commit."""
    appends, before = [], GENESIS
    for seq in range(1, number + 1):
        event = link(
            "r-abc",
            seq,
            "step.begun",
            at=desk.store.now(),
            actor=ANNA,
            payload={},
            salt=bytes(16),
            previous=before,
        )
        appends.append(Append(event=event))
        before = event.hash
    mark = publish(desk)
    appends[-1] = replace(appends[-1], law=b"")

    assert not desk.store.commit(*appends)
    assert desk.store.head("r-abc").seq == 0
    appends[-1] = replace(appends[-1], law=mark)
    assert desk.store.commit(*appends)


def test_what_is_known_of_the_law_is_read_on_from(desk: Desk) -> None:
    publish(desk)
    known = law_of(desk.store)
    publish(desk, note="again")

    assert law_of(desk.store, known) == law_of(desk.store)
    assert law_of(desk.store, replace(known, mark=bytes(32))) == law_of(desk.store), "another desk"


def test_of_two_who_put_something_in_force_one_does_and_what_is_strange_is_seen(desk: Desk) -> None:
    law = law_of(desk.store)
    publish(desk)

    assert not add_to_law(
        desk.store, law, "policy.published", actor=ANNA, origin=HERE, kind="default"
    )
    assert law_of(desk.store).versions == 1

    publish(desk)
    add_to_law(desk.store, law_of(desk.store), "tool.invented", actor=ANNA, origin=HERE)

    assert law_of(desk.store).strange == "tool.invented"
    assert LAW == "law"


@pytest.mark.parametrize(
    "change",
    [
        "update events set actor = 'person:ben' where stream = 'law' and seq = 1",
        "update events set payload = null, salt = null where stream = 'law' and seq = 2",
        "delete from events where stream = 'law' and seq = 1",
    ],
)
def test_a_law_that_was_changed_by_hand_is_none(place: Place, desk: Desk, change: str) -> None:
    publish(desk)
    publish(desk)
    place.sql(change)

    with pytest.raises(Tampered, match="nothing is ruled"):
        law_of(desk.store)
