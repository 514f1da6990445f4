"""What cannot be kept, watched or run is refused in plain words, and never waved through."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
import threading
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import PIL.Image
import pytest
from smolagents import CodeAgent, MultiStepAgent, Tool, ToolCallingAgent
from smolagents.local_python_executor import PythonExecutor

from sayso import Desk
from sayso.adapters import base
from sayso.adapters.smolagents import Smol, watching
from sayso.adapters.smolagents import smol as module
from sayso.adapters.smolagents.values import read, written
from sayso.errors import BadValue, Misuse
from tests.adapters.smolagents.cast import (
    Gives,
    Note,
    Thinks,
    caller,
    code,
    coder,
    final,
    shown,
    steps_taken,
)
from tests.runs.people import approved, ask_of, begun, carried_on, edited
from tests.together import in_thread, until

DONE: list[Any] = []


# --- results ---

VALUES = [
    None,
    3,
    "text",
    [1, {"a": None}],
    (1, "b"),
    {1, 2},
    b"\x00\xff",
    {1: "int keys"},
    dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC),
    decimal.Decimal("1.10"),
    {"smolagents": "taken"},
    {"__type__": "tuple", "data": [1]},
    [({"deep": {(1, 2)}},)],
    math.nan,
    -math.inf,
    dt.timedelta(1, microseconds=3),
    Path("/x"),
    1j,
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_a_tool_returned_is_the_same_value_at_a_replay(local: Desk, value: Any):
    def answers(what: str) -> Any:
        DONE.append(what)
        return value

    blocks = ["got = look_up('x')\nsend('a')", "final_answer(str([type(got), got]))"]
    model = Thinks(lambda texts: code(blocks[steps_taken(texts)]))
    agent = Smol("keeper", lambda: coder(model, Gives(answers), Note(DONE)), confirm=["send"])
    run = begun(local, agent, "Go")
    approved(local, run)
    assert run.output == str([type(value), value])
    assert DONE == ["x", ("send", "a", None)]


def test_an_image_is_kept_and_a_caller_finds_it_in_its_memory(local: Desk):
    def answers(what: str) -> Any:
        DONE.append(what)
        return PIL.Image.new("RGB", (2, 2), "red")

    def think(texts: list[str]) -> Any:
        wanted = [("look_up", {"what": "x"}), ("send", {"to": "a"})]
        return final(texts[-1]) if steps_taken(texts) else wanted

    agent = Smol(
        "keeper", lambda: caller(Thinks(think), Gives(answers), Note(DONE)), confirm=["send"]
    )
    run = begun(local, agent, "Go")
    approved(local, run)
    assert "Stored 'image.png' in memory." in run.output
    assert DONE == ["x", ("send", "a", None)]


def test_images_that_a_callback_shows_the_model_are_no_other_prompt_at_a_replay(
    local: Desk, caplog: pytest.LogCaptureFixture
):
    def picture(step: Any, agent: Any) -> None:
        step.observations_images = [PIL.Image.new("RGB", (2, 2), "red")]

    blocks = ["x = 1", "send('a')", "final_answer('end')"]
    model = Thinks(lambda texts: code(blocks[steps_taken(texts)]))

    def build() -> Any:
        return coder(model, Note(DONE), step_callbacks=[picture])

    run = begun(local, Smol("keeper", build, confirm=["send"]), "Go")
    approved(local, run)
    assert run.output == "end"
    assert "something else before" not in caplog.text


@dataclass
class Data:
    """What would come back as a dictionary."""

    a: int = 1


class Text(str):
    """What would come back as a plain text."""

    __slots__ = ()


Pair = namedtuple("Pair", "a b")
FORMLESS: list[Any] = [
    threading.Lock(),
    object(),
    Data(),
    Pair(1, 2),
    defaultdict(list, a=[1]),
    OrderedDict(a=1),
    Text("x"),
    [{"deep": (Pair(1, 2),)}],
]


@pytest.mark.parametrize("kind", ["caller", "coder"])
@pytest.mark.parametrize("value", FORMLESS, ids=lambda value: type(value).__name__)
def test_a_result_that_cannot_be_stored_is_said_to_have_happened_and_is_not_repeated(
    local: Desk, kind: str, value: Any
):
    def answers(what: str) -> Any:
        DONE.append(what)
        return value

    def think(texts: list[str]) -> Any:
        taken = steps_taken(texts)
        if kind == "caller":
            steps: list[Any] = [[("look_up", {"what": "x"})], [("send", {"to": "a"})]]
            return steps[taken] if taken < 2 else final("end")
        return code(["look_up('x')", "send('a')", "final_answer('end')"][taken])

    model = Thinks(think)
    make = caller if kind == "caller" else coder
    agent = Smol("keeper", lambda: make(model, Gives(answers), Note(DONE)), confirm=["send"])
    run = begun(local, agent, "Go")
    approved(local, run)
    assert (run.output, DONE) == ("end", ["x", ("send", "a", None)])
    assert "it happened, but it returned" in shown(model.seen[1])


def test_a_result_in_our_own_form_is_not_taken_for_one_of_ours() -> None:
    typed = {"smolagents": ["bytes", "AA=="], "shown": "harmless"}
    for hostile in (typed, {"smolagents": 1}, {"smolagents": ["dict", typed]}, (1, typed)):
        assert read(written(hostile)) == hostile
    assert read({"smolagents": 1}) == {"smolagents": 1}, "what a person may have answered"


@pytest.mark.parametrize(
    "made", ["bool_(True)", "float64(1.5)", "arange(6).reshape(2, 3)", "array(['x', 'yz'])"]
)
def test_numbers_and_arrays_of_numpy_come_back_as_they_were(made: str) -> None:
    value = eval(f"np.{made}", {"np": np})
    back = read(json.loads(json.dumps(written([value]))))[0]
    assert (type(back), repr(back)) == (type(value), repr(value))


def test_a_set_has_one_form_whatever_order_its_process_gives_it() -> None:
    words = [str(number) for number in range(20)]
    assert written(set(words))["smolagents"][1] == sorted(words)


# --- arguments ---


class Takes(Tool):
    """A tool that is given something."""

    name, description, output_type = "take", "Take something.", "any"
    inputs: ClassVar[dict[str, Any]] = {
        "what": {"type": "any", "description": "What"},
        "many": {"type": "array", "description": "Which", "nullable": True},
    }

    def forward(self, what: Any, many: Any = None) -> str:
        DONE.append((what, many))
        return "taken"


GIVEN = {
    "(1, 2)": (1, 2),
    "{1, 'a'}": {1, "a"},
    "b'ab'": b"ab",
    "{1: 'a', (1, 2): {3}}": {1: "a", (1, 2): {3}},
    "datetime.date(2026, 1, 2)": dt.date(2026, 1, 2),
    "float('inf')": math.inf,
    "{'smolagents': ['bytes', 'AA==']}": {"smolagents": ["bytes", "AA=="]},
}


@pytest.mark.parametrize("confirm", [[], ["take"]], ids=["alone", "asked"])
@pytest.mark.parametrize("text", GIVEN)
def test_a_tool_is_given_what_the_code_gave_it_in_its_own_type(
    local: Desk, text: str, confirm: list[str]
):
    block = f"import datetime\ntake({text}, many=(1, 2))\nfinal_answer('end')"
    model = Thinks(lambda texts: code(block))
    run = begun(local, Smol("keeper", lambda: coder(model, Takes()), confirm=confirm), "Go")
    if confirm:
        approved(local, run)
    assert (run.output, DONE) == ("end", [(GIVEN[text], (1, 2))]), run.error
    assert type(DONE[0][0]) is type(GIVEN[text])


def test_an_array_is_given_as_it_is(local: Desk):
    block = "import numpy as np\ntake(np.arange(3))\nfinal_answer('end')"
    model = Thinks(lambda texts: code(block))

    def build() -> Any:
        return coder(model, Takes(), additional_authorized_imports=["numpy"])

    run = begun(local, Smol("keeper", build), "Go")
    assert (run.output, repr(DONE)) == ("end", "[(array([0, 1, 2]), None)]"), run.error


def test_a_person_sees_of_an_image_what_it_is_and_an_edit_beside_it_leaves_it(local: Desk):
    picture = PIL.Image.new("RGB", (2, 3), "red")

    def think(texts: list[str]) -> Any:
        taken = steps_taken(texts)
        given = {"what": "image.png", "many": [1]}
        steps: list[Any] = [[("draw", {"what": "x"})], [("take", given)]]
        return steps[taken] if taken < 2 else final("end")

    model = Thinks(think)
    draw = Gives(lambda what: picture, "draw")
    seen: list[Any] = []

    def risk(what: Any, many: Any) -> str:
        seen.append(what)
        return "high"

    agent = Smol(
        "keeper", lambda: caller(model, draw, Takes()), confirm=["take"], risk={"take": risk}
    )
    run = begun(local, agent, "Go")
    assert ask_of(run).args["what"]["shown"] == "an image (RGB, 2 x 3)"
    assert ask_of(run).content.risk == "high"
    edited(local, run, {"many": [2]})
    assert run.output == "end", run.error
    ((given, many),) = DONE
    assert (given.tobytes(), many) == (picture.tobytes(), [2])
    assert all(isinstance(value, PIL.Image.Image) for value in seen)
    assert "'what': 'image.png', 'many': [2]" in shown(model.seen[-1])


@pytest.mark.parametrize("text", ["lambda: 1", "[A()]", "loop", "'\\ud800'"])
def test_what_has_no_form_is_refused_in_words_for_a_model(local: Desk, text: str):
    made = "class A:\n    pass\nloop = []\nloop.append(loop)\n"
    blocks = [f"{made}take({text})", "final_answer('end')"]
    model = Thinks(lambda texts: code(blocks[steps_taken(texts)]))
    run = begun(local, Smol("keeper", lambda: coder(model, Takes())), "Go")
    assert (run.output, DONE) == ("end", []), run.error
    assert "take was not called" in shown(model.seen[1])
    assert "secret=" not in shown(model.seen[1])


def test_an_answer_that_cannot_be_stored_fails_the_run_in_plain_words(local: Desk):
    model = Thinks(lambda texts: code("final_answer({1, 2})"))
    run = begun(local, Smol("keeper", lambda: coder(model)), "Go")
    assert run.status == "failed"
    assert "set" in (run.error or "")


# --- agents ---


class Elsewhere(PythonExecutor):
    """An executor that runs code in some sandbox."""

    def send_tools(self, tools: Any) -> None: ...
    def send_variables(self, variables: Any) -> None: ...
    def __call__(self, code_action: str) -> Any: ...


def test_an_executor_that_runs_elsewhere_is_refused_with_the_reason(local: Desk):
    model = Thinks(lambda texts: code("final_answer(1)"))

    def build() -> Any:
        return coder(model, executor=Elsewhere())

    run = begun(local, Smol("far", build), "Go")
    assert run.status == "failed"
    assert "where nobody can be asked" in (run.error or "")
    assert model.seen == []
    with pytest.raises(Misuse, match="Elsewhere runs code elsewhere"):
        Smol("far", build())


class OwnWay(ToolCallingAgent):
    def execute_tool_call(self, tool_name: str, arguments: Any) -> Any:
        return DONE.append(tool_name)


class OwnKind(MultiStepAgent):
    def initialize_system_prompt(self) -> str:
        return ""


def test_an_agent_that_calls_its_tools_in_its_own_way_is_refused() -> None:
    model = Thinks(lambda texts: final("x"))
    with pytest.raises(Misuse, match="execute_tool_call of its own"):
        Smol("own", OwnWay(tools=[], model=model))
    with pytest.raises(Misuse, match="neither a CodeAgent nor a ToolCallingAgent"):
        Smol("own", OwnKind(tools=[], model=model))


def test_what_is_said_of_something_that_it_cannot_be_said_of_is_refused() -> None:
    helper = caller(Thinks(lambda texts: ""), name="helper", description="Helps.")
    agent = coder(Thinks(lambda texts: ""), Note(DONE), managed_agents=[helper])
    Smol("x", agent, confirm=["send", "helper"], risk={"python_interpreter": "high"})
    wrong: list[dict[str, Any]] = [
        {"gates": {"helper": {}}},
        {"confirm": ["python_interpreter"]},
    ]
    for terms in wrong:
        with pytest.raises(BadValue, match="has no such tool"):
            Smol("x", agent, **terms)


def test_a_function_that_builds_something_else_fails_its_runs(local: Desk):
    run = begun(local, Smol("own", lambda: "no agent"), "Go")
    assert run.status == "failed"
    assert "own is str: give an agent" in (run.error or "")


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"confirm": "send"}, r"\['send'\]"),
        ({"review": "plan"}, r"\['plan'\]"),
        ({"review": ["plans"]}, "plan, code, answer"),
    ],
)
def test_options_that_make_no_sense_are_refused(terms: Any, said: str) -> None:
    with pytest.raises(BadValue, match=said):
        Smol("x", lambda: None, **terms)
    with pytest.raises(BadValue, match="no agent of smolagents"):
        Smol("x", "agent")


def test_a_version_that_was_never_tried_is_warned_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OLDEST", "99.0.0")
    with pytest.warns(base.UntestedHost, match=r"smolagents .* tried with is 99.0.0"):
        Smol("x", lambda: None)


# --- an agent that was made once ---


def test_an_agent_that_was_made_once_is_left_as_it_was_and_has_its_memory(local: Desk):
    model = Thinks(lambda texts: code("x = 1\nsend('a')\nfinal_answer('end')"))
    agent = coder(model, Note(DONE))
    before = {
        part: getattr(agent, part)
        for part in ("model", "python_executor", "step_callbacks", "state", "final_answer_checks")
    }
    once = Smol("once", agent, confirm=["send"], review=("plan", "code", "answer"))
    run = begun(local, once, "Go")
    while run.status == "waiting":
        local.approve(run.state.pending[0])
        carried_on(local, run)
    assert (run.output, DONE) == ("end", [("send", "a", None)])
    assert {part: getattr(agent, part) for part in before} == before
    assert "x" not in agent.python_executor.state
    assert [type(step).__name__ for step in agent.memory.steps] == ["TaskStep", "ActionStep"]
    again = begun(local, once, "Go")
    assert again.status == "waiting"


def test_a_builder_that_returns_one_agent_for_two_runs_at_a_time_is_refused(local: Desk):
    said: list[str] = []
    agent = coder(Thinks(lambda texts: code("final_answer(look_up('x'))")))

    def another(what: str) -> str:
        said.append(begun(local, shared, "Meanwhile").error or "")
        return what

    agent.tools["look_up"] = Gives(another)
    shared = Smol("shared", lambda: agent)
    assert begun(local, shared, "Go").output == "x"
    assert "works on another run at the moment" in said[0]


def test_of_two_runs_that_take_one_agent_at_the_same_time_one_is_refused(
    local: Desk, monkeypatch: pytest.MonkeyPatch
):
    checked = threading.Barrier(2)
    real = watching.check_agent

    def both_pass(*given: Any) -> None:
        real(*given)
        checked.wait(30)

    def think(texts: list[str]) -> Any:
        # Not when a thread has come to its end: each waits until the other one is through, too.
        until(lambda: any(run.status == "failed" for run in runs))
        return final("end")

    model = Thinks(think)
    agent = caller(model, Note(DONE))
    runs = [local.start(Smol(name, agent), "Go") for name in ("one", "two")]
    monkeypatch.setattr(module, "check_agent", both_pass)

    working = [in_thread(partial(carried_on, local, run)) for run in runs]
    for one in working:
        one.result(60)
    assert sorted(run.status for run in runs) == ["done", "failed"]
    assert any("works on another run at the moment" in (run.error or "") for run in runs)
    assert agent.model is model
    assert "process_tool_calls" not in vars(agent)
    monkeypatch.setattr(module, "check_agent", real)
    assert begun(local, Smol("three", agent), "Go").output == "end", "it is free again"


def test_the_module_that_makes_an_agent_is_where_workers_find_it() -> None:
    @Smol.agent("decorated", confirm=["send"])
    def build() -> CodeAgent:
        return coder(Thinks(lambda texts: ""))

    plain = Smol("plain", lambda: None)
    for agent in (build, plain):
        assert agent.__sayso_workflow__.path == f"{__name__}:{agent.name}"
    assert repr(build) == "<Smol decorated>"
    assert build.terms.asks("send")


def test_extra_arguments_are_variables_of_the_code_and_values_of_calls(local: Desk):
    model = Thinks(lambda texts: code("final_answer(rate * 2)"))
    run = begun(local, Smol("more", lambda: coder(model)), "Go", additional_args={"rate": 21})
    assert run.output == 42

    def think(texts: list[str]) -> Any:
        return final("end") if steps_taken(texts) else [("send", {"to": "whom"})]

    agent = Smol("more", lambda: caller(Thinks(think), Note(DONE)), confirm=["send"])
    run = begun(local, agent, "Go", additional_args={"whom": "anna"})
    assert ask_of(run).args["to"] == "anna", "people see what is sent, not the name of a variable"
    approved(local, run)
    assert DONE == [("send", "anna", None)]
