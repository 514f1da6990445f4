"""Webhooks over HTTP: for admins, for public addresses, and never a secret twice."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.served import Served

HOOK = "https://hooks.example/in"


@pytest.fixture(scope="module")
def root(server: Served) -> httpx2.Client:
    """Somebody with the role admin."""
    return server.signed_in("root")


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name ending in .example is of the internet; nothing else of the machine changes."""
    ask = socket.getaddrinfo

    def found(host: Any, port: Any, *args: Any, **more: Any) -> Any:
        if str(host).endswith(".example"):
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", port))]
        return ask(host, port, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", found)


@pytest.fixture(autouse=True)
def none_left(server: Served) -> Iterator[None]:
    yield
    for hook in server.desk.webhooks:
        server.desk.webhooks.remove(hook)


def code(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_a_webhook_is_added_listed_and_removed(server: Served, root: httpx2.Client) -> None:
    added = root.post("/api/v1/webhooks", json={"url": HOOK, "team": "billing"})
    assert added.status_code == 201
    hook = added.json()
    assert hook["secret"].startswith("whsec_")
    assert hook["allow_private"] is False

    [listed] = root.get("/api/v1/webhooks").json()["webhooks"]
    assert listed == {name: value for name, value in hook.items() if name != "secret"}
    event = server.desk.store.stream("webhooks")[-1]
    assert (event.kind, str(event.actor)) == ("webhook.added", "person:root")

    assert root.delete(f"/api/v1/webhooks/{hook['id']}").status_code == 204
    assert root.get("/api/v1/webhooks").json() == {"webhooks": []}
    gone = root.delete(f"/api/v1/webhooks/{hook['id']}")
    assert code(gone) == (404, "unknown-webhook")


def test_a_request_that_is_sent_again_adds_one(server: Served, root: httpx2.Client) -> None:
    headers = {"Idempotency-Key": "hook-1"}
    answers = [root.post("/api/v1/webhooks", json={"url": HOOK}, headers=headers) for _ in "ab"]

    assert answers[0].json() == answers[1].json()
    assert len(server.desk.webhooks) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"url": 7},
        {"url": ""},
        {"url": "ftp://hooks.example/"},
        {"url": "http://127.0.0.1/"},
        {"url": "http://localhost:8000/"},
        {"url": "http://169.254.169.254/latest/meta-data/"},
        {"url": HOOK, "allow_private": True},
        {"url": HOOK, "kinds": []},
        {"url": HOOK, "kinds": ["nonsense"]},
        {"url": HOOK, "kinds": "ask.opened"},
        {"url": HOOK, "team": ""},
        {"url": HOOK, "full": "yes"},
        {"url": HOOK, "secret": "whsec_mine"},
        [],
    ],
)
def test_what_is_no_webhook_is_refused_and_nothing_is_written(
    server: Served, root: httpx2.Client, body: Any
) -> None:
    assert root.post("/api/v1/webhooks", json=body).status_code == 422
    assert len(server.desk.webhooks) == 0
