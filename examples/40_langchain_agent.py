"""An agent of LangChain under a desk: its calls ask by policy, and each happens once.

Runs by itself, in a folder of its own, without a key: the model is scripted, and the reviewer is
played by the program. Needs `pip install ".[langchain]" langgraph-checkpoint-sqlite`.
"""

import tempfile

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver

import sayso
from sayso.adapters.langchain import SaysoMiddleware
from sayso.adapters.langgraph import Graph


class Scripted(BaseChatModel):
    """A chat model that is a function of its messages. It tells what was done, not what it wanted."""

    _llm_type = "scripted"

    def bind_tools(self, *_: object, **__: object) -> "Scripted":
        """Take any tools: the script knows them."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: object, **__: object) -> ChatResult:
        heard = {m.tool_call_id: m.content for m in messages if isinstance(m, ToolMessage)}
        made = [c for m in messages if isinstance(m, AIMessage) for c in m.tool_calls]
        calls = [[call("look_up", order=7)], [call("refund", order=n, amount=40) for n in (7, 8)]]
        said = "\n".join(f"{c['name']} {c['args']}: {heard[str(c['id'])]}" for c in made)
        reply = AIMessage(said, tool_calls=calls[len(heard)] if len(heard) < len(calls) else [])
        return ChatResult(generations=[ChatGeneration(message=reply)])


def call(name: str, **args: int) -> ToolCall:
    """Return a call as a model makes it."""
    return ToolCall(name=name, args=args, id=f"{name}-{args['order']}")


@tool
def look_up(order: int) -> str:
    """Look up an order."""
    print(f"  look_up({order}) runs")
    return "paid twice, as was order 8"


@tool
def refund(order: int, amount: int) -> str:
    """Pay money back."""
    print(f"  refund({order}, {amount}) runs")
    return f"{amount} EUR paid back"


def main(desk: sayso.Desk, saver: SqliteSaver) -> None:
    rules = SaysoMiddleware(risk={"look_up": "low", "refund": "high"})
    agent = create_agent(Scripted(), [look_up, refund], middleware=[rules], checkpointer=saver)
    clerk = Graph("clerk", agent, guarded=True)
    task = {"messages": [{"role": "user", "content": "Settle the double charges."}]}
    run = desk.run(clerk, task, thread="42", wait=False)
    for ask in sorted(run.state.pending, key=lambda ask: ask.args["order"]):  # both are open
        print(f"  {ask.tool} {ask.args} waits: {ask.content.sentence}")
        if ask.args["order"] == 7:
            desk.edit(ask, {"amount": 30})
        else:
            desk.reject(ask, "Not charged twice.")
    print(desk.resume(run).result()["messages"][-1]["content"])


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        sayso.Desk(f"sqlite:///{folder}/desk.db") as desk,
        SqliteSaver.from_conn_string(f"{folder}/graph.db") as saver,
    ):
        main(desk, saver)
