"""What the middleware relies on in LangChain and LangGraph: if an upgrade breaks it, this says what."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import threading
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import ExtendedModelResponse, PrivateStateAttr
from langchain.agents.structured_output import ToolStrategy
from langchain.tools import InjectedState, ToolRuntime
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.types import Command
from pydantic import BaseModel

from sayso.adapters.langchain.middleware import OLDEST
from tests.adapters.langchain.clerk import Script, call, lines, pay, send, turns

TWO = turns([call("send", "a", to="anna"), call("pay", "b", to="ben", amount=1)], "Done.")
CONFIG: Any = {"configurable": {"thread_id": "1"}}
GO: Any = {"messages": [("user", "go")]}
MARK: ContextVar[str] = ContextVar("mark", default="")


class Left(BaseException):
    """Leaves the graph as a pause does."""


class Hooks(AgentMiddleware[Any, Any, Any]):
    """Does what a test wants at one of the moments that the middleware works at."""

    def __init__(self, name: str = "hooks", **hooks: Any) -> None:
        super().__init__()
        self._name, self._hooks = name, hooks

    @property
    def name(self) -> str:
        return self._name

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return self._hooks.get("model", lambda req, run: run(req))(request, handler)

    def after_model(self, state: Any, runtime: Any) -> Any:
        return self._hooks.get("after", lambda _: None)(state)

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self._hooks.get("tool", lambda req, run: run(req))(request, handler)


@pytest.fixture
def agent(tmp_path: Path) -> Any:
    """Makes an agent with hooks in it."""

    def made(
        *hooks: AgentMiddleware[Any, Any, Any], reply: Any = TWO, tools: Any = None, **given: Any
    ) -> Any:
        own: list[BaseTool] = [send(tmp_path), pay(tmp_path)]
        model = Script(reply=reply, prompts=tmp_path / "prompts")
        return create_agent(
            model, tools or own, middleware=hooks, checkpointer=InMemorySaver(), **given
        )

    return made


def test_a_base_exception_after_the_model_leaves_its_reply_stored_and_only_that_hook_is_repeated(
    agent: Any, tmp_path: Path
):
    seen: list[Any] = []

    def leave(state: Any) -> None:
        seen.append(state["messages"][-1].id)
        if len(seen) < 3:
            raise Left

    made = agent(Hooks(after=leave), reply=turns("Done."))
    for given in (GO, None):
        with pytest.raises(Left):
            made.invoke(given, CONFIG, durability="sync")
        assert made.get_state(CONFIG).next == ("hooks.after_model",)
    made.invoke(None, CONFIG, durability="sync")
    assert len(lines(tmp_path / "prompts")) == 1
    assert len(set(seen)) == 1
    assert seen[0]


def test_a_base_exception_in_one_tool_leaves_the_others_done_and_is_repeated_alone(
    agent: Any, tmp_path: Path
):
    tries: list[str] = []
    done = threading.Event()

    def leave(request: Any, handler: Any) -> Any:
        name = request.tool_call["name"]
        tries.append(name)
        if name == "pay":
            result = handler(request)
            done.set()
            return result
        done.wait(30)
        if tries.count("send") == 1:
            raise Left
        return handler(request)

    made = agent(Hooks(tool=leave))
    with pytest.raises(Left):
        made.invoke(GO, CONFIG, durability="sync")
    made.invoke(None, CONFIG, durability="sync")
    assert sorted(tries)[-2:] == ["send", "send"]
    assert sorted(one[0] for one in lines(tmp_path / "did")).count("send") == 1


def test_a_message_with_the_same_id_replaces_the_one_before(agent: Any, tmp_path: Path):
    def edit(state: Any) -> Any:
        last = state["messages"][-1]
        if not last.tool_calls:
            return None
        return {"messages": [last.model_copy(update={"tool_calls": [call("send", "a", to="eve")]})]}

    state = agent(Hooks(after=edit)).invoke(GO, CONFIG)
    assert lines(tmp_path / "did") == [["send", "eve", "hello"]]
    assert [type(message).__name__ for message in state["messages"]] == [
        *("HumanMessage", "AIMessage", "ToolMessage", "AIMessage")
    ]


@pytest.mark.parametrize("answered", [["a"], ["a", "b"]])
def test_a_call_that_is_answered_already_is_not_made(
    agent: Any, tmp_path: Path, answered: list[str]
):
    def answer(state: Any) -> Any:
        calls = state["messages"][-1].tool_calls
        return {
            "messages": [
                ToolMessage("no", tool_call_id=one["id"]) for one in calls if one["id"] in answered
            ]
        }

    state = agent(Hooks(after=answer)).invoke(GO, CONFIG)
    assert [one[0] for one in lines(tmp_path / "did")] == ["pay"] * (len(answered) == 1)
    assert state["messages"][-1].content == "Done.", "the model is asked again in any case"


def test_each_call_comes_alone_as_the_model_made_it_in_the_context_of_whoever_invoked(
    agent: Any,
):
    seen: list[Any] = []

    @tool
    def act(
        word: str, runtime: ToolRuntime, state: Annotated[dict[str, Any], InjectedState]
    ) -> str:
        """Act."""
        return f"{word} {len(state['messages'])}"

    def look(request: Any, handler: Any) -> Any:
        part = get_config()["configurable"]["checkpoint_ns"]
        seen.append((request.tool_call, MARK.get(), part))
        assert isinstance(request.state["messages"][-1], AIMessage)
        return handler(request)

    assert list(act.tool_call_schema.model_json_schema()["properties"]) == ["word"]  # type: ignore[union-attr]
    MARK.set("ours")
    calls = [call("act", "a", word="go"), call("act", "b", word="stay")]
    agent(Hooks(tool=look), reply=turns(calls, "Done."), tools=[act]).invoke(GO, CONFIG)
    assert sorted((one for one, _, _ in seen), key=lambda one: one["id"]) == calls
    assert [mark for _, mark, _ in seen] == ["ours", "ours"]
    assert [part.partition(":")[0] for _, _, part in seen] == ["tools", "tools"]
    assert len({part for _, _, part in seen}) == 2, "each is a task of its own"


def test_a_request_can_be_given_other_arguments_and_another_tool(agent: Any, tmp_path: Path):
    def other(request: Any, handler: Any) -> Any:
        called = {**request.tool_call, "name": "send", "args": {"to": "eve"}}
        return handler(request.override(tool_call=called, tool=send(tmp_path)))

    agent(Hooks(tool=other)).invoke(GO, CONFIG)
    assert lines(tmp_path / "did") == [["send", "eve", "hello"]] * 2


class Noting(AgentState[Any]):
    noted: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


def test_what_is_noted_with_a_reply_is_stored_with_it_and_told_to_nobody(agent: Any):
    seen: list[Any] = []

    def note(request: Any, handler: Any) -> Any:
        names = [tool.name for tool in request.tools]
        return ExtendedModelResponse(handler(request), Command(update={"noted": {"tools": names}}))

    def look(state: Any) -> None:
        seen.append(state["noted"])

    hooks = Hooks(model=note, after=look)
    hooks.state_schema = Noting
    state = agent(hooks).invoke(GO, CONFIG)
    assert seen[0] == {"tools": ["send", "pay"]}
    assert "noted" not in state


def test_the_first_in_the_list_is_the_outermost_and_decides_last(agent: Any):
    seen: list[str] = []

    def hook(name: str) -> Hooks:
        def note(request: Any, handler: Any) -> Any:
            seen.append(f"{name} tool")
            return handler(request)

        return Hooks(name, after=lambda _: seen.append(f"{name} after"), tool=note)

    reply = turns([call("send", to="anna")], "Done.")
    agent(hook("first"), hook("second"), reply=reply).invoke(GO, CONFIG)
    assert seen[:4] == ["second after", "first after", "first tool", "second tool"]


class Answer(BaseModel):
    """The answer."""

    text: str


def test_a_structured_answer_is_answered_before_anybody_looks_at_it(agent: Any):
    seen: list[Any] = []
    agent(
        Hooks(after=lambda state: seen.append(state["messages"][-1])),
        reply=turns([call("Answer", "x", text="42")]),
        response_format=ToolStrategy(Answer),
    ).invoke(GO, CONFIG)
    assert (type(seen[0]), seen[0].tool_call_id) == (ToolMessage, "x")


def test_an_agent_in_a_tool_runs_below_the_task_of_the_tool_and_goes_on_where_it_was_left(
    agent: Any, tmp_path: Path
):
    parts: list[str] = []

    def leave(_: Any) -> None:
        parts.append(get_config()["configurable"]["checkpoint_ns"])
        if len(parts) == 1:
            raise Left

    inner: Any = create_agent(
        Script(reply=turns("Inner."), prompts=tmp_path / "inner"),
        [],
        middleware=[Hooks(after=leave)],
    )

    @tool
    def act(word: str) -> str:
        """Act."""
        return str(inner.invoke({"messages": [("user", word)]})["messages"][-1].content)

    made = agent(reply=turns([call("act", "a", word="go")], "Done."), tools=[act])
    with pytest.raises(Left):
        made.invoke(GO, CONFIG, durability="sync")
    made.invoke(None, CONFIG, durability="sync")
    assert len(lines(tmp_path / "inner")) == 1
    assert len(set(parts)) == 1, "the same task, so that its place is found again"
    assert parts[0].startswith("tools:")
    assert "|hooks.after_model:" in parts[0]


# --- the versions that we claim ---

EXPECTED = "SAYSO_TEST_LANGCHAIN"


@pytest.mark.soak
def test_the_oldest_version_that_we_claim_holds_to_all_of_this(tmp_path: Path):
    """Installs it beside, and runs these tests and those of the adapter with it."""
    version = OLDEST
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(tmp_path)]
    packages = [f"langchain=={version}"]
    got = subprocess.run([*pip, *packages], capture_output=True, text=True, check=False)
    assert got.returncode == 0, f"pip could not install {packages}: {got.stderr}"
    here = Path(__file__).parent
    root = here.parents[2]
    tests = [here / f"test_{name}.py" for name in ("host", "middleware", "faults")]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not soak"),
            *("-W", "error::sayso.adapters.base.UntestedHost"),
            *(str(test) for test in tests),
        ],
        cwd=root,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tmp_path), str(root / "src"), str(root)]),
            EXPECTED: version,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_the_version_that_was_asked_for_is_the_one_that_is_tried() -> None:
    found = importlib.metadata.version("langchain")
    assert found == os.environ.get(EXPECTED, found)
