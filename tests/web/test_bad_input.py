"""What strangers, broken clients and hostile agents send: a clear status, nothing changed, server up."""

from __future__ import annotations

import json
import resource
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import httpx2
import pytest
from fastapi import APIRouter
from pydantic import ValidationError, field_validator

from sayso import Desk
from sayso.web.bodies import MOST, AskPost, Sent
from sayso.web.callers import Door
from sayso.web.settings import Settings
from tests.places import Place
from tests.served import Served

JSON = {"Content-Type": "application/json"}
ASK = {"tool": "refund", "args": {"order": 7}}


@pytest.fixture(autouse=True)
def nothing_changed_and_the_server_is_up(shared_place: Place, server: Served) -> Iterator[None]:
    """The promise of this file, checked after every test."""
    before = shared_place.count()
    yield
    assert shared_place.count() == before
    assert httpx2.get(f"{server.url}/ready").json() == {"status": "ok"}


def problem(answer: httpx2.Response) -> tuple[int, str]:
    """Return status and code, having checked that it is a whole problem document."""
    said = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert {"type", "title", "status", "detail", "code"} <= said.keys()
    assert said["type"] == f"https://sayso.invalid/errors/{said['code']}"
    assert said["status"] == answer.status_code
    assert answer.headers["sayso-version"].endswith("; api=1")
    return answer.status_code, said["code"]


# --- bodies ---


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"tool": "\xc3"}',
        b'{"args": ' + b"9" * 10_000 + b"}",
        b'{"tool": "x"} trailing',
    ],
    ids=["cut", "empty", "no utf-8", "deep", "half a character", "long number", "trailing"],
)
def test_a_body_that_is_no_json_is_refused(bot: httpx2.Client, body: bytes) -> None:
    answer = bot.post("/api/v1/asks", content=body, headers=JSON)

    assert problem(answer) in {(400, "bad-json"), (422, "invalid-request")}


@pytest.mark.parametrize("body", [[], "text", 7, None, True])
def test_a_body_that_is_no_object_is_refused(bot: httpx2.Client, body: Any) -> None:
    assert problem(bot.post("/api/v1/asks", json=body)) == (422, "invalid-request")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({**ASK, "surprise": 1}, "surprise"),
        ({**ASK, "ruling": "{}"}, "ruling"),
        ({**ASK, "owner": "anna"}, "owner"),
        ({**ASK, "sentence": "Approved"}, "sentence"),
        ({**ASK, "tool": 7}, "tool"),
        ({**ASK, "args": [1]}, "args"),
        ({**ASK, "risk": "enormous"}, "risk"),
        ({**ASK, "kind": "doubt"}, "kind"),
        ({**ASK, "confidence": 2}, "confidence"),
        ({**ASK, "needs": "senior"}, "needs"),
        ({**ASK, "within": -1}, "within"),
        ({**ASK, "lease": {"holder": "x"}}, "lease.seconds"),
        ({**ASK, "lease": {"holder": "x", "seconds": 1e9}}, "lease.seconds"),
        ({"kind": "question"}, "title"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_field_that_does_not_fit_is_named(
    bot: httpx2.Client, body: dict[str, Any], field: str
) -> None:
    answer = bot.post("/api/v1/asks", json=body)

    assert problem(answer)[0] == 422
    assert list(answer.json()["fields"]) == [field], answer.text


def test_numbers_that_json_does_not_have_are_refused(bot: httpx2.Client) -> None:
    for number in (b"NaN", b"Infinity", b"-Infinity"):
        body = b'{"tool": "x", "args": {"n": ' + number + b"}}"
        assert problem(bot.post("/api/v1/asks", content=body, headers=JSON))[0] == 422


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data", "", "x"])
def test_a_body_of_another_type_is_refused(bot: httpx2.Client, kind: str) -> None:
    body = json.dumps(ASK).encode()
    answer = bot.post("/api/v1/asks", content=body, headers={"Content-Type": kind})

    assert problem(answer) == (415, "wrong-type")


def test_a_body_of_50_megabytes_is_refused_before_it_is_read(bot: httpx2.Client) -> None:
    before = _memory()

    answer = bot.post("/api/v1/asks", content=bytes(50 * 1024 * 1024), headers=JSON)

    assert problem(answer) == (413, "too-large")
    # The client, in this very process, holds it once; the server not at all.
    assert _memory() - before < 90 * 1024 * 1024


def test_a_large_body_is_refused_by_what_it_declares(server: Served) -> None:
    """Nothing of it has been sent when the answer comes."""
    head = (
        f"POST /api/v1/asks HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: {_any_token(server)}\r\n"
        "Content-Type: application/json\r\nContent-Length: 52428800\r\n\r\n"
    )
    answer = _raw(server, head.encode())

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code":"too-large"' in answer


def test_a_body_without_a_length_is_refused_when_it_has_grown_too_large(server: Served) -> None:
    """It never ends, so it cannot have been read to its end."""
    head = (
        f"POST /api/v1/asks HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: {_any_token(server)}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    piece = b"10000\r\n" + bytes(0x10000) + b"\r\n"
    answer = _raw(server, head.encode() + piece * 33)

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code":"too-large"' in answer


def test_a_stranger_cannot_make_the_server_read_a_body(stranger: httpx2.Client) -> None:
    body = b'{"tool": "' + b"x" * (1024 * 1024)  # no JSON: that is not even looked at
    answer = stranger.post("/api/v1/asks", content=body, headers=JSON)

    assert problem(answer) == (401, "not-signed-in")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({f"surprise{number}": 1 for number in range(50_000)}, 10),
        ({**ASK, "lease": {f"surprise{number}": 1 for number in range(50_000)}}, 12),
        ({**ASK, "tags": [1] * 100_000}, 50),
    ],
    ids=["fields", "inner fields", "list"],
)
def test_of_a_great_many_mistakes_a_few_are_named(
    bot: httpx2.Client, body: dict[str, Any], named: int
) -> None:
    answer = bot.post("/api/v1/asks", json=body)

    assert problem(answer) == (422, "invalid-request")
    assert 0 < len(answer.json()["fields"]) <= named


def test_no_list_makes_more_mistakes_than_it_may_have_items() -> None:
    with pytest.raises(ValidationError) as caught:
        AskPost.model_validate({**ASK, "tags": [1] * 100_000})

    assert caught.value.error_count() <= MOST + 1


def test_every_list_of_a_body_ends_somewhere(server: Served) -> None:
    document = server.client().get("/openapi.json").json()
    bodies = {
        _named(route["requestBody"])
        for path in document["paths"].values()
        for route in path.values()
        if "requestBody" in route
    }
    lists = [
        found for name in bodies for found in _lists(document["components"]["schemas"][name], name)
    ]

    assert lists
    assert [where for where, found in lists if "maxItems" not in found] == []


def _named(body: dict[str, Any]) -> str:
    schema = body["content"]["application/json"]["schema"]
    return str((schema.get("anyOf") or [schema])[0]["$ref"]).rpartition("/")[2]


def _lists(schema: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Go through the lists of a schema; what is an example is none."""
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "array":
        yield where, schema
    inner = {**schema.get("properties", {}), **dict(enumerate(schema.get("anyOf", [])))}
    for name, found in inner.items():
        yield from _lists(found, f"{where}.{name}")


class Large(Sent):
    """A body that knows on which threads it was read."""

    text: str
    _threads: ClassVar[list[int]] = []

    @field_validator("text")
    @classmethod
    def seen(cls, text: str) -> str:
        cls._threads.append(threading.get_ident())
        return text


async def large(body: Large) -> dict[str, bool]:
    read, serving = body._threads.pop(), threading.get_ident()
    return {"on the loop": read == serving, "whole": set(body.text) == {"x"}}


def test_a_large_body_is_read_off_the_event_loop(shared_place: Place) -> None:
    router = APIRouter(route_class=Door)
    router.post("/api/v1/large")(large)
    with limited(shared_place) as server:
        server.app.include_router(router)
        client = server.client()
        said = [
            client.post("/api/v1/large", json={"text": "x" * size}).json()
            for size in (1024 * 1024, 10)
        ]

    assert said == [{"on the loop": False, "whole": True}, {"on the loop": True, "whole": True}]


# --- what strangers send ---


@pytest.mark.parametrize("path", ["/api/v1/session", "/sign-in"])
def test_a_stranger_has_little_room(stranger: httpx2.Client, path: str) -> None:
    body = b" " * (16 * 1024 + 1)

    answer = stranger.post(path, content=body, headers=JSON)

    assert problem(answer) == (413, "too-large")


@pytest.mark.parametrize("path", ["/api/v1/session", "/sign-in"])
def test_a_stranger_cannot_hide_how_much_comes(stranger: httpx2.Client, path: str) -> None:
    pieces = (b" " * 1024 for _ in range(17))

    assert stranger.post(path, content=pieces, headers=JSON).status_code == 413


def test_the_longest_password_has_room(stranger: httpx2.Client) -> None:
    given = {"name": "nobody", "password": "\N{GRINNING FACE}" * 1024}

    program = stranger.post("/api/v1/session", content=json.dumps(given), headers=JSON)
    browser = stranger.post("/sign-in", data=given)

    assert (problem(program), browser.status_code) == ((401, "wrong-password"), 401)


def test_a_form_with_more_fields_than_ours_has_is_refused(stranger: httpx2.Client) -> None:
    given = {"name": "anna", "password": "x"} | {f"field{number}": "1" for number in range(9)}

    answer = stranger.post("/sign-in", data=given)

    assert answer.status_code == 422
    assert "more fields" in answer.text


@pytest.mark.parametrize("path", ["/api/v1/session", "/sign-in"])
def test_a_stranger_who_sends_too_much_is_not_even_read(shared_place: Place, path: str) -> None:
    """It would be refused for what it says: it is no JSON, and no form of ours."""
    body = b"&".join(b"%d=1" % number for number in range(20))
    with limited(shared_place, strangers_rate=0.01, strangers_burst=1) as server:
        stranger = server.client()
        answers = [stranger.post(path, content=body, headers=JSON).status_code for _ in range(2)]

    assert answers == [400 if path == "/api/v1/session" else 422, 429]


def _memory() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _raw(server: Served, text: bytes, *, seconds: float = 10) -> bytes:
    """Send bytes as they are, and return all that comes back."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=seconds) as line:
        line.sendall(text)
        return _all(line)


def _all(line: socket.socket) -> bytes:
    found = b""
    while piece := line.recv(65_536):
        found += piece
    return found


def test_a_slow_body_is_given_up(shared_place: Place) -> None:
    with (
        Desk(shared_place.url, agent="shop", account="sam@till") as desk,
        Served(desk, Settings(body_seconds=0.2)) as slow,
    ):
        head = (
            f"POST /api/v1/asks HTTP/1.1\r\nHost: 127.0.0.1:{slow.port}\r\nAuthorization: {_any_token(slow)}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        answer = _raw(slow, head.encode())

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"code":"slow-body"' in answer


def _any_token(server: Served) -> str:
    """Return the header of a token that was made before the test began."""
    return f"Bearer {_TOKENS[server.desk.url]}"


_TOKENS: dict[str, str] = {}


@pytest.fixture(scope="module", autouse=True)
def tokens(server: Served) -> None:
    token = _TOKENS[server.desk.url] = server.token("slow", kind="agent", team="billing")
    assert server.client(token).post("/api/v1/asks", json=ASK).status_code == 201


# --- addresses ---


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/asks/../../etc/passwd",
        "/api/v1/asks/%2e%2e/%2e%2e/etc/passwd",
        "/api/v1/asks/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "//api/v1/asks",
        "/api//v1/asks",
        "/api/v1/asks;x=1",
        "/api/v1/asks/",
        "/API/V1/ASKS",
        "/api/v1/asks/a-none/decision/..",
        "/api/v1/asks/%00",
        "/api/v1/asks/a%0d%0aX-Injected:%201",
        "/api/v1/asks/" + "x" * 10_000,
        "/api/v2/asks",
        "/api/v1/asks/a-none",
        "/api/v1/asks/" + "%F0%9F%98%80" * 40,
    ],
)
def test_a_path_that_leads_nowhere_is_a_404(server: Served, path: str) -> None:
    token = _TOKENS[server.desk.url]
    text = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    head, _, body = _raw(server, text.encode()).partition(b"\r\n\r\n")

    status = int(head.split()[1])
    assert status in (404, 422), head
    assert b"x-injected" not in head.lower()
    assert json.loads(body)["status"] == status


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "OPTIONS", "TRACE"])
def test_a_method_that_an_address_does_not_take_is_a_405(bot: httpx2.Client, method: str) -> None:
    answer = bot.request(method, "/api/v1/asks")

    assert problem(answer) == (405, "wrong-method")
    assert answer.headers["allow"]


# --- credentials ---


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Basic YTpi", "Bearer x", "Bearer sayso_" + "x" * 49, "sayso_x", "é"],
)
def test_a_credential_that_does_not_count_is_a_401(stranger: httpx2.Client, header: str) -> None:
    answer = stranger.get("/api/v1/asks", headers={b"Authorization": header.encode("latin-1")})

    assert problem(answer) == (401, "not-signed-in")


@pytest.mark.parametrize("scheme", ["Basic", "Token", "Bearers"])
def test_a_token_counts_as_a_bearer_s_only(
    server: Served, stranger: httpx2.Client, scheme: str
) -> None:
    token = _TOKENS[server.desk.url]

    answer = stranger.get("/api/v1/asks", headers={"Authorization": f"{scheme} {token}"})

    assert problem(answer) == (401, "not-signed-in")
    again = stranger.get("/api/v1/asks", headers={"Authorization": f"bEARER {token}"})
    assert again.status_code == 200


# --- limits ---


@contextmanager
def limited(place: Place, **limits: Any) -> Iterator[Served]:
    with (
        Desk(place.url, agent="shop", account="sam@till") as desk,
        Served(desk, Settings(**limits)) as server,
    ):
        _TOKENS.setdefault(desk.url, "")
        yield server


def test_a_credential_that_sends_too_much_is_told_when_to_come_back(shared_place: Place) -> None:
    with limited(shared_place, rate=0.5, burst=3) as server:
        client = server.client(_TOKENS[server.desk.url])
        answers = [client.get("/api/v1/asks") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert problem(answers[-1]) == (429, "too-many-requests")
    assert answers[-1].headers["retry-after"] == "2"


def test_strangers_are_limited_by_address_and_shut_nobody_else_out(shared_place: Place) -> None:
    with limited(shared_place, strangers_rate=0.01, strangers_burst=2) as server:
        stranger = server.client("sayso_wrong")
        answers = [stranger.get("/api/v1/asks").status_code for _ in range(4)]
        known = server.client(_TOKENS[server.desk.url]).get("/api/v1/asks").status_code

    assert (answers, known) == ([401, 401, 429, 429], 200)


@pytest.mark.parametrize(
    ("limits", "refusal"),
    [({"waits": 0}, (503, "server-busy")), ({"waits_each": 0}, (429, "too-many-requests"))],
)
def test_requests_that_wait_are_counted(
    shared_place: Place, limits: dict[str, int], refusal: tuple[int, str]
) -> None:
    with limited(shared_place, **limits) as full:
        client = full.client(_TOKENS[full.desk.url])
        (ask,) = client.get("/api/v1/asks").json()["asks"]
        waiting = client.get(f"/api/v1/asks/{ask['id']}?wait=1")
        looking = client.get(f"/api/v1/asks/{ask['id']}")

    assert (problem(waiting), looking.status_code) == (refusal, 200)


# --- what nobody expected ---


def test_what_nobody_expected_is_a_500_without_inner_words(
    shared_place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    with limited(shared_place) as server:

        @server.app.get("/api/v1/broken")
        async def broken() -> None:
            raise RuntimeError("the password is hunter2")

        answer = server.client().get("/api/v1/broken")

    assert problem(answer) == (500, "internal")
    assert "hunter2" not in answer.text
    assert "hunter2" in caplog.text
