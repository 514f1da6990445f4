"""E46: one agent cannot stall the service for the others, nor bury what they ask.

The stories are told by counting and by holding what takes long, never by the clock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sayso import Desk
from sayso.asks import posted
from sayso.asks.lawbook import default_policy
from sayso.errors import TooManyAsks
from sayso.model.schema import check_schema
from sayso.policy.reading import read
from sayso.testing import FakeClock
from tests.places import Place
from tests.served import QUICK, Served, served
from tests.together import at_once, until

ASKS = "/api/v1/asks"
SCHEMA = {"type": "object", "properties": {"order": {"type": "integer"}}}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk, served(desk) as server:
        desk.people.add("anna")
        yield server


class Held:
    """A check of a schema that takes until it is let go."""

    def __init__(self, check: Any) -> None:
        self._check = check
        self._lock = threading.Lock()
        self.begun = threading.Event()
        self.let_go = threading.Event()
        self.now = self.most = 0

    def __call__(self, schema: Any) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.begun.set()
        assert self.let_go.wait(30)
        self._check(schema)
        with self._lock:
            self.now -= 1


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    held = Held(check_schema)
    monkeypatch.setattr(posted, "check_schema", held)
    yield held
    held.let_go.set()


def post(client: httpx2.Client, order: int, **said: Any) -> httpx2.Response:
    return client.post(ASKS, json={"tool": "refund", "args": {"order": order}, **said})


def test_schemas_of_one_credential_are_checked_one_at_a_time_e46(
    server: Served, held: Held
) -> None:
    """Sixteen at once took all threads: nobody else was answered for half a minute."""
    bot, other, anna = server.agent("bot"), server.agent("other"), server.person("anna")
    answers: list[int] = []

    def flood() -> None:
        calls = [lambda n=n: post(bot, n, schema=SCHEMA).status_code for n in range(20)]
        answers.extend(at_once(calls))

    flooding = threading.Thread(target=flood)
    flooding.start()
    assert held.begun.wait(30)

    assert httpx2.get(f"{server.url}/health").status_code == 200
    assert httpx2.get(f"{server.url}/ready").status_code == 200
    assert post(other, 1).status_code == 201
    assert anna.get(ASKS).json()["count"] == 1
    held.let_go.set()
    flooding.join(30)
    assert answers == [201] * 20
    assert held.most == 1


def test_another_credential_checks_beside_it_e46(server: Served, held: Held) -> None:
    bots = [server.agent(f"bot{n}") for n in range(2)]
    posts = [
        threading.Thread(target=post, args=(bot, 7), kwargs={"schema": SCHEMA}) for bot in bots
    ]
    for one in posts:
        one.start()
    until(lambda: held.most == 2)
    held.let_go.set()
    for one in posts:
        one.join(30)


def test_who_stands_in_line_too_often_is_told_when_to_come_back_e46(
    tmp_path: Path, held: Held
) -> None:
    few = replace(QUICK, turns_each=2)
    with Desk(f"sqlite:///{tmp_path}/desk.db") as desk, served(desk, few) as server:
        bot = server.agent("bot")
        waiting = [
            threading.Thread(target=post, args=(bot, n), kwargs={"schema": SCHEMA}) for n in (1, 2)
        ]
        for one in waiting:
            one.start()
        until(lambda: server.service.turns.taken == 2)

        refused = post(bot, 3, schema=SCHEMA)
        large = post(bot, 4, why="x" * 20_000)

        for answer in (refused, large):
            assert answer.status_code == 429
            assert answer.json()["code"] == "too-many-requests"
            assert answer.headers["Retry-After"] == "5"
        assert post(bot, 5).status_code == 201, "what is small and plain needs no turn"
        held.let_go.set()
        for one in waiting:
            one.join(30)
        assert server.service.turns.taken == 0
        assert server.desk.inbox().count == 3


@pytest.mark.parametrize("field", ["schema", "answer", "returns"])
def test_a_schema_that_takes_too_long_is_refused_at_the_door_e46(
    server: Served, field: str
) -> None:
    step = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(14)}
    doubling = {"$defs": {**step, "d14": {"type": "integer"}}, "$ref": "#/$defs/d0"}
    asked: dict[str, Any] = {"tool": "refund", "args": {"order": "x"}}
    if field == "answer":
        asked = {"kind": "question", "title": "Which?"}

    answer = server.agent("bot").post(ASKS, json={**asked, field: doubling})

    said = answer.json()
    assert (answer.status_code, [*said["fields"]]) == (422, [field])
    assert "takes too long to check" in said["detail"]
    assert server.desk.inbox().count == 0


# --- the pace ----------------------------------------------------------------------------------


def test_a_flood_hears_when_to_come_back_and_people_hear_of_it_e46(tmp_path: Path) -> None:
    law = read('[agents]\nasks = "3 per minute"\n', source="law", default=default_policy())
    clock = FakeClock()
    with (
        Desk(f"sqlite:///{tmp_path}/desk.db", policy=law, clock=clock) as desk,
        served(desk) as server,
    ):
        desk.people.add("anna", roles=["admin"])
        bot = server.agent("bot")
        for n in range(3):
            assert post(bot, n).status_code == 201
            clock.advance("10s")

        refused = [post(bot, n) for n in range(3, 9)]

        assert {answer.status_code for answer in refused} == {429}
        assert {answer.headers["Retry-After"] for answer in refused} == {"30"}
        said = refused[0].json()
        assert (said["code"], said["more"]["after"]) == ("too-many-asks", 30.0)
        assert "bot has asked 3 times within 1 min" in said["detail"]
        page = server.signed_in("anna").get("/overview").text
        assert "bot asked 3 times within 1 min and is slowed down" in page
        clock.advance("30s")
        assert post(bot, 3).status_code == 201, "nothing was lost"


def test_calls_that_run_alone_and_never_end_bury_nobody_e46(place: Place) -> None:
    """Each was begun and given up: 943 doubts of one agent in 24 seconds."""
    text = '[tools.look]\ntier = "low"\nargs = { order = "integer" }\n[agents]\nwaiting = 3\n'
    law = read(text, source="law", default=default_policy())
    with Desk(place.url, policy=law) as desk, served(desk) as server:
        desk.people.add("anna", roles=["admin"])
        bot = server.agent("bot")

        def begun(order: int) -> httpx2.Response:
            ask = bot.post("/api/v1/asks", json={"tool": "look", "args": {"order": order}}).json()
            return bot.post(f"/api/v1/asks/{ask['id']}/begin", json={"holder": "till"})

        first, second = begun(1).json()["ask"]["id"], begun(2).json()["ask"]["id"]
        silent = {"attempt": 1, "reason": "Silence"}
        doubt = bot.post(f"/api/v1/asks/{first}/doubt", json=silent).json()
        assert begun(3).status_code == 200

        refused = begun(4)

        assert (refused.status_code, refused.json()["code"]) == (429, "too-many-asks")
        assert "bot has 1 asks open and 2 calls begun, and may have 3 in all" in refused.text
        page = server.signed_in("anna").get("/overview").text
        assert "bot has 1 asks open and 2 calls begun" in page
        assert begun(5).status_code == 429
        bot.post(f"/api/v1/asks/{second}/finish", json={"attempt": 1, "holder": "till"})
        assert begun(6).status_code == 200, "what has ended counts no more"
        desk.reject(desk.get(doubt["id"]), by="anna")
        assert begun(7).status_code == 200, "nor does what people have decided"


def test_the_remote_desk_says_when_to_come_back_e46(tmp_path: Path) -> None:
    law = read("[agents]\nwaiting = 1\n", source="law", default=default_policy())
    with (
        Desk(f"sqlite:///{tmp_path}/desk.db", policy=law) as desk,
        served(desk) as server,
        Desk(server.url, token=server.token("bot", kind="agent")) as remote,
    ):
        remote.open("refund", {"order": 1})

        with pytest.raises(TooManyAsks, match="once some of them are decided") as refused:
            remote.open("refund", {"order": 2})

        assert (refused.value.agent, refused.value.after) == ("bot", None)
