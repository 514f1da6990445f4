"""The faults of the list of evidence that concern the service, one test each.

As in `test_evidence.py`: each test is the story of a fault measured elsewhere, told of a desk
behind HTTP. The finer points are in `tests/web`.
"""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.places import Place
from tests.served import Served
from tests.web.conftest import anna, ben, bot, rival, server, shared_place

__all__ = ["anna", "ben", "bot", "rival", "server", "shared_place"]  # fixtures


def opened(client: httpx2.Client, **said: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/asks", json=said)
    assert answer.status_code in (200, 201), answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("by", [None, "ceo@corp.com", "anna"])
def test_e14_an_agents_token_cannot_approve_its_ask(
    server: Served, shared_place: Place, bot: httpx2.Client, by: str | None
) -> None:
    """awaithumans: the agent's own token approved its ask as "ceo@corp.com"; the audit says human."""
    ask = opened(bot, tool="wire", args={"amount": 1}, risk="high")
    before = shared_place.count()

    body = {"verdict": "approve", "seen": ask["digest"]} | ({} if by is None else {"by": by})
    deeds = ("decision", "claim", "assign", "take-back")
    answers = [bot.post(f"/api/v1/asks/{ask['id']}/{deed}", json=body) for deed in deeds]
    unknown = bot.post("/api/v1/asks/a-none/decision", json=body)

    codes = {(answer.status_code, answer.json()["code"]) for answer in (*answers, unknown)}
    assert codes == {(403, "agents-cannot-decide")}
    assert shared_place.count() == before, "the journal says nothing of it"
    assert server.desk.get(ask["id"]).open


def test_e14_a_person_decides_as_who_they_signed_in_and_as_nobody_else(
    server: Served, bot: httpx2.Client
) -> None:
    ask = opened(bot, tool="wire", args={"amount": 2})
    anna = server.signed_in("anna")
    where = f"/api/v1/asks/{ask['id']}/decision"

    claimed = {"verdict": "approve", "seen": ask["digest"], "by": "ada"}
    refused = anna.post(where, json=claimed)
    decided = anna.post(where, json={"verdict": "approve", "seen": ask["digest"]}).json()

    assert list(refused.json()["fields"]) == ["by"]
    assert decided["decision"]["by"] == "person:anna"
    assert decided["decision"]["origin"] == {
        "via": "web",
        "account": "anna, password",
        "request": None,
    }


def test_e16_an_answer_that_breaks_the_schema_is_refused_by_field(
    server: Served, shared_place: Place, bot: httpx2.Client, anna: httpx2.Client
) -> None:
    """awaithumans: an answer that breaks the response schema was stored as completed."""
    schema = {
        "type": "object",
        "properties": {"amount": {"type": "integer", "maximum": 100}},
        "required": ["amount"],
    }
    ask = opened(bot, kind="question", title="How much?", answer=schema)
    where = f"/api/v1/asks/{ask['id']}/decision"
    before = shared_place.count()

    body = {"verdict": "respond", "seen": ask["digest"], "answer": {"amount": "all of it"}}
    answer = anna.post(where, json=body)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-answer")
    assert list(answer.json()["fields"]) == ["amount"]
    assert shared_place.count() == before
    assert anna.post(where, json=body | {"answer": {"amount": 30}}).status_code == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"])
def test_e25_what_a_mail_scanner_sends_decides_nothing(
    server: Served, shared_place: Place, bot: httpx2.Client, method: str
) -> None:
    """n8n, Activepieces: a mail scanner or link preview approved by GET."""
    ask = opened(bot, tool="wire", args={"amount": 3})
    anna = server.signed_in("anna")
    before = shared_place.count()

    query = f"verdict=approve&seen={ask['digest']}"
    for place in ("", "/decision", "/approve", "/begin", "/withdraw", "/claim", "/events"):
        anna.request(method, f"/api/v1/asks/{ask['id']}{place}?{query}")

    assert shared_place.count() == before
    assert server.desk.get(ask["id"]).open


def test_e33_another_team_gets_a_404_for_everything_about_an_ask(
    server: Served,
    shared_place: Place,
    bot: httpx2.Client,
    ben: httpx2.Client,
    rival: httpx2.Client,
) -> None:
    """One tenant or team reads another's ask by id."""
    ask = opened(bot, tool="wire", args={"amount": 4})
    namesake = server.agent("bot", team="support")
    gets = ("", "?wait=1", "/events", "/versions")
    posts: dict[str, dict[str, Any]] = {
        "decision": {"verdict": "approve", "seen": ask["digest"]},
        "take-back": {},
        "claim": {},
        "assign": {"to": "ben"},
        "begin": {},
        "finish": {"attempt": 1, "holder": "x"},
        "doubt": {"attempt": 1, "reason": "x"},
        "withdraw": {},
    }
    agents = ("begin", "finish", "doubt", "withdraw")
    before = shared_place.count()

    def about(client: httpx2.Client, ask_id: str, deeds: tuple[str, ...]) -> list[tuple[int, str]]:
        where = f"/api/v1/asks/{ask_id}"
        answers = [client.get(f"{where}{one}") for one in gets]
        answers += [client.post(f"{where}/{deed}", json=posts[deed]) for deed in deeds]
        return [(one.status_code, one.json()["detail"].replace(ask_id, "ID")) for one in answers]

    for client, deeds in ((ben, tuple(posts)), (rival, agents), (namesake, agents)):
        theirs, nobodys = about(client, ask["id"], deeds), about(client, "a-0000", deeds)
        assert {status for status, _ in theirs} == {404}
        assert theirs == nobodys, "whether it exists cannot be told"
    assert shared_place.count() == before
