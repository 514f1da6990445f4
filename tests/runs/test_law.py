"""The policy inside a run: what goes alone, what is denied, and approvals that no longer hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import sayso
from sayso import Agent, Desk, Run, Running, StepFailed
from sayso.agent import call
from sayso.errors import Forbidden
from sayso.testing import FakeClock
from tests.agents import Watched, once, results, told
from tests.places import Place
from tests.published import put_in_force
from tests.runs.people import RAN, answered, approved, ask_of, begun, carried_on, pay
from tests.test_gate import in_thread

DENIES = '[[rules]]\nname = "frozen"\ntool = "pay"\neffect = "deny"\nwhy = "Payments stopped."'
SOON = '[tiers.high]\nneeds = ["1 senior"]\nexecute_within = "1h"\n[tools]\npay = "high"'
STRICT = '[tools]\npay = "critical"'


@sayso.tool(risk="low")
def look(order: int) -> str:
    """Look at an order."""
    RAN.append(order)
    return f"order {order}"


def under(desk: Desk, text: str = "") -> Desk:
    """Put another policy in force."""
    return put_in_force(desk, text)


def paying(desk: Desk) -> Callable[..., Any]:
    """Return a workflow that pays, tells what came of it, and waits so that it is replayed."""

    @desk.workflow
    def flow(run: Running) -> Any:
        try:
            came = run.call(pay, amount=40)
        except StepFailed as failure:
            came = f"{failure.kind}: {failure.message}"
        return [came, run.question("And now?")]

    return flow


def kinds(run: Run) -> list[str]:
    return [event.kind for event in run.events]


# --- what needs nobody -------------------------------------------------------------------------


def test_a_call_of_low_risk_runs_alone_and_once(desk: Desk) -> None:
    run = begun(under(desk), lambda run: [run.call(look, order=7), run.question("And now?")])
    assert [ask.kind for ask in run.asks] == ["question"]
    (begins,) = told(run, "step.begun")
    assert (begins["name"], begins["args"]) == ("look", {"order": 7})
    answered(desk, run, "ok")

    assert run.output == ["order 7", "ok"]
    assert RAN == [7]
    assert desk.verify()


def test_what_ran_alone_stays_so_when_the_policy_asks_or_denies_later(desk: Desk) -> None:
    run = begun(under(desk), lambda run: [run.call(look, order=7), run.question("And now?")])
    under(desk, DENIES.replace("pay", "look"))
    answered(desk, run, "ok")

    assert run.output == ["order 7", "ok"]
    assert RAN == [7]


def test_a_low_risk_that_the_policy_puts_higher_asks(desk: Desk) -> None:
    desk.people.add("anna", roles=["senior"])
    desk.people.add("ben")
    run = begun(under(desk, '[tools]\nlook = "high"'), lambda run: run.call(look, order=7))
    assert RAN == []
    with pytest.raises(Forbidden):
        desk.approve(ask_of(run), by="ben")
    desk.approve(ask_of(run), by="anna")
    carried_on(desk, run)

    assert run.output == "order 7"


def test_a_tool_that_declares_nothing_asks(desk: Desk) -> None:
    run = begun(under(desk, '[tools]\npay = "low"'), paying(desk))

    assert ask_of(run).tool == "pay"
    assert RAN == []


# --- what is denied ----------------------------------------------------------------------------


@pytest.mark.parametrize("later", [DENIES, "", STRICT])
def test_a_denied_call_failed_and_stays_so_whatever_the_policy_says_later(
    desk: Desk, later: str
) -> None:
    run = begun(under(desk, DENIES), paying(desk))
    assert [ask.kind for ask in run.asks] == ["question"]
    (failed,) = told(run, "step.failed")
    assert failed["error"]["kind"] == "Denied"
    under(desk, later)
    answered(desk, run, "ok")

    assert run.output == [
        "Denied: The policy denies pay: Payments stopped. (rule frozen)",
        "ok",
    ]
    assert RAN == []
    assert kinds(run).count("step.failed") == 1
    assert desk.verify()


def test_a_run_that_failed_because_it_was_denied_asks_when_it_is_retried_under_another_policy(
    desk: Desk,
) -> None:
    run = begun(under(desk, DENIES), lambda run: run.call(pay, amount=40))
    assert run.status == "failed"
    assert "Payments stopped." in str(run.error)
    under(desk)
    desk.retry(run)
    carried_on(desk, run)
    approved(desk, run)

    assert run.output == "paid 40"
    assert RAN == [40]


# --- approvals that no longer hold -------------------------------------------------------------


def lapsed(desk: Desk, clock: FakeClock, flow: Any, *given: Any) -> Run:
    """Start a run whose call is approved, and let the approval grow too old."""
    run = begun(under(desk, SOON), flow, *given)
    desk.approve(ask_of(run))
    clock.advance("2h")
    return carried_on(desk, run)


def test_an_approval_that_is_too_old_is_told_to_the_workflow_at_every_replay(
    desk: Desk, clock: FakeClock
) -> None:
    run = lapsed(desk, clock, paying(desk))
    assert RAN == []
    under(desk)
    answered(desk, run, "ok")

    came, _ = run.output
    assert came.startswith("NotApproved: ")
    assert "its approval was good until" in came
    assert RAN == []
    assert kinds(run).count("step.failed") == 1
    assert desk.verify()


def test_an_approval_that_is_used_in_time_is_not_too_old_at_a_later_replay(
    desk: Desk, clock: FakeClock
) -> None:
    run = begun(under(desk, SOON), paying(desk))
    approved(desk, run)
    clock.advance("1d")
    answered(desk, run, "ok")

    assert run.output == ["paid 40", "ok"]
    assert RAN == [40]


def test_a_retry_after_an_approval_lapsed_asks_anew(desk: Desk, clock: FakeClock) -> None:
    @desk.workflow
    def flow(run: Running) -> Any:
        return run.call(pay, amount=40)

    run = lapsed(desk, clock, flow)
    assert run.status == "failed"
    old = {ask.id for ask in run.asks}
    desk.retry(run)
    carried_on(desk, run)
    assert ask_of(run).id not in old
    assert RAN == []
    approved(desk, run)

    assert run.output == "paid 40"
    assert RAN == [40]
    assert desk.verify()


@pytest.mark.parametrize(("later", "why"), [(STRICT, "wants more"), (DENIES, "denies it by now")])
def test_a_policy_that_became_stricter_after_the_approval_runs_nothing(
    desk: Desk, later: str, why: str
) -> None:
    run = begun(under(desk), paying(desk))
    desk.approve(ask_of(run))
    carried_on(under(desk, later), run)
    assert RAN == []
    answered(desk, run, "ok")

    assert run.output[0].startswith("NotApproved: ")
    assert why in run.output[0]
    assert RAN == []


def test_a_doubt_that_says_to_run_it_again_does_not_outvote_the_policy(desk: Desk) -> None:
    @sayso.tool(name="pay")
    def cut_off(amount: int) -> str:
        RAN.append(amount)
        raise SystemExit

    run = begun(under(desk), lambda run: run.call(cut_off, amount=40))
    approved(desk, run)
    assert RAN == [40]
    (doubt,) = [ask for ask in run.asks if ask.kind == "doubt"]
    desk.approve(doubt)
    carried_on(under(desk, DENIES), run)

    assert RAN == [40]
    assert run.status == "failed"
    assert "Payments stopped." in str(run.error)


@pytest.mark.parametrize("later", [STRICT, DENIES])
def test_an_idempotent_call_left_in_the_middle_is_doubted_if_it_must_not_run_again(
    desk: Desk, place: Place, clock: FakeClock, later: str
) -> None:
    @sayso.tool(name="pay", idempotent=True)
    def slow(amount: int) -> str:
        RAN.append(amount)
        clock.advance("10m")  # longer than anybody waits for a silent worker
        under(desk, later)
        in_thread(lambda: other.work(until="idle")).result(20)
        return "paid"

    def flow(run: Running) -> Any:
        return run.call(slow, amount=40)

    with Desk(place.url, clock=clock, agent="shop", account="sam@till") as other:
        other.law = desk.law
        other.workflow(flow)
        run = begun(under(desk), desk.workflow(flow))
        approved(desk, run)

        assert RAN == [40]
        (doubt,) = [ask for ask in run.asks if ask.kind == "doubt"]
        assert doubt.open
        assert "must not be carried out" in doubt.content.sentence
        assert run.status == "waiting"


# --- agents ------------------------------------------------------------------------------------


def test_a_plain_tool_of_an_agent_that_the_policy_names_asks(desk: Desk) -> None:
    agent = Agent("clerk", Watched(once(call("pay", amount=40))), [pay])
    desk.people.add("anna", roles=["senior"])
    run = begun(under(desk, '[tools]\npay = "high"'), agent, "pay it")
    assert RAN == []
    desk.approve(ask_of(run), by="anna")
    carried_on(desk, run)

    assert run.output == "paid 40"
    assert RAN == [40]


def test_a_model_is_told_what_is_denied_and_goes_on(desk: Desk) -> None:
    model = Watched(once(call("pay", amount=40), call("look", order=7)))
    agent = Agent("clerk", model, [pay, look])

    run = begun(under(desk, DENIES), agent, "pay it")

    denied, looked = results(model.last)
    assert "Payments stopped." in denied
    assert looked == "order 7"
    assert run.status == "done"
    assert (run.asks, RAN) == ([], [7])


# --- what a run does not wait for --------------------------------------------------------------


def test_a_later_call_that_the_policy_allows_asks_nobody_and_runs_once(desk: Desk) -> None:
    def flow(run: Running) -> Any:
        later = run.later.call(look, 7)
        more = run.question("And now?")
        return [later.id, later.done(), later.result(), more]

    run = begun(desk, flow)
    assert [ask.kind for ask in run.asks] == ["question"]
    answered(desk, run, "go on")

    assert run.output == [None, True, "order 7", "go on"]
    assert RAN == [7]


def test_a_later_call_that_is_denied_fails_where_its_result_is_wanted(desk: Desk) -> None:
    under(desk, DENIES)

    def flow(run: Running) -> Any:
        later = run.later.call(pay, amount=40)
        more = run.question("And now?")
        try:
            return later.result()
        except StepFailed as failure:
            return [failure.kind, more]

    run = begun(desk, flow)
    under(desk)  # what was denied stays so
    answered(desk, run, "go on")

    assert run.output == ["Denied", "go on"]
    assert RAN == []


def test_a_yes_that_settles_does_not_wake_the_run_before_it_counts(
    desk: Desk, clock: FakeClock
) -> None:
    run = begun(desk, paying(desk))
    ask = desk.approve(ask_of(run), hold="8s")
    assert ask.settling
    carried_on(desk, run)
    assert (run.status, RAN) == ("waiting", [])
    desk.take_back(ask)
    clock.advance("1m")
    carried_on(desk, run)
    assert (run.status, RAN) == ("waiting", [])

    desk.approve(ask_of(run), hold="8s")
    clock.advance("8s")
    desk.sweep()
    carried_on(desk, run)

    assert RAN == [40]


def test_a_run_that_is_cancelled_while_a_yes_settles_runs_nothing(
    desk: Desk, clock: FakeClock
) -> None:
    run = begun(desk, paying(desk))
    ask = desk.approve(ask_of(run), hold="8s")
    desk.cancel(run)
    clock.advance("8s")
    desk.sweep()

    assert (run.status, desk.get(ask.id).status, RAN) == ("cancelled", "withdrawn", [])
    assert desk.verify()


def test_an_optional_review_does_not_hold_the_run(desk: Desk) -> None:
    def flow(run: Running) -> Any:
        text = run.draft("Dear customer", optional=True)
        return [text, run.question("And now?")]

    run = begun(desk, flow)
    draft, question = sorted(run.asks, key=lambda ask: ask.kind)
    assert (draft.kind, question.kind) == ("draft", "question")
    desk.edit(draft, "Hello")
    desk.respond(question, "go on")
    carried_on(desk, run)

    assert run.output == ["Dear customer", "go on"], "what was sent was sent"


def test_a_run_ends_although_an_optional_review_is_open(desk: Desk) -> None:
    run = begun(desk, lambda run: run.draft("Dear customer", optional=True))

    assert (run.status, run.output) == ("done", "Dear customer")
    (draft,) = run.asks
    assert desk.reject(draft, "Too stiff").decision is not None
    assert desk.verify()


# --- how much it asks --------------------------------------------------------------------------


def test_a_run_that_asks_too_much_is_parked_and_goes_on_where_it_was_e46(
    desk: Desk, clock: FakeClock
) -> None:
    """It would fail: of two thousand runs started at once most would be lost."""

    def flow(run: Running) -> Any:
        first = run.call(look, order=7)
        return [first, run.question("Which one?"), run.question("And now?")]

    under(desk, '[agents]\nasks = "1 per hour"\n')
    run = answered(desk, begun(desk, flow), "this one")

    assert (run.status, RAN) == ("parked", [7])
    assert "has asked 1 times within 1 h" in str(run.error)
    clock.advance("1h")
    desk.retry(run)
    answered(desk, carried_on(desk, run), "nothing")
    assert (run.output, RAN) == (["order 7", "this one", "nothing"], [7])
    assert desk.verify()
