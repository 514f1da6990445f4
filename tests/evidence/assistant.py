"""An email assistant as courses teach it: a LangGraph program that knows nothing of a desk.

Triage sorts a mail; what is only worth a notice is put before a person, who ignores it or says what
to do. An agent then answers: it writes mails, and asks what it does not know. The answer to each
request of Agent Inbox is taken for what its type says, and one of no known type is an error.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

NOTICE = {"ignore": True, "respond": True, "edit": False, "accept": False}
EVERY = {"ignore": True, "respond": True, "edit": True, "accept": True}
ALLOWED = {"write_email": EVERY, "Question": NOTICE}


class Mail(MessagesState):
    email: str


class Assistant:
    """The program, what its model was told, and the mails that it sent."""

    def __init__(self) -> None:
        self.worked: list[list[str]] = []
        self.sent: list[dict[str, Any]] = []
        self.graph = self._built().compile(checkpointer=InMemorySaver())

    def _built(self) -> Any:
        agent = StateGraph(Mail)
        agent.add_node("llm_call", self._llm_call)
        agent.add_node("interrupt_handler", self._interrupt_handler)
        agent.add_edge(START, "llm_call")
        agent.add_conditional_edges("llm_call", _next, ["interrupt_handler", END])
        whole = StateGraph(Mail)
        whole.add_node("triage_router", self._triage_router)
        whole.add_node("triage_interrupt_handler", self._triage_interrupt_handler)
        whole.add_node("response_agent", agent.compile())
        whole.add_edge(START, "triage_router")
        return whole

    def _triage_router(self, state: Mail) -> Command[Any]:
        notify = "build failed" in state["email"]
        task = HumanMessage(f"Answer this mail: {state['email']}")
        if notify:
            return Command(goto="triage_interrupt_handler")
        return Command(goto="response_agent", update={"messages": [task]})

    def _triage_interrupt_handler(self, state: Mail) -> Command[Any]:
        heard = _asked("Email Assistant: notify", {}, NOTICE, state["email"])
        if heard["type"] == "ignore":
            return Command(goto=END)
        if heard["type"] != "response":
            raise ValueError(f"Invalid response: {heard}")
        said = HumanMessage(f"The user wants to reply. Their feedback: {heard['args']}")
        return Command(goto="response_agent", update={"messages": [said]})

    def _llm_call(self, state: Mail) -> dict[str, Any]:
        """Ask where something is unclear; write a mail else, and another one after feedback."""
        said = [str(message.content) for message in state["messages"] if message.type != "ai"]
        self.worked.append(said)
        if len(self.worked) > 5:
            raise RecursionError("it goes to work again and again")
        number = f"call {len(state['messages'])}"
        if said[-1].startswith("sent"):
            return {"messages": [AIMessage("Done.")]}
        if "unclear" in state["email"] and len(said) == 1:
            call = {"name": "Question", "args": {"content": "Which day?"}, "id": number}
        else:
            mail = {"to": "bob", "subject": "Re", "content": f"About: {said[-1]}"}
            call = {"name": "write_email", "args": mail, "id": number}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    def _interrupt_handler(self, state: Mail) -> Command[Any]:
        (call,) = state["messages"][-1].tool_calls  # type: ignore[union-attr]
        heard = _asked(call["name"], call["args"], ALLOWED[call["name"]], state["email"])
        goto = "llm_call"
        if heard["type"] == "accept":
            result = self._write_email(**call["args"])
        elif heard["type"] == "edit":
            result = self._write_email(**heard["args"]["args"])
        elif heard["type"] == "ignore":
            result, goto = "User ignored this. Ignore this email and end the workflow.", END
        elif heard["type"] == "response":
            result = f"User gave feedback, which we can incorporate. Feedback: {heard['args']}"
        else:
            raise ValueError(f"Invalid response: {heard}")
        answer = ToolMessage(result, tool_call_id=call["id"])
        return Command(goto=goto, update={"messages": [answer]})

    def _write_email(self, **mail: Any) -> str:
        self.sent.append(mail)
        return f"sent to {mail['to']}"


def _next(state: Mail) -> str:
    last: AnyMessage = state["messages"][-1]
    return "interrupt_handler" if isinstance(last, AIMessage) and last.tool_calls else END


def _asked(action: str, args: dict[str, Any], allowed: dict[str, bool], email: str) -> Any:
    request = {
        "action_request": {"action": action, "args": args},
        "config": {f"allow_{word}": allow for word, allow in allowed.items()},
        "description": f"**Mail**: {email}",
    }
    return interrupt([request])[0]
