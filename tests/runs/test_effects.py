"""Effects: calls that need nobody's approval, and are never made twice in silence."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import Desk, Running, Skipped, StepFailed
from sayso.runs.journal import Finished
from tests.places import Place
from tests.runs.people import RAN, answered, approved, ask_of, begun, carried_on, rejected, titles
from tests.together import at_once


def wipe(name: str) -> str:
    RAN.append(name)
    return f"wiped {name}"


def test_an_effect_asks_nobody_and_is_not_repeated_on_a_replay(desk: Desk):
    run = begun(
        desk,
        lambda run: [
            run.effect(wipe, "disk"),
            run.question("Happy?"),
            run.effect(wipe, name="tape"),
        ],
    )
    assert (titles(run), RAN) == (["Happy?"], ["disk"])
    answered(desk, run, "yes")

    assert run.output == ["wiped disk", "yes", "wiped tape"]
    assert RAN == ["disk", "tape"]


def test_its_intent_is_in_the_journal_before_it_starts(desk: Desk):
    seen: list[str] = []

    def look() -> str:
        (other,) = desk.runs()
        seen.extend(event.kind for event in other.events)
        return "looked"

    run = begun(desk, lambda run: run.effect(look))

    assert run.output == "looked"
    assert seen == ["run.started", "step.begun"]
    begins = next(event.payload for event in run.events if event.kind == "step.begun")
    assert (begins or {})["name"] == "look"


@pytest.mark.parametrize(
    "declared",
    [{"risk": "high"}, {"reversible": False}, {"affects": "all"}, {"needs": ["2 reviewer"]}],
)
def test_what_a_function_declares_is_asked_about_all_the_same(desk: Desk, declared: Any):
    burn = sayso.tool(name="burn", **declared)(lambda name: RAN.append(name))
    run = begun(desk, lambda run: run.effect(burn, "disk"))
    assert (titles(run), RAN) == (["burn"], [])
    approved(desk, run)

    assert (run.status, RAN) == ("done", ["disk"])


def test_a_gate_is_a_gate_whichever_verb_goes_through_it(desk: Desk):
    @desk.gate
    def burn(name: str) -> None:
        RAN.append(name)

    run = begun(desk, lambda run: run.effect(burn, "disk"))
    assert (titles(run), RAN) == (["burn"], [])
    rejected(desk, run, "no")

    assert (run.status, RAN) == ("failed", [])
    assert "Rejected" in (run.error or "")


def test_what_the_policy_denies_is_not_done(place: Place, tmp_path: Path):
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[[rules]]\nname = "no wiping"\ntool = "wipe"\neffect = "deny"\nwhy = "Never."\n'
    )
    with Desk(place.url, policy=policy, account="sam@till") as desk:

        @desk.workflow
        def flow(run: Running) -> Any:
            with pytest.raises(StepFailed, match="Never") as refused:
                run.effect(wipe, "disk")
            return refused.value.kind

        run = begun(desk, flow)

    assert (run.output, RAN) == ("Denied", [])


def test_a_failure_is_the_same_at_every_replay_and_a_retry_tries_again(desk: Desk):
    def fragile() -> str:
        RAN.append("tried")
        if len(RAN) == 1:
            raise ConnectionError("busy")
        return "fine"

    run = begun(desk, lambda run: run.effect(fragile))
    assert (run.status, RAN) == ("failed", ["tried"])
    assert "ConnectionError: busy" in (run.error or "")
    desk.retry(run)
    carried_on(desk, run)

    assert (run.output, RAN) == ("fine", ["tried", "tried"])


def test_what_an_attempt_was_called_with_is_remembered_beside_what_came_of_it(desk: Desk):
    amounts = iter([40, 30])

    def fragile(amount: int) -> str:
        if amount == 40:
            raise ConnectionError("busy")
        return "fine"

    run = begun(desk, lambda run: run.effect(fragile, amount=next(amounts)))
    desk.retry(run)
    carried_on(desk, run)

    actions = [step for step in run.memory.steps if isinstance(step, sayso.ActionStep)]
    assert [(step.args, step.status) for step in actions] == [
        ({"amount": 40}, "failed"),
        ({"amount": 30}, "done"),
    ]


def test_an_effect_in_doubt_waits_for_a_person_and_is_left_if_they_say_so(desk: Desk):
    @sayso.tool(unknown=TimeoutError)
    def wire(amount: int) -> str:
        RAN.append(amount)
        raise TimeoutError("no answer")

    def flow(run: Running) -> Any:
        with pytest.raises(Skipped):
            run.effect(wire, 40)
        return "left"

    run = begun(desk, flow)
    doubt = ask_of(run)
    assert (doubt.kind, doubt.title) == ("doubt", "Did wire happen?")
    desk.reject(doubt, "leave it")
    carried_on(desk, run)

    assert (run.output, RAN) == ("left", [40])


def test_an_effect_is_awaited_in_a_workflow_that_is(desk: Desk):
    async def wipe_async(name: str) -> str:
        RAN.append(name)
        return f"wiped {name}"

    async def flow(run: Any) -> Any:
        return [await run.effect(wipe_async, "disk"), await run.question("Happy?")]

    run = begun(desk, flow)
    answered(desk, run, "yes")

    assert (run.output, RAN) == (["wiped disk", "yes"], ["disk"])


def test_an_effect_with_other_arguments_than_before_parks_the_run(desk: Desk):
    names = iter(["disk", "tape"])
    run = begun(desk, lambda run: [run.effect(wipe, next(names)), run.question("Happy?")])
    answered(desk, run, "yes")

    assert (run.status, RAN) == ("parked", ["disk"])
    assert "other arguments" in (run.error or "")


def test_a_late_result_is_evidence_once_whoever_notices_first(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pulse and the thread that carries the run on may both find that somebody else has it."""
    reports: list[str] = []

    def reported(*_: object, **said: object) -> None:
        time.sleep(0.05)
        reports.append(str(said["result"]))

    monkeypatch.setattr("sayso.runs.journal.finish", reported)

    @desk.workflow
    def flow(run: Running) -> Any:
        call: Any = None
        run.journal.flush()  # or else the pulse might, and with it what is put there by hand
        run.journal._finished.append(Finished(call, "done", "paid", None))
        at_once([run.journal.fenced] * 3)

    desk.run(flow, wait=False)

    assert reports == ["paid"]
