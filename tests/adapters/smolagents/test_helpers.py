"""Managed agents: they work in places of their own, and what they ask names whom they work for."""

from __future__ import annotations

from typing import Any

import pytest

from sayso import Desk
from sayso.adapters.smolagents import Smol
from tests.adapters.smolagents.cast import Note, Thinks, caller, code, coder, final, steps_taken
from tests.runs.people import approved, ask_of, begun, edited

DONE: list[Any] = []
MAKERS = {"caller": caller, "coder": coder}


def helper(kind: str, thoughts: list[Any]) -> Any:
    def think(texts: list[str]) -> Any:
        thoughts.append(texts)
        if steps_taken(texts):
            answer = f"helped: {texts[-1][-40:]}"
            return final(answer) if kind == "caller" else code(f"final_answer({answer!r})")
        return [("send", {"to": "anna"})] if kind == "caller" else code("print(send('anna'))")

    return MAKERS[kind](
        Thinks(think), Note(DONE), name="helper", description="Helps.", planning_interval=None
    )


def chief(kind: str, inner: Any, thoughts: list[Any], calls: int = 1) -> Any:
    def think(texts: list[str]) -> Any:
        thoughts.append(texts)
        if kind == "caller":
            wanted = [("helper", {"task": f"Task {n}"}) for n in range(calls)]
            return final(texts[-1]) if steps_taken(texts) else wanted
        if steps_taken(texts):
            return code("final_answer(came)")
        return code(f"came = [helper(f'Task {{n}}') for n in range({calls})]")

    return MAKERS[kind](Thinks(think), managed_agents=[inner])


@pytest.mark.parametrize("outer", MAKERS)
@pytest.mark.parametrize("inner", MAKERS)
def test_a_helper_pauses_in_the_middle_of_its_work_and_its_ask_names_the_chain(
    desk: Desk, outer: str, inner: str
):
    thoughts: list[Any] = []
    agent = Smol(
        "chief",
        lambda: chief(outer, helper(inner, thoughts), thoughts),
        confirm=["send"],
    )
    run = begun(desk, agent, "Get help")
    content = ask_of(run).content
    assert (content.agent, content.chain) == ("helper", "chief > helper")
    assert len(thoughts) == 2
    approved(desk, run)
    assert run.status == "done", run.error
    assert DONE == [("send", "anna", None)]
    assert "helped: " in str(run.output)
    assert len(thoughts) == 4, "nobody thought anything twice"


@pytest.mark.parametrize("outer", MAKERS)
def test_one_helper_with_two_tasks_does_them_one_after_the_other(desk: Desk, outer: str):
    thoughts: list[Any] = []
    agent = Smol(
        "chief",
        lambda: chief(outer, helper("caller", thoughts), thoughts, calls=2),
        confirm=["send"],
    )
    run = begun(desk, agent, "Get help")
    for _ in range(2):
        approved(desk, run)
    assert run.status == "done", run.error
    assert DONE == [("send", "anna", None)] * 2
    assert len(thoughts) == 6


@pytest.mark.parametrize("outer", MAKERS)
@pytest.mark.parametrize("terms", [{"confirm": ["helper"]}, {"risk": {"helper": "low"}}], ids=str)
def test_a_task_for_a_helper_can_itself_be_confirmed_and_changed(
    desk: Desk, outer: str, terms: Any
):
    thoughts: list[Any] = []
    agent = Smol("chief", lambda: chief(outer, helper("caller", thoughts), thoughts), **terms)
    run = begun(desk, agent, "Get help")
    assert (ask_of(run).tool, ask_of(run).args) == ("helper", {"task": "Task 0"})
    edited(desk, run, {"task": "Another task"})
    assert run.status == "done", run.error
    assert any("Another task" in text for text in thoughts[1])
    assert not any("Task 0" in text for text in thoughts[1])


SWALLOWS = "def f():\n    try:\n        return helper('Task')\n    finally:\n        return 0\nf()"
ACTS = "try:\n    helper('Task')\nfinally:\n    quick('b')"


@pytest.mark.parametrize(("block", "then"), [(SWALLOWS, []), (ACTS, [("quick", "b", None)])])
def test_code_around_a_helper_that_waits_does_nothing_and_is_not_gone_on_with(
    desk: Desk, block: str, then: list[Any]
):
    """The pause is in the helper's place, and must hold its chief as well (E35)."""
    model = Thinks(lambda texts: code("final_answer('end')" if steps_taken(texts) else block))

    def build() -> Any:
        return coder(model, Note(DONE, "quick"), managed_agents=[helper("caller", [])])

    run = begun(desk, Smol("chief", build, confirm=["send"]), "Get help")
    assert (run.status, DONE, len(model.seen)) == ("waiting", [], 1)
    approved(desk, run)
    assert (run.output, DONE) == ("end", [("send", "anna", None), *then])
    assert len(model.seen) == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_in_the_code_of_a_helper_acts_in_its_place_and_under_its_name(local: Desk):
    threads = (
        "import threading\nthread = threading.Thread(target=send, args=('anna',))\n"
        "thread.start()\nthread.join()\nfinal_answer('helped')"
    )

    def build() -> Any:
        inner = coder(
            Thinks(lambda texts: code(threads)),
            Note(DONE),
            name="helper",
            description="Helps.",
            additional_authorized_imports=["threading"],
        )
        return chief("coder", inner, [])

    run = begun(local, Smol("chief", build, confirm=["send"]), "Get help")
    assert ask_of(run).content.chain == "chief > helper"
    approved(local, run)
    assert (run.status, DONE) == ("done", [("send", "anna", None)]), run.error


def test_a_plan_of_a_helper_is_reviewed_under_its_name(desk: Desk):
    def think(texts: list[str]) -> Any:
        return "1. Help" if "your plan" in texts[-1] else final("helped")

    def build() -> Any:
        inner = caller(Thinks(think), name="helper", description="Helps.", planning_interval=3)
        return chief("caller", inner, [])

    run = begun(desk, Smol("chief", build, review=("plan",)), "Get help")
    assert ask_of(run).title.startswith("Plan of helper:")
    assert ask_of(run).content.chain == "chief > helper"
    approved(desk, run)
    assert "helped" in run.output


@pytest.mark.parametrize("kind", MAKERS)
def test_a_helper_that_two_managers_share_works_for_each_of_them(local: Desk, kind: str):
    def build() -> Any:
        shared = helper(kind, [])

        def manager(name: str) -> Any:
            def think(texts: list[str]) -> Any:
                return final("managed") if steps_taken(texts) else [("helper", {"task": "Go"})]

            return caller(Thinks(think), managed_agents=[shared], name=name, description="Leads.")

        def top(texts: list[str]) -> Any:
            taken = steps_taken(texts)
            return [(("one", "two")[taken], {"task": "Go"})] if taken < 2 else final("end")

        return caller(Thinks(top), managed_agents=[manager("one"), manager("two")])

    run = begun(local, Smol("chief", build, confirm=["send"]), "Get help")
    for chain in ("chief > one > helper", "chief > two > helper"):
        assert run.status == "waiting", run.error
        assert ask_of(run).content.chain == chain
        approved(local, run)
    assert (run.output, DONE) == ("end", [("send", "anna", None)] * 2), run.error


def test_agents_that_work_for_each_other_are_each_watched_once(local: Desk):
    one = caller(Thinks(lambda texts: final("end")), name="one", description="Leads.")
    two = caller(Thinks(lambda texts: final("end")), name="two", description="Leads.")
    one.managed_agents["two"], two.managed_agents["one"] = two, one
    for agent in (one, two):
        agent.inputs, agent.output_type = {}, "string"  # as of any managed agent
    assert begun(local, Smol("chief", one), "Go").output == "end"


@pytest.mark.parametrize("outer", MAKERS)
def test_a_helper_whose_model_fails_is_told_to_its_chief_who_goes_on(local: Desk, outer: str):
    def fails(texts: list[str]) -> Any:
        raise RuntimeError("the model is away")

    def think(texts: list[str]) -> Any:
        if steps_taken(texts):
            return final("recovered") if outer == "caller" else code("final_answer('recovered')")
        return [("helper", {"task": "Go"})] if outer == "caller" else code("helper('Go')")

    model = Thinks(think)

    def build() -> Any:
        inner = caller(Thinks(fails), name="helper", description="Helps.")
        return MAKERS[outer](model, managed_agents=[inner])

    run = begun(local, Smol("chief", build), "Get help")
    assert run.output == "recovered", run.error
    assert "the model is away" in str(model.seen[-1])
