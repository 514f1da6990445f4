"""A server that is killed between commit and answer: sent again, a request finds what it did."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.forked import Forked
from tests.places import Place
from tests.served import Served

ROOT = Path(__file__).resolve().parents[2]
CALL = {"tool": "refund", "args": {"order": 7, "amount": 40}}


@contextmanager
def mortal(place: Place, kind: str) -> Iterator[str]:
    """Run a server that dies right after an event of this kind; gives its address."""
    command = [sys.executable, "-m", "tests.web.mortal", place.url, kind]
    server = Forked(command, cwd=ROOT, env=os.environ)
    assert server.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        assert server.wait() == 9, "it did not die"
    finally:
        server.kill()
        server.communicate()


def sent_to_the_dying(client: httpx2.Client, url: str, path: str, **given: Any) -> None:
    with (
        httpx2.Client(base_url=url, headers=client.headers, verify=False, timeout=30) as doomed,
        pytest.raises(httpx2.TransportError),
    ):
        doomed.post(path, **given)


@pytest.mark.parametrize(
    ("deed", "kind"),
    [
        ("open", "ask.opened"),
        ("decision", "ask.decided"),
        ("begin", "effect.intended"),
        ("finish", "effect.done"),
    ],
)
def test_a_request_whose_answer_was_lost_gets_it_when_it_is_sent_again(
    shared_place: Place,
    server: Served,
    bot: httpx2.Client,
    anna: httpx2.Client,
    deed: str,
    kind: str,
) -> None:
    client, path, body = _before(deed, bot, anna)
    given: dict[str, Any] = {"json": body, "headers": {"Idempotency-Key": f"dying-{deed}"}}
    events = shared_place.count()
    with mortal(shared_place, kind) as url:
        sent_to_the_dying(client, url, path, **given)
    assert shared_place.count() == events + 1

    again, once_more = client.post(path, **given), client.post(path, **given)

    assert again.status_code == 200, again.text
    assert again.json() == once_more.json()
    assert shared_place.count() == events + 1, "it was done once"
    if deed == "begin":
        call = again.json()
        end = {"attempt": call["attempt"], "holder": call["holder"], "result": 1}
        done = bot.post(path.replace("begin", "finish"), json=end)
        assert done.json()["effect"]["status"] == "done"


def _before(
    deed: str, bot: httpx2.Client, anna: httpx2.Client
) -> tuple[httpx2.Client, str, dict[str, Any]]:
    """Do what comes before, and return the request that will be cut off."""
    call = {**CALL, "args": {"order": deed, "amount": 1}}
    if deed == "open":
        return bot, "/api/v1/asks", call
    ask = bot.post("/api/v1/asks", json=call).json()
    where = f"/api/v1/asks/{ask['id']}"
    decision = {"verdict": "approve", "seen": ask["digest"], "note": "Yes."}
    if deed == "decision":
        return anna, f"{where}/decision", decision
    anna.post(f"{where}/decision", json=decision)
    if deed == "begin":
        return bot, f"{where}/begin", {"seconds": 60}
    begun = bot.post(f"{where}/begin").json()
    end = {"attempt": begun["attempt"], "holder": begun["holder"], "result": {"receipt": 12}}
    return bot, f"{where}/finish", end
