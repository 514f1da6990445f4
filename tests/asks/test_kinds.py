"""A policy that sorts the calls of a tool by an argument: each kind earns by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import sayso
from sayso import Ask, Desk
from sayso.asks.lawbook import default_policy
from sayso.asks.opening import open_ask
from sayso.asks.posted import read_post
from sayso.errors import NotApproved
from sayso.policy.reading import read
from sayso.testing import FakeClock
from tests.fine import granted_before
from tests.places import Place

ANY = "{ optional = true }"
PLAIN = f"""
[tools.refund]
tier = "low"
args = {{ order = "integer", currency = {ANY} }}
"""
SORTED = f'{PLAIN}bucket = "currency"\n'
EUR = 'currency="EUR"'
Office = Callable[..., Desk]


@pytest.fixture
def office(place: Place, clock: FakeClock) -> Iterator[Office]:
    """Desks on one database, with the policy that is given."""
    with ExitStack() as opened:

        def sit_down(text: str = SORTED) -> Desk:
            law = f'{text}\n[tiers.low]\nneeds = ["1 reviewer"]\n'
            policy = read(law, source="law.toml", default=default_policy())
            desk = opened.enter_context(
                Desk(place.url, policy=policy, agent="shop", account="sam@till", clock=clock)
            )
            desk.law.coin = lambda: 0.999  # nothing is picked
            return desk

        yield sit_down


@pytest.fixture
def desk(office: Office) -> Desk:
    return office()


def call(desk: Desk, *currency: Any) -> Ask:
    args = {"order": 1, "currency": currency[0]} if currency else {"order": 1}
    return desk.open("refund", args)


def posted(desk: Desk, **args: Any) -> Ask:
    """Ask for a call as somebody elsewhere does."""
    body = {"tool": "refund", "args": {"order": 1, **args}, "version": "1"}
    content = read_post(body, desk.forms).content
    return open_ask(desk.store, content, origin=desk.origin, law=desk.law, requested=True)


def gated(desk: Desk, currency: str = "EUR", **said: Any) -> Ask:
    """Ask for a call behind a gate of our own."""

    @desk.gate(risk="low", **said)
    def refund(order: int, currency: str) -> str:
        return f"{order} {currency}"

    gate = refund.__sayso_gate__  # type: ignore[attr-defined]
    return desk.put(gate.content(desk.forms, gate.tool.bind((1, currency), {})), declared=True)


def kind(ask: Ask) -> str | None:
    return None if ask.stake is None else ask.stake.bucket


def test_a_grant_of_one_kind_lets_no_other_kind_run_alone(desk: Desk) -> None:
    euros = call(desk, "EUR")
    granted_before(desk, euros)

    assert kind(euros) == EUR
    assert call(desk, "EUR").decision
    assert call(desk, "USD").open


def test_a_call_is_of_the_same_kind_through_each_door(desk: Desk) -> None:
    @sayso.tool(name="refund", risk="low")
    def refund(order: int, currency: str) -> str:
        return f"{order} {currency}"

    @desk.workflow
    def refunding(run: Any) -> str:
        return str(run.call(refund, order=1, currency="EUR"))

    run = desk.run(refunding, wait=False)

    assert [kind(ask) for ask in run.asks] == [EUR]
    assert kind(posted(desk, currency="EUR")) == EUR
    assert kind(call(desk, "EUR")) == EUR
    assert kind(gated(desk)) == EUR


def test_values_that_only_look_alike_are_kinds_apart(desk: Desk) -> None:
    values = [True, "true", 1, "1", "", "EUR", "eur", "EUR "]

    assert len({kind(call(desk, value)) for value in values} - {None}) == len(values)


@pytest.mark.parametrize(
    "value",
    [None, 1.0, ["EUR"], {"EUR": 1}, "E" * 61, "EUR\u200b", "EUR\n", 10**60],
    ids=["null", "fraction", "list", "object", "long", "unseen", "lines", "large"],
)
def test_a_value_that_names_no_kind_earns_nothing(desk: Desk, value: Any) -> None:
    assert call(desk, value).stake is None
    assert call(desk).stake is None, "nor does a missing one"


def test_a_kind_that_people_do_not_see_earns_nothing(desk: Desk) -> None:
    assert gated(desk, secret=["currency"]).stake is None


def test_where_code_sorts_the_calls_too_both_make_the_kind(desk: Desk) -> None:
    def size(order: int, currency: str) -> str:
        return "small" if order < 5 else "large"

    ask = gated(desk, bucket=size)

    assert kind(ask) == f"{EUR}, small"
    assert kind(gated(desk, "USD", bucket=size)) == 'currency="USD", small'
    assert call(desk, "EUR").stake is None, "its code did not sort it"
    assert posted(desk, currency="EUR").stake is None


def test_a_call_that_its_code_puts_into_no_kind_earns_nothing(desk: Desk) -> None:
    assert gated(desk, bucket=lambda **_: "").stake is None


@pytest.mark.parametrize(("harmful", "marks"), [(None, []), (False, ["+"])])
def test_an_edit_to_another_kind_counts_only_by_the_word_of_whoever_made_it(
    desk: Desk, harmful: bool | None, marks: list[str]
) -> None:
    ask = gated(desk, matters=["order"])

    desk.edit(ask, {"currency": "USD"}, harmful=harmful)

    assert [row.marks for row in desk.trust] == marks


def test_an_edit_to_another_kind_counts_by_word_over_http_too(office: Office) -> None:
    desk = office(f'{SORTED}matters = ["order"]\n')

    desk.edit(posted(desk, currency="EUR"), {"currency": "USD"})

    assert [row.marks for row in desk.trust] == []


def test_what_was_granted_for_all_calls_is_not_for_a_kind_of_them(office: Office) -> None:
    before = office(PLAIN)
    granted_before(before, call(before, "EUR"))
    alone = call(before, "EUR")
    assert alone.decision

    after = office()
    after.policies.publish(SORTED + '\n[tiers.low]\nneeds = ["1 reviewer"]\n', note="By currency")

    assert call(after, "EUR").open
    with pytest.raises(NotApproved, match="the policy wants more by now"):
        after.begin(alone)
