"""Choices, drafts and feedback gone wrong inside a run: it stops where it is, and goes on later."""

from __future__ import annotations

from typing import Any

import pytest

from sayso import AskClosed, Desk, Option, Running
from sayso.testing import FakeClock
from tests.crew import Crew
from tests.places import Place
from tests.runs import jobs
from tests.runs.people import answered, approved, ask_of, begun, carried_on

TWO_MB = "x" * 2_000_000


@pytest.mark.parametrize("number", [0, 200])
def test_a_run_that_offers_nothing_or_hundreds_fails_and_says_so(desk: Desk, number: int) -> None:
    @desk.workflow
    def flow(run: Running) -> Any:
        return run.choose("Which?", [Option(f"flight {n}") for n in range(number)])

    run = begun(desk, flow)

    assert run.status == "failed"
    assert f"1 to 100 options, not {number}" in str(run.error)
    assert run.asks == []


def test_a_draft_of_two_megabytes_fails_the_run_and_its_text_is_kept(desk: Desk) -> None:
    def write(_: str | None) -> str:
        return TWO_MB

    @desk.workflow
    def flow(run: Running) -> Any:
        return run.draft(write)

    run = begun(desk, flow)

    assert run.status == "failed"
    assert "bytes" in str(run.error)
    assert run.asks == []
    (made,) = [event.payload for event in run.events if event.kind == "step.failed"]
    assert made is not None
    assert made["refused"] == TWO_MB, "what was made, and perhaps paid for, is not lost"


@pytest.mark.parametrize(
    "bad", [TWO_MB, " \n", "", None, 5], ids=["huge", "blank", "", "none", "5"]
)
@pytest.mark.parametrize("at", [1, 2], ids=["at first", "when it is sent back"])
@pytest.mark.parametrize("verb", ["draft", "plan", "escalate"])
def test_a_maker_of_what_nobody_could_review_is_called_again_by_a_retry(
    local: Desk, verb: str, at: int, bad: Any
) -> None:
    heard: list[str | None] = []

    def write(guidance: Any) -> Any:
        heard.append(guidance)
        text = bad if len(heard) == (1 if verb == "escalate" else at) else f"for {guidance}"
        return [text] if verb == "plan" else text

    @local.workflow
    def flow(run: Running) -> Any:
        if verb == "escalate":
            return run.escalate("42", confidence=None, refine=write)
        return run.draft(write) if verb == "draft" else run.plan(write)

    run = begun(local, flow)
    if at == 2 or verb == "escalate":
        answered(local, run, "plainer")
    assert run.status == "failed"
    assert "write" in str(run.error)
    assert run.state.pending == ()

    carried_on(local, local.retry(run))
    approved(local, run)

    wanted = heard[-1]
    assert heard[-2] == wanted, "it was called again with the same"
    assert run.output == ([f"for {wanted}"] if verb == "plan" else f"for {wanted}")


def test_a_result_too_large_to_be_rated_is_made_again_by_a_retry(local: Desk) -> None:
    heard: list[str | None] = []

    def write(guidance: str | None) -> str:
        heard.append(guidance)
        return TWO_MB if len(heard) == 1 else "short"

    @local.workflow
    def flow(run: Running) -> Any:
        return run.improve(write, "Sum up")

    run = begun(local, flow)
    assert (run.status, run.asks) == ("failed", [])

    carried_on(local, local.retry(run))
    approved(local, run)

    assert (run.output, heard) == ("short", [None, None])


@pytest.mark.parametrize("away", [1, 2], ids=["at first", "when it is sent back"])
def test_a_run_whose_maker_raises_goes_on_when_it_is_tried_again(desk: Desk, away: int) -> None:
    heard: list[str | None] = []

    def write(guidance: str | None) -> str:
        heard.append(guidance)
        if len(heard) == away:
            raise OSError("the model is away")
        return f"text for {guidance}"

    @desk.workflow
    def flow(run: Running) -> Any:
        return run.draft(write)

    run = begun(desk, flow)
    if away == 2:
        answered(desk, run, "plainer")
    assert run.status == "failed"
    assert "the model is away" in str(run.error)
    assert run.state.pending == ()

    carried_on(desk, desk.retry(run))
    if away == 1:
        answered(desk, run, "plainer")
    versions = desk.versions(ask_of(run))
    approved(desk, run)

    assert run.output == "text for plainer"
    assert heard == ([None, None, "plainer"] if away == 1 else [None, "plainer", "plainer"])
    assert [one.text for one in versions] == ["text for None", "text for plainer"]


def test_feedback_after_its_deadline_changes_nothing_in_the_run(
    desk: Desk, clock: FakeClock
) -> None:
    @desk.workflow
    def flow(run: Running) -> Any:
        return [run.feedback({"letters": 1}, within="1h"), run.question("And now?")]

    run = begun(desk, flow)
    asked = ask_of(run)
    clock.advance("1h")

    with pytest.raises(AskClosed):
        desk.reject(asked, "Too long")
    carried_on(desk, run)
    answered(desk, run, "nothing")

    assert run.output == [None, "nothing"]


def test_of_programs_that_answer_at_once_one_is_heard_and_all_learn_which(
    live: Desk, place: Place, crew: Crew
) -> None:
    run = live.get_run(crew.tell(0, jobs.start, place.url, 7))
    (ask,) = run.state.pending

    answers = crew.together(jobs.answer_first, place.url, ask)
    crew.tell(0, jobs.carry_on, place.url)

    (heard,) = {standing for _, standing in answers}
    assert [own for own, _ in answers].count(heard) == 1, "one of four, and the others know it"
    assert run.output == ["order 7 looked up", heard]
    assert [event.kind for event in live.history(ask)] == ["ask.opened", "ask.decided"]
