"""Runs as pages: every number is the one of Python and HTTP, and what people do there is done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from sayso import Agent, Ask, Desk, File, Run, ScriptedModel, tool
from sayso.agent import call
from sayso.channels.story import story
from sayso.model.actor import Actor
from sayso.model.event import Event, link
from sayso.web.pages import runs as pages
from sayso.web.pages.journal import PART, Part, journal_of
from tests import hostile
from tests.served import Served
from tests.web.inbox.browser import Node, Tab, tab

PLAN = call(
    "plan",
    steps=[
        {"title": "Look it up", "tool": "look_up"},
        {"title": "Pay it back", "tool": "refund"},
        {"title": "Write a line"},
    ],
)


def look_up(order: int) -> str:
    """Look an order up."""
    return f"order {order}: 40 EUR"


def refund(order: int, amount: int) -> str:
    """Pay money back."""
    return f"{amount} paid for {order}"


def count(run: Any, steps: int) -> int:
    for number in range(steps):
        run.step(abs, number)
    return steps


def fail(run: Any) -> None:
    raise RuntimeError("the till is empty")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """anna is senior in billing, ben in support, root is admin of both."""
    folder = tmp_path_factory.mktemp("runs")
    with Desk(f"sqlite:///{folder}/desk.db", agent="shop") as desk:
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ben", teams=["support"])
        desk.people.add("root", roles=["admin"], teams=["billing", "support"])
        desk.workflow(count)
        desk.workflow(fail)
        with Served(desk) as served:
            yield served


def clerk(script: Any, **given: Any) -> Agent:
    return Agent("clerk", ScriptedModel(script), [look_up, refund], confirm=["refund"], **given)


def carried(desk: Desk, work: Any, *given: Any, **named: Any) -> Run:
    """Start a run, and carry it on until it waits or is over."""
    return desk.run(work, *given, wait=False, **named)


def failed(desk: Desk) -> Run:
    run = desk.start(fail, team="billing")
    desk.work(until="idle", only=run.id)
    assert run.status == "failed"
    return run


def lines(page: Node) -> list[str]:
    return [node.attrs["id"].removeprefix("line-") for node in page.all("li", class_="run-line")]


def fact(page: Node, name: str) -> str:
    for pair in page.one("dl", class_="run-facts").all("div"):
        if pair.one("dt").text == name:
            return pair.one("dd").text
    raise AssertionError(f"nothing says {name}")


# --- the list ----------------------------------------------------------------------------------


def test_the_list_is_that_of_the_api_whatever_it_is_filtered_by(desk: Desk, anna: Tab) -> None:
    told = desk.start(count, 3, thread="order 7", team="billing")
    failed(desk)
    for query in (
        "",
        "?status=failed",
        "?workflow=count",
        "?thread=order+7",
        f"?begins={told.id[:6]}",
        "?status=failed&workflow=count",
    ):
        listed = anna.client.get(f"/api/v1/runs{query}").json()["runs"]
        assert lines(anna.go(f"/runs{query}").page) == [one["id"] for one in listed], query
    assert lines(anna.go("/runs?thread=order+7").page) == [told.id]
    assert "No run fits" in anna.go("/runs?workflow=nothing").page.text


def test_pages_of_the_list_follow_each_other_and_leave_nothing_out(
    desk: Desk, anna: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages.listed, "__defaults__", (2,))
    monkeypatch.setattr(pages, "_SHOWN", 2)
    all_of_them = [desk.start(count, 1, thread=f"t{n}", team="billing").id for n in range(5)]
    found: list[str] = []
    address = "/runs?workflow=count"
    while address and len(found) < 5:
        page = anna.go(address).page
        found += lines(page)
        older = [node.attrs["href"] for node in page.all("a") if node.text == "Older"]
        address = older[0] if older else ""

    assert found[:5] == all_of_them[::-1]


def test_runs_of_other_teams_are_absent_and_404(desk: Desk, server: Served) -> None:
    run = desk.start(count, 1, team="billing")
    ben = tab(server, "ben")

    assert run.id not in ben.go("/runs").answer.text
    assert run.id not in ben.go("/overview").answer.text
    assert ben.go(f"/runs/{run.id}").answer.status_code == 404
    assert ben.client.post(f"/runs/{run.id}/cancel").status_code == 404
    assert run.status == "ready"


# --- one run -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("cost", "said"), [(12345.67, "$12,345.67"), (0.0000123, "$0.0000123")])
def test_the_page_and_the_terminal_write_a_cost_for_people(cost: float, said: str) -> None:
    from sayso.cli.run_words import used
    from sayso.runs.usage import RunUsage

    usage = RunUsage(3, 1200, 80, cost, 2.0)

    assert dict(pages.costs_of(usage))["Cost"] == said
    assert used(usage) == f"3 model calls, 1,280 tokens, {said}"


def test_plan_progress_pending_and_next_are_those_of_the_run(desk: Desk, anna: Tab) -> None:
    script = [PLAN, call("look_up", order=7), call("refund", order=7, amount=40), "Done."]
    run = carried(desk, clerk(script, plan_every=9), "Pay order 7 back")
    desk.approve(run.state.pending[0], by="anna")
    desk.resume(run, wait=False)
    page = anna.go(f"/runs/{run.id}").page
    said = anna.client.get(f"/api/v1/runs/{run.id}").json()
    [ask] = run.state.pending

    marks = [node.attrs["class"].split()[1] for node in page.one("section", id="plan").all("li")]
    assert marks == ["tl-done", "tl-wait", "tl-todo"]
    assert [one["mark"] for one in said["plan"]] == ["done", "now", "todo"]
    assert run.state.progress == said["progress"]
    assert f"{run.state.progress:.0%}" in page.one("section", id="standing").text
    assert [one["id"] for one in said["pending"]] == [ask.id]
    assert page.one("section", id="pending").one("div", class_="panel-head").text.endswith(" 1")
    assert page.all(id=f"spot-{ask.id}") or ask.id in page.one("section", id="pending").text
    assert fact(page, "Next") == said["next"][0] == run.state.next[0]
    assert "Waiting for you" in page.one("section", id="standing").text


def test_a_run_that_no_worker_serves_says_so_with_the_command(desk: Desk, anna: Tab) -> None:
    run = desk.start(count, 1, team="billing")
    page = anna.go(f"/runs/{run.id}").page

    assert (
        f"sayso worker {run.row.path.partition(':')[0]}" in page.one("section", id="standing").text
    )
    assert anna.client.get(f"/api/v1/runs/{run.id}").json()["served"] is False


def test_a_long_journal_comes_in_parts_that_leave_nothing_out(desk: Desk, anna: Tab) -> None:
    run = carried(desk, count, 2 * PART + 30)
    address, told = f"/runs/{run.id}", 0
    for _ in range(4):
        page = anna.go(address).page
        told += len(page.one("section", id="what-it-did").all("li", class_="jrn-line"))
        before = [
            node.attrs["href"]
            for node in page.all("a")
            if node.text.startswith("Show what came before")
        ]
        if not before:
            break
        [address] = before

    assert told == run.state.steps == 2 * PART + 32


def test_a_call_that_began_again_after_a_retry_has_a_line_of_its_own() -> None:
    def event(seq: int, kind: str, **said: Any) -> Event:
        at = datetime(2026, 1, 5, 9, 0, seq * seq, tzinfo=UTC)
        actor = Actor("agent", "shop")
        return link("r-1", seq, kind, at=at, actor=actor, payload=said, salt=b"", previous=b"")

    error = {"kind": "OSError", "message": "the till is empty"}
    began, again = {"key": "1", "name": "pay"}, {"key": "1", "name": "pay", "attempt": 2}
    events = [
        event(1, "step.begun", **began, args={"amount": 40}),
        event(2, "step.failed", key="1", verb="call", name="pay", error=error),
        event(3, "run.retried", forgets=["1"]),
        event(4, "step.begun", **again, args={"amount": 55}),
    ]
    failure, _, open_one = journal_of(Part(events=events, asks=[], journals=[], first=1, last=4))

    assert (failure.id, open_one.id) == ("r-1.2", "r-1.4")
    assert "40" in failure.text
    assert "55" not in failure.text
    assert failure.took == "3.0 s"
    assert "55" in open_one.text
    assert len([row for row in story(events, []) if "55" in str(row.body)]) == 1


def test_memory_has_the_steps_that_python_and_the_api_have(desk: Desk, anna: Tab) -> None:
    run = carried(desk, clerk([call("look_up", order=7), "It was 40 EUR."]), "What was it?")
    page = anna.go(f"/runs/{run.id}?show=memory").page
    said = anna.client.get(f"/api/v1/runs/{run.id}/memory").json()["steps"]
    kinds = [node.text.lower() for node in page.all("span", class_="step-kind")]

    assert kinds == [one["step"] for one in said] == ["task", "action", "answer"]
    assert len(run.memory) == len(kinds)
    assert "order 7: 40 EUR" in page.one("section", id="what-it-did").text


def test_what_a_model_writes_stands_in_a_fence_and_hides_nothing(desk: Desk, anna: Tab) -> None:
    evil = f"{hostile.ALL}<script>alert(1)</script> Approved by anna"
    run = carried(desk, clerk([evil]), evil)
    answer = anna.go(f"/runs/{run.id}")
    fence = answer.page.one("section", id="what-it-did").all("div", class_="from-agent")

    assert any("Approved by anna" in node.text for node in fence)
    assert "<script>alert" not in answer.answer.text
    assert "\u202e" not in answer.answer.text


def test_what_a_run_came_to_stands_in_a_fence_wherever_it_is_told(desk: Desk, anna: Tab) -> None:
    run = carried(desk, clerk(["Approved by anna"]), "Say it", team="billing")
    broken = failed(desk)
    places = {
        "/overview": ("happened",),
        f"/runs/{run.id}": ("standing", "what-it-did"),
        f"/runs/{broken.id}": ("standing", "what-it-did"),
        "/runs": ("main",),
    }
    for address, sections in places.items():
        page = anna.go(address).page
        for each in sections:
            part = page.one("main") if each == "main" else page.one("section", id=each)
            fenced = " ".join(node.text for node in part.all(class_="from-agent"))
            for words in ("Approved by anna", "the till is empty"):
                assert part.text.count(words) == fenced.count(words), (address, each, words)
            assert "Approved by anna" in fenced or "the till is empty" in fenced, (address, each)


def test_what_a_run_of_no_team_asked_another_team_is_not_told(desk: Desk, server: Served) -> None:
    def both(run: Any) -> None:
        run.confirm("To billing?", team="billing")

    desk.workflow(both)
    run = carried(desk, both)
    [ask] = run.state.pending
    ben = tab(server, "ben").go(f"/runs/{run.id}")

    assert ben.answer.status_code == 200
    assert ask.id not in ben.answer.text
    assert "To billing?" not in ben.answer.text


def test_each_event_of_an_edited_ask_is_told_with_what_it_was_about(desk: Desk, anna: Tab) -> None:
    script = [call("refund", order=31, amount=40), "Paid."]
    run = carried(desk, clerk(script), "Pay", team="billing")
    [ask] = run.state.pending
    desk.edit(ask, {"amount": 30}, by="anna")
    desk.work(until="idle", only=run.id)

    told = anna.go(f"/runs/{run.id}").page.text

    assert "asked: Refund · 40 · order 31" in told
    assert "anna edited Refund · 40 · order 31: amount 40 -> 30" in told
    assert "anna approved as edited Refund · 30 · order 31" in told


# --- what people do ----------------------------------------------------------------------------


def test_a_run_is_stopped_in_two_steps_without_a_script_and_the_note_is_kept(
    desk: Desk, anna: Tab
) -> None:
    run = carried(desk, clerk([call("refund", order=7, amount=40)]), "Pay", team="billing")
    page = anna.go(f"/runs/{run.id}").page
    fold = page.one("details", id=f"stop-{run.id}")
    assert "open" not in fold.attrs
    anna.press(fold.one("button"), note="not today")

    assert anna.direct.status_code == 303
    assert (run.status, run.error) == ("cancelled", "not today")
    assert "The run is cancelled" in anna.page.one("div", id="toast").text
    assert not anna.page.all("details", id=f"stop-{run.id}")
    last = json.loads(desk.store.stream(run.id)[-1].text or "")
    assert (last["via"], desk.store.stream(run.id)[-1].actor.id) == ("web", "anna")


def test_a_run_that_waits_for_others_is_not_stopped_and_the_page_says_why_e59(
    server: Served, desk: Desk
) -> None:
    @tool(risk="high")
    def wire(order: int) -> None:
        raise AssertionError("nobody has approved it")

    model = ScriptedModel([call("wire", order=9)])
    run = carried(desk, Agent("clerk", model, [wire]), "Pay", team="billing")
    [ask] = run.state.pending
    root = tab(server, "root")
    page = root.go(f"/runs/{run.id}").page

    root.press(page.one("details", id=f"stop-{run.id}").one("button"))

    assert root.direct.status_code == 403
    assert f"{run.id} waits for {ask.id}" in root.page.text
    assert run.status == "waiting"


def test_a_run_can_be_stopped_beside_its_ask(desk: Desk, anna: Tab) -> None:
    run = carried(desk, clerk([call("refund", order=8, amount=40)]), "Pay", team="billing")
    [ask] = run.state.pending
    page = anna.go(f"/inbox/{ask.id}").page
    anna.press(page.one("details", id=f"stop-{run.id}").one("button"))

    assert run.status == "cancelled"
    assert desk.get(ask.id).status == "withdrawn"


def test_a_failed_run_is_retried_and_what_cannot_be_says_why(desk: Desk, anna: Tab) -> None:
    run = failed(desk)
    page = anna.go(f"/runs/{run.id}").page
    assert "the till is empty" in page.one("section", id="standing").text
    anna.press(page.one("details", id="retry").one("button"))
    assert run.status == "ready"

    anna.send()
    assert anna.status == 409
    assert anna.page.one("body").attrs["data-live-from"] == f"/runs/{run.id}"
    assert "Nothing was changed" in anna.page.text


def test_what_a_run_asks_is_decided_on_its_page_and_taken_back_there(desk: Desk, anna: Tab) -> None:
    run = carried(desk, clerk([call("refund", order=9, amount=40)]), "Pay", team="billing")
    [ask] = run.state.pending
    page = anna.go(f"/runs/{run.id}").page
    assert "40" in page.one("details", id=f"spot-{ask.id}").text
    [approve] = [
        one for one in page.one("form", id=f"here-{ask.id}").all("button") if one.text == "Approve"
    ]
    anna.press(approve)

    assert anna.direct.headers["location"] == f"/runs/{run.id}?done={ask.id}"
    assert desk.get(ask.id).status == "settling"
    anna.press(anna.held(ask.id).one("button"))
    assert anna.direct.headers["location"] == f"/runs/{run.id}"
    assert desk.get(ask.id).open


def test_what_has_more_than_a_spot_shows_is_only_reviewed(desk: Desk, anna: Tab) -> None:
    run = carried(desk, clerk([call("refund", order=10, amount=40)]), "Pay", team="billing")

    def also(amount: int, **terms: Any) -> Ask:
        args = {"order": 10, "amount": amount}
        return desk.open("refund", args, run=run.id, team="billing", risk="low", **terms)

    plain, filed = also(1), also(2, files=[File("receipt.txt", b"2 EUR")])
    edited = also(3, needs=["1 senior", "1 admin"])
    desk.edit(edited, {"amount": 30}, by="root")
    assert desk.get(edited.id).open
    pending = anna.go(f"/runs/{run.id}").page.one("section", id="pending")

    assert pending.all("form", id=f"here-{plain.id}")
    for ask in (filed, edited):
        assert not pending.all("form", id=f"here-{ask.id}")
        assert [one.text[:6] for one in pending.all("a", href=f"/inbox/{ask.id}")][-1] == "Review"


def test_e39_beside_its_run_too_a_preview_that_was_sent_is_the_word_of_the_agent(
    server: Served, desk: Desk, anna: Tab
) -> None:
    """Only code works out what a call would do: no request says that of itself."""
    run = carried(desk, clerk([call("refund", order=12, amount=40)]), "Pay", team="billing")
    said = {"preview": {"to be paid": "4.00 EUR"}, "facts": {"checked": "by the bank"}}
    body = {"tool": "transfer", "args": {"amount": 900}, "run": run.id, "team": "billing", **said}
    answer = server.person("root").post("/api/v1/asks", json=body)
    assert answer.status_code == 201, answer.text

    spot = anna.go(f"/runs/{run.id}").page.one("details", id=f"spot-{answer.json()['id']}")

    assert "The agent says to be paid 4.00 EUR" in spot.text
    assert "The agent says checked by the bank" in spot.text
    assert "Worked out" not in spot.text


def test_of_many_asks_ten_are_drawn_and_the_inbox_has_the_others(desk: Desk, anna: Tab) -> None:
    run = carried(desk, clerk([call("refund", order=11, amount=40)]), "Pay", team="billing")
    for number in range(12):
        desk.open("refund", {"order": 11, "amount": number}, run=run.id, team="billing", risk="low")
    pending = anna.go(f"/runs/{run.id}").page.one("section", id="pending")
    [more] = [node for node in pending.all("a") if node.text == "and 3 more"]

    assert len(pending.all("details", class_="spot")) == 10
    assert more.attrs["href"] == f"/inbox?view=team&run={run.id}"
    assert anna.go(more.attrs["href"]).answer.text.count("Refund") >= 13


def test_what_comes_next_is_the_same_on_every_part_of_a_long_journal(
    desk: Desk, anna: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(run: Any) -> None:
        for number in range(PART + 5):
            run.step(abs, number)
        run.confirm("Go on?")

    desk.workflow(slow)
    run = carried(desk, slow)
    monkeypatch.setattr(pages, "_WHOLE", 100)
    parts = [anna.go(f"/runs/{run.id}{query}").page for query in ("", "?upto=50")]

    assert [fact(page, "Next") for page in parts] == [run.state.next[0]] * 2
