"""Several calls of one turn, decided together or one by one; and runs that real workers carry on."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

import sayso
from sayso import Agent, Ask, Run, ScriptedModel
from sayso.agent import call
from tests.agents import once
from tests.browser.office import Office
from tests.browser.window import PHONE, Window
from tests.runs.people import begun

RAN: list[int] = []


@sayso.tool(risk="medium")
def pay(amount: int) -> str:
    """Pay an amount."""
    RAN.append(amount)
    return f"paid {amount}"


@pytest.fixture(autouse=True)
def nothing_ran() -> Iterator[None]:
    RAN.clear()
    yield
    RAN.clear()


def turn(office: Office) -> tuple[Run, list[Ask]]:
    """Let an agent ask for three calls in one reply."""
    script = once(*(call("pay", amount=amount) for amount in (1, 2, 3)))
    run = begun(office.desk, Agent(office.agent, ScriptedModel(script), [pay]), "pay the bills")
    return run, sorted(run.state.pending, key=lambda ask: ask.args["amount"])


def finished(office: Office, run: Run) -> Run:
    office.later()
    office.desk.work(until="idle")
    return office.desk.get_run(run.id)


def test_the_calls_of_a_turn_are_decided_on_one_page_each_with_its_verdict(solo: Office) -> None:
    run, (first, second, third) = turn(solo)
    here = solo.window().visit(solo.path(first))
    expect(here("#context, main#detail").filter(has_text="3").first).to_be_attached()

    here.visit(f"/inbox/{first.id}/turn")
    for ask, verdict in ((first, "approve"), (second, "reject"), (third, "approve")):
        say(here, ask, verdict)
    here(f'form[action^="/inbox/{first.id}/turn"] button.primary').click()

    expect(here("main").first).to_contain_text(re.compile("approved", re.IGNORECASE))
    done = finished(solo, run)
    assert sorted(RAN) == [1, 3]
    assert done.status == "done"


def test_the_verdicts_on_a_turn_are_sent_with_a_thumb_too(solo: Office) -> None:
    _, (first, second, third) = turn(solo)
    here = solo.window(size=PHONE, touch=True).visit(f"/inbox/{first.id}/turn").armed()
    assert here.covered() == []

    say(here, third, "reject")
    here.page.get_by_role("button", name="Send these verdicts").tap()

    expect(here(".call-result")).to_contain_text("rejected by")
    assert here.covered() == [], "undo among them"
    solo.later()
    assert [solo.now(ask).status for ask in (first, second, third)] == ["open", "open", "decided"]


def say(here: Window, ask: Ask, verdict: str) -> None:
    """Choose the verdict on one of them."""
    here.pick(f'[name="verdict:{ask.id}"][value="{verdict}"]')


def test_an_edit_in_the_browser_is_what_the_worker_carries_out(solo: Office) -> None:
    run, (first, *others) = turn(solo)
    here = solo.window().visit(solo.path(first)).armed()

    here('main#detail [name="/amount"]').first.fill("10")
    here.verdict("approve").click()
    expect(here("#held form.undo")).to_be_visible()
    for ask in others:
        solo.desk.reject(ask)

    finished(solo, run)
    assert RAN == [10]
    here.visit(solo.path(first))
    expect(here("main#detail")).to_contain_text("paid 10")


def test_reject_and_stop_ends_the_run(solo: Office) -> None:
    run, (first, *_) = turn(solo)
    here = solo.window().visit(solo.path(first)).armed()

    here(f"#more-{first.id} > summary").click()
    here.pick(f"#more-{first.id} [name=end]")
    here(f"#more-{first.id} button[value=reject-with]").click()
    expect(here("#held form.undo")).to_be_visible()

    assert finished(solo, run).status == "cancelled"
    assert RAN == []
