"""Choices, drafts and feedback gone wrong inside a run: it stops where it is, and goes on later."""

from __future__ import annotations

from typing import Any

import pytest

from sayso import Desk, Option, Running
from tests.runs.people import answered, approved, begun, carried_on

TWO_MB = "x" * 2_000_000


@pytest.mark.parametrize("number", [0, 200])
def test_a_run_that_offers_nothing_or_hundreds_fails_and_says_so(desk: Desk, number: int) -> None:
    run = begun(
        desk, lambda run: run.choose("Which?", [Option(f"flight {n}") for n in range(number)])
    )

    assert run.status == "failed"
    assert f"1 to 100 options, not {number}" in str(run.error)
    assert run.asks == []


def test_a_draft_of_two_megabytes_fails_the_run_and_its_text_is_kept(desk: Desk) -> None:
    def write(_: str | None) -> str:
        return TWO_MB

    run = begun(desk, lambda run: run.draft(write))

    assert run.status == "failed"
    assert "bytes" in str(run.error)
    assert run.asks == []
    (made,) = [event.payload for event in run.events if event.kind == "step.failed"]
    assert made is not None
    assert made["refused"] == TWO_MB, "what was made, and perhaps paid for, is not lost"


@pytest.mark.parametrize(
    "bad",
    [TWO_MB, " \n", "", None, 5, OSError("away")],
    ids=["huge", "blank", "", "none", "5", "raises"],
)
@pytest.mark.parametrize("at", [1, 2], ids=["at first", "when it is sent back"])
@pytest.mark.parametrize("verb", ["draft", "plan", "escalate"])
def test_a_maker_of_what_nobody_could_review_is_called_again_by_a_retry(
    local: Desk, verb: str, at: int, bad: Any
) -> None:
    heard: list[str | None] = []

    def write(guidance: Any) -> Any:
        heard.append(guidance)
        now = len(heard) == (1 if verb == "escalate" else at)
        if now and isinstance(bad, OSError):
            raise bad
        text = bad if now else f"for {guidance}"
        return [text] if verb == "plan" else text

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

    run = begun(local, lambda run: run.improve(write, "Sum up"))
    assert (run.status, run.asks) == ("failed", [])

    carried_on(local, local.retry(run))
    approved(local, run)

    assert (run.output, heard) == ("short", [None, None])
