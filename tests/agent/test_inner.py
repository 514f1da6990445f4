"""Agents that work for agents: who asks for whom is shown, and nothing is done twice."""

from __future__ import annotations

from typing import Any

import pytest

import sayso
from sayso import ActionStep, Agent, Desk, Running, ScriptedModel, StillRunning
from sayso.agent import call
from sayso.errors import BadValue, Misuse
from sayso.testing import FakeClock
from tests.agents import Messages, Watched, asked_model, begun, following, once, one_by_one, results
from tests.places import Place
from tests.runs.people import approved, ask_of, carried_on

RAN: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


def search(what: str) -> str:
    """Search for something."""
    RAN.append(what)
    return f"found {what}"


@sayso.tool(risk="high")
def pay(amount: int) -> str:
    """Pay an amount."""
    RAN.append(amount)
    return f"paid {amount}"


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


# --- in a workflow -------------------------------------------------------------------------------


def test_a_workflow_gives_a_task_to_an_agent(desk: Desk) -> None:
    agent = payer()

    @desk.workflow
    def bills(run: Running, amount: int) -> list[str]:
        return [run.step(search, "bill"), run.agent(agent, f"pay {amount}"), "filed"]

    run = begun(desk, bills, 7)
    ask = ask_of(run)
    assert (ask.content.chain, ask.content.agent) == ("bills > payer", "payer")
    approved(desk, run)

    assert run.output == ["found bill", "paid 7", "filed"]
    assert RAN == ["bill", 7]


def test_the_result_of_an_inner_agent_is_recorded_once(desk: Desk) -> None:
    model = Watched(lambda messages: f"done: {messages[-1].text}")
    agent = Agent("thinker", model)

    @desk.workflow
    def flow(run: Running) -> list[Any]:
        return [run.agent(agent, "one"), run.question("Go on?"), run.agent(agent, "two")]

    run = begun(desk, flow)
    desk.respond(ask_of(run), "yes")
    carried_on(desk, run)

    assert run.output == ["done: one", "yes", "done: two"]
    assert len(model.prompts) == asked_model(run) == 2


def test_agents_side_by_side_wait_side_by_side(desk: Desk) -> None:
    first, second = payer(name="anna"), payer(name="ben")

    @desk.workflow
    def both(run: Running) -> Any:
        return run.gather(lambda: run.agent(first, "pay 1"), lambda: run.agent(second, "pay 2"))

    run = begun(desk, both)
    chains = {ask.args["amount"]: ask.content.chain for ask in run.state.pending}
    assert chains == {1: "both > anna", 2: "both > ben"}
    for ask in run.state.pending:
        desk.approve(ask)
        carried_on(desk, run)

    assert run.output == ["paid 1", "paid 2"]
    assert sorted(RAN) == [1, 2]


def test_a_workflow_that_awaits_gives_tasks_to_agents(local: Desk) -> None:
    agent = payer()

    @local.workflow
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
    @local.workflow
    def flow(run: Running) -> Any:
        return run.agent(what, "pay 1")

    run = begun(local, flow)

    assert run.status == "failed"
    assert "is no agent" in (run.error or "")


def test_the_plan_of_an_inner_agent_is_reviewed_with_its_chain(local: Desk) -> None:
    plan = [{"title": "News", "tool": "search"}]
    agent = Agent("scout", ScriptedModel(following(plan)), [search], plan_every=9)

    @local.workflow
    def flow(run: Running) -> Any:
        return run.agent(agent, "look around")

    run = begun(local, flow)
    ask = ask_of(run)
    assert (ask.kind, ask.content.chain, RAN) == ("plan", "flow > scout", [])
    local.edit(ask, [{"title": "Weather", "tool": "search"}])
    carried_on(local, run)

    assert (run.output, RAN) == ("found Weather", ["Weather"])


def test_progress_of_an_inner_plan_is_not_that_of_the_run(local: Desk) -> None:
    plan = [{"title": "News", "tool": "search"}]
    agent = Agent("scout", ScriptedModel(following(plan)), [search], plan_every=9)

    @local.workflow
    def flow(run: Running) -> Any:
        run.progress(0.25)
        run.agent(agent, "look around")
        return run.question("What now?")

    run = begun(local, flow)
    approved(local, run)

    assert run.state.progress == 0.25


def test_cancelling_the_plan_of_an_inner_agent_cancels_the_run(local: Desk) -> None:
    agent = Agent("scout", ScriptedModel(following(["Look"])), [search], plan_every=9)

    @local.workflow
    def flow(run: Running) -> Any:
        run.agent(agent, "look around")
        return run.step(search, "afterwards")

    run = begun(local, flow)
    local.reject(ask_of(run), "no")
    carried_on(local, run)

    assert (run.status, RAN) == ("cancelled", [])


def test_an_agent_is_an_agent_inside_whatever_the_workflow_is_called(
    local: Desk, clock: FakeClock
) -> None:
    agent = payer(name="bills")

    @local.workflow
    def bills(run: Running, task: str) -> Any:
        return run.agent(agent, task)

    run = begun(local, bills, "pay 7")

    assert ask_of(run).content.chain == "bills > bills"


# --- as a tool -----------------------------------------------------------------------------------


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


def test_a_pause_three_deep_goes_on_in_another_process(place: Place, clock: FakeClock) -> None:
    agent = three_deep()
    with Desk(place.url, clock=clock, account="sam@till") as first:
        run_id = begun(first, agent, "pay 7").id
    with Desk(place.url, clock=clock, account="sam@till") as second:
        run = approved(second, second.get_run(run_id))

        assert run.output == "paid 7"
        assert asked_model(run) == 6, "each of three models twice"
    assert RAN == [7]


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


@pytest.mark.parametrize("args", [{}, {"task": 7}, {"task": "x", "more": 1}])
def test_a_task_that_does_not_fit_is_sent_back(local: Desk, args: dict[str, Any]) -> None:
    inner = Watched(lambda messages: "nothing")
    script = once(call("scout", **args))
    boss = Agent("boss", ScriptedModel(script), [Agent("scout", inner).as_tool()])

    run = begun(local, boss, "x")

    assert "BadArguments" in run.output
    assert inner.prompts == []


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


def test_a_no_keeps_an_agent_from_work_and_is_not_asked_for_again(local: Desk) -> None:
    inner = Watched(lambda messages: "scouted")
    script = one_by_one(call("scout", task="a"), call("scout", task="a"))
    boss = Agent("boss", ScriptedModel(script), [Agent("scout", inner).as_tool()], confirm=True)
    run = begun(local, boss, "x")

    local.reject(ask_of(run), "no scouts")
    carried_on(local, run)

    assert (run.status, len(run.asks), inner.prompts) == ("done", 1, [])
    assert "no scouts" in run.output
    assert "RejectedBefore" in run.output


def test_words_instead_of_a_yes_reach_the_agent_that_asked(local: Desk) -> None:
    boss = Agent(
        "boss",
        ScriptedModel(passing_on("scout")),
        [Agent("scout", ScriptedModel(lambda _: "scouted")).as_tool()],
        confirm=["scout"],
    )
    run = begun(local, boss, "look ahead")
    local.respond(ask_of(run), "ask ben instead")

    assert "ask ben instead" in carried_on(local, run).output


def test_what_a_person_said_no_to_is_not_asked_again_in_another_life_of_the_agent(
    desk: Desk,
) -> None:
    agent = Agent("payer", ScriptedModel(once(call("pay", amount=1))), [pay])
    script = one_by_one(call("payer", task="now"), call("payer", task="please"))
    run = begun(desk, Agent("boss", ScriptedModel(script), [agent.as_tool()]), "x")

    desk.reject(ask_of(run), "not at all")
    carried_on(desk, run)

    assert (run.status, len(run.asks), RAN) == ("done", 1, [])
    assert "RejectedBefore" in run.output


def test_a_no_to_an_inner_call_is_told_to_the_inner_model_alone(local: Desk) -> None:
    inner, outer = Watched(once(call("pay", amount=1))), Watched(passing_on("payer"))
    boss = Agent("boss", outer, [payer(inner).as_tool()])
    run = begun(local, boss, "x")

    local.reject(ask_of(run), "too dear")
    carried_on(local, run)

    assert "too dear" in results(inner.last)[0]
    assert run.status == "done"
    assert [message.role for message in outer.last] == ["user", "assistant", "tool"]


def test_a_no_that_ends_the_run_ends_all_of_it(local: Desk) -> None:
    script = once(call("payer", task="pay 1"), call("payer", task="pay 2"))
    boss = Agent("boss", ScriptedModel(script), [payer().as_tool()])
    run = begun(local, boss, "x")
    first, second = run.state.pending

    local.reject(first, "stop", end=True)
    carried_on(local, run)

    assert (run.status, RAN) == ("cancelled", [])
    assert local.get(second.id).status == "withdrawn"


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


def test_what_an_agent_as_a_tool_was_given_is_remembered(desk: Desk) -> None:
    run = begun(desk, three_deep(), "pay 7")
    approved(desk, run)

    given = {step.name: step.args for step in run.memory if isinstance(step, ActionStep)}
    assert given == {"buyer": {"task": "pay 7"}, "payer": {"task": "pay 7"}, "pay": {"amount": 7}}


def test_an_agent_as_a_tool_is_called_by_a_workflow(local: Desk) -> None:
    tool = payer().as_tool()

    @local.workflow
    def flow(run: Running) -> Any:
        return run.call(tool, task="pay 7")

    run = begun(local, flow)
    assert ask_of(run).content.chain == "flow > payer"

    assert approved(local, run).output == "paid 7"


def test_an_agent_as_a_tool_outside_of_a_run_says_what_to_do() -> None:
    with pytest.raises(Misuse, match="run"):
        payer().as_tool()("pay 7")


def test_two_tools_of_one_agent_need_two_names() -> None:
    agent = payer()

    with pytest.raises(BadValue, match="Two tools of boss are called 'payer'"):
        Agent("boss", ScriptedModel(lambda _: "x"), [agent.as_tool(), agent.as_tool()])


def test_an_inner_agent_may_be_given_a_task_while_another_run_waits(local: Desk) -> None:
    agent = payer()
    waiting = begun(local, agent, "pay 1")
    boss = Agent("boss", ScriptedModel(passing_on("payer")), [agent.as_tool()])

    run = begun(local, boss, "pay 2")
    approved(local, run)

    assert (run.output, waiting.status, RAN) == ("paid 2", "waiting", [2])
    with pytest.raises(StillRunning):
        waiting.result(timeout=0.01)
