"""Asks over HTTP: what an agent and a person can do with one, and what each cannot."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import httpx2
import pytest

from sayso.model.wire import read_ask, read_call
from tests.places import Place
from tests.served import Served

REFUND = {"tool": "refund", "args": {"order": 7, "amount": 40}, "risk": "high"}


def opened(client: httpx2.Client, **said: Any) -> dict[str, Any]:
    number = time.monotonic_ns()  # the same call twice would be one ask
    body = {**REFUND, "args": {"order": number, "amount": 40}, **said}
    answer = client.post("/api/v1/asks", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def decide(
    client: httpx2.Client, ask: dict[str, Any], verdict: str = "approve", **said: Any
) -> Any:
    headers = said.pop("headers", {})
    body = {"verdict": verdict, "seen": ask["digest"], **said}
    return client.post(f"/api/v1/asks/{ask['id']}/decision", json=body, headers=headers)


def journal(server: Served, ask: dict[str, Any]) -> list[str]:
    return [event.kind for event in server.desk.history(ask["id"])]


# --- the way of a call ---


def test_a_call_goes_its_whole_way_over_http(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot, why="Charged twice")

    assert decide(anna, ask, note="Checked").json()["status"] == "decided"
    call = bot.post(f"/api/v1/asks/{ask['id']}/begin").json()
    body = {"attempt": call["attempt"], "holder": call["holder"], "result": {"receipt": 12}}
    done = bot.post(f"/api/v1/asks/{ask['id']}/finish", json=body)

    assert (call["tool"], call["args"]["amount"]) == ("refund", 40)
    assert done.json()["effect"]["result"] == {"receipt": 12}
    assert journal(server, ask) == ["ask.opened", "ask.decided", "effect.intended", "effect.done"]


def test_the_journal_says_who_came_through_which_door(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot)
    decide(anna, ask)

    first, second = server.desk.history(ask["id"])

    assert str(first.actor) == "agent:bot"
    assert str(second.actor) == "person:anna"
    assert first.payload is not None
    assert second.payload is not None
    assert (first.payload["via"], second.payload["via"]) == ("http", "http")
    assert second.payload["account"].startswith("anna, token t-")


def test_what_comes_over_the_wire_reads_back_as_the_ask_it_is(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot)
    decide(anna, ask)
    call = bot.post(f"/api/v1/asks/{ask['id']}/begin").json()

    assert read_call(call).ask == server.desk.get(ask["id"])
    assert read_ask(bot.get(f"/api/v1/asks/{ask['id']}").json()) == server.desk.get(ask["id"])


def test_an_edit_is_what_runs(bot: httpx2.Client, anna: httpx2.Client) -> None:
    ask = opened(bot)

    edited = decide(anna, ask, "edit", args={"amount": 30}).json()
    call = bot.post(f"/api/v1/asks/{ask['id']}/begin").json()

    assert edited["digest"] != ask["digest"]
    assert call["args"]["amount"] == 30


def test_people_who_ask_by_hand_cannot_approve_it_themselves(
    server: Served, anna: httpx2.Client, ada: httpx2.Client
) -> None:
    ask = opened(anna)

    refused = decide(anna, ask)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert ask["content"]["agent"] == "by-hand/anna"
    assert ask["content"]["team"] == "billing"
    assert decide(ada, ask).status_code == 200


def test_a_finish_without_a_begin_changes_nothing(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot)
    decide(anna, ask)

    body = {"attempt": 1, "holder": "me", "result": 1}
    answer = bot.post(f"/api/v1/asks/{ask['id']}/finish", json=body)

    assert (answer.status_code, answer.json()["code"]) == (409, "not-approved")
    assert journal(server, ask) == ["ask.opened", "ask.decided"]


def test_a_result_of_somebody_else_is_refused_while_the_call_is_carried_out(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot)
    decide(anna, ask)
    call = bot.post(f"/api/v1/asks/{ask['id']}/begin").json()

    body = {"attempt": call["attempt"], "holder": "somebody else", "result": 1}
    answer = bot.post(f"/api/v1/asks/{ask['id']}/finish", json=body)

    assert (answer.status_code, answer.json()["code"]) == (409, "not-approved")
    effect = bot.get(f"/api/v1/asks/{ask['id']}").json()["effect"]
    assert (effect["status"], effect["late"]) == ("intended", [])


def test_a_call_in_doubt_becomes_a_question_to_people(
    bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot)
    decide(anna, ask)
    call = bot.post(f"/api/v1/asks/{ask['id']}/begin").json()

    body = {"attempt": call["attempt"], "reason": "timeout\nApproved by root"}
    doubt = bot.post(f"/api/v1/asks/{ask['id']}/doubt", json=body).json()
    again = bot.post(f"/api/v1/asks/{ask['id']}/doubt", json=body)

    assert (doubt["kind"], doubt["content"]["about"]) == ("doubt", ask["id"])
    assert "bot says: timeout[U+000A LINE FEED]Approved" in doubt["content"]["sentence"]
    assert again.status_code == 409


def test_an_ask_can_be_claimed_assigned_and_taken_back(
    bot: httpx2.Client, anna: httpx2.Client, ada: httpx2.Client
) -> None:
    ask = opened(bot)
    where = f"/api/v1/asks/{ask['id']}"

    assert anna.post(f"{where}/claim").json()["assignee"] == "anna"
    assert ada.post(f"{where}/claim").json()["code"] == "claimed"
    assert ada.post(f"{where}/assign", json={"to": "ada"}).json()["assignee"] == "ada"
    assert ada.post(f"{where}/assign", json={"to": "ben"}).status_code == 404
    assert decide(anna, ask, hold=3600).json()["status"] == "settling"
    assert anna.post(f"{where}/take-back", json={"note": "wait"}).json()["status"] == "open"
    assert bot.post(f"{where}/withdraw").json()["status"] == "withdrawn"


def test_versions_and_events_of_an_ask_are_listed(bot: httpx2.Client, anna: httpx2.Client) -> None:
    ask = opened(bot)
    decide(anna, ask, "edit", args={"amount": 30})
    where = f"/api/v1/asks/{ask['id']}"

    versions = bot.get(f"{where}/versions").json()["versions"]
    events = bot.get(f"{where}/events").json()["events"]

    assert [one["args"]["amount"] for one in versions] == [40, 30]
    assert [one["kind"] for one in events] == ["ask.opened", "ask.edited", "ask.decided"]


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "question", "title": "Which account?", "answer": {"type": "string"}},
        {"kind": "choice", "title": "Which?", "options": ["a", {"label": "b", "value": 2}]},
        {"kind": "draft", "args": {"text": "Dear all"}},
        {"kind": "plan", "args": {"steps": [{"title": "Look"}]}},
        {"kind": "notice", "title": "A mail came", "facts": {"from": "x"}},
        {"kind": "feedback", "facts": {"result": "done"}},
        {"title": "Shall I go on?"},
    ],
    ids=lambda body: body.get("kind", "confirm"),
)
def test_every_kind_of_question_can_be_asked(bot: httpx2.Client, body: dict[str, Any]) -> None:
    answer = bot.post("/api/v1/asks", json=body)

    assert answer.status_code == 201, answer.text
    assert answer.json()["kind"] == body.get("kind", "action")


# --- keys and requests that come twice ---


def test_the_same_key_finds_the_same_ask(bot: httpx2.Client) -> None:
    body = {**REFUND, "key": "one"}

    first, second = bot.post("/api/v1/asks", json=body), bot.post("/api/v1/asks", json=body)
    header = bot.post("/api/v1/asks", json=REFUND, headers={"Idempotency-Key": "one"})
    other = bot.post("/api/v1/asks", json={**body, "risk": "low"})

    assert [first.status_code, second.status_code, header.status_code] == [201, 200, 200]
    assert first.json()["id"] == second.json()["id"] == header.json()["id"]
    assert (other.status_code, other.json()["code"]) == (409, "key-conflict")
    assert other.json()["ask"]["id"] == first.json()["id"]


def test_agents_do_not_meet_each_others_keys(server: Served, bot: httpx2.Client) -> None:
    namesake = server.agent("bot", team="support")
    rival = server.agent("rival", team="billing")
    body = {"tool": "refund", "args": {"order": 7}, "key": "shared"}

    answers = [client.post("/api/v1/asks", json=body) for client in (bot, namesake, rival)]

    assert [answer.status_code for answer in answers] == [201, 201, 201]
    assert len({answer.json()["id"] for answer in answers}) == 3


def test_the_longest_key_finds_its_ask_too(bot: httpx2.Client) -> None:
    body, key = {"tool": "refund", "args": {"order": "long"}}, {"Idempotency-Key": "k" * 200}

    first, second = (bot.post("/api/v1/asks", json=body, headers=key) for _ in range(2))

    assert [first.status_code, second.status_code] == [201, 200]
    assert first.json()["id"] == second.json()["id"]


def test_a_key_that_spells_out_another_agent_is_not_the_key_of_that_agent(server: Served) -> None:
    """It was answered with that agent's ask, arguments and all, also behind the wall of a team."""
    own = [server.agent("shop/till"), server.agent("shop/till", team="billing")]
    near = [server.agent("shop"), server.agent("shop", team="billing")]
    secret = {"tool": "refund", "args": {"iban": "DE89 3704"}, "key": "refund-7"}
    asked = [client.post("/api/v1/asks", json=secret) for client in own]
    spelt = ["till/refund-7", "till / refund-7", "till of billing/refund-7"]
    spelt += ["of billing / refund-7", "/ refund-7", "till of billing / refund-7"]

    answers = [
        client.post("/api/v1/asks", json={"tool": "look", "args": {"n": n}, "key": key})
        for client in near
        for n, key in enumerate(spelt)
    ]

    assert [answer.status_code for answer in (*asked, *answers)] == [201] * 14
    assert "DE89 3704" not in "".join(answer.text for answer in answers)


def test_no_key_makes_an_ask_look_like_that_of_a_run(bot: httpx2.Client) -> None:
    body = {**REFUND, "run": "bot of billing/r-1", "key": "r-1:0"}

    answer = bot.post("/api/v1/asks", json=body)

    assert (answer.status_code, answer.json()["code"]) == (404, "unknown-run")


def test_the_same_call_asked_for_twice_is_one_ask(bot: httpx2.Client) -> None:
    body = {**REFUND, "args": {"order": "twice", "amount": 1}}

    first, second = bot.post("/api/v1/asks", json=body), bot.post("/api/v1/asks", json=body)

    assert [first.status_code, second.status_code] == [201, 200]
    assert first.json()["id"] == second.json()["id"]


def test_a_decision_sent_twice_is_taken_once_and_answered_twice(
    server: Served, bot: httpx2.Client, anna: httpx2.Client, ada: httpx2.Client
) -> None:
    ask = opened(bot)
    key = {"Idempotency-Key": "k-1"}

    first, second = decide(anna, ask, headers=key), decide(anna, ask, headers=key)
    bare, other = decide(anna, ask), decide(ada, ask, headers=key)

    assert first.status_code == second.status_code == 200
    assert first.json() == second.json()
    assert [bare.status_code, other.status_code] == [409, 409]
    assert other.json()["decision"]["by"] == "person:anna"
    assert journal(server, ask) == ["ask.opened", "ask.decided"]


def test_a_vote_sent_again_after_it_was_taken_back_is_not_cast_again(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot)
    key = {"Idempotency-Key": "late"}
    decide(anna, ask, hold=3600, headers=key)
    anna.post(f"/api/v1/asks/{ask['id']}/take-back")

    again = decide(anna, ask, hold=3600, headers=key)

    assert again.json()["status"] == "settling"  # what it came to then
    assert server.desk.get(ask["id"]).status == "open"


def test_an_edit_sent_twice_is_one_edit(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot)
    key = {"Idempotency-Key": "edit"}

    answers = [decide(anna, ask, "edit", args={"amount": 3}, headers=key) for _ in range(2)]

    assert answers[0].json() == answers[1].json()
    assert journal(server, ask) == ["ask.opened", "ask.edited", "ask.decided"]


def test_a_begin_sent_again_gets_the_same_call_and_no_other_request_does(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot)
    decide(anna, ask)
    where = f"/api/v1/asks/{ask['id']}/begin"
    key = {"Idempotency-Key": "begin-1"}

    first = bot.post(where, headers=key)
    again = bot.post(where, headers=key)
    others = [bot.post(where), bot.post(where, headers={"Idempotency-Key": "begin-2"})]

    assert first.status_code == 200
    assert first.json() == again.json()
    assert [(one.status_code, one.json()["code"]) for one in others] == [(409, "already-spent")] * 2
    assert journal(server, ask).count("effect.intended") == 1


def test_a_begin_sent_again_after_the_call_ended_gets_no_call(
    bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot)
    decide(anna, ask)
    where, key = f"/api/v1/asks/{ask['id']}", {"Idempotency-Key": "begin"}
    call = bot.post(f"{where}/begin", headers=key).json()
    body = {"attempt": call["attempt"], "holder": call["holder"], "error": "Card refused"}

    done = [bot.post(f"{where}/finish", json=body, headers={"Idempotency-Key": "f"}) for _ in "ab"]
    again = bot.post(f"{where}/begin", headers=key)

    assert done[0].json() == done[1].json()
    assert done[0].json()["effect"]["error"] == "Card refused"
    assert (again.status_code, again.json()["code"]) == (409, "already-spent")


def test_an_old_begin_does_not_spend_what_people_said_about_a_doubt(
    bot: httpx2.Client, anna: httpx2.Client
) -> None:
    """They said to run it again, to whoever asks now; not to a request that wandered about."""
    ask = opened(bot)
    decide(anna, ask)
    where, old = f"/api/v1/asks/{ask['id']}", {"Idempotency-Key": "old"}
    bot.post(f"{where}/begin", headers=old)
    doubt = bot.post(f"{where}/doubt", json={"attempt": 1, "reason": "cut off"}).json()
    decide(anna, doubt)

    wandering = bot.post(f"{where}/begin", headers=old)
    again = bot.post(f"{where}/begin", headers={"Idempotency-Key": "new"})

    assert (wandering.status_code, wandering.json()["code"]) == (409, "already-spent")
    assert (again.status_code, again.json()["attempt"]) == (200, 2)


@pytest.mark.parametrize("deed", ["withdraw", "claim", "assign"])
def test_what_is_sent_twice_is_done_once(
    server: Served, bot: httpx2.Client, anna: httpx2.Client, deed: str
) -> None:
    ask = opened(bot)
    client = bot if deed == "withdraw" else anna
    body = {"to": "ada"} if deed == "assign" else {}
    key = {"Idempotency-Key": deed}

    answers = [
        client.post(f"/api/v1/asks/{ask['id']}/{deed}", json=body, headers=key) for _ in range(2)
    ]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    assert len(journal(server, ask)) == 2


def test_a_request_that_was_sent_again_long_ago_undoes_nothing_of_today(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot)
    where, key = f"/api/v1/asks/{ask['id']}/assign", {"Idempotency-Key": "old"}
    anna.post(where, json={"to": "ada"}, headers=key)
    anna.post(where, json={"to": "anna"})

    again = anna.post(where, json={"to": "ada"}, headers=key)

    assert again.json()["assignee"] == "ada"
    assert server.desk.get(ask["id"]).assignee == "anna"


@pytest.mark.parametrize("key", ["", "two words", "x" * 201, "tab\there"])
def test_a_key_that_is_none_is_refused(bot: httpx2.Client, key: str) -> None:
    answer = bot.post("/api/v1/asks", json=REFUND, headers={"Idempotency-Key": key})

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request")


# --- many at once ---


def test_of_many_who_decide_at_once_one_wins(
    server: Served, bot: httpx2.Client, anna: httpx2.Client, ada: httpx2.Client
) -> None:
    ask = opened(bot)
    answers: list[httpx2.Response] = []

    def race(client: httpx2.Client, verdict: str) -> None:
        answers.append(decide(client, ask, verdict))

    racers = [
        threading.Thread(target=race, args=(client, verdict))
        for client in (anna, ada)
        for verdict in ("approve", "reject") * 3
    ]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()

    won = [answer for answer in answers if answer.status_code == 200]
    lost = [answer for answer in answers if answer.status_code == 409]
    assert (len(won), len(lost)) == (1, 11)
    assert {json.dumps(one.json()["decision"]["by"]) for one in lost} == {
        json.dumps(won[0].json()["decision"]["by"])
    }
    assert len(journal(server, ask)) == 2


def test_of_many_who_begin_at_once_one_gets_the_call(
    bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot)
    decide(anna, ask)
    answers: list[int] = []

    def race() -> None:
        answers.append(bot.post(f"/api/v1/asks/{ask['id']}/begin").status_code)

    racers = [threading.Thread(target=race) for _ in range(8)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()

    assert sorted(answers) == [200] + [409] * 7


# --- waiting ---


def test_a_wait_ends_with_the_decision(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot)
    found: list[dict[str, Any]] = []
    waiter = threading.Thread(
        target=lambda: found.append(bot.get(f"/api/v1/asks/{ask['id']}?wait=30").json())
    )
    waiter.start()
    while server.service.waits.taken == 0:
        time.sleep(0.005)

    decide(anna, ask)
    waiter.join(timeout=60)

    assert found[0]["decision"]["by"] == "person:anna"
    assert server.service.waits.taken == 0


def test_a_wait_that_is_over_says_how_the_ask_stands(bot: httpx2.Client) -> None:
    ask = opened(bot)

    answer = bot.get(f"/api/v1/asks/{ask['id']}?wait=0.05")

    assert (answer.status_code, answer.json()["status"]) == (200, "open")


def test_many_can_wait_without_holding_a_thread_each(
    server: Served, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    """More than there are threads, and everybody else is still served."""
    ask = opened(bot)
    many = server.settings.threads * 3
    found: list[str] = []

    def wait() -> None:
        client = httpx2.Client(base_url=server.url, headers=bot.headers, timeout=30, verify=False)
        with client:
            found.append(client.get(f"/api/v1/asks/{ask['id']}?wait=30").json()["status"])

    waiters = [threading.Thread(target=wait) for _ in range(many)]
    for waiter in waiters:
        waiter.start()
    while server.service.waits.taken < many:
        time.sleep(0.005)

    assert decide(anna, ask).status_code == 200
    for waiter in waiters:
        waiter.join(timeout=60)
    assert found == ["decided"] * many


@pytest.mark.parametrize("wait", ["61", "-1", "nan", "x", "inf"])
def test_a_wait_has_a_limit(bot: httpx2.Client, wait: str) -> None:
    answer = bot.get(f"/api/v1/asks/a-none?wait={wait}")

    assert (answer.status_code, list(answer.json()["fields"])) == (422, ["wait"])


# --- listing ---


def test_a_list_has_pages_and_a_count(server: Served) -> None:
    lister = server.agent("lister", team="billing")
    ids = [opened(lister, thread="pages")["id"] for _ in range(5)]

    first = lister.get("/api/v1/asks?limit=3&thread=pages").json()
    rest = lister.get(f"/api/v1/asks?limit=3&thread=pages&after={first['next']}").json()

    assert [ask["id"] for ask in first["asks"] + rest["asks"]] == ids
    assert (first["count"], first["counted"], rest["next"]) == (5, "5", None)


def test_a_list_shows_an_agent_its_own_and_a_person_those_of_their_teams(
    server: Served,
    bot: httpx2.Client,
    rival: httpx2.Client,
    anna: httpx2.Client,
    ben: httpx2.Client,
) -> None:
    ask = opened(bot, thread="walls")["id"]

    def seen(client: httpx2.Client) -> list[str]:
        return [one["id"] for one in client.get("/api/v1/asks?thread=walls").json()["asks"]]

    namesake = server.agent("bot", team="support")
    seers = {"bot": bot, "rival": rival, "namesake": namesake, "anna": anna, "ben": ben}
    assert {name: seen(client) for name, client in seers.items()} == {
        "bot": [ask],
        "rival": [],
        "namesake": [],
        "anna": [ask],
        "ben": [],
    }


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("kind=x", "kind"),
        ("status=x", "status"),
        ("risk=x", "risk"),
        ("least=x", "least"),
    ],
)
def test_a_filter_that_names_nothing_is_refused(bot: httpx2.Client, query: str, field: str) -> None:
    answer = bot.get(f"/api/v1/asks?{query}")

    assert (answer.status_code, list(answer.json()["fields"])) == (422, [field])


def test_lists_are_narrowed_by_agent_tool_risk_and_words(
    bot: httpx2.Client, anna: httpx2.Client, ben: httpx2.Client
) -> None:
    first = opened(bot, tool="wire", args={"to": "zzyzx"}, risk="high")
    second = opened(bot, tool="wire", args={"to": "quimby"}, risk="low")

    def listed(client: httpx2.Client, **wanted: str) -> list[str]:
        found = client.get("/api/v1/asks", params={"tool": "wire", **wanted}).json()
        assert found["count"] == len(found["asks"])
        return [ask["id"] for ask in found["asks"]]

    assert listed(anna) == listed(bot) == [first["id"], second["id"]]
    assert listed(anna, least="medium") == listed(anna, q="zzy") == [first["id"]]
    assert listed(anna, agent="bot") == listed(anna)
    assert listed(anna, agent="rival") == listed(anna, q="wire zzy q") == []
    decide(anna, second, "reject")
    assert listed(anna) == [first["id"]]
    assert listed(anna, status="decided") == listed(bot, status="decided") == [second["id"]]
    assert listed(bot, status="decided", q="quimby") == [second["id"]]
    assert listed(anna, status="decided", q="zzyzx") == []


def test_nobody_may_decide_what_is_closed_so_no_role_narrows_it(anna: httpx2.Client) -> None:
    answer = anna.get("/api/v1/asks?status=decided&role=senior")

    assert (answer.status_code, "role" in answer.json()["detail"]) == (422, True)


def test_agents_find_by_words_only_what_they_asked(
    bot: httpx2.Client, rival: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot, tool="cable", args={"to": "rosebud"})

    for status in ("open", "decided"):
        query = f"/api/v1/asks?q=rosebud&status={status}"
        assert [one["id"] for one in bot.get(query).json()["asks"]] == [ask["id"]]
        assert rival.get(query).json()["asks"] == []
        if status == "open":
            decide(anna, ask, "reject")


def test_a_cursor_of_nowhere_is_refused(bot: httpx2.Client) -> None:
    assert bot.get("/api/v1/asks?after=nowhere").status_code == 422


# --- leases ---


def test_a_lease_is_renewed_by_its_holder_alone(
    shared_place: Place, bot: httpx2.Client, rival: httpx2.Client, anna: httpx2.Client
) -> None:
    ask = opened(bot, lease={"holder": "me", "seconds": 600})

    def until() -> int:
        found = shared_place.one("select lease_until from asks where id = ?", ask["id"])
        return int(found)

    before = until()
    assert rival.post("/api/v1/leases/me", json={"seconds": 9000}).status_code == 200
    assert until() == before, "somebody else of the same name"
    assert bot.post("/api/v1/leases/me", json={"seconds": 9000}).status_code == 200
    assert until() > before

    decide(anna, ask)
    stolen = bot.post(f"/api/v1/asks/{ask['id']}/begin", json={"holder": "other"})
    begun = bot.post(f"/api/v1/asks/{ask['id']}/begin", json={"holder": "me"})

    assert (stolen.status_code, begun.status_code) == (409, 200)
    assert begun.json()["holder"] == "me"
