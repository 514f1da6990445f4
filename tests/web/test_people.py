"""People at the door: sessions, fresh sign-ins for what is critical, scopes, walls, local mode."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from sayso import Desk
from sayso.policy.reading import read
from sayso.testing import FakeClock
from tests.places import Place
from tests.published import put_in_force
from tests.served import QUICK, Served


def opened(client: httpx2.Client, **said: Any) -> dict[str, Any]:
    body = {"tool": "wire", "args": {"order": time.monotonic_ns(), "amount": 1}, **said}
    answer = client.post("/api/v1/asks", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def decide(
    client: httpx2.Client, ask: dict[str, Any], verdict: str = "approve", **said: Any
) -> Any:
    body = {"verdict": verdict, "seen": ask["digest"], **said}
    return client.post(f"/api/v1/asks/{ask['id']}/decision", json=body)


# --- sessions and fresh sign-ins ---


LARGE = """
[tiers.critical]
needs = ["senior"]

[[rules]]
name = "large"
tool = "wire"
when = "args.amount > 1000"
tier = "critical"
"""


@pytest.fixture
def bank(place: Place, clock: FakeClock) -> Iterator[Served]:
    """A server whose clock stands still, under a policy that makes large amounts critical."""
    with Desk(place.url, clock=clock, account="sam@till", policy=read(LARGE)) as desk:
        desk.people.add("anna", roles=["senior"])
        desk.people.add("ada", roles=["senior"])
        with Served(desk) as server:
            yield server


@pytest.mark.parametrize("how", ["risk", "tier"])
def test_what_is_critical_needs_somebody_who_has_just_signed_in(
    bank: Served, clock: FakeClock, how: str
) -> None:
    bot, token, session = bank.agent("bot"), bank.person("anna"), bank.signed_in("ada")
    said = {"risk": "critical"} if how == "risk" else {"args": {"amount": 5000}}
    ask = opened(bot, **said)
    clock.advance("15m 1s")

    refused = [decide(client, ask) for client in (token, session)]
    decided = decide(bank.signed_in("ada"), ask)

    assert [(one.status_code, one.json()["code"]) for one in refused] == [
        (403, "sign-in-again"),
        (403, "sign-in-again"),
    ]
    assert decided.status_code == 200, decided.text


def test_an_edit_that_makes_a_call_critical_needs_a_fresh_sign_in_too(bank: Served) -> None:
    ask = opened(bank.agent("bot"))
    anna = bank.person("anna")

    refused = decide(anna, ask, "edit", args={"amount": 5000})
    edited = decide(anna, ask, "edit", args={"amount": 500})

    assert (refused.status_code, refused.json()["code"]) == (403, "sign-in-again")
    assert edited.status_code == 200


BOARD = """
[tiers.critical]
needs = ["senior"]

[tiers.board]
needs = ["senior"]

[tools]
"wire*" = "critical"

[[rules]]
name = "large"
tool = "wire"
when = "args.amount > 1000"
tier = "board"
"""
# What is critical by what it says, though no tool is called.
WORDS = """
[tiers.critical]
needs = ["senior"]

[[rules]]
name = "hostile"
when = 'has(args.text) && args.text == "war" || has(args.steps) && args.steps == ["war"]'
tier = "critical"
"""


@contextmanager
def banking(place: Place, policy: str) -> Iterator[Served]:
    with put_in_force(Desk(place.url, account="sam@till"), policy) as desk:
        if desk.people.solo:
            desk.people.add("anna", roles=["senior"])
        with Served(desk) as server:
            yield server


def needs_a_sign_in(answer: httpx2.Response) -> bool:
    return (answer.status_code, answer.json().get("code")) == (403, "sign-in-again")


def test_a_tier_of_ones_own_above_critical_needs_a_fresh_sign_in_as_well(place: Place) -> None:
    with banking(place, BOARD) as bank:
        bot, token = bank.agent("bot"), bank.person("anna")
        small, big = opened(bot), opened(bot, args={"amount": 5000})
        frozen = bank.desk.get(big["id"]).content.ruled

        refused = [
            decide(token, ask, verdict) for ask in (small, big) for verdict in ("approve", "reject")
        ]
        decided = [decide(bank.signed_in("anna"), ask) for ask in (small, big)]

    assert (frozen.tier, frozen.critical) == ("board", True)
    assert all(map(needs_a_sign_in, refused)), [one.text for one in refused]
    assert [one.status_code for one in decided] == [200, 200]


def test_what_was_asked_as_critical_stays_so_under_a_policy_that_is_milder_by_now(
    place: Place,
) -> None:
    with banking(place, BOARD) as bank:
        ask = opened(bank.agent("bot"), args={"amount": 5000})
    with banking(place, "") as bank:
        assert needs_a_sign_in(decide(bank.person("anna"), ask))


def test_what_has_become_critical_since_it_was_asked_needs_a_fresh_sign_in(place: Place) -> None:
    """With the same people as before, so that nothing else tells."""
    before = LARGE.replace("critical", "high")
    with banking(place, before) as bank:
        ask = opened(bank.agent("bot"), args={"amount": 5000})
    with banking(place, LARGE) as bank:
        refused = decide(bank.person("anna"), ask)
        decided = decide(bank.signed_in("anna"), ask)

    assert needs_a_sign_in(refused), refused.text
    assert decided.status_code == 200, decided.text


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("kind", ["draft", "plan"])
def test_an_edit_of_a_draft_or_a_plan_that_makes_it_critical_needs_a_fresh_sign_in(
    place: Place, kind: str, wrapped: bool
) -> None:
    """However it is sent: the text or the steps alone, or by name."""
    name, grave = ("text", "war") if kind == "draft" else ("steps", ["war"])
    with banking(place, WORDS) as bank:
        later = bank.desk.later
        asked = (later.draft("tea") if kind == "draft" else later.plan(["tea"])).ask
        ask = {"id": asked.id, "digest": asked.digest}
        assert asked.content.ruled.tier is None

        refused = decide(bank.person("anna"), ask, "edit", args={name: grave} if wrapped else grave)
        decided = decide(bank.signed_in("anna"), ask, "edit", args=grave)

    assert needs_a_sign_in(refused), refused.text
    assert decided.status_code == 200, decided.text


# --- scopes and walls ---


@pytest.mark.parametrize(
    "said",
    [{"agent": "rival"}, {"team": "support"}, {"agent": "root"}],
    ids=["agent", "team", "person"],
)
def test_an_agent_speaks_for_itself_alone(bot: httpx2.Client, said: dict[str, str]) -> None:
    answer = bot.post("/api/v1/asks", json={"tool": "x", **said})

    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_a_person_opens_for_their_team_and_names_it_if_there_are_several(
    server: Served, anna: httpx2.Client
) -> None:
    root = server.person("root")

    own = opened(anna)
    alien = anna.post("/api/v1/asks", json={"tool": "x", "team": "support"})
    unclear = root.post("/api/v1/asks", json={"tool": "x"})
    named = opened(root, team="support")

    assert own["content"]["team"] == "billing"
    assert (alien.status_code, unclear.status_code) == (403, 422)
    assert list(unclear.json()["fields"]) == ["team"]
    assert named["content"]["team"] == "support"


# --- runs ---


def test_a_run_is_ended_by_those_who_may_reject_what_it_asks_e59(
    server: Served, anna: httpx2.Client
) -> None:
    root = server.person("root")

    def wire(run: Any) -> None:
        run.confirm("Wire it?", needs="1 senior", risk="high")

    name = f"wire-{time.monotonic_ns()}"
    server.desk.workflow(name=name)(wire)
    run = anna.post("/api/v1/runs", json={"workflow": name}).json()["id"]
    server.desk.work(until="idle")
    [ask] = server.desk.get_run(run).state.pending

    refused = root.post(f"/api/v1/runs/{run}/cancel")
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert f"{run} waits for {ask.id}" in refused.json()["detail"]
    assert decide(root, {"id": ask.id, "digest": ask.digest}, "reject").status_code == 403
    taken = root.post(f"/api/v1/asks/{ask.id}/withdraw")
    assert (taken.status_code, taken.json()["code"]) == (403, "forbidden")
    assert server.desk.get_run(run).status == "waiting"

    assert anna.post(f"/api/v1/runs/{run}/cancel").json()["status"] == "cancelled"


def test_a_person_starts_looks_at_cancels_and_retries_a_run(
    server: Served, anna: httpx2.Client, ben: httpx2.Client
) -> None:
    def settle(run: Any, order: int) -> str:
        return f"settled {order}" if run.confirm(f"Settle {order}?") else "left"

    name = f"settle-{time.monotonic_ns()}"
    server.desk.workflow(name=name)(settle)
    started = anna.post("/api/v1/runs", json={"workflow": name, "input": {"order": 7}})
    where = f"/api/v1/runs/{started.json()['id']}"
    server.desk.work(until="idle")
    waiting = anna.get(where).json()
    decide(anna, waiting["pending"][0])
    server.desk.work(until="idle")
    done = anna.get(where).json()

    assert (started.status_code, started.json()["team"]) == (201, "billing")
    assert (waiting["status"], done["status"], done["output"]) == ("waiting", "done", "settled 7")
    assert [one["step"] for one in anna.get(f"{where}/memory").json()["steps"]] == [
        "task",
        "decision",
        "answer",
    ]
    assert anna.get(f"{where}/events").json()["events"][0]["kind"] == "run.started"
    assert anna.post(f"{where}/cancel").json()["code"] == "run-over"
    assert anna.post(f"{where}/retry").json()["code"] == "run-over"
    assert [one["id"] for one in anna.get(f"/api/v1/runs?workflow={name}").json()["runs"]] == [
        started.json()["id"]
    ]

    assert ben.get(where).status_code == 404
    assert ben.post(f"{where}/cancel").status_code == 404
    assert ben.get(f"/api/v1/runs?workflow={name}").json()["runs"] == []


# --- a desk of one's own ---


def test_whoever_sits_at_the_machine_sees_and_decides_everything(place: Place) -> None:
    local = replace(QUICK, mode="local")
    with Desk(place.url, account="sam@till") as desk, Served(desk, local) as server:
        bot, me = server.agent("bot", team="billing"), server.signed_in(None, how="link")
        ask = opened(bot, risk="critical")
        own = opened(me)
        listed = {one["id"] for one in me.get("/api/v1/asks").json()["asks"]}
        decided = decide(me, ask).json()
        desk.people.add("anna")
        afterwards = me.get("/api/v1/asks").status_code

    assert listed == {ask["id"], own["id"]}
    assert decided["decision"]["by"] == "person:sam"
    assert decided["decision"]["origin"]["account"] == "sam@till, link"
    assert afterwards == 401, "the first person ends it"
