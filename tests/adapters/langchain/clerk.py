"""A LangChain agent for tests: real `create_agent`, a model that is a function of its messages.

What its tools did and what its model was shown is written to files, so that it can be read
whichever process it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.sqlite import SqliteSaver

from sayso import Ask, Desk, Run
from sayso.adapters.langchain import SaysoMiddleware
from sayso.adapters.langgraph import Graph
from tests.runs.people import ask_of

Reply = Callable[[Sequence[BaseMessage]], AIMessage]


class Script(BaseChatModel):
    """A chat model that replies what a function says to the messages, and notes its prompts."""

    reply: Reply
    prompts: Path

    @property
    def _llm_type(self) -> str:
        return "script"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        noted(self.prompts, [written(message) for message in messages])
        return ChatResult(generations=[ChatGeneration(message=self.reply(messages))])

    def bind_tools(self, *_: Any, **__: Any) -> Script:
        return self


def written(message: BaseMessage) -> dict[str, Any]:
    """A message as a provider would be sent it."""
    return message.model_dump(include={"type", "content", "additional_kwargs", "tool_calls"})


def noted(file: Path, entry: object) -> None:
    """Add a line to a file."""
    with file.open("a") as book:
        book.write(json.dumps(entry, default=str) + "\n")


def lines(file: Path) -> list[Any]:
    """All lines of a file."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def call(name: str, id_: str | None = None, /, **args: Any) -> dict[str, Any]:
    """A tool call, as a model writes it."""
    return {"name": name, "args": args, "id": name if id_ is None else id_, "type": "tool_call"}


def turns(*replies: AIMessage | Sequence[dict[str, Any]] | str) -> Reply:
    """Reply these, one after the other: by how many messages of the model there are already."""

    def reply(messages: Sequence[BaseMessage]) -> AIMessage:
        said = replies[sum(isinstance(message, AIMessage) for message in messages)]
        if isinstance(said, AIMessage):
            return said.model_copy()
        if isinstance(said, str):
            return AIMessage(said)
        return AIMessage("I act.", tool_calls=[{**one} for one in said])

    return reply


@dataclass
class Clerk:
    """One agent in one folder, with all it leaves behind there."""

    folder: Path
    reply: Reply
    desks: Callable[[Path], Desk]
    tools: Sequence[BaseTool] | None = None
    before: Sequence[Any] = ()
    after: Sequence[Any] = ()
    options: dict[str, Any] = field(default_factory=dict)
    agent_options: dict[str, Any] = field(default_factory=dict)
    law: str = ""
    guarded: bool = True

    def __post_init__(self) -> None:
        self._open = ExitStack()
        self.anew()

    def build(self) -> Any:
        saver = SqliteSaver.from_conn_string(str(self.folder / "graph.db"))
        own: Sequence[BaseTool] = [send(self.folder), pay(self.folder)]
        return create_agent(
            Script(reply=self.reply, prompts=self.folder / "prompts"),
            own if self.tools is None else self.tools,
            middleware=[*self.before, SaysoMiddleware(**self.options), *self.after],
            checkpointer=self._open.enter_context(saver),
            **self.agent_options,
        )

    def __enter__(self) -> Clerk:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def anew(self) -> None:
        """Make the agent and its desk anew, as another process has them."""
        law = self.folder / "law.toml"
        law.write_text(self.law)
        self.graph = Graph("clerk", self.build, guarded=self.guarded)
        self.desk = self._open.enter_context(self.desks(law))

    def begin(self, task: str = "Do it.", **given: Any) -> Run:
        """Give the agent a task, and let it work until it waits for people or is done."""
        said = {"messages": [{"role": "user", "content": task}]}
        return self.desk.run(self.graph, said, wait=False, **given)

    def go_on(self, run: Run) -> Run:
        """Let the agent, made anew, go on as far as it can."""
        self.anew()
        self.desk.work(until="idle", only=run.id)
        return self.desk.get_run(run.id)

    def decided(self, run: Run, verdict: str, *said: Any, what: str | None = None) -> Run:
        """Decide what the run asks, and let the agent, made anew, go on."""
        getattr(self.desk, verdict)(ask_of(run, what), *said)
        return self.go_on(run)

    @property
    def did(self) -> list[Any]:
        """What the tools did."""
        return lines(self.folder / "did")

    @property
    def prompts(self) -> list[Any]:
        """What the model was shown, one list of messages for each time it was called."""
        return lines(self.folder / "prompts")

    def history(self, run: Run) -> list[AnyMessage]:
        """The messages of the agent, as its checkpointer has them."""
        state = self.graph.graph.get_state({"configurable": {"thread_id": run.thread or run.id}})
        found: list[AnyMessage] = state.values["messages"]
        return found


def send(folder: Path) -> BaseTool:
    @tool
    def send(to: str, text: str = "hello") -> str:
        """Send a message to somebody."""
        noted(folder / "did", ["send", to, text])
        return f"sent to {to}"

    return send


def pay(folder: Path) -> BaseTool:
    @tool
    def pay(to: str, amount: int) -> str:
        """Pay money."""
        noted(folder / "did", ["pay", to, amount])
        return f"paid {amount} to {to}"

    return pay


def asks(run: Run) -> dict[str, Ask]:
    """The open asks of a run, by the first of their arguments."""
    return {str(next(iter(ask.args.values()))): ask for ask in run.asks if ask.open}


def consistent(history: Sequence[AnyMessage]) -> bool:
    """Whether each call of the model is answered once, right after the message that makes it."""
    expected: list[str | None] = []
    for message in history:
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in expected:
                return False
            expected.remove(message.tool_call_id)
        elif expected:
            return False
        elif isinstance(message, AIMessage):
            expected = [one["id"] for one in message.tool_calls]
    return not expected
