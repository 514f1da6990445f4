"""The line to a server: one pool of connections, retries of what is safe, errors as they were.

Every POST of ours carries a key of its own, or asks for what is counted and not doubled, so a
request whose answer was lost is sent again: the server finds what it has done.
"""

from __future__ import annotations

import json
import os
import random
import ssl
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import version
from typing import Any, TypeVar

import httpx2

from sayso.errors import (
    BadValue,
    Misuse,
    NotSignedIn,
    SaysoError,
    SchemaMismatch,
    StoreBusy,
    StoreUnavailable,
)
from sayso.model.text import one_line
from sayso.model.wire import read_error
from sayso.remote.address import TOKEN, Address

T = TypeVar("T")
API = 1
PREFIX = f"/api/v{API}"
OURS = version("sayso")
_SAYS = "Sayso-Version"
_LATER = (429, 502, 503, 504)
# Seconds to pause between tries, about; together they outlast the restart of a server.
PAUSES = (0.1, 0.3, 0.8, 2.0, 4.0, 6.0, 8.0)
_LONGEST = 30.0
_CONNECT, _ANSWER = 5.0, 30.0


class Line:
    """The way to one server. May be shared between threads, and carried across a fork."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None

    def __repr__(self) -> str:
        """Show where it leads, and no token."""
        return f"Line({self.address.url!r})"

    # --- requests ---

    def get(self, path: str, *, wait: float = 0.0, **query: object) -> Any:  # noqa: ANN401 - JSON
        """Read something; `wait` is how long the server may take on purpose."""
        given = {name: value for name, value in query.items() if value is not None}
        if wait:
            given["wait"] = wait
        return self._kept_on(lambda: self._sent("GET", path, wait, params=given))

    def get_once(self, path: str, *, wait: float = 0.0) -> Any:  # noqa: ANN401 - JSON
        """Read something, without trying again.

        Raises:
            Away: not now.
        """
        return self._sent("GET", path, wait, params={"wait": wait} if wait else {})

    def fetch(self, path: str) -> bytes:
        """Read something that is no JSON."""

        def attempt() -> bytes:
            response = self._asked("GET", path, 0.0)
            self.check(response)
            return response.content

        return self._kept_on(attempt)

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, key: str | None) -> Any:  # noqa: ANN401
        """Change something; the same `key` and body change it once."""
        return self._kept_on(lambda: self._posted(path, body or {}, key))

    def post_once(self, path: str, body: Mapping[str, Any], *, key: str | None = None) -> Any:  # noqa: ANN401
        """Change something without trying again: without a key it might be done twice."""
        try:
            return self._posted(path, body, key)
        except Away as away:
            raise away.error from away.__cause__

    def _posted(self, path: str, body: Mapping[str, Any], key: str | None) -> Any:  # noqa: ANN401
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        text = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        return self._sent("POST", path, 0.0, content=text, headers=headers)

    def _sent(self, method: str, path: str, wait: float, **given: Any) -> Any:  # noqa: ANN401
        return self.answer(self._asked(method, path, wait, **given))

    def _asked(self, method: str, path: str, wait: float, **given: Any) -> httpx2.Response:  # noqa: ANN401
        with self.said():
            return self._connections().request(
                method, f"{PREFIX}{path}", timeout=patience(wait), **given
            )

    def _kept_on(self, attempt: Callable[[], T]) -> T:
        """Try until the server answers, or it has been away for too long."""
        tries = 0
        while True:
            try:
                return attempt()
            except Away as away:
                tries += 1
                if tries > len(PAUSES):
                    raise away.error from away.__cause__
                time.sleep(away.pause(tries))

    # --- connections ---

    def _connections(self) -> httpx2.Client:
        if self._pid != os.getpid():  # a connection that two processes use serves neither
            self._reset()
        with self._lock:
            if self._client is None:
                self._client = httpx2.Client(**self.settings())
                # A desk that nobody closed, or that a thread used once more after it was closed,
                # lets go at the end all the same.
                weakref.finalize(self, _let_go, self._client, self._pid)
            return self._client

    def settings(self) -> dict[str, Any]:
        """Return how connections are made: no redirects, no cookies, no proxy to this machine."""
        headers = {"Accept": "application/json", "User-Agent": f"sayso/{OURS}"}
        if self.address.token is not None:
            headers["Authorization"] = f"Bearer {self.address.token}"
        return {
            "base_url": self.address.url,
            "headers": headers,
            "follow_redirects": False,
            "trust_env": not self.address.loopback,
            "verify": self._trusted,
            "limits": httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        }

    @cached_property
    def _trusted(self) -> ssl.SSLContext:
        """Which certificates are believed: the usual ones, or those that `SSL_CERT_FILE` names."""
        return httpx2.create_ssl_context()

    @contextmanager
    def streaming(self, path: str, query: Mapping[str, Any]) -> Iterator[httpx2.Response]:
        """Open an answer that goes on for as long as both sides want.

        Raises:
            SaysoError: the server refused.
        """
        # A stream says every 15 seconds that it is alive.
        silent = httpx2.Timeout(_ANSWER, connect=_CONNECT, read=60.0)
        accept = {"Accept": "text/event-stream"}
        with (
            self.said(),
            self._connections().stream(
                "GET", f"{PREFIX}{path}", params=dict(query), headers=accept, timeout=silent
            ) as response,
        ):
            if response.status_code != 200 or _SAYS not in response.headers:
                response.read()
            self.check(response)
            yield response

    def close(self) -> None:
        """Let go of the connections."""
        if self._pid != os.getpid():
            self._reset()
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    # --- answers ---

    @contextmanager
    def said(self) -> Iterator[None]:
        """Say in plain words why there was no answer."""
        try:
            yield
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
        except (httpx2.InvalidURL, httpx2.DecodingError, httpx2.SSEError) as error:
            raise self._strange(type(error).__name__) from error

    def _unreachable(self, error: httpx2.TransportError) -> Exception:
        url = self.address.url
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                return StoreUnavailable(
                    f"The server at {url} could not prove that it is {url}: "
                    f"{cause.verify_message}. Nothing was sent. If its certificate is your own, "
                    "name its authority in SSL_CERT_FILE."
                )
            if isinstance(cause, ssl.SSLError):
                return StoreUnavailable(
                    f"No encrypted connection to {url} could be made ({cause.reason}). Does it "
                    "speak https at this port?"
                )
            cause = cause.__cause__ or cause.__context__
        why = one_line(str(error) or type(error).__name__, 200)
        return Away(
            StoreUnavailable(
                f"The desk at {url} cannot be reached ({why}). Check the address (SAYSO_URL) and "
                "that `sayso serve` runs there; what was asked before waits on."
            )
        )

    def answer(self, response: httpx2.Response) -> Any:  # noqa: ANN401 - JSON
        """Return what the server says.

        Raises:
            SaysoError: it refused, as the class it raised there.
            SchemaMismatch: it is older or newer than this program.
            StoreUnavailable: no sayso answered.
        """
        self.check(response)
        try:
            return response.json()
        except ValueError as error:
            raise self._strange("no JSON") from error

    def check(self, response: httpx2.Response) -> None:
        """Raise what a server that does not answer 2xx means by it."""
        status = response.status_code
        if 300 <= status < 400:
            raise Misuse(
                f"{self.address.url} sends its callers elsewhere ({status}). The token is not taken "
                "along: use the address it leads to."
            )
        said = response.headers.get(_SAYS)
        if said is None:
            error = StoreUnavailable(
                f"No sayso answers at {self.address.url}, but something else ({status}). Check the "
                "address (SAYSO_URL)."
            )
            raise Away(error) if status in _LATER else error
        self._check_version(said)
        if status >= 400:
            raise self._refused(response)

    def _check_version(self, said: str) -> None:
        theirs, _, api = said.partition("; api=")
        if api == str(API):
            return
        newer = api.isdigit() and int(api) > API
        raise SchemaMismatch(
            f"The desk at {self.address.url} runs sayso {one_line(theirs, 20)} (api "
            f"{one_line(api, 10)}), this program sayso {OURS} (api {API}): update "
            f"{'this program' if newer else 'the server'}."
        )

    def _refused(self, response: httpx2.Response) -> Exception:
        problem = _problem(response)
        if response.status_code == 401:
            return self._stranger()
        if problem.get("code") == "no-route":
            return SchemaMismatch(
                f"The desk at {self.address.url} does not know {response.request.url.path}: it is "
                f"older than this program (sayso {OURS}). Update the server."
            )
        if problem.get("code") == "invalid-request":
            fields = problem.get("fields") or {}
            return BadValue(str(problem.get("detail")), path=next(iter(fields), ""))
        error = self.read(read_error, problem)
        # What an agent must hear at once (it asks too much) has a class of its own.
        if response.status_code in _LATER and type(error) in _PASSING:
            return Away(error, _seconds(response.headers.get("Retry-After")))
        return error

    def _stranger(self) -> NotSignedIn:
        url = self.address.url
        words = f"The desk at {url} wants to know who asks: put a token into {TOKEN}."
        if self.address.token is not None:
            words = (
                f"The desk at {url} does not know this token: it is wrong, revoked or expired. Put "
                f"another one into {TOKEN}; on the server: sayso tokens create NAME"
            )
        error = NotSignedIn()
        error.args = (words,)
        return error

    def read(self, reader: Callable[[Any], T], data: Any) -> T:  # noqa: ANN401 - JSON
        """Read what the server said.

        Raises:
            SchemaMismatch: it says something that this program does not understand.
        """
        try:
            return reader(data)
        except (KeyError, TypeError, ValueError, AttributeError, BadValue) as error:
            raise self._strange(type(error).__name__) from error

    def _strange(self, what: str) -> SaysoError:
        return SchemaMismatch(
            f"The desk at {self.address.url} answers in a way that this program (sayso {OURS}) does "
            f"not understand ({what}). Is it of another version?"
        )


class Away(Exception):
    """Not now: the same request may succeed in a moment. `error` is what to say if it does not."""

    def __init__(self, error: SaysoError, after: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.after = after

    def pause(self, tries: int) -> float:
        """Return for how long to wait after so many tries: differently long for everybody."""
        about = PAUSES[min(tries, len(PAUSES)) - 1]
        least = min(self.after or 0.0, _LONGEST)
        return max(least, about) * random.uniform(0.7, 1.3)  # noqa: S311 - no secret


_PASSING = (SaysoError, StoreBusy, StoreUnavailable)


def patience(wait: float) -> httpx2.Timeout:
    """Return how long an answer may take, of which `wait` seconds are on purpose."""
    return httpx2.Timeout(_ANSWER, connect=_CONNECT, read=_ANSWER + wait)


def _problem(response: httpx2.Response) -> dict[str, Any]:
    try:
        said = response.json()
    except ValueError:
        said = None
    if isinstance(said, dict):
        return said
    return {"detail": f"The server answered {response.status_code}.", "code": "error"}


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdigit() else None


def _let_go(client: httpx2.Client, pid: int) -> None:
    if pid == os.getpid():  # what was made before a fork is the parent's
        client.close()
