"""A URL that somebody else chose reaches the internet, and nothing of this network."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso.channels.posting import NotPublic, Postbox, check_url, reachable, seconds_asked
from sayso.errors import BadValue
from tests.certificates import certified
from tests.channels.receivers import Receiver
from tests.together import in_thread

PRIVATE = [
    "127.0.0.1",
    "127.9.9.9",
    "localhost",
    "0.0.0.0",
    "0",
    "2130706433",  # 127.0.0.1 as one number
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "10.0.0.8",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",  # where clouds keep their credentials
    "100.64.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[::127.0.0.1]",
    "[2002:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
    "[fe80::1]",
    "[fec0::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
    # Whatever this version of Python says of them.
    "192.0.0.1",
    "192.0.0.9",
    "192.0.0.170",
    "[::ffff:192.0.0.9]",
    "[64:ff9b::c000:9]",
    "[2002:c000:9::]",
    "[3fff::1]",
    "[3fff:fff::1]",
    "[5f00::1]",
]


@pytest.mark.parametrize("host", PRIVATE)
def test_an_address_of_this_network_is_refused_in_every_notation(host: str) -> None:
    with pytest.raises(BadValue, match="not public"):
        check_url(f"http://{host}/latest/meta-data", private=False)
    assert check_url(f"http://{host}/", private=True)


@pytest.mark.parametrize("host", PRIVATE)
def test_it_is_refused_at_sending_too_where_names_may_have_moved(host: str) -> None:
    outcome = Postbox(5).post(f"http://{host}:9/", {}, b"{}", private=False)
    assert outcome.code is None
    assert "not public" in str(outcome.error)


def test_a_name_that_leads_here_is_refused_and_nothing_arrives(receiver: Receiver) -> None:
    for name in ("localhost", socket.gethostname()):
        url = f"http://{name}:{receiver.port}/"
        assert "not public" in str(Postbox(5).post(url, {}, b"{}", private=False).error)
    assert receiver.got == []


def test_one_private_address_among_several_is_enough_to_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", resolving("93.184.216.34", "127.0.0.1"))
    with pytest.raises(NotPublic):
        reachable("example.com", 443, private=False)


def test_a_public_host_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::5db8:d822")
    monkeypatch.setattr(socket, "getaddrinfo", resolving(*found))
    assert reachable("example.com", 443, private=False) == list(found)


def test_the_name_is_looked_up_once_and_that_address_is_connected_to(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    """A name server that answers with another address the second time gains nothing."""
    looked_up = []

    def once(host: str, port: int, *args: object, **more: object) -> list[object]:
        if host != "127.0.0.1":  # connecting to an address asks too, about the address
            looked_up.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", once)
    url = f"http://rebind.example:{receiver.port}/hook?a=1"
    outcome = Postbox(5).post(url, {"X-A": "b"}, b"{}", private=True)

    assert outcome.ok
    assert looked_up == ["rebind.example"]
    assert receiver.got[0].headers["host"] == f"rebind.example:{receiver.port}"
    assert receiver.got[0].path == "/hook?a=1"


def resolving(*addresses: str):
    def found(host: str, port: int, *args: object, **more: object) -> list[object]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses
        ]

    return found


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com/hook",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "javascript:alert(1)",
        "https://",
        "https:///hook",
        "https://:443/",
        "https://anna:secret@example.com/",
        "https://example.com@evil.example/",
        "https://example.com/#part",
        "https://example.com:99999/",
        "https://example.com:x/",
        "https://example.com:0/",
        "https://exa mple.com/",
        "https://example.com/\r\nHost: evil",
        "https://example.com/\x00",
        "https://ex\u00e4mple.com/",
        "https://[::1/",
        "https://example.com/" + "a" * 3000,
        None,
        7,
    ],
)
def test_what_is_no_url_to_send_to_is_refused(url: str) -> None:
    with pytest.raises(BadValue):
        check_url(url, private=True)


def test_a_host_that_is_not_known_yet_may_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    assert check_url("https://soon.example/hook", private=False)
    assert "not known" in str(
        Postbox(5).post("https://soon.example/", {}, b"", private=False).error
    )


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(receiver: Receiver, other: Receiver, status: int) -> None:
    receiver.answer = lambda _: (status, {"Location": other.url})

    outcome = Postbox(5).post(receiver.url, {}, b"{}", private=True)

    assert (outcome.ok, outcome.code) == (False, status)
    assert other.got == []


def test_no_proxy_of_the_environment_is_asked(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver, other: Receiver
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, other.url)

    assert Postbox(5).post(receiver.url, {}, b"{}", private=True).ok
    assert other.got == []


def test_who_never_answers_is_given_up(receiver: Receiver) -> None:
    receiver.answer = receiver.silent
    outcome = Postbox(0.2).post(receiver.url, {}, b"{}", private=True)
    assert outcome.error == "No answer within 0.2 s."


@pytest.fixture
def line() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_who_drips_its_answer_byte_by_byte_is_given_up_all_the_same(line: socket.socket) -> None:
    """A time-out of the socket would begin anew with every byte."""
    ended = threading.Event()

    def drip() -> None:
        connection, _ = line.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            try:
                while not ended.wait(0.02):
                    connection.sendall(b"a")
            except OSError:
                return

    dripping = in_thread(drip)
    url = f"http://127.0.0.1:{line.getsockname()[1]}/"
    outcome = Postbox(0.3).post(url, {}, b"{}", private=True)
    ended.set()

    assert outcome.error == "No answer within 0.3 s."
    dripping.result(10)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 2xx OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
)
def test_an_answer_that_is_no_http_is_a_failure_and_nothing_worse(
    line: socket.socket, answer: bytes
) -> None:
    def reply() -> None:
        connection, _ = line.accept()
        with connection:
            connection.recv(65536)
            try:
                connection.sendall(answer)
            except OSError:
                return

    replying = in_thread(reply)
    outcome = Postbox(5).post(f"http://127.0.0.1:{line.getsockname()[1]}/", {}, b"{}", private=True)

    assert (outcome.ok, outcome.code) == (False, None)
    assert outcome.error
    replying.result(10)


def test_over_tls_the_certificate_must_be_of_the_name_not_of_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: socket.socket
) -> None:
    certificate, key = certified(tmp_path, "hooks.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr(socket, "getaddrinfo", resolving("127.0.0.1"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    names: list[str | None] = []
    context.sni_callback = lambda _, name, __: names.append(name)

    def reply() -> None:
        for _ in range(2):
            connection, _ = line.accept()
            try:
                with context.wrap_socket(connection, server_side=True) as secured:
                    said = b""
                    while not said.endswith(b"{}"):  # to the end, or closing resets the line
                        said += secured.recv(65536)
                    secured.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            except OSError:
                connection.close()

    replying = in_thread(reply)
    port = line.getsockname()[1]
    good = Postbox(5).post(f"https://hooks.example:{port}/", {}, b"{}", private=True)
    bad = Postbox(5).post(f"https://other.example:{port}/", {}, b"{}", private=True)
    replying.result(10)

    assert good.code == 204
    assert names[0] == "hooks.example"
    assert bad.code is None
    assert "certificate" in str(bad.error).lower()


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        (None, 0),
        ("", 0),
        ("120", 120),
        (" 7 ", 7),
        ("-5", 0),
        ("soon", 0),
        ("1.5", 0),
        ("9" * 50, 999_999_999),
        ("Thu, 01 Jan 1970 00:10:00 GMT", 500),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 0),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_nonsense_is_ignored(
    asked: str | None, seconds: float
) -> None:
    assert seconds_asked(asked, now=100.0) == seconds
