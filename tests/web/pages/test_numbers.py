"""Every number on the pages beside the inbox is the one of HTTP and of Python.

What a page draws, what the API answers and what Python says are compared as texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
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

    def go(self, path: str) -> Node:
        self.page.go(path)
        assert self.page.answer.status_code == 200
        return self.page.page

    def json(self, path: str) -> Any:
        """What HTTP answers."""
        answer = self.client.get(path, headers={"Accept": "application/json"})
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder, clock = tmp_path_factory.mktemp("numbers"), FakeClock()
    place = Place("sqlite", f"sqlite:///{folder}/desk.db")
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

Numbers = dict[str, str]


def agree(shown: Numbers, *others: Numbers) -> None:
    """What a page shows is what the others say, and all of it is something."""
    for other in others:
        assert shown == other
    for name, text in shown.items():
        assert re.search(r"[1-9]", text), f"{name}: nothing would be compared with nothing"


def found(page: Node, pattern: str, section: str | None = None) -> str:
    """The part of the text of a section that a pattern names."""
    text = (page if section is None else page.one(id=section)).text
    match = re.search(pattern, text)
    assert match, f"{pattern} is not in: {text[:600]}"
    return match[1]


def pairs(page: Node, name: str) -> Numbers:
    """A list of facts on a page."""
    return {
        one.one("dt").text: one.one("dd").text for one in page.one("dl", class_=name).all("div")
    }


def row(page: Node, section: str, name: str) -> Node:
    """The row of a table that begins with a name."""
    rows = page.one("section", id=section).one("tbody").all("tr")
    [one] = [row for row in rows if row.one("th").text == name]
    return one


def share(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.0%}"


def time(seconds: float | None) -> str:
    return "-" if seconds is None else say_span(timedelta(seconds=seconds))


def change(name: str, said: dict[str, Any]) -> str:
    """How a figure has changed: rates in points, times as spans."""
    now, before = said[name], said["before"][name]
    sign = "+" if now >= before else "\N{MINUS SIGN}"
    if name == "avg_approval_time":
        return f"{sign}{time(abs(now - before))}"
    return f"{sign}{abs(now - before) * 100:.1f} pts"


# --- overview ----------------------------------------------------------------------------------

FIGURES = {
    "Approved": ("approval_rate", share),
    "Edited first": ("edit_rate", share),
    "Average time to decide": ("avg_approval_time", time),
    "Ran without asking": ("autonomous_rate", share),
}


def test_the_figures_of_the_overview(scene: Scene) -> None:
    page = scene.go("/overview")
    drawn = {one.one("dt").text: one for one in page.all("div", class_="figure")}
    shown = {
        "reviewed": found(page, r"([\d,]+) reviewed", "figures"),
        "edited": found(page, r"([\d,]+) edited", "figures"),
        "half in": found(page, r"half in (.+?) Ran", "figures"),
        "alone": found(page, r"([\d,]+ of [\d,]+) calls", "figures"),
    }
    for label in FIGURES:
        one = drawn[label]
        shown[label] = one.one(class_="figure-value").text
        changed = one.one(class_="figure-change").text
        shown[f"{label}: change"] = changed.removesuffix(" against the time before")
        shown[f"{label}: trend"] = one.one("svg").attrs["aria-label"].partition(": ")[2]

    def told(said: dict[str, Any]) -> Numbers:
        numbers = {
            "reviewed": f"{said['reviewed']:,}",
            "edited": f"{said['edited']:,}",
            "half in": time(said["p50_approval_time"]),
            "alone": f"{said['alone']:,} of {said['proposed']:,}",
        }
        for label, (name, say) in FIGURES.items():
            went = (say(one[name]) for one in said["trend"] if one[name] is not None)
            numbers[label] = say(said[name])
            numbers[f"{label}: change"] = change(name, said)
            numbers[f"{label}: trend"] = ", ".join(went)
        return numbers

    agree(shown, told(scene.json("/api/v1/metrics?days=7")), told(scene.desk.metrics(days=7)))


def test_what_needs_attention_and_what_runs_on_the_overview(scene: Scene) -> None:
    page = scene.go("/overview")
    shown = {
        "doubts": found(page, r"(\d+) calls may or may not", "attention"),
        "failed": found(page, r"(\d+) run failed", "attention"),
        "unserved": found(page, r"(\d+) runs? of count", "attention"),
        "undelivered": found(page, r"(\d+) messages?", "attention"),
        "wait": found(page, r"([\d,]+) asks wait for people", "attention"),
        "half wait": found(page, r"half for (.+?) or longer", "attention"),
        "oldest": found(page, r"or longer, the oldest for (.+?)\.", "attention"),
        "waiting": found(page, r"([\d,]+) waiting", "runs"),
        "ready": found(page, r"([\d,]+) ready", "runs"),
        "on the page": str(len(page.all("li", class_="run-line"))),
    }

    def told(said: dict[str, Any]) -> Numbers:
        needs = ("doubts", "failed", "unserved", "undelivered")
        counts = {one["need"]: one["count"] for one in said["attention"]}
        return {need: str(counts[need]) for need in needs} | {
            "wait": f"{said['waiting']['count']:,}",
            "half wait": time(said["waiting"]["p50_seconds"]),
            "oldest": time(said["waiting"]["oldest_seconds"]),
            "waiting": f"{said['runs']['waiting']['count']:,}",
            "ready": f"{said['runs']['ready']['count']:,}",
            "on the page": str(len(said["current"])),
        }

    agree(shown, told(scene.json("/api/v1/outlook")), told(scene.desk.outlook()))
    more = int(found(page, r"and (\d+) more", "runs"))
    over_http = scene.json(f"/api/v1/runs/{scene.asking.id}")
    assert more == len(over_http["pending"]) - 10 == len(scene.asking.state.pending) - 10
    rail = int(re.findall(r"\d+", page.one("b", class_="badge").text)[0])
    count = scene.json("/api/v1/asks?person=root")["count"]
    assert rail == count == scene.desk.inbox(person="root").count


def test_the_table_of_tools_on_the_overview(scene: Scene) -> None:
    page = scene.go("/overview")
    cells = [cell.text for cell in row(page, "tools", "refund").all("td", class_="num")]
    alone = row(page, "tools", "search").all("td", class_="num")[3].text
    shown = {"calls": cells[0], "approved": cells[1], "edited": cells[2], "alone": alone}

    def told(refund: dict[str, Any], search: dict[str, Any]) -> Numbers:
        return {
            "calls": f"{refund['proposed']:,}",
            "approved": share(refund["approval_rate"]),
            "edited": share(refund["edit_rate"]),
            "alone": f"{share(search['autonomous_rate'])}; {search['incidents']} incidents",
        }

    by = scene.json("/api/v1/metrics?days=7&by=tool")["by"]
    ours = (scene.desk.metrics(days=7, tool=tool) for tool in ("refund", "search"))
    agree(shown, told(by["refund"], by["search"]), told(*ours))

    asked = scene.json("/api/v1/asks?status=decided&tool=refund&limit=20")["asks"]
    record = track_record(
        scene.desk.store, agent=None, tool="refund", kind="action", teams=None, limit=20
    )
    for verdicts in ([one["decision"]["verdict"] for one in asked], list(record.verdicts)):
        many = [verdicts.count(name) for name in ("approve", "edit", "reject")]
        ticks = row(page, "tools", "refund").one("svg", class_="ticks").attrs["aria-label"]
        assert ticks == "Of the last {}: {} approved, {} edited, {} rejected".format(
            len(verdicts), *many
        )


# --- insights ----------------------------------------------------------------------------------


def harm(said: dict[str, Any]) -> str:
    assert said["unapproved_bad_high"] is None
    return f"{said['incidents']} incident{'' if said['incidents'] == 1 else 's'}"


OF_CALLS: dict[str, Callable[[dict[str, Any]], str]] = {
    "Calls": lambda said: f"{said['proposed']:,}",
    "Approved": lambda said: share(said["approval_rate"]),
    "Edited": lambda said: share(said["edit_rate"]),
    "Half within": lambda said: time(said["p50_approval_time"]),
    "Ran alone": lambda said: share(said["autonomous_rate"]),
    "Harm": harm,
    "May let through": lambda said: f"{said['exposure_left']:,.1f}",
}
OF_PEOPLE: dict[str, Callable[[dict[str, Any]], str]] = {
    "Decisions": lambda said: f"{said['decisions']:,}",
    "Approved": lambda said: share(said["approval_rate"]),
    "Edited": lambda said: f"{said['edited']:,}",
    "Rejected": lambda said: f"{said['rejected']:,}",
    "Half within": lambda said: time(said["p50_approval_time"]),
    "Looked": lambda said: time(said["p50_thinking_time"]),
    "Minutes": lambda said: f"{said['minutes']:,.0f}",
}


@pytest.mark.parametrize(
    ("by", "name", "columns"),
    [
        ("agent", "shop", OF_CALLS),
        ("tier", "medium", {name: OF_CALLS[name] for name in ("Calls", "Approved", "Harm")}),
        ("tier", "low", {name: OF_CALLS[name] for name in ("Ran alone", "May let through")}),
        ("reviewer", "anna", OF_PEOPLE),
    ],
)
def test_the_tables_of_the_insights(
    scene: Scene, by: Any, name: str, columns: dict[str, Callable[[dict[str, Any]], str]]
) -> None:
    line = row(scene.go("/insights?days=7"), f"{by}s", name)
    shown = {head: line.one("td", data_head=head).text for head in columns}

    def told(said: dict[str, Any]) -> Numbers:
        return {head: say(said["by"][name]) for head, say in columns.items()}

    over_http = scene.json(f"/api/v1/metrics?days=7&by={by}")
    agree(shown, told(over_http), told(scene.desk.metrics(days=7, by=by)))


# --- runs --------------------------------------------------------------------------------------


def test_the_numbers_of_runs(scene: Scene) -> None:
    run, said = scene.run, scene.json(f"/api/v1/runs/{scene.run.id}")
    listed = scene.json("/api/v1/runs")["runs"]
    assert len(scene.go("/runs").all("li", class_="run-line")) == len(listed)
    assert len(listed) == len(scene.desk.store.runs(RunQuery(limit=50)))
    far = found(scene.go("/runs?workflow=clerk"), r"(\d+)%", "runs")

    page = scene.go(f"/runs/{run.id}")
    facts, plan = pairs(page, "run-facts"), page.one("section", id="plan")
    shown = {
        "how far in the list": far,
        "how far": found(page, r"(\d+)%", "standing"),
        **{name: facts[name] for name in ("Model calls", "Tokens", "Cost", "Events")},
        "asks": found(page, r"Waits for people (\d+)", "pending"),
        "plan": str(len(plan.all("li"))),
        "done": str(len(plan.all("li", class_="tl-done"))),
        "memory": str(
            len(
                scene.go(f"/runs/{run.id}?show=memory")
                .one("section", id="what-it-did")
                .all("li", class_="jrn-line")
            )
        ),
    }
    marks = [mark for mark, _ in _followed(run).marked()]
    agree(
        shown,
        told_of_run(
            said["progress"],
            said["usage"],
            said["steps"],
            len(said["pending"]),
            [one["mark"] for one in said["plan"]],
            len(scene.json(f"/api/v1/runs/{run.id}/memory")["steps"]),
        ),
        told_of_run(
            run.state.progress,
            run.usage.to_json(),
            run.state.steps,
            len(run.state.pending),
            marks,
            len(run.memory),
        ),
    )


def told_of_run(
    far: float | None, usage: Any, events: int, asks: int, marks: Sequence[str], memory: int
) -> Numbers:
    return {
        "how far in the list": f"{(far or 0) * 100:.0f}",
        "how far": f"{(far or 0) * 100:.0f}",
        "Model calls": f"{usage['calls']:,}",
        "Tokens": f"{usage['input']:,} read, {usage['output']:,} written",
        "Cost": say_dollars(usage["cost"]),
        "Events": f"{events:,}",
        "asks": str(asks),
        "plan": str(len(marks)),
        "done": str(marks.count("done")),
        "memory": str(memory),
    }


def _followed(run: Run) -> Following:
    plan = Following.of(run)
    assert plan is not None
    return plan


def test_the_part_of_a_long_run(scene: Scene) -> None:
    page = scene.go(f"/runs/{scene.long.id}")
    told = scene.json(f"/api/v1/runs/{scene.long.id}/events")["events"]
    seqs = [event.seq for event in scene.long.events]

    assert [one["seq"] for one in told] == seqs
    part = found(page, r"Events (\d+ to \d+ of [\d,]+)", "what-it-did")
    assert part == f"{seqs[-100]} to {seqs[-1]} of {len(seqs):,}"


# --- audit -------------------------------------------------------------------------------------


def test_the_numbers_of_the_audit(scene: Scene) -> None:
    for query, wanted in (
        ("tool=refund", Wanted(tool="refund")),
        ("verdict=reject&actor=anna", Wanted(verdict="reject", actor="anna")),
    ):
        drawn = scene.go(f"/audit?{query}").one(id="events").all("li")
        told = scene.json(f"/api/v1/audit/events?{query}")["events"]
        ours = look(scene.desk.store, wanted, limit=50).found
        assert len(drawn) == len(told) == len(ours) > 0, query

    scene.client.post("/api/v1/audit/verification")
    until(lambda: scene.json("/api/v1/audit/verification")["state"] != "running")
    page, report = scene.go("/audit"), scene.desk.verify()
    shown = {
        "events": found(page, r"whole: ([\d,]+) events", "proof"),
        "streams": found(page, r"events in ([\d,]+) streams", "proof"),
        "sealed": found(page, r"Sealed ([\d,]+) streams", "proof"),
        "erased": found(page, r"Erased ([\d,]+) payloads", "proof"),
    }
    said = scene.json("/api/v1/audit/verification")["found"]
    agree(
        shown,
        {name: f"{said[name]:,}" for name in shown},
        {name: f"{getattr(report, name):,}" for name in shown},
    )


def test_the_numbers_of_a_record(scene: Scene) -> None:
    page, ask = scene.go(f"/audit/asks/{scene.ask}"), scene.desk.get(scene.ask)
    said = scene.json(f"/api/v1/asks/{scene.ask}")
    events, chain = scene.json(f"/api/v1/asks/{scene.ask}/events")["events"], scene.desk.history
    assert ask.decision is not None

    shown = [
        int(found(page, r"just now: (\d+) events", "record-state")),
        int(page.one("table", class_="chain").all("tr")[-1].one("th").text.split()[-2]),
        int(found(page, r"version (\d+), digest")),
        len(page.one("ol", class_="ballots").all("li")),
        len(page.one("ul", class_="places").all("li")),
    ]
    votes = len(said["decision"]["votes"]), len(said["content"]["needs"])
    assert shown == [len(events), events[-1]["seq"], said["version"], *votes]
    ours = [len(chain(scene.ask)), chain(scene.ask)[-1].seq, ask.version]
    assert shown == [*ours, len(ask.decision.votes), len(ask.needs.factors)]


# --- policies ----------------------------------------------------------------------------------


def test_the_numbers_of_the_policies(scene: Scene) -> None:
    page, policy = scene.go("/policies"), scene.desk.policy
    said, usual = scene.json("/api/v1/policy"), default_policy().rules
    shown = [
        int(found(page, r"(\d+) of its own", "in-force")),
        int(found(page, r"(\d+) of the default policy", "in-force")),
        len(page.all("li", class_="rule")),
        len(page.all("li", class_="tier")),
    ]
    defaults = sum(one["default"] for one in said["rules"])
    rules = len(said["rules"])
    assert shown == [rules - defaults, defaults, rules, len(said["standing"])]
    ours = [len(set(policy.rules) - set(usual)), len(usual), len(policy.rules)]
    assert shown == [*ours, len(policy.order)]

    page = scene.go("/policies?tool=refund&args=%7B%22amount%22%3A+200%7D")
    spoke = len(page.one("section", id="ruling").all("ul", class_="heard")[0].all("li"))
    silent = int(found(page, r"(\d+) that did not", "ruling"))
    call = {"tool": "refund", "args": {"amount": 200}}
    heard = scene.client.post("/api/v1/policy/simulate", json=call).json()["heard"]
    store, facts = scene.desk.store, Facts(tool="refund", args={"amount": 200})
    trial = tried(policy, facts, store.now(), store.register()).heard
    for told in ([one["spoke"] for one in heard], [one.spoke for one in trial]):
        assert (spoke, silent) == (told.count(True), told.count(False))


# --- people ------------------------------------------------------------------------------------


def test_the_numbers_of_people(scene: Scene) -> None:
    people, ben = scene.desk.people, scene.json("/api/v1/people/ben")
    page = scene.go("/people")
    listed = len(scene.json("/api/v1/people")["people"])
    assert int(found(page, r"(\d+) people", "people")) == listed == len(people)

    waits = page.one("tr", id="person-ben").one("td", class_="num").text
    facts, page = (
        pairs(scene.go("/people/person/ben"), "abreast"),
        scene.go("/people/person/ben/remove"),
    )
    sessions = facts["Sessions"], found(page, r"(\d+) sessions? and")
    tokens = facts["Tokens"], found(page, r"and (\d+) tokens? of ben")
    alone = waits, facts["Waits for them alone"], found(page, r"(\d+) open asks? could")
    ways = people.ways("ben")
    assert {*alone} == {f"{ben['alone']}"} == {f"{people.alone()['ben']}"}
    assert {*sessions} == {f"{ben['sessions']}"} == {f"{ways.sessions}"}
    assert {*tokens} == {f"{ben['tokens']}"} == {f"{ways.tokens}"}


def test_the_numbers_of_sessions_and_tokens(scene: Scene) -> None:
    people, page = scene.desk.people, scene.go("/people/sessions")
    said = scene.json("/api/v1/sessions")["sessions"]
    everybodys = sum(people.ways(one.name).sessions for one in people)
    assert int(found(page, r"(\d+) sessions", "sessions")) == len(said) == everybodys
    others = sum(one["person"] == "root" and not one["current"] for one in said)
    assert int(found(page, r"my others \((\d+)\)", "sessions")) == others
    assert others == people.ways("root").sessions - 1 > 0
    assert int(found(scene.go("/people/sign-out"), r"(\d+) sessions? ends? at once")) == others

    now, tokens = scene.desk.store.now(), scene.json("/api/v1/tokens")["tokens"]
    over = [
        one["revoked_at"] is not None or (one["expires_at"] or "9") <= now.isoformat()
        for one in tokens
    ]
    ours = [not token.counts(now) for token in scene.desk.tokens]
    for path, pattern, ended in (
        ("/people/tokens", r"(\d+) in use", False),
        ("/people/tokens?show=ended", r"(\d+) ended", True),
    ):
        shown = int(found(scene.go(path), pattern, "tokens"))
        assert shown == over.count(ended) == ours.count(ended) > 0


def test_the_numbers_of_webhooks(scene: Scene) -> None:
    page, hooks = scene.go("/people/webhooks"), scene.desk.webhooks
    [hook] = scene.json("/api/v1/webhooks")["webhooks"]
    shown = {
        "receivers": found(page, r"(\d+) receiver is told"),
        "failed": found(page, r"(\d+) failed in a row"),
        "waiting": found(page, r"(\d+) waiting", "deliveries"),
        "dead": found(page, r"(\d+) given up", "deliveries"),
        "all": str(len(page.one("section", id="deliveries").one("tbody").all("tr"))),
    }
    many = {"waiting": "?status=waiting", "dead": "?status=dead", "all": ""}
    over_http = {
        name: scene.json(f"/api/v1/deliveries{q}")["deliveries"] for name, q in many.items()
    }
    ours = {
        "waiting": hooks.deliveries("waiting"),
        "dead": hooks.deliveries("dead"),
        "all": hooks.deliveries(),
    }
    agree(
        shown,
        {"receivers": "1", "failed": str(hook["failures"])}
        | {name: str(len(listed)) for name, listed in over_http.items()},
        {"receivers": f"{len(hooks)}", "failed": str(hooks.get(scene.hook).failures)}
        | {name: str(len(listed)) for name, listed in ours.items()},
    )
    table = scene.go("/people/webhooks?status=dead").one("section", id="deliveries")
    attempts = int(table.all("td", data_head="Attempts")[0].text)
    assert attempts == over_http["dead"][0]["attempts"] == ours["dead"][0].attempts > 0


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
