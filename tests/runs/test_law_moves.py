"""Another policy is put in force under a run: nothing of it goes by the one before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sayso
from sayso import Ask, Desk, Running
from sayso.testing import FakeClock
from tests.places import Place

FREE = '[tools]\npay = "low"\nlook = "low"\n'
SENIOR = '[tools]\npay = "high"\nlook = "low"\n'
NEVER = '[[rules]]\nname = "stopped"\ntool = "pay"\neffect = "deny"\n'


@pytest.fixture
def admin(place: Place, clock: FakeClock) -> Iterator[Desk]:
    """Another program on the same desk, which puts policies in force."""
    with Desk(place.url, clock=clock, account="sam@till") as desk:
        desk.policies.publish(FREE)
        yield desk


@sayso.tool
def look(order: int) -> str:
    return f"order {order}"


@pytest.mark.parametrize("before", ["low", "medium"], ids=["needed nobody", "needed anybody"])
def test_a_call_is_asked_for_under_the_policy_of_the_moment(
    desk: Desk, admin: Desk, before: str
) -> None:
    paid: list[int] = []

    @sayso.tool(risk=before)
    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    def paying(run: Running) -> str:
        run.effect(look, 7)
        run.step(lambda: admin.policies.publish(SENIOR).number)
        return run.call(pay, 40)

    admin.policies.publish(FREE.replace("low", before, 1))
    run = desk.run(desk.workflow(paying), wait=False)

    assert run.status == "waiting"
    assert paid == []
    (ask,) = run.asks
    assert str(ask.needs) == "1 senior"
    assert ask.content.ruled.version == admin.policies.show().digest
    desk.approve(ask)
    desk.work(until="idle")
    assert (paid, run.result()) == ([40], "paid")
    assert [one.digest for one in admin.policies.log()].count(ask.content.ruled.version) == 1
    assert desk.verify()


def test_whoever_hears_of_asks_hears_once_of_one_that_was_ruled_anew(
    desk: Desk, admin: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Ask] = []
    monkeypatch.setattr(desk, "opened", heard.append)

    def asking(run: Running) -> str:
        run.effect(look, 7)
        run.step(lambda: admin.policies.publish(SENIOR).number)
        return str(run.question("Which?"))

    run = desk.run(desk.workflow(asking), wait=False)

    assert [ask.id for ask in heard] == [ask.id for ask in run.asks]
    assert run.asks[0].content.ruled.version == admin.policies.show().digest


def test_a_question_that_is_denied_by_now_is_never_asked(desk: Desk, admin: Desk) -> None:
    admin.policies.publish('[tools]\npay = "medium"\nlook = "low"\n')
    heard: list[str] = []

    @sayso.tool(risk="medium")
    def pay(amount: int) -> str:
        raise AssertionError("it was denied")

    def publish(text: str) -> None:
        admin.policies.publish(text)

    @desk.workflow
    def paying(run: Running) -> str:
        run.effect(look, 7)
        run.step(publish, NEVER)
        try:
            run.call(pay, 40)
        except sayso.errors.StepFailed as failure:
            heard.append(failure.message)
        return "gone on"

    run = desk.run(paying)

    assert run.result() == "gone on"
    assert "The policy denies pay" in heard[-1]
    assert not list(desk.inbox())
    assert desk.verify()


def test_a_call_says_under_which_version_it_ran_alone(desk: Desk, admin: Desk) -> None:
    @desk.workflow
    def looking(run: Running) -> str:
        return str(run.effect(look, 7))

    run = desk.run(looking)

    begun = [event.payload for event in desk.store.stream(run.id) if event.kind == "step.begun"]
    assert begun
    assert begun[0]
    assert begun[0]["ruled"] == admin.policies.show().digest


@pytest.mark.parametrize("warm", [True, False])
def test_a_call_that_needs_nobody_by_now_is_not_asked_for(
    desk: Desk, admin: Desk, warm: bool
) -> None:
    @sayso.tool(risk="low")
    def pay(amount: int) -> str:
        return "paid"

    @desk.workflow
    def paying(run: Running, amount: int) -> str:
        return run.call(pay, amount)

    admin.policies.publish(SENIOR)
    if warm:
        assert desk.run(paying, 1, wait=False).status == "waiting"
    admin.policies.rollback(1)

    run = desk.run(paying, 2, wait=False)

    assert (run.status, list(run.asks)) == ("done", [])
