"""Whatever an agent sends: nothing runs that the rule of the declared tool would have stopped.

Bodies come from the OpenAPI document of the running service, and names from every spelling that reads
like a declared one. What may run alone is worked out here, from the declarations alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sayso import Desk
from sayso.asks.lawbook import default_policy
from sayso.channels.facts import facts_of
from sayso.model.names import check_name
from sayso.model.wire import read_ask
from sayso.policy.reading import read
from tests.hostile import BIDI, ZERO_WIDTH
from tests.served import Served

API = "/api/v1"
LAW = """
[tools.pay]
args = { amount = { type = "number", minimum = 0, maximum = 5000 }, iban = "string", card = { type = "string", optional = true }, meta = { type = "object", optional = true, properties = { memo = { type = "string" } } } }
secret = ["card"]

[tools.note]
tier = "low"
args = { text = { type = "string", maxLength = 20 } }

[tools.wipe]
args = { path = "string" }

[[rules]]
name = "small"
tool = "pa*"
when = "args.amount <= 20"
tier = "low"

[[rules]]
name = "never"
tool = "wipe"
effect = "deny"
"""
NAMES = {
    "pay": ("amount", "iban", "card", "meta"),
    "note": ("text",),
    "wipe": ("path",),
    "drop": ("table",),  # which code declares
}
SECRET = {"card"}
# Cyrillic and Greek letters that look like ASCII ones.
ALIKE = str.maketrans({"a": "а", "e": "е", "p": "р", "i": "і", "o": "ο", "n": "п"})  # noqa: RUF001


def spellings(name: str) -> st.SearchStrategy[str]:
    """Names that read like this one."""
    wide = "".join(chr(ord(char) + 0xFEE0) for char in name)
    marked = f"{name[0]}\u0301{name[1:]}"
    told = (name, name.upper(), name.title(), f"{name} ", f"{name}\u00a0", f" {name}", f"{name}s")
    hidden = (f"{name}\u200b", f"{name}\0", f"\ufeff{name}", name[:-1], BIDI, ZERO_WIDTH)
    alike = (wide, name.translate(ALIKE), unicodedata.normalize("NFD", name), marked)
    return st.sampled_from((*told, *hidden, *alike))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10**10) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=6), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
VALUES = {
    "amount": st.just(20) | st.sampled_from([0, 20.01, 5000, 5001, -1, "20", True]) | JSON,
    "iban": st.just("DE1") | st.just("DE2") | JSON,
    "card": st.just("4111") | JSON,
    "meta": st.just({"memo": "x"})
    | st.just({"memo": "x", "cents": 9})
    | st.just({"of": [{"a": 1}]}),
    "text": st.just("hello") | st.text(max_size=30),
    "path": st.just("/tmp"),
    "table": st.just("orders"),
}


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    """A body of `POST /asks` that calls something like a declared tool."""
    tool = draw(st.sampled_from([*sorted(NAMES), "pay", "pay"]))  # has most that can go wrong
    args = {name: draw(VALUES[name]) for name in NAMES[tool] if draw(st.integers(0, 3))}
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        near = draw(st.sampled_from([*NAMES[tool], "amount_cents"]))
        args[draw(spellings(near))] = draw(JSON)
    left_out = [name for name in NAMES[tool] if name not in args]
    hides = {"hidden": left_out} if draw(st.integers(0, 3)) and left_out else {}
    others = st.sampled_from([f"{tool}s", tool[:-1]])  # which the pattern of a rule may mean
    called = draw(st.just(tool) | st.just(tool) | others | spellings(tool))
    return {"tool": called, "args": args, **hides}


def fields(document: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """What else a body may say, by the OpenAPI document: of each field values of its type."""
    schemas = document["components"]["schemas"]
    known = schemas["AskPost"]["properties"]
    said = {
        "hidden": st.lists(st.sampled_from(["amount", "iban", "card", "x"]), max_size=2),
        "risk": st.sampled_from(["low", "medium", "high", "critical"]),
        "schema": st.sampled_from(
            [{}, {"type": "object"}, {"properties": {"amount": {"const": 1}}}, {"type": "integer"}]
        ),
        "preview": st.just({"amount": "4.00 EUR"}),
        "kind": st.sampled_from(["action", "notice", "plan"]),
        "allow": st.sampled_from([["approve", "reject"], ["reject"]]),
        "needs": st.sampled_from([["1 reviewer"], ["1 junior"], ["2 senior"]]),
        "confidence": st.floats(0, 1),
        "facts": st.just({"amount": 1}),
        "conflicts": st.just(["It contradicts itself"]),
    }
    # The rest by its type; what names an agent, a run or a file of its own is not for this test.
    left = (
        set(known) - set(said) - {"tool", "args", "agent", "run", "about", "files", "lease", "key"}
    )
    said |= {name: of_type(known[name]) for name in sorted(left)}
    few: st.SearchStrategy[list[str]] = st.just([]) | st.lists(
        st.sampled_from(sorted(said)), max_size=2, unique=True
    )
    return few.flatmap(lambda names: st.fixed_dictionaries({name: said[name] for name in names}))


def of_type(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    forms = schema.get("anyOf", [schema])
    known = {
        "boolean": st.booleans(),
        "string": st.text(max_size=8) | st.just("1h"),
        "number": st.floats(0, 1),
        "integer": st.just(1),
        "array": st.just([]) | st.lists(st.text(max_size=5), max_size=2),
        "object": st.just({}),
    }
    named = [known[one["type"]] for one in forms if one.get("type") in known]
    return st.one_of(named) if named else JSON


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    policy = read(LAW + "[agents]\nasks = false\nwaiting = false\n", default=default_policy())
    where = f"sqlite:///{tmp_path_factory.mktemp('tools')}/desk.db"
    with Desk(where, agent="shop", policy=policy) as desk:
        desk.people.add("anna", roles=["senior"])
        desk.people.add("ada", roles=["senior", "security"])
        desk.people.add("jo", roles=["junior"])

        @desk.gate(risk="critical")
        def drop(table: str) -> str:
            return table

        desk.law.current(desk.store)
        with Served(desk) as served:
            yield served


@pytest.fixture(scope="module")
def bot(server: Served) -> httpx2.Client:
    return server.agent("bot")


@pytest.fixture(scope="module")
def document(bot: httpx2.Client) -> dict[str, Any]:
    found: dict[str, Any] = bot.get("/openapi.json").json()
    return found


def may_run_alone(body: dict[str, Any]) -> bool:
    """Whether the declaration of the tool and the rules of the policy let this call run alone."""
    try:
        tool = check_name("tool", body["tool"])
    except ValueError:
        return False
    args = body["args"]
    if tool == "note":
        return set(args) == {"text"} and isinstance(args["text"], str) and len(args["text"]) <= 20
    if tool != "pay" or not {"amount", "iban"} <= set(args) <= set(NAMES["pay"]):
        return False
    amount, iban = args["amount"], args["iban"]
    number = isinstance(amount, int | float) and not isinstance(amount, bool)
    known = set(args.get("meta", {})) <= {"memo"}
    return number and 0 <= amount <= 20 and isinstance(iban, str) and known


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_nothing_runs_that_the_rule_of_its_declared_tool_would_have_stopped(
    data: st.DataObject, bot: httpx2.Client, document: dict[str, Any]
) -> None:
    body = data.draw(calls()) | data.draw(fields(document))
    answer = bot.post(f"{API}/asks", json=body)

    assert answer.status_code in (200, 201, 400, 403, 422), answer.text
    if answer.status_code not in (200, 201):
        return
    ask = read_ask(answer.json())
    begun = bot.post(f"{API}/asks/{ask.id}/begin", json={"risk": "low"})

    assert (begun.status_code == 200) == (ask.decision is not None)
    if ask.decision is not None:
        assert ask.decision.verdict == "approve"
        assert may_run_alone(body), body
        assert begun.json()["args"] == ask.args
    if ask.kind == "action":
        check_shown(body, ask)


def check_shown(body: dict[str, Any], ask: Any) -> None:
    """Hold the ask against what was sent: what is declared is there, and seen."""
    declared = NAMES.get(ask.tool, ())
    facts = {fact.name: fact for fact in facts_of(ask)}
    for name, value in body["args"].items():
        if name not in declared:
            continue
        if name in SECRET:
            assert ask.args[name] == "(hidden)"
            continue
        assert ask.args[name] == value
        assert name not in ask.content.hidden
        assert facts[name].kind != "hidden"
        assert facts[name].value == value
    if declared:
        assert set(ask.content.hidden) <= SECRET
        assert set(declared) <= set(ask.proposal.schema["properties"])
        assert ask.content.needs.factors or ask.decision
    if ask.tool == "drop":
        assert {"senior", "security"} <= set(ask.needs.roles), "whatever risk is stated"


@example(name="amount")
@given(name=spellings("amount"))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_another_spelling_of_an_argument_is_another_argument(name: str, bot: httpx2.Client) -> None:
    args = {"amount": 20, "iban": "DE1", name: 20}

    ask = bot.post(f"{API}/asks", json={"tool": "pay", "args": args}).json()

    assert (ask["status"] == "decided") == (name == "amount")
