"""Several asks together: in bulk where little is at stake, and the calls of one turn."""

from __future__ import annotations

import base64
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

import sayso
from sayso import Desk
from sayso.agent import call as called
from sayso.model.ask import Ask
from tests.served import Served
from tests.web.inbox.browser import FORM, Tab, encoded, tab

_numbers = count(1)


@pytest.fixture
def agent() -> str:
    return f"crowd{next(_numbers)}"


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight seconds are enough for a person, and may be too few for a busy machine."""
    for page in ("bulk", "turn"):
        monkeypatch.setattr(f"sayso.web.inbox.{page}.HOLD", 300.0)


def call(desk: Desk, agent: str, **terms: Any) -> Ask:
    return desk.open("refund", {"order": next(_numbers)}, agent=agent, **{"risk": "low", **terms})


def bulk(anna: Tab, asks: list[Ask], verdict: str = "approve", **more: str) -> Tab:
    picks = [("pick", f"{ask.id} {ask.digest}") for ask in asks]
    anna.sent, anna.action = [*picks, ("verdict", verdict), *more.items()], "/inbox/bulk"
    return anna.send()


def results(anna: Tab) -> dict[str, str]:
    items = [li for li in anna.page.all("li") if li.inside("ul", class_="bulk-list")]
    return {li.all("a")[0].attrs["href"].rpartition("/")[2]: li.text for li in items}


def test_several_are_confirmed_by_title_and_then_decided_one_by_one(
    anna: Tab, desk: Desk, agent: str
) -> None:
    asks = [call(desk, agent) for _ in range(3)]
    anna.go(f"/inbox?agent={agent}")
    boxes = anna.page.all("input", class_="pick")
    assert len(boxes) == 3
    picks = [box.attrs["value"] for box in boxes]

    button = next(b for b in anna.page.all("button") if b.inside("div", class_="bulk-bar"))
    anna.press(button, pick=picks)
    assert anna.status == 200
    assert all(desk.get(ask.id).open for ask in asks), "nothing is decided before it is confirmed"
    desk.reject(asks[1], by="ada")
    anna.press(anna.page.one("button", name="sure"))

    assert "2 approved, 1 already rejected by ada" in anna.page.text
    assert [desk.get(ask.id).judged.by.id for ask in asks] == ["anna", "ada", "anna"]  # type: ignore[union-attr]
    assert desk.get(asks[0].id).settling, "each can be undone"


def test_the_same_bulk_sent_twice_decides_once(anna: Tab, desk: Desk, agent: str) -> None:
    asks = [call(desk, agent) for _ in range(2)]
    bulk(anna, asks, request="once", sure="1")
    before = desk.store.total()

    anna.send()

    assert "2 approved" in anna.page.text
    assert desk.store.total() == before


def test_what_was_decided_together_is_undone_together(anna: Tab, desk: Desk, agent: str) -> None:
    asks = [call(desk, agent) for _ in range(3)]
    desk.reject(asks[2], by="ada")
    bulk(anna, asks, back=f"?agent={agent}", sure="1")
    undo = anna.page.one("button", form="undo-all")
    form = anna.page.one("form", id="undo-all")
    assert [pick.attrs["value"] for pick in form.all("input", name="pick")] == [
        asks[0].id,
        asks[1].id,
    ], "what ada decided is not anna's to undo"
    assert len(anna.page.all("time", data_form="left")) == 1

    anna.press(undo, form="undo-all")

    assert anna.status == 200
    assert [desk.get(ask.id).status for ask in asks] == ["open", "open", "decided"]
    assert anna.page.one("h1").text == "2 open again"
    assert anna.page.one("a", class_="primary").attrs["href"] == f"/inbox?agent={agent}"
    before = desk.store.total()
    assert anna.send().page.one("h1").text == "2 open again", "twice is no more than once"
    assert desk.store.total() == before


def test_what_can_no_longer_be_undone_is_named(anna: Tab, desk: Desk, agent: str) -> None:
    asks = [call(desk, agent) for _ in range(2)]
    bulk(anna, asks, sure="1")
    desk.sweep(now=desk.store.now() + timedelta(hours=1))
    fresh = call(desk, agent)
    bulk(anna, [fresh], sure="1")
    picks = [("pick", ask.id) for ask in (*asks, fresh)]

    anna.sent, anna.action = [*picks, ("pick", "a-0000")], "/inbox/take-back"
    anna.send()

    assert anna.page.one("h1").text == "1 open again, 3 could no longer be taken back"
    said = results(anna)
    assert "open again" in said[fresh.id]
    assert "too late, it counts already: approved by anna" in said[asks[0].id]
    assert "not there" in said["a-0000"]
    assert [desk.get(ask.id).status for ask in (*asks, fresh)] == ["decided", "decided", "open"]


def test_nobody_undoes_together_what_others_decided(
    anna: Tab, server: Served, desk: Desk, agent: str
) -> None:
    asks = [call(desk, agent) for _ in range(2)]
    bulk(anna, asks, sure="1")
    ada = tab(server, "ada")

    ada.sent, ada.action = [("pick", ask.id) for ask in asks], "/inbox/take-back"
    ada.send()

    assert ada.page.one("h1").text == "2 could no longer be taken back"
    assert "only they can take it back" in results(ada)[asks[0].id]
    assert all(desk.get(ask.id).settling for ask in asks)
    assert ada.go("/inbox/take-back").answer.status_code == 200


@pytest.mark.parametrize("risk", ["high", "critical", None])
def test_where_much_is_at_stake_nothing_is_decided_in_bulk(
    anna: Tab, desk: Desk, agent: str, risk: str | None
) -> None:
    ask, light = call(desk, agent, risk=risk), call(desk, agent)

    anna.go(f"/inbox?agent={agent}&view=team")
    offered = [
        box.attrs["value"].partition(" ")[0] for box in anna.page.all("input", class_="pick")
    ]
    bulk(anna, [ask, light], sure="1")

    assert offered == [light.id]
    assert (desk.get(ask.id).open, desk.get(light.id).open) == (True, False)
    assert "open it" in results(anna)[ask.id]


@pytest.mark.parametrize(
    "said", ["x " * 2100, base64.b64encode(bytes(range(256)) * 4).decode()], ids=["long", "bytes"]
)
def test_what_nobody_can_read_in_a_line_is_not_decided_in_bulk(
    anna: Tab, desk: Desk, agent: str, said: str
) -> None:
    ask, light = (
        desk.open("refund", {"order": 1, "memo": memo}, agent=agent, risk="low")
        for memo in (said, "tea")
    )

    anna.go(f"/inbox?agent={agent}&view=team")
    offered = [
        box.attrs["value"].partition(" ")[0] for box in anna.page.all("input", class_="pick")
    ]
    bulk(anna, [ask, light])
    assert [a.attrs["href"] for a in anna.page.all("a") if a.text.startswith("Open")] == [
        f"/inbox/{ask.id}",
        f"/inbox/{light.id}",
    ]
    bulk(anna, [ask, light], sure="1")

    assert offered == [light.id]
    assert (desk.get(ask.id).open, desk.get(light.id).open) == (True, False)
    assert "open it" in results(anna)[ask.id]


def test_a_notice_of_high_risk_is_not_ignored_in_bulk(anna: Tab, desk: Desk, agent: str) -> None:
    grave = desk.put(desk.forms.notice("fire", agent=agent, risk="high").content)
    plain = desk.put(desk.forms.notice("tea", agent=agent).content)

    bulk(anna, [grave, plain], "reject", sure="1")

    assert (desk.get(grave.id).open, desk.get(plain.id).open) == (True, False)


def test_a_tier_counts_as_much_as_a_risk(server: Served, desk: Desk, agent: str) -> None:
    from sayso.web.inbox.bulk import too_grave

    ask = call(desk, agent)
    assert too_grave(ask) is None
    for tier in ("high", "critical", "wire-transfers"):
        content = ask.content.changed(ruling=f'{{"tier": "{tier}"}}')
        assert too_grave(ask.grown(content=content)) is not None


def test_several_kinds_are_refused(anna: Tab, desk: Desk, agent: str) -> None:
    asks = [call(desk, agent), desk.put(desk.forms.notice("tea", agent=agent).content)]

    bulk(anna, asks, "reject", sure="1")

    assert anna.status == 422
    assert "one kind" in anna.page.text
    assert all(desk.get(ask.id).open for ask in asks)


@pytest.mark.parametrize("verdict", ["edit", "respond", "", "nonsense"])
def test_only_yes_and_no_can_be_said_to_several(
    anna: Tab, desk: Desk, agent: str, verdict: str
) -> None:
    asks = [call(desk, agent), call(desk, agent)]

    assert bulk(anna, asks, verdict, sure="1").status == 422
    assert all(desk.get(ask.id).open for ask in asks)


def test_nothing_and_too_much_are_refused(anna: Tab, desk: Desk) -> None:
    many = [("pick", f"a-{n} x") for n in range(101)]

    for picks in ([], many):
        fields = encoded([*picks, ("verdict", "approve")])
        answer = anna.client.post("/inbox/bulk", content=fields, headers=FORM)
        assert answer.status_code == 422


def test_e33_an_ask_of_another_team_is_not_there_in_bulk(
    server: Served, desk: Desk, agent: str
) -> None:
    ask, own = call(desk, agent, team="billing"), call(desk, agent)
    ben = tab(server, "ben")

    bulk(ben, [ask, own])
    first = ben.page.text
    bulk(ben, [ask.grown(id="a-0000"), own])

    assert first.replace(ask.id, "a-0000") == ben.page.text
    assert desk.get(ask.id).open


# --- one turn ----------------------------------------------------------------------------------


@sayso.tool(risk="medium")
def send(to: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


@sayso.tool(risk="high")
def pay(to: str) -> str:
    """Pay somebody."""
    return f"paid {to}"


@pytest.fixture
def turn(desk: Desk) -> list[Ask]:
    """Three calls that an agent makes at once."""
    name = f"turner{next(_numbers)}"
    calls = [called("send", to="ada"), called("send", to="ben"), called("pay", to="cy")]
    model = sayso.ScriptedModel([calls, "Done."])
    agent = sayso.Agent(name, model, tools=[send, pay])
    run = desk.run(agent, "Tell them", wait=False)
    assert len(run.state.pending) == 3
    return list(run.state.pending)


def test_the_calls_of_a_turn_stand_on_one_page(anna: Tab, desk: Desk, turn: list[Ask]) -> None:
    anna.go(f"/inbox/{turn[1].id}")
    others = anna.page.one("section", aria_label="The same turn").all("a")
    assert [a.attrs["href"] for a in others] == [f"/inbox/{one.id}" for one in (turn[0], turn[2])]

    anna.go(f"/inbox/{turn[1].id}/turn")
    form = anna.page.one("form", class_="decide")
    button = form.all("button")[-1]
    anna.press(
        button,
        **{f"verdict:{turn[0].id}": "approve", f"verdict:{turn[1].id}": "reject"},
    )

    assert anna.status == 200
    said = [node.text for node in anna.page.all("p", class_="call-result")]
    assert [one.partition(",")[0] for one in said] == ["approved by anna", "rejected by anna"]
    assert desk.get(turn[2].id).open

    anna.press(anna.page.one("button", form="undo-all"), form="undo-all")

    assert anna.page.one("h1").text == "2 open again"
    assert all(desk.get(ask.id).open for ask in turn)


def test_one_of_a_turn_that_somebody_else_decided_does_not_stop_the_others(
    anna: Tab, desk: Desk, turn: list[Ask]
) -> None:
    anna.go(f"/inbox/{turn[0].id}/turn")
    desk.reject(turn[0], by="ada")
    seen = [(f"seen:{ask.id}", ask.digest) for ask in turn[:2]]
    verdicts = [(f"verdict:{ask.id}", "approve") for ask in turn[:2]]

    anna.sent, anna.action = [*seen, *verdicts], f"/inbox/{turn[0].id}/turn"
    anna.send()

    assert "already rejected by ada" in anna.page.text
    assert desk.get(turn[1].id).judged.verdict == "approve"  # type: ignore[union-attr]


def test_the_timeline_says_what_was_done_and_what_is_to_come(anna: Tab, desk: Desk) -> None:
    name = f"planner{next(_numbers)}"
    plan = [{"title": "Write to Ada", "tool": "send"}, {"title": "Pay Cy", "tool": "pay"}, "Rest"]
    model = sayso.ScriptedModel([plan, called("send", to="ada"), called("pay", to="cy"), "Done."])
    agent = sayso.Agent(name, model, tools=[send, pay], plan_every=9)
    run = desk.run(agent, "Tell them", wait=False)
    desk.approve(run.state.pending[0], by="anna")
    desk.resume(run, wait=False)
    desk.approve(run.state.pending[0], by="anna")
    desk.resume(run, wait=False)
    ask = run.state.pending[0]

    steps = anna.go(f"/inbox/{ask.id}").page.all("li", class_="tl")

    said = [(step.attrs["class"].split()[-1].removeprefix("tl-"), step.text) for step in steps]
    assert [state for state, _ in said] == ["done"] * (len(said) - 3) + ["wait", "todo", "todo"]
    assert "pay" in said[-3][1]
    assert "Pay Cy" in said[-2][1]
    assert "Rest" in said[-1][1]
