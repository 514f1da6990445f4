"""Guarded calls in a run: approved, edited, refused, failed, in doubt; carried out once."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel

import sayso
from sayso import (
    Answered,
    CannotTell,
    Desk,
    DidNotHappen,
    Happened,
    Rejected,
    Run,
    Running,
    Skipped,
    StepFailed,
)
from sayso.errors import AlreadySpent, InvalidAnswer, NotApproved
from tests.runs.people import (
    RAN,
    answered,
    approved,
    ask_of,
    asked,
    begun,
    carried_on,
    edited,
    rejected,
    titles,
)


class Receipt(BaseModel):
    number: int
    on: date


def pay(amount: int, to: str = "anna") -> str:
    RAN.append((amount, to))
    return f"paid {amount}"


def lose_the_line(amount: int) -> Receipt:
    RAN.append(amount)
    if len(RAN) == 1:
        raise TimeoutError("no answer")
    return Receipt(number=len(RAN), on=date(2026, 1, 2))


shaky = sayso.tool(unknown=TimeoutError, name="shaky")(lose_the_line)


def outcome_of(run: Running, tool: Any, **args: Any) -> str:
    """Carry a call out, and tell in a word what came of it."""
    try:
        return f"result {run.call(tool, **args)}"
    except (Rejected, Answered, Skipped, StepFailed) as outcome:
        return f"{type(outcome).__name__}: {getattr(outcome, 'note', None) or outcome}"


# --- what people say ---------------------------------------------------------------------------


def test_nothing_runs_before_it_is_approved_and_then_once(desk: Desk):
    run = begun(desk, lambda run: [run.call(pay, amount=40), run.question("And now?")])
    carried_on(desk, run)
    assert RAN == []
    approved(desk, run)
    assert RAN == [(40, "anna")]
    answered(desk, run, "ok")

    assert run.output == ["paid 40", "ok"]
    assert RAN == [(40, "anna")]


def test_an_edit_is_what_runs_and_what_history_shows(desk: Desk):
    run = begun(desk, lambda run: [run.call(pay, amount=40), run.question("And now?")])
    edited(desk, run, {"amount": 30, "to": "ada"})
    answered(desk, run, "ok")

    assert RAN == [(30, "ada")]
    assert run.output == ["paid 30", "ok"]
    action = next(s for s in run.memory.steps if isinstance(s, sayso.ActionStep))
    assert action.args == {"amount": 30, "to": "ada"}
    assert action.result == "paid 30"
    assert asked(run, "pay").original == {"amount": 40, "to": "anna"}


def test_a_no_is_told_and_the_run_goes_on(desk: Desk):
    seen: list[str] = []

    def flow(run: Running) -> Any:
        seen.append(outcome_of(run, pay, amount=40))
        return run.question("And now?")

    run = begun(desk, flow)
    rejected(desk, run, "too much", kind="harmful")
    answered(desk, run, "ok")

    assert run.output == "ok"
    assert seen == ["Rejected: too much"] * 2
    assert RAN == []
    assert asked(run, "pay").effect is None


def test_an_answer_is_told_and_the_run_may_propose_again(desk: Desk):
    def flow(run: Running) -> Any:
        amount = 40
        while True:
            try:
                return run.call(pay, amount=amount)
            except Answered as answer:
                amount = int(answer.text)

    run = begun(desk, flow)
    answered(desk, run, "30")
    answered(desk, run, "20")
    approved(desk, run)

    assert run.output == "paid 20"
    assert RAN == [(20, "anna")]


def test_a_no_may_be_a_value(desk: Desk):
    @sayso.tool(on_reject="not paid")
    def cheap(amount: int) -> str:
        return pay(amount)

    run = begun(desk, lambda run: run.call(cheap, amount=40))
    rejected(desk, run)

    assert run.output == "not paid"
    assert RAN == []


def test_a_gate_inside_a_run_is_a_call_of_the_run(desk: Desk):
    @desk.gate(risk="high")
    def transfer(amount: int) -> str:
        RAN.append(amount)
        return f"key {bool(sayso.current_call().key)}"

    run = begun(desk, lambda run: [transfer(40), transfer(amount=50)])
    assert run.status == "waiting", "it does not block"
    assert ask_of(run).content.risk == "high"
    assert ask_of(run).content.run == run.id
    approved(desk, run)
    approved(desk, run)

    assert run.output == ["key True", "key True"]
    assert RAN == [40, 50]


def test_an_async_gate_inside_an_async_run_is_a_call_of_the_run(desk: Desk):
    @desk.gate
    async def transfer(amount: int) -> str:
        RAN.append(amount)
        return "moved"

    async def flow(run: Any) -> Any:
        return await transfer(40)

    run = begun(desk, flow)
    assert run.status == "waiting"
    approved(desk, run)

    assert (run.output, RAN) == ("moved", [40])


def test_only_the_run_carries_its_call_out(desk: Desk):
    run = begun(desk, lambda run: run.call(pay, amount=40))
    ask = desk.approve(ask_of(run))

    with pytest.raises(NotApproved, match=run.id):
        desk.begin(ask)
    carried_on(desk, run)
    with pytest.raises((AlreadySpent, NotApproved)):
        desk.begin(ask)
    assert RAN == [(40, "anna")]


def test_each_call_has_a_key_of_its_own(desk: Desk):
    keys: list[str] = []

    def keyed(amount: int) -> None:
        keys.append(sayso.current_call().key)

    def flow(run: Running) -> None:
        run.call(keyed, amount=1)
        run.call(keyed, amount=1)

    run = begun(desk, flow)
    approved(desk, run)
    approved(desk, run)

    assert run.status == "done"
    assert len(set(keys)) == 2


# --- what becomes of it ------------------------------------------------------------------------


def test_a_failing_tool_fails_the_same_way_at_every_replay(desk: Desk):
    seen: list[tuple[str, str, str]] = []
    causes: list[BaseException | None] = []

    def broke(amount: int) -> None:
        RAN.append(amount)
        raise LookupError("no funds: 100% (sic)")

    def flow(run: Running) -> Any:
        try:
            run.call(broke, amount=40)
        except StepFailed as failure:
            seen.append((failure.name, failure.kind, failure.message))
            causes.append(failure.__cause__)
        return run.question("And now?")

    run = begun(desk, flow)
    approved(desk, run)
    answered(desk, run, "ok")

    assert run.output == "ok"
    assert seen == [("broke", "LookupError", "no funds: 100% (sic)")] * 2
    assert isinstance(causes[0], LookupError)
    assert RAN == [40]


def test_a_failed_call_is_carried_out_again_only_after_another_yes(desk: Desk):
    """An approval covers one execution: whoever retries the run does not decide that."""

    def flaky(amount: int) -> str:
        RAN.append(amount)
        if len(RAN) == 1:
            raise LookupError("no funds")
        return "paid"

    run = begun(desk, lambda run: [run.call(flaky, amount=40), run.question("And now?")])
    approved(desk, run)
    assert desk.runs(status="failed")
    desk.retry(run)
    carried_on(desk, run)
    assert RAN == [40]
    assert desk.runs(status="waiting")

    approved(desk, run, "flaky")
    answered(desk, run, "ok", "And now?")
    assert run.output == ["paid", "ok"]
    assert RAN == [40, 40]
    assert desk.verify()


def test_a_later_may_be_looked_at_and_collected_as_often_as_one_likes(desk: Desk):
    def flow(run: Any) -> Any:
        later = run.later.call(pay, amount=40)
        return [later.result(), later.done(), later.result(), later.done()]

    run = begun(desk, flow)
    approved(desk, run)

    assert run.output == ["paid 40", True, "paid 40", True]
    assert RAN == [(40, "anna")]
    assert titles(run) == ["pay"], "no doubt about what is known"


def in_doubt(desk: Desk) -> Run:
    """Return a run whose approved call raised an exception that proves nothing."""

    @desk.workflow
    def flow(run: Running) -> Any:
        try:
            receipt = run.call(shaky, amount=40)
        except Skipped as skipped:
            return f"skipped by {skipped.by}"
        assert isinstance(receipt, Receipt)
        return [receipt.number, receipt.on.year, run.question("And now?")]

    run = begun(desk, flow)
    approved(desk, run, "shaky")
    assert run.status == "waiting"
    assert RAN == [40]
    return run


def test_not_knowing_is_a_question_to_people(desk: Desk):
    run = in_doubt(desk)
    doubt = ask_of(run)

    assert (doubt.kind, doubt.title) == ("doubt", "Did shaky happen?")
    assert "TimeoutError" in doubt.content.sentence
    assert doubt.content.about == asked(run, "shaky").id
    carried_on(desk, run)
    assert RAN == [40], "nothing is tried before somebody answers"


def test_a_person_may_say_run_it_again(desk: Desk):
    run = in_doubt(desk)
    approved(desk, run)
    answered(desk, run, "ok", "And now?")

    assert run.output == [2, 2026, "ok"]
    assert RAN == [40, 40]


def test_a_person_may_say_it_happened_with_a_result_of_the_right_type(desk: Desk):
    run = in_doubt(desk)
    with pytest.raises(InvalidAnswer):
        desk.respond(ask_of(run), {"number": "many"})
    answered(desk, run, {"number": 7, "on": "2025-01-02"})
    answered(desk, run, "ok", "And now?")

    assert run.output == [7, 2025, "ok"]
    assert RAN == [40]


def test_an_idempotent_tool_is_tried_again_with_the_same_key(desk: Desk):
    keys: list[str] = []

    @sayso.tool(unknown=TimeoutError, idempotent=True)
    def put(amount: int) -> str:
        keys.append(sayso.current_call().key)
        if len(keys) < 2:
            raise TimeoutError
        return "put"

    run = begun(desk, lambda run: run.call(put, amount=40))
    approved(desk, run)

    assert run.output == "put"
    assert len(keys) == 2
    assert len(set(keys)) == 1


@pytest.mark.parametrize(
    ("finding", "runs", "ends"),
    [
        (Happened("checked"), 1, "result checked"),
        (DidNotHappen(), 2, "result second"),
        (CannotTell(), 1, None),
    ],
)
def test_verify_is_asked_first(desk: Desk, finding: Any, runs: int, ends: str | None):
    @sayso.tool(unknown=TimeoutError, verify=lambda amount: finding, limit=0.01)
    def put(amount: int) -> str:
        RAN.append(amount)
        if len(RAN) == 1:
            raise TimeoutError
        return "second"

    run = begun(desk, lambda run: outcome_of(run, put, amount=40))
    approved(desk, run)

    assert run.output == ends
    assert len(RAN) == runs
    assert run.status == ("waiting" if ends is None else "done")


def test_the_exception_of_a_tool_is_no_doubt_unless_it_is_named(desk: Desk):
    @sayso.tool(unknown=TimeoutError)
    def put(amount: int) -> str:
        raise ConnectionRefusedError("no")

    run = begun(desk, lambda run: outcome_of(run, put, amount=40))
    approved(desk, run)

    assert titles(run) == ["put"]
    assert run.output.startswith("StepFailed")


# --- results that cannot be kept ---------------------------------------------------------------


def test_a_result_that_cannot_be_stored_does_not_undo_what_happened(desk: Desk):
    seen: list[tuple[str, str]] = []

    def odd(amount: int) -> Any:
        RAN.append(amount)
        return {1, 2}

    def flow(run: Running) -> Any:
        try:
            run.call(odd, amount=40)
        except StepFailed as failure:
            seen.append((failure.kind, failure.message))
        return run.question("And now?")

    run = begun(desk, flow)
    approved(desk, run)
    answered(desk, run, "ok")

    assert run.output == "ok"
    assert RAN == [40], "it is not done again"
    assert seen[0] == seen[1]
    assert "it happened" in seen[0][1]
    effect = asked(run, "odd").effect
    assert effect is not None
    assert effect.status == "done"


def pages(amount: int) -> Any:
    return (RAN.pop() for _ in range(amount))


async def wire(amount: int) -> str:
    RAN.append(amount)
    return "wired"


@pytest.mark.parametrize("tool", [pages, wire], ids=["a generator", "async in a plain workflow"])
def test_a_tool_whose_result_has_still_to_run_has_not_run_and_says_so(desk: Desk, tool: Any):
    run = begun(desk, lambda run: outcome_of(run, tool, amount=40))
    approved(desk, run)

    assert "nothing of it has run" in run.output
    assert RAN == []
    effect = run.asks[0].effect
    assert effect is not None
    assert effect.status == "failed"


def test_a_generator_function_is_no_tool_and_nobody_is_asked_about_it(desk: Desk):
    def pages(amount: int) -> Any:
        RAN.append(amount)
        yield 1

    run = begun(desk, lambda run: run.call(pages, amount=40))

    assert run.status == "failed"
    assert "generator" in str(run.error)
    assert run.asks == []
    assert RAN == []


def test_an_argument_that_cannot_be_stored_is_refused_with_its_place(desk: Desk):
    def tag(labels: Any) -> None:
        RAN.append(labels)

    run = begun(desk, lambda run: run.call(tag, labels={"a": {1, 2}}))

    assert run.status == "failed"
    assert "labels" in str(run.error)
    assert "set" in str(run.error)
    assert run.asks == []


def test_secret_arguments_are_given_to_the_tool_and_kept_nowhere(desk: Desk, place: Any):
    @sayso.tool(secret=["token"])
    def login(user: str, token: str) -> str:
        RAN.append(token)
        return f"in as {user} with {token}"

    def flow(run: Running) -> Any:
        run.call(login, user="anna", token="hunter2-hunter2")
        return "in"

    run = begun(desk, flow)
    approved(desk, run)

    assert run.output == "in", run.error
    assert RAN == ["hunter2-hunter2"]
    stored = place.sql("select payload from events")
    assert "hunter2" not in str(stored)
