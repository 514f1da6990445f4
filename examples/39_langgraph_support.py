"""A support desk as a LangGraph graph: its tool asks a person with interrupt(), a desk answers.

Whoever answers, in whatever process, resumes the graph once. Runs by itself: the admin is
played by the program, and the model is a function of the messages it is shown.
"""

import sqlite3
import tempfile
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

import sayso
from sayso.adapters.langgraph import Graph


@tool
def human_assistance(query: str) -> str:
    """Request human help for complex queries."""
    human_response = interrupt({"query": query})
    return str(human_response["data"])


def chat_node(state: MessagesState) -> dict[str, Any]:
    """Be the model: ask a person first, then pass on what they said."""
    last = state["messages"][-1]
    if last.type == "tool":
        return {"messages": [AIMessage(f"Our expert says: {last.content}")]}
    call = {"name": "human_assistance", "args": {"query": last.content}, "id": f"call-{last.id}"}
    return {"messages": [AIMessage("Let me ask an expert.", tool_calls=[call])]}


graph_builder = StateGraph(MessagesState)
graph_builder.add_node("chat_node", chat_node)
graph_builder.add_node("tools", ToolNode([human_assistance]))
graph_builder.add_edge(START, "chat_node")
graph_builder.add_conditional_edges("chat_node", tools_condition)
graph_builder.add_edge("tools", "chat_node")
graph_builder.add_edge("chat_node", END)


def support_desk(folder: str) -> Graph:
    file = sqlite3.connect(f"{folder}/checkpoints.db", check_same_thread=False)
    return Graph(
        "support", graph_builder.compile(checkpointer=SqliteSaver(file)), answer=dict[str, str]
    )


def user_main(folder: str, query: str) -> None:
    with sayso.Desk(f"sqlite:///{folder}/desk.db", account="user") as desk:
        given = {"messages": [{"role": "user", "content": query}]}
        run = desk.run(support_desk(folder), given, thread="12", wait=False)
        print(f"user: {query} ({run.status})")


def admin_main(folder: str, solution: str) -> None:
    with sayso.Desk(f"sqlite:///{folder}/desk.db", account="admin") as desk:
        support = support_desk(folder)
        (run,) = desk.runs(thread="12", status="waiting")
        (ask,) = run.state.pending
        print("admin sees:", ask.title)
        desk.respond(ask, {"data": solution})
        desk.resume(run, agent=support)
        print("agent:", run.output["messages"][-1]["content"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        user_main(folder, "How do I configure SSL for nginx?")
        admin_main(folder, "certbot --nginx")
        user_main(folder, "And how do I renew it?")
        admin_main(folder, "certbot renew")
