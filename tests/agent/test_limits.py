"""An agent stops at its bounds and a person lets it go on; people's time counts for nothing."""

from __future__ import annotations

import time
from typing import Any

import pytest

import sayso
from sayso import Agent, Desk, Run, RunParked, ScriptedModel
from sayso.agent import Reply, Usage, call
from sayso.testing import FakeClock
from tests.agents import PLANNING, RAN, Messages, Watched, asked_model, once, pay, results, told
from tests.places import Place
from tests.runs.people import approved, ask_of, begun, carried_on


def count(number: int) -> int:
    """Count on."""
    RAN.append(number)
    return number + 1


def counting(messages: Messages) -> Any:
    """Count on from what was read, and never come to an end."""
    read = results(messages)
    return call("count", number=int(read[-1]) if read else 0)


def counting_to(last: int) -> Any:
    def script(messages: Messages) -> Any:
        read = results(messages)
        return f"counted to {read[-1]}" if len(read) == last else counting(messages)

    return script


def used(tokens: int, cost: float | None = None) -> Any:
    """Count on for ever; each reply takes so much."""

    def script(messages: Messages) -> Any:
        return Reply(calls=(counting(messages),), usage=Usage(tokens - 1, 1, cost))

    return script


def parked(run: Run) -> str:
    assert run.status == "parked", (run.status, run.error)
    return run.error or ""


def test_a_model_that_never_stops_is_stopped(desk: Desk) -> None:
    model = Watched(counting)

    run = begun(desk, Agent("clerk", model, [count], max_steps=5), "count")

    assert "5 steps" in parked(run)
    assert "max_steps" in parked(run)
    assert RAN == [0, 1, 2, 3, 4]
    assert len(model.prompts) == 5
    with pytest.raises(RunParked, match="sayso runs retry"):
        run.result(timeout=1)


def test_twenty_steps_unless_it_is_told_otherwise(local: Desk) -> None:
    run = begun(local, Agent("clerk", ScriptedModel(counting), [count]), "count")

    assert "20 steps" in parked(run)
    assert len(RAN) == 20


def test_the_last_step_may_be_the_answer(local: Desk) -> None:
    agent = Agent("clerk", ScriptedModel(counting_to(4)), [count], max_steps=5)

    assert begun(local, agent, "count").output == "counted to 4"


def test_a_retry_grants_as_much_again_each_time(desk: Desk) -> None:
    run = begun(desk, Agent("clerk", ScriptedModel(counting_to(12)), [count], max_steps=5), "count")
    seen = [len(RAN)]
    while run.status == "parked":
        desk.retry(run)
        carried_on(desk, run)
        seen.append(len(RAN))

    assert run.output == "counted to 12"
    assert seen == [5, 10, 12]
    assert list(range(12)) == RAN, "and nothing is done twice"


def test_a_parked_run_stays_parked_until_somebody_says_otherwise(place: Place) -> None:
    agent = Agent("clerk", ScriptedModel(counting), [count], max_steps=2)
    with Desk(place.url, account="sam@till") as first:
        run_id = begun(first, agent, "count").id
    with Desk(place.url, account="sam@till") as second:
        second.work(until="idle")
        run = second.resume(run_id)

        assert run.status == "parked"
        assert any(f"sayso runs retry {run_id}" in text for text in run.state.next)
    assert RAN == [0, 1]


def test_several_calls_of_one_turn_are_one_step(local: Desk) -> None:
    def script(messages: Messages) -> Any:
        return [call("count", number=1), call("count", number=2), call("count", number=3)]

    run = begun(local, Agent("clerk", ScriptedModel(script), [count], max_steps=2), "count")

    assert "2 steps" in parked(run)
    assert len(RAN) == 6


def test_a_plan_is_no_step(local: Desk) -> None:
    def script(messages: Messages, tools: tuple[str, ...]) -> Any:
        return ["Count"] if tools == PLANNING else counting_to(2)(messages)

    agent = Agent("clerk", ScriptedModel(script), [count], plan_every=9, max_steps=3)
    run = begun(local, agent, "count")

    assert approved(local, run).output == "counted to 2"


def test_refused_calls_count_like_any_other(local: Desk) -> None:
    agent = Agent("clerk", ScriptedModel(lambda _: call("nowhere")), [count], max_steps=3)

    run = begun(local, agent, "count")

    assert "3 steps" in parked(run)
    assert len(told(run, "step.failed")) == 3


def test_tokens_are_counted_over_pauses(desk: Desk) -> None:
    def script(messages: Messages) -> Any:
        number = len(results(messages))
        return Reply(calls=(call("pay", amount=number),), usage=Usage(30, 10))

    run = begun(desk, Agent("clerk", ScriptedModel(script), [pay], max_tokens=100), "pay")
    while run.status == "waiting":
        approved(desk, run)

    assert "120 tokens of 100" in parked(run)
    assert asked_model(run) == 3
    assert RAN == [0, 1, 2]


def test_a_retry_grants_as_many_tokens_again(local: Desk) -> None:
    run = begun(local, Agent("clerk", ScriptedModel(used(40)), [count], max_tokens=100), "count")
    local.retry(run)
    carried_on(local, run)

    assert "200 tokens of 200" in parked(run)
    assert asked_model(run) == 5


def test_tokens_of_plans_count(local: Desk) -> None:
    model = Watched(lambda messages, tools: Reply(usage=Usage(50, 0)))

    run = begun(local, Agent("clerk", model, [count], plan_every=5, max_tokens=100), "count")

    assert "max_tokens" in parked(run)
    assert len(model.prompts) == 2, "it stops between two attempts at a plan"


def test_a_model_that_gives_tokens_back_gains_nothing(local: Desk) -> None:
    def script(messages: Messages) -> Any:
        usage = Usage(60, 0) if results(messages) else Usage(-1000, -1000)
        return Reply(calls=(counting(messages),), usage=usage)

    run = begun(local, Agent("clerk", ScriptedModel(script), [count], max_tokens=100), "count")

    assert "120 tokens of 100" in parked(run)
    assert asked_model(run) == 3


def test_cost_is_counted_by_the_price_that_was_named(local: Desk) -> None:
    script = used(1000)  # 999 read, 1 written
    agent = Agent("clerk", ScriptedModel(script), [count], max_cost=0.01, price=(3.0, 15.0))

    run = begun(local, agent, "count")

    # One reply costs (999 * 3 + 1 * 15) / 1,000,000 dollars: four of them are above a cent.
    assert asked_model(run) == 4
    assert "$0.01205 of $0.01" in parked(run)


def test_a_limit_on_cost_without_a_price_stops_after_the_first_reply(local: Desk) -> None:
    run = begun(local, Agent("clerk", ScriptedModel(used(10)), [count], max_cost=1.0), "count")

    assert "price of its model is not known" in parked(run)
    assert asked_model(run) == 1
    assert RAN == [0], "what it replied was carried out; nothing more is paid for"


def test_a_price_named_later_lets_it_go_on(local: Desk) -> None:
    agent = Agent("clerk", ScriptedModel(used(10)), [count], max_cost=1.0, max_steps=3)
    run = begun(local, agent, "count")
    assert "price" in parked(run)

    again = Agent(
        "clerk", ScriptedModel(used(10)), [count], max_cost=1.0, max_steps=3, price=(1.0, 1.0)
    )
    local.retry(run)
    local.resume(run, agent=again, wait=False)

    assert "steps" in parked(run)


def test_a_retry_grants_as_many_dollars_again(local: Desk) -> None:
    agent = Agent("clerk", ScriptedModel(used(10, cost=0.06)), [count], max_cost=0.1)
    run = begun(local, agent, "count")
    assert "$0.12 of $0.1" in parked(run)
    assert asked_model(run) == 2
    local.retry(run)
    carried_on(local, run)

    assert asked_model(run) == 4
    assert "$0.24 of $0.2" in parked(run)


def test_how_long_people_take_does_not_count(desk: Desk, clock: FakeClock) -> None:
    def script(messages: Messages, tools: tuple[str, ...]) -> Any:
        if tools == PLANNING:
            return ["Pay"]
        return once(call("pay", amount=1), call("pay", amount=2))(messages)

    agent = Agent("clerk", ScriptedModel(script), [pay], plan_every=9, max_time="1m")
    run = begun(desk, agent, "pay")
    clock.advance("3d")
    approved(desk, run)
    for ask in run.state.pending:
        clock.advance("1d")
        desk.approve(ask)
        carried_on(desk, run)

    assert run.output == "paid 1 | paid 2"


def test_how_long_people_take_over_a_doubt_does_not_count(desk: Desk, clock: FakeClock) -> None:
    @sayso.tool(risk="high", unknown=TimeoutError)
    def send(to: str) -> str:
        raise TimeoutError("no word")

    agent = Agent("clerk", ScriptedModel(once(call("send", to="a"))), [send], max_time="1m")
    run = begun(desk, agent, "send")
    approved(desk, run)
    clock.advance("2d")
    desk.respond(ask_of(run), "it arrived")

    assert carried_on(desk, run).output == "it arrived"


def spin(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


@pytest.mark.parametrize("slow", ["model", "tool"])
def test_how_long_models_and_tools_work_counts(local: Desk, slow: str) -> None:
    def work(number: int) -> int:
        spin(0.03 if slow == "tool" else 0)
        return number + 1

    def script(messages: Messages) -> Any:
        spin(0.03 if slow == "model" else 0)
        return call("work", number=len(results(messages)))

    agent = Agent("clerk", ScriptedModel(script), [work], max_time=0.05, max_steps=500)

    run = begun(local, agent, "work")

    assert "max_time" in parked(run)
    assert asked_model(run) <= 2, "two of them take longer than it may; on a slow day, one"


def test_time_is_counted_over_pauses_and_granted_again(local: Desk, clock: FakeClock) -> None:
    @sayso.tool(risk="high")
    def bake(minutes: int) -> str:
        clock.advance(60 * minutes)
        return "baked"

    def script(messages: Messages) -> Any:
        number = len(results(messages))
        return call("bake", minutes=3) if number < 3 else "all baked"

    run = begun(local, Agent("baker", ScriptedModel(script), [bake], max_time="5m"), "bake")
    for _ in range(2):
        approved(local, run)
    parked(run)
    local.retry(run)
    carried_on(local, run)
    approved(local, run)

    assert run.output == "all baked"
