"""Asks over HTTP: what an agent and a person can do with one, and what each cannot."""

from __future__ import annotations

import threading
import time
from typing import Any

import httpx2
import pytest

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


def test_people_who_ask_by_hand_cannot_approve_it_themselves(
    server: Served, anna: httpx2.Client, ada: httpx2.Client
) -> None:
    ask = opened(anna)

    refused = decide(anna, ask)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert ask["content"]["agent"] == "by-hand/anna"
    assert ask["content"]["team"] == "billing"
    assert decide(ada, ask).status_code == 200


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
