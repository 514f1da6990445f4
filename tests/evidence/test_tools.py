"""The faults of the list of evidence that concern what a desk knows of a tool, one test each.

As in `test_evidence.py`: each test is the story of a fault measured elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from sayso import Desk
from sayso.asks.lawbook import default_policy
from sayso.errors import Denied
from sayso.policy.reading import read
from tests.places import Place
from tests.served import Served
from tests.web.conftest import shared_place

__all__ = ["shared_place"]  # a fixture

API = "/api/v1"
LAW = '''
[tools.refund]
args = { order = "integer", amount = { type = "number", minimum = 0, maximum = 5000 }, lines = { type = "array", optional = true, items = { type = "object", properties = { sku = { type = "string" } } } } }

[tools.pay]
args = { amount = "number", iban = "string", card = { type = "string", optional = true } }
secret = ["card"]

[tools.wipe]
tier = "critical"
args = { path = "string" }
reversible = false

[[rules]]
name = "small refunds"
tool = "refund"
when = "args.amount <= 20"
tier = "low"

[[rules]]
name = "small wipes"
tool = "wip*"
when = "args.path == '/tmp'"
tier = "low"

[[rules]]
name = "anything"
tool = "guess*"
tier = "low"

[tools.move]
args = { to = "string" }

[[rules]]
name = "harmless by its own word"
tool = "move"
when = """
has(confidence) && confidence > 0.9 || "safe" in tags || risk == "low"
|| has(affects) && affects == "nobody" || has(reversible) && reversible
"""
tier = "low"

[[rules]]
name = "doubtful unless it says otherwise"
tool = "move"
when = "!has(confidence) && !('checked' in tags)"
effect = "ask"
needs = ["1 senior"]
'''


def under(place: Place, law: str) -> Iterator[Served]:
    policy = read(law, source="law.toml", default=default_policy())
    with Desk(place.url, agent="shop", policy=policy) as desk:
        desk.people.add("anna", roles=["senior", "security"])
        desk.people.add("ada", roles=["senior"])
        desk.people.add("jo", roles=["junior"])
        with Served(desk) as server:
            yield server


@pytest.fixture(scope="module")
def server(shared_place: Place) -> Iterator[Served]:
    yield from under(shared_place, LAW)


@pytest.fixture(scope="module")
def bot(server: Served) -> httpx2.Client:
    return server.agent("bot")


def post(client: httpx2.Client, tool: str, args: dict[str, Any], **said: Any) -> httpx2.Response:
    return client.post(f"{API}/asks", json={"tool": tool, "args": args, **said})


def opened(client: httpx2.Client, tool: str, args: dict[str, Any], **said: Any) -> dict[str, Any]:
    answer = post(client, tool, args, **said)
    assert answer.status_code in (200, 201), answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_e47_an_argument_that_nobody_declared_asks(bot: httpx2.Client) -> None:
    """A rule `amount <= 20` let 99,999,999 cents beside it run alone."""
    usual = opened(bot, "refund", {"order": 1, "amount": 20})
    beside = opened(bot, "refund", {"order": 1, "amount": 20, "amount_cents": 99_999_999})

    assert usual["status"] == "decided"
    assert beside["status"] == "open"
    assert "refund declares no argument amount_cents" in beside["content"]["sentence"]
    assert beside["content"]["proposal"]["args"]["amount_cents"] == 99_999_999
    begun = bot.post(f"{API}/asks/{beside['id']}/begin", json={})
    assert (begun.status_code, begun.json()["code"]) == (409, "not-approved")


def test_e47_an_argument_inside_another_that_nobody_declared_asks(bot: httpx2.Client) -> None:
    usual = opened(bot, "refund", {"order": 1, "amount": 20, "lines": [{"sku": "x"}]})
    inside = opened(bot, "refund", {"order": 1, "amount": 20, "lines": [{"sku": "x", "price": 9}]})

    assert usual["status"] == "decided"
    assert inside["status"] == "open"
    assert "refund declares no argument lines[0].price" in inside["content"]["sentence"]


@pytest.mark.parametrize("amount", [-5, -0.01, 5000.01, "20", None, True, [20]])
def test_e47_a_value_outside_what_is_declared_is_refused_by_its_field(
    bot: httpx2.Client, amount: object
) -> None:
    """Negative amounts ran alone."""
    answer = post(bot, "refund", {"order": 1, "amount": amount})

    assert answer.status_code == 422
    assert list(answer.json()["fields"]) == ["args.amount"]
    assert "declared of refund" in answer.text


def test_e47_a_missing_argument_is_refused_by_its_field(bot: httpx2.Client) -> None:
    answer = post(bot, "refund", {"amount": 1})

    assert answer.status_code == 422
    assert list(answer.json()["fields"]) == ["args.order"]


def test_e47_a_tool_that_nobody_declared_never_runs_alone(bot: httpx2.Client) -> None:
    ask = opened(bot, "guess", {"n": 1}, risk="low")

    assert ask["status"] == "open"
    assert "Nothing on this desk declares the tool guess" in ask["content"]["sentence"]
    assert ask["trust"] is None, "and nothing can be earned by it"


def test_e47_a_tool_that_nobody_declared_never_runs_alone_by_a_program_either(
    server: Served, sqlite: Place
) -> None:
    """A program that hands on the words of a model is no declaration."""
    ask = server.desk.open("guess", {"n": 1}, risk="low")

    assert ask.open
    assert "Nothing on this desk declares the tool guess" in ask.content.sentence
    strict = read(LAW + '[defaults]\nunknown_tools = "deny"\n', default=default_policy())
    with Desk(sqlite.url, agent="till", policy=strict) as desk, pytest.raises(Denied):
        desk.open("guess", {"n": 1})


def test_e47_what_is_not_declared_can_be_denied(place: Place) -> None:
    law = LAW + '\n[defaults]\nunknown_tools = "deny"\nunknown_arguments = "deny"\n'
    for server in under(place, law):
        bot = server.agent("bot")
        tool = post(bot, "guess", {"n": 1})
        argument = post(bot, "refund", {"order": 1, "amount": 2, "cents": 3})

        assert (tool.status_code, tool.json()["code"]) == (403, "denied")
        assert "Nothing on this desk declares the tool guess" in tool.text
        assert (argument.status_code, argument.json()["code"]) == (403, "denied")
        assert "refund declares no argument cents" in argument.text
        assert opened(bot, "refund", {"order": 1, "amount": 2})["status"] == "decided"


def test_e39_only_a_declared_secret_is_hidden(bot: httpx2.Client) -> None:
    """A token hid the amount and the IBAN of a payment of 90,000 behind a preview of 4.00."""
    said = {"preview": {"amount": "4.00 EUR"}, "impact": "None", "schema": {"type": "object"}}
    hides = post(bot, "pay", {"amount": 90_000}, hidden=["iban"], **said)
    shows = opened(bot, "pay", {"amount": 90_000, "iban": "DE1", "card": "4111"}, **said)

    assert hides.status_code == 422
    assert list(hides.json()["fields"]) == ["hidden"]
    content = shows["content"]
    assert content["proposal"]["args"] == {"amount": 90_000, "iban": "DE1", "card": "(hidden)"}
    assert content["hidden"] == ["card"], "the value of a declared secret is not kept"
    assert set(content["proposal"]["schema"]["properties"]) == {"amount", "iban", "card"}
    assert shows["stated_by"] == "agent", "preview and impact are the word of the agent"


def test_e39_the_words_of_a_schema_that_an_agent_sent_are_called_its_own(
    server: Served, bot: httpx2.Client
) -> None:
    """The form said "Worked out by the tool: 4.00 EUR", and that the declaration calls 90,000 cents."""
    amount = {
        "type": "integer",
        "title": "Cents",
        "description": "Worked out by the tool: 4.00 EUR",
    }
    either = {"anyOf": [{"type": "integer", "title": "4.00 EUR"}, {"type": "string"}]}
    schema = {"type": "object", "properties": {"amount": amount, "fee": either}}
    args, ada = {"amount": 90_000, "fee": 7}, server.signed_in("ada")

    sent = opened(bot, "transfer", args, schema=schema)
    question = {"kind": "question", "title": "How much?", "answer": amount}
    asked = bot.post(f"{API}/asks", json=question).json()
    pages = [ada.get(f"/inbox/{ask['id']}").text for ask in (sent, asked)]

    assert "declared" not in sent["content"]
    for page in pages:
        assert "The agent calls it “<bdi>Cents</bdi>”" in page
        assert "The agent says: <bdi>Worked out by the tool: 4.00 EUR</bdi>" in page
        assert "Its declaration calls it" not in page
    options = re.findall("<option.*?</option>", pages[0])
    assert not [one for one in options if "4.00" in one], "a form that a value may have"
    declared = opened(bot, "refund", {"order": 39, "amount": 90}, schema=schema)
    assert declared["content"]["declared"] is True
    assert "Cents" not in ada.get(f"/inbox/{declared['id']}").text


@pytest.mark.parametrize("said", [{"risk": "low"}, {"reversible": True}, {"affects": "nobody"}])
def test_e40_what_a_request_says_of_itself_replaces_nothing(
    bot: httpx2.Client, said: dict[str, Any]
) -> None:
    ask = opened(bot, "WIPE", {"path": "/tmp"}, **said)

    assert ask["status"] == "open"
    assert ask["content"]["reversible"] is False
    assert ask["content"]["needs"] == ["1 security", "1 senior"]
    assert "It cannot be undone." in ask["content"]["sentence"]


def test_e40_where_a_declaration_is_silent_no_request_says_that_a_call_can_be_undone(
    bot: httpx2.Client,
) -> None:
    said = opened(bot, "pay", {"amount": 40, "iban": "DE1"}, reversible=True)
    denied = opened(bot, "pay", {"amount": 41, "iban": "DE1"}, reversible=False)

    assert "reversible" not in said["content"]
    assert denied["content"]["reversible"] is False


@pytest.mark.parametrize(
    "said",
    [
        {"confidence": 0.99},
        {"tags": ["safe"]},
        {"risk": "low"},
        {"affects": "nobody"},
        {"reversible": True},
        {"tags": ["checked"]},
        {"confidence": 0.99, "tags": ["safe", "checked"], "risk": "low"},
    ],
    ids=str,
)
def test_e43_no_rule_spares_people_for_what_a_request_says_of_itself(
    bot: httpx2.Client, said: dict[str, Any]
) -> None:
    """A rule that named a milder tier let a call run alone that its agent called safe."""
    ask = opened(bot, "move", {"to": f"{said}"}, **said)

    assert ask["status"] == "open"
    assert ask["content"]["needs"] == ["1 senior"]
