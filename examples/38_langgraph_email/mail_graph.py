"""The email assistant as a LangGraph graph, in the protocol of Agent Inbox."""

import sqlite3
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt
from mail_models import TOOLS, response_model, triage_model
from typing_extensions import TypedDict

import sayso
from sayso.adapters.langgraph import Graph


class State(TypedDict, total=False):
    """A mail, and what the assistant did about it."""

    email: str
    messages: Annotated[list[AnyMessage], add_messages]


def asked(action: str, args: dict[str, Any], allow: str, description: str) -> dict[str, Any]:
    """Ask as Agent Inbox does, and return the person's response."""
    config = {f"allow_{word}": word in allow for word in ("ignore", "respond", "edit", "accept")}
    request = {"action_request": {"action": action, "args": args}, "config": config}
    response: dict[str, Any] = interrupt([{**request, "description": description}])[0]
    return response


def triage_router(state: State) -> Command[Any]:
    where = {"ignore": END, "notify": "triage_interrupt_handler", "respond": "llm_call"}
    return Command(goto=where[triage_model(state["email"])])


def triage_interrupt_handler(state: State) -> Command[Any]:
    response = asked("email_assistant_notify", {}, "ignore respond", state["email"])
    said = ("user", f"The user wants to reply: {response['args']}")
    replies = response["type"] == "response"
    return Command(goto="llm_call", update={"messages": [said]}) if replies else Command(goto=END)


def llm_call(state: State) -> Command[Any]:
    message = response_model(state.get("messages", []))
    goto = "interrupt_handler" if message.tool_calls else END
    return Command(goto=goto, update={"messages": [message]})


def interrupt_handler(state: State) -> Command[Any]:
    message = state["messages"][-1]
    calls, results, goto = [], [], "llm_call"
    for call in message.tool_calls if isinstance(message, AIMessage) else []:
        response = asked(call["name"], call["args"], "ignore respond edit accept", state["email"])
        args = response["args"]["args"] if response["type"] == "edit" else call["args"]
        calls.append({**call, "args": args})  # what the model sees is what ran
        match response["type"]:
            case "accept" | "edit":
                result = sayso.effect(TOOLS[call["name"]], **args)  # once, however often this runs
            case "response":
                result = f"The user says: {response['args']}"
            case _:
                result, goto = "The user ignored this.", END
        results.append(ToolMessage(result, tool_call_id=call["id"]))
    edited = AIMessage(message.content, id=message.id, tool_calls=calls)
    return Command(goto=goto, update={"messages": [edited, *results]})


builder = StateGraph(State)
for node in (triage_router, triage_interrupt_handler, llm_call, interrupt_handler):
    builder.add_node(node.__name__, node)
builder.add_edge(START, "triage_router")


def assistant(folder: str) -> Graph:
    """Return the graph for a desk to run. Its nodes act only by sayso.effect: it is guarded."""
    file = sqlite3.connect(f"{folder}/checkpoints.db", check_same_thread=False)
    return Graph("email-assistant", builder.compile(checkpointer=SqliteSaver(file)), guarded=True)
