"""Who is turned away at the door, whatever they ask for."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso import Desk
from sayso.errors import Misuse
from sayso.web import doors
from sayso.web import serving as web_serving
from sayso.web.guard import origin_of
from tests.web.house import House, serving


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A desk of one person at this machine."""
    file: Path = tmp_path_factory.mktemp("guard") / "desk.db"
    with Desk(f"sqlite:///{file}", agent="shop") as desk, serving(desk) as served:
        yield served


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A desk of a team behind a proxy that ends TLS."""
    file: Path = tmp_path_factory.mktemp("public") / "desk.db"
    with Desk(f"sqlite:///{file}", agent="shop") as desk:
        desk.people.add("anna", roles=["admin"])
        with serving(desk, public_url="https://desk.example.org") as served:
            yield served


def raw(served: House, request: str) -> str:
    """Send bytes as no library would, and return the answer."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as line:
        line.sendall(request.replace("\n", "\r\n").encode())
        said = b""
        while chunk := line.recv(65536):
            said += chunk
    return said.decode()


# --- hosts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_this_machine_may_be_named_in_each_of_its_ways(local: House, name: str) -> None:
    host = f"{name}:{local.port}"
    assert local.client().get("/api/v1/about", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "localhost",  # our name, and another port
        "127.0.0.1:1",
        "127.0.0.1:{port}.evil.example",
        "127.0.0.1.evil.example:{port}",
        "localhost:{port}@evil.example",
        "0.0.0.0:{port}",
        "127.1:{port}",
        "[::1]",
        "[::1",
        "",
        "localhost:{port}, evil.example",
    ],
)
def test_a_name_that_somebody_pointed_at_this_machine_is_refused(local: House, host: str) -> None:
    client = local.signed_in()
    named = {"Host": host.format(port=local.port)}

    came = client.get("/api/v1/session", headers=named)

    assert came.status_code == 400
    assert came.json()["code"] == "wrong-host"
    assert client.get("/api/v1/session").status_code == 200


def test_a_request_with_two_hosts_or_none_is_refused(local: House) -> None:
    ours = f"Host: 127.0.0.1:{local.port}"
    twice = raw(
        local, f"GET /api/v1/about HTTP/1.1\n{ours}\nHost: evil.example\nConnection: close\n\n"
    )
    none = raw(local, "GET /api/v1/about HTTP/1.0\n\n")

    assert twice.startswith("HTTP/1.1 4")
    assert " 400 " in none.splitlines()[0]


def test_whoever_watches_the_service_need_not_know_its_name(local: House) -> None:
    for path in ("/health", "/ready"):
        assert local.client().get(path, headers={"Host": "10.0.0.7"}).status_code == 200


def test_a_public_service_answers_to_its_public_name(public: House) -> None:
    names = ("desk.example.org", "desk.example.org:443", "DESK.example.org")
    others = ("desk.example.org:8443", "example.org", "xdesk.example.org")

    for host in names:
        assert public.client().get("/api/v1/about", headers={"Host": host}).status_code == 200
    for host in others:
        assert public.client().get("/api/v1/about", headers={"Host": host}).status_code == 400


def test_a_client_that_never_says_what_it_wants_is_hung_up_on(
    local: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_serving, "_HEADERS_WITHIN", 0.2)
    asked = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{local.port}\r\n"
    for said in ("", asked):
        with socket.create_connection(("127.0.0.1", local.port), timeout=30) as line:
            line.sendall(said.encode())
            assert line.recv(100) == b"", "closed, not answered"


def test_a_port_that_this_account_may_not_open_is_said_with_one_that_it_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(host: str, port: int) -> socket.socket:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(doors, "_listening", refused)
    with pytest.raises(Misuse, match=r"127.0.0.1:80 needs rights .* Try --port 8700"):
        doors.listen(doors.Door(port=80))


# --- other sites -------------------------------------------------------------------------------


CROSS = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": ""},
    {"Sec-Fetch-Site": "cross-site", "Origin": "{ours}"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "{ours}.evil.example"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "http://["},
    {},  # a browser that says nothing about where it comes from
]


@pytest.mark.parametrize("headers", CROSS, ids=str)
@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT", "PATCH"])
def test_a_change_that_another_site_sends_with_our_cookie_is_refused(
    local: House, method: str, headers: dict[str, str]
) -> None:
    browser = local.signed_in()
    del browser.headers["Sec-Fetch-Site"]
    said = {name: value.format(ours=local.url) for name, value in headers.items()}

    came = browser.request(method, "/api/v1/session", headers=said)

    assert came.status_code == 403
    assert came.json()["code"] == "cross-site"
    assert browser.get("/api/v1/session").status_code == 200, "still signed in"


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "{ours}"},
        {"Origin": "http://localhost:{port}"},
    ],
    ids=str,
)
def test_a_change_from_our_own_page_is_made(local: House, headers: dict[str, str]) -> None:
    browser = local.signed_in()
    del browser.headers["Sec-Fetch-Site"]
    said = {name: text.format(ours=local.url, port=local.port) for name, text in headers.items()}

    assert browser.delete("/api/v1/session", headers=said).status_code == 204
    assert browser.get("/api/v1/session").status_code == 401


def test_forged_headers_open_nothing_without_a_cookie(local: House) -> None:
    forged = {"Sec-Fetch-Site": "same-origin", "Origin": local.url}

    assert local.client().delete("/api/v1/session", headers=forged).status_code == 401


def test_another_site_cannot_sign_somebody_in_as_somebody_else(public: House) -> None:
    """Login CSRF: nobody has a cookie yet, and the browser still says who sends it."""
    form = {"name": "mallory", "password": "whatever it is"}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        came = public.client().post("/sign-in", data=form, headers=headers)
        assert came.json()["code"] == "cross-site"


def test_a_token_needs_no_page_and_a_cookie_beside_it_counts_for_nothing(local: House) -> None:
    _, token = local.desk.tokens.make("shop")
    cookie = {"Cookie": "; ".join(f"{k}={v}" for k, v in local.signed_in().cookies.items())}
    evil = {"Sec-Fetch-Site": "cross-site", **cookie}

    client = local.client(token)
    assert client.get("/api/v1/session", headers=evil).json()["kind"] == "agent"
    assert client.delete("/api/v1/session", headers=evil).status_code == 403, (
        "no session of its own"
    )
    wrong = local.client("sayso_wrong").delete("/api/v1/session", headers=evil)
    assert wrong.status_code == 401


# --- secrets in addresses ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/asks?token=abc",
        "/api/v1/asks?access_token=abc",
        "/api/v1/asks?Authorization=Bearer%20abc",
        "/api/v1/asks?to%6ben=abc",
        "/api/v1/asks?limit=5&password=",
        "/api/v1/asks?q=sayso_abc",
        "/api/v1/asks?t=abc",
        "/sign-in?t=abc",
        "/?token=abc",
        "/?t=sayso_abc",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(local: House, path: str) -> None:
    came = local.client().get(path)

    assert came.status_code == 400
    assert came.json()["code"] == "credential-in-url"
    assert "abc" not in came.text


def test_an_address_of_any_length_gets_an_answer(local: House) -> None:
    came = local.client().get("/api/v1/about", params={"x": "y" * 9000})
    assert came.json()["code"] == "bad-query"


# --- headers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/v1/about", "/api/v1/session", "/nowhere", "/", "/sign-in"])
def test_every_answer_protects_whoever_gets_it(local: House, path: str) -> None:
    came = local.client().get(path)
    headers = came.headers
    page = headers["content-type"].startswith("text/html")

    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] in ("same-origin", "no-referrer")
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "camera=()" in headers["permissions-policy"]
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert ("form-action 'self'" in policy) == page
    assert "unsafe" not in policy
    assert "strict-transport-security" not in headers
    assert headers["sayso-version"].endswith("; api=1")
    assert "server" not in headers


def test_refusals_are_dressed_too_and_https_is_remembered(public: House) -> None:
    came = public.client().get("/api/v1/about", headers={"Host": "evil.example"})

    assert came.headers["content-security-policy"].startswith("default-src 'none'")
    assert came.headers["strict-transport-security"] == "max-age=31536000"
    assert came.headers["sayso-version"]


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://desk.example.org", "https://desk.example.org:443"),
        ("HTTPS://Desk.Example.org/", "https://desk.example.org:443"),
        ("http://[::1]:8700", "http://[::1]:8700"),
        ("http://[::1]", "http://[::1]:80"),
        ("http://localhost:8700/x", "http://localhost:8700"),
    ],
)
def test_an_address_is_compared_with_its_port(url: str, origin: str) -> None:
    assert origin_of(url) == origin


# --- where a body ends -------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/health", "/api/v1/asks", "/sign-in"])
def test_a_request_with_two_lengths_is_refused_and_the_connection_closed(
    local: House, path: str
) -> None:
    """A proxy that goes by the other one would take the rest for somebody else's request."""
    smuggled = f"GET /ready HTTP/1.1\nHost: 127.0.0.1:{local.port}\n\n"
    said = raw(
        local,
        f"POST {path} HTTP/1.1\nHost: 127.0.0.1:{local.port}\nContent-Type: application/json\n"
        f"Content-Length: 5\nTransfer-Encoding: chunked\n\n0\n\n{smuggled}",
    )

    assert said.startswith("HTTP/1.1 400 ")
    assert '"code":"two-lengths"' in said
    assert "connection: close" in said.lower()
    assert said.count("HTTP/1.1 ") == 1, "what came behind it was not answered"
