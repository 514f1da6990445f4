"""Who is turned away before anything is looked up: the wrong host, another site, a secret in a URL.

A browser sends our cookie along with whatever another page makes it send. So a request must
name us as its host (against DNS that points a stranger's name at this machine), and whoever
changes something must come from our own pages (`Sec-Fetch-Site`, else `Origin`).
See docs/decisions/0035.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sayso.web.faces import face
from sayso.web.problems import Problem, answer
from sayso.web.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_PAGE_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_API_CSP = "default-src 'none'; frame-ancestors 'none'"
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
_HERE = frozenset(("same-origin", "none"))
_PROBES = frozenset(("/health", "/ready"))  # whoever watches us knows an address, not a name
_PORTS = {"http": "80", "https": "443"}
_SECRETS = frozenset(
    (
        *("t", "token", "access_token", "id_token", "refresh_token", "bearer", "authorization"),
        *("password", "passwd", "secret", "client_secret", "session", "api_key", "apikey"),
    )
)
_TOKEN = "sayso_"  # noqa: S105 - how every token of ours begins
_WHOLE_TOKEN = re.compile(rf"{_TOKEN}[0-9A-Za-z]{{40}}")  # wherever in an address it stands
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
_HSTS = "max-age=31536000"
_QUERY = 8 * 1024  # characters of a query string


class Guard:
    """Stands before the whole service and turns away who should not come in."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._public = origin_of(settings.public_url) if settings.public_url else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer why not."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
            return
        await face(Request(scope), answer(refusal))(scope, receive, send)

    def _refusal(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        ours = self._origins(scope)
        return (
            _two_lengths(headers)
            or _strange_host(scope, headers, ours)
            or _loose_secret(scope)
            or _other_site(scope["method"], headers, ours)
        )

    def _origins(self, scope: Scope) -> frozenset[str]:
        """Return the addresses that are ours: the public one, and this machine at this port."""
        server = scope.get("server")
        port = server[1] if server else None
        local = {f"{scope['scheme']}://{name}:{port}" for name in LOOPBACK} if port else set[str]()
        return frozenset(local | ({self._public} if self._public else set()))


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address, in the form that addresses are compared in."""
    scheme, _, rest = url.lower().partition("://")
    return _full(scheme, rest.partition("/")[0])


def _full(scheme: str, host: str) -> str:
    """Write the port that a scheme implies, so that `https://desk` is `https://desk:443`."""
    bare = host.rpartition("]")[2] if host.startswith("[") else host
    return f"{scheme}://{host}" if ":" in bare else f"{scheme}://{host}:{_PORTS.get(scheme, '')}"


def _two_lengths(headers: Headers) -> Problem | None:
    """Refuse a body whose end a proxy and we may see at different places (RFC 9112, 6.1)."""
    if "content-length" not in headers or "transfer-encoding" not in headers:
        return None
    return Problem(
        400,
        "two-lengths",
        "A request has either Content-Length or Transfer-Encoding. Nothing was read.",
        headers={"Connection": "close"},
    )


def _strange_host(scope: Scope, headers: Headers, ours: Iterable[str]) -> Problem | None:
    named = headers.getlist("host")
    if scope["path"] in _PROBES:
        return None
    # Behind a proxy that ends TLS the scheme may be either: what counts is host and port.
    schemes = ("http", "https")
    if len(named) == 1 and any(_full(scheme, named[0].lower()) in ours for scheme in schemes):
        return None
    return Problem(
        400,
        "wrong-host",
        "This address is not served here. Use the address that `sayso serve` prints; if people "
        "reach the service under another name, say so: --public-url URL.",
    )


def _loose_secret(scope: Scope) -> Problem | None:
    """Refuse a secret in an address: addresses end up in histories and in logs."""
    query = scope["query_string"].decode("latin-1")
    if len(query) > _QUERY:
        return Problem(400, "bad-query", f"A query may have {_QUERY:,} characters.")
    link = scope["path"] == "/" and scope["method"] == "GET"
    given = parse_qsl(query, keep_blank_values=True)
    loose = any(
        value.startswith(_TOKEN) or (name.lower() in _SECRETS and not (link and name == "t"))
        for name, value in given
    )
    texts = (scope["path"], *(text for pair in given for text in pair))
    if not loose and not any(map(_WHOLE_TOKEN.search, texts)):
        return None
    return Problem(
        400,
        "credential-in-url",
        "A token or password was sent in the address, where it ends up in logs and histories. "
        "Revoke it, and send tokens in the header: Authorization: Bearer ...",
    )


def _other_site(method: str, headers: Headers, ours: frozenset[str]) -> Problem | None:
    """Refuse a change that a page of somebody else makes a browser send.

    What comes with an `Authorization` header was not sent by a browser on its own: cookies
    are then ignored.
    """
    if method in _SAFE or "authorization" in headers:
        return None
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        from_here = site in _HERE
    elif origin is not None:
        from_here = origin_of(origin) in ours
    else:  # no browser of today; one that carries a cookie is not taken at its word
        from_here = "cookie" not in headers
    if from_here:
        return None
    return Problem(
        403,
        "cross-site",
        "This change did not come from a page of this service (Sec-Fetch-Site or Origin), so it "
        "was not made. Programs send a token instead of a cookie.",
    )


def dress(message: Message, *, https: bool) -> None:
    """Put the headers on an answer that protect whoever gets it, unless it has its own."""
    headers = MutableHeaders(scope=message)
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    page = headers.get("content-type", "").startswith("text/html")
    headers.setdefault("Content-Security-Policy", _PAGE_CSP if page else _API_CSP)
    if https:
        headers.setdefault("Strict-Transport-Security", _HSTS)
