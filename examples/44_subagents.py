"""An agent inside an agent asks before it acts: the ask shows its call, and who asked whom.

The outer agent has a tool that runs the inner one, as in deepagents. Runs by itself, in a folder of
its own, without a key: models are scripted, and the program plays the reviewer. Needs
`pip install ".[langchain]" langgraph-checkpoint-sqlite`.
"""

import tempfile
from collections.abc import Sequence

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver

import sayso
from sayso.adapters.langgraph import Graph


class Scripted(BaseChatModel):
    """A chat model that makes one call, and then repeats what came of it."""

    call: ToolCall
    _llm_type = "scripted"

    def bind_tools(self, *_: object, **__: object) -> "Scripted":
        """Take any tools: the script knows them."""
        return self

    def _generate(self, messages: Sequence[BaseMessage], *_: object, **__: object) -> ChatResult:
        done = isinstance(messages[-1], ToolMessage)
        reply = AIMessage(
            messages[-1].content if done else "", tool_calls=[] if done else [self.call]
        )
        return ChatResult(generations=[ChatGeneration(message=reply)])


@tool
def send(to: str, text: str) -> str:
    """Send a mail."""
    print(f"  send({to!r}, {text!r}) runs")
    return f"sent to {to}"


postman = create_agent(
    Scripted(call=ToolCall(name="send", args={"to": "ben", "text": "We are late"}, id="c1")),
    [send],
    middleware=[HumanInTheLoopMiddleware(interrupt_on={"send": True})],
    name="postman",
)


@tool
def write_to(customer: str) -> str:
    """Have the postman write to a customer."""
    said = postman.invoke({"messages": [HumanMessage(f"Tell {customer} that we are late")]})
    return str(said["messages"][-1].content)


def main(desk: sayso.Desk, saver: SqliteSaver) -> None:
    script = Scripted(call=ToolCall(name="write_to", args={"customer": "ben"}, id="c0"))
    office = Graph("office", create_agent(script, [write_to], checkpointer=saver))
    run = desk.run(office, {"messages": [("user", "We are late for ben")]}, wait=False)
    (ask,) = run.state.pending
    print(f"{ask.content.chain} asks: {ask.tool} {ask.args}")
    desk.edit(ask, {"text": "We are late, sorry"})
    print(desk.resume(run).result()["messages"][-1]["content"].splitlines()[-1])


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        sayso.Desk(f"sqlite:///{folder}/desk.db") as desk,
        SqliteSaver.from_conn_string(f"{folder}/graph.db") as saver,
    ):
        main(desk, saver)
