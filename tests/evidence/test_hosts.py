"""The faults of the list of evidence that concern other people's programs, one test each (E51 to E53).

The hosts are real: LangGraph, LangChain, smolagents. Only their models are functions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from langgraph.checkpoint.memory import InMemorySaver
from typing_extensions import TypedDict

from sayso import Answered, Desk, Rejected, Run, told
from sayso.adapters.langgraph import Graph
from sayso.errors import Denied, Misuse
from sayso.testing import FakeClock
from tests.evidence.assistant import Assistant
from tests.places import Place

LATE = """
[[rules]]
name = "soon"
tools = ["*notify*", "Question", "write_email", "act"]
effect = "ask"
within = "1h"
"""
DENIES = """
[[rules]]
name = "never"
tools = ["*notify*", "Question", "write_email", "act"]
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
            if outcome == "withdrawal":
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
    assert assistant.worked[-1][-1].endswith(told(Rejected(desk.get(ask.id))))
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
