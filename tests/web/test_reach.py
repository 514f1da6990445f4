"""How far a grant reaches over HTTP (E45): the arguments that people saw, in the version of the token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from sayso import Desk
from sayso.asks.lawbook import default_policy
from sayso.model.wire import read_ask
from sayso.policy.reading import read as read_policy
from sayso.testing import FakeClock
from tests.fine import fine
from tests.places import Place
from tests.served import Served

LAW = """
[tools.refund]
tier = "low"

[tools.refund.args]
amount = { type = ["number", "string", "boolean", "null", "array", "object"], optional = true }
amount_cents = { type = "integer", optional = true }

[tiers.low]
needs = ["1 reviewer"]
"""
NEEDED = 98


@pytest.fixture
def server(place: Place, clock: FakeClock) -> Iterator[Served]:
    """A desk with a junior and a senior, of which chance picks nothing."""
    policy = read_policy(LAW, source="law.toml", default=default_policy())
    with Desk(place.url, agent="shop", policy=policy, clock=clock) as desk:
        desk.people.add("jun", roles=["junior"])
        desk.people.add("ann", roles=["senior"])
        desk.law.coin = lambda: 0.999
        with Served(desk) as server:
            yield server


def post(bot: httpx2.Client, amount: Any, **more: Any) -> dict[str, Any]:
    body = {"tool": "refund", "args": {"amount": amount, **more.pop("args", {})}, "version": "1"}
    answer = bot.post("/api/v1/asks", json=body | more)
    assert answer.status_code in (200, 201), answer.text
    found: dict[str, Any] = answer.json()
    return found


def ratified(server: Served, bot: httpx2.Client, clock: FakeClock) -> None:
    """98 refunds of 1 EUR that a junior finds to be fine, the last one a day later, and the grant."""
    desk = server.desk
    for number in range(NEEDED):
        if number == NEEDED - 1:
            clock.advance("1d")
        desk.approve(read_ask(post(bot, 1)), by="jun")
    [key] = list(desk.trust)
    assert key.grant_ask is not None
    desk.approve(desk.get(key.grant_ask), by="jun")
    assert desk.trust.alone(key.id)


def earned(server: Served, bot: httpx2.Client) -> None:
    """The same, most of it written into the book of the key."""
    desk, ask = server.desk, read_ask(post(bot, 1))
    book = fine(desk, ask, NEEDED - 1)
    desk.approve(ask, by="jun")
    desk.approve(desk.get(str(desk.trust.key(book.id).grant_ask)), by="jun")


def test_98_refunds_of_1_eur_let_no_refund_of_a_million_run_alone_e45(
    server: Served, clock: FakeClock
) -> None:
    bot = server.agent("clerk", version="1")
    ratified(server, bot, clock)

    alone = [post(bot, 1)["status"] for _ in range(3)]
    dear = post(bot, 1_000_000)
    unseen = post(bot, 1, args={"amount_cents": 99_999_999})
    missing = bot.post("/api/v1/asks", json={"tool": "refund", "args": {}, "version": "1"}).json()

    assert alone == ["decided"] * 3
    assert dear["status"] == "open"
    assert "amount: 1,000,000 is outside what people approved: 1." in dear["content"]["sentence"]
    assert unseen["status"] == "open"
    assert "Too few approved calls had amount_cents with a number." in unseen["content"]["sentence"]
    assert missing["status"] == "open"
    assert "Too few approved calls were without amount." in missing["content"]["sentence"]


def test_an_agent_does_not_say_which_version_it_is(server: Served) -> None:
    bot = server.agent("clerk", version="1")
    earned(server, bot)
    other, none = server.agent("clerk", version="2"), server.agent("clerk")

    assert post(bot, 1)["trust"]["version"] == "1"
    assert post(other, 1)["trust"] is None
    assert post(other, 1, version="2")["status"] == "open"
    assert post(none, 1)["trust"] is None
    assert post(bot, 1, version="2")["trust"] is None


def test_whatever_else_stands_for_an_amount_asks(server: Served) -> None:
    bot = server.agent("clerk", version="1")
    earned(server, bot)
    others: list[Any] = [1.0000001, -1, 0, 10**30, "1", True, None, [1], {"value": 1}]

    assert post(bot, 1)["status"] == "decided"
    assert [post(bot, amount)["status"] for amount in others] == ["open"] * len(others)
