"""Whoever listens to steps hears of each once, may ask for a review, and lets nothing pass."""

from __future__ import annotations

from typing import Any

import pytest

import sayso
from sayso import ActionStep, Agent, AnswerStep, Desk, PlanStep, ScriptedModel, TaskStep
from sayso.agent import call
from sayso.testing import FakeClock
from tests.agents import RAN, Messages, Watched, following, once, one_by_one, pay, results, search
from tests.places import Place
from tests.runs.people import approved, ask_of, begun, carried_on, edited, rejected

HEARD: list[Any] = []


PLAN = [{"title": "News", "tool": "search"}, {"title": "Prices", "tool": "search"}]


def hear(step: Any) -> None:
    HEARD.append(step)


def kinds() -> list[str]:
    return [type(step).__name__ for step in HEARD]


def test_every_step_is_heard_of_once(place: Place, clock: FakeClock) -> None:
    agent = Agent("growth", ScriptedModel(following(PLAN)), [search], plan_every=9, on_step=hear)
    with Desk(place.url, clock=clock, account="sam@till") as first:
        run_id = begun(first, agent, "Tell me").id
        assert kinds() == ["TaskStep"]
    with Desk(place.url, clock=clock, account="sam@till") as second:
        approved(second, second.get_run(run_id))

    assert kinds() == ["TaskStep", "PlanStep", "ActionStep", "ActionStep", "AnswerStep"]
    task, plan, first_search, _, answer = HEARD
    assert task.task == "Tell me"
    assert plan.plan == PLAN
    assert (first_search.name, first_search.args) == ("search", {"what": "News"})
    assert first_search.result == "found News"
    assert answer.output == "found News | found Prices"


def test_a_callback_for_one_type_hears_of_that_type_alone(local: Desk) -> None:
    agent = Agent(
        "growth",
        ScriptedModel(following(PLAN)),
        [search],
        plan_every=9,
        on_step={PlanStep: hear, AnswerStep: hear},
    )

    approved(local, begun(local, agent, "Tell me"))

    assert kinds() == ["PlanStep", "AnswerStep"]


def test_the_plan_is_heard_of_when_it_is_approved_as_it_was_approved(local: Desk) -> None:
    model = ScriptedModel(following(PLAN))
    agent = Agent("growth", model, [search], plan_every=9, on_step={PlanStep: hear})
    run = begun(local, agent, "Tell me")
    assert HEARD == []

    edited(local, run, [{"title": "Weather", "tool": "search"}])

    (plan,) = HEARD
    assert plan.plan == [{"title": "Weather", "tool": "search"}]


def test_a_step_is_recorded_before_it_is_heard_of(desk: Desk) -> None:
    seen: list[list[Any]] = []

    def look(step: ActionStep) -> None:
        (run,) = desk.runs()
        seen.append([one.result for one in run.memory if isinstance(one, ActionStep)])

    script = one_by_one(call("search", what="a"), call("search", what="b"))
    agent = Agent("clerk", ScriptedModel(script), [search], on_step={ActionStep: look})

    begun(desk, agent, "search")

    assert seen == [["found a"], ["found a", "found b"]]


def test_failed_and_refused_calls_are_heard_of(local: Desk) -> None:
    def fail(what: str) -> str:
        raise ConnectionError("away")

    script = once(call("fail", what="x"), call("nowhere"), call("pay", amount=1))
    agent = Agent("clerk", ScriptedModel(script), [fail, pay], on_step={ActionStep: hear})
    run = begun(local, agent, "x")
    rejected(local, run, "no")

    assert [(step.name, step.status) for step in HEARD] == [
        ("fail", "failed"),
        ("nowhere", "failed"),
        ("pay", "failed"),
    ]
    assert "ConnectionError" in HEARD[0].error
    assert "UnknownTool" in HEARD[1].error
    assert "rejected by sam" in HEARD[2].error


def wary(step: ActionStep) -> str | None:
    HEARD.append(step)
    return "That looks odd. Go on?" if step.result == "found odd" else None


def odd(*more: Any) -> tuple[Agent, Watched]:
    model = Watched(one_by_one(call("search", what="odd"), call("search", what="even"), *more))
    return Agent("clerk", model, [search, pay], on_step={ActionStep: wary}), model


def test_a_sentence_asks_for_a_review_before_anything_else_is_done(desk: Desk) -> None:
    agent, model = odd()

    run = begun(desk, agent, "search")

    ask = ask_of(run)
    assert (run.status, ask.title) == ("waiting", "That looks odd. Go on?")
    assert "found odd" in (ask.content.facts or "")
    assert "edit" not in ask.allow
    assert (RAN, len(model.prompts)) == (["odd"], 1)
    approved(desk, run)
    assert run.output == "found odd | found even"
    assert [step.result for step in HEARD] == ["found odd", "found even"], "once each"


def test_a_no_at_a_review_ends_the_run(desk: Desk) -> None:
    agent, model = odd()
    run = begun(desk, agent, "search")

    rejected(desk, run, "I do not like it")

    assert (run.status, RAN, len(model.prompts)) == ("cancelled", ["odd"], 1)
    assert "I do not like it" in (run.error or "")


def test_words_at_a_review_go_to_the_model(local: Desk) -> None:
    def script(messages: Messages) -> Any:
        if not results(messages):
            return call("search", what="odd")
        return f"I heard: {messages[-1].text}"

    agent = Agent("clerk", ScriptedModel(script), [search], on_step={ActionStep: wary})
    run = begun(local, agent, "search")
    local.respond(ask_of(run), "look elsewhere")

    assert carried_on(local, run).output == "I heard: look elsewhere"


def test_words_about_the_answer_go_to_the_model_and_it_answers_again(desk: Desk) -> None:
    def long(step: AnswerStep) -> str | None:
        return "Is it too long?" if len(step.output) > 20 else None

    def script(messages: Messages) -> Any:
        if "shorter" in messages[-1].text:
            assert messages[-2].text == "This is a very long answer."
            return "Short."
        return "This is a very long answer."

    run = begun(desk, Agent("clerk", ScriptedModel(script), on_step={AnswerStep: long}), "write")
    desk.respond(ask_of(run), "make it shorter")

    assert carried_on(desk, run).output == "Short."


def test_a_review_of_the_task_comes_before_the_model_is_asked(local: Desk) -> None:
    model = Watched(lambda messages: "done")
    agent = Agent("clerk", model, on_step={TaskStep: lambda step: "Shall it?"})
    run = begun(local, agent, "write")
    assert model.prompts == []

    assert approved(local, run).output == "done"


def test_a_review_of_an_approved_plan_comes_before_its_first_step(local: Desk) -> None:
    agent = Agent(
        "growth",
        ScriptedModel(following(PLAN)),
        [search],
        plan_every=9,
        on_step={PlanStep: lambda step: f"{len(step.plan)} steps, really?"},
    )
    run = begun(local, agent, "Tell me")
    approved(local, run)

    assert (ask_of(run).title, RAN) == ("2 steps, really?", [])
    approved(local, run)
    assert RAN == ["News", "Prices"]


def test_several_steps_of_a_turn_may_each_be_reviewed(local: Desk) -> None:
    model = Watched(once(call("search", what="odd"), call("search", what="odd")))
    run = begun(local, Agent("clerk", model, [search], on_step={ActionStep: wary}), "search")

    for _ in range(2):
        assert len(model.prompts) == 1
        approved(local, run)

    assert (run.status, len(run.asks), len(HEARD)) == ("done", 2, 2)


@pytest.mark.parametrize("said", [True, 1, "approve", "yes", ["approve"], {"verdict": "approve"}])
def test_no_callback_can_let_a_call_pass(local: Desk, said: Any) -> None:
    agent = Agent(
        "clerk", ScriptedModel(once(call("pay", amount=1))), [pay], on_step=lambda _: said
    )

    run = begun(local, agent, "pay")

    assert RAN == []
    assert run.status in ("waiting", "parked")


def test_a_callback_cannot_change_what_is_done(local: Desk) -> None:
    def meddle(step: Any) -> None:
        if isinstance(step, PlanStep):
            step.plan.clear()
        if isinstance(step, ActionStep) and step.args is not None:
            step.args["what"] = "changed"

    model = Watched(following(PLAN))
    agent = Agent("growth", model, [search], plan_every=9, on_step=meddle)
    run = begun(local, agent, "Tell me")
    approved(local, run)

    assert RAN == ["News", "Prices"]
    assert run.output == "found News | found Prices"
    plans = [step.plan for step in run.memory if isinstance(step, PlanStep)]
    assert plans == [PLAN]
    assert "changed" not in repr(model.last)


@pytest.mark.parametrize("kind", [TaskStep, PlanStep, ActionStep, AnswerStep])
def test_a_callback_that_fails_parks_the_run_until_it_is_repaired(local: Desk, kind: type) -> None:
    ill = [True, True]

    def watch(step: Any) -> None:
        if ill:
            ill.pop()
            raise PermissionError("the watchman is ill")

    agent = Agent(
        "growth", ScriptedModel(following(PLAN)), [search], plan_every=9, on_step={kind: watch}
    )
    run = begun(local, agent, "Tell me")
    if run.status == "waiting":
        approved(local, run)

    expected = {TaskStep: 0, PlanStep: 0, ActionStep: 1, AnswerStep: 2}[kind]
    for left in (1, 0):
        assert (run.status, len(RAN), len(ill)) == ("parked", expected, left)
        assert "PermissionError: the watchman is ill" in (run.error or "")
        carried_on(local, local.retry(run))
    if run.status == "waiting":
        approved(local, run)
    assert (run.output, RAN) == ("found News | found Prices", ["News", "Prices"])


@pytest.mark.parametrize("said", ["", "   ", 7, True, False, ["a"], "\ud800", object(), "asks"])
def test_a_callback_that_returns_nonsense_or_asks_itself_parks_the_run(
    local: Desk, said: Any
) -> None:
    def listen(_: Any) -> Any:
        return sayso.question("What now?") if said == "asks" else said

    run = begun(local, Agent("clerk", ScriptedModel(lambda _: "done"), on_step=listen), "x")

    assert (run.status, run.asks) == ("parked", [])
    assert "on_step" in (run.error or "")


def test_the_last_word_of_a_long_sentence_is_shown(local: Desk) -> None:
    sentence = "word " * 2000 + "end"
    run = begun(
        local, Agent("clerk", ScriptedModel(lambda _: "x"), on_step=lambda _: sentence), "x"
    )

    assert ask_of(run).title == sentence


def test_a_huge_result_can_be_reviewed(local: Desk) -> None:
    def read() -> str:
        return "x" * 1_040_000

    agent = Agent(
        "clerk",
        ScriptedModel(lambda messages: "done" if results(messages) else call("read")),
        [read],
        on_step={ActionStep: lambda _: "Long?"},
    )
    run = begun(local, agent, "x")

    assert approved(local, run).output == "done"
    (step,) = [step for step in run.memory if isinstance(step, ActionStep)]
    assert step.result == "x" * 1_040_000
