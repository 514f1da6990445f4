"""The documents' email assistant and support desk as LangGraph graphs, and their own code (S1.8, S3.10).

The graphs of `examples/38_langgraph_email` and `examples/39_langgraph_support.py`, a process for each
turn; and the code of the support document as it stands there, on a stand-in for its MongoDB.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import mongomock
import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.mongodb import MongoDBSaver, saver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt
from mongomock.collection import BulkOperationBuilder
from typing_extensions import TypedDict

from sayso import Ask, Desk, Run
from sayso.adapters.langgraph import Graph
from sayso.errors import AskClosed, VerdictNotAllowed
from tests import forked
from tests.journeys.graph_visitors import assistant
from tests.runs.people import ask_of

ROOT = Path(__file__).resolve().parents[2]
VISITOR = (sys.executable, "-m", "tests.journeys.graph_visitors")


# --- the graphs, a process for each turn -------------------------------------------------------


class Office:
    """An example's graph, as it is seen from outside."""

    def __init__(self, name: str, folder: Path, desk: Desk) -> None:
        self.name, self.folder, self.desk = name, folder, desk
        self.sent: list[str] = []

    def visit(self, thread: str = "1", given: Any = None) -> Run:
        """Let a process come by that starts a run, or carries on what there is."""
        said = [] if given is None else [json.dumps(given)]
        command = [*VISITOR, self.name, str(self.folder), thread, *said]
        done = forked.run(command, cwd=ROOT, env=os.environ)
        assert done.returncode == 0, done.stderr
        self.sent += done.stdout.splitlines()
        return self.desk.runs(limit=1)[0]

    def decide(self, run: Run, decide: Callable[..., Ask], *what: Any, **more: Any) -> Ask:
        """Decide what the run waits for, and let a worker come by."""
        decided = decide(ask_of(run), *what, **more)
        self.visit()
        return decided


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Callable[[str], Office]]:
    with Desk(f"sqlite:///{tmp_path}/desk.db", account="anna@home") as desk:
        yield lambda name: Office(name, tmp_path, desk)


def test_two_calls_of_one_message_are_edited_and_sent_back_and_nothing_is_sent_twice(
    office: Callable[[str], Office],
):
    here = office("email")
    run = here.visit(given={"email": "tax planning?"})
    meeting = ask_of(run)
    assert (meeting.tool, meeting.args["duration_minutes"]) == ("schedule_meeting", 45)
    here.decide(run, here.desk.edit, {"duration_minutes": 30})
    with pytest.raises(AskClosed):  # a late second click on the first question (E3)
        here.desk.approve(meeting)
    assert ask_of(run).tool == "write_email"
    here.decide(run, here.desk.respond, "shorter, please")
    here.decide(run, here.desk.approve)
    assert run.status == "done", run.error
    assert here.sent == ["meeting with bob: 30 minutes", "mail to bob: Re: tax"], "once each (E4)"
    proposed = [one for one in run.output["messages"] if one.get("tool_calls")]
    assert proposed[0]["tool_calls"][0]["args"]["duration_minutes"] == 30, "the model sees what ran"


def test_a_notice_is_answered_after_all_or_ignored(tmp_path: Path):
    with Desk(f"sqlite:///{tmp_path}/desk.db", account="anna@home") as desk:
        graph = assistant(str(tmp_path))
        ignored, answered = (
            desk.run(graph, {"email": "build failed"}, wait=False) for _ in range(2)
        )
        with pytest.raises(VerdictNotAllowed):
            desk.approve(ask_of(ignored))
        desk.reject(ask_of(ignored), end=True)
        desk.respond(ask_of(answered), "Tell bob")
        desk.work(until="idle")
        assert (ignored.status, answered.status) == ("done", "waiting")
        assert ask_of(answered).tool == "schedule_meeting"


def test_the_support_desk_s_admin_answers_in_another_process(office: Callable[[str], Office]):
    here = office("support")
    run = here.visit("12", {"messages": [{"role": "user", "content": "SSL?"}]})
    here.decide(run, here.desk.respond, {"data": "certbot --nginx"})
    assert run.output["messages"][-1]["content"] == "Our expert says: certbot --nginx"


# --- the code of the support document ----------------------------------------------------------
# As it stands there, but for its model, the address of its database, and what goes to a desk.


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]


@tool
def human_assistance(query: str) -> str:
    """
    A tool that simulates human assistance by interrupting the graph.
    """
    # Interrupt and save state
    human_response = interrupt({"query": query})

    # This line executes AFTER resume
    return human_response["data"]  # type: ignore[no-any-return]


class Llm:
    """The document's model: asks for help, then passes on what it heard."""

    def bind_tools(self, tools: list[Any]) -> Llm:
        return self

    def invoke(self, messages: list[Any]) -> AIMessage:
        last = messages[-1]
        if last.type == "tool":
            return AIMessage(f"Here's the solution from our expert: {last.content}")
        args = {"query": last.content}
        function = {"name": "human_assistance", "arguments": json.dumps(args)}
        return AIMessage(
            "This requires specialized knowledge. Let me get human assistance.",
            additional_kwargs={"tool_calls": [{"id": last.id, "function": function}]},
            tool_calls=[{"name": "human_assistance", "args": args, "id": last.id}],
        )


llm = Llm()


def chat_node(state: State) -> dict[str, Any]:
    return {"messages": [llm_with_tools.invoke(state["messages"])]}


# Bind tool to LLM
llm_with_tools = llm.bind_tools([human_assistance])

# Build graph
graph_builder = StateGraph(State)
graph_builder.add_node("chat_node", chat_node)
graph_builder.add_node("tools", ToolNode([human_assistance]))

graph_builder.add_edge(START, "chat_node")
graph_builder.add_conditional_edges("chat_node", tools_condition)
graph_builder.add_edge("tools", "chat_node")
graph_builder.add_edge("chat_node", END)

DB_URI = "mongodb://stand-in"


def user_main(desk: Desk, input: Callable[[str], str]) -> None:  # noqa: A002
    """
    User submits a query that requires human assistance.
    Graph will interrupt and wait.
    """
    with MongoDBSaver.from_conn_string(DB_URI) as checkpointer:
        graph = graph_builder.compile(checkpointer=checkpointer)

        user_query = input("Enter your query: ")

        initial_state = State(messages=[{"role": "user", "content": user_query}])

        # This will interrupt when agent calls human_assistance
        desk.run(Graph("support", graph), initial_state, thread="12", wait=False)

        # Graph pauses here - state saved to MongoDB
        print("Waiting for admin response...")


def admin_main(desk: Desk, input: Callable[[str], str]) -> None:  # noqa: A002
    """
    Admin retrieves interrupted state and provides solution.
    Graph resumes with admin's input.
    """
    config: Any = {"configurable": {"thread_id": "12"}}  # Same thread!

    with MongoDBSaver.from_conn_string(DB_URI) as checkpointer:
        graph = graph_builder.compile(checkpointer=checkpointer)

        # Get current state
        current_state = graph.get_state(config)

        # Extract the user's query from interrupted state
        last_message = current_state.values["messages"][-1]
        tool_calls = last_message.additional_kwargs.get("tool_calls", [])

        for call in tool_calls:
            if call["function"]["name"] == "human_assistance":
                args = json.loads(call["function"]["arguments"])
                user_query = args["query"]
                break

        print(f"User Query: {user_query}")  # type: ignore[possibly-undefined]

        # Admin provides solution
        solution = input("Enter your solution: ")

        # Resume graph with admin's input
        (run,) = desk.runs(thread="12", status="waiting")
        desk.respond(run.state.pending[0], {"data": solution})

        # Graph continues from where it left off
        desk.resume(run, agent=Graph("support", graph))
        print(run.output["messages"][-1]["content"])


@tool
def delete_database(db_name: str):
    """Delete a database."""
    # Interrupt for approval
    approval = interrupt({"action": f"Delete {db_name}?"})

    if approval["data"] == "approved":
        # Perform deletion
        return "Database deleted"
    return "Action cancelled"


class agent:  # noqa: N801 - as the document writes it
    """The document's agent, which only plans."""

    @staticmethod
    def create_plan() -> list[str]:
        return ["search", "delete everything"]


EXECUTED: list[str] = []
execute = EXECUTED.append


def multi_step_approval(state: State) -> None:
    # Approve plan
    plan = agent.create_plan()
    approved_plan = interrupt({"plan": plan})

    # Execute approved steps
    for step in approved_plan["data"]:
        execute(step)


# ------------------------------------------------------------------------------------------------


class Client(mongomock.MongoClient):
    """A stand-in for MongoDB, in this process; closing it loses nothing, as a server would not."""

    def append_metadata(self, *_: object) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def mongodb(monkeypatch: pytest.MonkeyPatch) -> None:
    client, add = Client(), BulkOperationBuilder.add_update
    monkeypatch.setattr(saver, "MongoClient", lambda *_, **__: client)
    monkeypatch.setattr(
        BulkOperationBuilder,
        "add_update",
        lambda self, *args, sort=None, **more: add(self, *args, **more),
    )


def test_the_document_s_user_and_admin_meet_at_the_desk(
    mongodb: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with Desk(f"sqlite:///{tmp_path}/desk.db", account="admin@desk") as desk:
        user_main(desk, lambda _: "How do I configure SSL certificates for nginx?")
        admin_main(desk, lambda _: "certbot --nginx")
    assert capsys.readouterr().out.splitlines() == [
        "Waiting for admin response...",
        "User Query: How do I configure SSL certificates for nginx?",
        "Here's the solution from our expert: certbot --nginx",
    ]


@pytest.mark.parametrize(
    ("said", "came"), [("approved", "Database deleted"), ("no", "Action cancelled")]
)
def test_the_document_s_approval_before_an_action(tmp_path: Path, said: str, came: str):
    builder = StateGraph(State)
    builder.add_node("tools", ToolNode([delete_database]))
    builder.add_edge(START, "tools")
    call = {"name": "delete_database", "args": {"db_name": "users"}, "id": "c1"}
    with Desk(f"sqlite:///{tmp_path}/desk.db", account="admin@desk") as desk:
        graph = Graph("dba", builder.compile(checkpointer=InMemorySaver()))
        given = {"messages": [AIMessage("", tool_calls=[call])]}
        run = desk.run(graph, given, wait=False)
        assert ask_of(run).title == "tools asks: Delete users?"
        desk.respond(ask_of(run), {"data": said})
        desk.resume(run)
        assert run.output["messages"][-1]["content"] == came


def test_the_document_s_plan_is_executed_as_it_was_approved(tmp_path: Path):
    EXECUTED.clear()
    builder = StateGraph(State)
    builder.add_node("plan", multi_step_approval)
    builder.add_edge(START, "plan")
    with Desk(f"sqlite:///{tmp_path}/desk.db", account="admin@desk") as desk:
        graph = Graph("planner", builder.compile(checkpointer=InMemorySaver()))
        run = desk.run(graph, {"messages": []}, wait=False)
        assert "delete everything" in str(ask_of(run).content.facts)
        desk.respond(ask_of(run), {"data": ["search"]})
        desk.resume(run)
    assert (run.status, EXECUTED) == ("done", ["search"])
