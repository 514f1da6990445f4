"""The overview: the figures on it are those of Python and of the API."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sayso import Agent, Ask, Desk, Run, ScriptedModel, tool
from sayso.access.caller import Caller
from sayso.agent import call
from sayso.channels.headline import headline
from sayso.channels.story import told
from sayso.errors import BadPolicy
from sayso.insight.metrics import measure
from sayso.insight.waiting import Waiting
from sayso.runs.outlook import Outlook, outlook
from sayso.store.contract import Current
from sayso.testing import FakeClock
from sayso.web.pages import happened as overview_happened
from sayso.web.pages.happened import happened
from sayso.web.pages.overview import figures_of, waiting_words
from sayso.web.visit import Visit
from tests.channels.receivers import receiving
from tests.served import Served
from tests.web.inbox.browser import Node, tab


def test_figures_without_anything_to_measure_say_so(local: Desk) -> None:
    for figure in figures_of(measure(local.store, days=7), "7 days"):
        assert (figure.value, figure.change) == ("-", "")
        assert "nothing to measure" in figure.more


# --- how everything stands ---------------------------------------------------------------------


def pay(run: Any, amount: int) -> bool:
    return bool(run.confirm(f"Pay {amount}?"))


def fail(run: Any) -> None:
    raise RuntimeError("the till is empty")


def refund(order: int, amount: int) -> str:
    """Pay money back."""
    return f"{amount} paid for {order}"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """anna is senior in billing, ben in support, root is admin of both."""
    with Desk(f"sqlite:///{tmp_path}/desk.db", agent="shop") as desk:
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ben", teams=["support"])
        desk.people.add("root", roles=["admin", "security"], teams=["billing", "support"])
        desk.workflow(pay)
        desk.workflow(fail)
        with Served(desk) as served:
            yield served


def attention(page: Node) -> list[str]:
    return [node.text for node in page.one("section", id="attention").all("li")]


def test_a_calm_desk_needs_nobody(served: Served) -> None:
    page = tab(served, "anna").go("/overview").page

    assert attention(page) == ["Nothing needs you.", "Nothing waits for people. Inbox"]
    assert "Nothing runs." in page.one("section", id="runs").text
    assert "Nothing has happened of late." in page.one("section", id="happened").text
    assert served.desk.outlook()["attention"] == []


def test_a_policy_that_cannot_be_used_is_the_first_thing_that_needs_somebody(
    tmp_path: Path,
) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("[[rules]]\nname = 3\n")
    with Desk(f"sqlite:///{tmp_path}/desk.db", policy=file, agent="shop") as desk:
        desk.people.add("root", roles=["admin"])
        desk.people.add("anna")
        with pytest.raises(BadPolicy, match="name"):
            desk.open("refund", {"amount": 1})
        with Served(desk) as served:
            root, anna = tab(served, "root"), tab(served, "anna")
            first = root.go("/overview").page.one("section", id="attention").all("li")[0]
            told = attention(anna.go("/overview").page)[0]
            said = root.client.get("/api/v1/outlook").json()["attention"][0]
            others = anna.client.get("/api/v1/outlook").json()["attention"][0]
        ours = desk.outlook()["attention"][0]

    assert said == ours
    assert (ours["need"], ours["command"]) == ("policy", "sayso policy check")
    assert ours["text"].startswith("No policy can be used, so every ask is refused until it is")
    assert f"{file}:2" in ours["text"]
    assert ours["text"] in first.text
    assert "See what is wrong: sayso policy check" in first.text
    assert first.all("a", href="/policies")
    assert "An administrator sees why" in told
    assert "policy.toml" not in f"{told} {others}"


def test_queue_age_is_that_of_the_asks(local: Desk, clock: FakeClock) -> None:
    for wait in ("10m", "20m", "5m"):
        local.open("pay", {"wait": wait})
        clock.advance(wait)
    found = outlook(local.store, teams=None)

    assert (found.waiting.count, found.waiting.oldest, found.waiting.p50) == (
        local.inbox().count,
        timedelta(minutes=35),
        timedelta(minutes=25),
    )
    said = local.outlook()["waiting"]
    assert said == {"count": 3, "more": False, "oldest_seconds": 2100, "p50_seconds": 1500}
    words = "3 asks wait for people: half for 25 min or longer, the oldest for 35 min."
    assert waiting_words(found) == words


def test_more_than_a_thousand_that_wait_are_said_to_be_more() -> None:
    hour = timedelta(hours=1)
    found = Outlook(datetime.now(UTC), (), {}, Waiting(1001, 2 * hour, hour), ())
    assert waiting_words(found).startswith("1,000+ asks wait")
    assert found.waiting.to_json()["more"] is True


def test_what_needs_attention_is_counted_as_python_and_the_api_count_it(
    served: Served, tmp_path: Path
) -> None:
    desk, root = served.desk, tab(served, "root")
    failed = desk.start(fail, team="billing")
    desk.work(until="idle", only=failed.id)
    for number in range(2):
        desk.start(pay, number, team="billing")
    with closing(sqlite3.connect(tmp_path / "desk.db")) as db, db:  # an hour, and not just now
        db.execute("update runs set changed_at = changed_at - 3600000000 where status = 'ready'")
    ask = desk.open("pay", {"n": 1}, needs=["1 senior"], team="billing")
    desk.people.remove("anna")
    desk.approve(desk.open("pay", {"n": 2}), by="root")
    said = {one["need"]: one for one in root.client.get("/api/v1/outlook").json()["attention"]}
    ours = {one["need"]: one for one in desk.outlook()["attention"]}
    shown = " ".join(attention(root.go("/overview").page))

    assert ours == said
    counts = {need: one["count"] for need, one in said.items()}
    assert counts == {"failed": 1, "unserved": 2, "undecidable": 1}
    assert ask.id not in shown  # the inbox has it
    for one in said.values():
        assert one["text"].rstrip(".") in shown
    command = f"sayso worker {__name__}"
    assert said["unserved"]["command"] == command
    assert command in shown


def test_doubts_parked_runs_and_dead_letters_need_attention(local: Desk) -> None:
    store = local.store
    stand = Current((), {"parked": 3, "waiting": 0, "running": 0, "ready": 0})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "runs_now", lambda *_: stand)
        patch.setattr(store, "delivery_counts", lambda: {"dead": 2, "waiting": 1})
        found = {one.need: one for one in outlook(store, teams=None).attention}
        without = outlook(store, teams=None, deliveries=False).attention
    assert found["parked"].text == "3 runs are parked and cannot go on without a person"
    assert found["undelivered"].text == "2 messages to webhooks never arrived"
    assert [one.need for one in without] == ["parked"]


def test_messages_that_never_arrived_are_a_click_away_and_sent_again_there(
    served: Served, tmp_path: Path
) -> None:
    desk, root = served.desk, tab(served, "root")
    with receiving() as receiver:
        desk.webhooks.add(receiver.url, "ask.opened", allow_private=True)
        desk.open("pay", {"n": 1})
        desk.deliver()
    with closing(sqlite3.connect(tmp_path / "desk.db")) as db, db:
        db.execute("update deliveries set status = 'dead'")
    line = next(
        one
        for one in root.go("/overview").page.one("section", id="attention").all("li")
        if "1 message to webhooks never arrived" in one.text
    )

    assert line.all("code") == [], "the page has it, so nothing is to be typed"
    page = root.go(line.one("a").attrs["href"]).page
    assert "Send again" in page.one("section", id="deliveries").one("tbody").text
    assert "never arrived" not in tab(served, "anna").go("/overview").answer.text
    said = root.client.get("/api/v1/outlook").json()["attention"]
    assert [one["command"] for one in said] == ["sayso webhooks deliveries --status dead"]


def test_other_teams_are_not_counted(served: Served) -> None:
    desk = served.desk
    desk.start(pay, 1, team="billing")
    desk.open("pay", {"n": 1}, team="billing")
    failed = desk.start(fail, team="billing")
    desk.work(until="idle", only=failed.id)
    ben = tab(served, "ben")
    page = ben.go("/overview").page

    assert attention(page) == ["Nothing needs you.", "Nothing waits for people. Inbox"]
    assert ben.client.get("/api/v1/outlook").json()["runs"]["ready"]["count"] == 0
    assert "failed" not in page.one("section", id="happened").text
    assert failed.id not in ben.answer.text


# --- what happened -----------------------------------------------------------------------------


def test_what_happened_is_told_in_the_words_of_the_terminal(served: Served) -> None:
    desk, anna = served.desk, tab(served, "anna")
    approved = desk.open("pay_back", {"amount": 5}, agent="clerk", team="billing")
    desk.approve(approved, by="anna", note="fine")
    edited = desk.open("pay_back", {"amount": 6}, agent="clerk", team="billing")
    desk.edit(edited, {"amount": 7}, by="anna")
    rejected = desk.open("pay_back", {"amount": 8}, agent="clerk", team="billing")
    desk.reject(rejected, by="anna")
    failed = desk.start(fail, team="billing")
    desk.work(until="idle", only=failed.id)
    lines = [
        node.text for node in anna.go("/overview").page.one("section", id="happened").all("li")
    ]

    assert lines[0].startswith("fail failed: RuntimeError: the till is empty")
    for word, ask in (
        ("rejected", rejected),
        ("approved as edited", edited),
        ("approved", approved),
    ):
        event = next(e for e in desk.store.stream(ask.id) if e.kind == "ask.decided")
        now = desk.get(ask.id)
        told_there = told(event, now, called=headline(now)).plain
        assert any(line.startswith(told_there) and line.endswith("clerk") for line in lines), word
        assert told_there.startswith(f"anna {word} Pay back")


def test_what_happened_is_told_with_the_arguments_of_then(served: Served) -> None:
    desk, anna = served.desk, tab(served, "anna")
    ask = desk.open("label", {"ticket": 3, "label": "bug"}, agent="clerk", team="billing")
    desk.edit(ask, {"label": "feature"}, by="anna")

    told = anna.go("/overview").page.one("section", id="happened").text

    assert "clerk asked: Label · bug · ticket 3" in told
    assert "anna approved as edited Label · feature · ticket 3" in told


def test_a_quiet_team_on_a_busy_desk_sees_what_happened_last_of_its_own(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, anna = served.desk, tab(served, "anna")
    desk.reject(desk.open("quiet_call", {"n": 1}, team="billing"), by="anna")
    ended = desk.start(fail, team="billing")
    desk.work(until="idle", only=ended.id)
    monkeypatch.setattr(overview_happened, "_LOOKED_AT", 20)
    for number in range(30):
        desk.open("busy", {"n": number}, team="support")

    said = anna.go("/overview").page.one("section", id="happened").text

    assert "Quiet call" in said
    assert ended.id in said
    assert "Busy" not in said


def test_what_the_policy_allowed_is_told_by_what_came_of_it_alone(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rules]]\nname = "free"\ntools = ["look_up"]\neffect = "allow"\n')
    with Desk(f"sqlite:///{tmp_path}/desk.db", policy=policy) as desk:

        @desk.gate(risk="low")
        def look_up(order: int) -> str:
            return f"order {order}"

        look_up(7)
        visit = Visit(desk, Caller("person", None, frozenset(), "link", "s-1"))
        [line] = happened(visit)
    assert line.text == 'look_up done: "order 7"'


# --- on the spot -------------------------------------------------------------------------------


def waiting_run(desk: Desk, **terms: Any) -> tuple[Run, Ask]:
    model = ScriptedModel([call("refund", order=7, amount=40)])
    agent = Agent("clerk", model, [tool(refund, **terms)], confirm=["refund"])
    run = desk.run(agent, "Pay order 7 back", wait=False, team="billing")
    return run, run.state.pending[0]


def test_an_ask_is_approved_on_the_spot_and_can_be_undone(served: Served) -> None:
    desk, anna = served.desk, tab(served, "anna")
    run, ask = waiting_run(desk, risk="low")
    page = anna.go("/overview").page
    spot = page.one("details", id=f"spot-{ask.id}")
    assert "amount 40" in spot.text, "whoever decides sees what would happen"
    assert (
        spot.one("form", id=f"here-{ask.id}").one("input", name="seen").attrs["value"] == ask.digest
    )
    assert "Waiting for you" in page.one("li", id=f"line-{run.id}").text

    [approve] = [
        one for one in spot.one("form", id=f"here-{ask.id}").all("button") if one.text == "Approve"
    ]
    anna.press(approve)
    assert anna.direct.headers["location"] == f"/overview?done={ask.id}"
    assert desk.get(ask.id).settling
    assert anna.page.one("div", id="toast").text.startswith("Approved: Refund")
    anna.press(anna.held(ask.id).one("button"))
    assert anna.direct.headers["location"] == "/overview"
    assert desk.get(ask.id).open


def test_an_ask_is_edited_on_the_spot(served: Served) -> None:
    desk, anna = served.desk, tab(served, "anna")
    _, ask = waiting_run(desk, risk="medium")
    spot = anna.go("/overview").page.one("details", id=f"spot-{ask.id}")
    form = spot.one("form", id=f"edits-{ask.id}")
    anna.press(form.one("button", name="verdict"), **{"/amount": "30"})

    assert anna.direct.status_code == 303, anna.summary
    assert desk.get(ask.id).args == {"order": 7, "amount": 30}
    judged = desk.get(ask.id).judged
    assert judged is not None
    assert judged.verdict == "edit"


@pytest.mark.parametrize("risk", ["high", "critical"])
def test_what_weighs_much_is_only_reviewed(served: Served, risk: str) -> None:
    _, ask = waiting_run(served.desk, risk=risk)
    line = tab(served, "anna").go("/overview").page.one("section", id="runs")

    assert line.all("form") == []
    assert [node.attrs["href"] for node in line.all("a", class_="btn")] == [f"/inbox/{ask.id}"]


@pytest.mark.parametrize(
    "back",
    [
        "//evil.example/overview",
        "https://evil.example",
        "/overview/../x",
        "/runs//x",
        "/overview\r\nX: 1",
    ],
)
def test_nobody_is_sent_anywhere_but_to_our_pages(served: Served, back: str) -> None:
    desk, anna = served.desk, served.signed_in("anna")
    _, ask = waiting_run(desk, risk="low")
    sent = {"verdict": "approve", "seen": ask.digest, "back": back, "request": "one"}
    answer = anna.post(f"/inbox/{ask.id}/decision", data=sent)

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/inbox")


def test_a_line_is_drawn_from_two_points_on_and_broken_where_there_was_nothing() -> None:
    from sayso.web.look.marks import spark

    assert spark([None, 0.5, None], "one") == ""
    drawn = spark([0.0, None, 1.0, 0.5], "went up & down")
    assert drawn.count("M") == 2
    assert "L" in drawn
    assert 'aria-label="went up &amp; down"' in drawn
