"""A receiver of webhooks: a real HTTP server that keeps what comes, and answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import standardwebhooks

from tests.together import until


@dataclass(frozen=True)
class Received:
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def signed_with(self, secret: str | None) -> bool:
        """Whether another implementation makes the same signature; its clock is left out."""
        at = datetime.fromtimestamp(int(self.headers["webhook-timestamp"]), UTC)
        own = standardwebhooks.Webhook(secret or "").sign(self.id, at, self.body.decode())
        return own == self.headers["webhook-signature"]


# What to answer: a status, with headers perhaps; or nothing at all.
Answer = int | tuple[int, dict[str, str]] | None


@dataclass
class Receiver:
    """What came so far, and how to answer what comes next."""

    port: int = 0
    answer: Callable[[Received], Answer] = lambda _: 200
    got: list[Received] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def kinds(self) -> list[str]:
        return [one.json["type"] for one in self.got]

    def about(self) -> list[str]:
        return [one.json["data"]["id"] for one in self.got]

    def after(self, count: int) -> list[Received]:
        until(lambda: len(self.got) >= count)
        return list(self.got)

    def silent(self, _: Received) -> Answer:
        """Never answer, until the test is over."""
        self.ended.wait()
        return None


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            one = Received(self.path, headers, body)
            receiver.got.append(one)
            said = receiver.answer(one)
            if said is None:
                return
            status, more = (said, {}) if isinstance(said, int) else said
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """A courier that was killed, or gave up, is no news."""


@contextmanager
def receiving(port: int = 0, receiver: Receiver | None = None) -> Iterator[Receiver]:
    """Listen for a block; with a port and a receiver, again where it was."""
    receiver = receiver or Receiver()
    server = _Server(("127.0.0.1", port), _handler(receiver))
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.ended.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
