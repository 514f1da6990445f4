"""Runs whose calls have earned to go alone: no waiting, one effect, the same at every replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import sayso
from sayso import Agent, Desk
from sayso.agent.messages import Message
from sayso.agent.scripted import ScriptedModel, call
from sayso.model.ask import Ask
from tests.fine import granted_before

PAID: list[int] = []


@sayso.tool(risk="medium", matters=[])
def pay(order: int) -> str:
    """Pay an order."""
    PAID.append(order)
    return f"paid {order}"


def trust(desk: Desk, ask: Ask) -> str:
    """Let the key of a call run alone from now on."""
    assert ask.stake is not None
    return granted_before(desk, ask).id


def settle(run: sayso.Running, orders: list[int]) -> list[str]:
    return [run.call(pay, order=order) for order in orders]


def paying(messages: Sequence[Message]) -> Any:
    """Pay once, and say so when it is done."""
    return "Done." if messages[-1].role == "tool" else call("pay", order=7)


def first_reviewed(desk: Desk) -> Ask:
    run = desk.start(settle, [0])
    desk.work(until="idle")
    (ask,) = run.asks
    desk.approve(ask)
    desk.work(until="idle")
    return desk.get(ask.id)


def test_a_run_does_not_wait_for_what_has_earned_to_run_alone(desk: Desk) -> None:
    desk.workflow(settle)
    key = trust(desk, first_reviewed(desk))
    desk.law.coin = lambda: 0.999

    run = desk.run(settle, [1, 2, 3], wait=False)

    assert run.output == ["paid 1", "paid 2", "paid 3"]
    assert PAID == [0, 1, 2, 3]
    assert [ask.decision.grant for ask in run.asks if ask.decision] == [key] * 3
    assert desk.verify()


def test_a_call_that_the_coin_picked_waits_like_any_other(desk: Desk) -> None:
    desk.workflow(settle)
    key = trust(desk, first_reviewed(desk))
    falls = iter([0.999, 0.0, 0.999])
    desk.law.coin = lambda: next(falls)

    run = desk.run(settle, [1, 2, 3], wait=False)
    assert (run.status, PAID) == ("waiting", [0, 1])
    desk.approve(run.state.pending[0])
    desk.work(until="idle")

    assert run.output == ["paid 1", "paid 2", "paid 3"]
    assert PAID == [0, 1, 2, 3]
    assert desk.trust.key(key).audits == 1


def test_an_agent_is_trusted_as_what_it_is_made_of(desk: Desk) -> None:
    def made(instructions: str) -> Agent:
        return Agent("till", ScriptedModel(paying), [pay], instructions=instructions)

    first, same, other = made("Be quick."), made("Be quick."), made("Be careful.")

    assert first.profile.version == same.profile.version != other.profile.version
    run = desk.run(first, "Pay 7", wait=False)
    ask = run.state.pending[0]
    assert ask.stake is not None
    assert ask.stake.version == first.profile.version


def pay_plainly(order: int) -> str:
    return f"paid {order}"


pay_plainly.__name__ = "pay"


@pytest.mark.parametrize("tool", [pay, pay_plainly], ids=["declared", "plain"])
def test_what_is_listed_in_confirm_is_never_earned(desk: Desk, tool: Any) -> None:
    careful = Agent("careful", ScriptedModel(paying), [tool], confirm=["pay"])

    run = desk.run(careful, "Pay 7", wait=False)

    assert run.state.pending[0].stake is None


def test_a_grant_that_ends_while_a_call_is_asked_for_lets_nothing_happen(desk: Desk) -> None:
    desk.workflow(settle)
    key = trust(desk, first_reviewed(desk))

    def revoked_meanwhile() -> float:
        desk.trust.revoke(key)
        return 0.999

    desk.law.coin = revoked_meanwhile
    run = desk.run(settle, [1], wait=False)

    assert (run.status, PAID) == ("waiting", [0])


def test_an_agent_with_another_model_or_version_is_another_one() -> None:
    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

        def reply(self, prompt: object) -> object:
            return prompt

    def made(model: str, version: str | None = None) -> str:
        return Agent("till", Named(model), [pay], version=version).profile.version  # type: ignore[arg-type]

    assert len({made("a"), made("b"), made("a", "2")}) == 3
    assert made("a") == made("a")
