"""A run that is too long to be read whole says what a short one does, at a bounded cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import sayso
from sayso import Agent, Desk, Run, ScriptedModel
from sayso.agent import Reply, Usage, call
from sayso.runs import lengthy
from sayso.web.pages import runs as pages
from tests.served import Served
from tests.web.inbox.browser import Node, tab

PLAN = call(
    "plan",
    steps=[
        {"title": "Look it up", "tool": "look_up"},
        {"title": "Pay it back", "tool": "pay"},
        {"title": "Write a line"},
    ],
)


def look_up(order: int) -> dict[str, Any]:
    """Look an order up; what it says looks like a step of a model."""
    return {"verb": "model", "usage": {"input": 9000, "cost": 7.0}, "order": order}


@sayso.tool(risk="high", later=True)
def pay(order: int, amount: int) -> str:
    """Pay money back."""
    return f"{amount} paid for {order}"


def said(reply: Any, number: int) -> Reply:
    return Reply(
        text="" if not isinstance(reply, str) else reply,
        calls=() if isinstance(reply, str) else (reply,),
        usage=Usage(input=100 + number, output=number, cost=0.001),
    )


@pytest.fixture
def served(local: Desk) -> Iterator[Served]:
    """anna decides."""
    local.people.add("anna", roles=["senior"])
    with Served(local) as served:
        yield served


def planned(desk: Desk, looks: int = 1) -> Run:
    """A run with a plan that was approved, and a call of it that waits in the queue."""
    script = [PLAN, *(call("look_up", order=n) for n in range(looks))]
    replies = [*script, call("pay", order=7, amount=40), "I wait for it."]
    model = ScriptedModel([said(one, number) for number, one in enumerate(replies)])
    clerk = Agent("clerk", model, [look_up, pay], plan_every=10_000, max_steps=10_000)
    run = desk.run(clerk, "Pay order 7 back", wait=False)
    desk.approve(run.state.pending[0], by="anna")
    desk.resume(run, wait=False)
    return run


def facts(page: Node) -> dict[str, str]:
    pairs = page.one("dl", class_="run-facts").all("div")
    return {pair.one("dt").text: pair.one("dd").text for pair in pairs}


def plan(page: Node) -> list[tuple[str, str]]:
    found = page.one("section", id="plan").all("li")
    return [(one.attrs["class"].split()[1], one.one("p", class_="tl-title").text) for one in found]


def test_costs_and_plan_are_those_of_the_run_read_whole(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, anna = planned(served.desk, looks=3), tab(served, "anna")
    whole = anna.go(f"/runs/{run.id}").page
    monkeypatch.setattr(pages, "_WHOLE", 1)
    monkeypatch.setattr(served.desk.store, "history", lambda *_: pytest.fail("it was read whole"))
    long = anna.go(f"/runs/{run.id}").page

    assert facts(long) == facts(whole)
    assert facts(long)["Model calls"] == "6"
    assert facts(long)["Tokens"] == "615 read, 15 written"
    assert facts(long)["Cost"] == "$0.006"
    assert plan(long) == plan(whole)
    told = anna.client.get(f"/api/v1/runs/{run.id}").json()["plan"]
    assert [one["mark"] for one in told] == ["now", "wait", "todo"], "one waits in the queue"
    assert [mark for mark, _ in plan(long)] == ["tl-wait", "tl-wait", "tl-todo"]


def test_no_more_is_added_up_than_a_bound_and_the_page_says_so(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, anna = planned(served.desk, looks=3), tab(served, "anna")
    monkeypatch.setattr(pages, "_WHOLE", 1)
    for room in (lengthy, pages):
        monkeypatch.setattr(room, "ADDED_UP", 4)
    found = facts(anna.go(f"/runs/{run.id}").page)

    first = [event for event in run.events if event.seq <= 4]
    replies = [event for event in first if (event.payload or {}).get("verb") == "model"]
    assert found["Model calls"] == f"{len(replies)}"
    assert found["Costs"] == "those of its first 4 events"


def test_a_plan_that_another_team_was_asked_about_is_not_shown(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = served.desk
    desk.people.add("ben", teams=["support"])
    run = planned(desk)
    monkeypatch.setattr(pages, "_WHOLE", 1)
    monkeypatch.setattr(pages, "_sees", lambda *_: False)

    assert plan(tab(served, "anna").go(f"/runs/{run.id}").page) == []
