"""A later task goes on with what its thread remembers, or starts clean."""

from __future__ import annotations

from typing import Any

import sayso
from sayso import Agent, AnswerStep, Desk, Run, ScriptedModel, TaskStep
from sayso.agent import call
from sayso.testing import FakeClock
from tests.agents import RAN, Messages, Watched, asked_model, following, pay, results, search, shown
from tests.runs.people import approved, begun, edited, rejected


def remembering(messages: Messages) -> Any:
    """Do what the last task says, and answer with all that is remembered of the thread.

    A task is "search x", "pay 7" or "say"; everything else is answered as it is.
    """
    task = max(n for n, message in enumerate(messages) if message.text.startswith("task: "))
    verb, _, what = messages[task].text.removeprefix("task: ").partition(" ")
    if not results(messages[task:]):
        if verb == "search":
            return call("search", what=what)
        if verb == "pay":
            return call("pay", amount=int(what))
    return " / ".join(results(messages)) or "I remember nothing"


def made() -> tuple[Agent, Watched]:
    model = Watched(remembering)
    return Agent("clerk", model, [search, pay]), model


def did(desk: Desk, agent: Agent, task: str, clock: FakeClock, **more: Any) -> Run:
    """Run a task to its end, approving whatever it asks, and let a minute pass."""
    run = begun(desk, agent, f"task: {task}", **more)
    while run.status == "waiting":
        approved(desk, run)
    clock.advance("1m")
    return run


def test_a_later_task_goes_on_with_the_memory_of_its_thread(desk: Desk, clock: FakeClock) -> None:
    agent, model = made()
    did(desk, agent, "search news", clock, thread="anna")
    did(desk, agent, "pay 7", clock, thread="anna")

    run = did(desk, agent, "say", clock, thread="anna")

    assert run.output == "found news / paid 7"
    assert RAN == ["news", 7], "remembering does nothing again"
    assert shown(model.last) == [
        ("search", {"what": "news"}, "found news"),
        ("pay", {"amount": 7}, "paid 7"),
    ]
    texts = [message.text for message in model.last if message.role in ("user", "assistant")]
    assert [text for text in texts if text] == [
        "task: search news",
        "found news",
        "task: pay 7",
        "found news / paid 7",
        "task: say",
    ]


def test_a_fresh_start_forgets_and_what_follows_goes_on_from_it(
    desk: Desk, clock: FakeClock
) -> None:
    agent, _ = made()
    old = did(desk, agent, "search news", clock, thread="anna")

    clean = did(desk, agent, "say", clock, thread="anna", fresh=True)
    did(desk, agent, "search prices", clock, thread="anna")
    after = did(desk, agent, "say", clock, thread="anna")

    assert clean.output == "I remember nothing"
    assert after.output == "found prices"
    assert old.output == "found news"
    assert [type(step) for step in old.memory][-1] is AnswerStep, "the old journal stays readable"
    assert [step.task for step in desk.thread("anna") if isinstance(step, TaskStep)] == [
        "task: say",
        "task: search prices",
        "task: say",
    ]


def test_other_threads_and_runs_without_one_are_not_seen(desk: Desk, clock: FakeClock) -> None:
    agent, _ = made()
    did(desk, agent, "search secrets", clock, thread="ben")
    did(desk, agent, "search loose", clock)

    assert did(desk, agent, "say", clock, thread="anna").output == "I remember nothing"
    assert did(desk, agent, "say", clock).output == "I remember nothing"


def test_a_task_does_not_see_what_its_thread_did_after_it(desk: Desk, clock: FakeClock) -> None:
    agent, model = made()
    first = begun(desk, agent, "task: search early", thread="anna")
    clock.advance("1m")
    did(desk, agent, "search late", clock, thread="anna")

    assert first.output == "found early"
    assert "late" not in repr(model.prompts[1].messages)


def test_the_thread_is_remembered_again_after_a_pause(desk: Desk, clock: FakeClock) -> None:
    agent, model = made()
    did(desk, agent, "search news", clock, thread="anna")
    run = begun(desk, agent, "task: pay 7", thread="anna")
    clock.advance("1d")

    approved(desk, run)

    assert run.output == "found news / paid 7"
    assert asked_model(run) == 2
    assert all("found news" in repr(prompt.messages) for prompt in model.prompts[1:])


def test_a_plan_is_remembered_as_the_person_left_it(local: Desk, clock: FakeClock) -> None:
    plan = [{"title": "News", "tool": "search"}, {"title": "Prices", "tool": "search"}]
    planning = Agent("clerk", ScriptedModel(following(plan)), [search], plan_every=9)
    run = begun(local, planning, "look around", thread="anna")
    edited(local, run, [{"title": "Weather", "tool": "search"}])
    clock.advance("1m")

    agent, model = made()
    did(local, agent, "say", clock, thread="anna")

    texts = [message.text for message in model.last]
    assert "The plan was:\n1. Weather" in texts
    assert "Prices" not in repr(model.last)


def test_an_edited_call_is_remembered_as_it_was_made(local: Desk, clock: FakeClock) -> None:
    agent, model = made()
    run = begun(local, agent, "task: pay 7", thread="anna")
    edited(local, run, {"amount": 5})
    clock.advance("1m")

    assert did(local, agent, "say", clock, thread="anna").output == "paid 5"
    assert shown(model.last) == [("pay", {"amount": 5}, "paid 5")]


def test_what_people_said_no_to_is_remembered(local: Desk, clock: FakeClock) -> None:
    agent, model = made()
    run = begun(local, agent, "task: pay 7", thread="anna")
    rejected(local, run, "We do not pay Anna")
    clock.advance("1m")

    did(local, agent, "say", clock, thread="anna")

    assert any("We do not pay Anna" in message.text for message in model.last)
    assert shown(model.last) == [], "a call that was not made is not shown as made"


def test_a_cancelled_task_is_remembered_as_cancelled(desk: Desk, clock: FakeClock) -> None:
    agent, model = made()
    run = begun(desk, agent, "task: pay 7", thread="anna")
    desk.cancel(run, "changed our mind")
    clock.advance("1m")

    assert did(desk, agent, "say", clock, thread="anna").output == "I remember nothing"

    texts = [message.text for message in model.last]
    (end,) = [text for text in texts if "cancelled" in text]
    assert "changed our mind" in end
    assert texts.index("task: pay 7") < texts.index(end) < texts.index("task: say")
    assert RAN == []


def test_a_failed_task_is_remembered_as_failed(local: Desk, clock: FakeClock) -> None:
    @local.workflow
    def broken(run: sayso.Running, task: str) -> str:
        run.step(search, "before")
        raise ValueError("it broke")

    local.run(broken, "task: search more", thread="anna", wait=False)
    clock.advance("1m")
    agent, model = made()

    run = did(local, agent, "say", clock, thread="anna")

    assert run.output == "found before"
    assert any("failed" in message.text and "it broke" in message.text for message in model.last)


def test_long_results_of_earlier_runs_are_shortened(local: Desk, clock: FakeClock) -> None:
    def read(what: str) -> str:
        return what * 30_000

    model = Watched(lambda messages: "done" if results(messages) else call("read", what="xy"))
    agent = Agent("clerk", model, [read])
    did(local, agent, "read", clock, thread="anna")
    did(local, agent, "again", clock, thread="anna")

    (text,) = results(model.prompts[-1].messages)[:1]
    assert len(text) < 21_000


def test_ids_of_remembered_calls_are_not_those_of_new_ones(local: Desk, clock: FakeClock) -> None:
    agent, model = made()
    did(local, agent, "search a", clock, thread="anna")
    did(local, agent, "search b", clock, thread="anna")
    did(local, agent, "say", clock, thread="anna")

    assert [result for *_, result in shown(model.last)] == ["found a", "found b"]


def test_every_call_that_is_remembered_has_its_result_behind_it(
    local: Desk, clock: FakeClock
) -> None:
    """What providers insist on: a call is followed by its result, and by nothing else first."""

    def busy(messages: Messages) -> Any:
        read = results(messages)
        return "done" if read else [call("search", what="a"), call("pay", amount=1), call("nope")]

    run = begun(local, Agent("busy", ScriptedModel(busy), [search, pay]), "x", thread="anna")
    approved(local, run)
    clock.advance("1m")
    agent, model = made()

    did(local, agent, "say", clock, thread="anna")

    open_calls: list[str] = []
    for message in model.last:
        if message.role == "tool":
            assert message.call in open_calls
            open_calls.remove(str(message.call))
        else:
            assert open_calls == []
        open_calls += [made.id for made in message.calls]
    assert open_calls == []
    assert {tool for tool, _, _ in shown(model.last)} == {"search", "pay", "nope"}
