"""The service as `sayso serve` runs it, in a thread of the test, on a port of its own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2

from sayso import Desk
from sayso.access.passwords import set_password
from sayso.access.sessions import make_link
from sayso.web.app import make_app
from sayso.web.doors import Door, listen
from sayso.web.logbook import Logbook
from sayso.web.serving import Server, configured
from sayso.web.settings import Settings
from sayso.web.sign_in import cookie_name
from tests.together import until

PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class House:
    """A service that runs, and the desk behind it."""

    url: str
    desk: Desk
    cookie: str

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def browser(self, **headers: str) -> httpx2.Client:
        """A client that keeps cookies and says that it came from our own page."""
        return self._client({"Sec-Fetch-Site": "same-origin", **headers})

    def client(self, token: str | None = None) -> httpx2.Client:
        """A program: no cookies, perhaps a token."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self._client(headers)

    def _client(self, headers: dict[str, str]) -> httpx2.Client:
        # A connection for each request, so that nobody has to close anything.
        once = httpx2.Limits(max_keepalive_connections=0)
        return httpx2.Client(base_url=self.url, headers=headers, limits=once, timeout=30)

    def signed_in(self, name: str | None = None) -> httpx2.Client:
        """A browser in which somebody has signed in; nobody by name: with the link."""
        browser = self.browser()
        if name is None:
            came = browser.get("/", params={"t": make_link(self.desk.store)})
        else:
            came = browser.post("/api/v1/session", json={"name": name, "password": PASSWORD})
        assert came.status_code in (200, 303), came.text
        return browser

    def person(self, name: str, *roles: str, **more: Any) -> None:
        """Put somebody on the desk who can sign in."""
        self.desk.people.add(name, roles=roles, **more)
        set_password(self.desk.store, name, PASSWORD, origin=self.desk.origin)


@contextmanager
def serving(desk: Desk, at: socket.socket | None = None, **settings: Any) -> Iterator[House]:
    """Serve a desk for a block: on a port of its own, or at a socket that stays open afterwards."""
    door = Door(port=0)
    sockets = listen(door) if at is None else [at.dup()]
    port = sockets[0].getsockname()[1]
    url = settings.pop("public_url", None) or door.url(port)
    name = cookie_name(url, port)
    mode = "local" if desk.people.solo else "team"
    # A test signs in more often than people do.
    settings = {"mode": mode, "strangers_burst": 10_000, **settings}
    app = make_app(desk, Settings(public_url=url, cookie=name, **settings))
    server = Server(configured(Logbook(app), door), ready=lambda: None, halt=lambda: None)
    thread = threading.Thread(target=server.run, args=(sockets,), daemon=True)
    thread.start()
    until(lambda: server.started)
    try:
        yield House(door.url(port), desk, name)
    finally:
        app.state.service.stop()
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive(), "the server did not end"
