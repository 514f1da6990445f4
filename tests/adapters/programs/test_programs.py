"""Programs that others wrote run under a desk as they are.

Four are fetched and imported unchanged. The others are made anew from their shape: the guides of
LangGraph and LangChain, and what their packages do. Only their models are functions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from sayso import Desk, Run
from sayso.adapters.langgraph import Graph
from tests.adapters.programs.fetched import copy_of, loaded
from tests.runs.people import ask_of

pytestmark = [
    pytest.mark.soak,
    # What the programs themselves still call by its old name.
    pytest.mark.filterwarnings("ignore:create_react_agent has been moved"),
    pytest.mark.filterwarnings("ignore:`input` is deprecated"),
]
DONE: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    DONE.clear()


class Model(GenericFakeChatModel):
    """A model that says what it is told to."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def says(*replies: Any) -> Model:
    """Return a model: a text is said, and a pair is a call of a tool."""
    numbers = iter(range(99))

    def reply(one: Any) -> AIMessage:
        if isinstance(one, str):
            return AIMessage(one)
        call = {"name": one[0], "args": one[1], "id": f"{one[0]}-{next(numbers)}"}
        return AIMessage("", tool_calls=[call])

    return Model(messages=iter([reply(one) for one in replies]))


def begun(desk: Desk, graph: Any, given: Any, **how: Any) -> Run:
    return on(desk, desk.run(Graph("program", graph, **how), given, wait=False))


def on(desk: Desk, run: Run) -> Run:
    desk.work(until="idle", only=run.id)
    return desk.get_run(run.id)


def told(desk: Desk, run: Run, *answers: Any) -> Run:
    for answer in answers:
        desk.respond(ask_of(run), answer)
        run = on(desk, run)
    return run


def done(run: Run) -> Any:
    assert run.status == "done", (run.status, run.error)
    return run.output


def saved(builder: Any) -> Any:
    return builder.compile(checkpointer=InMemorySaver())


# --- fetched: imported as they are -------------------------------------------------------------


def test_langgraphs_own_project_template(local: Desk, monkeypatch: pytest.MonkeyPatch):
    folder = copy_of("langchain-ai/new-langgraph-project") / "src"
    template = loaded(monkeypatch, folder, "agent.graph")
    run = begun(local, saved(template.graph.builder), {"changeme": "x"})
    assert "output from call_model" in done(run)["changeme"]


@pytest.mark.parametrize(
    ("decide", "heard"),
    [
        (lambda desk, ask: desk.approve(ask), "User accepted with: None"),
        (lambda desk, ask: desk.edit(ask, {"joke": "?"}), "User edited with: {'action': 'Conf"),
        (lambda desk, ask: desk.respond(ask, "Funnier"), "User responded with: Funnier"),
        (lambda desk, ask: desk.reject(ask, end=True), "User ignored interrupt."),
    ],
)
def test_the_example_of_agent_inbox(
    local: Desk, monkeypatch: pytest.MonkeyPatch, decide: Callable[[Desk, Any], Any], heard: str
):
    folder = copy_of("langchain-ai/agent-inbox-langgraph-example") / "src"
    example = loaded(monkeypatch, folder, "agent.graph")
    run = begun(local, saved(example.workflow), {})
    decide(local, ask_of(run))
    assert done(on(local, run))["interrupt_response"].startswith(heard)


@pytest.mark.parametrize("verdict", ["approve", "edit", "respond", "reject"])
def test_the_email_assistant_of_the_course(
    local: Desk, monkeypatch: pytest.MonkeyPatch, verdict: str
):
    mail = {"to": "bob", "subject": "Tax", "content": "Yes."}
    replies = [("write_email", mail), ("Done", {"done": True})]
    if verdict == "respond":
        replies.insert(0, ("write_email", mail | {"content": "No."}))
    model = says(*replies)

    class Chat:
        def with_structured_output(self, schema: Any) -> Any:
            return RunnableLambda(lambda _: schema(reasoning="", classification="respond"))

        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return model

    folder = copy_of("langchain-ai/agents-from-scratch") / "src"
    monkeypatch.setattr("langchain.chat_models.init_chat_model", lambda *_, **__: Chat())
    stubs: dict[str, Any] = {"html2text": {}, "dotenv": {"load_dotenv": lambda *_: None}}
    name = "email_assistant.email_assistant_hitl"
    course = loaded(monkeypatch, folder, name, **stubs)
    letter = dict.fromkeys(["author", "to", "subject", "email_thread"], "x")
    run = begun(local, saved(course.overall_workflow), {"email_input": letter})
    if verdict == "respond":
        run = told(local, run, "Say yes")
    ask = ask_of(run, "write_email")
    if verdict == "edit":
        local.edit(ask, {"content": "Yes, gladly."})
    elif verdict == "reject":
        local.reject(ask, end=True)
    else:
        local.approve(ask)
    said = [one["content"] for one in done(on(local, run))["messages"] if one["type"] == "tool"]
    expected = {"edit": "Yes, gladly.", "reject": "User ignored this email draft"}
    assert expected.get(verdict, "Yes.") in said[-1]


def test_an_agent_of_a_service_kit_whose_model_words_its_question(
    local: Desk, monkeypatch: pytest.MonkeyPatch
):
    """A model call and an interrupt in one async node; its wording differs once."""
    reasons = iter(["No date is there.", "There is no date.", "There is no date."])

    class Chat:
        def with_structured_output(self, schema: Any) -> Any:
            def extract(messages: list[Any]) -> Any:
                told = "1990" in str(messages[-1].content)
                date = "1990-05-01" if told else None
                return schema(birthdate=date, reasoning="" if told else next(reasons))

            return RunnableLambda(extract)

        def __or__(self, other: Any) -> Any:
            return NotImplemented

    class Kit:
        DEFAULT_MODEL = "none"

    model: Any = says(*["Stars."] * 9)
    model_with = Chat().with_structured_output
    monkeypatch.setattr(Model, "with_structured_output", lambda _, schema: model_with(schema))
    folder = copy_of("JoshuaC215/agent-service-toolkit") / "src" / "agents"
    core = {"get_model": lambda *_: model, "settings": Kit()}
    kit = loaded(monkeypatch, folder, "interrupt_agent", core=core)
    from langgraph.store.memory import InMemoryStore

    compiled = kit.agent.compile(checkpointer=InMemorySaver(), store=InMemoryStore())
    run = begun(local, compiled, {"messages": [("user", "What is my sign?")]})
    assert ask_of(run).title.startswith("No date is there.")
    run = told(local, run, "1 May 1990")
    assert ask_of(run).title.startswith("There is no date.")
    assert done(told(local, run, "1 May 1990"))["birthdate"].startswith("1990-05-01")


# --- LangGraph's guides, made anew -------------------------------------------------------------


class Made(TypedDict, total=False):
    text: str
    age: int
    log: Annotated[list[str], operator.add]


def test_the_guide_to_approve_or_reject(local: Desk):
    def approval(state: Made) -> Command[Literal["proceed", "cancel"]]:
        said = interrupt({"question": "Approve this action?", "details": state["text"]})
        return Command(goto="proceed" if said else "cancel")

    def graph() -> Any:
        builder = StateGraph(Made)
        builder.add_node(approval)
        builder.add_node("proceed", lambda _: {"log": ["proceeded"]})
        builder.add_node("cancel", lambda _: {"log": ["cancelled"]})
        builder.add_edge(START, "approval")
        return saved(builder)

    for answer, log in ((True, ["proceeded"]), (False, ["cancelled"])):
        run = begun(local, graph(), {"text": "pay", "log": []}, answer={"approval": bool})
        assert done(told(local, run, answer))["log"] == log


def test_the_guide_to_editing_state(local: Desk):
    def review(state: Made) -> Made:
        return {"text": interrupt({"instruction": "Review this", "content": state["text"]})}

    builder = StateGraph(Made)
    builder.add_node(review)
    builder.add_edge(START, "review")
    run = begun(local, saved(builder), {"text": "draft"})
    assert done(told(local, run, "final"))["text"] == "final"


def test_the_guide_to_reviewing_tool_calls(local: Desk):
    def review(state: Made) -> Command[str]:
        call = {"name": "send", "args": {"to": "ben"}}
        said = interrupt({"question": "Is this correct?", "tool_call": call})
        if said["action"] == "continue":
            return Command(goto=END, update={"log": ["sent to ben"]})
        return Command(goto=END, update={"log": [f"sent to {said['data']['to']}"]})

    builder = StateGraph(Made)
    builder.add_node(review)
    builder.add_edge(START, "review")
    run = begun(local, saved(builder), {"log": []})
    run = told(local, run, "continue")  # a plain text: it is asked for again
    answer = {"action": "update", "data": {"to": "cleo"}}
    assert done(told(local, run, answer))["log"] == ["sent to cleo"]


def test_the_guide_to_validating_input(local: Desk):
    def age(state: Made) -> Made:
        prompt = "What is your age?"
        while True:
            answer = interrupt(prompt)
            if str(answer).isdigit():
                return {"age": int(answer)}
            prompt = f"{answer!r} is no age. Please enter a number."

    builder = StateGraph(Made)
    builder.add_node(age)
    builder.add_edge(START, "age")
    run = begun(local, saved(builder), {})
    assert done(told(local, run, "thirty", "-1", "30"))["age"] == 30


def test_the_guide_to_tools_that_ask(local: Desk):
    """A text payload that wants an object."""

    @tool
    def book_hotel(hotel: str) -> str:
        """Book a hotel."""
        said = interrupt(f"Trying to book {hotel}. Please approve or suggest edits.")
        if said["type"] not in ("accept", "edit"):
            raise ValueError(f"Unknown response type: {said['type']}")
        DONE.append(hotel if said["type"] == "accept" else said["args"]["hotel"])
        return f"booked {DONE[-1]}"

    for answer, booked in (({"type": "accept"}, "Astor"), ({"type": "edit"}, "Ritz")):
        model = says(("book_hotel", {"hotel": "Astor"}), "done")
        agent = create_agent(model, [book_hotel], checkpointer=InMemorySaver())
        run = begun(local, agent, {"messages": [("user", "book")]})
        more = {"args": {"hotel": "Ritz"}} if answer["type"] == "edit" else {}
        done(told(local, run, {**answer, **more}))
        assert DONE[-1] == booked


def test_the_guide_to_several_interrupts_at_once_and_to_breakpoints(local: Desk):
    builder: Any = StateGraph(Made)
    for name in ("a", "b"):
        builder.add_node(name, lambda _, name=name: {"log": [interrupt({"question": name})]})
        builder.add_edge(START, name)
        builder.add_edge(name, "end")
    builder.add_node("end", lambda _: {"log": ["end"]})
    compiled = builder.compile(checkpointer=InMemorySaver(), interrupt_before=["end"])
    run = begun(local, compiled, {"log": []})
    for title in ("a", "b"):
        local.respond(ask_of(run, title), title.upper())
    run = on(local, run)
    local.approve(ask_of(run))
    assert sorted(done(on(local, run))["log"]) == ["A", "B", "end"]


def test_the_guide_to_the_functional_api(local: Desk):
    @task
    def essay(topic: str) -> str:
        DONE.append(topic)
        return f"An essay about {topic}"

    @entrypoint(checkpointer=InMemorySaver())
    def workflow(topic: str) -> dict[str, Any]:
        written = essay(topic).result()
        return {"essay": written, "log": interrupt({"essay": written, "action": "Please review"})}

    run = begun(local, workflow, "cats")
    assert done(told(local, run, {"approved": True}))["log"] == {"approved": True}
    assert DONE == ["cats"]


def test_the_guide_to_a_support_desk_that_asks_for_help(local: Desk):
    @tool
    def human_assistance(query: str) -> str:
        """Ask a person."""
        return str(interrupt({"query": query})["data"])

    model = says(("human_assistance", {"query": "How?"}), "done")
    agent = create_agent(model, [human_assistance], checkpointer=InMemorySaver())
    run = begun(local, agent, {"messages": [("user", "help")]})
    messages = done(told(local, run, "Like this", {"data": "Like this"}))["messages"]
    assert [one["content"] for one in messages if one["type"] == "tool"] == ["Like this"]


# --- packages ----------------------------------------------------------------------------------


@tool
def send(to: str) -> str:
    """Send a mail."""
    DONE.append(to)
    return f"sent to {to}"


def gated(model: Any, name: str, tools: Any = (send,)) -> Any:
    rules = HumanInTheLoopMiddleware(interrupt_on={"send": True})
    return create_agent(model, list(tools), middleware=[rules], name=name)


def decided(desk: Desk, run: Run, chain: str | None) -> None:
    ask = ask_of(run, "send")
    assert (ask.args, ask.content.chain) == ({"to": "ben"}, chain)
    desk.edit(ask, {"to": "cleo"})
    done(on(desk, run))
    assert DONE == ["cleo"]


def test_the_middleware_of_langchain(local: Desk):
    model = says(("send", {"to": "ben"}), "done")
    rules = HumanInTheLoopMiddleware(interrupt_on={"send": True})
    agent = create_agent(model, [send], middleware=[rules], checkpointer=InMemorySaver())
    decided(local, begun(local, agent, {"messages": [("user", "go")]}), None)


def test_tools_of_mcp_that_can_only_be_awaited(local: Desk):
    async def awaited(to: str) -> str:
        DONE.append(to)
        return f"sent to {to}"

    mcp = StructuredTool.from_function(coroutine=awaited, name="send", description="Send a mail.")
    rules = HumanInTheLoopMiddleware(interrupt_on={"send": True})
    model = says(("send", {"to": "ben"}), "done")
    agent = create_agent(model, [mcp], middleware=[rules], checkpointer=InMemorySaver())
    decided(local, begun(local, agent, {"messages": [("user", "go")]}), None)


def test_deepagents_with_interrupt_on_in_a_subagent(local: Desk):
    deepagents = pytest.importorskip("deepagents")
    inner = {
        "name": "postman",
        "description": "Sends mails.",
        "system_prompt": "Send it.",
        "tools": [send],
        "model": says(("send", {"to": "ben"}), "done"),
        "interrupt_on": {"send": True},
    }
    outer = says(("task", {"subagent_type": "postman", "description": "Write to ben"}), "done")
    agent = deepagents.create_deep_agent(
        model=outer, subagents=[inner], checkpointer=InMemorySaver()
    )
    decided(local, begun(local, agent, {"messages": [("user", "go")]}), "program > postman")


def test_a_supervisor(local: Desk):
    supervisor = pytest.importorskip("langgraph_supervisor")
    postman = gated(says(("send", {"to": "ben"}), "done"), "postman")
    model = says(("transfer_to_postman", {}), "done")
    graph = saved(supervisor.create_supervisor([postman], model=model))
    decided(local, begun(local, graph, {"messages": [("user", "go")]}), "program > postman")


def test_a_swarm(local: Desk):
    swarm = pytest.importorskip("langgraph_swarm")
    handoff = swarm.create_handoff_tool(agent_name="postman")
    clerk = create_agent(says(("transfer_to_postman", {}), "done"), [handoff], name="clerk")
    postman = gated(says(("send", {"to": "ben"}), "done"), "postman")
    graph = saved(swarm.create_swarm([clerk, postman], default_active_agent="clerk"))
    decided(local, begun(local, graph, {"messages": [("user", "go")]}), "program > postman")


def test_an_executive_assistant_that_asks_asynchronously_and_then_acts(local: Desk):
    """Its nodes are async, ask in Agent Inbox's words, and write the answer into the messages."""

    async def send_email_draft(state: Made) -> Made:
        every = dict.fromkeys(["ignore", "respond", "edit", "accept"], True)
        request = {
            "action_request": {"action": "ResponseEmailDraft", "args": {"content": state["text"]}},
            "config": {f"allow_{word}": one for word, one in every.items()},
            "description": "# A mail",
        }
        (said,) = interrupt([request])
        content = said["args"]["args"]["content"] if said["type"] == "edit" else state["text"]
        return {"text": content, "log": [said["type"]]}

    builder = StateGraph(Made)
    builder.add_node(send_email_draft)
    builder.add_edge(START, "send_email_draft")
    run = begun(local, saved(builder), {"text": "Dear Ben", "log": []})
    local.edit(ask_of(run), {"content": "Dear Cleo"})
    output = done(on(local, run))
    assert (output["text"], output["log"]) == ("Dear Cleo", ["edit"])
