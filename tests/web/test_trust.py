"""The trust in agents over HTTP: who sees it and steers it, and what an agent never learns."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx2
import pytest

from sayso import Desk
from sayso.asks.lawbook import default_policy
from sayso.autonomy.book import Book
from sayso.errors import BadValue
from sayso.model.wire import read_ask
from sayso.policy.reading import read as read_policy
from tests.places import Place
from tests.served import Served
from tests.trusted import LAW, granted, written

API = "/api/v1"
NAMES = count(1)


@pytest.fixture(scope="module")
def server(shared_place: Place) -> Iterator[Served]:
    """As others have it, with a policy that places tools in tiers."""
    policy = read_policy(LAW, source="law.toml", default=default_policy())
    with Desk(shared_place.url, agent="shop", policy=policy) as desk:
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ada", roles=["senior", "security"], teams=["billing"])
        desk.people.add("jo", teams=["billing"])
        desk.people.add("ben", roles=["senior"], teams=["support"])
        with Served(desk) as server:
            yield server


@pytest.fixture(autouse=True)
def unpicked(server: Served) -> None:
    """Nothing is picked by chance, unless a test says so."""
    server.desk.law.coin = lambda: 0.999


@pytest.fixture
def bot(server: Served) -> httpx2.Client:
    """An agent of billing that nobody has seen before."""
    return server.agent(f"clerk{next(NAMES)}", team="billing", version="1")


def asked(client: httpx2.Client, **said: Any) -> dict[str, Any]:
    body = {"tool": "refund", "args": {"order": f"R-{time.monotonic_ns()}"}, "version": "1", **said}
    answer = client.post(f"{API}/asks", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def grant(server: Served, client: httpx2.Client) -> Book:
    return granted(server.desk, lambda: read_ask(asked(client)), by="anna")


def code(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def done(client: httpx2.Client, ask: dict[str, Any]) -> None:
    call = client.post(f"{API}/asks/{ask['id']}/begin").json()
    body = {"attempt": call["attempt"], "holder": call["holder"], "result": 1}
    assert client.post(f"{API}/asks/{ask['id']}/finish", json=body).status_code == 200


# --- looking -----------------------------------------------------------------------------------


def test_keys_are_listed_with_how_many_stand_how(server: Served, anna: httpx2.Client) -> None:
    alone = written(server.desk, "granted", team="billing")
    locked = written(server.desk, "locked", team="billing")

    found = anna.get(f"{API}/trust").json()

    assert {one["id"]: one["standing"] for one in found["keys"]}.items() >= {
        (alone.id, "granted"),
        (locked.id, "locked"),
    }
    assert found["counts"]["locked"] >= 1
    only = anna.get(f"{API}/trust", params={"standing": "locked", "tool": "refund"}).json()["keys"]
    assert {one["standing"] for one in only} == {"locked"}
    assert next(one["bar"] for one in only if one["id"] == locked.id) == 160
    assert anna.get(f"{API}/trust", params={"agent": "nobody"}).json()["keys"] == []


def test_a_key_of_another_team_is_no_key(server: Served, ben: httpx2.Client) -> None:
    book = written(server.desk, "granted", team="billing")
    mine = written(server.desk, "granted", team="support")

    listed = [one["id"] for one in ben.get(f"{API}/trust").json()["keys"]]

    assert mine.id in listed
    assert book.id not in listed
    for answer in (
        ben.get(f"{API}/trust/{book.id}"),
        ben.post(f"{API}/trust/{book.id}/revoke"),
        ben.post(f"{API}/trust/{book.id}/reopen"),
        ben.get(f"{API}/trust/k-0000000000"),
    ):
        assert code(answer) == (404, "unknown-key")
    assert server.desk.trust.alone(book.id)


# --- steering ----------------------------------------------------------------------------------


def test_the_same_request_again_does_nothing_twice(server: Served, anna: httpx2.Client) -> None:
    book = written(server.desk, "granted", team="billing")
    headers = {"Idempotency-Key": f"revoke-{book.id}"}

    first = anna.post(f"{API}/trust/{book.id}/revoke", json={"note": "x"}, headers=headers)
    second = anna.post(f"{API}/trust/{book.id}/revoke", json={"note": "x"}, headers=headers)

    assert first.status_code == 200, first.text
    assert second.json() == first.json()
    assert len(server.desk.trust.history(book.id)) == book.seq + 1


def test_only_who_decides_its_calls_reopens_a_key(server: Served, anna: httpx2.Client) -> None:
    book = written(server.desk, "locked", team="billing")

    assert code(server.person("jo").post(f"{API}/trust/{book.id}/reopen")) == (403, "forbidden")
    said = anna.post(f"{API}/trust/{book.id}/reopen", json={"note": "Mended"}).json()

    assert (said["standing"], said["ends"], said["score"]) == ("reviewed", 3, 1.0)


# --- harm --------------------------------------------------------------------------------------


def test_an_incident_ends_the_grant_and_is_counted_once(
    server: Served, bot: httpx2.Client, anna: httpx2.Client, ada: httpx2.Client
) -> None:
    book = grant(server, bot)
    ran = asked(bot)
    done(bot, ran)
    place, headers = f"{API}/asks/{ran['id']}/incident", {"Idempotency-Key": "harm-1"}

    first = anna.post(place, json={"harm": "Paid twice"}, headers=headers)
    same = anna.post(place, json={"harm": "Paid twice"}, headers=headers)
    other = ada.post(place, json={"harm": "Paid twice"})

    assert first.json()["harm"] == {"what": "Paid twice", "by": "person:anna"}
    assert same.json() == first.json()
    assert code(other) == (409, "already-reported")
    assert other.json()["more"]["by"] == "anna"
    assert server.desk.trust.key(book.id).ledger.ends == 1
    assert asked(bot)["status"] == "open"


# --- what an agent cannot choose, and never learns ---------------------------------------------


def test_an_agent_cannot_tell_an_audit_from_another_wait(
    server: Served, bot: httpx2.Client
) -> None:
    reviewed = asked(bot)
    grant(server, bot)
    server.desk.law.coin = lambda: 0.0
    audited = asked(bot)

    assert audited["status"] == reviewed["status"] == "open"
    assert seen_by(bot, audited) == seen_by(bot, reviewed)


def seen_by(client: httpx2.Client, ask: dict[str, Any]) -> Any:
    """Everything an agent can read of its ask, but for what is different on any two."""
    place = f"{API}/asks/{ask['id']}"
    whole = client.get(place).json(), client.get(f"{place}/events").json()
    own = {"digest", "hash", "head", "salt", "order", "cursor", "micros", "at"}
    times = {"opened_at", "changed_at", "due_at"}

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: "..." if name in own | times else plain(one) for name, one in value.items()
            }
        if isinstance(value, list):
            return [plain(one) for one in value]
        return "..." if value == ask["id"] else value

    return plain(list(whole))


def test_an_agent_follows_its_asks_and_not_its_keys(server: Served, bot: httpx2.Client) -> None:
    grant(server, bot)

    text = bot.get(f"{API}/events", params={"follow": "false", "after": ""}, timeout=60).text

    assert "ask.opened" in text
    assert "trust.fine" not in text
    assert "trust.ratified" not in text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("bucket", "small"),
        ("matters", []),
        ("stakes", {"bucket": "small"}),
        ("tier", "low"),
        ("trust", {"key": "k-0000000000"}),
    ],
)
def test_an_agent_does_not_say_what_kind_of_call_it_is(
    bot: httpx2.Client, field: str, value: Any
) -> None:
    body = {"tool": "refund", "args": {}, field: value}

    assert code(bot.post(f"{API}/asks", json=body)) == (422, "invalid-request")


def test_a_call_counts_for_the_kind_that_its_argument_says(
    server: Served, bot: httpx2.Client
) -> None:
    def credit(**args: Any) -> dict[str, Any]:
        return asked(bot, tool="credit", args={"sum": 1, **args})

    euros = granted(server.desk, lambda: read_ask(credit(currency="EUR")), by="anna")

    assert euros.key.bucket == 'currency="EUR"'
    assert credit(currency="EUR")["status"] == "decided"
    assert credit(currency="USD")["status"] == "open"
    assert credit(currency="EUR" * 30)["trust"] is None
    assert credit()["trust"] is None
    assert code(bot.post(f"{API}/asks", json={"tool": "credit", "bucket": 'currency="EUR"'})) == (
        422,
        "invalid-request",
    )


def test_an_agent_does_not_lower_its_tier(bot: httpx2.Client) -> None:
    plain, low = asked(bot, tool="wire"), asked(bot, tool="wire", risk="low")

    assert low["trust"] == plain["trust"]
    assert low["trust"]["tier"] == "high"
    assert asked(bot, tool="drop", risk="low")["trust"] is None


def test_nobody_passes_for_who_asks_about_keys(server: Served, anna: httpx2.Client) -> None:
    body = {"title": "Let clerk run refund alone?", "agent": "sayso"}

    assert code(anna.post(f"{API}/asks", json=body)) == (403, "forbidden")
    with pytest.raises(BadValue, match="asks about the trust in agents"):
        server.token("sayso", kind="agent")


def test_the_policy_says_what_can_be_earned(anna: httpx2.Client) -> None:
    said = anna.get(f"{API}/policy").json()["autonomy"]
    could = anna.post(f"{API}/policy/simulate", json={"tool": "refund", "agent": "bot"}).json()
    never = anna.post(f"{API}/policy/simulate", json={"tool": "drop"}).json()

    assert (said["enabled"], said["detection"]) == (True, None)
    assert (could["earnable"], could["unearned"]) == (True, None)
    assert could["key"] == {"agent": "bot", "tool": "refund", "tier": "low"}
    assert (never["earnable"], never["key"]) == (False, None)
    assert never["unearned"] == "nothing of the tier critical is"
    body = {"tool": "Credit", "args": {"currency": ["EUR"]}}
    assert "sorted by currency" in anna.post(f"{API}/policy/simulate", json=body).json()["unearned"]
