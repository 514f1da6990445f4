"""The plan of an agent over HTTP, end to end (S1.2, S1.3, S1.5, S1.7): seen, modified, cancelled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from sayso import Agent, Desk, Run, ScriptedModel
from sayso.agent import Message, call
from tests.places import Place
from tests.served import served

DRAFT = ["Search for tea", "Search for coffee"]


@dataclass
class Research:
    """An agent that plans, and anna, who knows nothing of it but an address and a token."""

    desk: Desk
    anna: httpx2.Client
    searched: list[str] = field(default_factory=list)

    def begin(self) -> Run:
        return self.desk.run(self._agent(), "What do people drink?", wait=False)

    def _agent(self) -> Agent:
        def search(topic: str) -> str:
            """Search for something."""
            self.searched.append(topic)
            return f"a page on {topic}"

        return Agent("researcher", ScriptedModel(think), [search], plan_every=9)

    def plan(self, run: Run) -> dict[str, Any]:
        """Return the plan that waits, as anna gets it."""
        (waiting,) = self.get(f"runs/{run.id}")["pending"]
        return self.get(f"asks/{waiting['id']}")

    def decide(self, ask: dict[str, Any], verdict: str, **said: object) -> int:
        """Let anna decide, and return the status of the answer."""
        body = {"verdict": verdict, "seen": ask["digest"], **said}
        return self.anna.post(f"/api/v1/asks/{ask['id']}/decision", json=body).status_code

    def get(self, path: str) -> dict[str, Any]:
        answer = self.anna.get(f"/api/v1/{path}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


def think(messages: Sequence[Message], tools: Sequence[str]) -> Any:
    """Follow the plan that is shown, not the one that was made."""
    if tuple(tools) == ("plan",):
        return DRAFT
    shown = next(m.text for m in reversed(messages) if "Follow it:" in m.text)
    topics = [line.partition("Search for ")[2] for line in shown.splitlines()[1:]]
    found = [message.text for message in messages if message.role == "tool"]
    return call("search", topic=topics[len(found)]) if len(found) < len(topics) else found[-1]


@pytest.fixture
def research(live: Desk, place: Place) -> Iterator[Research]:
    live.people.add("anna")
    with served(live) as server:
        yield Research(live, server.person("anna"))


def test_s1_2_a_plan_is_seen_and_modified_over_http_and_that_is_what_is_followed(
    research: Research,
) -> None:
    run = research.begin()
    plan = research.plan(run)
    steps = plan["content"]["proposal"]["args"]["steps"]
    assert (plan["kind"], [step["title"] for step in steps]) == ("plan", DRAFT)
    assert research.searched == []

    assert research.decide(plan, "edit", args={"steps": ["Search for water"]}) == 200
    research.desk.resume(run, wait=False)

    assert (run.status, research.searched) == ("done", ["water"])
    steps = research.get(f"runs/{run.id}/memory")["steps"]
    assert [step["step"] for step in steps] == ["task", "plan", "decision", "action", "answer"]
    assert steps[1]["plan"] == [{"title": "Search for water"}]
    assert (steps[3]["args"], steps[3]["result"]) == ({"topic": "water"}, "a page on water")
