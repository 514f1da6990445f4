"""Final answers of smolagents: approved, changed or sent back before anybody else sees them."""

from __future__ import annotations

from typing import Any

import pytest

from sayso import Desk
from sayso.adapters.smolagents import Smol
from sayso.errors import RunFailed
from tests.adapters.smolagents.cast import Thinks, caller, code, coder, final, shown, steps_taken
from tests.runs.people import approved, ask_of, begun, carried_on, edited, rejected

KINDS = pytest.mark.parametrize("kind", ["caller", "coder"])


def writer(kind: str, answers: list[Any], **more: Any) -> tuple[Smol, Thinks]:
    def think(texts: list[str]) -> Any:
        answer = answers[min(steps_taken(texts), len(answers) - 1)]
        return final(answer) if kind == "caller" else code(f"final_answer({answer!r})")

    model, make = Thinks(think), caller if kind == "caller" else coder
    return Smol("writer", lambda: make(model, **more), review=("answer",)), model


@KINDS
def test_an_answer_goes_out_as_it_was_approved_or_changed(desk: Desk, kind: str):
    for verdict in ("approve", "edit"):
        agent, model = writer(kind, ["Dear all"])
        run = begun(desk, agent, "Write")
        ask = ask_of(run)
        assert (ask.kind, ask.title) == ("draft", "The answer of writer")
        if verdict == "edit":
            desk.edit(ask, {"text": "Dear Anna"})
        else:
            desk.approve(ask)
        carried_on(desk, run)
        assert run.output == ("Dear Anna" if verdict == "edit" else "Dear all")
        assert len(model.seen) == 1


@KINDS
@pytest.mark.parametrize("verdict", ["respond", "reject"])
def test_an_answer_that_is_sent_back_is_written_again(desk: Desk, kind: str, verdict: str):
    agent, model = writer(kind, ["Dear all", "Dear Anna"])
    run = begun(desk, agent, "Write")
    getattr(desk, verdict)(ask_of(run), "To Anna only")
    carried_on(desk, run)
    assert ask_of(run).args["text"] == "Dear Anna"
    assert "sam sent it back: To Anna only" in shown(model.seen[1])
    approved(desk, run)
    assert (run.output, len(model.seen)) == ("Dear Anna", 2)


def test_whoever_rejects_the_answer_for_good_ends_the_run(desk: Desk):
    agent, model = writer("caller", ["Dear all"])
    run = begun(desk, agent, "Write")
    rejected(desk, run, end=True)
    assert (run.status, len(model.seen)) == ("cancelled", 1)


def test_an_answer_that_is_no_text_keeps_its_types_through_the_review(local: Desk):
    agent, _ = writer("coder", [{"total": 3, "ok": True}])
    run = begun(local, agent, "Count")
    assert ask_of(run).args == {"answer": {"total": 3, "ok": True}}
    edited(local, run, {"answer": {"total": 4, "ok": True}})
    assert run.output == {"total": 4, "ok": True}


def test_the_last_word_of_an_agent_without_steps_left_is_reviewed_too(local: Desk):
    """smolagents lets it answer unchecked then."""

    def think(texts: list[str]) -> Any:
        if "please provide an answer" in texts[-1]:
            return "All I know"
        return code("x = 1")

    agent = Smol("writer", lambda: coder(Thinks(think), max_steps=2), review=("answer",))
    for verdict in ("approve", "reject"):
        run = begun(local, agent, "Write")
        assert ask_of(run).args["text"] == "All I know"
        getattr(local, verdict)(ask_of(run))
        carried_on(local, run)
        if verdict == "approve":
            assert run.output == "All I know"
        else:
            with pytest.raises(RunFailed):
                run.result(timeout=0)


def test_a_check_of_the_user_comes_before_the_person(local: Desk):
    def long_enough(answer: Any, memory: Any, agent: Any = None) -> bool:
        return len(answer) > 5

    agent, model = writer("caller", ["No", "Dear Anna"], final_answer_checks=[long_enough])
    run = begun(local, agent, "Write")
    assert ask_of(run).args["text"] == "Dear Anna"
    assert len(model.seen) == 2
