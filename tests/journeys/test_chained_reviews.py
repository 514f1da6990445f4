"""Reviews that follow one another, and help that comes through agents, end to end (S4.6, S4.10).

The programs are those of `examples/`. Each of them is gone before somebody decides.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from sayso import Ask, Desk, PlanStep, Run
from sayso.agent import transcript
from sayso.errors import Forbidden
from tests import forked
from tests.crash.shop import noted
from tests.crash.visitors import Door, House
from tests.journeys.reading import told
from tests.places import Place

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TEXT = "We pay 900 EUR, or else."
WORDING = "We pay 900 EUR by May."
SIGNED = [
    "run.started",
    "ask.opened 1 draft",
    "ask.edited 1 draft",
    "ask.decided 1 draft",
    "ask.opened 2 action",
    "ask.decided 2 action",
    "step.begun 3 sign",
    "step.done 3 call",
    "run.done",
]
HELPED = [
    "run.started",
    "step.done 1 model",  # front wants the expert
    "step.done 2.1.2.1 model",  # the expert wants a person
    "ask.opened 2.1.2.2.1.2.1 question",
    "ask.decided 2.1.2.2.1.2.1 question",
    "step.done 2.1.2.2.1.2 workflow",
    "step.done 2.1.2.3 model",
    "step.done 2.1.2 workflow",
    "step.done 3 model",
    "run.done",
]


@dataclass
class Program:
    """One of the examples, started over and over on one database."""

    name: str
    desk: Desk
    url: str
    folder: Path

    def start(self, *words: str) -> Run:
        """Let it do something, wait until it is gone, and return the run as it then stands."""
        command = [sys.executable, str(EXAMPLES / f"{self.name}.py"), *words]
        done = forked.run(command, cwd=self.folder, env={**os.environ, "SAYSO_URL": self.url})
        assert done.returncode == 0, done.stderr
        (run,) = self.desk.runs()
        assert run.row.token is None, "nothing holds it"
        return run


@pytest.fixture
def contract(live: Desk, place: Place, tmp_path: Path) -> Program:
    live.people.add("lena", roles=["legal"])
    live.people.add("fritz", roles=["finance"])
    return Program("34_chained_reviews", live, place.url, tmp_path)


def pending(run: Run) -> Ask:
    """The one thing that a run waits for."""
    (ask,) = run.state.pending
    return ask


def test_s4_10_finance_is_asked_after_legal_and_sees_what_legal_made_of_it(
    contract: Program,
) -> None:
    desk = contract.desk
    run = contract.start("begin", TEXT)
    draft = pending(run)
    assert (draft.title, draft.args["text"]) == ("Is this legal?", TEXT)
    with pytest.raises(Forbidden, match="legal"):
        desk.approve(draft, by="fritz")
    assert told(desk, run) == SIGNED[:2], "a vote that does not count is none"

    desk.edit(draft, WORDING, by="lena")
    contract.start("go on")
    payment = pending(run)
    assert payment.title == "Can we pay this?"
    assert dict(json.loads(payment.content.facts or "")) == {"wording": WORDING}
    with pytest.raises(Forbidden, match="finance"):
        desk.approve(payment, by="lena")

    desk.approve(payment, by="fritz")
    contract.start("go on")
    assert run.output == f"signed: {WORDING}"
    assert told(desk, run) == SIGNED
    assert desk.verify()


@pytest.fixture
def front(live: Desk, place: Place, tmp_path: Path) -> Program:
    return Program("33_help_through_agents", live, place.url, tmp_path)


def test_s4_10_an_agent_asks_an_agent_that_asks_a_person_and_the_answer_comes_back(
    front: Program,
) -> None:
    run = front.start("ask", "Why is the shop so slow?")
    ask = pending(run)
    assert (ask.title, ask.content.agent) == ("Why is the shop so slow?", "expert")
    assert ask.content.chain == "front > expert", "the person sees who asks for whom"
    assert told(front.desk, run) == HELPED[:4]
    assert [message.role for message in transcript(run)] == ["user", "assistant"]

    front.start("go on")
    assert told(front.desk, run) == HELPED[:4], "nobody has answered yet"
    front.desk.respond(ask, "The cache is off")
    front.start("go on")

    assert run.output == "expert says: human_assistance says: The cache is off"
    assert told(front.desk, run) == HELPED, "each model was asked twice, in two processes"
    assert front.desk.verify()


def test_s4_10_a_person_who_ends_it_ends_it_for_all_of_them(front: Program) -> None:
    run = front.start("ask", "Why is the shop so slow?")
    front.desk.reject(pending(run), "Ask somebody else", end=True)
    front.start("go on")

    assert run.status == "cancelled"
    assert told(front.desk, run) == [*HELPED[:5], "run.cancelled"]


def test_s4_6_a_plan_is_approved_and_then_each_step_of_it(
    door: Door, live: Desk, place: Place, tmp_path: Path
) -> None:
    house = House(door, live, place.url, tmp_path, "tea")
    run = house.begin()
    steps = [
        {"title": "Search for tea", "tool": "search", "needs_approval": True},
        {"title": "Read about tea", "tool": "read", "needs_approval": True},
    ]
    live.edit(pending(run), {"steps": steps})
    done: list[str] = []
    for step in steps:
        house.then("go on")
        ask = pending(run)
        assert (ask.tool, ask.args) == (step["tool"], {"subject": step["title"]})
        assert "approved plan wants a person's approval" in ask.content.sentence
        assert noted(tmp_path, "done") == done, "not before a person agrees to this very step"
        house.then("approve")
        done.append(f"{step['tool']}: {step['title']}")
    house.then("go on")

    assert (run.status, noted(tmp_path, "done")) == ("done", done)
    (plan,) = [step for step in run.memory if isinstance(step, PlanStep)]
    assert [step["title"] for step in plan.plan] == ["Search for tea", "Read about tea"]
