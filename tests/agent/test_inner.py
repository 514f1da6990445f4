"""Agents that work for agents: who asks for whom is shown, and nothing is done twice."""

from __future__ import annotations

from typing import Any

import pytest

from sayso import Agent, Desk, Running, ScriptedModel
from sayso.agent import call
from sayso.errors import Misuse
from sayso.testing import FakeClock
from tests.agents import (
    RAN,
    Messages,
    Watched,
    following,
    once,
    one_by_one,
    pay,
    results,
    search,
)
from tests.runs.people import approved, ask_of, begun, carried_on, rejected


def passing_on(tool: str) -> Any:
    """Give the whole task to a tool, and answer with what it says."""

    def script(messages: Messages) -> Any:
        read = results(messages)
        return read[-1] if read else call(tool, task=messages[-1].text)

    return script


def payer(model: Any = None, name: str = "payer") -> Agent:
    """Pay what the task says."""

    def script(messages: Messages) -> Any:
        read = results(messages)
        return read[-1] if read else call("pay", amount=int(messages[-1].text.split()[-1]))

    return Agent(name, model or ScriptedModel(script), [pay], instructions="You pay bills.")


def test_a_workflow_gives_a_task_to_an_agent(desk: Desk) -> None:
    agent = payer()

    def bills(run: Running, amount: int) -> list[str]:
        return [run.step(search, "bill"), run.agent(agent, f"pay {amount}"), "filed"]

    run = begun(desk, bills, 7)
    ask = ask_of(run)
    assert (ask.content.chain, ask.content.agent) == ("bills > payer", "payer")
    approved(desk, run)

    assert run.output == ["found bill", "paid 7", "filed"]
    assert RAN == ["bill", 7]


def test_agents_side_by_side_wait_side_by_side(desk: Desk) -> None:
    first, second = payer(name="anna"), payer(name="ben")
    run = begun(
        desk,
        lambda run: run.gather(
            lambda: run.agent(first, "pay 1"), lambda: run.agent(second, "pay 2")
        ),
    )
    chains = {ask.args["amount"]: ask.content.chain for ask in run.state.pending}
    assert chains == {1: "flow > anna", 2: "flow > ben"}
    for ask in run.state.pending:
        desk.approve(ask)
        carried_on(desk, run)

    assert run.output == ["paid 1", "paid 2"]
    assert sorted(RAN) == [1, 2]


def test_a_workflow_that_awaits_gives_tasks_to_agents(local: Desk) -> None:
    agent = payer()

    async def flow(run: Any) -> Any:
        first = await run.agent(agent, "pay 1")
        return [first, *await run.gather(run.agent(agent, "pay 2"), run.agent(agent, "pay 3"))]

    run = begun(local, flow)
    approved(local, run)
    for ask in run.state.pending:
        local.approve(ask)
    carried_on(local, run)

    assert run.output == ["paid 1", "paid 2", "paid 3"]
    assert sorted(RAN) == [1, 2, 3]


@pytest.mark.parametrize("what", [search, "payer", None, 7])
def test_only_an_agent_can_be_given_a_task(local: Desk, what: Any) -> None:
    run = begun(local, lambda run: run.agent(what, "pay 1"))

    assert run.status == "failed"
    assert "is no agent" in (run.error or "")


def test_the_plan_of_an_inner_agent_is_reviewed_with_its_chain(local: Desk) -> None:
    plan = [{"title": "News", "tool": "search"}]
    agent = Agent("scout", ScriptedModel(following(plan)), [search], plan_every=9)
    run = begun(local, lambda run: run.agent(agent, "look around"))
    ask = ask_of(run)
    assert (ask.kind, ask.content.chain, RAN) == ("plan", "flow > scout", [])
    local.edit(ask, [{"title": "Weather", "tool": "search"}])
    carried_on(local, run)

    assert (run.output, RAN) == ("found Weather", ["Weather"])


def test_progress_of_an_inner_plan_is_not_that_of_the_run(local: Desk) -> None:
    plan = [{"title": "News", "tool": "search"}]
    agent = Agent("scout", ScriptedModel(following(plan)), [search], plan_every=9)

    def flow(run: Running) -> Any:
        run.progress(0.25)
        run.agent(agent, "look around")
        return run.question("What now?")

    run = begun(local, flow)
    approved(local, run)

    assert run.state.progress == 0.25


def three_deep() -> Agent:
    buyer = Agent("buyer", ScriptedModel(passing_on("payer")), [payer().as_tool()])
    return Agent("boss", ScriptedModel(passing_on("buyer")), [buyer.as_tool("Buys things.")])


def test_three_agents_deep_the_whole_chain_is_shown(desk: Desk) -> None:
    run = begun(desk, three_deep(), "pay 7")

    ask = ask_of(run)
    assert ask.content.chain == "boss > buyer > payer"
    assert ask.content.agent == "payer"
    assert ask.content.run == run.id
    assert approved(desk, run).output == "paid 7"


def test_an_agent_of_one_name_is_no_chain(local: Desk) -> None:
    run = begun(local, payer(), "pay 7")

    assert ask_of(run).content.chain is None
    assert ask_of(run).content.agent == "payer"


def test_what_an_agent_as_a_tool_did_is_not_done_again_by_the_other_calls(desk: Desk) -> None:
    inner = Watched(lambda messages: results(messages)[-1] if results(messages) else INNER)
    scout = Agent("scout", inner, [search])
    script = once(call("scout", task="look"), call("pay", amount=1), call("scout", task="again"))
    boss = Agent("boss", ScriptedModel(script), [scout.as_tool(), pay])

    run = begun(desk, boss, "go")
    assert (run.status, RAN) == ("waiting", ["deep", "deep"])
    approved(desk, run)

    assert run.output == "found deep | paid 1 | found deep"
    assert RAN == ["deep", "deep", 1]
    assert len(inner.prompts) == 4


INNER = call("search", what="deep")


def test_an_agent_as_a_tool_is_told_only_its_task(local: Desk, clock: FakeClock) -> None:
    inner = Watched(lambda messages: f"I heard {len(messages) - 1} messages")
    scout = Agent("scout", inner, instructions="Scout ahead.")
    boss = Agent("boss", ScriptedModel(passing_on("scout")), [scout.as_tool()])
    begun(local, Agent("clerk", ScriptedModel(lambda _: "old news")), "what is new?", thread="anna")
    clock.advance("1m")

    run = begun(local, boss, "the secret plan", thread="anna")

    (prompt,) = inner.prompts
    assert [message.text for message in prompt.messages[1:]] == ["the secret plan"]
    assert prompt.messages[0].text.endswith("Scout ahead.")
    assert run.output == "I heard 1 messages"


def test_the_model_reads_what_an_agent_is_good_for(local: Desk) -> None:
    model = Watched(lambda messages: "nothing")
    scout = Agent("scout", ScriptedModel(lambda _: "x"), instructions="You scout ahead.")
    tools = [scout.as_tool(), scout.as_tool("Looks around.", name="looker")]
    tools.append(Agent("idler", ScriptedModel(lambda _: "x")).as_tool())

    begun(local, Agent("boss", model, tools), "x")

    told = {spec.name: spec.description for spec in model.prompts[0].tools}
    assert told == {
        "scout": "You scout ahead.",
        "looker": "Looks around.",
        "idler": "Give a task to the agent idler.",
    }
    assert all(set(spec.schema["properties"]) == {"task"} for spec in model.prompts[0].tools)


def test_confirm_asks_before_an_agent_is_set_to_work(desk: Desk) -> None:
    inner = Watched(lambda messages: "scouted")
    boss = Agent(
        "boss",
        ScriptedModel(passing_on("scout")),
        [Agent("scout", inner).as_tool()],
        confirm=["scout"],
    )

    run = begun(desk, boss, "look ahead")
    ask = ask_of(run)
    assert (ask.title, inner.prompts) == ("Call scout?", [])
    assert "look ahead" in (ask.content.facts or "")
    assert "scout (listed in confirm)" in boss.describe()

    assert approved(desk, run).output == "scouted"
    assert len(inner.prompts) == 1


def test_what_a_person_said_no_to_is_not_asked_again_in_another_life_of_the_agent(
    desk: Desk,
) -> None:
    agent = Agent("payer", ScriptedModel(once(call("pay", amount=1))), [pay])
    script = one_by_one(call("payer", task="now"), call("payer", task="please"))
    run = begun(desk, Agent("boss", ScriptedModel(script), [agent.as_tool()]), "x")

    rejected(desk, run, "not at all")

    assert (run.status, len(run.asks), RAN) == ("done", 1, [])
    assert "RejectedBefore" in run.output


def test_a_no_to_an_inner_call_is_told_to_the_inner_model_alone(local: Desk) -> None:
    inner, outer = Watched(once(call("pay", amount=1))), Watched(passing_on("payer"))
    boss = Agent("boss", outer, [payer(inner).as_tool()])
    run = begun(local, boss, "x")

    rejected(local, run, "too dear")

    assert "too dear" in results(inner.last)[0]
    assert run.status == "done"
    assert [message.role for message in outer.last] == ["user", "assistant", "tool"]


def test_an_inner_agent_that_reaches_its_limit_parks_the_run(desk: Desk) -> None:
    endless = Agent(
        "endless",
        ScriptedModel(lambda messages: call("search", what=str(len(results(messages))))),
        [search],
        max_steps=3,
    )
    boss = Agent("boss", ScriptedModel(passing_on("endless")), [endless.as_tool()])

    run = begun(desk, boss, "x")
    assert run.status == "parked"
    assert "endless has reached a limit" in (run.error or "")
    desk.retry(run)
    carried_on(desk, run)

    assert RAN == ["0", "1", "2", "3", "4", "5"], "as much again, and nothing twice"


def test_two_agents_of_one_turn_pause_and_go_on_each_for_itself(desk: Desk) -> None:
    script = once(call("payer", task="pay 1"), call("payer", task="pay 2"))
    run = begun(desk, Agent("boss", ScriptedModel(script), [payer().as_tool()]), "x")
    by_amount = {ask.args["amount"]: ask for ask in run.state.pending}

    desk.approve(by_amount[2])
    assert (carried_on(desk, run).status, RAN) == ("waiting", [2])
    desk.approve(by_amount[1])

    assert carried_on(desk, run).output == "paid 1 | paid 2"
    assert RAN == [2, 1]


def test_an_agent_as_a_tool_outside_of_a_run_says_what_to_do() -> None:
    with pytest.raises(Misuse, match="run"):
        payer().as_tool()("pay 7")
