"""What the adapter relies on in smolagents. Each test says what breaks if it changes.

They use smolagents alone. When an upgrade fails one of them, the name says which part of the
adapter to look at.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from smolagents import (
    ActionStep,
    FinalAnswerTool,
    LocalPythonExecutor,
    PlanningStep,
    UserInputTool,
)
from smolagents.memory import CallbackRegistry, MemoryStep
from smolagents.tools import validate_tool_arguments

from tests.adapters.smolagents.cast import (
    Note,
    Thinks,
    caller,
    code,
    coder,
    final,
    shown,
    steps_taken,
)

MAKERS: dict[str, Callable[..., Any]] = {"caller": caller, "coder": coder}
KINDS = pytest.mark.parametrize("kind", MAKERS)


class Halt(BaseException):
    """Stands for a pause."""


def halt(*_: Any, **__: Any) -> Any:
    raise Halt


def model(kind: str, *, calls: Any = None) -> Thinks:
    """A model that sends something first, and then answers."""

    def think(texts: list[str]) -> Any:
        if "your plan" in texts[-1] or "your new plan" in texts[-1]:
            return "1. Send"
        if kind == "caller":
            return final("end") if steps_taken(texts) else [("send", {"to": "anna"})]
        return code("final_answer('end')" if steps_taken(texts) else "send('anna')")

    return Thinks(think)


@KINDS
def test_or_else_a_pause_in_a_reply_of_the_model_is_lost(kind: str) -> None:
    with pytest.raises(Halt):
        MAKERS[kind](Thinks(halt)).run("Go")


@KINDS
def test_or_else_a_pause_in_the_review_of_a_plan_is_lost_and_the_plan_is_followed(
    kind: str,
) -> None:
    done: list[Any] = []
    agent = MAKERS[kind](model(kind), Note(done), planning_interval=1)
    agent.step_callbacks.register(PlanningStep, halt)
    with pytest.raises(Halt):
        agent.run("Go")
    assert done == []


@KINDS
def test_or_else_a_pause_in_the_review_of_an_answer_is_lost(kind: str) -> None:
    with pytest.raises(Halt):
        MAKERS[kind](model(kind), Note([]), final_answer_checks=[halt]).run("Go")


def test_or_else_a_pause_in_a_turn_of_calls_is_lost() -> None:
    agent = caller(model("caller"), Note([]))
    agent.process_tool_calls = halt
    with pytest.raises(Halt):
        agent.run("Go")


@pytest.mark.parametrize(
    "text",
    [
        "send('a')",
        "try:\n    send('a')\nexcept Exception:\n    pass",
        "try:\n    send('a')\nexcept:\n    pass",
        "def f():\n    send('a')\nf()",
        "[send(x) for x in 'ab']",
    ],
)
def test_or_else_code_can_swallow_a_pause(text: str) -> None:
    executor = LocalPythonExecutor([])
    executor.send_tools({"send": halt})
    with pytest.raises(Halt):
        executor(text)


@KINDS
def test_or_else_replies_are_not_recorded_because_another_model_is_asked(kind: str) -> None:
    first, second = model(kind), model(kind)
    agent = MAKERS[kind](first, Note([]), planning_interval=5, max_steps=1)
    agent.model = second
    agent.stream_outputs = None
    agent.run("Go")
    assert first.seen == []
    assert len(second.seen) == 3, "a plan, a step, and the last word"


def test_or_else_the_calls_of_a_turn_are_made_behind_our_back() -> None:
    done: list[Any] = []
    seen: list[Any] = []
    agent = caller(model("caller"), Note(done), max_steps=1)

    def process_tool_calls(chat_message: Any, memory_step: Any) -> Any:
        seen.append((chat_message.tool_calls[0].function.arguments, type(memory_step)))
        yield from ()

    agent.process_tool_calls = process_tool_calls
    agent.run("Go")
    assert seen == [({"to": "anna"}, ActionStep)]
    assert done == []


class Hands:
    """An executor that notes what it is handed."""

    def __init__(self) -> None:
        self.inner = LocalPythonExecutor([])
        self.tools: dict[str, Any] = {}
        self.code: list[str] = []
        self.state = self.inner.state

    def send_tools(self, tools: dict[str, Any]) -> None:
        self.tools = tools
        self.inner.send_tools(tools)

    def send_variables(self, *, variables: dict[str, Any]) -> None:
        self.inner.send_variables(variables)

    def __call__(self, code_action: str) -> Any:
        self.code.append(code_action)
        return self.inner(code_action)


def test_or_else_tools_and_helpers_reach_the_code_without_their_gates() -> None:
    helper = caller(model("caller"), name="helper", description="Helps.")
    agent = coder(model("coder"), Note([]), managed_agents=[helper])
    agent.python_executor = hands = Hands()
    assert agent.run("Go") == "end"
    assert set(hands.tools) == {"send", "final_answer", "helper"}
    assert hands.code == ["send('anna')", "final_answer('end')"]
    assert set(helper.inputs) == {"task", "additional_args"}


def test_or_else_the_review_of_an_answer_is_not_called_as_we_expect() -> None:
    called: list[Any] = []

    class Check:
        __name__ = "the review"

        def __call__(self, answer: Any, memory: Any, agent: Any = None) -> bool:
            called.append((answer, agent))
            if len(called) == 1:
                raise ValueError("not like this")
            return True

    thinks = Thinks(lambda texts: final("end"))
    agent = caller(thinks, final_answer_checks=[Check()])
    assert agent.run("Go") == "end"
    assert called == [("end", agent)] * 2
    assert "Check the review failed with error: not like this" in shown(thinks.seen[1])


def test_or_else_the_last_word_is_reviewed_twice() -> None:
    called: list[Any] = []
    thinks = Thinks(lambda texts: "My last word" if "please provide" in texts[-1] else code("1"))
    agent = coder(thinks, max_steps=1, final_answer_checks=[lambda *a, **k: called.append(a)])
    assert agent.run("Go") == "My last word"
    assert called == []


def test_or_else_what_a_person_changed_in_a_plan_is_forgotten_when_the_agent_plans_again() -> None:
    class Heeded(MemoryStep):
        def to_messages(self, summary_mode: bool = False) -> Any:
            from smolagents import ChatMessage
            from smolagents.models import MessageRole

            said = f"heed this, {summary_mode}"
            return [ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": said}])]

    thinks = model("caller")
    agent = caller(thinks, Note([]), planning_interval=1)

    def look(step: Any, agent: Any) -> None:
        assert step.model_output_message.content in step.plan
        assert step not in agent.memory.steps
        step.plan = "1. Mine"
        agent.memory.steps.append(Heeded())

    agent.step_callbacks.register(PlanningStep, look)
    agent.run("Go")
    acting, planning = thinks.seen[1], thinks.seen[2]
    assert "heed this, False" in shown(acting)
    assert "1. Mine" in shown(acting)
    assert "heed this, True" in shown(planning)
    assert "1. Mine" not in shown(planning), "smolagents leaves its own plans out"


def test_or_else_the_model_is_shown_code_that_did_not_run() -> None:
    thinks = model("coder")
    agent = coder(thinks, Note([]))

    def edit(step: Any, agent: Any) -> None:
        assert (step.code_action, step.tool_calls[0].arguments) == ("send('anna')",) * 2
        step.model_output = "<code>\nsend('ben')\n</code>"
        step.tool_calls[0].arguments = "send('ben')"

    agent.step_callbacks.register(ActionStep, lambda step, agent: steps.append(step))
    steps: list[Any] = []
    agent.step_callbacks.register(
        ActionStep, lambda step, agent: edit(step, agent) if len(steps) == 1 else None
    )
    agent.run("Go")
    assert "send('anna')" not in shown(thinks.seen[1])
    assert "send('ben')" in shown(thinks.seen[1])


def test_or_else_callbacks_of_the_user_are_not_called() -> None:
    called: list[str] = []
    registry = CallbackRegistry()
    registry.register(MemoryStep, lambda step, agent: called.append("all"))
    registry.register(PlanningStep, lambda step: called.append("plan"))
    step = PlanningStep(model_input_messages=[], model_output_message=None, plan="", timing=None)
    registry.callback(step, agent=None)
    assert called == ["plan", "all"]


def test_or_else_time_and_chance_are_not_steady() -> None:
    put: list[tuple[str, Any]] = []

    class Variables(dict[str, Any]):
        def __setitem__(self, name: str, value: Any) -> None:
            put.append((name, value))
            super().__setitem__(name, value)

        def copy(self) -> Any:
            return Variables(self)

    executor = LocalPythonExecutor([])
    executor.state = Variables(executor.state)
    executor.send_tools({})
    executor("import random as r\nfrom time import time\ndef f():\n    import datetime\nf()")
    brought = dict(put)
    import random
    import time

    assert isinstance(brought["r"], ModuleType)
    assert brought["r"] is not random, "a copy, which we may change"
    assert brought["time"] is time.time
    assert brought["datetime"].__name__ == "datetime"


def test_or_else_the_model_does_not_read_what_people_changed_in_the_middle_of_code() -> None:
    executor = LocalPythonExecutor([])

    def send(to: str) -> str:
        executor.state["_print_outputs"].append("noted\n")
        return to

    executor.send_tools({"send": send})
    assert executor("send('a')\nprint('b')").logs == "noted\nb\n"
    with pytest.raises(Exception, match="division"):
        executor("send('a')\n1 / 0")
    assert str(executor.state["_print_outputs"]) == "noted\n"


def test_or_else_a_block_is_timed_by_the_host_and_ends_otherwise_at_a_replay() -> None:
    executor = LocalPythonExecutor([])
    assert getattr(executor, "timeout_seconds", None) in (None, 30)
    assert executor.custom_tools == {}


def test_or_else_questions_and_answers_are_taken_for_ordinary_tools() -> None:
    agent = caller(model("caller"))
    assert type(agent.tools["final_answer"]) is FinalAnswerTool
    assert (UserInputTool.name, list(UserInputTool.inputs)) == ("user_input", ["question"])


@pytest.mark.parametrize("given", [{}, {"whom": "x"}, {"to": 1}])
def test_or_else_calls_that_do_not_fit_are_put_before_people(given: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        validate_tool_arguments(Note([]), given)
