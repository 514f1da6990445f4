"""What somebody with a credential of their own tries against everybody else."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sayso import Desk
from sayso.access.caller import AGENT_SCOPES, Caller
from sayso.access.sessions import open_session
from sayso.web.visit import Visit
from tests.served import QUICK, Served, served

TRUSTED = """
[tools.refund]
args = { order = "integer" }

[tools.look]
tier = "low"
args = { order = "integer" }

[[rules]]
name = "trusted"
tool = "refund"
when = "agent == 'till'"
tier = "low"
"""
Raw = Callable[..., tuple[int, bytes]]  # method, path, headers; returns the status and all of it


@pytest.fixture(scope="module")
def both(server: Served) -> httpx2.Client:
    """Somebody of two teams."""
    server.desk.people.add("both", teams=["billing", "support"])
    return server.person("both")


def opened(client: httpx2.Client, **said: Any) -> dict[str, Any]:
    body = {"tool": "refund", "args": {"order": time.monotonic_ns()}, **said}
    answer = client.post("/api/v1/asks", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def approved(agent: httpx2.Client, person: httpx2.Client, **said: Any) -> str:
    ask = opened(agent, **said)
    body = {"verdict": "approve", "seen": ask["digest"]}
    assert person.post(f"/api/v1/asks/{ask['id']}/decision", json=body).status_code == 200
    return str(ask["id"])


def code(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


# --- looking over the wall ---------------------------------------------------------------------


@pytest.mark.parametrize("how", ["run", "thread", "assignee", "risk", "kind", "nothing"])
def test_no_filter_shows_an_agent_what_another_asked(
    server: Served, rival: httpx2.Client, how: str
) -> None:
    server.desk.open(
        "refund",
        {"order": time.monotonic_ns()},
        agent="bot",
        team="billing",
        run="r-hidden",
        thread="t-hidden",
        risk="low",
    )
    query = {"run": "r-hidden", "thread": "t-hidden", "risk": "low", "kind": "action"}
    listed = rival.get("/api/v1/asks", params={how: query[how]} if how in query else {}).json()

    assert {ask["content"]["agent"] for ask in listed["asks"]} <= {"rival"}
    assert listed["count"] == len(listed["asks"])


def test_an_agent_of_the_same_name_in_another_team_is_another_agent(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = approved(bot, anna, key="the-key")
    twin = server.agent("bot", team="support")

    for method, path in (
        ("GET", ""),
        ("GET", "/events"),
        ("GET", "/versions"),
        ("POST", "/begin"),
        ("POST", "/withdraw"),
    ):
        assert code(twin.request(method, f"/api/v1/asks/{ask}{path}")) == (404, "unknown-ask")
    assert opened(twin, key="the-key")["id"] != ask


def test_what_is_about_an_ask_of_another_team_does_not_carry_its_words_across(
    both: httpx2.Client,
) -> None:
    secret = {"kind": "draft", "title": "Letter", "args": {"text": "our secret"}}
    first = both.post("/api/v1/asks", json={**secret, "team": "billing"}).json()
    second = {"kind": "draft", "title": "Letter", "args": {"text": "hello"}, "about": first["id"]}

    refused = both.post("/api/v1/asks", json={**second, "team": "support"})

    assert refused.status_code == 422
    assert list(refused.json()["fields"]) == ["about"]
    assert both.post("/api/v1/asks", json={**second, "team": "billing"}).status_code == 201


def test_versions_of_another_team_are_left_out_however_they_came_to_be(
    server: Served, ben: httpx2.Client
) -> None:
    """At a desk on the database itself nobody checks."""
    desk = server.desk
    first = desk.put(desk.forms.draft("our secret", team="billing").content)
    hello = desk.forms.draft("hello", team="support").content
    second = desk.put(hello.changed(about=first.id))

    seen = ben.get(f"/api/v1/asks/{second.id}/versions").text

    assert "hello" in seen
    assert "secret" not in seen


def test_a_name_that_does_not_exist_lists_nobody_else(
    anna: httpx2.Client, bot: httpx2.Client
) -> None:
    """Who is on the desk is for administrators to list."""
    ask = opened(bot)["id"]
    for answer in (
        anna.get("/api/v1/asks", params={"person": "zoe"}),
        anna.post(f"/api/v1/asks/{ask}/assign", json={"to": "zoe"}),
    ):
        assert code(answer) == (404, "unknown-person")
        assert "ben" not in answer.text


@pytest.mark.parametrize("query", [{"person": "ben"}, {"person": "zoe"}, {"role": "senior"}])
def test_an_agent_cannot_ask_who_there_is(bot: httpx2.Client, query: dict[str, str]) -> None:
    assert code(bot.get("/api/v1/asks", params=query)) == (403, "forbidden")


@pytest.mark.parametrize("team", [None, "billing"])
def test_an_agent_that_names_a_role_is_not_told_of_others(server: Served, team: str | None) -> None:
    agent = server.agent("curious", team=team)

    answer = agent.post("/api/v1/asks", json={"tool": "refund", "needs": ["wizard"]})

    assert answer.status_code == 422
    assert "wizard" in answer.json()["detail"]
    assert "senior" not in answer.text


def test_who_is_in_another_team_sounds_like_who_is_nowhere(
    anna: httpx2.Client, bot: httpx2.Client
) -> None:
    ask = opened(bot)["id"]

    ben, nobody = (
        anna.post(f"/api/v1/asks/{ask}/assign", json={"to": name}) for name in ("ben", "zoe")
    )

    assert code(ben) == code(nobody) == (404, "unknown-person")
    assert ben.text.replace("ben", "zoe") == nobody.text


def test_a_run_of_another_team_sounds_like_one_that_is_not_there(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    name = f"settle-{time.monotonic_ns()}"
    flow = server.desk.workflow(name=name)(lambda run: None)
    theirs, own = (server.desk.start(flow, team=team).id for team in ("support", "billing"))

    for client, run in [(bot, theirs), (bot, own), (anna, theirs)]:
        there, nowhere = (
            client.post("/api/v1/asks", json={"tool": "refund", "run": one})
            for one in (run, "r-zzzz")
        )
        assert code(there) == code(nowhere) == (404, "unknown-run")
        assert there.text.replace(run, "r-zzzz") == nowhere.text
    assert anna.post("/api/v1/asks", json={"tool": "refund", "run": own}).status_code == 201


@pytest.mark.parametrize("name", ["bot", "BOT"])
def test_nobody_asks_in_the_name_of_an_agent_that_has_a_token(
    anna: httpx2.Client, bot: httpx2.Client, name: str
) -> None:
    """Or the agent would find it among its own, and carry it out."""
    answer = anna.post("/api/v1/asks", json={"tool": "refund", "agent": name})

    assert code(answer) == (403, "forbidden")
    assert anna.post("/api/v1/asks", json={"tool": "refund", "agent": "till"}).is_success


def test_nobody_runs_a_call_alone_by_naming_an_agent_that_may(tmp_path: Path) -> None:
    """A rule goes by the name of an agent: somebody without a role asked under that name."""
    law = tmp_path / "law.toml"
    law.write_text(TRUSTED)
    with Desk(tmp_path / "desk.db", policy=law) as desk, served(desk) as server:
        desk.people.add("jo")
        desk.people.add("anna")
        made, text = desk.tokens.make("till", "agent")
        jo, till = server.person("jo"), server.client(text)

        assert opened(till)["status"] == "decided"
        assert opened(jo, tool="look", agent="till-2")["status"] == "decided"
        desk.tokens.revoke(made.id)
        assert opened(jo, agent="till")["status"] == "open"


def test_a_person_called_like_an_agent_has_keys_of_their_own(server: Served) -> None:
    """Or the agent, with a key that it guesses, would be shown what it conflicts with."""
    agent = server.agent("zed")
    server.desk.people.add("zed", teams=["billing"])

    theirs = opened(server.person("zed"), key="monday")

    assert opened(agent, key="monday")["id"] != theirs["id"]


# --- taking what is somebody else's ------------------------------------------------------------


def test_the_holder_of_another_agent_gets_nobody_its_call(
    bot: httpx2.Client, rival: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = approved(bot, anna)
    mine = {"holder": "till-1"}
    assert bot.post(f"/api/v1/asks/{ask}/begin", json=mine).status_code == 200
    done = {"attempt": 1, "holder": "till-1", "result": "forged"}

    assert rival.post(f"/api/v1/asks/{ask}/begin", json=mine).status_code == 404
    assert rival.post(f"/api/v1/asks/{ask}/finish", json=done).status_code == 404
    assert rival.post("/api/v1/leases/till-1", json={"seconds": 86_400}).status_code == 200
    assert code(anna.post(f"/api/v1/asks/{ask}/begin", json=mine)) == (409, "already-spent")
    assert code(anna.post(f"/api/v1/asks/{ask}/finish", json=done)) == (409, "not-approved")
    doubt = {"attempt": 1, "reason": "Did it?"}
    assert code(anna.post(f"/api/v1/asks/{ask}/doubt", json=doubt)) == (409, "not-approved")

    effect = bot.get(f"/api/v1/asks/{ask}").json()["effect"]
    assert (effect["status"], effect["late"]) == ("intended", [])
    assert bot.post(f"/api/v1/asks/{ask}/doubt", json=doubt).status_code in (200, 201)


def test_no_agent_holds_what_another_holds_by_how_it_is_called(server: Served) -> None:
    """Else it would keep the lease of another alive, whose program has gone."""

    def held(name: str, team: str, holder: str) -> str:
        scopes = frozenset(AGENT_SCOPES)
        caller = Caller("agent", name, scopes, "token t-1", "t-1", team=team)
        return Visit(server.desk, caller).held(holder)

    assert held("shop", "till", "one:two") != held("shop:till", "one", "two")
    assert held("shop", "till", "one") == held("shop", "till", "one")


@pytest.mark.parametrize("taken", [{"allow": ["approve"]}, {"deny": 2}])
def test_no_agent_takes_the_no_away_from_people(bot: httpx2.Client, taken: dict[str, Any]) -> None:
    came = bot.post("/api/v1/asks", json={"tool": "wipe", "risk": "critical", **taken})

    assert code(came) == (422, "bad-value")
    assert [*came.json()["fields"]] == [*taken]


def test_the_idempotency_key_of_another_gets_nobody_its_call(
    bot: httpx2.Client, server: Served, anna: httpx2.Client
) -> None:
    ask = approved(bot, anna)
    key = {"Idempotency-Key": "begin-1"}
    assert bot.post(f"/api/v1/asks/{ask}/begin", headers=key).status_code == 200
    again = server.agent("bot", team="billing")  # the same agent, with another token

    assert bot.post(f"/api/v1/asks/{ask}/begin", headers=key).status_code == 200
    assert anna.post(f"/api/v1/asks/{ask}/begin", headers=key).status_code == 409
    assert again.post(f"/api/v1/asks/{ask}/begin", headers=key).status_code == 409


def test_a_token_of_one_scope_shuts_nobody_out(server: Served) -> None:
    """Whoever finds it could else revoke its owner's other tokens and end their sessions."""
    whole, _ = server.desk.tokens.make("anna", "person")
    narrow, text = server.desk.tokens.make("anna", "person", scopes=["asks:read"])
    session, _ = open_session(
        server.desk.store, "anna", how="password", address="127.0.0.1", agent_string="test"
    )
    thief = server.client(text)

    assert thief.delete(f"/api/v1/tokens/{whole.id}").status_code == 403
    assert thief.delete(f"/api/v1/sessions/{session.id}").status_code == 403
    assert thief.delete(f"/api/v1/tokens/{narrow.id}").status_code == 204, "itself it may"
    assert thief.get("/api/v1/session").status_code == 401


def test_people_who_come_while_the_service_runs_sign_in_afresh_for_what_is_critical(
    tmp_path: Path,
) -> None:
    """It was started for whoever sits there alone, and says so until it is started again."""
    alone = replace(QUICK, mode="local")
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk, served(desk, alone) as server:
        desk.people.add("anna", roles=["senior"])
        desk.people.add("ada", roles=["senior", "security"])
        ask = desk.open("wipe", {"disk": 1}, risk="critical")
        body = {"verdict": "approve", "seen": ask.digest}

        refused = server.person("anna").post(f"/api/v1/asks/{ask.id}/decision", json=body)

        assert code(refused) == (403, "sign-in-again")


# --- keeping the server busy -------------------------------------------------------------------


def doubling(times: int) -> dict[str, Any]:
    step = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(times)}
    return {"$defs": {**step, f"d{times}": {"type": "object"}}, "$ref": "#/$defs/d0"}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"properties": {"text": {"pattern": "^(a+)+$"}}}, "a" * 5000 + "!"),
        ({"properties": {"text": {"pattern": "^(a*)*(b*)*\\1$"}}}, "a" * 5000 + "!"),
        ({"patternProperties": {"^(t+)+$": {}}}, "t"),
        (doubling(60), "x"),
    ],
    ids=["back and forth", "references", "names", "doubling"],
)
def test_no_schema_of_an_agent_keeps_everybody_waiting(
    bot: httpx2.Client, schema: dict[str, Any], text: str
) -> None:
    body = {"tool": "write", "args": {"text": text, "t" * 5000 + "!": 1}, "schema": schema}

    assert bot.post("/api/v1/asks", json=body).status_code in (201, 422)


def test_no_schema_of_an_agent_keeps_the_person_waiting_who_answers(
    bot: httpx2.Client, anna: httpx2.Client
) -> None:
    answer = {"type": "string", "pattern": "^(a+)+$"}
    ask = opened(bot, kind="question", title="Which?", answer=answer, tool=None, args=None)
    body = {"verdict": "respond", "seen": ask["digest"], "answer": "a" * 5000 + "!"}

    refused = anna.post(f"/api/v1/asks/{ask['id']}/decision", json=body)

    assert code(refused) == (422, "invalid-answer")


# --- playing with the protocol -----------------------------------------------------------------


@pytest.fixture(scope="module")
def raw(server: Served) -> Raw:
    def send(method: str, path: str, *headers: str) -> tuple[int, bytes]:
        lines = (f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *headers)
        return exchanged(server.port, [*lines, "Connection: close"])

    return send


def exchanged(port: int, lines: Sequence[str]) -> tuple[int, bytes]:
    with closing(socket.create_connection(("127.0.0.1", port), timeout=20)) as wire:
        wire.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        heard = b""
        while piece := wire.recv(65_536):
            heard += piece
    return int(heard.split(b" ", 2)[1]), heard


def test_of_two_credentials_in_one_request_neither_counts(
    server: Served, raw: Raw, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    tokens = [f"Authorization: {client.headers['Authorization']}" for client in (bot, anna)]

    assert raw("GET", "/api/v1/session", tokens[0])[0] == 200
    for pair in (tokens, tokens[::-1], [tokens[1], "Authorization: Bearer x"]):
        assert raw("GET", "/api/v1/session", *pair)[0] == 401
    assert raw("GET", "/api/v1/session", f"{tokens[1]}, Bearer x")[0] == 401


@pytest.mark.parametrize(
    "where", ["asks?{}", "asks?run=%20{}", "asks?{}=1", "asks/{}", "tokens/{}"]
)
def test_a_token_anywhere_in_an_address_is_refused_and_not_repeated(
    bot: httpx2.Client, where: str
) -> None:
    token = bot.headers["Authorization"].removeprefix("Bearer ")

    refused = bot.get(f"/api/v1/{where.format(token)}")

    assert code(refused) == (400, "credential-in-url")
    assert token not in refused.text


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "CONNECT", "PUT", "get", "BREW"])
@pytest.mark.parametrize("path", ["/api/v1/asks", "/api/v1/asks/{}/decision", "/api/v1/session"])
def test_no_other_method_does_anything(
    server: Served, raw: Raw, anna: httpx2.Client, method: str, path: str
) -> None:
    ask = server.desk.open("refund", {"order": 1}, agent="bot", team="billing")
    token = f"Authorization: {anna.headers['Authorization']}"
    before = len(server.desk.history(ask))

    status, _ = raw(method, path.format(ask.id), token)

    assert status == 405
    assert len(server.desk.history(ask)) == before


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/asks/",
        "/api/v1//asks",
        "//api/v1/asks",
        "/API/v1/asks",
        "/api/v1/asks/../asks",
        "/api/v1/asks%2f",
        "/api/v1/asks;x",
        "http://elsewhere.example/api/v1/asks",
    ],
)
def test_an_address_has_one_spelling(raw: Raw, anna: httpx2.Client, path: str) -> None:
    """So that nobody in front of us reads another route than we do."""
    assert raw("GET", path, f"Authorization: {anna.headers['Authorization']}")[0] == 404


@pytest.mark.parametrize("host", ["127.0.0.1:{}\xe9", "\xb5sayso", "localhost:{}, x", "", "[::1"])
def test_a_strange_host_is_refused(server: Served, host: str) -> None:
    lines = ["GET /api/v1/about HTTP/1.1", f"Host: {host.format(server.port)}", "Connection: close"]

    assert exchanged(server.port, lines)[0] in (400, 421)


def test_hostile_words_are_visible_in_problems(bot: httpx2.Client, anna: httpx2.Client) -> None:
    """A problem is shown in terminals and logs: nothing in it draws, turns round or begins a line."""
    title = "pay\x1b[2J\u202e\r\nX-Injected: 1"
    ask = opened(bot, kind="action", title=title)
    assert anna.post(f"/api/v1/asks/{ask['id']}/withdraw").status_code == 200

    late = bot.post(f"/api/v1/asks/{ask['id']}/withdraw")

    said = late.json()["detail"]
    assert late.status_code == 409
    assert said.isprintable(), said
    assert "x-injected" not in late.headers
