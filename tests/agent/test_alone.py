"""A call that needs nobody: begun durably, made once, and doubted when nobody knows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

import sayso
from sayso import ActionStep, Agent, Ask, Desk, Run, ScriptedModel
from sayso.agent import call
from sayso.errors import InvalidAnswer
from tests.agents import Messages, Watched, begun, once, one_by_one, results, told
from tests.places import Place
from tests.runs.people import ask_of, carried_on

RAN: list[Any] = []
KEYS: list[tuple[str, int]] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()
    KEYS.clear()


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


def cut_off(desk: Desk, tool: Any, *more: Any, tools: list[Any] | None = None) -> Run:
    """Start an agent whose tool interrupts the program; return its run as it was left."""
    agent = Agent("clerk", ScriptedModel(once(call("send", to="a"), *more)), [tool, *(tools or [])])
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


# --- the intent ----------------------------------------------------------------------------------


def test_the_intent_is_durable_before_the_tool_runs(desk: Desk, place: Place) -> None:
    seen: list[Any] = []

    def send(to: str) -> str:
        (run,) = desk.runs()
        seen.extend(event.payload for event in run.events if event.kind == "step.begun")
        # Around the desk's back, in a connection of its own: it is in the database.
        seen.append(place.one("select count(*) from events where kind = 'step.begun'"))
        return "sent"

    run = begun(desk, Agent("clerk", ScriptedModel(once(call("send", to="a"))), [send]), "x")

    assert run.output == "sent"
    begun_, number = seen
    assert (begun_["name"], begun_["args"], begun_["attempt"]) == ("send", {"to": "a"}, 1)
    assert number == 1


def test_what_is_recorded_is_never_run_again(desk: Desk) -> None:
    @sayso.tool(risk="high")
    def pay(amount: int) -> str:
        return f"paid {amount}"

    script = one_by_one(call("send", to="a"), call("pay", amount=1), call("send", to="b"))
    run = begun(desk, Agent("clerk", ScriptedModel(script), [dying(0), pay]), "x")
    desk.approve(ask_of(run))

    carried_on(desk, run)

    assert run.output == "sent to a, time 1 | paid 1 | sent to b, time 2"
    assert RAN == ["a", "b"]


def test_a_recorded_failure_is_never_run_again(local: Desk) -> None:
    @sayso.tool(risk="high")
    def pay(amount: int) -> str:
        return f"paid {amount}"

    def fail(to: str) -> str:
        RAN.append(to)
        raise ConnectionError("away")

    script = one_by_one(call("fail", to="a"), call("pay", amount=1))
    run = begun(local, Agent("clerk", ScriptedModel(script), [fail, pay]), "x")
    local.approve(ask_of(run))

    assert carried_on(local, run).output == "fail failed: ConnectionError: away | paid 1"
    assert RAN == ["a"]


def test_each_call_has_a_key_of_its_own(local: Desk) -> None:
    script = one_by_one(call("send", to="a"), call("send", to="a"))

    run = begun(local, Agent("clerk", ScriptedModel(script), [dying(0)]), "x")

    keys = [key for key, _ in KEYS]
    assert len(set(keys)) == 2
    assert all(key.startswith(run.id) for key in keys)


def test_nobody_is_asked_while_such_a_tool_runs(local: Desk) -> None:
    def nosy(to: str) -> str:
        return str(sayso.question("Who are you?"))

    run = begun(local, Agent("clerk", ScriptedModel(once(call("nosy", to="a"))), [nosy]), "x")

    assert run.status == "done"
    assert run.asks == []
    assert "asks=True" in run.output


# --- cut off in the middle -----------------------------------------------------------------------


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


def test_it_happened_and_the_model_reads_what_a_person_says(desk: Desk) -> None:
    run = cut_off(desk, dying())
    carried_on(desk, run)

    desk.respond(doubt_of(run), "sent to a, says the log")

    assert carried_on(desk, run).output == "sent to a, says the log"
    assert RAN == ["a"]
    (step,) = [step for step in run.memory if isinstance(step, ActionStep)]
    assert (step.args, step.result) == ({"to": "a"}, "sent to a, says the log")


def test_it_is_run_again_when_a_person_says_so(desk: Desk) -> None:
    run = cut_off(desk, dying())
    carried_on(desk, run)

    desk.approve(doubt_of(run))

    assert carried_on(desk, run).output == "sent to a, time 2"
    assert RAN == ["a", "a"]
    (first, _), (second, attempt) = KEYS
    assert (first, attempt) == (second, 2)


def test_it_is_left_and_the_model_hears_that_nobody_knows(desk: Desk) -> None:
    run = cut_off(desk, dying())
    carried_on(desk, run)

    desk.reject(doubt_of(run), "leave it")

    assert "It is not known whether this happened" in carried_on(desk, run).output
    assert RAN == ["a"]


@pytest.mark.parametrize("rules", [{}, {"risk": "high"}], ids=["alone", "gated"])
def test_what_a_person_left_in_doubt_is_not_run_again_by_a_stubborn_model(
    local: Desk, rules: dict[str, Any]
) -> None:
    tool = dying(1, TimeoutError, unknown=TimeoutError, **rules)
    script = one_by_one(call("send", to="a"), call("send", to="a"), call("send", to="b"))
    run = begun(local, Agent("clerk", ScriptedModel(script), [tool]), "x")
    if rules:
        local.approve(ask_of(run))
        carried_on(local, run)
    local.reject(doubt_of(run), "leave it")
    carried_on(local, run)
    if rules:
        local.approve(ask_of(run))
        carried_on(local, run)

    assert run.status == "done"
    assert RAN == ["a", "b"], "another call is another call"


def test_cut_off_again_it_is_asked_again(local: Desk) -> None:
    run = cut_off(local, dying(2))
    carried_on(local, run)
    first = doubt_of(run)
    local.approve(first)
    with pytest.raises(KeyboardInterrupt):
        local.work(until="idle")
    carried_on(local, run)

    second = doubt_of(run)
    assert (second.id != first.id, RAN) == (True, ["a", "a"])
    local.respond(second, "it was sent twice")
    assert carried_on(local, run).output == "it was sent twice"


def test_an_answer_has_to_be_what_the_tool_returns(local: Desk) -> None:
    def send(to: str) -> date:
        RAN.append(to)
        raise KeyboardInterrupt

    run = cut_off(local, send)
    carried_on(local, run)

    with pytest.raises(InvalidAnswer):
        local.respond(doubt_of(run), "tomorrow")
    assert run.status == "waiting"
    local.respond(doubt_of(run), "2026-03-01")

    assert carried_on(local, run).output == "2026-03-01"


def test_the_rest_of_the_turn_does_not_wait_for_the_doubt(local: Desk) -> None:
    def note(text: str) -> str:
        RAN.append(text)
        return f"noted {text}"

    more = (call("note", text="n"), call("pay", amount=1))

    @sayso.tool(risk="high")
    def pay(amount: int) -> str:
        RAN.append(amount)
        return f"paid {amount}"

    run = cut_off(local, dying(), *more, tools=[note, pay])
    assert RAN == ["a"]
    carried_on(local, run)
    assert RAN == ["a", "n"], "what needs nobody goes on"
    local.approve(ask_of(run, "pay"))
    carried_on(local, run)
    assert (run.status, RAN) == ("waiting", ["a", "n", 1])
    local.respond(doubt_of(run), "sent")

    assert carried_on(local, run).output == "sent | noted n | paid 1"


def test_a_tool_that_leaves_the_program_is_a_doubt(local: Desk) -> None:
    agent = Agent("clerk", ScriptedModel(once(call("send", to="a"))), [dying(1, SystemExit)])

    run = begun(local, agent, "x")

    assert (run.status, RAN) == ("waiting", ["a"])
    local.approve(doubt_of(run))
    assert carried_on(local, run).output == "sent to a, time 2"


# --- what can be settled without a person --------------------------------------------------------


def test_an_idempotent_tool_is_run_again_with_the_same_key(desk: Desk) -> None:
    run = cut_off(desk, dying(idempotent=True))

    assert carried_on(desk, run).output == "sent to a, time 2"
    assert run.asks == []
    (first, one), (second, two) = KEYS
    assert first == second
    assert (one, two) == (1, 2)


def verifying(found: Callable[[str], Any], **rules: Any) -> Any:
    return dying(verify=lambda to: found(to), **rules)


def test_a_tool_that_can_say_that_it_happened_is_believed(desk: Desk) -> None:
    run = cut_off(desk, verifying(lambda to: sayso.Happened(f"log: {to}")))

    assert carried_on(desk, run).output == "log: a"
    assert (run.asks, RAN) == ([], ["a"])


def test_a_tool_that_can_say_that_it_did_not_happen_is_run_again(local: Desk) -> None:
    run = cut_off(local, verifying(lambda to: sayso.DidNotHappen(), limit=0.001))

    assert carried_on(local, run).output == "sent to a, time 2"
    assert run.asks == []


def test_that_it_did_not_happen_counts_only_once_it_cannot_happen_any_more(local: Desk) -> None:
    run = cut_off(local, verifying(lambda to: sayso.DidNotHappen()))  # no limit is known

    carried_on(local, run)

    assert (doubt_of(run).kind, RAN) == ("doubt", ["a"])


def broken(to: str) -> Any:
    raise ConnectionError("the log is away")


@pytest.mark.parametrize(
    "found", [lambda to: sayso.CannotTell(), lambda to: None, lambda to: True, broken]
)
def test_a_tool_that_cannot_say_leaves_it_to_a_person(local: Desk, found: Any) -> None:
    run = cut_off(local, verifying(found))

    carried_on(local, run)

    assert (doubt_of(run).kind, RAN) == ("doubt", ["a"])


# --- exceptions after which nobody knows ---------------------------------------------------------


def test_an_exception_that_leaves_it_open_is_a_doubt(desk: Desk) -> None:
    tool = dying(1, TimeoutError, unknown=TimeoutError)
    run = begun(desk, Agent("clerk", ScriptedModel(once(call("send", to="a"))), [tool]), "x")

    doubt = doubt_of(run)
    assert "TimeoutError: cut off" in (doubt.content.sentence or "")
    assert (run.status, RAN) == ("waiting", ["a"])
    desk.respond(doubt, "it arrived")
    assert carried_on(desk, run).output == "it arrived"
    assert RAN == ["a"]


def test_any_other_exception_is_told_to_the_model(local: Desk) -> None:
    tool = dying(1, ValueError, unknown=TimeoutError)
    run = begun(local, Agent("clerk", ScriptedModel(once(call("send", to="a"))), [tool]), "x")

    assert run.output == "send failed: ValueError: cut off"
    assert run.asks == []


def test_an_idempotent_tool_is_tried_again_and_then_a_person_is_asked(local: Desk) -> None:
    tool = dying(3, TimeoutError, unknown=TimeoutError, idempotent=True)
    run = begun(local, Agent("clerk", ScriptedModel(once(call("send", to="a"))), [tool]), "x")

    assert (run.status, RAN) == ("waiting", ["a"] * 3)
    assert len({key for key, _ in KEYS}) == 1
    local.approve(doubt_of(run))
    assert carried_on(local, run).output == "sent to a, time 4"


def test_a_tool_that_does_not_know_and_can_find_out_asks_nobody(local: Desk) -> None:
    tool = verifying(lambda to: sayso.Happened("found"), times=1, error=TimeoutError)
    rules = sayso.tool(unknown=TimeoutError, verify=lambda to: sayso.Happened("found"))(tool)

    run = begun(local, Agent("clerk", ScriptedModel(once(call("send", to="a"))), [rules]), "x")

    assert run.output == "found"
    assert (run.asks, RAN) == ([], ["a"])


# --- the code changes while it waits -------------------------------------------------------------


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
