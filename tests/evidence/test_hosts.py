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
from sayso import Answered, Ask, Desk, Rejected, Run, Running
from sayso.adapters.langchain import SaysoMiddleware
from sayso.adapters.langgraph import Graph
from sayso.adapters.smolagents import Smol
from sayso.errors import BadValue, Denied, Misuse, StillOpen
from sayso.testing import FakeClock, ScriptedReviewer
from tests.adapters.smolagents.cast import Note, Thinks, caller, code, coder, final, steps_taken
from tests.evidence.assistant import Assistant
from tests.places import Place
from tests.served import Served

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
            self.decide(desk, ask, outcome)
        desk.work(until="idle", only=run.id)
        return desk.get_run(run.id)

    def decide(self, desk: Desk, ask: Ask, outcome: str) -> None:
        """Let an ask end in this way."""
        if outcome == "respond":
            desk.respond(ask, "Ask bob")
        elif outcome == "withdrawal":
            desk.withdraw(ask)
        elif outcome == "expiry":
            self.clock.advance("2h")
        else:
            desk.reject(ask, "Too long", end=outcome == "reject and end")


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


# --- E52: gates that tell ----------------------------------------------------------------------


def meanwhile(office: Office, desk: Desk, outcome: str) -> Thread:
    """Let the next thing that is asked end in this way, from another thread."""

    def decide() -> None:
        for event in desk.events(follow=True):
            if event.kind == "ask.opened":
                office.decide(desk, desk.get(event.stream), outcome)
                return

    thread = Thread(target=decide, daemon=True)
    if outcome != "deny":
        thread.start()
    return thread


def plain(desk: Desk, **how: Any) -> Callable[[], Any]:
    @desk.gate(name="send", **how)
    def gate(to: str) -> str:
        DONE.append(to)
        return "sent"

    return lambda: gate("anna")


def awaited(desk: Desk, **how: Any) -> Callable[[], Any]:
    @desk.gate(name="send", **how)
    async def gate(to: str) -> str:
        DONE.append(to)
        return "sent"

    return lambda: asyncio.run(gate("anna"))


def in_a_run(desk: Desk, **how: Any) -> Callable[[], Any]:
    gate = plain(desk, **how)

    @desk.workflow
    def work(run: Running) -> str:
        return gate()  # type: ignore[no-any-return]

    return lambda: desk.run(work).result()


@pytest.mark.parametrize("outcome", HEARD)
@pytest.mark.parametrize("made", [plain, awaited, in_a_run])
def test_e52_a_gate_that_tells_returns_what_the_model_should_hear(
    office: Office, made: Callable[..., Any], outcome: str
):
    """OpenAI Agents told its model "An error occurred, please try again"; Pydantic AI gave up."""
    desk = office.desk(outcome)
    thread = meanwhile(office, desk, outcome)
    assert made(desk, tell=True)() == HEARD[outcome]
    if outcome != "deny":
        thread.join()
    assert DONE == []


@pytest.mark.parametrize(
    ("made", "outcome"), [*((plain, outcome) for outcome in HEARD), (awaited, "reject")]
)
def test_e52_a_gate_behind_a_server_tells_the_same(
    office: Office, made: Callable[..., Any], outcome: str
):
    desk = office.desk(outcome)
    with (
        Served(desk) as server,
        Desk(server.url, token=server.token("clerk", kind="agent")) as remote,
    ):
        thread = meanwhile(office, desk, outcome)
        assert made(remote, tell=True)() == HEARD[outcome]
    if outcome != "deny":
        thread.join()
    assert DONE == []


@pytest.mark.parametrize("made", [plain, awaited])
@pytest.mark.parametrize(("outcome", "kind"), [("respond", Answered), ("reject", Rejected)])
def test_told_says_of_an_error_what_a_gate_that_tells_returns(
    office: Office, made: Callable[..., Any], outcome: str, kind: type[Any]
):
    desk = office.desk(outcome)
    thread = meanwhile(office, desk, outcome)
    with pytest.raises(kind) as caught:
        made(desk)()
    thread.join()
    assert sayso.told(caught.value) == HEARD[outcome]


def test_a_gate_that_tells_raises_what_its_function_raises(office: Office):
    desk = office.desk("allow")

    @desk.gate(tell=True, risk="low")
    def pay(amount: int) -> str:
        raise Denied("the bank", "not today")

    with pytest.raises(Denied, match="the bank"):
        pay(1)
    with pytest.raises(BadValue, match="ValueError is none"):
        sayso.told(ValueError("no"))  # type: ignore[arg-type]


def test_a_gate_tells_of_a_call_of_which_nobody_knows_whether_it_happened(
    office: Office, reviewer: ScriptedReviewer
):
    reviewer.approve("pay").reject("doubt")

    @office.desk("allow").gate(tell=True, unknown=TimeoutError)
    def pay(amount: int) -> str:
        raise TimeoutError

    assert pay(1).startswith("It is not known whether this happened, and")


@pytest.mark.parametrize("with_it", [{"on_reject": None}, {"asks": True}])
def test_a_gate_says_one_thing_of_a_no(local: Desk, with_it: dict[str, Any]):
    with pytest.raises(BadValue, match="tell=True"):
        local.gate(tell=True, **with_it)(lambda: None)


# --- E51: what would block an event loop -------------------------------------------------------


def nothing_asked(desk: Desk) -> bool:
    return not list(desk.events())


async def test_e51_a_plain_gate_refuses_to_stop_an_event_loop(local: Desk):
    """A plain gate called in a coroutine blocked the event loop for the whole wait."""

    @local.gate
    def pay(amount: int) -> str:
        return "paid"

    with pytest.raises(Misuse, match=r"pay\(\) would block.*asyncio\.to_thread\(pay, \.\.\.\)"):
        pay(1)
    assert nothing_asked(local)


async def test_e51_in_a_thread_it_asks_and_the_loop_goes_on(office: Office):
    desk = office.desk("reject")
    thread = meanwhile(office, desk, "reject")
    assert await asyncio.to_thread(plain(desk, tell=True)) == HEARD["reject"]
    thread.join()


@pytest.mark.parametrize(
    "verb",
    [
        lambda desk: desk.confirm("Go on?"),
        lambda desk: desk.question("Which day?"),
        lambda desk: desk.choose("Which?", ["a", "b"]),
        lambda desk: desk.draft("Dear anna"),
        lambda desk: desk.plan(["one"]),
        lambda desk: desk.notice("Look"),
        lambda desk: desk.feedback("a result"),
    ],
)
async def test_e51_so_do_the_verbs_of_a_desk(local: Desk, verb: Callable[[Desk], Any]):
    with pytest.raises(Misuse, match="result_async"):
        verb(local)
    assert nothing_asked(local)


async def test_e51_and_waiting_for_what_was_asked_before(local: Desk):
    later = local.later.confirm("Go on?")
    with pytest.raises(Misuse, match=r"await later\.result_async\(\)"):
        later.result()
    with pytest.raises(Misuse, match=r"await desk\.wait_async"):
        local.wait(later.ask)
    with pytest.raises(StillOpen):
        local.wait(later.ask, timeout=0)  # a look blocks nothing
    local.approve(later.ask)
    assert later.result(), "it is decided, so nothing blocks"
    assert local.wait(later.ask)


async def test_e51_what_does_not_wait_for_people_works_in_a_loop(local: Desk):
    assert local.draft("Dear anna", optional=True) == "Dear anna"

    @local.workflow
    async def work(run: Running) -> str:
        await plain(local)()  # pauses, and blocks nothing
        return "sent"

    run = local.run(work, wait=False)
    assert run.status == "waiting"
