"""The trust in agents behind HTTP: the same verbs, the same books, the same errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from sayso import Ask, Desk
from sayso.asks.lawbook import default_policy
from sayso.errors import (
    AlreadyReported,
    BadValue,
    Forbidden,
    Misuse,
    SaysoError,
    UnknownAsk,
    UnknownKey,
)
from sayso.policy.reading import read as read_policy
from tests.places import Place
from tests.served import Served
from tests.trusted import LAW, granted, written

ORDERS = count(1)
Behind = Callable[..., Desk]


@pytest.fixture
def local(sqlite: Place) -> Iterator[Desk]:
    """The desk of the server, where anna and ada decide what tools of low risk do."""
    policy = read_policy(LAW, source="law.toml", default=default_policy())
    with Desk(sqlite.url, policy=policy) as desk:
        desk.law.coin = lambda: 0.999
        desk.people.add("anna", roles=["senior"])
        desk.people.add("ada", roles=["senior"])
        yield desk


@pytest.fixture
def behind(local: Desk) -> Iterator[Behind]:
    """Desks behind its server, with tokens of people and agents."""
    with Served(local) as server:
        opened: list[Desk] = []

        def sit_down(name: str, **given: Any) -> Desk:
            desk = Desk(server.url, token=server.token(name, **given))
            opened.append(desk)
            return desk

        yield sit_down
        for desk in opened:
            desk.close()


@pytest.fixture
def anna(behind: Behind) -> Desk:
    return behind("anna", kind="person")


@pytest.fixture
def bot(behind: Behind) -> Desk:
    return behind("bot", kind="agent", version="1")


def call(desk: Desk) -> Ask:
    return desk.open("refund", {"order": f"R-{next(ORDERS)}"}, version="1")


def carried(desk: Desk, ask: Ask) -> Ask:
    call = desk.begin(ask)
    return desk.finish(call, result=1)


def test_a_book_is_the_same_on_both_sides(local: Desk, anna: Desk) -> None:
    alone, locked = written(local, "granted"), written(local, "locked")

    assert anna.trust.key(alone.id) == local.trust.key(alone.id) == alone
    assert anna.trust.history(alone.id) == local.trust.history(alone.id)
    assert anna.trust.keys() == local.trust.keys() == list(anna.trust)
    assert anna.trust.keys(standing="locked") == local.trust.keys(standing="locked")
    assert dict(anna.trust.counts()) == {"granted": 1, "locked": 1}
    assert [anna.trust.alone(book.id) for book in (alone, locked)] == [True, False]


def test_grants_are_revoked_and_keys_reopened_from_elsewhere(local: Desk, anna: Desk) -> None:
    alone, locked = written(local, "granted"), written(local, "locked")

    revoked = anna.trust.revoke(alone.id, "New supplier")
    reopened = anna.trust.reopen(locked.id, by="anna")

    assert (revoked.ledger.standing, reopened.ledger.standing) == ("reviewed", "reviewed")
    last = local.trust.history(alone.id)[-1]
    assert (last.kind, str(last.actor), (last.payload or {})["note"]) == (
        *("trust.revoked", "person:anna"),
        "New supplier",
    )


def test_what_runs_alone_here_runs_alone_there(local: Desk, anna: Desk, bot: Desk) -> None:
    book = granted(local, lambda: call(bot), by="anna")

    ran = call(bot)

    assert ran.decision
    assert ran.decision.grant == book.id
    assert ran == local.get(ran.id)
    carried(bot, ran)
    harmed = anna.incident(ran.id, "Paid twice")
    assert harmed.harm is not None
    assert (harmed.harm.what, harmed.harm.by.id) == ("Paid twice", "anna")
    assert call(bot).open


def test_an_edit_says_from_elsewhere_whether_there_was_harm(
    local: Desk, anna: Desk, bot: Desk
) -> None:
    ask = anna.edit(anna.get(call(bot).id), {"order": "R-0"}, harmful=False)

    assert ask.decision
    assert ask.decision.harmful is False
    assert [row.marks for row in local.trust] == ["+"]


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (lambda desk: desk.trust.key("k-0000000000"), UnknownKey),
        (lambda desk: desk.trust.key("../asks"), UnknownKey),
        (lambda desk: desk.trust.key(7), UnknownKey),
        (lambda desk: desk.trust.revoke("k-0000000000"), UnknownKey),
        (lambda desk: desk.incident("a-0000", "Paid twice"), UnknownAsk),
        (lambda desk: desk.incident("a-0000", " "), BadValue),
        (lambda desk: desk.incident("a-0000", 7), BadValue),
    ],
)
def test_the_same_errors_as_beside_the_database(
    local: Desk, anna: Desk, act: Callable[[Desk], object], kind: type[SaysoError]
) -> None:
    for desk in (local, anna):
        with pytest.raises(kind) as caught:
            act(desk)
        assert type(caught.value) is kind


def test_whatever_does_not_apply_is_refused_in_the_same_words(
    local: Desk, anna: Desk, bot: Desk
) -> None:
    book = written(local, "reviewed")
    with pytest.raises(Misuse) as there:
        anna.trust.revoke(book.id)
    with pytest.raises(Misuse) as here:
        local.trust.revoke(book.id, by="anna")
    assert str(there.value) == str(here.value)

    ask = call(bot)
    with pytest.raises(Misuse, match="never carried out"):
        anna.incident(ask.id, "Paid twice")
    local.approve(ask.id, by="anna", seen=ask.digest)
    carried(bot, bot.get(ask.id))
    anna.incident(ask.id, "Paid twice")
    with pytest.raises(AlreadyReported) as twice:
        anna.incident(ask.id, "Paid twice")
    assert twice.value.by == "anna"


def test_nobody_speaks_for_somebody_else_and_no_agent_at_all(
    local: Desk, anna: Desk, bot: Desk
) -> None:
    book = written(local, "granted")

    with pytest.raises(Forbidden, match="who the token names"):
        anna.trust.revoke(book.id, by="ada")
    with pytest.raises(Forbidden, match="who the token names"):
        anna.incident("a-0000", "Paid twice", by="ada")
    with pytest.raises(Forbidden):
        bot.trust.keys()
    with pytest.raises(Forbidden):
        bot.trust.revoke(book.id)
    with pytest.raises(Forbidden):
        bot.incident("a-0000", "Paid twice")
    assert local.trust.alone(book.id)


# --- what a gate elsewhere says of its calls ---------------------------------------------------


def gate(desk: Desk, **options: Any) -> Ask:
    @desk.gate(name="refund", **options)
    def refund(order: int) -> int:
        return order

    made = refund.__sayso_gate__  # type: ignore[attr-defined]
    return desk.put(made.content(desk.forms, made.tool.bind((next(ORDERS),), {})), declared=True)


def test_a_gate_elsewhere_earns_in_the_version_of_its_token(bot: Desk, behind: Behind) -> None:
    stake = gate(bot, risk="medium").stake

    assert stake is not None
    assert (stake.version, stake.bucket, stake.tier) == ("1", "", "low")
    assert gate(behind("other", kind="agent"), risk="medium").stake is None


def test_a_gate_elsewhere_that_sorts_its_calls_earns_nothing(bot: Desk) -> None:
    assert gate(bot, risk="medium", bucket=lambda order: "small").stake is None
    assert gate(bot, risk="medium", earns=False).stake is None


def test_what_matters_is_not_for_an_agent_elsewhere_to_say(
    local: Desk, anna: Desk, bot: Desk
) -> None:
    ask = gate(bot, risk="medium", matters=[])

    anna.edit(anna.get(ask.id), {"order": 0})

    assert list(local.trust) == []


def test_a_rating_from_elsewhere_names_the_call_it_is_about(
    local: Desk, anna: Desk, bot: Desk
) -> None:
    ask = local.approve(call(bot), by="anna")
    carried(bot, bot.get(ask.id))
    rating = bot.later.feedback("40", of=ask.id)

    anna.reject(anna.get(rating.id), "No", kind="harmful")

    assert local.get(ask.id).harm is not None
