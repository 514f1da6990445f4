"""Every number on the pages beside the inbox is the one of HTTP and of Python.

One test for each number, on both databases: what the page draws, what the API answers, and what Python
says, as one text. Numbers that are the page's own are named at the end, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import httpx2
import pytest

from sayso import Agent, Desk, Run, ScriptedModel
from sayso.access.passwords import set_password
from sayso.access.sessions import IDLE, LASTS
from sayso.agent import Reply, Usage, call
from sayso.asks.lawbook import default_policy
from sayso.asks.spending import begin
from sayso.insight import trail
from sayso.insight.record import track_record
from sayso.insight.trail import Wanted, look
from sayso.model.money import say_dollars
from sayso.model.span import say_span
from sayso.policy.facts import Facts
from sayso.policy.trying import tried
from sayso.runs.following import Following
from sayso.store.contract import Lease, RunQuery
from sayso.store.outbox import Status
from sayso.testing import FakeClock
from sayso.web.pages import audit
from tests.places import Place
from tests.served import Served
from tests.together import until
from tests.trusted import written
from tests.web.inbox.browser import Node, Tab, tab

POLICY = """
[[rules]]
name = "reading is free"
tools = ["search"]
effect = "allow"

[[rules]]
name = "large refunds"
tools = ["refund"]
when = "args.amount > 100"
effect = "ask"
needs = ["1 senior"]
"""
HOUR = "1h"


def wants(run: Any, many: int) -> list[Any]:
    """Ask for as many at once."""
    asks = (partial(run.confirm, f"Pay {number}?") for number in range(many))
    return run.gather(*asks)  # type: ignore[no-any-return]


def fail(run: Any) -> None:
    raise RuntimeError("the till is empty")


def count(run: Any, steps: int) -> int:
    for number in range(steps):
        run.step(abs, number)
    return steps


def look_up(order: int) -> str:
    """Look an order up."""
    return f"order {order}: 40 EUR"


def refund(order: int, amount: int) -> str:
    """Pay money back."""
    return f"{amount} paid for {order}"


def search(text: str) -> str:
    """Look something up."""
    return text


PLAN = call(
    "plan",
    steps=[{"title": "Look it up", "tool": "look_up"}, {"title": "Pay", "tool": "refund"}],
)


@dataclass(frozen=True)
class Scene:
    """A desk on which there is some of everything, and who looks at it."""

    desk: Desk
    client: httpx2.Client
    page: Tab
    run: Run  # of an agent: a plan, costs, an ask that waits
    long: Run  # of more events than one page tells
    asking: Run  # of more asks than are drawn beside it
    ask: str  # edited, decided by two, carried out
    hook: str

    def json(self, path: str) -> Any:
        """What HTTP answers."""
        answer = self.client.get(path, headers={"Accept": "application/json"})
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def scene(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    folder, clock = tmp_path_factory.mktemp("numbers"), FakeClock()
    place = Place("sqlite", f"sqlite:///{folder}/desk.db")
    if request.param == "postgres":
        place = Place("postgres", request.getfixturevalue("cluster"))
        place.clear()
    file = folder / "policy.toml"
    file.write_text(POLICY)
    with Desk(place.url, agent="shop", account="sam@till", clock=clock, policy=file) as desk:
        desk.people.add("anna", roles=["senior"], teams=["billing"])
        desk.people.add("ben", roles=["security"], teams=["support"])
        desk.people.add("root", roles=["admin", "senior"], teams=["billing", "support"])
        with Served(desk) as served:
            yield _filled(served, clock, place)


def _filled(served: Served, clock: FakeClock, place: Place) -> Scene:
    desk = served.desk
    for flow in (wants, fail, count):
        desk.workflow(flow)
    _decided(desk, clock, approved=1, edited=0, rejected=2, after="40s")
    clock.advance("7d")
    _decided(desk, clock, approved=2, edited=1, rejected=2, after="50s")
    _searched(desk, 1)
    clock.advance("2d")
    _decided(desk, clock, approved=3, edited=1, rejected=1, after="90s")
    _searched(desk, 3)
    ask = _recorded(desk)
    _harmed(desk, clock)
    _doubted(desk, clock)
    run = _agent(desk, clock)
    long, asking = desk.run(count, 130, wait=False), desk.run(wants, 13, wait=False)
    for flow, given in ((fail, ()), (count, (1,)), (count, (2,)), (count, (3,))):
        started = desk.start(flow, *given, team="billing")
        if flow is fail:
            desk.work(until="idle", only=started.id)
    for number in range(2):  # only ben could
        desk.open("pay", {"n": number}, needs=["1 security"], team="support")
    hook = _told(desk, place)
    _accounts(served, clock)
    desk.seal()
    desk.erase(desk.reject(desk.open("pay", {"n": 99}), by="root").id, note="asked for")
    page = tab(served, "root")
    return Scene(desk, page.client, page, run, long, asking, ask, hook)


def _decided(
    desk: Desk, clock: FakeClock, *, approved: int, edited: int, rejected: int, after: str
) -> None:
    for number in range(approved + edited + rejected):
        args = {"order": number, "amount": 5}
        ask = desk.open("refund", args, risk="medium", team="billing")
        clock.advance(after)
        if number < approved:
            desk.approve(ask, by="anna")
        elif number < approved + edited:
            desk.edit(ask, {"amount": 4}, by="anna")
        else:
            desk.reject(ask, by="anna")


def _searched(desk: Desk, times: int) -> None:
    gate = desk.gate(risk="low")(search)
    for number in range(times):
        gate(f"order {number}")


def _recorded(desk: Desk) -> str:
    ask = desk.open("refund", {"order": 7, "amount": 1240}, needs=["1 senior", "1 security"])
    desk.edit(ask, {"amount": 990}, by="anna")
    desk.approve(desk.get(ask.id), by="ben")
    desk.finish(desk.begin(ask.id), result={"id": "rf-1"})
    return ask.id


def _harmed(desk: Desk, clock: FakeClock) -> None:
    """What somebody looked at for a while did harm all the same; and something else runs alone."""
    ask = desk.open("refund", {"order": 8, "amount": 6}, risk="medium", team="billing")
    clock.advance("20s")
    desk.claim(ask, by="anna")
    clock.advance("30s")
    desk.approve(ask, by="anna")
    desk.finish(desk.begin(ask), result={"id": "rf-2"})
    desk.incident(ask, "It paid a stranger", by="anna")
    written(desk, "granted", agent="shop")


def _doubted(desk: Desk, clock: FakeClock) -> None:
    for number in range(2):
        ask = desk.approve(desk.open("pay", {"n": number}), by="anna")
        begin(desk.store, ask.id, origin=desk.origin, lease=Lease("gone", timedelta(seconds=5)))
    clock.advance(HOUR)
    desk.sweep()


def _agent(desk: Desk, clock: FakeClock) -> Run:
    said: list[Any] = [PLAN, call("look_up", order=7), call("refund", order=7, amount=40), "Done."]
    replies = [
        Reply(
            text=one if isinstance(one, str) else "",
            calls=() if isinstance(one, str) else (one,),
            usage=Usage(input=1200 + number, output=30 + number, cost=0.0125),
        )
        for number, one in enumerate(said)
    ]
    clerk = Agent(
        "clerk", ScriptedModel(replies), [look_up, refund], confirm=["refund"], plan_every=9
    )
    run = desk.run(clerk, "Pay order 7 back", wait=False)
    desk.approve(run.state.pending[0], by="anna")
    clock.advance("1s")
    desk.resume(run, wait=False)
    return run


def _told(desk: Desk, place: Place) -> str:
    """Messages that nobody takes: two wait, three were given up."""
    hook = desk.webhooks.add("http://127.0.0.1:9/hook", "run.started", allow_private=True)
    for _ in range(5):
        desk.cancel(desk.start(count, 1, team="support"))
    desk.deliver()
    dead = [one.id for one in desk.webhooks.deliveries()[:3]]
    for delivery in dead:
        place.sql("update deliveries set status = 'dead', next_at = 1 where id = ?", delivery)
    return hook.id


def _accounts(served: Served, clock: FakeClock) -> None:
    desk = served.desk
    set_password(desk.store, "ben", "correct horse battery", origin=desk.origin)
    for name in ("ben", "ben", "anna", "root", "root"):
        served.signed_in(name)
    for name in ("ben", "ben", "ben"):
        desk.tokens.make(name, "person")
    desk.tokens.make("till", owner="ben")
    for _ in range(2):
        desk.tokens.revoke(desk.tokens.make("old", owner="ben")[0].id)
    clock.advance("10m")


# --- what is looked for ------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """One number: where it stands, how HTTP says it, how Python does."""

    name: str
    path: str
    page: Callable[[Node], str]
    http: Callable[[Scene], str]
    python: Callable[[Scene], str]


def found(pattern: str, section: str | None = None) -> Callable[[Node], str]:
    """The part of the text of a section that a pattern names."""

    def look_for(page: Node) -> str:
        text = (page if section is None else page.one(id=section)).text
        match = re.search(pattern, text)
        assert match, f"{pattern} is not in: {text[:600]}"
        return match[1]

    return look_for


def share(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.0%}"


def time(seconds: float | None) -> str:
    return "-" if seconds is None else say_span(timedelta(seconds=seconds))


def sign(now: float, before: float) -> str:
    return "+" if now >= before else "\N{MINUS SIGN}"


def points(now: float, before: float) -> str:
    return f"{sign(now, before)}{abs(now - before) * 100:.1f} pts"


def longer(now: float, before: float) -> str:
    return f"{sign(now, before)}{time(abs(now - before))}"


def figure(label: str, part: str) -> Callable[[Node], str]:
    def look_for(page: Node) -> str:
        [one] = [each for each in page.all("div", class_="figure") if each.one("dt").text == label]
        return one.one(class_=part).text.removesuffix(" against the time before")

    return look_for


def metric(say: Callable[[dict[str, Any]], str]) -> dict[str, Callable[[Scene], str]]:
    return {
        "http": lambda scene: say(scene.json("/api/v1/metrics?days=7")),
        "python": lambda scene: say(scene.desk.metrics(days=7)),
    }


def trend(label: str) -> Callable[[Node], str]:
    def look_for(page: Node) -> str:
        [one] = [each for each in page.all("div", class_="figure") if each.one("dt").text == label]
        return one.one("svg").attrs["aria-label"].partition(": ")[2]

    return look_for


def went(name: str, say: Callable[[float | None], str]) -> Callable[[dict[str, Any]], str]:
    return lambda said: ", ".join(say(one[name]) for one in said["trend"] if one[name] is not None)


def outlook(say: Callable[[dict[str, Any]], str]) -> dict[str, Callable[[Scene], str]]:
    return {
        "http": lambda scene: say(scene.json("/api/v1/outlook")),
        "python": lambda scene: say(scene.desk.outlook()),
    }


def needing(need: str) -> Callable[[dict[str, Any]], str]:
    return lambda said: next(str(one["count"]) for one in said["attention"] if one["need"] == need)


def value(name: str, say: Callable[[float | None], str]) -> Callable[[dict[str, Any]], str]:
    return lambda said: say(said[name])


def change(name: str, by: Callable[[float, float], str]) -> Callable[[dict[str, Any]], str]:
    return lambda said: by(said[name], said["before"][name])


def standing(status: str) -> Callable[[dict[str, Any]], str]:
    return lambda said: f"{said['runs'][status]['count']:,}"


FIGURES = {
    "Approved": ("approval_rate", share, points),
    "Edited first": ("edit_rate", share, points),
    "Average time to decide": ("avg_approval_time", time, longer),
    "Ran without asking": ("autonomous_rate", share, points),
}
OVERVIEW = [
    *(
        Number(
            f"{label}",
            "/overview",
            figure(label, "figure-value"),
            **metric(value(name, say)),
        )
        for label, (name, say, _) in FIGURES.items()
    ),
    *(
        Number(
            f"{label}: change",
            "/overview",
            figure(label, "figure-change"),
            **metric(change(name, by)),
        )
        for label, (name, _, by) in FIGURES.items()
    ),
    *(
        Number(f"{label}: trend", "/overview", trend(label), **metric(went(name, say)))
        for label, (name, say, _) in FIGURES.items()
    ),
    Number(
        "reviewed",
        "/overview",
        found(r"([\d,]+) reviewed", "figures"),
        **metric(lambda said: f"{said['reviewed']:,}"),
    ),
    Number(
        "edited",
        "/overview",
        found(r"([\d,]+) edited", "figures"),
        **metric(lambda said: f"{said['edited']:,}"),
    ),
    Number(
        "half in",
        "/overview",
        found(r"half in (.+?) Ran", "figures"),
        **metric(lambda said: time(said["p50_approval_time"])),
    ),
    Number(
        "alone of proposed",
        "/overview",
        found(r"([\d,]+ of [\d,]+) calls", "figures"),
        **metric(lambda said: f"{said['alone']:,} of {said['proposed']:,}"),
    ),
    Number(
        "doubts",
        "/overview",
        found(r"(\d+) calls may or may not", "attention"),
        **outlook(needing("doubts")),
    ),
    Number(
        "failed", "/overview", found(r"(\d+) run failed", "attention"), **outlook(needing("failed"))
    ),
    Number(
        "unserved",
        "/overview",
        found(r"(\d+) runs? of count", "attention"),
        **outlook(needing("unserved")),
    ),
    Number(
        "given up",
        "/overview",
        found(r"(\d+) messages?", "attention"),
        **outlook(needing("undelivered")),
    ),
    Number(
        "asks that wait",
        "/overview",
        found(r"([\d,]+) asks wait for people", "attention"),
        **outlook(lambda said: f"{said['waiting']['count']:,}"),
    ),
    Number(
        "half wait for",
        "/overview",
        found(r"half for (.+?) or longer", "attention"),
        **outlook(lambda said: time(said["waiting"]["p50_seconds"])),
    ),
    Number(
        "the oldest waits for",
        "/overview",
        found(r"or longer, the oldest for (.+?)\.", "attention"),
        **outlook(lambda said: time(said["waiting"]["oldest_seconds"])),
    ),
    *(
        Number(
            f"runs {status}",
            "/overview",
            found(rf"([\d,]+) {status}", "runs"),
            **outlook(standing(status)),
        )
        for status in ("waiting", "ready")
    ),
    Number(
        "runs on the page",
        "/overview",
        lambda page: str(len(page.all("li", class_="run-line"))),
        **outlook(lambda said: str(len(said["current"]))),
    ),
    Number(
        "asks beyond those beside a run",
        "/overview",
        found(r"and (\d+) more", "runs"),
        lambda scene: str(len(scene.json(f"/api/v1/runs/{scene.asking.id}")["pending"]) - 10),
        lambda scene: str(len(scene.asking.state.pending) - 10),
    ),
    Number(
        "in the rail",
        "/overview",
        lambda page: re.findall(r"\d+", page.one("b", class_="badge").text)[0],
        lambda scene: str(scene.json("/api/v1/asks?person=root")["count"]),
        lambda scene: str(scene.desk.inbox(person="root").count),
    ),
]


def tool_cell(place: int, tool: str = "refund") -> Callable[[Node], str]:
    def look_for(page: Node) -> str:
        rows = page.one("section", id="tools").one("tbody").all("tr")
        [row] = [row for row in rows if row.one("code").text == tool]
        return row.all("td", class_="num")[place].text

    return look_for


def ran_alone(said: dict[str, Any]) -> str:
    return f"{share(said['autonomous_rate'])}; {said['incidents']} incidents"


def of_tool(
    say: Callable[[dict[str, Any]], str], tool: str = "refund"
) -> dict[str, Callable[[Scene], str]]:
    return {
        "http": lambda scene: say(scene.json("/api/v1/metrics?days=7&by=tool")["by"][tool]),
        "python": lambda scene: say(scene.desk.metrics(days=7, tool=tool)),
    }


def ticked(page: Node) -> str:
    rows = page.one("section", id="tools").one("tbody").all("tr")
    [row] = [row for row in rows if row.one("code").text == "refund"]
    return row.one("svg", class_="ticks").attrs["aria-label"]


def last_twenty(verdicts: list[str]) -> str:
    many = {name: verdicts.count(name) for name in ("approve", "edit", "reject")}
    return (
        f"Of the last {len(verdicts)}: {many['approve']} approved, {many['edit']} edited, "
        f"{many['reject']} rejected"
    )


def decided_refunds(scene: Scene) -> list[str]:
    said = scene.json("/api/v1/asks?status=decided&tool=refund&limit=20")["asks"]
    return [one["decision"]["verdict"] for one in said]


TOOLS = [
    Number(
        "calls of a tool",
        "/overview",
        tool_cell(0),
        **of_tool(lambda said: f"{said['proposed']:,}"),
    ),
    Number(
        "approved of a tool",
        "/overview",
        tool_cell(1),
        **of_tool(lambda said: share(said["approval_rate"])),
    ),
    Number(
        "edited of a tool",
        "/overview",
        tool_cell(2),
        **of_tool(lambda said: share(said["edit_rate"])),
    ),
    Number(
        "alone of a tool",
        "/overview",
        tool_cell(3, "search"),
        **of_tool(ran_alone, "search"),
    ),
    Number(
        "the last twenty",
        "/overview",
        ticked,
        lambda scene: last_twenty(decided_refunds(scene)),
        lambda scene: last_twenty(
            list(
                track_record(
                    scene.desk.store, agent=None, tool="refund", kind="action", teams=None, limit=20
                ).verdicts
            )
        ),
    ),
]


# --- runs --------------------------------------------------------------------------------------


def fact(name: str) -> Callable[[Node], str]:
    def look_for(page: Node) -> str:
        pairs = page.one("dl", class_="run-facts").all("div")
        return next(one.one("dd").text for one in pairs if one.one("dt").text == name)

    return look_for


def of_run(
    http: Callable[[dict[str, Any]], str], python: Callable[[Run], str]
) -> dict[str, Callable[[Scene], str]]:
    return {
        "http": lambda scene: http(scene.json(f"/api/v1/runs/{scene.run.id}")),
        "python": lambda scene: python(scene.run),
    }


RUNS = [
    Number(
        "runs that are listed",
        "/runs",
        lambda page: str(len(page.all("li", class_="run-line"))),
        lambda scene: str(len(scene.json("/api/v1/runs")["runs"])),
        lambda scene: str(len(scene.desk.store.runs(RunQuery(limit=50)))),
    ),
    Number(
        "how far a run in the list is",
        "/runs?workflow=clerk",
        found(r"(\d+)%", "runs"),
        lambda scene: (
            f"{scene.json('/api/v1/runs?workflow=clerk')['runs'][0]['progress'] * 100:.0f}"
        ),
        lambda scene: f"{(scene.run.state.progress or 0) * 100:.0f}",
    ),
    Number(
        "how far it is",
        "/runs/{run}",
        found(r"(\d+)%", "standing"),
        **of_run(
            lambda said: f"{said['progress'] * 100:.0f}",
            lambda run: f"{(run.state.progress or 0) * 100:.0f}",
        ),
    ),
    Number(
        "model calls",
        "/runs/{run}",
        fact("Model calls"),
        **of_run(lambda said: f"{said['usage']['calls']:,}", lambda run: f"{run.usage.calls:,}"),
    ),
    Number(
        "tokens",
        "/runs/{run}",
        fact("Tokens"),
        **of_run(
            lambda said: f"{said['usage']['input']:,} read, {said['usage']['output']:,} written",
            lambda run: f"{run.usage.input:,} read, {run.usage.output:,} written",
        ),
    ),
    Number(
        "cost",
        "/runs/{run}",
        fact("Cost"),
        **of_run(
            lambda said: say_dollars(said["usage"]["cost"]),
            lambda run: say_dollars(run.usage.cost or 0),
        ),
    ),
    Number(
        "events of a run",
        "/runs/{run}",
        fact("Events"),
        **of_run(lambda said: f"{said['steps']:,}", lambda run: f"{run.state.steps:,}"),
    ),
    Number(
        "asks that a run waits for",
        "/runs/{run}",
        found(r"Waits for people (\d+)", "pending"),
        **of_run(lambda said: str(len(said["pending"])), lambda run: str(len(run.state.pending))),
    ),
    Number(
        "steps of the plan",
        "/runs/{run}",
        lambda page: str(len(page.one("section", id="plan").all("li"))),
        **of_run(lambda said: str(len(said["plan"])), lambda run: str(len(plan_of(run)))),
    ),
    Number(
        "steps that are done",
        "/runs/{run}",
        lambda page: str(len(page.one("section", id="plan").all("li", class_="tl-done"))),
        **of_run(
            lambda said: str([one["mark"] for one in said["plan"]].count("done")),
            lambda run: str([mark for mark, _ in plan_of(run)].count("done")),
        ),
    ),
    Number(
        "lines of memory",
        "/runs/{run}?show=memory",
        lambda page: str(len(page.one("section", id="what-it-did").all("li", class_="jrn-line"))),
        lambda scene: str(len(scene.json(f"/api/v1/runs/{scene.run.id}/memory")["steps"])),
        lambda scene: str(len(scene.run.memory)),
    ),
    Number(
        "asks beyond those on the page of a run",
        "/runs/{asking}",
        found(r"and (\d+) more", "pending"),
        lambda scene: str(len(scene.json(f"/api/v1/runs/{scene.asking.id}")["pending"]) - 10),
        lambda scene: str(len(scene.asking.state.pending) - 10),
    ),
    Number(
        "events of a long run, beside its part",
        "/runs/{long}",
        found(r"Events \d+ to \d+ of ([\d,]+)", "what-it-did"),
        lambda scene: f"{len(scene.json(f'/api/v1/runs/{scene.long.id}/events')['events']):,}",
        lambda scene: f"{len(scene.long.events):,}",
    ),
    Number(
        "the part of a long run",
        "/runs/{long}",
        found(r"Events (\d+ to \d+) of", "what-it-did"),
        lambda scene: between(
            [one["seq"] for one in scene.json(f"/api/v1/runs/{scene.long.id}/events")["events"]]
        ),
        lambda scene: between([event.seq for event in scene.long.events]),
    ),
]


def plan_of(run: Run) -> list[tuple[str, Any]]:
    plan = Following.of(run)
    assert plan is not None
    return list(plan.marked())


def between(seqs: list[int]) -> str:
    return f"{seqs[-100]} to {seqs[-1]}"


# --- audit -------------------------------------------------------------------------------------


def proof(
    http: Callable[[dict[str, Any]], str], python: Callable[[Any], str]
) -> dict[str, Callable[[Scene], str]]:
    return {
        "http": lambda scene: http(scene.json("/api/v1/audit/verification")["found"]),
        "python": lambda scene: python(scene.desk.verify()),
    }


def chain(scene: Scene) -> list[Any]:
    return scene.desk.history(scene.ask)


def votes(scene: Scene) -> tuple[Any, ...]:
    decision = scene.desk.get(scene.ask).decision
    assert decision is not None
    return tuple(decision.votes)


def lines_of(page: Node) -> str:
    return str(len(page.one(id="events").all("li")))


AUDIT = [
    Number(
        "events on a page",
        "/audit?tool=refund",
        lines_of,
        lambda scene: str(len(scene.json("/api/v1/audit/events?tool=refund")["events"])),
        lambda scene: str(len(look(scene.desk.store, Wanted(tool="refund"), limit=50).found)),
    ),
    Number(
        "rejections",
        "/audit?verdict=reject&actor=anna",
        lines_of,
        lambda scene: str(
            len(scene.json("/api/v1/audit/events?verdict=reject&actor=anna")["events"])
        ),
        lambda scene: str(
            len(look(scene.desk.store, Wanted(verdict="reject", actor="anna")).found)
        ),
    ),
    Number(
        "events verified",
        "/audit",
        found(r"whole: ([\d,]+) events", "proof"),
        **proof(lambda said: f"{said['events']:,}", lambda report: f"{report.events:,}"),
    ),
    Number(
        "streams verified",
        "/audit",
        found(r"events in ([\d,]+) streams", "proof"),
        **proof(lambda said: f"{said['streams']:,}", lambda report: f"{report.streams:,}"),
    ),
    Number(
        "streams sealed",
        "/audit",
        found(r"Sealed ([\d,]+) streams", "proof"),
        **proof(lambda said: f"{said['sealed']:,}", lambda report: f"{report.sealed:,}"),
    ),
    Number(
        "payloads erased",
        "/audit",
        found(r"Erased ([\d,]+) payloads", "proof"),
        **proof(lambda said: f"{said['erased']:,}", lambda report: f"{report.erased:,}"),
    ),
    Number(
        "events of an ask",
        "/audit/asks/{ask}",
        found(r"just now: (\d+) events", "record-state"),
        lambda scene: str(len(scene.json(f"/api/v1/asks/{scene.ask}/events")["events"])),
        lambda scene: str(len(chain(scene))),
    ),
    Number(
        "rows of its chain",
        "/audit/asks/{ask}",
        lambda page: page.one("table", class_="chain").all("tr")[-1].one("th").text.split()[-2],
        lambda scene: str(scene.json(f"/api/v1/asks/{scene.ask}/events")["events"][-1]["seq"]),
        lambda scene: str(chain(scene)[-1].seq),
    ),
    Number(
        "version of an ask",
        "/audit/asks/{ask}",
        found(r"version (\d+), digest"),
        lambda scene: str(scene.json(f"/api/v1/asks/{scene.ask}")["version"]),
        lambda scene: str(scene.desk.get(scene.ask).version),
    ),
    Number(
        "votes",
        "/audit/asks/{ask}",
        lambda page: str(len(page.one("ol", class_="ballots").all("li"))),
        lambda scene: str(len(scene.json(f"/api/v1/asks/{scene.ask}")["decision"]["votes"])),
        lambda scene: str(len(votes(scene))),
    ),
    Number(
        "places to fill",
        "/audit/asks/{ask}",
        lambda page: str(len(page.one("ul", class_="places").all("li"))),
        lambda scene: str(len(scene.json(f"/api/v1/asks/{scene.ask}")["content"]["needs"])),
        lambda scene: str(len(scene.desk.get(scene.ask).needs.factors)),
    ),
]


# --- policies ----------------------------------------------------------------------------------

CALL = {"tool": "refund", "args": {"amount": 200}}
TRIED = "/policies?tool=refund&args=%7B%22amount%22%3A+200%7D"


def simulated(scene: Scene) -> list[dict[str, Any]]:
    heard: list[dict[str, Any]] = scene.client.post("/api/v1/policy/simulate", json=CALL).json()[
        "heard"
    ]
    return heard


def trial(scene: Scene) -> Any:
    store = scene.desk.store
    return tried(
        scene.desk.policy, Facts(tool="refund", args={"amount": 200}), store.now(), store.register()
    )


POLICIES = [
    Number(
        "rules of its own",
        "/policies",
        found(r"(\d+) of its own", "in-force"),
        lambda scene: str(sum(not one["default"] for one in scene.json("/api/v1/policy")["rules"])),
        lambda scene: str(len(set(scene.desk.policy.rules) - set(default_policy().rules))),
    ),
    Number(
        "rules of the default policy",
        "/policies",
        found(r"(\d+) of the default policy", "in-force"),
        lambda scene: str(sum(one["default"] for one in scene.json("/api/v1/policy")["rules"])),
        lambda scene: str(len(default_policy().rules)),
    ),
    Number(
        "rules on the page",
        "/policies",
        lambda page: str(len(page.all("li", class_="rule"))),
        lambda scene: str(len(scene.json("/api/v1/policy")["rules"])),
        lambda scene: str(len(scene.desk.policy.rules)),
    ),
    Number(
        "tiers",
        "/policies",
        lambda page: str(len(page.all("li", class_="tier"))),
        lambda scene: str(len(scene.json("/api/v1/policy")["standing"])),
        lambda scene: str(len(scene.desk.policy.order)),
    ),
    Number(
        "rules that spoke",
        TRIED,
        lambda page: str(
            len(page.one("section", id="ruling").all("ul", class_="heard")[0].all("li"))
        ),
        lambda scene: str(sum(one["spoke"] for one in simulated(scene))),
        lambda scene: str(sum(one.spoke for one in trial(scene).heard)),
    ),
    Number(
        "rules that did not",
        TRIED,
        found(r"(\d+) that did not", "ruling"),
        lambda scene: str(sum(not one["spoke"] for one in simulated(scene))),
        lambda scene: str(sum(not one.spoke for one in trial(scene).heard)),
    ),
]


# --- people ------------------------------------------------------------------------------------


def person_fact(name: str) -> Callable[[Node], str]:
    def look_for(page: Node) -> str:
        pairs = page.one("dl", class_="abreast").all("div")
        return next(one.one("dd").text for one in pairs if one.one("dt").text == name)

    return look_for


def of_ben(name: str) -> Callable[[Scene], str]:
    return lambda scene: f"{scene.json('/api/v1/people/ben')[name]:,}"


def counting(scene: Scene, *, ended: bool) -> str:
    now = scene.desk.store.now()
    return f"{sum(token.counts(now) is not ended for token in scene.desk.tokens):,}"


def listed_tokens(scene: Scene, *, ended: bool) -> str:
    now = scene.desk.store.now().isoformat()
    said = scene.json("/api/v1/tokens")["tokens"]
    over = [one["revoked_at"] is not None or (one["expires_at"] or "9") <= now for one in said]
    return f"{sum(one is ended for one in over):,}"


def own_others(scene: Scene) -> str:
    said = scene.json("/api/v1/sessions")["sessions"]
    return str(sum(one["person"] == "root" and not one["current"] for one in said))


def alone(name: str) -> Callable[[Node], str]:
    return lambda page: page.one("tr", id=f"person-{name}").one("td", class_="num").text


def deliveries(status: Status) -> dict[str, Callable[[Scene], str]]:
    return {
        "http": lambda scene: str(
            len(scene.json(f"/api/v1/deliveries?status={status}")["deliveries"])
        ),
        "python": lambda scene: str(len(scene.desk.webhooks.deliveries(status))),
    }


PEOPLE = [
    Number(
        "people",
        "/people",
        found(r"(\d+) people", "people"),
        lambda scene: str(len(scene.json("/api/v1/people")["people"])),
        lambda scene: str(len(scene.desk.people)),
    ),
    Number(
        "waits for ben alone",
        "/people",
        alone("ben"),
        of_ben("alone"),
        lambda scene: str(scene.desk.people.alone()["ben"]),
    ),
    Number(
        "waits for one alone",
        "/people/person/ben",
        person_fact("Waits for them alone"),
        of_ben("alone"),
        lambda scene: str(scene.desk.people.alone()["ben"]),
    ),
    Number(
        "sessions of one",
        "/people/person/ben",
        person_fact("Sessions"),
        of_ben("sessions"),
        lambda scene: str(scene.desk.people.ways("ben").sessions),
    ),
    Number(
        "tokens of one",
        "/people/person/ben",
        person_fact("Tokens"),
        of_ben("tokens"),
        lambda scene: str(scene.desk.people.ways("ben").tokens),
    ),
    Number(
        "sessions that end with one",
        "/people/person/ben/remove",
        found(r"(\d+) sessions? and"),
        of_ben("sessions"),
        lambda scene: str(scene.desk.people.ways("ben").sessions),
    ),
    Number(
        "tokens that end with one",
        "/people/person/ben/remove",
        found(r"and (\d+) tokens? of ben"),
        of_ben("tokens"),
        lambda scene: str(scene.desk.people.ways("ben").tokens),
    ),
    Number(
        "asks that nobody could decide then",
        "/people/person/ben/remove",
        found(r"(\d+) open asks? could"),
        of_ben("alone"),
        lambda scene: str(scene.desk.people.alone()["ben"]),
    ),
    Number(
        "sessions",
        "/people/sessions",
        found(r"(\d+) sessions", "sessions"),
        lambda scene: str(len(scene.json("/api/v1/sessions")["sessions"])),
        lambda scene: str(
            sum(scene.desk.people.ways(one.name).sessions for one in scene.desk.people)
        ),
    ),
    Number(
        "other sessions of one's own",
        "/people/sessions",
        found(r"my others \((\d+)\)", "sessions"),
        own_others,
        lambda scene: str(scene.desk.people.ways("root").sessions - 1),
    ),
    Number(
        "other sessions that would end",
        "/people/sign-out",
        found(r"(\d+) sessions? ends? at once"),
        own_others,
        lambda scene: str(scene.desk.people.ways("root").sessions - 1),
    ),
    Number(
        "tokens in use",
        "/people/tokens",
        found(r"(\d+) in use", "tokens"),
        lambda scene: listed_tokens(scene, ended=False),
        lambda scene: counting(scene, ended=False),
    ),
    Number(
        "tokens that ended",
        "/people/tokens?show=ended",
        found(r"(\d+) ended", "tokens"),
        lambda scene: listed_tokens(scene, ended=True),
        lambda scene: counting(scene, ended=True),
    ),
    Number(
        "receivers",
        "/people/webhooks",
        found(r"(\d+) receiver is told"),
        lambda scene: str(len(scene.json("/api/v1/webhooks")["webhooks"])),
        lambda scene: str(len(scene.desk.webhooks)),
    ),
    Number(
        "failed in a row",
        "/people/webhooks",
        found(r"(\d+) failed in a row"),
        lambda scene: str(scene.json("/api/v1/webhooks")["webhooks"][0]["failures"]),
        lambda scene: str(scene.desk.webhooks.get(scene.hook).failures),
    ),
    Number(
        "messages that wait",
        "/people/webhooks",
        found(r"(\d+) waiting", "deliveries"),
        **deliveries("waiting"),
    ),
    Number(
        "messages given up",
        "/people/webhooks",
        found(r"(\d+) given up", "deliveries"),
        **deliveries("dead"),
    ),
    Number(
        "messages on the page",
        "/people/webhooks",
        lambda page: str(len(page.one("section", id="deliveries").one("tbody").all("tr"))),
        lambda scene: str(len(scene.json("/api/v1/deliveries")["deliveries"])),
        lambda scene: str(len(scene.desk.webhooks.deliveries())),
    ),
    Number(
        "attempts",
        "/people/webhooks?status=dead",
        lambda page: page.one("section", id="deliveries").all("td", data_head="Attempts")[0].text,
        lambda scene: str(
            scene.json("/api/v1/deliveries?status=dead")["deliveries"][0]["attempts"]
        ),
        lambda scene: str(scene.desk.webhooks.deliveries("dead")[0].attempts),
    ),
]


def insight_cell(section: str, name: str, head: str) -> Callable[[Node], str]:
    def look_for(page: Node) -> str:
        rows = page.one("section", id=section).one("tbody").all("tr")
        [row] = [row for row in rows if row.one("th").text == name]
        return row.one("td", data_head=head).text

    return look_for


def of_part(
    by: str, name: str, say: Callable[[dict[str, Any]], str]
) -> dict[str, Callable[[Scene], str]]:
    return {
        "http": lambda scene: say(scene.json(f"/api/v1/metrics?days=7&by={by}")["by"][name]),
        "python": lambda scene: say(scene.desk.metrics(days=7, by=by)["by"][name]),
    }


def whole(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda said: f"{said[name]:,}"


def known_harm(said: dict[str, Any]) -> str:
    assert said["unapproved_bad_high"] is None
    return f"{said['incidents']} incident{'' if said['incidents'] == 1 else 's'}"


def still(said: dict[str, Any]) -> str:
    return f"{said['exposure_left']:,.1f}"


# On this page: by agent, by tier, by reviewer; what each column says.
OF_CALLS = {
    "Calls": whole("proposed"),
    "Approved": value("approval_rate", share),
    "Edited": value("edit_rate", share),
    "Half within": value("p50_approval_time", time),
    "Ran alone": value("autonomous_rate", share),
    "Harm": known_harm,
    "May let through": still,
}
OF_PEOPLE = {
    "Decisions": whole("decisions"),
    "Approved": value("approval_rate", share),
    "Edited": whole("edited"),
    "Rejected": whole("rejected"),
    "Half within": value("p50_approval_time", time),
    "Looked": value("p50_thinking_time", time),
    "Minutes": lambda said: f"{said['minutes']:,.0f}",
}
INSIGHTS = [
    *(
        Number(
            f"{head} of an agent",
            "/insights?days=7",
            insight_cell("agents", "shop", head),
            **of_part("agent", "shop", say),
        )
        for head, say in OF_CALLS.items()
    ),
    *(
        Number(
            f"{head} of a tier",
            "/insights?days=7",
            insight_cell("tiers", tier, head),
            **of_part("tier", tier, say),
        )
        for head, tier, say in (
            ("Calls", "medium", OF_CALLS["Calls"]),
            ("Approved", "medium", OF_CALLS["Approved"]),
            ("Ran alone", "low", OF_CALLS["Ran alone"]),
            ("Harm", "medium", known_harm),
            ("May let through", "low", still),
        )
    ),
    *(
        Number(
            f"{head} of a reviewer",
            "/insights?days=7",
            insight_cell("reviewers", "anna", head),
            **of_part("reviewer", "anna", say),
        )
        for head, say in OF_PEOPLE.items()
    ),
]

NUMBERS = [*OVERVIEW, *TOOLS, *INSIGHTS, *RUNS, *AUDIT, *POLICIES, *PEOPLE]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.name)
def test_a_number_on_a_page_is_that_of_http_and_of_python(scene: Scene, number: Number) -> None:
    path = number.path.format(
        run=scene.run.id, long=scene.long.id, asking=scene.asking.id, ask=scene.ask
    )
    if number in AUDIT:
        scene.client.post("/api/v1/audit/verification")
        until(lambda: scene.json("/api/v1/audit/verification")["state"] != "running")
    page = scene.page.go(path)

    assert page.answer.status_code == 200
    shown = number.page(page.page)
    assert shown == number.http(scene) == number.python(scene)
    assert re.search(r"[1-9]", shown), "nothing would be compared with nothing"


# What else is a number on these pages is of the page itself, and has no counterpart: the spans that
# figures can be looked at for (24 h, 7 and 30 days), how many filters are on, how many fields of a form
# need another look. What follows are limits, which are said as they are kept.


def test_limits_are_said_as_they_are_kept(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = scene.page.go("/people/sessions").page.one("section", id="sessions").text
    assert f"not used for {IDLE // timedelta(hours=1)} hours" in sessions
    assert f"each after {LASTS.days} days" in sessions
    monkeypatch.setattr(trail, "STEPS", 3)
    monkeypatch.setattr(audit, "STEPS", 3)
    page = scene.page.go("/audit?actor=anna&tool=search").page.text
    assert "Looked at 3 events" in page


def test_each_number_has_a_name_of_its_own() -> None:
    names = [number.name for number in NUMBERS]
    assert len(names) == len(set(names))
