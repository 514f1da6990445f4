"""A call that needs nobody: begun durably, made once, and doubted when nobody knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import sayso
from sayso import Agent, Ask, Desk, Run, ScriptedModel
from sayso.agent import call
from tests.agents import RAN, Messages, Watched, once, one_by_one, results, told
from tests.runs.people import approved, ask_of, begun, carried_on

KEYS: list[tuple[str, int]] = []


def dying(times: int = 1, error: type[BaseException] = KeyboardInterrupt, **rules: Any) -> Any:
    """Return a tool that does its work and is then cut off, so many times."""

    @sayso.tool(**rules)
    def send(to: str) -> str:
        """Send something."""
        RAN.append(to)
        KEYS.append((sayso.current_call().key, sayso.current_call().attempt))
        if len(RAN) <= times:
            raise error("cut off")
        return f"sent to {to}, time {len(RAN)}"

    return send


def cut_off(desk: Desk, tool: Any) -> Run:
    """Start an agent whose tool interrupts the program; return its run as another worker has it."""
    agent = Agent("clerk", ScriptedModel(once(call("send", to="a"))), [tool])
    with pytest.raises(KeyboardInterrupt):
        desk.run(agent, "send it", wait=False)
    KEPT.append(agent)
    (run,) = desk.runs()
    assert run.status == "ready"
    return run


KEPT: list[Agent] = []  # an agent that nobody holds is served no more


def doubt_of(run: Run) -> Ask:
    (doubt,) = [ask for ask in run.asks if ask.kind == "doubt" and ask.open]
    return doubt


def test_nobody_is_asked_while_such_a_tool_runs(local: Desk) -> None:
    def nosy(to: str) -> str:
        return str(sayso.question("Who are you?"))

    run = begun(local, Agent("clerk", ScriptedModel(once(call("nosy", to="a"))), [nosy]), "x")

    assert run.status == "done"
    assert run.asks == []
    assert "asks=True" in run.output


def test_a_call_that_was_cut_off_is_a_question_and_not_a_second_call(desk: Desk) -> None:
    run = cut_off(desk, dying())

    carried_on(desk, run)
    carried_on(desk, run)

    doubt = doubt_of(run)
    assert (run.status, RAN) == ("waiting", ["a"])
    assert doubt.title == "Did send happen?"
    assert doubt.args == {"to": "a"}
    assert doubt.allow == ("respond", "approve", "reject")
    assert "There is no result" in (doubt.content.sentence or "")
    assert "Idempotency key: " in (doubt.content.sentence or "")


@pytest.mark.parametrize(
    ("settle", "output", "times"),
    [
        (lambda desk, ask: desk.respond(ask, "sent, says the log"), "sent, says the log", 1),
        (lambda desk, ask: desk.approve(ask), "sent to a, time 2", 2),
        (lambda desk, ask: desk.reject(ask), "It is not known whether this happened", 1),
    ],
    ids=["it happened", "run it again", "leave it"],
)
def test_a_person_settles_what_nobody_knows(
    desk: Desk, settle: Callable[[Desk, Ask], Ask], output: str, times: int
) -> None:
    run = carried_on(desk, cut_off(desk, dying()))

    settle(desk, doubt_of(run))

    assert output in carried_on(desk, run).output
    assert ["a"] * times == RAN
    assert len({key for key, _ in KEYS}) == 1
    assert [attempt for _, attempt in KEYS] == [1, 2][:times]


@pytest.mark.parametrize("rules", [{}, {"risk": "high"}], ids=["alone", "gated"])
def test_what_a_person_left_in_doubt_is_not_run_again_by_a_stubborn_model(
    local: Desk, rules: dict[str, Any]
) -> None:
    tool = dying(1, TimeoutError, unknown=TimeoutError, **rules)
    script = one_by_one(call("send", to="a"), call("send", to="a"), call("send", to="b"))
    run = begun(local, Agent("clerk", ScriptedModel(script), [tool]), "x")
    if rules:
        approved(local, run)
    local.reject(doubt_of(run), "leave it")
    carried_on(local, run)
    if rules:
        approved(local, run)

    assert run.status == "done"
    assert RAN == ["a", "b"], "another call is another call"


def test_a_tool_that_leaves_the_program_is_a_doubt(local: Desk) -> None:
    agent = Agent("clerk", ScriptedModel(once(call("send", to="a"))), [dying(1, SystemExit)])

    run = begun(local, agent, "x")

    assert (run.status, RAN) == ("waiting", ["a"])
    local.approve(doubt_of(run))
    assert carried_on(local, run).output == "sent to a, time 2"


def test_an_idempotent_tool_is_run_again_with_the_same_key(desk: Desk) -> None:
    run = cut_off(desk, dying(idempotent=True))

    assert carried_on(desk, run).output == "sent to a, time 2"
    assert run.asks == []
    (first, one), (second, two) = KEYS
    assert first == second
    assert (one, two) == (1, 2)


def broken(to: str) -> Any:
    raise ConnectionError("the log is away")


@pytest.mark.parametrize(
    ("found", "limit", "output", "times"),
    [
        (lambda to: sayso.Happened(f"log: {to}"), None, "log: a", 1),
        (lambda to: sayso.DidNotHappen(), 0.001, "sent to a, time 2", 2),
        (lambda to: sayso.DidNotHappen(), None, None, 1),  # it may happen yet
        (lambda to: sayso.CannotTell(), None, None, 1),
        (lambda to: None, None, None, 1),
        (lambda to: True, None, None, 1),
        (broken, None, None, 1),
    ],
)
def test_a_tool_that_can_find_out_is_asked_before_people_are(
    local: Desk, found: Any, limit: float | None, output: str | None, times: int
) -> None:
    run = carried_on(local, cut_off(local, dying(verify=found, limit=limit)))

    assert (run.output, RAN) == (output, ["a"] * times)
    assert [ask.kind for ask in run.asks] == ([] if output else ["doubt"])


def test_an_idempotent_tool_is_tried_again_and_then_a_person_is_asked(local: Desk) -> None:
    tool = dying(3, TimeoutError, unknown=TimeoutError, idempotent=True)
    run = begun(local, Agent("clerk", ScriptedModel(once(call("send", to="a"))), [tool]), "x")

    assert (run.status, RAN) == ("waiting", ["a"] * 3)
    assert len({key for key, _ in KEYS}) == 1
    local.approve(doubt_of(run))
    assert carried_on(local, run).output == "sent to a, time 4"


def changing(desk: Desk, *tools: Any) -> Run:
    """Run one call alone, wait for another, and carry on with other tools of the same names."""

    @sayso.tool(risk="high")
    def pay(amount: int) -> str:
        return f"paid {amount}"

    def look(what: str) -> str:
        RAN.append(what)
        return f"saw {what}"

    script = one_by_one(call("look", what="a"), call("pay", amount=1))
    old = Agent("clerk", ScriptedModel(script), [look, pay])
    run = begun(desk, old, "x")
    assert run.status == "waiting"
    desk.approve(ask_of(run))
    with Desk(desk.url, account="sam@till") as other:
        KEPT.append(Agent("clerk", Watched(script), [*tools, pay]))
        other.work(until="idle")
    return run


def test_what_the_journal_has_stands_although_the_tool_is_gone(local: Desk) -> None:
    run = changing(local)

    assert run.output == "saw a | paid 1", run.error
    assert told(run, "step.failed") == []


def test_what_the_journal_has_stands_although_the_tool_takes_more_now(local: Desk) -> None:
    def look(what: str, far: bool = False) -> str:
        RAN.append("again")
        return f"now I see {what}"

    run = changing(local, look)

    assert run.output == "saw a | paid 1", run.error
    assert RAN == ["a"]


def reading(messages: Messages) -> Any:
    return " | ".join(results(messages)) or call("send", to="a")


def test_a_call_that_was_begun_is_never_forgotten_when_its_tool_is_gone(local: Desk) -> None:
    run = cut_off(local, dying())
    with Desk(local.url, account="sam@till") as other:
        KEPT.append(Agent("clerk", ScriptedModel(reading), []))
        other.work(until="idle")

    assert run.status == "parked"
    assert "send" in (run.error or "")
