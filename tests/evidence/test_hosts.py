"""The faults of the list of evidence that concern other people's programs, one test each (E51 to E53).

The hosts are real: LangGraph, LangChain, smolagents. Only their models are functions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import sayso
from sayso import Answered, Desk, Rejected, Run
from sayso.adapters.langchain import SaysoMiddleware
from sayso.adapters.langgraph import Graph
from sayso.adapters.smolagents import Smol
from sayso.errors import BadValue, Denied, Misuse
from sayso.testing import FakeClock
from tests.adapters.smolagents.cast import Note, Thinks, caller, coder, code, final, steps_taken
from tests.evidence.assistant import Assistant
from tests.places import Place

LATE = """
[[rules]]
name = "soon"
tools = ["*notify*", "Question", "write_email", "send", "helper"]
effect = "ask"
within = "1h"
"""
DENIES = """
[[rules]]
name = "never"
tools = ["*notify*", "Question", "write_email", "send", "helper"]
effect = "deny"
"""
NOBODY = ("deny", "expiry", "withdrawal")


class Office:
    """A desk at which programs run, and what becomes of what they ask."""

    def __init__(self, url: str, folder: Path, stack: ExitStack) -> None:
        self.clock = FakeClock()
        self._stack = stack
        self._url = url
        self._law = folder / "law.toml"

    def desk(self, outcome: str) -> Desk:
        self._law.write_text(DENIES if outcome == "deny" else LATE)
        desk = Desk(self._url, clock=self.clock, account="sam@till", policy=self._law)
        return self._stack.enter_context(desk)

    def ends(self, desk: Desk, run: Run, outcome: str) -> Run:
        """Let everything that is asked end in this way, and the program go on once."""
        for ask in [one for one in run.asks if one.open]:
            if outcome == "respond":
                desk.respond(ask, "Ask bob")
            elif outcome == "withdrawal":
                desk.withdraw(ask)
            elif outcome == "expiry":
                self.clock.advance("2h")
            elif outcome == "reject and end":
                desk.reject(ask, "no", end=True)
            else:
                desk.reject(ask, "Too long")
        desk.work(until="idle", only=run.id)
        return desk.get_run(run.id)


@pytest.fixture
def office(sqlite: Place, tmp_path: Path) -> Iterator[Office]:
    with ExitStack() as stack:
        yield Office(sqlite.url, tmp_path, stack)


# --- E53: the course's program -----------------------------------------------------------------


@pytest.mark.parametrize("outcome", ["reject", "reject and end", *NOBODY])
def test_e53_a_no_to_a_notice_is_no_feedback(office: Office, outcome: str):
    """LangGraph, the email assistant: a rejected notice was taken for feedback, and answered."""
    assistant, desk = Assistant(), office.desk(outcome)
    run = desk.run(Graph("mail", assistant.graph), {"email": "build failed"}, wait=False)
    run = office.ends(desk, run, outcome)
    assert (run.status, assistant.worked, assistant.sent) == ("done", [], [])


@pytest.mark.parametrize("outcome", ["reject", "reject and end", *NOBODY])
def test_e53_a_no_to_a_question_is_no_answer(office: Office, outcome: str):
    assistant, desk = Assistant(), office.desk(outcome)
    run = desk.run(Graph("mail", assistant.graph), {"email": "unclear"}, wait=False)
    run = office.ends(desk, run, outcome)
    assert (run.status, len(assistant.worked), assistant.sent) == ("done", 1, [])


@pytest.mark.parametrize("outcome", NOBODY)
def test_e53_a_mail_that_nobody_allowed_is_not_written_again(office: Office, outcome: str):
    assistant, desk = Assistant(), office.desk(outcome)
    run = desk.run(Graph("mail", assistant.graph), {"email": "Lunch?"}, wait=False)
    run = office.ends(desk, run, outcome)
    assert (run.status, len(assistant.worked), assistant.sent) == ("done", 1, [])


def test_e53_who_rejects_a_mail_is_heard_by_the_model_as_everywhere(office: Office):
    assistant, desk = Assistant(), office.desk("reject")
    run = desk.run(Graph("mail", assistant.graph), {"email": "Lunch?"}, wait=False)
    (ask,) = run.asks
    run = office.ends(desk, run, "reject")
    assert assistant.worked[-1][-1].endswith(sayso.told(Rejected(desk.get(ask.id))))
    assert (run.status, assistant.sent) == ("waiting", [])


def test_e53_what_a_person_answers_is_still_an_answer(office: Office):
    assistant, desk = Assistant(), office.desk("respond")
    run = desk.run(Graph("mail", assistant.graph), {"email": "unclear"}, wait=False)
    for answer in ("On Monday", "Shorter"):
        (ask,) = [one for one in run.asks if one.open]
        desk.respond(ask, answer)
        run = desk.resume(run, wait=False)
    desk.approve(next(one for one in run.asks if one.open))
    run = desk.resume(run, wait=False)
    assert run.status == "done"
    assert [mail["content"][-7:] for mail in assistant.sent] == ["Shorter"]


# --- every host, in the same words -------------------------------------------------------------

NO = "Do not make this call again. Go on another way, or say in your answer that it was not done."
HEARD = {
    "reject": f"Not carried out: sam said no: Too long. {NO}",
    "respond": "Not carried out. sam says: Ask bob",
    "expiry": f"Not carried out: Nobody decided within 1 h. {NO}",
    "withdrawal": f"Not carried out: the question was taken back before anybody decided it. {NO}",
    "deny": f"Not carried out: The policy denies send: The rule 'never' says deny. (rule never). {NO}",
}
DONE: list[Any] = []


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    DONE.clear()


@tool
def send(to: str) -> str:
    """Send a message."""
    DONE.append(to)
    return f"sent to {to}"


class Model(GenericFakeChatModel):
    """A model that makes one call, and then is done."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def langchain() -> tuple[Any, Any]:
    call = {"name": "send", "args": {"to": "anna"}, "id": "c1"}
    model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("Done.")]))
    rules = SaysoMiddleware(confirm=True)
    agent = create_agent(model, [send], middleware=[rules], checkpointer=InMemorySaver())
    return Graph("clerk", agent), {"messages": ["go"]}


def smol_tools() -> tuple[Any, Any]:
    def think(texts: list[str]) -> Any:
        return final(texts[-1]) if steps_taken(texts) else [("send", {"to": "anna"})]

    return Smol("clerk", lambda: caller(Thinks(think), Note(DONE)), confirm=["send"]), "go"


def smol_code() -> tuple[Any, Any]:
    def think(texts: list[str]) -> Any:
        tried = "try:\n    send('anna')\nexcept Exception as no:\n    final_answer(str(no))"
        return code(tried)

    return Smol("clerk", lambda: coder(Thinks(think), Note(DONE)), confirm=["send"]), "go"


def smol_chief() -> tuple[Any, Any]:
    def inner(_: list[str]) -> Any:
        return final("helped")

    def think(texts: list[str]) -> Any:
        return final(texts[-1]) if steps_taken(texts) else [("helper", {"task": "Help"})]

    def build() -> Any:
        helper = caller(Thinks(inner), name="helper", description="Helps.")
        return caller(Thinks(think), managed_agents=[helper])

    return Smol("chief", build, confirm=["helper"]), "go"


@pytest.mark.parametrize("outcome", HEARD)
@pytest.mark.parametrize("host", [langchain, smol_tools, smol_code, smol_chief])
def test_e52_a_model_of_every_host_hears_a_no_in_the_same_words(
    office: Office, host: Callable[[], tuple[Any, Any]], outcome: str
):
    desk, (agent, task) = office.desk(outcome), host()
    run = desk.run(agent, task, wait=False)
    run = office.ends(desk, run, outcome)
    assert (run.status, DONE) == ("done", []), run.error
    messages = run.output["messages"] if host is langchain else [{"content": run.output}]
    found = [message["content"].replace("helper", "send") for message in messages]
    assert any(HEARD[outcome] in text for text in found), found
