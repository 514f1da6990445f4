"""What a program hears when there is no server, another one, or one that refuses."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sayso import Desk, File
from sayso.errors import (
    BadValue,
    Forbidden,
    Misuse,
    NotSignedIn,
    SaysoError,
    SchemaMismatch,
    StoreBusy,
    StoreUnavailable,
    Tampered,
    UnknownFile,
    UnknownRun,
)
from sayso.model.wire import write_ask
from sayso.remote import line, stream, waiting
from sayso.remote.desk import RemoteDesk
from tests.certificates import certified
from tests.places import Place
from tests.served import Served
from tests.together import until

SECRET = "sayso_" + "S3cret" * 8
OURS = {"Sayso-Version": f"{line.OURS}; api=1"}
Answer = tuple[int, dict[str, str], bytes]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (line, stream, waiting):
        monkeypatch.setattr(module, "PAUSES", (0.01, 0.01))


@contextmanager
def stranger(
    answer: Callable[[BaseHTTPRequestHandler], Answer], tls: ssl.SSLContext | None = None
) -> Iterator[tuple[int, list[Any]]]:
    """Something that answers HTTP, and remembers what it was asked."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            self.rfile.read(length)
            asked.append((self.command, self.path, dict(self.headers)))
            status, headers, body = answer(self)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1], asked
    finally:
        server.shutdown()
        server.server_close()


def saying(status: int, body: bytes = b"{}", **headers: str) -> Callable[[Any], Answer]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: (status, {**OURS, **named}, body)


def heard(port: int, kind: type[SaysoError]) -> str:
    """Return what a program is told, having checked that it says nothing of the token."""
    with Desk(f"http://127.0.0.1:{port}", token=SECRET) as desk, pytest.raises(kind) as caught:
        desk.get("a-1")
    assert type(caught.value) is kind
    text = "".join(map(str, [caught.value, *traceback.format_exception(caught.value)]))
    assert SECRET not in text
    return str(caught.value)


# --- nobody there, or somebody else ---------------------------------------------------------------


def test_nobody_there() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = heard(port, StoreUnavailable)
    assert f"http://127.0.0.1:{port}" in words
    assert "SAYSO_URL" in words
    assert "sayso serve" in words


def problem(code: str, detail: str) -> bytes:
    return json.dumps({"code": code, "detail": detail}).encode()


ANSWERED: list[tuple[Answer, type[SaysoError], str]] = [
    ((200, {}, b"<html>"), StoreUnavailable, "No sayso answers at http://127.0.0.1:"),
    ((200, {"Sayso-Version": "9.0; api=2"}, b"{}"), SchemaMismatch, "9.0.*update this program"),
    ((200, {"Sayso-Version": "0.0.1; api=0"}, b"{}"), SchemaMismatch, "0.0.1.*the server"),
    ((404, OURS, problem("no-route", "no")), SchemaMismatch, "older than this program"),
    *(
        ((200, OURS, body), SchemaMismatch, "does not understand")
        for body in (b"not json", b"[]", b"{}", b'{"id": 7}', b"\xff")
    ),
    ((409, OURS, problem("eclipse", "The sun is gone.")), SaysoError, "^The sun is gone.$"),
]


@pytest.mark.parametrize(("answer", "kind", "words"), ANSWERED)
def test_an_answer_that_no_sayso_of_now_gives_is_said_in_words(
    answer: Answer, kind: type[SaysoError], words: str
) -> None:
    with stranger(lambda _: answer) as (port, _):
        assert re.search(words, heard(port, kind))


def test_a_proxy_whose_server_is_away_is_asked_again() -> None:
    answers: list[Answer] = [(502, {}, b"bad gateway"), (503, {}, b"")]
    with stranger(lambda _: answers.pop(0) if answers else (404, {}, b"")) as (port, asked):
        assert "No sayso answers" in heard(port, StoreUnavailable)
        assert len(asked) == 3


def test_a_server_that_is_too_busy_is_asked_again_and_then_says_so() -> None:
    slowly = saying(429, problem("too-many-requests", "Slowly."), Retry_After="0")
    with stranger(slowly) as (port, asked):
        assert heard(port, SaysoError) == "Slowly."
        assert len(asked) == 3


def test_redirects_are_not_followed_with_the_token() -> None:
    with stranger(saying(200)) as (elsewhere, asked):
        away = saying(307, Location=f"http://127.0.0.1:{elsewhere}/")
        with stranger(away) as (port, _):
            assert "elsewhere" in heard(port, Misuse)
        assert asked == []


@contextmanager
def busy() -> Iterator[tuple[Desk, list[Any]]]:
    with (
        stranger(saying(503, problem("store-busy", "Busy."))) as (port, asked),
        Desk(f"http://127.0.0.1:{port}", token=SECRET) as desk,
    ):
        yield desk, asked


def test_every_post_that_is_sent_again_is_the_same_request() -> None:
    with busy() as (desk, asked):
        for act in (
            lambda: desk.withdraw("a-1"),
            lambda: desk.begin("a-1"),
            lambda: desk.later.confirm("Go on?"),
            lambda: desk.approve("a-1", seen="x"),
        ):
            with pytest.raises(StoreBusy):
                act()
    keys = [headers["Idempotency-Key"] for _, _, headers in asked]
    assert len(keys) == 12
    assert len(set(keys)) == 4
    assert len({tuple(keys[n : n + 3]) for n in range(0, 12, 3)}) == 4


def test_what_might_be_done_twice_is_sent_once() -> None:
    with busy() as (desk, asked):
        for act in (
            lambda: desk.start("settle", 7),  # type: ignore[arg-type]
            lambda: desk.cancel("r-1"),
            lambda: desk.retry("r-1"),
        ):
            with pytest.raises(StoreBusy):
                act()
    assert len(asked) == 3


# --- who asks -------------------------------------------------------------------------------------


def test_a_token_that_is_missing_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with stranger(saying(401, b'{"code": "not-signed-in", "detail": "?"}')) as (port, asked):
        refused = heard(port, NotSignedIn)
        assert asked[0][2]["Authorization"] == f"Bearer {SECRET}"
        with pytest.raises(NotSignedIn) as missing:
            Desk(f"http://127.0.0.1:{port}").get("a-1")
        assert "Authorization" not in asked[1][2]
        monkeypatch.setenv("SAYSO_TOKEN", "sayso_other")
        with pytest.raises(NotSignedIn):
            Desk(f"http://127.0.0.1:{port}").get("a-1")
        assert asked[2][2]["Authorization"] == "Bearer sayso_other"
    assert "revoked or expired" in refused
    assert "SAYSO_TOKEN" in refused
    assert "SAYSO_TOKEN" in str(missing.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://anna:S3cret@desk.example.com",
        "https://S3cret@desk.example.com",
        "https://desk.example.com/?token=S3cret",
        "https://desk.example.com/#S3cret",
        "https://",
        "https://desk.example.com:port",
        "https://desk example.com",
        "https://desk.example.com\n",
        "http://[::1",
    ],
)
def test_an_address_holds_no_secrets_and_makes_sense(url: str) -> None:
    with pytest.raises(BadValue) as caught:
        Desk(url, token=SECRET)
    assert "S3cret" not in str(caught.value)


@pytest.mark.parametrize("token", ["a b", "a\r\nX-Admin: 1", "ä", "x" * 600, 7])
def test_a_token_cannot_carry_anything_else(token: Any) -> None:
    with pytest.raises(BadValue) as caught:
        Desk("https://desk.example.com", token=token)
    assert str(token) not in str(caught.value)


def test_a_token_does_not_travel_in_the_clear() -> None:
    with pytest.raises(Misuse) as caught:
        Desk("http://desk.example.com", token=SECRET)
    assert "https://" in str(caught.value)
    assert SECRET not in str(caught.value)
    Desk("http://desk.example.com", token=SECRET, insecure=True)
    for here in ("http://localhost:1", "http://127.0.0.7:1", "http://[::1]:1", "HTTP://localhost"):
        Desk(here, token=SECRET)


def test_nothing_shows_the_token() -> None:
    desk: Any = Desk("https://desk.example.com/sayso/", token=SECRET)
    assert repr(desk) == "Desk('https://desk.example.com/sayso')"
    shown = [repr(value) for value in vars(desk).values()]
    shown += [repr(value) for value in vars(desk._line).values()]
    assert not any(SECRET in text for text in shown)


def test_a_certificate_of_nobody_is_refused_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, key = certified(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(cert, key)
    with stranger(saying(200), tls) as (port, asked):
        with pytest.raises(StoreUnavailable) as caught:
            Desk(f"https://127.0.0.1:{port}", token=SECRET).get("a-1")
        assert "could not prove that it is" in str(caught.value)
        assert asked == []
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        with pytest.raises(SchemaMismatch):  # it is believed, and has nothing to say
            Desk(f"https://127.0.0.1:{port}", token=SECRET).get("a-1")
        assert len(asked) == 1
    with stranger(saying(200)) as (port, _), pytest.raises(StoreUnavailable, match="speak https"):
        Desk(f"https://127.0.0.1:{port}", token=SECRET).get("a-1")


def test_who_decides_is_who_the_token_names() -> None:
    def answer(request: BaseHTTPRequestHandler) -> Answer:
        if request.path == "/api/v1/session":
            return 200, OURS, b'{"kind": "person", "name": "anna"}'
        return 403, OURS, b'{"code": "forbidden", "detail": "I heard you."}'

    with stranger(answer) as (port, asked):
        desk = Desk(f"http://127.0.0.1:{port}", token=SECRET)
        for act in (
            lambda by: desk.approve("a-1", seen="x", by=by),
            lambda by: desk.take_back("a-1", by=by),
            lambda by: desk.claim("a-1", by=by),
            lambda by: desk.assign("a-1", "ada", by=by),
        ):
            with pytest.raises(Forbidden, match="who the token names, which is anna"):
                act("ben")
            with pytest.raises(Forbidden, match="I heard you"):
                act("anna")
        assert [path for method, path, _ in asked if method == "GET"] == ["/api/v1/session"]
        assert len(asked) == 5


# --- which desk -----------------------------------------------------------------------------------


def test_the_settings_name_a_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sayso.toml").write_text(
        '[desk]\nurl = "https://desk.example.com"\ntoken = "sayso_no"\n'
    )
    found: Any = Desk()
    assert isinstance(found, RemoteDesk)
    assert found._line.address.token is None
    monkeypatch.setenv("SAYSO_URL", "https://other.example.com")
    assert repr(Desk()) == "Desk('https://other.example.com')"
    assert isinstance(Desk("sqlite:///here.db"), Desk)


@pytest.mark.parametrize(
    "given",
    [{"workers": 1}, {"policy": "policy.toml"}, {"account": "anna@home"}, {"clock": object()}],
)
def test_what_only_a_database_has_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(BadValue, match=next(iter(given))):
        Desk("https://desk.example.com", **given)
    with pytest.raises(BadValue, match="behind HTTP"):
        Desk("sqlite:///here.db", token="sayso_x")


@pytest.mark.parametrize("name", ["store", "people", "workflow", "work", "erase", "seal", "policy"])
def test_what_needs_the_database_says_so(name: str) -> None:
    desk = Desk("https://desk.example.com", token=SECRET)
    with pytest.raises(Misuse, match="needs the database itself"):
        getattr(desk, name)
    with pytest.raises(AttributeError):
        _ = desk.nonsense  # type: ignore[attr-defined]
    with pytest.raises(UnknownRun):
        desk.get_run("../asks")


def test_a_program_that_uses_a_database_does_not_load_the_client() -> None:
    code = "import sys, sayso; sayso.Desk('sqlite:///x.db'); print('httpx2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


# --- a real server --------------------------------------------------------------------------------


@pytest.fixture
def served(sqlite: Place) -> Iterator[Served]:
    with Desk(sqlite.url, agent="bot", account="sam@till") as local:
        local.people.add("anna", roles=["senior"])
        with Served(local) as server:
            yield server


def test_a_desk_goes_with_a_fork(served: Served) -> None:
    bot = Desk(served.url, token=served.token("bot", kind="agent"))
    ask = bot.open("refund", {"order": 7})
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, bot.get(ask.id).id.encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == ask.id
    os.waitpid(child, 0)
    assert bot.get(ask.id) == ask
    bot.close()
    assert bot.get(ask.id) == ask
    bot.close()


def test_a_program_that_waits_says_that_it_is_alive(served: Served, sqlite: Place) -> None:
    local = served.desk
    bot = Desk(served.url, token=served.token("bot", kind="agent"), lease=1.5)
    with bot.heartbeat.holding() as lease:
        ask = bot.put(bot.forms.confirm("Go on?").content, lease=lease)
        sqlite.sql("update asks set lease_until = 1")  # as if nobody had renewed it
        until(lambda: not local.get(ask.id).gone)
    bot.close()


def test_an_agent_cannot_decide_whatever_it_says(served: Served) -> None:
    bot = Desk(served.url, token=served.token("bot", kind="agent"))
    ask = bot.open("refund", {"order": 7})
    for by in (None, "anna"):
        with pytest.raises(SaysoError) as caught:
            bot.approve(ask, by=by)
        assert isinstance(caught.value, Forbidden | SchemaMismatch)
    with pytest.raises(Forbidden):
        bot.open("refund", {"order": 8}, agent="somebody")
    assert bot.get(ask.id).open
    bot.close()


def test_a_desk_that_was_used_once_more_after_it_was_closed_leaves_nothing_open(
    served: Served,
) -> None:
    bot = Desk(served.url, token=served.token("bot", kind="agent"))
    ask = bot.open("refund", {"order": 7})
    bot.close()
    assert bot.get(ask.id) == ask
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        del bot
        gc.collect()

    assert not [one for one in heard if issubclass(one.category, ResourceWarning)]


async def test_whoever_begins_to_wait_while_nobody_is_there_hears_of_it() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with Desk(f"http://127.0.0.1:{port}", token=SECRET) as desk:
        with pytest.raises(StoreUnavailable):
            await asyncio.to_thread(desk.wait, "a-1")
        with pytest.raises(StoreUnavailable):
            await desk.wait_async("a-1")
        with pytest.raises(StoreUnavailable):
            await asyncio.to_thread(desk.confirm, "Go on?")
        with pytest.raises(StoreUnavailable):
            next(desk.events(follow=True))
        with pytest.raises(StoreUnavailable):
            desk.on("*", print)


# --- files -------------------------------------------------------------------------------------


def test_bytes_that_the_ask_did_not_show_are_not_handed_on(sqlite: Place) -> None:
    """Whoever stands between a program and its server may change them."""
    with Desk(sqlite.url, agent="bot", account="sam") as local:
        shown = write_ask(local.open("look", files=[File("a", b"40 EUR")]))

    def answer(handler: BaseHTTPRequestHandler) -> Answer:
        asked_for_file = "/files/" in handler.path
        return 200, OURS, b"4,000 EUR" if asked_for_file else json.dumps(shown).encode()

    with (
        stranger(answer) as (port, asked),
        Desk(f"http://127.0.0.1:{port}", token=SECRET) as desk,
    ):
        with pytest.raises(Tampered, match="not what was shown"):
            desk.file(shown["id"], 1)
        before = len(asked)
        with pytest.raises(UnknownFile):
            desk.file(shown["id"], 2)
        for number in ("1", None, 1.0, True):
            with pytest.raises(BadValue, match="number="):
                desk.file(shown["id"], number)  # type: ignore[arg-type]
        assert not [path for _, path, _ in asked[before:] if "/files/" in path]
