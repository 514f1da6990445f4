"""A real server on a free port, in a thread of the test, and clients with credentials for it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import httpx2
import uvicorn
from fastapi import FastAPI

from sayso import Desk
from sayso.access.sessions import open_session
from sayso.access.tokens import make_token
from sayso.web.app import make_app
from sayso.web.service import Service
from sayso.web.settings import Settings

# Tests send as fast as they can, and are not what the limits are for.
QUICK = Settings(rate=10_000, burst=100_000, strangers_rate=10_000, strangers_burst=100_000)


class Served:
    """A desk behind HTTP. `with` starts the server and stops it."""

    def __init__(self, desk: Desk, settings: Settings = QUICK, app: FastAPI | None = None) -> None:
        self.desk = desk
        self.settings = settings
        self.app = app or make_app(desk, settings)
        self._clients: list[httpx2.Client] = []

    def __enter__(self) -> Self:
        # Bound before the server runs: whoever connects early waits until it accepts.
        # As TCP, so that the event loop sends an answer at once and does not wait for more of it.
        self._socket = socket.socket(proto=socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(512)
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            self.app,
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=5,
            loop="asyncio",
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.close()
        self.service.stop()
        self._server.should_exit = True
        self._thread.join(timeout=20)
        self._socket.close()
        assert not self._thread.is_alive(), "the server does not stop"

    @property
    def service(self) -> Service:
        found: Service = self.app.state.service
        return found

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, token: str | None = None, **given: Any) -> httpx2.Client:
        """Return a client, with a token if it is given; closed when the server stops."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        headers |= given.pop("headers", {})
        client = httpx2.Client(
            base_url=self.url, headers=headers, timeout=30, verify=False, **given
        )
        self._clients.append(client)
        return client

    def agent(self, name: str = "bot", **given: Any) -> httpx2.Client:
        """Return a client with the token of an agent."""
        return self.client(self.token(name, kind="agent", **given))

    def person(self, name: str, **given: Any) -> httpx2.Client:
        """Return a client with the token of a person."""
        return self.client(self.token(name, kind="person", **given))

    def signed_in(self, name: str | None, how: str = "password") -> httpx2.Client:
        """Return a client with the session of a person, as their browser would send it."""
        _, secret = open_session(
            self.desk.store, name, how=how, address="127.0.0.1", agent_string="test"
        )
        cookie = f"{self.settings.cookie}={secret}"
        return self.client(headers={"Cookie": cookie, "Sec-Fetch-Site": "same-origin"})

    def token(self, name: str, **given: Any) -> str:
        """Make a token, and return its text."""
        given.setdefault("expires", None)
        return make_token(self.desk.store, name=name, origin=self.desk.origin, **given)[1]


@contextmanager
def served(desk: Desk, settings: Settings = QUICK) -> Iterator[Served]:
    """Serve a desk for a block."""
    with Served(desk, settings) as server:
        yield server
